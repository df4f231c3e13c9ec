"""The search for parameters: over the whole box first, then downhill from the best places.

Every evaluation keeps the error of every trial, so that the bootstrap needs no further simulation. Whether fitting
helps is judged by separate searches that never see the trials on which they are judged: tosses are chaotic, and among
hundreds of parameters some follow thirty tosses well by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from footfall.study.sweep.cases import unit_samples

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
