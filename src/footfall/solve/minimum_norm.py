"""Contact forces of least norm that give the contact points wanted accelerations.

The accelerations a of the points obey ``G f = a`` with the Delassus matrix ``G = W L W^T``: all points of a foot share
its six motions, a point's row of W (for the unit vector e, at the arm r) is ``(e, r x e)``, and L is the mobility of
the feet. G is singular for a flat foot, and the forces of least norm are ``pinv(G) a``. No 3n x 3n matrix is needed:

- feet that stand, every point held in all directions: see :mod:`footfall.solve.steady_feet`, and
  :mod:`footfall.solve.bound_feet` where the robot cannot move them all at will;
- anything else (points held along the normal only, three points of a foot on a line): with
  ``W^T W = C C^T``, C of full column rank, and ``T = C (C^T C)^-1``, the columns of ``W T`` are orthonormal, and
  ``pinv(G) = W T pinv(C^T L C) T^T W^T``;
- points that slide, whose friction has a known direction and is mu times their normal force: that force acts on the
  foot by ``w + mu d`` instead of its row w alone, d that of a unit force along the friction. With A for C, the sum of
  ``(w + mu d) (w T)``, the forces are ``W T y`` where ``C^T L A y = T^T W^T a``, and y has no part that ``C^T L C``
  does not feel.
"""

from __future__ import annotations

from typing import Any

from footfall.compiled import kernel, reference_to, separate
from footfall.solve.bound_feet import NOT_FOUND, spread_over_held_feet
from footfall.solve.contacts import OPEN, SLIDE, STICK, coupled_signature
from footfall.solve.dense import cholesky, cholesky_solve, eliminate, minimum_norm_solve, pivoted_cholesky
from footfall.solve.steady_feet import TOLERANCE, least_scratch


@kernel
def spread(contacts, kind, force, scratch):
    """Replace accelerations in ``force`` (P, 3) by the least forces that give them, world frame: Rengifo 2009, (18).

    A point of ``kind`` OPEN gets none; with STICK it is held in all directions, with SLIDE along its normal only.
    """
    all_held = True
    for i in range(contacts.number[0]):
        if kind[contacts.points[i]] != STICK:
            all_held = False
    if not all_held or spread_over_held_feet(contacts, force, scratch) == NOT_FOUND:
        spread_over_rows(contacts, kind, force, False, force, scratch)


@kernel
def row_of(contacts, p, axis, held, w):
    """The row of W for a point: along world axis ``axis`` if it is held, along its normal if not."""
    r = contacts.arm[p]
    for k in range(3):
        w[k] = (1.0 if k == axis else 0.0) if held else contacts.frame[p, 2, k]
    w[3] = r[1] * w[2] - r[2] * w[1]
    w[4] = r[2] * w[0] - r[0] * w[2]
    w[5] = r[0] * w[1] - r[1] * w[0]


def rows_signature() -> Any:
    """What :func:`spread_over_rows` takes and gives."""
    from numba import boolean

    contacts, _, matrix, _, integers, *_ = coupled_signature().args
    return boolean(contacts, integers, matrix, boolean, matrix, reference_to(least_scratch(1)))


@separate(rows_signature)
def spread_over_rows(contacts, kind, friction, braked, force, scratch):
    """The general case, with an orthonormal basis for each foot of the motions that its points feel. False if there is
    no solution.

    If ``braked``, sliding points have friction along the unit vectors ``friction`` (P, 3 or more, world frame), which
    is not part of the written forces.
    """
    felt, acting, bases, start = scratch.felt, scratch.acting, scratch.bases, scratch.start
    x, w, pull, gram, roots = scratch.solution, scratch.row, scratch.pull, scratch.gram, scratch.roots
    feet = contacts.near.size - 1
    columns = 0
    for b in range(feet):
        start[b] = columns
        rank = feel(contacts, kind, b, force, gram, roots, w, pull)
        t = bases[6 * b : 6 * b + 6]
        # T = C (C^T C)^-1, a row at a time; C is kept for C^T L C below.
        for k in range(rank):
            for m in range(k + 1):
                value = 0.0
                for j in range(6):
                    value += roots[j, k] * roots[j, m]
                gram[k, m] = value
        cholesky(gram, rank, 0.0, scratch.small)
        for j in range(6):
            for k in range(rank):
                felt[6 * b + j, k] = roots[j, k]
                acting[6 * b + j, k] = roots[j, k]
                t[j, k] = roots[j, k]
            cholesky_solve(scratch.small, rank, t[j])
        if braked:
            add_braking(contacts, kind, b, friction, rank, t, w, acting[6 * b : 6 * b + 6])
        for k in range(rank):
            value = 0.0
            for j in range(6):
                value += t[j, k] * pull[j]
            x[columns + k] = value
        columns += rank
    start[feet] = columns
    if not braked:
        write_reduced(contacts, felt, felt, start, True, scratch.reduced)
        minimum_norm_solve(scratch.reduced, columns, TOLERANCE, x, scratch.factor, felt, scratch.half)
    elif not solve_braked(contacts, scratch):
        return False
    for b in range(feet):
        first, last = start[b], start[b + 1]
        t = bases[6 * b : 6 * b + 6]
        for j in range(6):
            value = 0.0
            for k in range(last - first):
                value += t[j, k] * x[first + k]
            pull[j] = value
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            f = force[p]
            f[0], f[1], f[2] = 0.0, 0.0, 0.0
            if kind[p] == OPEN:
                continue
            held = kind[p] == STICK
            for axis in range(3 if held else 1):
                row_of(contacts, p, axis, held, w)
                value = 0.0
                for k in range(6):
                    value += w[k] * pull[k]
                for k in range(3):
                    f[k] += value * w[k]
    return True


@kernel
def feel(contacts, kind, b, force, gram, roots, w, pull):
    """C of one foot, into ``roots``, and W^T a of the accelerations in ``force``, into ``pull``. Gives the rank."""
    for k in range(6):
        pull[k] = 0.0
        for m in range(6):
            gram[k, m] = 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        if kind[p] == OPEN:
            continue
        held = kind[p] == STICK
        for axis in range(3 if held else 1):
            row_of(contacts, p, axis, held, w)
            wanted = w[0] * force[p, 0] + w[1] * force[p, 1] + w[2] * force[p, 2]
            for k in range(6):
                pull[k] += w[k] * wanted
                for m in range(k + 1):
                    gram[k, m] += w[k] * w[m]
    return pivoted_cholesky(gram, 6, TOLERANCE, roots)


@kernel
def add_braking(contacts, kind, b, friction, rank, t, w, acting):
    """Add to A of one foot what the friction of its sliding points does: the sum of ``mu d (w T)``."""
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        if kind[p] != SLIDE or contacts.dynamic_friction[p] == 0.0:
            continue
        row_of(contacts, p, 0, False, w)
        r, mu = contacts.arm[p], contacts.dynamic_friction[p]
        x, y, z = mu * friction[p, 0], mu * friction[p, 1], mu * friction[p, 2]
        tx, ty, tz = r[1] * z - r[2] * y, r[2] * x - r[0] * z, r[0] * y - r[1] * x
        for k in range(rank):
            load = 0.0
            for j in range(6):
                load += w[j] * t[j, k]
            acting[0, k] += load * x
            acting[1, k] += load * y
            acting[2, k] += load * z
            acting[3, k] += load * tx
            acting[4, k] += load * ty
            acting[5, k] += load * tz


@kernel
def write_reduced(contacts, left, right, start, lower, out):
    """Write ``left^T L right`` of all feet, whose columns begin at ``start``; if ``lower`` only the lower triangle of
    their blocks, which is enough where both are the same.
    """
    feet, mobility = contacts.near.size - 1, contacts.mobility
    for b in range(feet):
        first, rank, part = start[b], start[b + 1] - start[b], left[6 * b : 6 * b + 6]
        if rank == 0:
            continue
        for other in range(b + 1 if lower else feet):
            column, count = start[other], start[other + 1] - start[other]
            if count == 0:
                continue
            theirs = right[6 * other : 6 * other + 6]
            for k in range(rank):
                p, q, s, t, u, v = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for m in range(6):
                    share, line = part[m, k], mobility[6 * b + m, 6 * other : 6 * other + 6]
                    p += share * line[0]
                    q += share * line[1]
                    s += share * line[2]
                    t += share * line[3]
                    u += share * line[4]
                    v += share * line[5]
                row = out[first + k, column : column + count]
                for m in range(count):
                    value = p * theirs[0, m] + q * theirs[1, m] + s * theirs[2, m]
                    row[m] = value + t * theirs[3, m] + u * theirs[4, m] + v * theirs[5, m]


@kernel
def solve_braked(contacts, scratch):
    """Replace ``solution`` x by y of ``C^T L A y = x``; False if there is none."""
    felt, acting, start = scratch.felt, scratch.acting, scratch.start
    reduced, factor, spare, x, half = scratch.reduced, scratch.factor, scratch.spare, scratch.solution, scratch.half
    columns = start[contacts.near.size - 1]
    write_reduced(contacts, felt, acting, start, False, reduced)
    for k in range(columns):
        half[k] = x[k]
        for m in range(columns):
            factor[k, m] = reduced[k, m]
    if eliminate(factor, columns, TOLERANCE, half):
        for k in range(columns):
            x[k] = half[k]
        return True
    # Some motions no force produces: y is sought among the columns F of C^T L C = F F^T.
    write_reduced(contacts, felt, felt, start, True, spare)
    rank = pivoted_cholesky(spare, columns, TOLERANCE, factor)
    for i in range(columns):
        for k in range(rank):
            spare[i, k] = 0.0
        for j in range(columns):
            for k in range(rank):
                spare[i, k] += reduced[i, j] * factor[j, k]
    for k in range(rank):
        half[k] = 0.0
        for m in range(rank):
            reduced[k, m] = 0.0
    for i in range(columns):
        for k in range(rank):
            half[k] += factor[i, k] * x[i]
            for m in range(rank):
                reduced[k, m] += factor[i, k] * spare[i, m]
    if not eliminate(reduced, rank, TOLERANCE, half):
        return False
    for i in range(columns):
        value = 0.0
        for k in range(rank):
            value += factor[i, k] * half[k]
        x[i] = value
    return True
