"""Contact problems of a few points on Coulomb's exact cone: one method after the other, within a budget.

Newton's method comes first, from impulses that may be nearly right and then on softened problems
(:mod:`footfall.solve.newton_on_cone`). What it has not solved within its share of the budget is left to an
interior-point method (:mod:`footfall.solve.interior_point`). Where that fails, Lemke's solution on a pyramid is another
start.
"""

from __future__ import annotations

import math

from footfall.compiled import kernel
from footfall.solve.effort import affordable, factor_cost, interior_cost, pivot_cost
from footfall.solve.interior_point import begin_inside, begin_near, interior_point
from footfall.solve.lemke_pivoting import LIMIT, pivot_limit
from footfall.solve.newton_on_cone import (
    ACCEPTED,
    NEAR,
    WARM,
    cone_newton,
    cone_scratch,
    factor_matrix,
    newton_floats,
    put_back,
    soften,
)
from footfall.solve.newton_on_lcp import STEPS
from footfall.solve.problem import Dense
from footfall.solve.pyramid import pyramid_floats, pyramid_integers, solve_pyramid

#: Complementarity products at which the interior-point method stops: before Newton's method is tried, and after.
ENDS = (1e-8, 1e-15)
#: Residual of the impulses below which the interior-point method starts near them, not in the middle of the cone.
CLOSE = 0.1
#: Share of the budget that softened problems may take, and the most, in steps of the interior-point method, which needs
#: some twenty where there is a solution.
SOFTENING, PATIENCE = 0.3, 30.0
#: Facets of the pyramids, each tried if the one before was too coarse.
FACETS = (5, 8, 12)


def cone_floats(points: int) -> int:
    """Floats of scratch space that :func:`solve_cone` needs: the best impulses stay while Lemke pivots."""
    return 3 * points + max(newton_floats(points), pyramid_floats(points, FACETS[-1]))


def cone_integers(points: int) -> int:
    """Integers of scratch space that :func:`solve_cone` needs."""
    return pyramid_integers(points, FACETS[-1])


@kernel
def from_inside(dense, rank, enough, budget, missed):
    """Write impulses from the interior-point method, refined by Newton's, from those there are, whose residual is
    ``missed``. Gives the new residual, relative to the largest impulse that would stop a point alone, the steps taken,
    and their cost.

    Newton's method converges in a few steps from near enough; where the ground can hold a robot in many ways, it seldom
    does.
    """
    best, n, lowest, steps, spent = cone_scratch(dense).best, 3 * dense.friction.size, math.inf, 0, 0.0
    if missed < CLOSE:
        begin_near(dense)
    else:
        begin_inside(dense)
    for product in ENDS:
        more, cost = interior_point(dense, rank, product, budget - spent)
        steps, spent = steps + more, spent + cost
        for limit in (0, NEAR):
            error, more, cost = cone_newton(dense, rank, 1.0, 0.0, limit, max(0.0, budget - spent))
            steps, spent = steps + more, spent + cost
            if error < lowest:
                lowest = error
                for i in range(n):
                    best[i] = dense.impulse[i // 3, i % 3]
        if lowest <= max(enough, ACCEPTED) or spent >= budget:
            break
    put_back(dense, best)
    if lowest > max(enough, ACCEPTED) and spent < budget:
        error, more, cost = soften(dense, rank, enough, budget - spent, WARM, math.inf)
        lowest, steps, spent = min(error, lowest), steps + more, spent + cost
    return lowest, steps, spent


@kernel
def solve_cone(dense, warm, hard, enough, budget):
    """Solve a contact problem, starting from the given impulses. Gives whether it is solved, to ``enough`` of the
    largest impulse that would stop a point alone; the steps and pivots; the rest of ``budget``, in the units of
    :mod:`footfall.solve.effort`; and whether the problem is hard, that is, softened problems did not lead to a
    solution. If ``warm``, a stalled problem is also softened about the given impulses; if similar problems were
    ``hard``, it is not softened at all.

    Scratch has ``cone_floats`` numbers and ``cone_integers`` integers.
    """
    n, rank = 3 * dense.friction.size, factor_matrix(dense)
    left = budget - factor_cost(n, rank)
    most = min(SOFTENING * budget, PATIENCE * interior_cost(n, rank))
    error, iterations, cost = cone_newton(dense, rank, 1.0, 0.0, NEAR, left)
    left -= cost
    if error > ACCEPTED and warm and not hard:
        error, steps, cost = soften(dense, rank, enough, most, WARM, error)
        iterations += steps
        left -= cost
    if error > ACCEPTED and not warm and not hard:
        for i in range(n):
            dense.impulse[i // 3, i % 3] = 0.0
        error, steps, cost = soften(dense, rank, enough, most, 0, math.inf)
        iterations += steps
        left -= cost
    hard = error > max(enough, ACCEPTED)
    if hard:
        error, steps, cost = from_inside(dense, rank, enough, left, error)
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
        error, steps, cost = cone_newton(dense, rank, 1.0, 0.0, STEPS, left)
        left -= cost
        iterations += pivots + steps
        if error > max(enough, ACCEPTED):
            error, steps, cost = soften(dense, rank, enough, left, 0, math.inf)
            iterations += steps
            left -= cost
    return error <= max(enough, ACCEPTED), iterations, left, hard
