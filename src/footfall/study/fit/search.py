"""The search for parameters, and between which bounds the data say that each lies.

The search goes over the whole box first, then downhill from the best places: by least squares (Gauss-Newton) where
errors are vectors, else with a simplex. Every evaluation keeps the error of every trial, so that the bootstrap needs no
further simulation. Whether fitting helps is judged by separate searches that never see the trials on which they are
judged: tosses are chaotic, and among hundreds of parameters some follow thirty tosses well by chance.

The best is refined by a last search downhill, if that gains more than chance does. An interval covers the draws of the
bootstrap over the trials, widened by the ratio of Student's to Gauss's quantile for so few trials, and values at which,
with the others unchanged, the trials are not significantly worse. The bootstrap, which picks among the parameters
tried, is coarse where the loss is smooth; a parameter without effect is found by trying other values of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from footfall.errors import StudyError, optional_package
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
        """The parameter at a share (0 to 1) of the range."""
        share = min(1.0, max(0.0, float(share)))
        if self.scale == "log":
            return self.low * (self.high / self.low) ** share
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """The share (0 to 1) of the range at a value."""
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
#: For each of those trials the vectors whose lengths make up its error, none where it failed.
Vectors = Callable[[np.ndarray, np.ndarray], list[list[np.ndarray]]]
#: The loss at a place, and the vectors of all trials there.
Look = Callable[[np.ndarray], tuple[float, list[list[np.ndarray]]]]
#: Multiple of the typical error above which the logarithm of the error counts, so that one toss that lands on another
#: face does not outweigh all others.
OUTLIER = 3.0
#: Share of the evaluations over the whole box; each costs a third of others, since it uses a third of the trials.
GLOBAL, SUBSET = 0.5, 1.0 / 3.0
#: Places of the box that are evaluated on all trials, and those of them from which the search goes downhill.
FINALISTS, DESCENTS = 0.2, 2
#: Evaluations of all trials for each parameter in the last search, in which a simplex shrinks to a tenth or so.
REFINING = 15
#: Where a search downhill ends: width of its simplex or box, and difference of losses as a share of a typical error.
NARROWEST, FINEST = 1e-4, 1e-6
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
    vectors: Vectors | None = None,
) -> Evaluations:
    """Try some ``evaluations`` of all trials. Parameters that are not ``free`` (d,) stay at their ``first`` share.

    With ``starts`` (S, d) the search goes downhill from the best of them, and not over the whole box.
    """
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

    look: Look | None = None if vectors is None else lambda x: (loss(x), vectors(points[-1], everyone))
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
    left = max(8, round(evaluations if starts is not None else (1.0 - GLOBAL) * evaluations))
    share, end = left // (len(lowest) + 1), len(points) + left
    for i in lowest:  # least squares end by themselves, a simplex hardly ever does
        _descend(loss, points[i][free], 0.1, end - len(points) if look else share, scale, look)
    best = int(np.argmin([robust(one, scale) for one in found]))  # of both
    _descend(loss, points[best][free], 0.02, end - len(points) if look else share, scale)
    return Evaluations(np.array(points), np.array(found), scale)


def _descend(
    loss: Callable[[np.ndarray], float],
    start: np.ndarray,
    width: float,
    evaluations: int,
    scale: float,
    look: Look | None = None,
) -> np.ndarray:
    """Minimise from a place (d,), with a first simplex or differences of this width towards the farther bounds."""
    if evaluations < 1:
        return start
    if look is not None:
        return _gauss_newton(look, start, width, evaluations, scale)
    minimize = optional_package("scipy.optimize").minimize

    aside = np.where(start < 0.5, width, -width) * np.eye(start.size)
    simplex = np.vstack([start, start + aside])
    options = {"maxfev": evaluations, "initial_simplex": simplex, "xatol": NARROWEST, "fatol": FINEST * scale}
    return minimize(loss, start, method="Nelder-Mead", bounds=[(0.0, 1.0)] * start.size, options=options).x


def _gauss_newton(look: Look, start: np.ndarray, width: float, evaluations: int, scale: float) -> np.ndarray:
    """Minimise from a place (d,), by least squares within the bounds and a box about the best.

    Slopes are differences over ``width``, half of the box, so that they see past kinks; steps correct them (Broyden
    1965) until one gains too little. Then they are taken anew, and if even those mislead, the box shrinks. Lengths are
    minimised by squares, weighted with the inverse of each length.
    """
    lsq_linear = optional_package("scipy.optimize").lsq_linear
    (least, at), best, slopes, left = look(start), start, np.empty(0), evaluations - 1
    while width > NARROWEST and any(at) and left > (0 if slopes.size else start.size):
        fresh = not slopes.size
        if fresh:
            inward = np.where(best < 0.5, width, -width)
            moved = [_change(at, look(best + move)[1]) for move in np.diag(inward)]
            slopes, left = np.column_stack(moved) / inward, left - start.size
        rows, weights = _weighted(at, scale)
        root = np.sqrt(weights)
        q, r = np.linalg.qr(root[:, None] * slopes)
        box = np.maximum(-2.0 * width, -best), np.minimum(2.0 * width, 1.0 - best)
        step = lsq_linear(r, -q.T @ (root * rows), box, method="bvls").x
        promised = 0.5 * float(weights @ (rows**2 - (rows + slopes @ step) ** 2))
        if promised < FINEST * scale:
            if fresh:
                break
            slopes = np.empty(0)
            continue
        place = np.clip(best + step, 0.0, 1.0)
        (loss, there), left = look(place), left - 1
        change, gain = _change(at, there), least - loss
        if gain > 0.0:
            best, least, at = place, loss, there
        if gain < 0.25 * promised or sum(v.size for own in at for v in own) != len(slopes):
            slopes, width = np.empty(0), 0.25 * width if fresh else width
            continue
        slopes += np.outer(change - slopes @ step, step) / (step @ step)
        if gain > 0.75 * promised and np.abs(step).max() > 1.99 * width:
            width = min(2.0 * width, 0.25)
    return best


def _change(at: list[list[np.ndarray]], there: list[list[np.ndarray]]) -> np.ndarray:
    """(m,) how vectors of trials change from one place to another, zero where either failed."""
    pairs = ((a, b if len(a) == len(b) else a) for a, b in zip(at, there, strict=True))
    return np.concatenate([v - u for a, b in pairs for u, v in zip(a, b, strict=True)])


def _weighted(at: list[list[np.ndarray]], scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the vectors of all trials in a row, and weights of their squares in whose sum half the loss changes."""
    weights = []
    for own in at:
        lengths = [max(float(np.linalg.norm(v)), FINEST * scale) for v in own]
        share = min(1.0, OUTLIER * scale / sum(lengths)) if own else 0.0
        weights += [np.full(v.size, share / length / len(at)) for v, length in zip(own, lengths, strict=True)]
    return np.concatenate([v for own in at for v in own]), np.concatenate(weights)


def refined(
    errors: Errors, best: np.ndarray, at_best: np.ndarray, scale: float, vectors: Vectors | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The best (d,) and its errors (trials,) after a last search downhill, if it is better by more than chance."""
    trials = np.arange(at_best.size)

    def loss(x: np.ndarray) -> float:
        return float(robust(errors(x, trials), scale))

    look: Look | None = None if vectors is None else lambda x: (loss(x), vectors(x, trials))
    point = _descend(loss, best, 0.1, REFINING * best.size, scale, look)
    there = errors(point, trials)
    gained = better(robust(there[:, None], scale), robust(at_best[:, None], scale))
    return (point, there) if gained else (best, at_best)


def settled(tried: Evaluations, errors: Errors) -> tuple[Evaluations, int]:
    """The parameters tried with the mean of the best of them, and the index of the choice.

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
    """The parameters tried by two searches."""
    return Evaluations(np.vstack([a.points, b.points]), np.vstack([a.errors, b.errors]), a.scale)


@dataclass(eq=False)
class Crossed:
    """Cross-validation: the result of the search without each part of the trials, and its losses on that part."""

    points: np.ndarray  # (folds, d)
    missed: np.ndarray  # (trials,) loss of each trial under parameters that were searched for without it
    fold: np.ndarray  # (trials,) which of the points that is


def cross_validated(
    errors: Errors,
    starts: np.ndarray,
    trials: int,
    evaluations: int,
    seed: int,
    scale: float,
    free: np.ndarray | None = None,
    vectors: Vectors | None = None,
) -> Crossed:
    """Search without each part of the trials, from ``starts`` (folds, d), and judge what is found on that part."""
    order = np.random.default_rng(seed).permutation(trials)
    points, missed, part = [], np.empty(trials), np.zeros(trials, dtype=int)
    for fold, left_out in enumerate(np.array_split(order, len(starts))):
        seen = np.setdiff1d(order, left_out)

        def of_seen(x: np.ndarray, which: np.ndarray, seen: np.ndarray = seen) -> np.ndarray:
            return errors(x, seen[which])

        own: Vectors | None = None if vectors is None else lambda x, which, seen=seen: vectors(x, seen[which])
        found = search(of_seen, starts[fold], seen.size, evaluations, seed + fold, free, scale, vectors=own)
        tried, chosen = settled(found, of_seen)
        points.append(tried.points[chosen])
        missed[left_out] = robust(errors(points[-1], left_out)[:, None], scale)
        part[left_out] = fold
    return Crossed(np.array(points), missed, part)


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


#: Widest interval of an identifiable parameter, as a share of its range.
UNKNOWN = 0.5
#: Distance from a bound, as a share of the range, below which the estimate is at the bound.
AT_BOUND = 0.01
#: Most halvings of the distance to a bound, and their typical number on both sides together.
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

    ``at_best`` (trials,) are the errors of the best.
    """
    trials = np.arange(at_best.size)
    base = robust(at_best[:, None], scale)
    lower: list[tuple[float, np.ndarray]] = []

    def rise(i: int, share: float) -> tuple[bool, float]:
        """Whether the trials are significantly worse at a place, and the relative rise of the loss."""
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
    stdtrit = optional_package("scipy.special").stdtrit

    return float(stdtrit(trials - 1, 0.5 + CONFIDENCE / 2.0))


def estimates(
    ranges: Mapping[str, Range], best: np.ndarray, draws: np.ndarray, probes: Probes, trials: int, fitted: np.ndarray
) -> tuple[Estimate, ...]:
    """The estimate of each parameter, from ``draws`` (B, d) of the bootstrap and from probes."""
    low, high = np.quantile(draws, [0.5 - CONFIDENCE / 2.0, 0.5 + CONFIDENCE / 2.0], axis=0)
    wider = quantile(trials) / 1.96 * np.sqrt(trials / (trials - 1.0))
    low = np.clip(np.minimum(best - np.maximum(wider * (best - low), 0.0), probes.low), 0.0, 1.0)
    high = np.clip(np.maximum(best + np.maximum(wider * (high - best), 0.0), probes.high), 0.0, 1.0)
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
