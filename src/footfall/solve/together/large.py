"""Contact problems of robots that lie on many bodies, by the lanes of a warp, in the GPU's global memory.

The contacts of several connected bodies may constrain more motions than the robot has. Then ``C^T L C`` of
:mod:`footfall.solve.minimum_norm` is singular, and the forces are combinations of its columns, as there.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

from footfall.compiled import inlined
from footfall.solve.steady_feet import TOLERANCE as SINGULAR
from footfall.solve.together.desk import ACROSS, DOWN, LANES, WHOLE, Desk, desk_shapes, largest_unused, wait
from footfall.solve.together.guess import reduced_system

#: A :class:`Desk` for N = 6K motions, with columns F (N, N) of ``C^T L C = F F^T``, a matrix (N, N), and marks of rows
#: that were pivots (N,).
make_kind: Any = namedtuple
LargeDesk = make_kind("LargeDesk", (*Desk._fields, "factor", "product", "used"))
#: Which of its arrays have whole numbers.
LARGE_WHOLE = (*WHOLE, "used")


def large_shapes(points: int, bodies: int) -> dict[str, tuple[int, ...]]:
    """The shapes of its arrays."""
    n = 6 * bodies
    return desk_shapes(points, bodies) | {"factor": (n, n), "product": (n, n), "used": (n,)}


@inlined
def eliminate_many(lane, n, tolerance, desk):
    """Replaces :func:`footfall.solve.together.algebra.eliminate_together` with any number of unknowns."""
    a, floor = desk.system[0], 0.0
    for t in range(lane, n, LANES):
        largest = 0.0
        if tolerance > 0.0:
            for j in range(n):
                largest = max(largest, abs(a[t, j]))
        desk.wrench[t], desk.used[t] = tolerance * largest, 0
    wait()
    for t in range(n):
        floor = max(floor, desk.wrench[t])
    for k in range(n):
        best, pivot = largest_unused(lane, n, a[:, k], desk.used)
        wait()
        if not pivot > floor:
            return False
        inverse = 1.0 / a[best, k]
        for i in range(lane // ACROSS, n, DOWN):
            if i != best:
                share = a[i, k] * inverse
                for j in range(k + 1 + lane % ACROSS, n + 1, ACROSS):
                    a[i, j] -= share * a[best, j]
        if lane == 0:
            desk.order[k], desk.used[best] = best, 1
        wait()
    for k in range(lane, n, LANES):
        row = desk.order[k]
        desk.moved[k] = a[row, n] / a[row, k]
    wait()
    return True


@inlined
def columns_of(lane, n, desk):
    """Columns F with ``product = F F^T``, to ``factor``, as ``low_rank`` of :mod:`footfall.solve.dense`. Gives their
    number.
    """
    a, factor, left = desk.product, desk.factor, desk.wrench
    for i in range(lane, n, LANES):
        left[i], desk.used[i] = a[i, i], 0
    wait()
    floor = 0.0
    for column in range(n):
        best, pivot = largest_unused(lane, n, left, desk.used)
        if column == 0:
            floor = SINGULAR * pivot
        wait()
        if not pivot > floor:
            return column
        scale = 1.0 / math.sqrt(pivot)
        for i in range(lane, n, LANES):
            value = a[best, i]
            for k in range(column):
                value -= factor[i, k] * factor[best, k]
            factor[i, column] = value * scale
            left[i] = max(0.0, left[i] - value * value * scale * scale)
        if lane == 0:
            desk.used[best] = 1
        wait()
    return n


@inlined
def felt_mobility(lane, feet, desk):
    """``C^T L C``, to ``product``."""
    n = 6 * feet
    for i in range(lane // ACROSS, n, DOWN):  # L C
        for j in range(lane % ACROSS, n, ACROSS):
            first, value = 6 * desk.owner[j], 0.0
            for m in range(6):
                value += desk.mobility[i, first + m] * desk.felt[first + m, j - first]
            desk.system[1, i, j] = value
    wait()
    for i in range(lane // ACROSS, n, DOWN):
        first = 6 * desk.owner[i]
        for j in range(lane % ACROSS, n, ACROSS):
            value = 0.0
            for m in range(6):
                value += desk.felt[first + m, i - first] * desk.system[1, first + m, j]
            desk.product[i, j] = value
    wait()


@inlined
def solve_among_columns(lane, feet, desk):
    """Replace ``moved`` by the y in the span of F with ``F^T C^T L A y = F^T x``. False if there is none."""
    n, a, factor, product = 6 * feet, desk.system[0], desk.factor, desk.product
    felt_mobility(lane, feet, desk)
    rank = columns_of(lane, n, desk)
    reduced_system(lane, feet, desk)
    for i in range(lane // ACROSS, n, DOWN):
        for k in range(lane % ACROSS, rank, ACROSS):
            value = 0.0
            for j in range(n):
                value += a[i, j] * factor[j, k]
            product[i, k] = value
    for k in range(lane, rank, LANES):
        value = 0.0
        for i in range(n):
            value += factor[i, k] * a[i, n]
        desk.wrench[k] = value
    wait()
    for k in range(lane // ACROSS, rank, DOWN):
        for m in range(lane % ACROSS, rank, ACROSS):
            value = 0.0
            for i in range(n):
                value += factor[i, k] * product[i, m]
            a[k, m] = value
        if lane % ACROSS == 0:
            a[k, rank] = desk.wrench[k]
    wait()
    if not eliminate_many(lane, rank, SINGULAR, desk):
        return False
    for i in range(lane, n, LANES):
        value = 0.0
        for k in range(rank):
            value += factor[i, k] * desk.moved[k]
        desk.wrench[i] = value
    wait()
    for i in range(lane, n, LANES):
        desk.moved[i] = desk.wrench[i]
    wait()
    return True


@inlined
def solve_reduced_of_many(lane, feet, desk):
    """Replaces :func:`footfall.solve.together.guess.solve_reduced`, where motions are held that no force produces."""
    return eliminate_many(lane, 6 * feet, SINGULAR, desk) or solve_among_columns(lane, feet, desk)
