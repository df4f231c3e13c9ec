"""Measured motions that a law is fitted to, and how a simulation follows one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import mujoco
import numpy as np

from footfall.errors import StudyError
from footfall.measure.trajectory import position_error, rotation_error
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.study.fit.flight import GRAVITY, flight_of, gravity_of, start_velocity

#: Steps between two frames are at most this long, s.
LONGEST_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class Toss:
    """A measured flight, landing and coming to rest of one free body.

    Attributes:
        name: such as "toss 17".
        rate: frames per second.
        qpos: (T, 7) place of the centre (m) and quaternion w, x, y, z, in MuJoCo's order.
        qvel: (6,) at the first frame: velocity (m/s, world frame), angular velocity (rad/s, body frame).
        width: m, side of the cube, what position errors are counted in.
        mass, inertia: of the cube, kg and kg m2 about each axis, as far as known.
        gravity: m/s2, as the cameras see it; see ``footfall.study.fit.flight``.
    """

    name: str
    rate: float
    qpos: np.ndarray
    qvel: np.ndarray
    width: float
    mass: float = 0.37
    inertia: float = 0.00081
    gravity: float = GRAVITY


#: What ``follow`` measures, with its weight in the loss: half a turn counts as one width.
TOSS_WEIGHTS = {"position_widths": 1.0, "rotation_deg": 1.0 / 180.0}


def step_of(rate: float) -> float:
    """A step (s) that divides the time between two frames."""
    return 1.0 / (rate * int(np.ceil(1.0 / (rate * LONGEST_STEP) - 1e-9)))


def follow(sim: Simulation, toss: Toss) -> dict[str, float]:
    """Mean errors of a simulation that starts where a toss does. A run that fails keeps its last place."""
    frames = len(toss.qpos)
    rec = sim.run((frames - 1) / toss.rate, qpos=toss.qpos[0], qvel=toss.qvel, record_dt=1.0 / toss.rate)
    kept = np.minimum(np.arange(frames), len(rec) - 1)
    qpos = rec.qpos[kept]
    return {
        "position_widths": float(position_error(qpos[:, :3], toss.qpos[:, :3], toss.width).mean()),
        "rotation_deg": float(rotation_error(qpos[:, 3:7], toss.qpos[:, 3:7]).mean()),
    }


def load_tosses(
    path: str | os.PathLike[str],
    *,
    rate: float = 148.0,
    width: float = 0.1048,
    mass: float = 0.37,
    inertia: float = 0.00081,
    start: Literal["flight", "frame"] = "flight",
) -> list[Toss]:
    """Tosses of a file .npz with ``state`` (N, 13) and ``toss`` (N,), the number of the toss of each row.

    Columns of ``state``: quaternion w, x, y, z (world from body), place x, y, z of the centre (m), angular velocity in
    the body's frame (rad/s), velocity in the world's frame (m/s). So are the cube tosses of ContactNets distributed
    here; ``rate`` (frames per second), ``width`` (m), ``mass`` (kg) and ``inertia`` (kg m2) are theirs.

    Velocities of a file are differences of two frames, with their noise and half a frame late. With ``start="flight"``
    the velocity at the first frame, and gravity, are those of the free flight before the first touch instead, see
    ``footfall.study.fit.flight``; ``"frame"`` takes the file's own, and 9.81 m/s2.
    """
    if start not in ("flight", "frame"):
        raise StudyError(f"a toss starts from its 'flight' or from its first 'frame', not from '{start}'")
    source = Path(path).expanduser()
    try:
        with np.load(source, allow_pickle=False) as data:
            missing = [name for name in ("state", "toss") if name not in data]
            if missing:
                raise StudyError(f"{source} has no array '{missing[0]}': tosses need 'state' (N, 13) and 'toss' (N,)")
            state, number = np.asarray(data["state"], dtype=float), np.asarray(data["toss"])
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read tosses from '{source}': {error}") from error
    if state.ndim != 2 or state.shape[1] != 13 or number.shape != (len(state),):
        raise StudyError(f"{source}: 'state' has shape {state.shape} and 'toss' {number.shape}, not (N, 13) and (N,)")
    bad = np.flatnonzero(~np.isfinite(state).all(axis=1))
    if bad.size:
        raise StudyError(f"{source}: {bad.size} rows hold numbers that are not finite, the first is row {bad[0]}")
    found = []
    for one in np.unique(number):
        own = state[number == one]
        if len(own) < 2:
            raise StudyError(f"{source}: toss {one} has a single frame")
        turn = own[:, :4] / np.linalg.norm(own[:, :4], axis=1, keepdims=True)
        qpos = np.hstack([own[:, 4:7], turn])
        qvel = np.concatenate([own[0, 10:13], own[0, 7:10]])
        found.append(Toss(f"toss {one}", rate, qpos, qvel, width, mass, inertia))
    return started_from_flight(found, str(source)) if start == "flight" else found


def started_from_flight(tosses: Sequence[Toss], source: str = "the tosses") -> list[Toss]:
    """The tosses with velocities at the first frame and gravity from their flights; short flights keep velocities."""
    flights = [flight_of(one.qpos, one.rate) for one in tosses]
    gravity = gravity_of(flights, source)
    return [
        replace(one, gravity=gravity, qvel=one.qvel if own is None else start_velocity(own, gravity, one.qvel))
        for one, own in zip(tosses, flights, strict=True)
    ]


def cube(side: float = 0.1048, mass: float = 0.37, inertia: float = 0.00081, gravity: float = GRAVITY) -> Robot:
    """A cube that touches with its eight corners: side in m, mass in kg, inertia about each axis in kg m2.

    The defaults are those of the acrylic cube of ContactNets. A cube whose corners are rounded with a radius r touches
    as one whose side is smaller by 2 r does on a ground that is higher by r.
    """
    half = side / 2.0
    spec = mujoco.MjSpec()
    spec.modelname = "cube"
    spec.option.gravity = [0.0, 0.0, -gravity]
    body = spec.worldbody.add_body(name="cube", pos=[0.0, 0.0, half])
    body.mass, body.inertia, body.ipos, body.explicitinertial = mass, [inertia] * 3, [0.0, 0.0, 0.0], True
    body.add_freejoint(name="base")
    body.add_geom(name="cube", type=mujoco.mjtGeom.mjGEOM_BOX, size=[half] * 3, mass=0.0)
    corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    return load_robot(spec, feet={"cube": ("cube", np.array(corners))})


def split(trials: Sequence[Toss], number: int, others: int, seed: int) -> tuple[list[Toss], list[Toss]]:
    """Trials to fit on and others to judge on, drawn at random."""
    if number < 2 or others < 1 or number + others > len(trials):
        raise StudyError(f"cannot fit on {number} and judge on {others} of {len(trials)} trials")
    order = np.random.default_rng(seed).permutation(len(trials))
    return [trials[i] for i in order[:number]], [trials[i] for i in order[number : number + others]]
