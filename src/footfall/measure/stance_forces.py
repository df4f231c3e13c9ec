"""Ground forces over stance, cut and scaled like those of the measured walk."""

from __future__ import annotations

import numpy as np

from footfall.gait.human.data import STANCE
from footfall.measure.common import runs
from footfall.record import Record

#: N, below which a force plate of the recorded walk reads zero, at the recorded man's weight.
THRESHOLD, WEIGHT = 30.0, 757.0
#: s; shorter touches are no stance, and a foot that bounces for less has not left.
SHORTEST, BOUNCE = 0.2, 0.05


def stance_forces(rec: Record) -> np.ndarray:
    """(stances, 51, 3) forces on one foot over each whole stance, in body weights: forward, to the other leg, up.

    A stance lasts from where the vertical force rises above 30 N (of a man of 77 kg) to where it falls below.
    """
    found = []
    least = THRESHOLD / WEIGHT
    for f, foot in enumerate(rec.robot.feet):
        force = rec.foot_force[:, f] / rec.robot.weight
        inwards = np.array([1.0, -1.0 if foot.name == "left" else 1.0, 1.0])
        for a, b in _joined(runs(force[:, 2] > least), rec.time):
            if a > 0 and b < len(rec) and rec.time[b] - rec.time[a] > SHORTEST:
                start, end = (_crossing(rec.time, force[:, 2], k, least) for k in (a, b))
                at = np.linspace(start, end, STANCE)
                found.append(np.column_stack([np.interp(at, rec.time, inwards[k] * force[:, k]) for k in range(3)]))
    return np.array(found).reshape(-1, STANCE, 3)


def _joined(stays: list[tuple[int, int]], time: np.ndarray) -> list[tuple[int, int]]:
    """Stances with short bounces ignored."""
    found: list[tuple[int, int]] = []
    for a, b in stays:
        if found and time[a] - time[found[-1][1]] < BOUNCE:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


def _crossing(time: np.ndarray, values: np.ndarray, k: int, level: float) -> float:
    """When values cross the level between the samples k - 1 and k."""
    part = (level - values[k - 1]) / (values[k] - values[k - 1])
    return float(time[k - 1] + part * (time[k] - time[k - 1]))
