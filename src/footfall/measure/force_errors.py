"""Errors of a recording's forces against measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from footfall.errors import FootfallError, warn
from footfall.files.measured import Measured
from footfall.record import Record

AXES = ("x", "y", "z")
#: Peak of vertical forces in weights above which a unit is doubted, as below one part in so many: people who land from
#: a jump make five to ten.
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

    ``measured`` has vectors ``FOOT.force`` in N with z up, as ``footfall.load_forces`` gives them, in the time of the
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
    """Warn where the peak of measured vertical forces is far from what a body of this weight makes."""
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
