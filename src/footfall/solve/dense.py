"""Small dense algebra: Cholesky, with and without pivoting, minimum-norm solutions, and Gaussian elimination."""

from __future__ import annotations

import math
from typing import Any

from footfall.compiled import inlined, kernel
from footfall.kinds import Bool, Float, Int, Matrix, Vector

#: Relative rounding error of a pivot, some fifty times that of one operation; a small earlier pivot amplifies it.
ROUNDING = 1e-14


@inlined
def copy(target: Vector, source: Any) -> None:
    """Copy the elements of one vector to another; slices would allocate."""
    for i in range(source.size):
        target[i] = source[i]


@inlined
def dot(x: Vector, y: Vector, n: Int) -> Float:
    """The scalar product of the first ``n`` numbers."""
    value = 0.0
    for i in range(n):
        value += x[i] * y[i]
    return value


@inlined
def cholesky(a: Matrix, n: Int, tolerance: Float, factor: Matrix) -> Bool:
    """Lower factor of the leading n x n of ``a``, given by its lower triangle; its diagonal holds *inverse* entries.

    False if a pivot is not above ``tolerance`` times the largest diagonal entry.
    """
    largest = 0.0
    for i in range(n):
        largest = max(largest, a[i, i])
    floor = tolerance * largest
    for j in range(n):
        pivot = a[j, j]
        for k in range(j):
            pivot -= factor[j, k] * factor[j, k]
        if not pivot > floor:
            return False
        inverse = 1.0 / math.sqrt(pivot)
        factor[j, j] = inverse
        for i in range(j + 1, n):
            value = a[i, j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            factor[i, j] = value * inverse
    return True


@inlined
def pivots_are_certain(a: Matrix, n: Int, factor: Matrix) -> Bool:
    """Whether every pivot of a factor from :func:`cholesky` exceeds its rounding error, which is inversely proportional
    to the smallest pivot before it.
    """
    largest = 0.0
    for i in range(n):
        largest = max(largest, a[i, i])
    least = largest
    for j in range(n):
        pivot = 1.0 / (factor[j, j] * factor[j, j])
        if not pivot * least > ROUNDING * largest * largest:
            return False
        least = min(least, pivot)
    return True


@inlined
def cholesky_solve(factor: Matrix, n: Int, x: Vector) -> None:
    """Solve in place with a factor from :func:`cholesky`."""
    for i in range(n):
        value = x[i]
        for k in range(i):
            value -= factor[i, k] * x[k]
        x[i] = value * factor[i, i]
    for i in range(n - 1, -1, -1):
        value = x[i]
        for k in range(i + 1, n):
            value -= factor[k, i] * x[k]
        x[i] = value * factor[i, i]


@kernel
def pivoted_cholesky(a: Matrix, n: Int, tolerance: Float, factor: Matrix) -> Int:
    """Columns C with a = C C^T for the leading n x n of a semi-definite ``a``, given by its lower triangle; destroys
    ``a`` and returns the rank.
    """
    for i in range(n):
        for j in range(i):
            a[j, i] = a[i, j]
    largest = 0.0
    for i in range(n):
        largest = max(largest, a[i, i])
    rank = 0
    for column in range(n):
        best, pivot = -1, tolerance * largest
        for i in range(n):
            if a[i, i] > pivot:
                best, pivot = i, a[i, i]
        if best < 0:
            break
        scale = 1.0 / math.sqrt(pivot)
        row = a[best]
        for i in range(n):
            row[i] *= scale
            factor[i, column] = row[i]
        for i in range(n):
            if i != best:
                line, share = a[i], row[i]
                for j in range(n):
                    line[j] -= share * row[j]
        # A remainder that is only rounding must not become a pivot.
        for i in range(n):
            a[i, best] = 0.0
            a[best, i] = 0.0
        rank += 1
    return rank


@kernel
def minimum_norm_solve(
    a: Matrix, n: Int, tolerance: Float, x: Vector, factor: Matrix, gram: Matrix, half: Vector
) -> Int:
    """Replace x by pinv(a) x for the leading n x n of a semi-definite ``a``, given by its lower triangle; destroys
    ``a`` and returns the rank.

    ``factor``, ``gram`` (n, n) and ``half`` (n,) are scratch. A regular matrix costs one Cholesky; a singular
    one, a = C C^T with C of full column rank, has pinv(a) = C (C^T C)^-2 C^T.
    """
    if cholesky(a, n, tolerance, factor) and pivots_are_certain(a, n, factor):
        cholesky_solve(factor, n, x)
        return n
    rank = pivoted_cholesky(a, n, tolerance, factor)
    for i in range(rank):
        half[i] = 0.0
        for j in range(rank):
            gram[i, j] = 0.0
    for k in range(n):  # row by row of C, as it lies in memory
        for i in range(rank):
            half[i] += factor[k, i] * x[k]
            for j in range(rank):
                gram[i, j] += factor[k, i] * factor[k, j]
    cholesky(gram, rank, 0.0, a)
    cholesky_solve(a, rank, half)
    cholesky_solve(a, rank, half)
    for i in range(n):
        value = 0.0
        for k in range(rank):
            value += factor[i, k] * half[k]
        x[i] = value
    return rank


@kernel
def eliminate(a: Matrix, n: Int, tolerance: Float, x: Vector) -> Bool:
    """Replace x by the solution of ``a x' = x`` for the leading n x n of ``a``, by Gaussian elimination with row
    pivots; destroys ``a``. False, with x destroyed, where a pivot is below ``tolerance`` times the largest element.
    """
    floor = 0.0
    if tolerance > 0.0:
        for i in range(n):
            for j in range(n):
                floor = max(floor, abs(a[i, j]))
        floor *= tolerance
    for k in range(n):
        best, pivot = k, abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > pivot:
                best, pivot = i, abs(a[i, k])
        if not pivot > floor:
            return False
        if best != k:
            line, other = a[k, k:n], a[best, k:n]
            for j in range(n - k):
                line[j], other[j] = other[j], line[j]
            x[k], x[best] = x[best], x[k]
        inverse, rest = 1.0 / a[k, k], n - k - 1
        top = a[k, k + 1 : n]  # rows as slices that start at zero: only then are loops over them vectorised
        for i in range(k + 1, n - 1, 2):  # two rows at once: the third is read once
            share, further = a[i, k] * inverse, a[i + 1, k] * inverse
            if share == 0.0 and further == 0.0:
                continue
            line, other = a[i, k + 1 : n], a[i + 1, k + 1 : n]
            for j in range(rest):
                value = top[j]
                line[j] -= share * value
                other[j] -= further * value
            x[i] -= share * x[k]
            x[i + 1] -= further * x[k]
        if rest % 2 == 1:
            share, line = a[n - 1, k] * inverse, a[n - 1, k + 1 : n]
            for j in range(rest):
                line[j] -= share * top[j]
            x[n - 1] -= share * x[k]
    for i in range(n - 1, -1, -1):
        value = x[i]
        for j in range(i + 1, n):
            value -= a[i, j] * x[j]
        x[i] = value / a[i, i]
    return True
