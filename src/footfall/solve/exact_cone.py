"""Contact problems of a few points on Coulomb's exact cone: one method after the other, within a budget.

Newton's method comes first, from impulses that may be nearly right and then on softened problems
(:mod:`footfall.solve.newton_on_cone`). What it has not solved in some forty steps is left to an interior-point method
(:mod:`footfall.solve.interior_point`), whose solution it refines. Where that fails, Lemke's solution on a pyramid is
another start.
"""

from __future__ import annotations

import math

from footfall.compiled import kernel
from footfall.solve.effort import affordable, factor_cost, pivot_cost
from footfall.solve.interior_point import begin_inside, interior_point
from footfall.solve.lemke_pivoting import LIMIT, pivot_limit
from footfall.solve.newton_on_cone import (
    ACCEPTED,
    NEAR,
    NEARLY,
    SOFT,
    cone_newton,
    cone_scratch,
    factor_matrix,
    newton_floats,
    put_back,
    settle,
    soften,
)
from footfall.solve.problem import Dense
from footfall.solve.pyramid import pyramid_floats, pyramid_integers, solve_pyramid

#: Complementarity product at which the interior-point method stops.
END = 1e-12
#: Facets of the pyramids, each tried if the one before was too coarse.
FACETS = (5, 8, 12)


def cone_floats(points: int) -> int:
    """Floats of scratch space that :func:`solve_cone` needs: the best impulses stay while Lemke pivots."""
    return 3 * points + max(newton_floats(points), pyramid_floats(points, FACETS[-1]))


def cone_integers(points: int) -> int:
    """Integers of scratch space that :func:`solve_cone` needs."""
    return pyramid_integers(points, FACETS[-1])


@kernel
def from_inside(dense, rank, enough, budget):
    """Write impulses from the interior-point method, refined by softened problems. Gives the residual, relative to the
    largest impulse that would stop a point alone, the steps taken, and their cost.
    """
    begin_inside(dense)
    steps, spent = interior_point(dense, rank, END, budget)
    error = settle(dense)
    if error > ACCEPTED and spent < budget:
        error, more, cost = soften(dense, rank, enough, budget - spent, NEARLY, error)
        steps, spent = steps + more, spent + cost
    return error, steps, spent


@kernel
def solve_cone(dense, near, enough, budget):
    """Solve a contact problem, starting from the given impulses, which may be ``near`` a solution: only then is it not
    softened at first. Gives whether it is solved, to ``enough`` of the largest impulse that would stop a point alone;
    the steps and pivots; and the rest of ``budget``, in the units of :mod:`footfall.solve.effort`.

    Scratch has ``cone_floats`` numbers and ``cone_integers`` integers.
    """
    n, rank = 3 * dense.friction.size, factor_matrix(dense)
    left = budget - factor_cost(n, rank)
    error, iterations, cost = cone_newton(dense, rank, 0.0, NEAR if near else 0, left)
    left -= cost
    if error > ACCEPTED:
        error, steps, cost = soften(dense, rank, enough, left, SOFT, math.inf)
        iterations += steps
        left -= cost
    if error > max(enough, ACCEPTED):
        error, steps, cost = from_inside(dense, rank, enough, left)
        iterations += steps
        left -= cost
    best = cone_scratch(dense).best  # Lemke leaves it alone
    rest = Dense(dense.matrix, dense.free, dense.target, dense.friction, dense.impulse, dense.rest[n:], dense.integers)
    for facets in FACETS:
        size = dense.friction.size * (facets + 2)
        pivot = pivot_cost(size)
        if error <= max(enough, ACCEPTED) or left < pivot * size:  # it takes about as many pivots as unknowns
            break
        ended, pivots = solve_pyramid(rest, facets, affordable(left, pivot, pivot_limit(size)))
        left -= pivot * pivots
        if ended == LIMIT:
            put_back(dense, best)
            break
        rank = factor_matrix(dense)  # Lemke took its space
        left -= factor_cost(n, rank)
        error, steps, cost = soften(dense, rank, enough, left, NEARLY, math.inf)
        left -= cost
        iterations += pivots + steps
    return error <= max(enough, ACCEPTED), iterations, left
