"""Measured motions that a law is fitted to, and how a simulation follows one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import mujoco
import numpy as np

from footfall.errors import StudyError
from footfall.given_numbers import check_seed
from footfall.measure.common import once
from footfall.measure.trajectory import position_error, rotation_error
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.study.fit.flight import GRAVITY, Flight, flight_of, free_spin, start_velocity
from footfall.study.fit.flight_checks import Motion, check_order, check_speeds, gravity_of
from footfall.study.fit.toss_files import Order, read_tosses

#: Frames per second of the cube tosses of ContactNets, whose files do not state it.
CONTACTNETS_RATE = 148.0


@dataclass(frozen=True, eq=False)
class Toss:
    """A measured flight, landing and coming to rest of one free body.

    Attributes:
        name: such as "toss 17".
        rate: frames per second.
        qpos: (T, 7) place of the centre (m) and quaternion w, x, y, z, in MuJoCo's order.
        qvel: (6,) at the first frame: velocity (m/s, world frame), angular velocity (rad/s, body frame).
        width: m, side of the cube, what position errors are counted in.
        mass, inertia: of the cube, kg and kg m2 about each axis, as far as known; three moments of a box.
        gravity: m/s2, as the cameras see it; see ``footfall.study.fit.flight``.
        size: m, the three sides of a box; left out, it is a cube of this width.
    """

    name: str
    rate: float
    qpos: np.ndarray
    qvel: np.ndarray
    width: float
    mass: float = 0.37
    inertia: float | tuple[float, float, float] = 0.00081
    gravity: float = GRAVITY
    size: tuple[float, ...] | None = None


#: What a fit makes small of what ``follow`` measures.
TOSS_WEIGHTS = {"path": 1.0}
#: Widths that half a turn counts as; s of the shortest part of a toss from its first touch; widths cameras resolve.
HALF_TURN, SHORTEST, RESOLVED = 1.0, 0.04, 0.005


def step_of(rate: float, longest: float) -> float:
    """The longest step (s), up to a limit, that divides the time between two frames."""
    return 1.0 / (rate * int(np.ceil(1.0 / (rate * longest) - 1e-9)))


def follow(sim: Simulation, toss: Toss) -> dict[str, float]:
    """Errors of a simulation that starts where a toss does. A run that fails keeps its last place.

    Means over the toss of the place, in widths, and the attitude, in degrees; and ``path``, which a fit makes small: a
    geometric mean in which the mean error over the whole toss, which laws are judged by, has half of the weight, and
    those over parts of it the other, from the first touch to 0.04 s after it, twice as long, and so on. A bounce tells
    most of a law right after it; what comes of it late is chaotic.
    """
    frames = len(toss.qpos)
    rec = sim.run((frames - 1) / toss.rate, qpos=toss.qpos[0], qvel=toss.qvel, record_dt=1.0 / toss.rate)
    kept = np.minimum(np.arange(frames), len(rec) - 1)
    qpos = rec.qpos[kept]
    position = position_error(qpos[:, :3], toss.qpos[:, :3], toss.width)
    rotation = rotation_error(qpos[:, 3:7], toss.qpos[:, 3:7])
    return {
        "position_widths": float(position.mean()),
        "rotation_deg": float(rotation.mean()),
        "path": _path(position + HALF_TURN / 180.0 * rotation, toss),
    }


def _path(error: np.ndarray, toss: Toss) -> float:
    """Geometric mean of mean errors (T,) over a whole toss and over ever longer parts of it."""
    touch, part = _first_touch(toss), max(2, round(SHORTEST * toss.rate))
    means = []
    while touch + part < len(error):
        means.append(error[touch : touch + part].mean())
        part *= 2
    whole = np.log(error.mean() + RESOLVED)
    parts = np.log(np.array(means) + RESOLVED).mean() if means else whole
    return float(np.exp(0.5 * (whole + parts))) - RESOLVED


@once
def _first_touch(toss: Toss) -> int:
    """The frame in which a toss has touched the ground, 0 where that cannot be told; a fit asks thousands of times."""
    flight = flight_of(toss.qpos, toss.rate)
    return 0 if flight is None else len(flight.time)


def load_tosses(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rate: float | None = None,
    width: float | None = None,
    size: Sequence[float] | None = None,
    mass: float = 0.37,
    inertia: float | Sequence[float] = 0.00081,
    start: Literal["flight", "frame"] = "flight",
    quaternion: Order = "wxyz",
    unit: str = "m",
    up: str = "z",
) -> list[Toss]:
    """Tosses of one body: a file .npz, a table (.csv, .tsv, .txt) of one or more tosses, or several tables.

    A file .npz has ``state`` (N, 13) and ``toss`` (N,), the number of the toss of each row. Columns of ``state``:
    quaternion in the order ``quaternion``, place x, y, z of the centre in ``unit``, angular velocity in the body frame
    (rad/s), velocity in the world frame; without velocities (N, 7). So are the cube tosses of ContactNets distributed
    here, whose rate, 148 frames per second, width (m), ``mass`` (kg) and ``inertia`` (kg m2) are taken where they are
    not given. A table has columns x, y, z, qw, qx, qy, qz, time in s or a ``rate``, and ``toss`` where it has several.

    ``size`` are the three sides of a box, m, along the axes of its quaternions, ``inertia`` then three moments about
    them; ``width``, m, is what errors are counted in, the mean side where it is left out.

    Velocities of a file are differences of two frames, with their noise and half a frame late. With ``start="flight"``
    the velocity at the first frame, and gravity, are those of the free flight before the first touch instead, see
    ``footfall.study.fit.flight``; ``"frame"`` takes the file's own, and 9.81 m/s2.
    """
    if start not in ("flight", "frame"):
        raise StudyError(f"a toss starts from its 'flight' or from its first 'frame', not from '{start}'")
    sides = None if size is None else tuple(float(one) for one in size)
    if sides is not None and (len(sides) != 3 or min(sides) <= 0.0):
        raise StudyError(f"a box has three sides in m, not {size}")
    moments = np.ravel(np.asarray(inertia, dtype=float))
    if moments.size not in (1, 3) or moments.min() <= 0.0:
        raise StudyError(f"a body has one moment of inertia about each axis, or three, in kg m2, not {inertia}")
    if width is None:
        width = 0.1048 if sides is None else sum(sides) / 3.0
    own = float(moments[0]) if moments.size == 1 else (float(moments[0]), float(moments[1]), float(moments[2]))
    found = []
    for one in read_tosses(path, quaternion, unit, rate, up):
        frames = one.rate if one.rate is not None else rate
        if frames is None and not str(path).endswith(".npz"):
            raise StudyError(f"{one.name} has neither times nor a rate: give rate= in frames per second")
        known = CONTACTNETS_RATE if frames is None else frames
        found.append(
            Toss(
                name=one.name, rate=known, qpos=one.qpos, qvel=one.qvel, width=width, mass=mass, inertia=own, size=sides
            )
        )
    source = str(path) if isinstance(path, str | os.PathLike) else "the tosses"
    return started_from_flight(found, source) if start == "flight" else found


def started_from_flight(tosses: Sequence[Toss], source: str = "the tosses") -> list[Toss]:
    """The tosses with velocities at the first frame and gravity from their flights; short flights keep velocities."""
    motions = [Motion(one.name, one.qpos, one.rate) for one in tosses]
    gravity = gravity_of(motions, source)
    check_speeds(motions, source)
    check_order([one.qpos for one in tosses], source)
    flights = [flight_of(one.qpos, one.rate) for one in tosses]
    return [
        replace(one, gravity=gravity, qvel=one.qvel if own is None else _start(one, own, gravity))
        for one, own in zip(tosses, flights, strict=True)
    ]


def _start(toss: Toss, flight: Flight, gravity: float) -> np.ndarray:
    found = start_velocity(flight, gravity, toss.qvel)
    moments = np.ravel(toss.inertia)
    return found if moments.size == 1 or np.ptp(moments) == 0.0 else free_spin(flight, found, moments)


def cube(side: float = 0.1048, mass: float = 0.37, inertia: float = 0.00081, gravity: float = GRAVITY) -> Robot:
    """A cube that touches with its eight corners: side in m, mass in kg, inertia about each axis in kg m2.

    The defaults are those of the acrylic cube of ContactNets. A cube whose corners are rounded with a radius r touches
    as one whose side is smaller by 2 r does on a ground that is higher by r.
    """
    return box((side, side, side), mass, inertia, gravity=gravity, name="cube")


def box(
    size: Sequence[float],
    mass: float,
    inertia: float | Sequence[float] | None = None,
    *,
    rounding: float = 0.0,
    inertia_scale: float = 1.0,
    gravity: float = GRAVITY,
    name: str = "box",
) -> Robot:
    """A box that touches with its eight corners: three sides in m, mass in kg, moments about its axes in kg m2.

    Left out, the moments are those of a solid box. ``rounding`` r, m, draws the corners in by r along each side; the
    ground is then higher by r. ``inertia_scale`` multiplies the moments.
    """
    sides = np.asarray(size, dtype=float)
    if inertia is None:
        inertia = mass / 12.0 * ((sides**2).sum() - sides**2)
    half = 0.5 * sides - rounding
    if not half.min() > 0.0:
        raise StudyError(
            f"a box of sides {', '.join(f'{one:g}' for one in sides)} m has no corners drawn in by {rounding:g} m"
        )
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.option.gravity = [0.0, 0.0, -gravity]
    body = spec.worldbody.add_body(name=name, pos=[0.0, 0.0, half[2]])
    moments = inertia_scale * np.broadcast_to(np.asarray(inertia, dtype=float), 3)
    body.mass, body.inertia, body.ipos, body.explicitinertial = mass, moments.tolist(), [0.0, 0.0, 0.0], True
    body.add_freejoint(name="base")
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=half.tolist(), mass=0.0)
    corners = [(x, y, z) for x in (-half[0], half[0]) for y in (-half[1], half[1]) for z in (-half[2], half[2])]
    return load_robot(spec, feet={name: (name, np.array(corners))})


def split(trials: Sequence[Toss], number: int, others: int, seed: int) -> tuple[list[Toss], list[Toss]]:
    """Trials to fit on and others to judge on, drawn at random."""
    if number < 2 or others < 1 or number + others > len(trials):
        raise StudyError(f"cannot fit on {number} and judge on {others} of {len(trials)} trials")
    check_seed(seed)
    order = np.random.default_rng(seed).permutation(len(trials))
    return [trials[i] for i in order[:number]], [trials[i] for i in order[number : number + others]]
