"""Convex quadratic programs by a dual active-set method: Goldfarb and Idnani 1983, Mathematical Programming 27.

Minimise x'Hx/2 + f'x subject to lower <= (b, C x) <= upper, where b are the first unknowns and H is positive definite.
The method begins at the unconstrained minimum and adds violated constraints one after the other, each time moving to
the minimum on the active ones. Every iterate is optimal for the active constraints, so the method ends at the solution
or with a proof that there is none.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from footfall.compiled import inlined, kernel
from footfall.kinds import Float, Int, Ints, Matrix, Vector, zeros
from footfall.solve.dense import cholesky, cholesky_solve

#: The value of a missing bound, and the size from which on a bound counts as missing.
UNBOUNDED, NO_BOUND = 1e30, 1e20
#: Largest violation of a constraint, relative to the largest unknown.
TOLERANCE = 1e-9
#: Rounding error of an unknown, per unknown and per change of the active set, relative to the largest iterate.
ROUNDING = 4.0e-16
#: Squared length of the part of a normal across the active ones, as a share of its whole, below which the normal is
#: linearly dependent on them.
DEPENDENT = 1e-14
#: Pivot below which H is singular, as a share of its largest diagonal entry.
SINGULAR = 1e-14
#: Most changes of the active set per unknown.
CHANGES = 8
#: Entries smaller than this are not rotated away: their squares underflow.
NOTHING = 1e-280

SOLVED, INFEASIBLE, INDEFINITE, UNFINISHED = 0, 1, 2, 3


class QuadraticProgram(NamedTuple):
    """min x'Hx/2 + f'x with lower <= (b, C x) <= upper, b being the unknowns with bounds, which come first."""

    H: Annotated[Matrix, "n", "n"]  # its lower triangle
    f: Annotated[Vector, "n"]
    C: Annotated[Matrix, "m", "n"]
    lower: Annotated[Vector, "b m"]
    upper: Annotated[Vector, "b m"]
    shape: Ints  # (3,) n, b and m; arrays may be larger, and the rest of them is ignored


def empty_program(n: int, bounds: int, m: int) -> QuadraticProgram:
    """Zeros for a program of ``n`` unknowns, the first of them with ``bounds``, and ``m`` rows."""
    shape = np.array([n, bounds, m], dtype=np.int64)
    return zeros(QuadraticProgram, {"n": n, "m": m, "b m": bounds + m}, shape=shape)


class ActiveSet(NamedTuple):
    """The solution of a program, and scratch."""

    x: Annotated[Vector, "n"]  # the solution
    multiplier: Annotated[Vector, "n + 1"]  # of the active constraints
    active: Annotated[Ints, "n + 1"]  # their numbers in (b, C x)
    side: Annotated[Ints, "b m"]  # 1 active at its lower bound, -1 at its upper one, 0 not active
    count: Annotated[Ints, 2]  # type: ignore[assignment]  # active constraints, changes of the active set
    far: Annotated[Vector, 1]  # the largest |x| of all iterates, which determines the rounding error of x
    factor: Annotated[Matrix, "n", "n"]  # L of H = L L^T
    base: Annotated[Matrix, "n", "n"]  # row k is column k of J = L^-T Q; the first ``count`` span the active normals
    triangle: Annotated[Matrix, "n", "n"]  # row k is column k of R
    normal: Annotated[Vector, "n"]  # of the constraint that is being added
    along: Annotated[Vector, "n"]  # J^T normal
    step: Annotated[Vector, "n"]  # direction of x
    back: Annotated[Vector, "n + 1"]  # direction of the multipliers
    size: Annotated[Vector, "m"]  # norms of the rows of C


def active_set(n: int, bounds: int, m: int) -> ActiveSet:
    """Space for programs of ``n`` unknowns, the first of them with ``bounds``, and ``m`` rows."""
    return zeros(ActiveSet, {"n": n, "m": m, "b m": bounds + m})


@kernel
def solve_quadratic_program(program: QuadraticProgram, work: ActiveSet) -> Int:
    """Write the solution to ``work.x``; returns SOLVED, or the reason of a failure."""
    x, C = work.x, program.C
    n, bounds, m = program.shape[0], program.shape[1], program.shape[2]
    work.count[0] = work.count[1] = 0
    work.far[0] = 0.0
    for i in range(bounds + m):
        work.side[i] = 0
    if not cholesky(program.H, n, SINGULAR, work.factor):
        return INDEFINITE
    for i in range(n):
        x[i] = -program.f[i]
    cholesky_solve(work.factor, n, x)
    for r in range(m):
        value = 0.0
        for j in range(n):
            value += C[r, j] * C[r, j]
        work.size[r] = math.sqrt(value)
    most = CHANGES * n
    while True:
        chosen, violation = most_violated(program, work)
        if chosen < 0:
            return SOLVED
        if work.count[1] == 0:
            begin_base(work, n)
        end = take_up(program, work, chosen, violation, most)
        if end != SOLVED:
            return end


@inlined
def begin_base(work: ActiveSet, n: Int) -> None:
    """Start with J = L^-T; row k of L^-1 is a combination of the rows above it."""
    L, J = work.factor, work.base
    for k in range(n):
        for j in range(n):
            J[k, j] = 0.0
        for i in range(k):
            share = L[k, i]
            if share != 0.0:
                for j in range(i + 1):
                    J[k, j] -= share * J[i, j]
        for j in range(k):
            J[k, j] *= L[k, k]
        J[k, k] = L[k, k]


@inlined
def most_violated(program: QuadraticProgram, work: ActiveSet) -> tuple[Int, Float]:
    """The constraint that x violates most, relative to the norm of its normal, or -1; and the violation, negative at an
    upper bound.
    """
    n, bounds, m, x = program.shape[0], program.shape[1], program.shape[2], work.x
    tolerance = TOLERANCE * largest_on_the_way(work, n) + ROUNDING * n * (1 + work.count[1]) * work.far[0]
    worst, chosen, found = 0.0, -1, 0.0
    for i in range(bounds + m):
        if i < bounds:
            value, size = x[i], 1.0
        else:
            value, size = 0.0, work.size[i - bounds]
            for j in range(n):
                value += program.C[i - bounds, j] * x[j]
        low, high = program.lower[i], program.upper[i]
        off = 0.0
        if low > -NO_BOUND and value < low:
            off = low - value
        elif high < NO_BOUND and value > high:
            off = high - value
        if off == 0.0 or work.side[i] != 0:
            continue
        share = abs(off) / max(size, 1e-300)
        if share > tolerance and share > worst:
            worst, chosen, found = share, i, off
    return chosen, found


@inlined
def largest_on_the_way(work: ActiveSet, n: Int) -> Float:
    """The largest |x| of this iterate; updates ``work.far``, the largest of all iterates."""
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(work.x[j]))
    work.far[0] = max(work.far[0], largest)
    return largest


@inlined
def take_up(program: QuadraticProgram, work: ActiveSet, chosen: Int, violation: Float, most: Int) -> Int:
    """Make a violated constraint active; drops the active ones whose multipliers would become negative."""
    n, bounds, x = program.shape[0], program.shape[1], work.x
    sign = 1 if violation > 0.0 else -1
    short = abs(violation)
    for j in range(n):
        work.normal[j] = 0.0 if chosen < bounds else sign * program.C[chosen - bounds, j]
    if chosen < bounds:
        work.normal[chosen] = float(sign)
    own = 0.0  # multiplier of the constraint that is being added
    while True:
        if work.count[1] >= most:
            return UNFINISHED
        work.count[1] += 1
        q = work.count[0]
        gain, whole = directions(work, n)
        full = short / gain if gain > DEPENDENT * whole else math.inf
        partial, leaving = math.inf, -1
        for k in range(q):
            if work.back[k] > 0.0 and work.multiplier[k] < partial * work.back[k]:
                partial, leaving = work.multiplier[k] / work.back[k], k
        length = min(full, partial)
        if length == math.inf:
            return INFEASIBLE
        for k in range(q):
            work.multiplier[k] -= length * work.back[k]
        own += length
        if full < math.inf:
            for j in range(n):
                x[j] += length * work.step[j]
            largest_on_the_way(work, n)
            short -= length * gain
        if full <= partial:
            work.active[q], work.side[chosen], work.multiplier[q] = chosen, sign, own
            add_normal(work, n)
            return SOLVED
        let_go(work, leaving, n)


@inlined
def directions(work: ActiveSet, n: Int) -> tuple[Float, Float]:
    """Write the directions of x and of the multipliers; returns the change of the constraint along that of x, and the
    change it would have without active constraints.
    """
    q, J, R = work.count[0], work.base, work.triangle
    whole = 0.0
    for k in range(n):
        value = 0.0
        for j in range(n):
            value += J[k, j] * work.normal[j]
        work.along[k] = value
        whole += value * value
    gain = 0.0
    for j in range(n):
        work.step[j] = 0.0
    for k in range(q, n):
        share = work.along[k]
        gain += share * share
        for j in range(n):
            work.step[j] += share * J[k, j]
    for k in range(q):
        work.back[k] = work.along[k]
    for k in range(q - 1, -1, -1):
        work.back[k] /= R[k, k]
        share = work.back[k]
        for i in range(k):
            work.back[i] -= share * R[k, i]
    return gain, whole


@inlined
def add_normal(work: ActiveSet, n: Int) -> None:
    """Rotate the inactive columns of J until all but the first of them are orthogonal to the new normal."""
    q, J, R, d = work.count[0], work.base, work.triangle, work.along
    for k in range(n - 1, q, -1):
        if abs(d[k]) < NOTHING:
            continue
        radius = math.hypot(d[k - 1], d[k])
        c, s = d[k - 1] / radius, d[k] / radius
        d[k - 1], d[k] = radius, 0.0
        for j in range(n):
            first, second = J[k - 1, j], J[k, j]
            J[k - 1, j] = c * first + s * second
            J[k, j] = c * second - s * first
    for i in range(q + 1):
        R[q, i] = d[i]
    work.count[0] = q + 1


@inlined
def let_go(work: ActiveSet, leaving: Int, n: Int) -> None:
    """Remove a constraint from the active set, and make R triangular again."""
    q, J, R = work.count[0] - 1, work.base, work.triangle
    work.side[work.active[leaving]] = 0
    for k in range(leaving, q):
        work.active[k], work.multiplier[k] = work.active[k + 1], work.multiplier[k + 1]
        for i in range(k + 2):
            R[k, i] = R[k + 1, i]
    work.count[0] = q
    for k in range(leaving, q):
        a, b = R[k, k], R[k, k + 1]
        if abs(b) < NOTHING:
            continue
        radius = math.hypot(a, b)
        c, s = a / radius, b / radius
        for column in range(k, q):
            first, second = R[column, k], R[column, k + 1]
            R[column, k] = c * first + s * second
            R[column, k + 1] = c * second - s * first
        for j in range(n):
            first, second = J[k, j], J[k + 1, j]
            J[k, j] = c * first + s * second
            J[k + 1, j] = c * second - s * first
