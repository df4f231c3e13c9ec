"""Linear complementarity problems on NumPy arrays: Lemke's method and Fischer-Burmeister Newton."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.given_numbers import Accuracy, Count
from footfall.solve.solution import Solution, Status, as_floats, as_square

#: Entries of the entering column below this share of its largest are rounding errors, and no pivots.
PIVOT = 1e-10
#: Relative difference below which two ratios are equal.
TIE = 1e-11
#: Diagonal entries of M below this share of the largest count as zero.
ZERO = 1e-12
#: Iteration limit of Newton's method, and the largest residual of its solution relative to the largest q.
STEPS, TOLERANCE = 60, 1e-13
#: Bounds of the damping of a Newton step, which equals the merit ``|phi|^2 / 2`` between them.
LEAST, MOST = 1e-13, 1e-4
#: Share of the predicted decrease that Armijo's rule demands, and most halvings of a step.
SHARE, HALVINGS = 1e-4, 30


def _problem(M: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
    matrix = as_square(M, "M")
    return matrix, as_floats(q, "q", (len(matrix),))


def _solution(M: np.ndarray, q: np.ndarray, z: np.ndarray, status: Status, iterations: int) -> Solution:
    w = M @ z + q
    residual = float(np.abs(np.minimum(z, w)).max(initial=0.0))
    if status is Status.SOLVED and residual > 1e-6 * max(1.0, np.abs(q).max(initial=0.0), np.abs(z).max(initial=0.0)):
        status = Status.LIMIT  # the last basis is so ill-conditioned that rounding spoils it
    return Solution(z, w, residual, iterations, status)


def _scales(M: np.ndarray) -> np.ndarray:
    """Positive factors such that ``scale_i M_ij scale_j`` has entries of about one; unknowns are then ``z / scale``."""
    diagonal = np.diag(M)
    good = diagonal > ZERO * diagonal.max(initial=0.0)
    scale = np.where(good, 1.0 / np.sqrt(np.where(good, diagonal, 1.0)), 0.0)
    size = (np.maximum(np.abs(M), np.abs(M.T)) * scale).max(axis=1, initial=0.0)
    return np.where(good, scale, 1.0 / np.where(size > 0.0, size, 1.0))


@public
def lemke(M: Any, q: Any, *, max_pivots: Count | None = None) -> Solution:
    """Solve ``w = M z + q``, ``0 <= z _|_ w >= 0`` for an (n, n) matrix by Lemke's method.

    An artificial unknown z0 makes the start feasible; the complement of the variable that leaves the basis enters,
    until z0 itself leaves (a solution) or none can (a ray). Where several could leave, the lexicographic order of the
    rows of the basis inverse decides, so that no basis occurs twice (Cottle, Pang and Stone 1992, sections 4.4 and
    4.9), and degenerate and rank-deficient problems are solved. If M is copositive-plus, a ray means that there is no
    solution; with any other matrix none was found. ``max_pivots`` is ``50 n + 100`` unless given; some problems need
    2^n.

    >>> lemke([[2, 1], [1, 2]], [-5, -6]).z
    array([1.33333333, 2.33333333])
    """
    M, q = _problem(M, q)
    n, scale, z = len(q), _scales(M), np.zeros(len(q))
    value = scale * q
    size = -value.min(initial=0.0)
    if size == 0.0:
        return _solution(M, q, z, Status.SOLVED, 0)
    # Columns: n unknowns w, n unknowns z, z0, and the values of the basic ones.
    start = np.column_stack([np.eye(n), -scale[:, None] * M * scale, -np.ones(n), value / size])
    table, basic, entering = start.copy(), np.arange(n), 2 * n
    row = n - 1 - int(np.argmin(value[::-1]))  # the last of equals is lexicographically least
    for count in range(1, 1 + (50 * n + 100 if max_pivots is None else int(max_pivots))):
        table[row] /= table[row, entering]
        column = table[:, entering].copy()
        column[row] = 0.0
        table -= column[:, None] * table[row]
        left, basic[row] = int(basic[row]), entering
        if left == 2 * n:
            values = np.linalg.lstsq(start[:, basic], start[:, -1], rcond=None)[0]  # without errors of the pivots
            own = basic >= n
            z[basic[own] - n] = size * scale[basic[own] - n] * np.maximum(values[own], 0.0)
            return _solution(M, q, z, Status.SOLVED, count)
        entering = left + n if left < n else left - n
        row = _leaving_row(table, basic, entering)
        if row < 0:
            return _solution(M, q, z, Status.RAY, count)
    return _solution(M, q, z, Status.LIMIT, count)


def _leaving_row(table: np.ndarray, basic: np.ndarray, entering: int) -> int:
    """The row whose basic unknown must leave when another enters; -1 if none blocks it (a ray)."""
    n, column = len(table), table[:, entering]
    rows = np.flatnonzero(column > PIVOT * max(1.0, np.abs(column).max()))
    for c in (-1, *range(n)):  # values, then the inverse of the basis: the columns of w
        if rows.size < 2:
            break
        ratio = (np.maximum(table[rows, c], 0.0) if c < 0 else table[rows, c]) / column[rows]
        least = ratio.min()
        rows = rows[ratio <= least + TIE * max(1.0, abs(least))]
        if c < 0 and 2 * n in basic[rows]:  # z0 can leave, and that is the end
            return int(rows[basic[rows] == 2 * n][0])
    return int(rows[-1]) if rows.size else -1


@public
def fischer_burmeister(M: Any, q: Any, *, start: Any = None, tolerance: Accuracy = TOLERANCE) -> Solution:
    """Solve the same problem by semismooth Newton on Fischer-Burmeister's function, from ``start`` (n,) or zero.

    ``phi(z, w) = z + w - sqrt(z^2 + w^2)`` is zero exactly where ``z >= 0, w >= 0, z w = 0`` (Fischer 1992). Newton's
    method converges quadratically near a solution, so the solution of a similar problem is a good warm start. Its steps
    are Levenberg and Marquardt's, since the derivative is singular under a flat foot. Where it does not converge,
    :func:`lemke` solves the problem, and ``iterations`` counts the pivots too. ``tolerance`` bounds the residual of the
    equations, relative to the largest q.
    """
    M, q = _problem(M, q)
    n = len(q)
    z = np.zeros(n) if start is None else as_floats(start, "start", (n,))
    scale = _scales(M)
    scaled = scale[:, None] * M * scale
    size = np.abs(scale * q).max(initial=0.0) or 1.0
    x, steps = np.maximum(z, 0.0) / (scale * size), 0
    w, phi = _equations(scaled, scale * q / size, x)
    while np.abs(phi).max(initial=0.0) > tolerance and steps < STEPS:
        following = _newton_step(scaled, scale * q / size, x, w, phi)
        if following is None:
            break
        (x, w, phi), steps = following, steps + 1
    if np.abs(phi).max(initial=0.0) <= tolerance:
        return _solution(M, q, np.maximum(x, 0.0) * scale * size, Status.SOLVED, steps)
    found = lemke(M, q)
    return replace(found, iterations=steps + found.iterations)


def _equations(M: np.ndarray, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w, and phi written without cancellation: Bravo 2021, (17)."""
    w = M @ z + q
    root = np.hypot(z, w)
    return w, np.where(z + w > 0.0, 2.0 * z * w / np.maximum(root + z + w, 1e-300), z + w - root)  # Bravo 2021, eq. 17


def _newton_step(
    M: np.ndarray, q: np.ndarray, z: np.ndarray, w: np.ndarray, phi: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """z, w and phi after a step that lessens the merit; None if none does. Where z and w are both zero, the derivative
    is that along w = z.
    """
    root, merit = np.hypot(z, w), 0.5 * float(phi @ phi)
    by_z, by_w = (1.0 - np.divide(one, root, out=np.full_like(z, 0.5**0.5), where=root > 0.0) for one in (z, w))
    derivative = by_w[:, None] * M + np.diag(by_z)  # Bravo 2021, eq. 18
    gradient = derivative.T @ phi
    damping = max(LEAST, min(MOST, merit)) * np.eye(len(z))
    step = -np.linalg.solve(derivative.T @ derivative + damping, gradient)
    for halving in range(HALVINGS):
        length = 0.5**halving
        trial = z + length * step
        w, phi = _equations(M, q, trial)
        new = 0.5 * float(phi @ phi)
        if new <= merit + SHARE * length * float(gradient @ step):
            return (trial, w, phi) if new < merit else None
    return None
