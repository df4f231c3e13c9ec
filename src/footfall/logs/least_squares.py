"""What the estimate of a log computes in every sample, compiled: least squares of forces that press, Kalman's steps."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from footfall.compiled import kernel
from footfall.kinds import Int, Ints, Matrix, Vector, zeros
from footfall.solve.dense import cholesky, cholesky_solve, dot

#: Rounds a column that a solution may take, and the least gain of a column beside the largest, which rounding has.
ROUNDS, GAIN = 3, 1e-10


class Pressing(NamedTuple):
    """min |A x - b|^2 + |d x|^2 with x >= 0: x, which is also where the next solution begins, and space."""

    x: Annotated[Vector, "n"]
    squares: Annotated[Matrix, "n", "n"]  # A'A + d^2
    right: Annotated[Vector, "n"]  # A'b
    active: Annotated[Ints, "n"]  # columns with x > 0, the first of them
    part: Annotated[Matrix, "n", "n"]
    factor: Annotated[Matrix, "n", "n"]
    found: Annotated[Vector, "n"]


def pressing(n: int) -> Pressing:
    """Space for ``n`` unknowns that are not negative."""
    return zeros(Pressing, {"n": n})


@kernel
def press(work: Pressing) -> Int:
    """Solve for ``work.x`` from where it is (Lawson and Hanson 1974); the number of active columns.

    Their squares are left factored in ``work.factor``.
    """
    n, count = work.right.size, 0
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(work.right[i]))
        if work.x[i] > 0.0:
            work.active[count] = i
            count += 1
    for _ in range(ROUNDS * n):
        while True:  # to the least squares of the active columns, dropping those that would pull
            for a in range(count):
                for b in range(a + 1):
                    work.part[a, b] = work.squares[work.active[a], work.active[b]]
                work.found[a] = work.right[work.active[a]]
            cholesky(work.part, count, 0.0, work.factor)
            cholesky_solve(work.factor, count, work.found)
            way = 1.0
            for a in range(count):
                if work.found[a] <= 0.0:
                    old = work.x[work.active[a]]
                    way = min(way, old / max(old - work.found[a], 1e-300))
            kept = 0
            for a in range(count):
                i = work.active[a]
                left = work.x[i] + way * (work.found[a] - work.x[i])
                work.x[i] = left
                if left > 0.0 and (way == 1.0 or work.found[a] > 0.0 or left > 1e-14):
                    work.active[kept] = i
                    kept += 1
                else:
                    work.x[i] = 0.0
            if kept == count:
                break
            count = kept
        best, most = -1, GAIN * largest
        for i in range(n):
            if work.x[i] == 0.0:
                gain = work.right[i]
                for a in range(count):
                    gain -= work.squares[i, work.active[a]] * work.x[work.active[a]]
                if gain > most:
                    best, most = i, gain
        if best < 0:
            break
        work.active[count] = best
        count += 1
    return count


@kernel
def spread(work: Pressing, count: Int, ways: Matrix, foot: Ints, variance: Matrix) -> None:
    """Add to ``variance`` (F, 3) that of feet's forces, sums of x times ``ways`` (n, 3), for rows of unit noise."""
    for f in range(variance.shape[0]):
        for axis in range(3):
            for a in range(count):
                i = work.active[a]
                value = ways[i, axis] if foot[i] == f else 0.0
                for k in range(a):
                    value -= work.factor[a, k] * work.found[k]
                work.found[a] = value * work.factor[a, a]
            variance[f, axis] = dot(work.found, work.found, count)


@kernel
def advance(covariance: Matrix, ahead: Matrix, noise: Vector, half: Matrix) -> None:
    """Make ``covariance`` that of a step later: A P A' + noise."""
    n = noise.size
    for i in range(n):
        for j in range(n):
            half[i, j] = dot(ahead[i], covariance[j], n)
    for i in range(n):
        for j in range(i + 1):
            covariance[i, j] = dot(half[i], ahead[j], n)
            covariance[j, i] = covariance[i, j]
        covariance[i, i] += noise[i]


@kernel
def correct(covariance: Matrix, rows: Matrix, missed: Vector, noise: Vector, error: Vector, gain: Vector) -> None:
    """Let measured numbers, ``rows`` (m, n) times the state but for ``missed``, correct ``error`` (n,) and
    covariance, one after the other; each has its own noise (m,), squared.
    """
    n = error.size
    for m in range(missed.size):
        for i in range(n):
            gain[i] = dot(covariance[i], rows[m], n)
        size = dot(rows[m], gain, n) + noise[m]
        share = (missed[m] - dot(rows[m], error, n)) / size
        for i in range(n):
            error[i] += share * gain[i]
            for j in range(n):
                covariance[i, j] -= gain[i] * gain[j] / size
