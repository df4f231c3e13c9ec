"""Tosses that a law is fitted to: files of the ContactNets kind or tables, and how a simulation follows a toss.

Until it touches, the centre of a thrown body follows a parabola, and a body with equal moments of inertia keeps its
spin; with unequal ones Euler's equations are fitted to its attitudes. Over ten or more frames that gives the velocity
at the first frame ten times as accurately as the difference of two frames. The acceleration of falling bodies shows
errors of the cameras' scale and clock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import StudyError, optional_package
from footfall.files.tables import known_unit, read_columns, time_column
from footfall.given_numbers import NotNegative, Whole
from footfall.logs.log import up_of
from footfall.measure.common import once
from footfall.measure.motion import turned
from footfall.robot import Robot, load_robot
from footfall.robot.rotations import matrix_of, product_of, quaternions_of, vectors_of
from footfall.simulation import Simulation

#: Columns of a table that number or name its tosses.
NUMBERS = re.compile(r"^(toss|trial|throw|run|drop|take|episode)[._ ]?(id|no|nr|number|index|name)?$", re.IGNORECASE)
QUATERNION = re.compile(r"^(?:.*[._ ])?(?:q|quat|quaternion|rotation|orientation|rot)[._ ]?([wxyz])$", re.IGNORECASE)
PLACE = re.compile(
    r"^(?:.*[._ ])?(?:p|pos|position|place|com|centre|center|tx?|translation)?[._ ]?([xyz])$", re.IGNORECASE
)

Order = Literal["wxyz", "xyzw"]
#: Endings of files that are tables; others are NumPy's.
TABLES = (".csv", ".tsv", ".txt", ".parquet")
#: Default gravity, m/s2, if it is not measured from the flights.
GRAVITY = 9.81


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
        gravity: m/s2, as the cameras see it; see the head of this module.
        size: m, the three sides of a box; left out, it is a cube of this width.
        half_turn: widths that half a turn counts as, where a fit adds errors of the attitude to those of the place.
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
    half_turn: float = 1.0


def _upright(toss: Toss, up: str) -> Toss:
    """The same toss in a frame whose z is the axis ``up`` of this one; spins are in the body's frame, and stay."""
    if up == "z":
        return toss
    axis, sign = UP[up]
    # Half a turn about the bisector of both axes takes the one to the other; about x where they are opposite.
    between = sign * np.eye(3)[axis] + np.array([0.0, 0.0, 1.0])
    half = between / np.linalg.norm(between) if between.any() else np.array([1.0, 0.0, 0.0])
    turn = np.concatenate([[0.0], half])
    matrix = matrix_of(turn)
    qpos = np.hstack([toss.qpos[:, :3] @ matrix.T, product_of(turn, toss.qpos[:, 3:])])
    return replace(toss, qpos=qpos, qvel=np.concatenate([matrix @ toss.qvel[:3], toss.qvel[3:]]))


def _of_file(source: Path, order: Order, scale: float, rate: float | None, like: Toss) -> list[Toss]:
    """The tosses of a file, of the body of another one."""
    if source.suffix.lower() in TABLES:
        return _of_table(source, scale, rate, like)
    try:
        with np.load(source, allow_pickle=False) as data:
            missing = [name for name in ("state", "toss") if name not in data]
            if missing:
                raise StudyError(
                    f"{source} has no array '{missing[0]}': tosses need 'state' (N, 13) or (N, 7) and 'toss' (N,)"
                )
            state, number = np.asarray(data["state"], dtype=float), np.asarray(data["toss"])
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read tosses from '{source}': {error}") from error
    if state.ndim != 2 or state.shape[1] not in (7, 13) or number.shape != (len(state),):
        raise StudyError(f"{source}: 'state' has shape {state.shape} and 'toss' {number.shape}, not (N, 13) and (N,)")
    bad = np.flatnonzero(~np.isfinite(state).all(axis=1))
    if bad.size:
        raise StudyError(f"{source}: {bad.size} rows hold numbers that are not finite, the first is row {bad[0]}")
    found, like = [], replace(like, rate=CONTACTNETS_RATE if rate is None else rate)
    for one in np.unique(number):
        own = state[number == one]
        turn = own[:, :4] if order == "wxyz" else own[:, [3, 0, 1, 2]]
        toss = replace(like, name=f"toss {one}", qpos=np.hstack([scale * own[:, 4:7], turn]))
        if state.shape[1] == 13:
            toss = replace(toss, qvel=np.concatenate([scale * own[0, 10:13], own[0, 7:10]]))
        found.append(_checked(toss, str(source)))
    return found


def _of_table(source: Path, scale: float, rate: float | None, like: Toss) -> list[Toss]:
    """Tosses of a table: x, y, z, qw, qx, qy, qz by name, time or a rate, and a number of the toss if more."""
    try:
        values, units, stated, done, texts = read_columns(source)
        time = time_column(values, units, done)
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read tosses from '{source}': {error}") from error
    unturned = [name for name in values if not QUATERNION.match(name)]
    place = _columns(source, unturned, PLACE, "xyz", "x, y, z of places")
    turn = _columns(source, values, QUATERNION, "wxyz", "qw, qx, qy, qz of quaternions")
    factor = scale if all(units[name] == "" for name in place) else 1.0
    poses = np.column_stack([*(factor * values[name] for name in place), *(values[name] for name in turn)])
    numbers = next((name for name in (*values, *texts) if NUMBERS.match(name)), None)
    which = np.zeros(len(poses)) if numbers is None else np.asarray(values.get(numbers, texts.get(numbers)))
    found: dict[str, np.ndarray] = {}
    for one in dict.fromkeys(which.tolist()):
        if one != one or one == "":  # rows of no toss
            continue
        name = source.stem if numbers is None else f"toss {one:g}" if isinstance(one, float) else str(one)
        found[name] = np.flatnonzero(which == one)
    frames = rate if rate is not None else stated
    if time is not None:
        frames = _rate_of({name: time[own] for name, own in found.items()}, rate, str(source))
    like = replace(like, rate=np.nan if frames is None else frames)
    tosses = [_checked(replace(like, name=name, qpos=poses[own]), str(source)) for name, own in found.items()]
    if frames is None:
        raise StudyError(f"{source} has neither times nor a rate: give rate= in frames per second")
    return tosses


#: Largest relative difference between a given rate and that of the times.
OTHER_RATE = 0.02


def _rate_of(times: Mapping[str, np.ndarray], given: float | None, source: str) -> float | None:
    """Frames per second of all tosses of a table, by their times (s), which may be rounded; as given where it is.

    Times that are rounded to their last digit are those of a whole number of frames per second if none is off by more.
    """
    steps = {name: np.diff(time) for name, time in times.items() if len(time) > 1}
    if not steps:
        return given
    every = np.concatenate(list(steps.values()))
    usual = float(np.median(every))
    # Rounding moves a step by up to a last digit: a step in whole digits shows which digit that is.
    digit = float(np.min(np.abs(np.diff(np.unique(np.round(every, 9)))), initial=np.inf))
    if given is not None and np.isfinite(digit):  # rounded so far that frames share a time
        if all(np.ptp(time - np.arange(len(time)) / given) <= 1.1 * digit for time in times.values()):
            return given
    allowed = max(0.3 * usual, 2.1 * digit if np.isfinite(digit) and digit < 0.5 * usual else 0.0)
    for name, step in steps.items():
        if step.min() <= 0.0 or np.abs(step - usual).max() > allowed:
            k = int(np.abs(step - usual).argmax())
            raise StudyError(
                f"{source}: frames {k} and {k + 1} of {name} are {step[k]:.4g} s apart and others "
                f"{usual:.4g} s: number the tosses in a column 'toss', fill or cut gaps, and give the rate (rate= or "
                "--rate) of frames whose times are rounded; uneven ones are to be resampled"
            )
    found = len(every) / float(every.sum())
    if given is not None:
        if abs(given / found - 1.0) > OTHER_RATE:
            raise StudyError(
                f"{source}: its times are those of {found:.5g} frames per second, and rate= says {given:g}: which is "
                "it?"
            )
        return given
    whole = max(1.0, round(found))
    off = max(float(np.ptp(time - np.arange(len(time)) / whole)) for time in times.values())
    return whole if np.isfinite(digit) and off <= 1.1 * digit else found


def _columns(source: Path, names: Iterable[str], pattern: re.Pattern[str], axes: str, wanted: str) -> list[str]:
    found: dict[str, str] = {}
    names = list(names)
    for name in names:
        matched = pattern.match(name)
        if matched:
            found.setdefault(matched[1].lower(), name)
    if any(axis not in found for axis in axes):
        raise StudyError(f"{source} has no columns {wanted}; its columns are {', '.join(names)}")
    return [found[axis] for axis in axes]


def _checked(toss: Toss, source: str) -> Toss:
    """The toss with quaternions of length 1, or an error where its poses are none."""
    if len(toss.qpos) < 2:
        raise StudyError(f"{source}: {toss.name} has a single frame")
    bad = np.flatnonzero(~np.isfinite(toss.qpos).all(axis=1))
    if bad.size:
        raise StudyError(f"{source}: {toss.name} has a gap in frame {bad[0]}: fill it, or cut the toss there")
    length = np.linalg.norm(toss.qpos[:, 3:], axis=1, keepdims=True)
    worst = float(length[np.abs(length - 1.0).argmax(), 0])
    if abs(worst - 1.0) > 0.05:
        raise StudyError(
            f"{source}: a quaternion of {toss.name} is of length {worst:.3g} and not 1: are these columns quaternions?"
        )
    return replace(toss, qpos=np.hstack([toss.qpos[:, :3], toss.qpos[:, 3:] / length]))


#: The error of ``follow`` that a fit minimises.
TOSS_WEIGHTS = {"path": 1.0}
#: Shortest part of a toss after its first touch, s; resolution of cameras, in widths of the cube.
SHORTEST, RESOLVED = 0.04, 0.005


def step_of(rate: float, longest: float) -> float:
    """The longest step (s) up to a limit that divides the time between two frames."""
    return 1.0 / (rate * int(np.ceil(1.0 / (rate * longest) - 1e-9)))


def follow(sim: Simulation, toss: Toss) -> dict[str, Any]:
    """Errors of a simulation that starts where a toss does. A run that fails keeps its last place.

    Means over the toss of the place, in widths, and the attitude, in degrees; and ``path``, which a fit makes small: a
    geometric mean in which the mean error over the whole toss, which laws are judged by, has half of the weight, and
    those over parts of it the other, from the first touch to 0.04 s after it, twice as long, and so on. A bounce tells
    most of a law right after it; what comes of it late is chaotic. It comes as an array of that length.
    """
    frames = len(toss.qpos)
    # A frame is compared with the nearest step: the step divides the time between frames in most tosses, not in all.
    every = max(1, round(1.0 / (toss.rate * sim.dt)))
    if abs(every * toss.rate * sim.dt - 1.0) > 1e-6:
        every = 1
    rec = sim.run((frames - 1) / toss.rate, qpos=toss.qpos[0], qvel=toss.qvel, record_dt=every * sim.dt)
    kept = np.minimum(np.round(np.arange(frames) / (toss.rate * every * sim.dt)).astype(int), len(rec) - 1)
    qpos = rec.qpos[kept]
    apart, turn = (qpos[:, :3] - toss.qpos[:, :3]) / toss.width, turned(qpos[:, 3:7], toss.qpos[:, 3:7])
    return {
        "position_widths": float(np.linalg.norm(apart, axis=1).mean()),
        "rotation_deg": float(np.degrees(np.linalg.norm(turn, axis=1).mean())),
        "path": _path(apart, toss.half_turn / np.pi * turn, toss),
    }


def _path(apart: np.ndarray, turn: np.ndarray, toss: Toss) -> np.ndarray:
    """As long as the geometric mean of mean errors over a whole toss and over ever longer parts of it.

    Errors of frames have the weights in its square that make its slopes those of the mean.
    """
    lengths = [np.linalg.norm(one, axis=1) for one in (apart, turn)]
    error = lengths[0] + lengths[1]
    touch, part = _first_touch(toss), max(2, round(SHORTEST * toss.rate))
    spans = []
    while touch + part < len(error):
        spans.append(slice(touch, touch + part))
        part *= 2
    mean, share = 0.0, np.zeros(len(error))
    for span in [slice(None)] * max(1, len(spans)) + spans:
        own = error[span].mean() + RESOLVED
        mean += np.log(own)
        share[span] += 1.0 / (own * error[span].size)
    path = np.exp(mean / max(1, 2 * len(spans))) - RESOLVED
    weights = [np.sqrt(share / np.maximum(length, RESOLVED))[:, None] for length in lengths]
    found = np.hstack([weights[0] * apart, weights[1] * turn]).ravel()
    return found * (path / max(float(np.linalg.norm(found)), 1e-300))


@once
def _first_touch(toss: Toss) -> int:
    """The frame in which a toss has touched the ground, 0 where that cannot be told; a fit asks thousands of times."""
    flight = flight_of(toss.qpos, toss.rate)
    return 0 if flight is None else len(flight.time)


@public
def load_tosses(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rate: float | None = None,
    width: float | None = None,
    size: Sequence[float] | None = None,
    mass: float = 0.37,
    inertia: float | Sequence[float] = 0.00081,
    quaternion: Order = "wxyz",
    unit: str = "m",
    up: Literal["z", "y", "x", "-z", "-y", "-x"] = "z",
    half_turn: NotNegative = 1.0,
) -> list[Toss]:
    """Tosses of one body: a file .npz, a table (.csv, .tsv, .txt) of one or more tosses, or several tables.

    A file .npz has ``state`` (N, 13) and ``toss`` (N,), the number of the toss of each row. Columns of ``state``:
    quaternion in the order ``quaternion``, place x, y, z of the centre in ``unit``, angular velocity in the body frame
    (rad/s), velocity in the world frame; without velocities (N, 7). So are the cube tosses of ContactNets distributed
    here, whose rate, 148 frames per second, width (m), ``mass`` (kg) and ``inertia`` (kg m2) are taken where they are
    not given. A table has columns x, y, z, qw, qx, qy, qz, time in s or a ``rate``, and ``toss`` where it has several;
    ``rate`` beside times is that of rounded ones, and must agree with them.

    ``size`` are the three sides of a box, m, along the axes of its quaternions, ``inertia`` then three moments about
    them; ``width``, m, is what errors are counted in, the mean side where it is left out; ``half_turn`` widths are what
    a fit counts half a turn as, 0 for the place alone.

    The velocity at the first frame, and gravity, are those of the free flight before the first touch, see the head of
    this module: velocities of a file are differences of two frames, with their noise and half a frame late, and count
    where a flight is too short to tell.
    """
    sides = None if size is None else tuple(float(one) for one in size)
    if sides is not None and (len(sides) != 3 or min(sides) <= 0.0):
        raise StudyError(f"a box has three sides in m, not {size}")
    moments = np.ravel(np.asarray(inertia, dtype=float))
    if moments.size not in (1, 3) or moments.min() <= 0.0:
        raise StudyError(f"a body has one moment of inertia about each axis, or three, in kg m2, not {inertia}")
    if width is None:
        width = 0.1048 if sides is None else sum(sides) / 3.0
    own = float(moments[0]) if moments.size == 1 else (float(moments[0]), float(moments[1]), float(moments[2]))
    scale = known_unit(unit)
    if scale is None or scale[1] != "m":
        raise StudyError(f"places are in a unit of length, such as m or mm, not in '{unit}'")
    sources = [Path(one).expanduser() for one in ([path] if isinstance(path, str | os.PathLike) else path)]
    like = Toss("", np.nan, np.zeros((0, 7)), np.zeros(6), width, mass, own, GRAVITY, sides, half_turn)
    found = [_upright(one, up) for source in sources for one in _of_file(source, quaternion, scale[0], rate, like)]
    if not found:
        raise StudyError("no toss was given")
    return started_from_flight(found, str(path) if len(sources) == 1 else "the tosses")


def started_from_flight(tosses: Sequence[Toss], source: str = "the tosses") -> list[Toss]:
    """The tosses with velocities at the first frame and gravity from their flights; short flights keep velocities."""
    gravity = gravity_of(tosses, source)
    check_poses(tosses, source)
    found = []
    for one in tosses:
        flight = flight_of(one.qpos, one.rate)
        qvel = one.qvel if flight is None else start_velocity(flight, gravity, one.qvel, np.ravel(one.inertia))
        found.append(replace(one, gravity=gravity, qvel=qvel))
    return found


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


@public
def split(trials: Sequence[Toss], number: int, others: int, seed: Whole) -> tuple[list[Toss], list[Toss]]:
    """Trials to fit on and others to judge on, drawn at random."""
    if number < 2 or others < 1 or number + others > len(trials):
        raise StudyError(f"cannot fit on {number} and judge on {others} of {len(trials)} trials")
    order = np.random.default_rng(seed).permutation(len(trials))
    return [trials[i] for i in order[:number]], [trials[i] for i in order[number : number + others]]


#: Second difference of the height, as a multiple of gravity, above which the ground pushes.
PUSHED = 1.0
#: Threshold of a push in standard deviations of a second difference's noise.
QUIET = 3.0
#: Fewest frames of flight for measuring velocities, and frames before the touch that are left out.
FEWEST, LEFT_OUT = 5, 1


class Flight(NamedTuple):
    """The frames before the first touch: time (s), place (T, 3) in m, quaternion (T, 4) w, x, y, z."""

    time: np.ndarray
    place: np.ndarray
    turn: np.ndarray


def flight_of(qpos: np.ndarray, rate: float) -> Flight | None:
    """The free flight at the beginning of a motion (T, 7) at some frames per second; None where it is too short."""
    z = qpos[:, 2]
    apart = _apart(z, rate)
    if len(z) <= 2 * apart:
        return None
    pushed = (z[2 * apart :] - 2.0 * z[apart:-apart] + z[: -2 * apart]) * (rate / apart) ** 2 > PUSHED * GRAVITY
    # The difference at k reaches from frame k to k + 2 apart: the frame before that is the last that may be free.
    frames = (int(np.argmax(pushed)) + 2 * apart if pushed.any() else len(qpos)) - LEFT_OUT * apart
    if frames < FEWEST:
        return None
    return Flight(np.arange(frames) / rate, qpos[:frames, :3], qpos[:frames, 3:7])


def _apart(z: np.ndarray, rate: float) -> int:
    """Distance in frames for differences of heights whose noise is below a push; larger for faster cameras."""
    if len(z) < 8:
        return 1
    # Fourth differences of a smooth motion vanish; those of noise of standard deviation s have sqrt(70) s.
    noise = float(np.median(np.abs(np.diff(z, n=4)))) / (0.6745 * np.sqrt(70.0))
    return max(1, int(np.ceil(rate * np.sqrt(QUIET * np.sqrt(6.0) * noise / (PUSHED * GRAVITY)) - 1e-9)))


def start_velocity(flight: Flight, gravity: float, measured: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """(6,) velocity (m/s, world) and spin (rad/s, body frame) at the first frame, by least squares over the flight.

    ``measured`` (6,) is the first guess, ``moments`` are those of inertia, one for all axes or three, kg m2.
    """
    least_squares = optional_package("scipy.optimize").least_squares
    design = np.stack([np.ones_like(flight.time), flight.time], axis=1)
    place = flight.place + 0.5 * gravity * flight.time[:, None] ** 2 * np.array([0.0, 0.0, 1.0])
    velocity = np.linalg.lstsq(design, place, rcond=None)[0][1]
    turns = flight.turn / np.linalg.norm(flight.turn, axis=1, keepdims=True)
    back = turns * np.array([1.0, -1.0, -1.0, -1.0])

    def misses(unknowns: np.ndarray) -> np.ndarray:
        """(3 T,) how far the flight's attitudes are from those of a first attitude and spin, rad."""
        first, spin = product_of(turns[0], quaternions_of(unknowns[:3])), unknowns[3:]
        if np.ptp(moments) == 0.0:
            since = quaternions_of(flight.time[:, None] * spin)
        else:
            since = _turned(flight.time, spin, moments)
        return -vectors_of(product_of(back, product_of(first, since))).ravel()

    start = np.concatenate([np.zeros(3), measured[3:]])
    solved = least_squares(misses, start, method="lm")
    return np.concatenate([velocity, solved.x[3:]])


def _turned(time: np.ndarray, spin: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """(T, 4) how far a body of unequal moments of inertia has turned since the first instant, with a spin there."""
    model = _spinning(tuple(moments.tolist()))
    data = mujoco.MjData(model)
    data.qvel[3:] = spin
    turns = [data.qpos[3:7].copy()]
    for step in np.diff(time):
        model.opt.timestep = step
        mujoco.mj_step(model, data)
        turns.append(data.qpos[3:7].copy())
    return np.array(turns)


@lru_cache(maxsize=1)
def _spinning(moments: tuple[float, ...]) -> mujoco.MjModel:
    """A free body with these moments of inertia, kg m2, without gravity."""
    spec = mujoco.MjSpec()
    spec.option.gravity, spec.option.integrator = [0.0, 0.0, 0.0], mujoco.mjtIntegrator.mjINT_RK4
    body = spec.worldbody.add_body(mass=1.0, inertia=moments, explicitinertial=True)
    body.add_freejoint()
    return spec.compile()


#: Largest relative standard error of measured gravity, and its largest relative difference from 9.81 m/s2.
KNOWN_TO, BELIEVED = 0.005, 0.06
#: Difference from 9.81 m/s2, in standard errors, above which gravity that is not believed is refused.
CERTAIN = 5.0
#: Which axis may be up: its column, and its sign.
UP = {"z": (2, 1.0), "y": (1, 1.0), "x": (0, 1.0), "-z": (2, -1.0), "-y": (1, -1.0), "-x": (0, -1.0)}
#: Poses that change by less than this in two frames are at rest; boxes at rest are tilted by no more than this, rad, in
#: the mean.
AT_REST, TILTED = 2e-3, 0.1
#: Largest speed of a toss, m/s: a fall from 20 m.
FASTEST = 20.0


class Fall(NamedTuple):
    """Measured gravity, m/s2, and its standard error."""

    mean: float
    error: float


def gravity_of(tosses: Sequence[Toss], source: str) -> float:
    """How fast bodies fall, m/s2, over all flights; 9.81 where these are too few to tell, refused where it is off."""
    own = _fall([flight_of(one.qpos, one.rate) for one in tosses])
    if own is None:
        return GRAVITY
    if abs(own.mean - GRAVITY) > max(BELIEVED * GRAVITY, CERTAIN * own.error):
        raise StudyError(
            f"{source}: bodies in flight fall with {own.mean:.4g} m/s2, not {GRAVITY}: are places in m (else unit= or "
            "--unit), heights in z (else up= or --up), and the rate in frames per second right?"
        )
    return own.mean if own.error < KNOWN_TO * GRAVITY else GRAVITY


def _fall(flights: Sequence[Flight | None]) -> Fall | None:
    """Gravity measured from these flights; None without any."""
    slopes, weights, left = [], [], []
    for one in flights:
        if one is None:
            continue
        design = np.stack([np.ones_like(one.time), one.time, -0.5 * one.time**2], axis=1)
        fitted = np.linalg.lstsq(design, one.place[:, 2], rcond=None)[0]
        slopes.append(fitted[2])
        weights.append(1.0 / np.linalg.inv(design.T @ design)[2, 2])
        left.append(float(np.sum((one.place[:, 2] - design @ fitted) ** 2)) / (len(design) - 3))
    if not slopes:
        return None
    slope, weight = np.array(slopes), np.array(weights)
    mean = float(weight @ slope / weight.sum())
    if len(slope) == 1:
        return Fall(mean, float(np.sqrt(left[0] / weight[0])))
    return Fall(mean, float(np.sqrt(weight @ (slope - mean) ** 2 / weight.sum() / (len(slope) - 1))))


def check_poses(tosses: Sequence[Toss], source: str) -> None:
    """Refuse poses that jump, as where several tosses follow each other, and quaternions by which boxes rest on an
    edge, if in the order x, y, z, w they would lie flat.

    Flights do not reveal the order: a constant spin stays constant in any order of the four numbers.
    """
    for one in tosses:
        speed = np.linalg.norm(np.diff(one.qpos[:, :3], axis=0), axis=1) * one.rate
        if speed.size and speed.max() > FASTEST:
            k = int(speed.argmax())
            raise StudyError(
                f"{source}: {one.name} moves at {speed[k]:.3g} m/s from frame {k} to frame {k + 1}: number the tosses "
                "in a column 'toss', and see that places are in m and the rate in frames per second is right"
            )
    last = [one.qpos[-3:] for one in tosses if len(one.qpos) > 3]
    resting = [one[-1] for one in last if np.ptp(one, axis=0).max() < AT_REST]
    if len(resting) < 2:
        return
    turns = np.array(resting)[:, 3:7]
    own, other = (float(_tilt(turns[:, order]).mean()) for order in ([0, 1, 2, 3], [3, 0, 1, 2]))
    if own > TILTED and other < 0.25 * own:
        raise StudyError(
            f"{source}: at rest, the axes of the bodies are {np.degrees(own):.3g} deg from the vertical, and "
            f"{np.degrees(other):.2g} deg if quaternions are x, y, z, w: give the order xyzw"
        )


def _tilt(turns: np.ndarray) -> np.ndarray:
    """Angle (rad) between the vertical and the nearest axis of bodies with attitudes (N, 4)."""
    return np.arccos(np.minimum(np.abs(up_of(turns)).max(axis=1), 1.0))
