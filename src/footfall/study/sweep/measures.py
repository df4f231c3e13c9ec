"""What is measured of each case that is a simulation: one number per name.

A new measure is one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from footfall.errors import StudyError, did_you_mean
from footfall.measure import cost_of_transport, energy, fall, support_margin
from footfall.recording import Recording

Value = float | int | bool | str


def _of_summary(name: str) -> Callable[[Recording], Value]:
    return lambda rec: rec.summary()[name]


def _least_margin(rec: Recording) -> float:
    margin = support_margin(rec)
    return float(np.nanmin(margin)) if np.isfinite(margin).any() else float("nan")


def _moved(rec: Recording) -> float:
    """Way of the robot's root along the ground, m."""
    first, last = rec.qpos[0, :2], rec.qpos[-1, :2]
    return float(np.linalg.norm(last - first))


#: What a case can be asked for, with its unit in its name.
MEASURES: dict[str, Callable[[Recording], Value]] = {
    "peak_vertical_force_bw": _of_summary("peak_vertical_force_bw"),
    "mean_vertical_force_bw": _of_summary("mean_vertical_force_bw"),
    "slip_distance_m": _of_summary("slip_distance_m"),
    "max_penetration_m": _of_summary("max_penetration_m"),
    "unsolved_samples": _of_summary("unsolved_samples"),
    "fell": lambda rec: fall(rec) is not None,
    "fell_at_s": _of_summary("fell_at_s"),
    "least_support_margin_m": _least_margin,
    "root_moved_m": _moved,
    "cost_of_transport": cost_of_transport,
    "ground_loss_J": lambda rec: -float(energy(rec).contact_work[-1]),
    "audit": lambda rec: rec.audit().verdict,
}
DEFAULT = (
    "peak_vertical_force_bw",
    "mean_vertical_force_bw",
    "slip_distance_m",
    "max_penetration_m",
    "unsolved_samples",
    "fell",
    "fell_at_s",
)


def check_measures(names: Iterable[str]) -> tuple[str, ...]:
    """The names, if all are known."""
    chosen = tuple(names)
    for name in chosen:
        if name not in MEASURES:
            raise StudyError(f"no measure '{name}': {did_you_mean(name, MEASURES)}")
    return chosen


def measured(rec: Recording, names: Iterable[str]) -> dict[str, Value]:
    """Each measure of a recording. One that needs samples is left out of a recording without any."""
    summary = rec.summary()
    return {name: summary[name] if name in summary else MEASURES[name](rec) for name in names if len(rec)}
