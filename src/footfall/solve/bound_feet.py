"""Least forces on standing feet of a robot that cannot move them all independently: a quadruped without hip abduction.

With the motions B that feet feel, ``D = B^T W^T W B`` and ``R = B^T L B`` (see :mod:`footfall.solve.steady_feet`), some
wrenches N on the feet have ``R N = 0``: forces that press feet against each other and move nothing. Where N^T w is not
zero, the wanted motion w of the feet is met in the sense of least squares; and among all wrenches y with ``R y = w``
those of least forces have no part along N:

    w' = w - D^-1 N (N^T D^-1 N)^-1 N^T w,    y = y' - N (N^T D^-1 N)^-1 N^T D^-1 y',

y' being any solution of ``R y' = w'``. Both N and y' come from Cholesky's factor of R without the columns that earlier
ones produce.
"""

from __future__ import annotations

import math
from typing import Any

from footfall.compiled import inlined, kernel, reference_to, separate
from footfall.solve.contacts import coupled_signature
from footfall.solve.dense import ROUNDING, cholesky, cholesky_solve, dot
from footfall.solve.steady_feet import (
    TOLERANCE,
    gather_wanted,
    lay_out_feet,
    least_scratch,
    scatter,
    spread_over_steady_feet,
)

#: Outcomes: forces not found; found, and all points move as wanted; found, but some points may move otherwise.
NOT_FOUND, AS_TOLD, AS_THEY_CAN = 0, 1, 2


@kernel
def spread_over_held_feet(contacts, force, scratch):
    """Replace the accelerations in ``force`` (P, 3) by the least forces that give them, world frame, every point held.

    Nothing is changed if they are ``NOT_FOUND``.
    """
    if not lay_out_feet(contacts, scratch):
        return NOT_FOUND
    if spread_over_steady_feet(contacts, force, scratch):
        return AS_TOLD
    return AS_THEY_CAN if spread_over_bound_feet(contacts, force, scratch) else NOT_FOUND


def bound_signature() -> Any:
    """What :func:`spread_over_bound_feet` takes and gives."""
    from numba import boolean

    contacts, _, matrix, *_ = coupled_signature().args
    return boolean(contacts, matrix, reference_to(least_scratch(1)))


@separate(bound_signature)
def spread_over_bound_feet(contacts, force, scratch):
    """The same where R is singular, after the feet are laid out. False, with nothing changed, if its rank is not
    certain.
    """
    near, feet, x, start, turns = contacts.near, contacts.near.size - 1, scratch.solution, scratch.start, scratch.turns
    rows, factor, small = start[feet], scratch.factor, scratch.bases
    null, weighed, gram = scratch.felt, scratch.acting, scratch.spare
    if not factor_bound(scratch.reduced, rows, factor):
        return False
    bound = 0
    for j in range(rows):
        if factor[j, j] == 0.0:
            write_null(factor, rows, j, null[bound])
            for b in range(feet):
                if near[b + 1] > near[b]:
                    own = slice(start[b], start[b + 1])
                    count = near[b + 1] - near[b]
                    lighten(null[bound][own], count, turns[3 * b : 3 * b + 3], weighed[bound][own])
            bound += 1
    for i in range(bound):
        for k in range(i + 1):
            gram[i, k] = dot(null[i], weighed[k], rows)
    if not cholesky(gram, bound, 0.0, small):
        return False
    for b in range(feet):
        if near[b + 1] > near[b]:
            gather_wanted(contacts, b, force, turns[3 * b : 3 * b + 3], scratch.pull, x[start[b] : start[b + 1]])
    take_out(x, rows, bound, null, weighed, small, scratch.share)
    cholesky_solve(factor, rows, x)
    take_out(x, rows, bound, weighed, null, small, scratch.share)
    for b in range(feet):
        if near[b + 1] > near[b]:
            scatter(contacts, b, x[start[b] : start[b + 1]], turns[3 * b : 3 * b + 3], force)
    return True


@inlined
def factor_bound(a, n, factor):
    """Lower factor of the leading n x n of a semi-definite ``a``, given by its lower triangle, as
    :func:`footfall.solve.dense.cholesky` has it; columns that earlier ones produce are zero. False if it is not certain
    which do.
    """
    largest = 0.0
    for i in range(n):
        largest = max(largest, a[i, i])
    floor, least = TOLERANCE * largest, largest
    for j in range(n):
        pivot = a[j, j]
        for k in range(j):
            pivot -= factor[j, k] * factor[j, k]
        free = pivot > floor
        if not (pivot * least > ROUNDING * largest * largest if free else abs(pivot) <= floor):
            return False
        least = min(least, pivot) if free else least
        inverse = 1.0 / math.sqrt(pivot) if free else 0.0
        factor[j, j] = inverse
        for i in range(j + 1, n):
            value = a[i, j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            if not (free or abs(value) <= floor):
                return False
            factor[i, j] = value * inverse
    return True


@inlined
def write_null(factor, n, j, out):
    """The wrench that moves nothing whose last part is 1, that of column ``j``, which earlier ones produce."""
    for i in range(j + 1, n):
        out[i] = 0.0
    out[j] = 1.0
    for i in range(j - 1, -1, -1):
        value = factor[j, i]
        for m in range(i + 1, j):
            value += factor[m, i] * out[m]
        out[i] = -value * factor[i, i]


@inlined
def lighten(wrench, count, turns, out):
    """``D^-1`` times a wrench on a foot of ``count`` points."""
    for k in range(3):
        out[k] = wrench[k] / count
    if wrench.size == 5:
        out[3], out[4] = turns[2, 0] * wrench[3], turns[2, 0] * wrench[4]
    elif wrench.size == 6:
        for k in range(3):
            out[3 + k] = turns[k, 0] * wrench[3] + turns[k, 1] * wrench[4] + turns[k, 2] * wrench[5]


@inlined
def take_out(x, n, count, across, along, small, share):
    """Let x have no part across the first rows of ``across``, by what is along those of ``along``; ``small`` is the
    factor of the products of both, ``share`` scratch.
    """
    for i in range(count):
        share[i] = dot(across[i], x, n)
    cholesky_solve(small, count, share)
    for i in range(count):
        for k in range(n):
            x[k] -= share[i] * along[i, k]
