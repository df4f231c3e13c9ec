"""The loss of a fit near its minimum: where exactly that is, and how well the trials determine it.

Around the best parameters a quadratic is put through as many evaluations of the loss as it has coefficients. Its
minimum is tried, and the covariance of the estimate is the sandwich of M-estimators (Huber 1967): with the Hessian H of
the mean loss and the gradients g of single trials at the estimate, inv(H) cov(g) inv(H) / trials.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from footfall.study.fit.search import Errors, robust

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


def evaluations(parameters: int) -> int:
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
    trials, names = np.arange(at_best.size), np.arange(best.size)
    unknown = Curvature(best, at_best, np.full(best.size, np.nan))
    if trials.size < 3:
        return unknown, widest

    def losses(x: np.ndarray) -> np.ndarray:
        return robust(errors(x, trials)[:, None], scale)

    base = robust(at_best[:, None], scale)
    inward = np.where(best < 0.5, 1.0, -1.0)
    size, rise = widest.copy(), np.zeros(best.size)
    for i in names:
        while size[i] > NARROWEST:
            rise[i] = losses(best + inward * size * (np.arange(best.size) == i)).mean() - base.mean()
            if rise[i] <= RISE * base.mean():
                break
            size[i] *= max(0.1, 0.9 * np.sqrt(RISE * base.mean() / rise[i]))
    names = names[np.abs(rise[names]) > FLAT * base.mean()]
    if not names.size:
        return unknown, size
    unit = np.eye(names.size)
    # Twice inward where a step outward would leave the range.
    outward = [-1.0 if 0.0 <= best[i] - inward[i] * size[i] <= 1.0 else 2.0 for i in names]
    design = [np.zeros(names.size), *unit, *(a * u for a, u in zip(outward, unit, strict=True))]
    design += [unit[i] + unit[j] for i, j in combinations(range(names.size), 2)]

    def full(u: np.ndarray) -> np.ndarray:
        x = best.copy()
        x[names] += inward[names] * size[names] * u
        return np.clip(x, 0.0, 1.0)

    found = np.array([base, *(losses(full(u)) for u in design[1:])])  # (m, trials)
    pairs = [(i, i) for i in range(names.size)] + list(combinations(range(names.size), 2))
    at = np.array(design)
    terms = np.column_stack([np.ones(len(at)), at, *(at[:, i] * at[:, j] for i, j in pairs)])
    coefficients = np.linalg.solve(terms, found)
    gradient = coefficients[1 : 1 + names.size]  # (d, trials)
    hessian = np.zeros((names.size, names.size))
    for pair, value in zip(pairs, coefficients[1 + names.size :].mean(axis=1), strict=True):
        hessian[pair] += value
        hessian[pair[::-1]] += value
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
