"""Small dense algebra by the lanes of a warp: pivoted Cholesky, inverses, and Gauss-Jordan elimination."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.together.desk import ACROSS, DOWN, LANES, largest_row, wait


@inlined
def pivoted_feet(lane, feet, tolerance, desk):
    """Columns C with ``gram = C C^T`` of each foot (6, 6), to ``felt``, and their number, to ``rank``; destroys
    ``gram``.

    As ``pivoted_cholesky`` of :mod:`footfall.solve.dense`. Columns beyond the rank are zero.
    """
    a, factor, n = desk.gram[0], desk.felt, 6 * feet
    for t in range(lane, n, LANES):
        b = desk.owner[t]
        largest = 0.0
        for k in range(6):
            largest = max(largest, a[6 * b + k, k])
        desk.wrench[t] = tolerance * largest
        if t == 6 * b:
            desk.rank[b] = 0
    wait()
    for column in range(6):
        for t in range(lane, n, LANES):
            b = desk.owner[t]
            best, pivot = -1, desk.wrench[t]
            for k in range(6):
                if a[6 * b + k, k] > pivot:
                    best, pivot = k, a[6 * b + k, k]
            factor[t, column] = a[t, best] / math.sqrt(pivot) if best >= 0 else 0.0
            if t == 6 * b:
                desk.pick[b] = best
                if best >= 0:
                    desk.rank[b] = column + 1
        wait()
        for t in range(lane // ACROSS, n, DOWN):
            b = desk.owner[t]
            first, best = 6 * b, desk.pick[b]
            for j in range(lane % ACROSS, 6, ACROSS):
                change = factor[t, column] * factor[first + j, column]
                # What cancels to rounding must not come back as a pivot.
                a[t, j] = 0.0 if t == first + best or j == best else a[t, j] - change
        wait()


@inlined
def inverse_of_feet(lane, feet, desk):
    """Replace the positive definite ``gram`` of each foot by its inverse, by six Gauss-Jordan steps."""
    pair = desk.gram
    for turn in range(6):
        old = turn & 1
        for t in range(lane // ACROSS, 6 * feet, DOWN):
            first = 6 * desk.owner[t]
            pivot, own = 1.0 / pair[old, first + turn, turn], pair[old, t, turn]
            for j in range(lane % ACROSS, 6, ACROSS):
                head = 1.0 if j == turn else pair[old, first + turn, j]
                rest = 0.0 if j == turn else pair[old, t, j]
                pair[1 - old, t, j] = head * pivot if t == first + turn else rest - own * pivot * head
        wait()


@inlined
def eliminate_together(lane, n, tolerance, desk):
    """Solve the n equations of ``system[0]``, right side last, n even, by elimination with row pivots; x goes to
    ``moved``. False if a pivot is below ``tolerance`` times the largest element.
    """
    pair, floor = desk.system, 0.0
    if tolerance > 0.0:
        for t in range(lane, n, LANES):
            largest = 0.0
            for j in range(n):
                largest = max(largest, abs(pair[0, t, j]))
            desk.wrench[t] = largest
        wait()
        for t in range(n):
            floor = max(floor, tolerance * desk.wrench[t])
    used = 0
    for k in range(n):
        old = k & 1
        best, pivot = largest_row(lane, n, pair[old, :, k], used)
        if not pivot > floor:
            return False
        used |= 1 << best
        inverse = 1.0 / pair[old, best, k]
        for i in range(lane // ACROSS, n, DOWN):
            share = pair[old, i, k] * inverse
            for j in range(k + 1 + lane % ACROSS, n + 1, ACROSS):
                head = pair[old, best, j]
                pair[1 - old, i, j] = head * inverse if i == best else pair[old, i, j] - share * head
        if lane == 0:
            desk.order[k] = best
        wait()
    for k in range(lane, n, LANES):
        desk.moved[k] = pair[0, desk.order[k], n]
    wait()
    return True
