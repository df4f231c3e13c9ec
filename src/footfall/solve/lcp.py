"""Linear complementarity problems on NumPy arrays: Lemke's method and Fischer-Burmeister Newton."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.compiled import kernel
from footfall.given_numbers import Accuracy, Count
from footfall.kinds import Float, Int, Ints, Matrix, Vector
from footfall.solve.lemke_pivoting import (
    LIMIT,
    SOLVED,
    lemke_floats,
    lemke_integers,
    pivot_limit,
    pivot_to_solution,
    tableau,
)
from footfall.solve.newton_on_lcp import (
    STEPS,
    TOLERANCE,
    newton_floats,
    newton_integers,
    newton_scratch,
    newton_to_solution,
)
from footfall.solve.solution import STATUSES, Solution, as_floats, as_square

#: Residual of a solution, relative to the largest q, above which the other method refines it.
ROUGH = 1e-11
#: Most pivots per unknown when Lemke's method refines Newton's result; it usually takes about one.
FEW_PIVOTS = 4


@kernel
def _pivot(m: Matrix, q: Vector, z: Vector, limit: Int, floats: Vector, integers: Ints) -> tuple[Int, Int]:
    return pivot_to_solution(m, q, z, limit, tableau(q.size, floats, integers))


@kernel
def _newton(m: Matrix, q: Vector, z: Vector, tolerance: Float, floats: Vector, integers: Ints) -> tuple[Int, Int, Int]:
    scratch = newton_scratch(q.size, floats, integers)
    return newton_to_solution(m, q, z, tolerance, STEPS, pivot_limit(q.size), scratch)


def _problem(M: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
    matrix = as_square(M, "M")
    return matrix, as_floats(q, "q", (len(matrix),))


def _solution(M: np.ndarray, q: np.ndarray, z: np.ndarray, status: int, iterations: int) -> Solution:
    w = M @ z + q
    residual = float(np.abs(np.minimum(z, w)).max(initial=0.0))
    if status == SOLVED and residual > 1e-6 * max(1.0, np.abs(q).max(initial=0.0), np.abs(z).max(initial=0.0)):
        status = LIMIT  # the last basis is so ill-conditioned that rounding spoils it
    return Solution(z, w, residual, iterations, STATUSES[status])


@public
def lemke(M: Any, q: Any, *, max_pivots: Count | None = None) -> Solution:
    """Solve ``w = M z + q``, ``0 <= z _|_ w >= 0`` for an (n, n) matrix by Lemke's method.

    Degenerate and rank-deficient problems are allowed; where the last basis is nearly singular, Newton's steps remove
    the rounding errors. The status tells a path that ends in a ray: a problem with a copositive-plus matrix then has no
    solution; with any other matrix none was found. ``max_pivots`` is ``50 n + 100`` unless given; some problems need
    2^n.

    >>> lemke([[2, 1], [1, 2]], [-5, -6]).z
    array([1.33333333, 2.33333333])
    """
    M, q = _problem(M, q)
    limit = pivot_limit(len(q)) if max_pivots is None else int(max_pivots)
    found = _by_pivots(M, q, limit)
    return _better(found, _by_newton(M, q, found.z.copy(), TOLERANCE)) if _rough(found, q) else found


@public
def fischer_burmeister(M: Any, q: Any, *, start: Any = None, tolerance: Accuracy = TOLERANCE) -> Solution:
    """Solve the same problem by semismooth Newton on Fischer-Burmeister's function, from ``start`` (n,) or zero.

    It converges quadratically near a solution, so the solution of a similar problem is a good warm start. Where it does
    not converge, :func:`lemke` solves the problem; where the residual exceeds rounding and ``tolerance``, Lemke's
    method refines it; ``iterations`` counts the pivots too. ``tolerance`` bounds the residual of the equations,
    relative to the largest q.
    """
    M, q = _problem(M, q)
    n = len(q)
    z = np.zeros(n) if start is None else as_floats(start, "start", (n,))
    found = _by_newton(M, q, z, tolerance)
    return _better(found, _by_pivots(M, q, FEW_PIVOTS * n)) if _rough(found, q, tolerance) else found


def _by_pivots(M: np.ndarray, q: np.ndarray, limit: int) -> Solution:
    n = len(q)
    z, floats, integers = np.zeros(n), np.zeros(lemke_floats(n)), np.zeros(lemke_integers(n), dtype=np.int64)
    status, pivots = _pivot(M, q, z, limit, floats, integers) if n else (SOLVED, 0)
    return _solution(M, q, z, status, pivots)


def _by_newton(M: np.ndarray, q: np.ndarray, z: np.ndarray, tolerance: float) -> Solution:
    """Newton's solution from the start z, which is overwritten."""
    n = len(q)
    floats, integers = np.zeros(newton_floats(n)), np.zeros(newton_integers(n), dtype=np.int64)
    status, steps, pivots = _newton(M, q, z, tolerance, floats, integers) if n else (SOLVED, 0, 0)
    return _solution(M, q, z, status, steps + pivots)


def _rough(found: Solution, q: np.ndarray, tolerance: float = TOLERANCE) -> bool:
    """Whether a solution needs refinement: equations have different units, or the basis is nearly singular."""
    return found.solved and found.residual > max(ROUGH, tolerance) * float(np.abs(q).max(initial=0.0))


def _better(found: Solution, other: Solution) -> Solution:
    best = other if other.solved and other.residual < found.residual else found
    return replace(best, iterations=found.iterations + other.iterations)
