"""Estimates and intervals of the parameters of a fit.

An interval covers the draws of the bootstrap over the trials, widened by the ratio of Student's to Gauss's quantile for
so few trials; the uncertainty from the curvature of the loss; and values at which, with the others unchanged, the
trials are not significantly worse. The bootstrap, which picks among the parameters tried, is coarse where the loss is
smooth; the curvature means little where trials are chaotic; and a parameter without effect is found by trying other
values of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from footfall.study.fit.ranges import Range
from footfall.study.fit.search import Errors, better, robust

#: Share of its range that the interval of an identifiable parameter covers at most.
UNKNOWN = 0.5
#: Distance from a bound, as a share of the range, below which the estimate is at the bound.
AT_BOUND = 0.01
#: Most halvings of the distance to a bound, and about how many there are on both sides together.
HALVINGS, PROBES = 10, 8
#: Rise of the loss, as a share, below which it is flat; and steps in the search for the edge of a plateau.
FLAT, EDGE = 0.01, 4
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """One parameter: its value, an interval of 95 %, and a note."""

    name: str
    value: float
    low: float
    high: float
    note: str


class Probes(NamedTuple):
    """Shares of each parameter's range that the trials cannot distinguish from the best, others at the best."""

    low: np.ndarray  # (d,) the lowest, the best itself where there is none below
    high: np.ndarray
    better: np.ndarray | None  # (d,) a place that is better by more than chance, if one was come across


def probed(errors: Errors, best: np.ndarray, at_best: np.ndarray, scale: float) -> Probes:
    """Try each parameter at its bounds, then half way to them and so on, until the trials cannot distinguish it from
    the best.

    ``at_best`` (trials,) are the errors of the best. Where the loss is smooth, half of the way to where trials become
    worse is the interval by its curvature; that lies between half of what is found here and all of it.
    """
    trials = np.arange(at_best.size)
    base = robust(at_best[:, None], scale)
    lower: list[tuple[float, np.ndarray]] = []

    def rise(i: int, share: float) -> tuple[bool, float]:
        """Whether the trials are significantly worse there, and by which share of the loss."""
        at = best.copy()
        at[i] = share
        own = robust(errors(at, trials)[:, None], scale)
        worse = own - base
        if better(own, base):
            lower.append((float(own.mean()), at))
        significant = worse.mean() > quantile(trials.size) * worse.std(ddof=1) / np.sqrt(trials.size)
        return bool(significant), float(worse.mean() / max(base.mean(), 1e-300))

    def reaches(i: int, bound: float) -> float:
        share, beyond = bound, bound
        for _ in range(HALVINGS):
            significant, rises = rise(i, share)
            if not significant:
                break
            share, beyond = 0.5 * (best[i] + share), share
        else:
            return float(best[i])
        if share != bound and rises < FLAT:  # a plateau, which ends somewhere beyond
            for _ in range(EDGE):
                middle = 0.5 * (share + beyond)
                if rise(i, middle)[0]:
                    beyond = middle
                else:
                    share = middle
        return float(share)

    low, high = (
        np.array([reaches(i, bound) if best[i] != bound else bound for i in range(best.size)]) for bound in (0.0, 1.0)
    )
    return Probes(low, high, min(lower, key=lambda one: one[0])[1] if lower else None)


def quantile(trials: int) -> float:
    """The quantile of Student's distribution for the mean of this many trials."""
    from scipy.special import stdtrit  # scipy.stats takes half a second to load

    return float(stdtrit(trials - 1, 0.5 + CONFIDENCE / 2.0))


class Seen(NamedTuple):
    """The ingredients of intervals, as shares of the ranges."""

    draws: np.ndarray  # (B, d) of the bootstrap
    spread: np.ndarray  # (d,) standard errors by curvature, NaN where they are not known
    probes: Probes
    trials: int


def estimates(ranges: Mapping[str, Range], best: np.ndarray, seen: Seen, fitted: np.ndarray) -> tuple[Estimate, ...]:
    """The estimate of each parameter."""
    draws, spread, probes, trials = seen
    low, high = np.quantile(draws, [0.5 - CONFIDENCE / 2.0, 0.5 + CONFIDENCE / 2.0], axis=0)
    wider = quantile(trials) / 1.96 * np.sqrt(trials / (trials - 1.0))
    curved = quantile(trials) * np.nan_to_num(spread)
    below, above = np.maximum(wider * (best - low), curved), np.maximum(wider * (high - best), curved)
    low = np.clip(np.minimum(best - below, probes.low), 0.0, 1.0)
    high = np.clip(np.maximum(best + above, probes.high), 0.0, 1.0)
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
