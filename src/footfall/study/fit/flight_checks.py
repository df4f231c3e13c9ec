"""Checks of frame, units, rate and quaternions of tosses, by their flights and resting places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from footfall.errors import StudyError
from footfall.study.fit.flight import GRAVITY, Flight, flight_of

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
    w, x, y, z = turns.T
    upright = np.abs([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z])
    return np.arccos(np.minimum(upright.max(axis=0), 1.0))
