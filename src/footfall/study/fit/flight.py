"""The start of a toss from its free flight: velocities at the first frame, and gravity as the cameras see it.

Until it touches, the centre of a thrown body follows a parabola, and a body with equal moments of inertia keeps its
spin. Over ten or more frames that gives the velocity at the first frame ten times as accurately as the difference of
two frames. The acceleration of falling bodies shows errors of the cameras' scale and clock.

The spin of a body with unequal moments of inertia changes: Euler's equations are fitted to its attitudes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from footfall.errors import StudyError

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: m/s2, where the flights do not say otherwise.
GRAVITY = 9.81
#: A second difference of the height above this multiple of gravity is a push by the ground.
PUSHED = 1.0
#: Standard deviations of a second difference's noise that are below a push.
QUIET = 3.0
#: Frames of flight below which the velocities of the file are kept, and frames before the touch that are left out.
FEWEST, LEFT_OUT = 5, 1
#: Steps of Euler's equations between two frames.
SUBSTEPS = 4
#: Most Gauss-Newton steps for the spin, and the tolerance of a step, rad and rad/s, of which cameras see six digits
#: less; the rotation over a flight is below a turn, so that each gains a digit or so.
GAUSS_NEWTON, SETTLED = 30, 1e-10


@dataclass(frozen=True, eq=False)
class Flight:
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
    """How many frames apart heights are differenced so that their noise is no push; a faster camera needs more."""
    if len(z) < 8:
        return 1
    # Fourth differences of a smooth motion vanish; those of noise of standard deviation s have sqrt(70) s.
    noise = float(np.median(np.abs(np.diff(z, n=4)))) / (0.6745 * np.sqrt(70.0))
    return max(1, int(np.ceil(rate * np.sqrt(QUIET * np.sqrt(6.0) * noise / (PUSHED * GRAVITY)) - 1e-9)))


def start_velocity(flight: Flight, gravity: float, measured: np.ndarray) -> np.ndarray:
    """(6,) velocity (m/s, world) and spin (rad/s, body frame) at the first frame, by least squares over the flight."""
    design = np.stack([np.ones_like(flight.time), flight.time], axis=1)
    place = flight.place + 0.5 * gravity * flight.time[:, None] ** 2 * np.array([0.0, 0.0, 1.0])
    velocity = np.linalg.lstsq(design, place, rcond=None)[0][1]
    from scipy.spatial.transform import Rotation

    spin, first, turns = np.array(measured[3:], dtype=float), attitudes(flight.turn[:1]), attitudes(flight.turn)
    inverse = np.linalg.pinv(design)
    for _ in range(GAUSS_NEWTON):
        expected = first * Rotation.from_rotvec(flight.time[:, None] * spin)
        left = inverse @ (expected.inv() * turns).as_rotvec()
        first = first * Rotation.from_rotvec(left[:1])
        spin = spin + left[1]
        if np.abs(left).max() < SETTLED:
            break
    return np.concatenate([velocity, spin])


def free_spin(flight: Flight, start: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """(6,) the start with the spin by which a body of unequal moments (3,), kg m2, turns freely as measured."""
    from scipy.optimize import least_squares
    from scipy.spatial.transform import Rotation

    a, b, c = moments.tolist()
    of_x, of_y, of_z = (b - c) / a, (c - a) / b, (a - b) / c  # Euler's equations: x' = of_x y z, and so on
    turns = attitudes(flight.turn)

    def turned(spin: np.ndarray) -> Rotation:
        """The turn from each frame to the next."""
        x, y, z = spin.tolist()
        steps = []  # rotation vectors from substep to substep; plain numbers, as arrays of three take ten times as long
        for step in np.diff(flight.time).tolist():
            h = step / SUBSTEPS
            for _ in range(SUBSTEPS):  # the midpoint rule
                p, q, r = x + 0.5 * h * of_x * y * z, y + 0.5 * h * of_y * z * x, z + 0.5 * h * of_z * x * y
                steps.append((h * p, h * q, h * r))
                x, y, z = x + h * of_x * q * r, y + h * of_y * r * p, z + h * of_z * p * q
        return math.prod((Rotation.from_rotvec(steps[k::SUBSTEPS]) for k in range(SUBSTEPS)), start=Rotation.identity())

    def miss(unknowns: np.ndarray) -> np.ndarray:
        first = turns[0] * Rotation.from_rotvec(unknowns[:3])
        expected = list(accumulate(turned(unknowns[3:]), mul, initial=first))
        return (Rotation.concatenate(expected).inv() * turns).as_rotvec().ravel()

    solved = least_squares(miss, np.concatenate([np.zeros(3), start[3:]]), method="lm")
    return np.concatenate([start[:3], solved.x[3:]])


def attitudes(quaternions: np.ndarray) -> Rotation:
    """Rotations from quaternions (N, 4) w, x, y, z."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternions[:, [1, 2, 3, 0]])


#: Gravity is measured if its relative standard error is below the first number, and believed up to the second from 9.81
#: m/s2.
KNOWN_TO, BELIEVED = 0.005, 0.06
#: Standard errors by which gravity must be off to be refused where it is not known that well.
CERTAIN = 5.0
#: Units that places may be in, in m.
UNITS = {"mm": 1e-3, "cm": 1e-2, "in": 0.0254}
#: Which axis may be up: its column, and its sign.
UP = {"z": (2, 1.0), "y": (1, 1.0), "x": (0, 1.0), "-z": (2, -1.0), "-y": (1, -1.0), "-x": (0, -1.0)}
#: Poses that change by less than this in two frames are at rest; a box at rest is tilted by no more than this, rad.
AT_REST, TILTED = 2e-3, 0.17
#: No toss is faster, m/s: that is a fall from 20 m.
FASTEST = 20.0


class Motion(NamedTuple):
    """Poses (T, 7) of a toss, at this many frames per second."""

    name: str
    qpos: np.ndarray
    rate: float


class Fall(NamedTuple):
    """How fast bodies fall, m/s2, and the standard error of that."""

    mean: float
    error: float


def gravity_of(motions: Sequence[Motion], source: str) -> float:
    """How fast bodies fall, m/s2, over all flights; 9.81 where these are too few to tell, refused where it is off."""
    own = _fall([flight_of(one.qpos, one.rate) for one in motions])
    off = own is not None and _is_off(own)
    if own is None or off or own.error > BELIEVED * GRAVITY:
        seen = next(_explained(motions), None)
        if seen is not None or off:
            fall = "do not fall along z" if own is None else f"fall with {own.mean:.4g} m/s2, not {GRAVITY}"
            raise StudyError(
                f"{source}: bodies in flight {fall}: are places in m, heights in z, and the rate in frames per second "
                f"right?{_hint(own, seen)}"
            )
    if own is None or own.error > KNOWN_TO * GRAVITY:
        return GRAVITY
    return own.mean


def _fall(flights: Sequence[Flight | None]) -> Fall | None:
    """How fast bodies fall in these flights; None where there is none."""
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


def _is_off(fall: Fall) -> bool:
    off = abs(fall.mean - GRAVITY)
    return off > BELIEVED * GRAVITY and off > CERTAIN * fall.error


def _explained(motions: Sequence[Motion]) -> Iterator[tuple[str, str]]:
    """The axis that is up and the unit of positions, if not z and m, with which bodies fall as they do on Earth."""
    for unit, scale in {"m": 1.0, **UNITS}.items():
        for up, (axis, sign) in UP.items():
            if (up, unit) == ("z", "m"):
                continue
            columns = [*(c for c in range(3) if c != axis), axis]
            turned = [scale * sign * one.qpos[:, columns] for one in motions]
            flights = [
                flight_of(np.hstack([places, one.qpos[:, 3:]]), one.rate)
                for places, one in zip(turned, motions, strict=True)
            ]
            fall = _fall(flights)
            if fall is not None and abs(fall.mean / GRAVITY - 1.0) < BELIEVED and fall.error < BELIEVED * GRAVITY:
                yield up, unit


def _hint(own: Fall | None, seen: tuple[str, str] | None) -> str:
    if seen is not None:
        up, unit = seen
        axis = f"; as if {up} were up, which up= or --up says" if up != "z" else ""
        return axis + (f"; as if places were in {unit}" if unit != "m" else "")
    if own is not None and own.mean > 0.0:
        return f"; as if the rate were {(own.mean / GRAVITY) ** -0.5:.4g} times it"
    return ""


def check_speeds(motions: Sequence[Motion], source: str) -> None:
    """Refuse poses that jump, as where several tosses follow each other."""
    for one in motions:
        speed = np.linalg.norm(np.diff(one.qpos[:, :3], axis=0), axis=1) * one.rate
        if speed.size and speed.max() > FASTEST:
            k = int(speed.argmax())
            raise StudyError(
                f"{source}: {one.name} moves at {speed[k]:.3g} m/s from frame {k} to frame {k + 1}: number the tosses "
                "in a column 'toss', and see that places are in m and the rate in frames per second is right"
            )


def check_order(qpos: Sequence[np.ndarray], source: str) -> None:
    """Refuse quaternions by which boxes rest on an edge, if in the order x, y, z, w they would lie flat.

    Flights do not reveal the order: a constant spin stays constant in any order of the four numbers.
    """
    resting = [one[-1] for one in qpos if len(one) > 3 and np.ptp(one[-3:], axis=0).max() < AT_REST]
    if len(resting) < 2:
        return
    turns = np.array(resting)[:, 3:7]
    own, other = (float(np.median(_tilt(turns[:, order]))) for order in ([0, 1, 2, 3], [3, 0, 1, 2]))
    if own > TILTED and other < 0.25 * own:
        raise StudyError(
            f"{source}: at rest, the axes of the bodies are {np.degrees(own):.3g} deg from the vertical, and "
            f"{np.degrees(other):.2g} deg if quaternions are x, y, z, w: give the order xyzw"
        )


def _tilt(turns: np.ndarray) -> np.ndarray:
    """Angle (rad) between the vertical and the nearest axis of bodies with attitudes (N, 4)."""
    upright = np.abs(attitudes(turns).as_matrix()[:, 2])
    return np.arccos(np.minimum(upright.max(axis=1), 1.0))
