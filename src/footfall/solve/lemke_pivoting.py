"""Lemke's complementary pivoting with the lexicographic ratio test.

Finds z with ``w = M z + q``, ``z >= 0``, ``w >= 0`` and ``z_i w_i = 0``. An artificial unknown z0 makes the start
feasible; the complement of the variable that leaves the basis enters, until z0 itself leaves (a solution) or none can
(a ray). Where several could leave, the lexicographic order of the rows of the basis inverse decides, so that no basis
occurs twice (Cottle, Pang and Stone 1992, sections 4.4 and 4.9). If M is copositive-plus, a ray means that there is no
solution.

The tableau is stored without its unit columns, with one row per nonbasic unknown. The rows of nonbasic w are columns of
the inverse of the basis, which the ratio test and the last refinement need.
"""

from __future__ import annotations

from typing import NamedTuple

from footfall.compiled import inlined, kernel
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Vector

SOLVED, RAY, LIMIT = 0, 1, 2
#: Entries of the entering column below this share of its largest are rounding errors, and no pivots.
PIVOT = 1e-10
#: Relative difference below which two ratios are equal.
TIE = 1e-11
#: Diagonal entries of M below this share of the largest count as zero.
ZERO = 1e-12
#: Refinements of the last basis.
REFINEMENTS = 3


class Tableau(NamedTuple):
    """Scratch of :func:`pivot_to_solution`. Unknowns are numbered: n unknowns w, n unknowns z, then z0."""

    rows: Matrix  # (n + 2, n) one for each nonbasic unknown; the last has the values of the basic ones
    scale: Vector  # (n,) factors that scale the entries of the matrix to about one
    miss: Vector  # (n,) residuals from rounding
    basic: Ints  # (n,) the basic unknowns
    nonbasic: Ints  # (n + 1,) the nonbasic unknown of each row
    where: Ints  # (2n + 1,) of each unknown: its place in the basis, or n plus its row


def lemke_floats(n: int) -> int:
    """Floats of a tableau for n unknowns."""
    return n * (n + 4)


def lemke_integers(n: int) -> int:
    """Integers of a tableau for n unknowns."""
    return 4 * n + 2


@inlined
def tableau(n: Int, floats: Vector, integers: Ints) -> Tableau:
    """A tableau for n unknowns in scratch that has room for it."""
    last = n * (n + 2)
    return Tableau(
        floats[:last].reshape((n + 2, n)),
        floats[last : last + n],
        floats[last + n : last + 2 * n],
        integers[:n],
        integers[n : 2 * n + 1],
        integers[2 * n + 1 : 4 * n + 2],
    )


@inlined
def pivot_limit(n: Int) -> Int:
    """Iteration limit: contact problems take about n pivots, the worst known problems exponentially many."""
    return 50 * n + 100


@kernel
def equilibrate(m: Matrix, scale: Vector) -> None:
    """Positive factors such that ``scale_i M_ij scale_j`` has entries of about one; unknowns are then ``z / scale``."""
    n = scale.size
    largest = 0.0
    for i in range(n):
        largest = max(largest, m[i, i])
    for i in range(n):
        scale[i] = m[i, i] ** -0.5 if m[i, i] > ZERO * largest else 0.0
    for i in range(n):
        if scale[i] == 0.0:
            size = 0.0
            for j in range(n):
                if m[j, j] > ZERO * largest:
                    size = max(size, abs(m[i, j]) * scale[j], abs(m[j, i]) * scale[j])
            scale[i] = -1.0 / size if size > 0.0 else -1.0
    for i in range(n):
        scale[i] = abs(scale[i])


@inlined
def pivot(rows: Matrix, row: Int, slot: Int) -> None:
    """Exchange the basic unknown at ``row`` with the nonbasic one in ``slot``."""
    n = rows.shape[1]
    entering = rows[slot]
    inverse = 1.0 / entering[row]
    for s in range(n + 2):
        if s == slot or rows[s, row] == 0.0:
            continue
        line = rows[s]
        share = line[row] * inverse
        for i in range(n):
            line[i] -= entering[i] * share
        line[row] = share
    for i in range(n):
        entering[i] *= -inverse
    entering[row] = inverse


@inlined
def inverse_entry(rows: Matrix, where: Ints, i: Int, c: Int) -> Float:
    """Entry (i, c) of the inverse of the basis: the column of w_c."""
    n = rows.shape[1]
    if where[c] < n:
        return 1.0 if where[c] == i else 0.0
    return rows[where[c] - n, i]


@kernel
def comes_before(rows: Matrix, where: Ints, slot: Int, i: Int, j: Int) -> Bool:
    """Whether row i, divided by its entry in the entering column, is lexicographically smaller than row j."""
    n = rows.shape[1]
    a, b = rows[slot, i], rows[slot, j]
    for c in range(n):
        x, y = inverse_entry(rows, where, i, c) / a, inverse_entry(rows, where, j, c) / b
        if abs(x - y) > TIE * max(1.0, abs(x), abs(y)):
            return x < y
    return i > j


@kernel
def leaving_row(rows: Matrix, basic: Ints, where: Ints, slot: Int) -> Int:
    """The row whose basic unknown must leave when the one in ``slot`` enters; -1 if none blocks it (a ray)."""
    n = rows.shape[1]
    entering, value = rows[slot], rows[n + 1]
    largest = 1.0
    for i in range(n):
        largest = max(largest, abs(entering[i]))
    best, least = -1, 0.0
    for i in range(n):
        if entering[i] > PIVOT * largest:
            ratio = max(0.0, value[i]) / entering[i]
            if best < 0 or ratio < least:
                best, least = i, ratio
    if best < 0:
        return -1
    bound = least + TIE * max(1.0, least)
    for i in range(n):
        if entering[i] > PIVOT * largest and max(0.0, value[i]) / entering[i] <= bound:
            if basic[i] == 2 * n:  # z0 can leave, and that is the end
                return i
            if i != best and comes_before(rows, where, slot, i, best):
                best = i
    return best


@kernel
def refine(m: Matrix, q: Vector, size: Float, table: Tableau) -> None:
    """Remove rounding errors from the values of the last basis by iterative refinement with its inverse."""
    n = q.size
    rows, scale, miss, basic, where = table.rows, table.scale, table.miss, table.basic, table.where
    value = rows[n + 1]
    for _ in range(REFINEMENTS):
        for i in range(n):
            short = scale[i] * q[i] / size
            if where[i] < n:
                short -= value[where[i]]
            for r in range(n):
                if basic[r] >= n:
                    short += scale[i] * m[i, basic[r] - n] * scale[basic[r] - n] * value[r]
            miss[i] = short
        for r in range(n):
            for c in range(n):
                value[r] += inverse_entry(rows, where, r, c) * miss[c]


@kernel
def pivot_to_solution(m: Matrix, q: Vector, z: Vector, limit: Int, table: Tableau) -> tuple[Int, Int]:
    """Write z; returns the status and the number of pivots. ``table`` is a :class:`Tableau`."""
    n = q.size
    rows, scale, basic, nonbasic, where = table.rows, table.scale, table.basic, table.nonbasic, table.where
    value = rows[n + 1]
    equilibrate(m, scale)
    size, first = 0.0, -1
    for i in range(n):
        z[i] = 0.0
        value[i] = scale[i] * q[i]
        size = max(size, -value[i])
    if size == 0.0:
        return SOLVED, 0
    for i in range(n):
        value[i] /= size
        for s in range(n):
            rows[s, i] = -scale[i] * m[i, s] * scale[s]
        rows[n, i] = -1.0
        basic[i], where[i] = i, i
        nonbasic[i], where[n + i] = n + i, n + i
        if first < 0 or value[i] <= value[first]:  # the last of equals is lexicographically least
            first = i
    nonbasic[n], where[2 * n] = 2 * n, 2 * n
    slot, row = n, first
    for count in range(1, limit + 1):
        pivot(rows, row, slot)
        left, entered = basic[row], nonbasic[slot]
        basic[row], nonbasic[slot] = entered, left
        where[entered], where[left] = row, n + slot
        if left == 2 * n:
            refine(m, q, size, table)
            for i in range(n):
                if basic[i] >= n:
                    z[basic[i] - n] = size * scale[basic[i] - n] * max(0.0, value[i])
            return SOLVED, count
        slot = where[left + n if left < n else left - n] - n
        row = leaving_row(rows, basic, where, slot)
        if row < 0:
            return RAY, count
    return LIMIT, limit
