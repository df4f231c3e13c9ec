"""Ground reaction: forces and moments on the feet, errors against measured ones, impacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError, RecordingError, warn
from footfall.files.measured import Measured
from footfall.measure.common import feet, normal_force, runs, threshold
from footfall.measure.gait import steady
from footfall.measure.pressure import cop
from footfall.record import Record


@dataclass(frozen=True, eq=False)
class GroundReaction:
    """Forces and moments of the ground on a robot, world frame.

    Attributes:
        force: (T, feet, 3) N.
        moment: (T, feet, 3) N m, about the world's origin.
        moment_at_cop: (T, feet, 3) N m, about the foot's centre of pressure; NaN where it carries no load.
    """

    force: np.ndarray
    moment: np.ndarray
    moment_at_cop: np.ndarray


@public
def grf(rec: Record) -> GroundReaction:
    """Ground reaction forces of each foot, with their moments."""
    each = np.cross(rec.position, rec.force)
    moment = np.stack([each[:, points].sum(axis=1) for points in feet(rec)], axis=1)  # Bruneau 1999, eq. 41
    return GroundReaction(
        force=rec.foot_force,
        moment=moment,
        moment_at_cop=moment - np.cross(cop(rec), rec.foot_force),
    )


# ---- forces over a stance, cut and scaled like those of the measured walk -------------------------------------------


#: N, vertical force below which the force plates of the recorded walk read zero, and the weight of the recorded man.
THRESHOLD, WEIGHT = 30.0, 757.0
#: s, shortest stance, and shortest flight: shorter bounces are part of a stance.
SHORTEST, BOUNCE = 0.2, 0.05


def stance_forces(rec: Record) -> np.ndarray:
    """(stances, 51, 3) forces on one foot over each whole stance, in body weights: forward, to the other leg, up.

    In a stance the vertical force is above 30 N for a man of 77 kg, and in proportion for other weights.
    """
    from footfall.gait.human.data import STANCE

    found = []
    least = THRESHOLD / WEIGHT
    for f, foot in enumerate(rec.robot.feet):
        force = rec.foot_force[:, f] / rec.robot.weight
        inwards = np.array([1.0, -1.0 if foot.name == "left" else 1.0, 1.0])
        for a, b in runs(steady(force[:, 2] > least, rec.time, BOUNCE)):
            if a > 0 and b < len(rec) and rec.time[b] - rec.time[a] > SHORTEST:
                start, end = (_crossing(rec.time, force[:, 2], k, least) for k in (a, b))
                at = np.linspace(start, end, STANCE)
                found.append(np.column_stack([np.interp(at, rec.time, inwards[k] * force[:, k]) for k in range(3)]))
    return np.array(found).reshape(-1, STANCE, 3)


def _crossing(time: np.ndarray, values: np.ndarray, k: int, level: float) -> float:
    """The time (s) at which values cross the level between the samples k - 1 and k."""
    part = (level - values[k - 1]) / (values[k] - values[k - 1])
    return float(time[k - 1] + part * (time[k] - time[k - 1]))


# ---- errors against measured forces ---------------------------------------------------------------------------------


AXES = ("x", "y", "z")
#: Peak of vertical forces, in weights, above which, or below whose inverse, the unit of a file is doubted: people who
#: land from a jump reach five to ten.
FAR_ABOVE = 30.0


class ForceError(NamedTuple):
    """The error of a simulated force against a measured one, over the time that both cover.

    ``rms`` N; ``peak`` and ``measured_peak`` N, the values farthest from zero; ``impulse`` and ``measured_impulse``
    N s; ``timing`` s, how much later the simulated peak comes.
    """

    foot: str
    axis: str
    rms: float
    peak: float
    measured_peak: float
    impulse: float
    measured_impulse: float
    timing: float


def forces_against(rec: Record, measured: Measured) -> tuple[ForceError, ...]:
    """Errors of the ground forces of every foot that is measured, and of their sum where it is measured as "total".

    ``measured`` has vectors ``FOOT.force`` in N with z up, as ``footfall.load_forces`` returns them, in the time of the
    recording. Where it has gaps (NaN) nothing is compared.
    """
    found: list[ForceError] = []
    for foot, simulated in measured_feet(rec, measured):
        vector = measured.vector(f"{foot}.force")
        inside = (measured.time >= rec.time[0]) & (measured.time <= rec.time[-1])
        time = measured.time[inside]
        if time.size < 2:
            raise FootfallError(
                f"{measured.source} lasts from {measured.time[0]:g} to {measured.time[-1]:g} s and the recording from "
                f"{rec.time[0]:g} to {rec.time[-1]:g} s: they do not overlap"
            )
        for k, axis in enumerate(AXES):
            theirs = vector[inside, k]
            ours = np.interp(time, rec.time, simulated[:, k])
            known = np.isfinite(theirs)
            if known.sum() < 2:
                continue
            a, b, t = ours[known], theirs[known], time[known]
            first, second = int(np.abs(a).argmax()), int(np.abs(b).argmax())
            found.append(
                ForceError(
                    foot=foot,
                    axis=axis,
                    rms=float(np.sqrt(np.mean((a - b) ** 2))),
                    peak=float(a[first]),
                    measured_peak=float(b[second]),
                    impulse=float(np.trapezoid(a, t)),
                    measured_impulse=float(np.trapezoid(b, t)),
                    timing=float(t[first] - t[second]),
                )
            )
    _warn_of_other_units(found, rec, measured.source)
    return tuple(found)


def _warn_of_other_units(found: Sequence[ForceError], rec: Record, source: str) -> None:
    """Warn where the peak of measured vertical forces is implausible for a robot of this weight."""
    peak = max((abs(one.measured_peak) for one in found if one.axis == "z"), default=0.0)
    weights = peak / rec.robot.weight if rec.robot.weight > 0.0 else 0.0
    if weights > FAR_ABOVE or 0.0 < weights < 1.0 / FAR_ABOVE:
        warn(
            f"{source} has vertical forces of up to {peak:.3g} N, {weights:.2g} times the weight of {rec.robot.name} "
            f"({rec.robot.weight:.3g} N): are they in another unit, or of another body?"
        )


def measured_feet(rec: Record, measured: Measured) -> Sequence[tuple[str, np.ndarray]]:
    """The feet of a recording that are measured, with their simulated forces (T, 3) N; "total" is the sum of all."""
    names = [foot.name for foot in rec.robot.feet]
    known = {name.removesuffix(".force") for name in measured.vectors if name.endswith(".force")}
    chosen = [(name, rec.foot_force[:, i]) for i, name in enumerate(names) if name in known]
    if "total" in known:
        chosen.append(("total", rec.total_force))
    if not chosen:
        theirs = ", ".join(sorted(known)) or "nothing"
        raise FootfallError(
            f"{measured.source} has forces of {theirs}, and {rec.robot.name} has the feet {', '.join(names)}: "
            f"name them with load_forces(..., feet={{'{names[0]}': VECTOR}})"
        )
    if measured.up != "z":
        raise FootfallError(f"{measured.source} has y up: turn it with z_up()")
    return chosen


# ---- impacts --------------------------------------------------------------------------------------------------------


@public
def penetration(rec: Record) -> np.ndarray:
    """(T, P) m, depth of each point inside the ground, 0 outside."""
    return np.maximum(0.0, -rec.gap)


@dataclass(frozen=True)
class Impact:
    """One landing of a foot. Forces are along the ground's normal.

    Attributes:
        foot: its name.
        time: s, the first sample with load.
        peak_force: N, the largest within the window.
        impulse: N s, over the window.
        loading_rate: N/s, mean rise from the last sample without load to the peak.
    """

    foot: str
    time: float
    peak_force: float
    impulse: float
    loading_rate: float


@public
def impacts(rec: Record, window: float = 0.05) -> list[Impact]:
    """Every landing of every foot, in order of time.

    A landing begins with the first load after a sample without; it lasts ``window`` s, so bounces shorter
    than that are part of it. A foot that is loaded in the first sample has not landed. Forces on record are means
    until the next sample, so impulses are exact however few the samples are; peaks are those of single steps.

    Limitations: where a law stops a foot within one step, peak and loading rate are the impulse over the step and over
    its square: they depend more on dt than on the foot. Impulses are comparable between laws.
    """
    if not window > 0.0:
        raise RecordingError(f"window = {window!r}, but a landing lasts some time, in s")
    found = []
    step = np.diff(rec.time, append=rec.time[-1:] + rec.dt)
    for foot, points in zip(rec.robot.feet, feet(rec), strict=True):
        load = normal_force(rec)[:, points].sum(axis=1)
        hardest = np.einsum("tpi,tpi->t", rec.peak_force[:, points], rec.normal[:, points])
        over = -np.inf
        for first, _ in runs(load > threshold(rec)):
            if first == 0 or rec.time[first] < over:
                continue
            over = rec.time[first] + window
            end = int(np.searchsorted(rec.time, over))
            peak = first + int(np.argmax(hardest[first:end]))
            found.append(
                Impact(
                    foot=foot.name,
                    time=float(rec.time[first]),
                    peak_force=float(hardest[peak]),
                    impulse=float(load[first:end] @ step[first:end]),
                    loading_rate=float(hardest[peak] / (rec.time[peak] - rec.time[first - 1])),
                )
            )
    return sorted(found, key=lambda impact: impact.time)
