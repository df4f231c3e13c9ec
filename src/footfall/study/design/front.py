"""The front of best compromises: designs that no other design beats in every goal.

Costs are arrays (designs, goals), smaller is better; a design that is not admissible has infinite costs.
"""

from __future__ import annotations

import numpy as np


def ranks(costs: np.ndarray) -> np.ndarray:
    """(designs,) rank of each design: 0 on the front, 1 on the front of what is left without it, and so on.

    Non-dominated sorting (Deb et al. 2002): a design is dominated by one that is nowhere worse and somewhere better.
    Designs with a cost that is not finite come last, all with one rank.
    """
    number = len(costs)
    found = np.full(number, number)
    left = np.flatnonzero(np.isfinite(costs).all(axis=1))
    rank = 0
    while left.size:
        front = left[on_front(costs[left])]
        found[front] = rank
        left = np.setdiff1d(left, front)
        rank += 1
    return found


def on_front(costs: np.ndarray) -> np.ndarray:
    """(designs,) whether no other of these designs dominates it. Of equal designs all are on the front."""
    no_worse = (costs[:, None, :] <= costs[None, :, :]).all(axis=2)
    better = (costs[:, None, :] < costs[None, :, :]).any(axis=2)
    return np.logical_not(np.any(no_worse & better, axis=0))


def crowding(costs: np.ndarray) -> np.ndarray:
    """(designs,) how far apart the neighbours of each design lie on the front, in ranges of the goals.

    The ends of each goal are infinitely far (Deb et al. 2002): a search that prefers large values spreads the front.
    """
    number, goals = costs.shape
    found = np.zeros(number)
    for goal in range(goals):
        order = np.argsort(costs[:, goal], kind="stable")
        values = costs[order, goal]
        found[order[[0, -1]]] = np.inf
        span = values[-1] - values[0]
        if span > 0.0 and number > 2:
            found[order[1:-1]] += (values[2:] - values[:-2]) / span
    return found
