"""The few numbers of a run that a reader looks for first."""

from __future__ import annotations

import math

import numpy as np

from footfall.measure.fall import fall
from footfall.measure.slip import creep_distance, slip_distance
from footfall.record import Record


def summarise(rec: Record) -> dict[str, float | int | bool | str]:
    """A few numbers of a run, with units in their names (``bw``: times the robot's weight)."""
    fallen = fall(rec)
    peak = float(rec.peak_total_force[:, 2].max(initial=0.0))
    mean = float(rec.total_force[:, 2].mean()) if len(rec) else 0.0
    weight = rec.robot.weight or math.nan  # no gravity, no weight
    return {
        "duration_s": rec.duration,
        "samples": len(rec),
        "peak_vertical_force_N": peak,
        "peak_vertical_force_bw": peak / weight,
        "mean_vertical_force_N": mean,
        "mean_vertical_force_bw": mean / weight,
        "max_penetration_m": float(max(0.0, -rec.gap.min(initial=0.0))),
        "slip_distance_m": float(slip_distance(rec)[-1:].max(initial=0.0)),
        "creep_distance_m": float(creep_distance(rec)[-1:].max(initial=0.0)),
        "unsolved_samples": int(np.count_nonzero(rec.status)),
        "fell": fallen is not None,
        "fell_at_s": math.nan if fallen is None else fallen.time,
        "fell_because": "" if fallen is None else fallen.cause,
        "failed": rec.failure is not None,
        "failure": "" if rec.failure is None else rec.failure.message,
    }
