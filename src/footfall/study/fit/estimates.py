"""What the data say about each parameter of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from footfall.study.fit.ranges import Range

#: A parameter whose interval covers more than this share of its range is not identifiable from the data.
UNKNOWN = 0.5
#: Nearer to a bound than this share of the range, the bound decides.
AT_BOUND = 0.01


@dataclass(frozen=True)
class Estimate:
    """One parameter: its value, an interval of 95 % by bootstrap over the trials, and what is to be said of it."""

    name: str
    value: float
    low: float
    high: float
    note: str


def estimates(
    ranges: Mapping[str, Range], best: np.ndarray, draws: np.ndarray, fitted: np.ndarray
) -> tuple[Estimate, ...]:
    """What the data say about each parameter, from bootstrap draws (B, d) in shares of the ranges."""
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    low, high = np.minimum(low, best), np.maximum(high, best)
    found = []
    for i, (name, own) in enumerate(ranges.items()):
        note = ""
        if not fitted[i]:
            note = "the law's default, kept"
        elif high[i] - low[i] > UNKNOWN:
            note = "not identifiable from these data"
        elif best[i] < AT_BOUND or best[i] > 1.0 - AT_BOUND:
            note = "at its bound"
        found.append(Estimate(name, own.value(best[i]), own.value(low[i]), own.value(high[i]), note))
    return tuple(found)


def correlations(draws: np.ndarray) -> np.ndarray:
    """(d, d) correlation of bootstrap draws (B, d); NaN where one does not move."""
    d = draws.shape[1]
    found = np.full((d, d), np.nan)
    moves = np.flatnonzero(draws.std(axis=0) > 1e-9)
    if moves.size:
        found[np.ix_(moves, moves)] = np.atleast_2d(np.corrcoef(draws[:, moves].T))
    return found
