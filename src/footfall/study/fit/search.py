"""The search for parameters, and between which bounds the data say that each lies.

The search goes over the whole box first, then downhill from the best places. Every evaluation keeps the error of every
trial, so that the bootstrap needs no further simulation. Whether fitting helps is judged by separate searches that
never see the trials on which they are judged: tosses are chaotic, and among hundreds of parameters some follow thirty
tosses well by chance.

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

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from footfall.errors import StudyError
from footfall.study.sweep.cases import unit_samples


@dataclass(frozen=True)
class Range:
    """A parameter between two bounds, searched on a linear or a logarithmic scale; ``start`` is the first guess."""

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    start: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise StudyError(f"the bounds {self.low} and {self.high} do not make an interval")
        if self.scale not in ("linear", "log"):
            raise StudyError(f"a parameter is searched on a 'linear' or a 'log' scale, not '{self.scale}'")
        if self.scale == "log" and self.low <= 0.0:
            raise StudyError(f"a logarithmic scale needs a positive lower bound, not {self.low:g}")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise StudyError(f"the first guess {self.start:g} is not between {self.low:g} and {self.high:g}")

    def value(self, share: float) -> float:
        """The parameter at a share of the range, 0 to 1."""
        share = min(1.0, max(0.0, float(share)))
        if self.scale == "log":
            return self.low * (self.high / self.low) ** share
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """Where a value lies in the range, 0 to 1."""
        value = min(self.high, max(self.low, value))
        if self.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def first(self) -> float:
        """The share at which the search starts."""
        return 0.5 if self.start is None else self.share(self.start)


def as_ranges(parameters: Mapping[str, Any]) -> dict[str, Range]:
    """Ranges from ``Range`` values or tuples (low, high), (low, high, "log"), (low, high, "log", start)."""
    found = {}
    for name, given in parameters.items():
        try:
            found[name] = given if isinstance(given, Range) else Range(*given)
        except TypeError:
            raise StudyError(f"'{name}' = {given!r}: a range is (low, high) or (low, high, 'log')") from None
        except StudyError as error:
            raise StudyError(f"'{name}': {error}") from None
    if not found:
        raise StudyError("there is nothing to fit: no parameter was given")
    return found


#: Errors of a trial for parameters (d,) as shares of their ranges, for those trials that are asked for.
Errors = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: Multiple of the typical error beyond which a trial counts by its logarithm: one toss that lands on another face must
#: not outweigh all others.
OUTLIER = 3.0
#: Share of the evaluations over the whole box; each costs a third of others, since it uses a third of the trials.
GLOBAL, SUBSET = 0.5, 1.0 / 3.0
#: Places of the box that are evaluated on all trials, and those of them from which the search goes downhill.
FINALISTS, DESCENTS = 0.2, 2
#: Share of the best parameters tried whose mean is tried last.
MIDDLE = 0.06


@dataclass(eq=False)
class Evaluations:
    """All parameters that were tried on all trials, with the errors of each trial."""

    points: np.ndarray  # (N, d) shares of the ranges
    errors: np.ndarray  # (N, trials)
    scale: float  # a typical error

    def losses(self, trials: np.ndarray | None = None) -> np.ndarray:
        """(N,) loss over some trials, or all."""
        return robust(self.errors if trials is None else self.errors[:, trials], self.scale)

    def best(self, trials: np.ndarray | None = None) -> int:
        return int(np.argmin(self.losses(trials)))


def robust(errors: np.ndarray, scale: float) -> np.ndarray:
    """(N,) mean over trials of errors (N, trials), in which outliers count by their logarithm."""
    limit = OUTLIER * scale
    return np.where(errors <= limit, errors, limit * (1.0 + np.log(np.maximum(errors, limit) / limit))).mean(axis=-1)


def search(
    errors: Errors,
    first: np.ndarray,
    trials: int,
    evaluations: int,
    seed: int,
    free: np.ndarray | None = None,
    scale: float | None = None,
    starts: np.ndarray | None = None,
) -> Evaluations:
    """Try some ``evaluations`` of all trials. Parameters that are not ``free`` (d,) stay at their ``first`` share.

    With ``starts`` (S, d) the search goes downhill from the best of them, and not over the whole box.
    """
    from scipy.optimize import minimize

    free = np.ones(first.size, dtype=bool) if free is None else free
    everyone = np.arange(trials)
    points, found = [first.copy()], [errors(first, everyone)]
    scale = float(np.median(found[0])) if scale is None else scale
    if not free.any():
        return Evaluations(np.array(points), np.array(found), scale)

    def loss(x: np.ndarray) -> float:
        full = first.copy()
        full[free] = np.clip(x, 0.0, 1.0)
        points.append(full)
        found.append(errors(full, everyone))
        return float(robust(found[-1], scale))

    few = np.random.default_rng(seed).permutation(trials)[: max(2, round(SUBSET * trials))]
    over_the_box = round(GLOBAL * evaluations / SUBSET) if starts is None else 0
    for start in () if starts is None else starts:
        loss(start[free])
    if over_the_box >= 4 and trials > 3:
        samples = unit_samples(int(free.sum()), over_the_box, "sobol", seed)
        rough = []
        for sample in samples:
            full = first.copy()
            full[free] = sample
            rough.append(float(robust(errors(full, few), scale)))
        for i in np.argsort(rough)[: max(DESCENTS, round(FINALISTS * over_the_box * SUBSET))]:
            loss(samples[i])
    lowest = np.argsort([robust(one, scale) for one in found])[:DESCENTS]
    left = max(8, round(evaluations if starts is not None else (1.0 - GLOBAL) * evaluations)) // (len(lowest) + 1)

    def descend(start: np.ndarray, width: float) -> None:
        simplex = np.vstack([start, *(_aside(start, k, width) for k in range(start.size))])
        options = {"maxfev": left, "initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-6 * scale}
        minimize(loss, start, method="Nelder-Mead", bounds=[(0.0, 1.0)] * start.size, options=options)

    for i in lowest:
        descend(points[i][free], 0.1)
    descend(points[int(np.argmin([robust(one, scale) for one in found]))][free], 0.02)  # from the best of both
    return Evaluations(np.array(points), np.array(found), scale)


def _aside(start: np.ndarray, axis: int, width: float) -> np.ndarray:
    """A corner of the first simplex: some of the range towards the farther bound."""
    corner = start.copy()
    corner[axis] += width if start[axis] < 0.5 else -width
    return corner


def settled(tried: Evaluations, errors: Errors) -> tuple[Evaluations, int]:
    """What was tried and the middle of the best of it, and which of all to choose.

    The lowest loss of many is partly luck: tosses are chaotic, and a law follows some of them by chance. The mean of
    the best is less so, and is chosen if it is worse by no more than the standard error of the difference.
    """
    best = tried.best()
    order = np.argsort(tried.losses())[: max(2, round(MIDDLE * len(tried.points)))]
    middle = tried.points[order].mean(axis=0)
    found = errors(middle, np.arange(tried.errors.shape[1]))
    both = Evaluations(np.vstack([tried.points, middle]), np.vstack([tried.errors, found]), tried.scale)
    lowest, own = (robust(one[:, None], tried.scale) for one in (tried.errors[best], found))
    return both, best if better(lowest, own) else len(tried.points)


def joined(a: Evaluations, b: Evaluations) -> Evaluations:
    """What two searches tried, one after the other."""
    return Evaluations(np.vstack([a.points, b.points]), np.vstack([a.errors, b.errors]), a.scale)


@dataclass(eq=False)
class Crossed:
    """What searches without a part of the trials each found, and how that does on this part."""

    points: np.ndarray  # (folds, d)
    missed: np.ndarray  # (trials,) loss of each trial under parameters that were searched for without it


def cross_validated(
    errors: Errors,
    starts: np.ndarray,
    trials: int,
    evaluations: int,
    seed: int,
    scale: float,
    free: np.ndarray | None = None,
) -> Crossed:
    """Search without each part of the trials, from ``starts`` (folds, d), and judge what is found on that part."""
    order = np.random.default_rng(seed).permutation(trials)
    points, missed = [], np.empty(trials)
    for fold, left_out in enumerate(np.array_split(order, len(starts))):
        seen = np.setdiff1d(order, left_out)

        def of_seen(x: np.ndarray, which: np.ndarray, seen: np.ndarray = seen) -> np.ndarray:
            return errors(x, seen[which])

        found = search(of_seen, starts[fold], seen.size, evaluations, seed + fold, free, scale)
        tried, chosen = settled(found, of_seen)
        points.append(tried.points[chosen])
        missed[left_out] = robust(errors(points[-1], left_out)[:, None], scale)
    return Crossed(np.array(points), missed)


def better(fitted: np.ndarray, default: np.ndarray) -> bool:
    """Whether losses (trials,) are below those of the defaults by more than the standard error of their difference."""
    gain = default - fitted
    if gain.size < 2:
        return bool(gain.mean() > 0.0)
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(gain.size))


def bootstrapped(tried: Evaluations, number: int, seed: int) -> np.ndarray:
    """(number, d) the best parameters, among those tried, of trials drawn with replacement."""
    random = np.random.default_rng(seed)
    trials = tried.errors.shape[1]
    drawn = random.integers(0, trials, (number, trials))
    return np.array([tried.points[tried.best(one)] for one in drawn])


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
