"""Lemke's complementary pivoting with the lexicographic ratio test.

Finds z with ``w = M z + q``, ``z >= 0``, ``w >= 0`` and ``z_i w_i = 0``. An artificial unknown z0 makes the start
feasible; the complement of the variable that leaves the basis enters, until z0 itself leaves (a solution) or none can
(a ray). Where several could leave, the lexicographic order of the rows of the basis inverse decides, so that no basis
comes twice (Cottle, Pang and Stone 1992, sections 4.4 and 4.9). If M is copositive-plus, a ray means that there is no
solution.

The tableau is kept without its unit columns: one row of ``work`` per unknown that is not in the basis. Those of w are
columns of the inverse of the basis, which the ratio test needs, and the last refinement.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel

SOLVED, RAY, LIMIT = 0, 1, 2
#: Entries of the entering column smaller than this, of its largest, are rounding.
PIVOT = 1e-10
#: Ratios closer than this are equal.
TIE = 1e-11
#: A diagonal smaller than this, of the largest, counts as zero.
ZERO = 1e-12
#: Refinements of the last basis.
REFINEMENTS = 3


def lemke_rows(n: int) -> int:
    """Rows of n floats that :func:`pivot_to_solution` needs for n unknowns."""
    return n + 4


def lemke_marks(n: int) -> int:
    """Integers that :func:`pivot_to_solution` needs for n unknowns."""
    return 4 * n + 2


@inlined
def pivot_limit(n):
    """Pivots after which to give up: problems of contact take about n, the worst known exponentially many."""
    return 50 * n + 100


@kernel
def equilibrate(m, scale):
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
def pivot(work, row, slot):
    """Exchange what is in the basis at ``row`` with what waits in ``slot``."""
    n = work.shape[1]
    entering = work[slot]
    inverse = 1.0 / entering[row]
    for s in range(n + 2):
        if s == slot or work[s, row] == 0.0:
            continue
        line = work[s]
        share = line[row] * inverse
        for i in range(n):
            line[i] -= entering[i] * share
        line[row] = share
    for i in range(n):
        entering[i] *= -inverse
    entering[row] = inverse


@inlined
def inverse_entry(work, where, i, c):
    """Entry (i, c) of the inverse of the basis: the column of w_c."""
    n = work.shape[1]
    if where[c] < n:
        return 1.0 if where[c] == i else 0.0
    return work[where[c] - n, i]


@kernel
def comes_before(work, where, slot, i, j):
    """Whether row i, divided by its entry in the entering column, is lexicographically smaller than row j."""
    n = work.shape[1]
    a, b = work[slot, i], work[slot, j]
    for c in range(n):
        x, y = inverse_entry(work, where, i, c) / a, inverse_entry(work, where, j, c) / b
        if abs(x - y) > TIE * max(1.0, abs(x), abs(y)):
            return x < y
    return i > j


@kernel
def leaving_row(work, basic, where, slot):
    """The row that must leave for what waits in ``slot``: -1 if none does."""
    n = work.shape[1]
    entering, value = work[slot], work[n + 1]
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
            if i != best and comes_before(work, where, slot, i, best):
                best = i
    return best


@kernel
def refine(m, q, size, work, basic, where):
    """Take off what rounding has done to the values of the last basis, by means of its inverse."""
    n = q.size
    value, scale, miss = work[n + 1], work[n + 2], work[n + 3]
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
                value[r] += inverse_entry(work, where, r, c) * miss[c]


@kernel
def pivot_to_solution(m, q, z, limit, work, marks):
    """Write z; gives how it ended and the number of pivots.

    ``work`` has ``lemke_rows(n)`` rows of exactly n floats, ``marks`` ``lemke_marks(n)`` integers.
    """
    n = q.size
    basic, nonbasic, where = marks[:n], marks[n : 2 * n + 1], marks[2 * n + 1 : 4 * n + 2]
    value, scale = work[n + 1], work[n + 2]
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
            work[s, i] = -scale[i] * m[i, s] * scale[s]
        work[n, i] = -1.0
        basic[i], where[i] = i, i
        nonbasic[i], where[n + i] = n + i, n + i
        if first < 0 or value[i] <= value[first]:  # the last of equals is lexicographically least
            first = i
    nonbasic[n], where[2 * n] = 2 * n, 2 * n
    slot, row = n, first
    for count in range(1, limit + 1):
        pivot(work, row, slot)
        left, entered = basic[row], nonbasic[slot]
        basic[row], nonbasic[slot] = entered, left
        where[entered], where[left] = row, n + slot
        if left == 2 * n:
            refine(m, q, size, work, basic, where)
            for i in range(n):
                if basic[i] >= n:
                    z[basic[i] - n] = size * scale[basic[i] - n] * max(0.0, value[i])
            return SOLVED, count
        slot = where[left + n if left < n else left - n] - n
        row = leaving_row(work, basic, where, slot)
        if row < 0:
            return RAY, count
    return LIMIT, limit
