"""Impacts: how deep points sink in, and how hard feet land."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footfall.measure.common import feet, normal_force, runs, threshold

if TYPE_CHECKING:
    from footfall.record import Record


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


def impacts(rec: Record, window: float = 0.05) -> list[Impact]:
    """Every landing of every foot, in order of time.

    A landing begins with the first load after a sample without; it lasts ``window`` s, so bounces shorter
    than that are part of it. A foot that is loaded in the first sample has not landed. Forces on record are means
    until the next sample, so impulses are exact however few the samples are; peaks are those of single steps.

    Limitations: where a law stops a foot within one step, peak and loading rate are the impulse over the step and over
    its square: they depend more on dt than on the foot. Impulses are comparable between laws.
    """
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
