"""New designs from those that were tried: differential evolution among the best compromises.

Each child is a parent of the front moved along the difference of two other good designs (Storn and Price 1997), with a
little noise so that a front of few designs does not stand still. What would leave the bounds is reflected at them.
"""

from __future__ import annotations

import numpy as np

from footfall.study.design.front import crowding, ranks

#: Share of the difference of two designs that a parent is moved by.
STRIDE = 0.6
#: Standard deviation of the noise, in ranges of the inputs, halved from round to round.
NOISE = 0.08
#: Chance that an input of the child is taken from the moved parent and not from the parent itself.
CROSSING = 0.8


def children(points: np.ndarray, costs: np.ndarray, number: int, round_: int, rng: np.random.Generator) -> np.ndarray:
    """(number, inputs) new points of the unit cube from those tried, (designs, inputs), and their costs."""
    inputs = points.shape[1]
    order = ranks(costs)
    good = np.flatnonzero(np.isfinite(costs).all(axis=1))
    if good.size < 4:  # nothing to learn from yet
        return rng.random((number, inputs))
    best = good[np.argsort(order[good], kind="stable")][: max(4, good.size // 2)]
    front = np.flatnonzero(order == 0)
    spread = crowding(costs[front])
    made = np.empty((number, inputs))
    for k in range(number):
        one, other = rng.integers(len(front), size=2)
        parent = points[front[one if spread[one] >= spread[other] else other]]
        a, b = rng.choice(best, size=2, replace=False)
        moved = parent + STRIDE * (points[a] - points[b]) + rng.normal(0.0, NOISE / 2.0**round_, inputs)
        taken = np.less(rng.random(inputs), CROSSING) | (np.arange(inputs) == rng.integers(inputs))
        made[k] = _reflected(np.where(taken, moved, parent))
    return made


def _reflected(x: np.ndarray) -> np.ndarray:
    folded = np.mod(x, 2.0)
    return np.where(folded > 1.0, 2.0 - folded, folded)
