"""The loss of a fit near its minimum: where exactly that is, and between which bounds each parameter lies.

Around the best parameters a quadratic is put through as many evaluations of the loss as it has coefficients. Its
minimum is tried, and the covariance of the estimate is the sandwich of M-estimators (Huber 1967): with the Hessian H of
the mean loss and the gradients g of single trials at the estimate, inv(H) cov(g) inv(H) / trials.

An interval covers the draws of the bootstrap over the trials, widened by the ratio of Student's to Gauss's quantile for
so few trials; the uncertainty from the curvature of the loss; and values at which, with the others unchanged, the
trials are not significantly worse. The bootstrap, which picks among the parameters tried, is coarse where the loss is
smooth; the curvature means little where trials are chaotic; and a parameter without effect is found by trying other
values of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from footfall.study.fit.parameters import Range
from footfall.study.fit.search import Errors, better, robust

#: Share by which the loss should rise at the evaluated points, and their largest and least distance from the best, as
#: shares of the range.
RISE, WIDEST, NARROWEST = 0.08, 0.2, 1e-4
#: A parameter that changes the loss by less than this share is not moved.
FLAT = 1e-4
#: How often this is repeated about the new minimum if that is farther away than this share of the standard error, and
#: the distance of the new evaluations in standard errors.
AGAIN, FAR, LOOK = 3, 0.2, 2.0
#: Share of the gain predicted by the quadratic that its minimum must reach: for chaotic trials there is no such
#: quadratic.
KEPT = 0.5


class Curvature(NamedTuple):
    """Parameters (d,), the errors of each trial there, and the standard errors (d,), NaN where they are not known."""

    point: np.ndarray
    errors: np.ndarray
    spread: np.ndarray


def curvature_evaluations(parameters: int) -> int:
    """About how many evaluations of all trials it takes."""
    return 4 * parameters + 2 * parameters + parameters * (parameters - 1) // 2


def polished(errors: Errors, best: np.ndarray, at_best: np.ndarray, scale: float) -> Curvature:
    """The minimum of a quadratic around the best, or the best itself."""
    found, size = Curvature(best, at_best, np.full(best.size, np.nan)), np.full(best.size, WIDEST)
    for _ in range(1 + AGAIN):
        before = found.point
        found, size = _step(errors, found.point, found.errors, scale, size)
        if not (np.abs(found.point - before) > FAR * found.spread).any():
            break
        size = np.clip(LOOK * np.nan_to_num(found.spread, nan=WIDEST), NARROWEST, size)
    return found


def _step(
    errors: Errors, best: np.ndarray, at_best: np.ndarray, scale: float, widest: np.ndarray
) -> tuple[Curvature, np.ndarray]:
    """The result at the minimum of one quadratic, or at the best if that is no better, and the distance of the
    evaluations.
    """
    trials = np.arange(at_best.size)
    unknown = Curvature(best, at_best, np.full(best.size, np.nan))
    if trials.size < 3:
        return unknown, widest

    def losses(x: np.ndarray) -> np.ndarray:
        return robust(errors(x, trials)[:, None], scale)

    base = robust(at_best[:, None], scale)
    inward = np.where(best < 0.5, 1.0, -1.0)
    size, names = _distances(losses, best, inward, base.mean(), widest)
    if not names.size:
        return unknown, size

    def full(u: np.ndarray) -> np.ndarray:
        x = best.copy()
        x[names] += inward[names] * size[names] * u
        return np.clip(x, 0.0, 1.0)

    # Twice inward where a step outward would leave the range.
    outward = [-1.0 if 0.0 <= best[i] - inward[i] * size[i] <= 1.0 else 2.0 for i in names]
    gradient, hessian = _quadratic(lambda u: losses(full(u)), base, outward)
    if np.linalg.eigvalsh(hessian)[0] <= 1e-9 * np.trace(hessian):
        return unknown, size
    inverse = np.linalg.inv(hessian)
    step = -inverse @ gradient.mean(axis=1)
    step /= max(1.0, np.abs(step).max())
    covariance = inverse @ np.atleast_2d(np.cov(gradient)) @ inverse / trials.size
    spread = np.full(best.size, np.nan)
    spread[names] = size[names] * np.sqrt(np.diag(covariance))
    point = full(step)
    there = errors(point, trials)
    promised = -(gradient.mean(axis=1) @ step + 0.5 * step @ hessian @ step)
    if base.mean() - robust(there, scale) > KEPT * promised:
        return Curvature(point, there, spread), size
    return unknown._replace(spread=spread), size


def _distances(
    losses: Callable[[np.ndarray], np.ndarray], best: np.ndarray, inward: np.ndarray, base: float, widest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far from the best the loss is to be evaluated along each parameter, and which parameters change it."""
    size, rise = widest.copy(), np.zeros(best.size)
    for i in range(best.size):
        while size[i] > NARROWEST:
            rise[i] = losses(best + inward * size * (np.arange(best.size) == i)).mean() - base
            if rise[i] <= RISE * base:
                break
            size[i] *= max(0.1, 0.9 * np.sqrt(RISE * base / rise[i]))
    return size, np.flatnonzero(np.abs(rise) > FLAT * base)


def _quadratic(
    losses: Callable[[np.ndarray], np.ndarray], base: np.ndarray, outward: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients (d, trials) of the trials and Hessian (d, d) of their mean, of a quadratic through the losses.

    ``losses`` are those of the trials at a place in units of the distances; ``base`` those at the origin; ``outward``
    is the second place along each axis, the first is at one.
    """
    d = len(outward)
    unit, pairs = np.eye(d), list(combinations(range(d), 2))
    at = np.array([np.zeros(d), *unit, *(a * u for a, u in zip(outward, unit, strict=True))])
    at = np.array([*at, *(unit[i] + unit[j] for i, j in pairs)])
    products = [(i, i) for i in range(d)] + pairs
    terms = np.column_stack([np.ones(len(at)), at, *(at[:, i] * at[:, j] for i, j in products)])
    coefficients = np.linalg.solve(terms, np.array([base, *(losses(u) for u in at[1:])]))
    hessian = np.zeros((d, d))
    for pair, value in zip(products, coefficients[1 + d :].mean(axis=1), strict=True):
        hessian[pair] += value
        hessian[pair[::-1]] += value
    return coefficients[1 : 1 + d], hessian


#: Share of its range that the interval of an identifiable parameter covers at most.
UNKNOWN = 0.5
#: Distance from a bound, as a share of the range, below which the estimate is at the bound.
AT_BOUND = 0.01
#: Most halvings of the distance to a bound, and about how many there are on both sides together.
HALVINGS, PROBES = 10, 8
#: Rise of the loss, as a share, below which it is flat; and steps in the search for the edge of a plateau.
PLATEAU, EDGE = 0.01, 4
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
        if share != bound and rises < PLATEAU:  # a plateau, which ends somewhere beyond
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
