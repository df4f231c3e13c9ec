"""Steps of a Kalman filter, compiled."""

from __future__ import annotations

from footfall.compiled import kernel
from footfall.kinds import Matrix, Vector
from footfall.solve.dense import dot


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
