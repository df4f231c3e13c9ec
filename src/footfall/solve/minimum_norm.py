"""Contact forces of least norm that give the contact points wanted accelerations, in closed form.

The accelerations a of the points obey ``G f = a`` with the Delassus matrix ``G = W L W^T``: all points of a foot share
its six motions, a point's row of W (for the unit vector e, at the arm r) is ``(e, r x e)``, and L is the mobility of
the feet. G is singular for a flat foot, and the forces of least norm are ``pinv(G) a``. No 3n x 3n matrix is needed:
``W^T W = C C^T`` of each foot, C being its Cholesky factor without the columns of zero pivots. With T the inverse of
the transposed rows of C that have pivots, and zero elsewhere, the columns of ``W T`` are orthonormal, and

    pinv(G) = W T pinv(C^T L C) T^T W^T.

A compliance c of the points, ``(G + c) f = a``, adds c to the diagonal of ``C^T L C``.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from footfall.compiled import inlined, kernel
from footfall.kinds import Bool, Int, Ints, Matrix, Vector, zeros
from footfall.solve.contacts import OPEN, STICK, Contacts
from footfall.solve.dense import cholesky, cholesky_solve, minimum_norm_solve, pivots_are_certain

#: Pivots below this share of the largest count as zero: they belong to motions that no force produces.
TOLERANCE = 1e-10
#: Compliance of the points, relative to the mobility of the most mobile foot; used only where ``C^T L C`` is singular,
#: so that the forces are unique.
COMPLIANCE = 1e-9
#: Largest share of a wanted motion that compliance may contribute; above it the contacts are not rigid any more.
GIVES_WAY = 1e-3


class SpreadScratch(NamedTuple):
    """Scratch for K feet whose points constrain R motions, at most n = 6K."""

    start: Annotated[Ints, "K + 1"]  # where the motions of each foot begin among the R
    bases: Annotated[Matrix, "6K", 6]  # T of each foot, (6, rank) from row 6b
    felt: Annotated[Matrix, "6K", 6]  # C of each foot, stored likewise
    reduced: Annotated[Matrix, "6K", "6K"]  # C^T L C, first (R, R)
    factor: Annotated[Matrix, "6K", "6K"]
    solution: Annotated[Vector, "6K"]
    half: Annotated[Vector, "6K"]
    pull: Annotated[Vector, 6]  # of one foot
    row: Annotated[Vector, 6]  # of W
    gram: Annotated[Matrix, 6, 6]  # W^T W of one foot, its lower triangle
    kept: Annotated[Ints, 6]  # rows of C of one foot that have pivots


def spread_scratch(bodies: int) -> SpreadScratch:
    """The arrays of :class:`SpreadScratch`."""
    return zeros(SpreadScratch, {"K": bodies, "6K": 6 * bodies})


class LeastScratch(NamedTuple):
    """Scratch of :func:`spread` for K feet."""

    spread: SpreadScratch
    spare: Annotated[Matrix, "6K", "6K"]


def least_scratch(bodies: int) -> LeastScratch:
    """The arrays of :class:`LeastScratch`."""
    return zeros(LeastScratch, {"6K": 6 * bodies}, spread=spread_scratch(bodies))


@kernel
def spread(contacts: Contacts, kind: Ints, force: Matrix, scratch: LeastScratch) -> None:
    """Replace accelerations in ``force`` (P, 3) by the least-norm forces that give them, world frame: Rengifo 2009,
    (18).

    A point of ``kind`` OPEN gets no force, STICK holds it in all directions, SLIDE along its normal only.
    """
    own = scratch.spread
    count = lay_out(contacts, kind, force, own)
    write_reduced(contacts, own)
    minimum_norm_solve(own.reduced, count, TOLERANCE, own.solution, own.factor, scratch.spare, own.half)
    hand_out(contacts, kind, force, own)


@kernel
def spread_rigidly(contacts: Contacts, kind: Ints, force: Matrix, scratch: SpreadScratch) -> Bool:
    """As :func:`spread`, without rank decisions: where no force produces some motion, the points are compliant.

    False, with nothing changed, if they give way by more than the share ``GIVES_WAY`` of the largest acceleration.
    """
    count = lay_out(contacts, kind, force, scratch)
    write_reduced(contacts, scratch)
    matrix, factor, x, compliance = scratch.reduced, scratch.factor, scratch.solution, 0.0
    if not (cholesky(matrix, count, TOLERANCE, factor) and pivots_are_certain(matrix, count, factor)):
        for k in range(contacts.mobility.shape[0]):
            if k % 6 < 3 and contacts.near[k // 6 + 1] > contacts.near[k // 6]:
                compliance = max(compliance, COMPLIANCE * contacts.mobility[k, k])
        for k in range(count):
            matrix[k, k] += compliance
        if not cholesky(matrix, count, 0.0, factor):
            return False
    wanted, way = 0.0, 0.0
    for k in range(count):
        wanted = max(wanted, abs(x[k]))
    cholesky_solve(factor, count, x)
    for k in range(count):
        way = max(way, compliance * abs(x[k]))
    if way > GIVES_WAY * wanted:
        return False
    hand_out(contacts, kind, force, scratch)
    return True


@kernel
def make_rigid(contacts: Contacts, kind: Ints, motion: Matrix, scratch: SpreadScratch) -> None:
    """Replace the ``motion`` (P, 3), world frame, of points that are not OPEN by the nearest rigid motion of each foot,
    by least squares: ``W T T^T W^T a``. That of OPEN points becomes zero.

    More than three points of a foot cannot move independently: the pseudo-inverse in (18) of Rengifo 2009 amounts to
    this fit.
    """
    lay_out(contacts, kind, motion, scratch)
    hand_out(contacts, kind, motion, scratch)


@inlined
def normal_row(contacts: Contacts, p: Int, w: Vector) -> None:
    """Write the row of W for a point along its normal."""
    r, n = contacts.arm[p], contacts.frame[p, 2]
    w[0], w[1], w[2] = n[0], n[1], n[2]
    w[3], w[4], w[5] = r[1] * n[2] - r[2] * n[1], r[2] * n[0] - r[0] * n[2], r[0] * n[1] - r[1] * n[0]


@kernel
def lay_out(contacts: Contacts, kind: Ints, force: Matrix, scratch: SpreadScratch) -> Int:
    """Write C and T of each foot, and ``T^T W^T a`` of the accelerations in ``force`` to ``solution``. Returns R."""
    start, x, pull = scratch.start, scratch.solution, scratch.pull
    count = 0
    for b in range(contacts.near.size - 1):
        start[b] = count
        if contacts.near[b + 1] > contacts.near[b]:
            feel(contacts, kind, b, force, scratch)
            t = scratch.bases[6 * b : 6 * b + 6]
            rank = write_bases(scratch, scratch.felt[6 * b : 6 * b + 6], t)
            for k in range(rank):
                value = 0.0
                for j in range(6):
                    value += t[j, k] * pull[j]
                x[count + k] = value
            count += rank
    start[contacts.near.size - 1] = count
    return count


@kernel
def feel(contacts: Contacts, kind: Ints, b: Int, force: Matrix, scratch: SpreadScratch) -> None:
    """Write ``W^T W`` of one foot to ``gram`` and ``W^T a`` of the accelerations in ``force`` to ``pull``."""
    gram, pull, w = scratch.gram, scratch.pull, scratch.row
    for k in range(6):
        pull[k] = 0.0
        for m in range(k + 1):
            gram[k, m] = 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        r, a = contacts.arm[p], force[p]
        x, y, z = r[0], r[1], r[2]
        if kind[p] == STICK:
            for k in range(3):
                pull[k] += a[k]
                gram[k, k] += 1.0
            pull[3] += y * a[2] - z * a[1]
            pull[4] += z * a[0] - x * a[2]
            pull[5] += x * a[1] - y * a[0]
            gram[3, 1], gram[3, 2], gram[4, 0] = gram[3, 1] - z, gram[3, 2] + y, gram[4, 0] + z
            gram[4, 2], gram[5, 0], gram[5, 1] = gram[4, 2] - x, gram[5, 0] - y, gram[5, 1] + x
            gram[3, 3], gram[4, 4] = gram[3, 3] + y * y + z * z, gram[4, 4] + x * x + z * z
            gram[5, 5], gram[4, 3] = gram[5, 5] + x * x + y * y, gram[4, 3] - x * y
            gram[5, 3], gram[5, 4] = gram[5, 3] - x * z, gram[5, 4] - y * z
        elif kind[p] != OPEN:
            normal_row(contacts, p, w)
            wanted = w[0] * a[0] + w[1] * a[1] + w[2] * a[2]
            for k in range(6):
                pull[k] += w[k] * wanted
                for m in range(k + 1):
                    gram[k, m] += w[k] * w[m]


@kernel
def write_bases(scratch: SpreadScratch, c: Matrix, t: Matrix) -> Int:
    """Write C and T of one foot, (6, rank), from its ``gram``; returns the rank."""
    gram, kept, rank, floor = scratch.gram, scratch.kept, 0, 0.0
    for k in range(6):
        floor = max(floor, TOLERANCE * gram[k, k])
    for j in range(6):
        pivot = gram[j, j]
        for m in range(rank):
            pivot -= c[j, m] * c[j, m]
        if not pivot > floor:
            continue
        inverse = 1.0 / math.sqrt(pivot)
        for i in range(6):
            c[i, rank], t[i, rank] = 0.0, 0.0
        for i in range(j, 6):
            value = gram[i, j]
            for m in range(rank):
                value -= c[i, m] * c[j, m]
            c[i, rank] = value * inverse
        kept[rank], t[j, rank] = j, inverse
        for m in range(rank - 1, -1, -1):
            value = 0.0
            for k in range(m + 1, rank + 1):
                value -= c[kept[k], m] * t[kept[k], rank]
            t[kept[m], rank] = value * t[kept[m], m]
        rank += 1
    return rank


@kernel
def write_reduced(contacts: Contacts, scratch: SpreadScratch) -> None:
    """Write the lower blocks of ``C^T L C`` of all feet."""
    start, mobility = scratch.start, contacts.mobility
    for b in range(contacts.near.size - 1):
        own = scratch.felt[6 * b : 6 * b + 6]
        for other in range(b + 1):
            c, first, last = scratch.felt[6 * other : 6 * other + 6], start[other], start[other + 1]
            for k in range(start[b + 1] - start[b]):
                p, q, s, t, u, v = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for m in range(6):
                    share, line = own[m, k], mobility[6 * b + m, 6 * other : 6 * other + 6]
                    p, q, s = p + share * line[0], q + share * line[1], s + share * line[2]
                    t, u, v = t + share * line[3], u + share * line[4], v + share * line[5]
                row = scratch.reduced[start[b] + k, first:last]
                for m in range(row.size):
                    row[m] = p * c[0, m] + q * c[1, m] + s * c[2, m] + t * c[3, m] + u * c[4, m] + v * c[5, m]


@kernel
def hand_out(contacts: Contacts, kind: Ints, force: Matrix, scratch: SpreadScratch) -> None:
    """Write the forces ``W T x`` of the ``solution`` x to ``force``."""
    start, pull, w = scratch.start, scratch.pull, scratch.row
    for b in range(contacts.near.size - 1):
        t = scratch.bases[6 * b : 6 * b + 6]
        for j in range(6):
            value = 0.0
            for k in range(start[b], start[b + 1]):
                value += t[j, k - start[b]] * scratch.solution[k]
            pull[j] = value
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            f, r = force[p], contacts.arm[p]
            f[0], f[1], f[2] = 0.0, 0.0, 0.0
            if kind[p] == STICK:  # Rengifo 2009, eq. 18
                f[0] = pull[0] + pull[4] * r[2] - pull[5] * r[1]
                f[1] = pull[1] + pull[5] * r[0] - pull[3] * r[2]
                f[2] = pull[2] + pull[3] * r[1] - pull[4] * r[0]
            elif kind[p] != OPEN:
                normal_row(contacts, p, w)
                value = 0.0
                for k in range(6):
                    value += w[k] * pull[k]
                for k in range(3):
                    f[k] = value * w[k]
