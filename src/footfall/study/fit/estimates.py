"""What the data say about each parameter of a fit.

An interval holds what the bootstrap over the trials draws, widened as Student's quantile is wider than Gauss's for so
few trials, and every value at which, the others as they are, the trials are not significantly worse. A parameter that
does nothing is found by the latter: all draws of the bootstrap may agree on it by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from footfall.study.fit.ranges import Range
from footfall.study.fit.search import Errors, robust

#: A parameter whose interval covers more than this share of its range is not identifiable from the data.
UNKNOWN = 0.5
#: Nearer to a bound than this share of the range, the bound decides.
AT_BOUND = 0.01
#: Shares of its range at which each parameter is probed.
PROBES = (0.0, 0.25, 0.5, 0.75, 1.0)
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """One parameter: its value, an interval of 95 %, and what is to be said of it."""

    name: str
    value: float
    low: float
    high: float
    note: str


class Probes(NamedTuple):
    """Shares of each parameter's range, the others at the best, that the trials do not tell from the best."""

    low: np.ndarray  # (d,) the lowest, the best itself where there is none below
    high: np.ndarray


def probed(errors: Errors, best: np.ndarray, at_best: np.ndarray, scale: float) -> Probes:
    """Try each parameter at a few places of its range; ``at_best`` (trials,) are the errors of the best."""
    trials = np.arange(at_best.size)
    low, high = best.copy(), best.copy()
    for i in range(best.size):
        for share in PROBES:
            at = best.copy()
            at[i] = share
            worse = robust(errors(at, trials)[:, None], scale) - robust(at_best[:, None], scale)
            if worse.mean() <= quantile(trials.size) * worse.std(ddof=1) / np.sqrt(trials.size):
                low[i], high[i] = min(low[i], share), max(high[i], share)
    return Probes(low, high)


def quantile(trials: int) -> float:
    """Student's, of a mean over so many trials."""
    from scipy.stats import t as student

    return float(student.ppf(0.5 + CONFIDENCE / 2.0, trials - 1))


def estimates(
    ranges: Mapping[str, Range], best: np.ndarray, draws: np.ndarray, probes: Probes, trials: int, fitted: np.ndarray
) -> tuple[Estimate, ...]:
    """What the data say about each parameter, from bootstrap draws (B, d) in shares of the ranges and from probes."""
    low, high = np.quantile(draws, [0.5 - CONFIDENCE / 2.0, 0.5 + CONFIDENCE / 2.0], axis=0)
    wider = quantile(trials) / 1.96 * np.sqrt(trials / (trials - 1.0))
    low = np.clip(np.minimum(best + wider * np.minimum(low - best, 0.0), probes.low), 0.0, 1.0)
    high = np.clip(np.maximum(best + wider * np.maximum(high - best, 0.0), probes.high), 0.0, 1.0)
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
