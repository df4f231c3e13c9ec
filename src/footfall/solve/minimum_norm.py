"""Contact forces of least norm that give the contact points wanted accelerations.

The accelerations a of the points obey ``G f = a`` with the Delassus matrix ``G = W L W^T``: all points of a foot share
its six motions, a point's row of W (for the unit vector e, at the arm r) is ``(e, r x e)``, and L is the mobility of
the feet. G is singular for a flat foot, and the forces of least norm are ``pinv(G) a``. No 3n x 3n matrix is needed:

- standing feet, every point held in all directions: see :mod:`footfall.solve.held_feet`;
- all others (points held along the normal only, three points of a foot on a line, feet that the robot cannot move
  independently): with ``W^T W = C C^T``, C of full column rank, and ``T = C (C^T C)^-1``, the columns of ``W T`` are
  orthonormal, and ``pinv(G) = W T pinv(C^T L C) T^T W^T``.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from numba import types

from footfall.compiled import cold, kernel
from footfall.kinds import Bool, Int, Ints, Matrix, Vector, zeros
from footfall.solve.contacts import ALL, OPEN, STICK, Contacts, write_mobility
from footfall.solve.dense import cholesky, cholesky_solve, minimum_norm_solve, pivoted_cholesky
from footfall.solve.held_feet import TOLERANCE, HeldScratch, held_scratch, spread_over_held_feet


class LeastScratch(NamedTuple):
    """Scratch for K feet, n = 6K."""

    held: HeldScratch
    bases: Annotated[Matrix, "6K", "6K"]  # T of each foot, (6, rank) from row 6b
    felt: Annotated[Matrix, "6K", "6K"]  # C of each foot, stored likewise
    row: Annotated[Vector, 6]  # of W
    gram: Annotated[Matrix, 6, 6]  # of one foot
    roots: Annotated[Matrix, 6, 6]  # C of one foot
    small: Annotated[Matrix, 6, 6]  # of one foot


def least_scratch(bodies: int) -> LeastScratch:
    """The arrays of :class:`LeastScratch`."""
    return zeros(LeastScratch, {"6K": 6 * bodies}, held=held_scratch(bodies))


@kernel
def spread(contacts: Contacts, kind: Ints, force: Matrix, scratch: LeastScratch) -> None:
    """Replace accelerations in ``force`` (P, 3) by the least-norm forces that give them, world frame: Rengifo 2009,
    (18).

    A point of ``kind`` OPEN gets no force, STICK holds it in all directions, SLIDE along its normal only.
    """
    all_held = True
    for i in range(contacts.number[0]):
        if kind[contacts.points[i]] != STICK:
            all_held = False
    if not (all_held and spread_over_held_feet(contacts, force, False, scratch.held)):
        spread_over_rows(contacts, kind, force, scratch)


@kernel
def row_of(contacts: Contacts, p: Int, axis: Int, held: Bool, w: Vector) -> None:
    """Write the row of W for a point: along world axis ``axis`` if the point is held, else along its normal."""
    r = contacts.arm[p]
    for k in range(3):
        w[k] = (1.0 if k == axis else 0.0) if held else contacts.frame[p, 2, k]
    w[3] = r[1] * w[2] - r[2] * w[1]
    w[4] = r[2] * w[0] - r[0] * w[2]
    w[5] = r[0] * w[1] - r[1] * w[0]


@cold(types.none, soon=True)
def spread_over_rows(contacts: Contacts, kind: Ints, force: Matrix, scratch: LeastScratch) -> None:
    """The general case of :func:`spread`, with a basis T of the constrained motions of each foot."""
    held, felt, bases, w, gram, roots = (
        scratch.held,
        scratch.felt,
        scratch.bases,
        scratch.row,
        scratch.gram,
        scratch.roots,
    )
    start, x, pull = held.start, held.solution, held.pull
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
                t[j, k] = roots[j, k]
            cholesky_solve(scratch.small, rank, t[j])
        for k in range(rank):
            value = 0.0
            for j in range(6):
                value += t[j, k] * pull[j]
            x[columns + k] = value
        columns += rank
    start[feet] = columns
    write_reduced(contacts, felt, start, held.reduced)
    minimum_norm_solve(held.reduced, columns, TOLERANCE, x, held.factor, felt, held.half)
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
                    f[k] += value * w[k]  # Rengifo 2009, eq. 18


@kernel
def feel(
    contacts: Contacts, kind: Ints, b: Int, force: Matrix, gram: Matrix, roots: Matrix, w: Vector, pull: Vector
) -> Int:
    """Write C of one foot to ``roots``, and W^T a of the accelerations in ``force`` to ``pull``. Returns the rank."""
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
def write_reduced(contacts: Contacts, felt: Matrix, start: Ints, out: Matrix) -> None:
    """Write the lower blocks of ``C^T L C`` of all feet, whose columns begin at ``start``."""
    feet, mobility = contacts.near.size - 1, contacts.mobility
    write_mobility(contacts, ALL)
    for b in range(feet):
        first, rank, part = start[b], start[b + 1] - start[b], felt[6 * b : 6 * b + 6]
        if rank == 0:
            continue
        for other in range(b + 1):
            column, count = start[other], start[other + 1] - start[other]
            if count == 0:
                continue
            theirs = felt[6 * other : 6 * other + 6]
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
