"""Contact problems with Coulomb's exact cone on NumPy arrays: a Delassus matrix in, impulses out.

With P points, W (3P, 3P) turns impulses into velocities, ``u = free + W z``, in contact frames (tangent, tangent,
normal). Wanted are impulses with ``0 <= u_n - target _|_ z_n >= 0``, ``|z_t| <= mu z_n``, and where a point slides
friction on the cone and against ``u_t``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.compiled import ByReference, kernel
from footfall.errors import SolveError
from footfall.solve.contact_guess import MEMORY_SIZE, TOLERANCE, guess
from footfall.solve.contact_problem import contact_scratch, solve_from_guess
from footfall.solve.contact_search import move, read_kinds
from footfall.solve.contacts import Contacts
from footfall.solve.effort import UNBOUNDED
from footfall.solve.exact_cone import cone_floats, cone_integers, solve_cone
from footfall.solve.lcp import lemke
from footfall.solve.many_points import MANY, solve_many, sweep_to
from footfall.solve.problem import Dense, begin_problem
from footfall.solve.pyramid import friction_lcp, impulses, unknowns
from footfall.solve.solution import STATUSES, Solution, as_count, as_floats, as_square

#: Largest asymmetry of a matrix, relative to its largest number.
SYMMETRY = 1e-8
#: Largest residual of a guess, relative to the largest impulse.
EXACT = 1e-10


class ContactProblem(NamedTuple):
    """A contact problem whose numbers have been checked."""

    W: np.ndarray  # (3P, 3P)
    free: np.ndarray  # (P, 3)
    friction: np.ndarray  # (P,)
    target: np.ndarray  # (P,)
    start: np.ndarray  # (P, 3)


def problem(
    W: Any, free: ArrayLike, friction: ArrayLike, target: ArrayLike = 0.0, start: ArrayLike | None = None
) -> ContactProblem:
    """The arrays of a contact problem in the right shapes, or an error that says what is wrong with them.

    W may be one of SciPy's sparse matrices.
    """
    matrix = as_square(W.toarray() if hasattr(W, "toarray") else W, "W")
    points, rest = divmod(len(matrix), 3)
    if rest:
        raise SolveError(f"W must have three rows per point, but has {len(matrix)} rows")
    largest = np.abs(matrix).max(initial=0.0)
    skew = np.abs(matrix - matrix.T).max(initial=0.0)
    if skew > SYMMETRY * largest:
        raise SolveError(
            f"W must be symmetric, a Delassus matrix J inv(M) J^T, to {SYMMETRY:g} of its largest number, but W - W^T "
            f"reaches {skew / largest:.1e} of it; if that is the rounding of a file, give (W + W.T) / 2"
        )
    if (np.diag(matrix) < 0.0).any():
        raise SolveError("W must be semi-definite, but has a negative number on its diagonal")
    velocity = as_floats(np.reshape(free, -1) if np.size(free) == 3 * points else free, "free", (3 * points,))
    mu = as_floats(np.broadcast_to(friction, points) if np.ndim(friction) == 0 else friction, "friction", (points,))
    if (mu < 0.0).any():
        raise SolveError(f"friction must be >= 0, but friction[{int(np.argmin(mu))}] is {mu.min()}")
    least = as_floats(np.broadcast_to(target, points) if np.ndim(target) == 0 else target, "target", (points,))
    impulse = np.zeros((points, 3)) if start is None else as_floats(start, "start", (points, 3))
    return ContactProblem(matrix, velocity.reshape(points, 3), mu, least, impulse)


def _contacts(given: ContactProblem) -> ByReference:
    """The same problem as laws see it: every point on its own body, whose mobility is made of its three rows of W."""
    count = len(given.friction)
    mobility = np.zeros((count, 6, count, 6))
    mobility[:, :3, :, :3] = given.W.reshape(count, 3, count, 3)
    numbers = np.arange(count + 1)
    nothing = np.zeros((count, 3))
    seen = Contacts(
        number=np.array([count, 0]),
        points=numbers[:-1].copy(),
        body=numbers[:-1].copy(),
        near=numbers,
        position=nothing,
        anchor=nothing,
        gap=np.zeros(count),
        frame=np.tile(np.eye(3), (count, 1, 1)),
        velocity=nothing,
        acceleration=nothing,
        bias=nothing,
        arm=nothing,
        mobility=mobility.reshape(6 * count, 6 * count),
        static_friction=given.friction,
        dynamic_friction=given.friction,
        effort=np.full(1, UNBOUNDED),
    )
    return ByReference(seen)


@public
def cone_residual(
    W: Any, free: ArrayLike, friction: ArrayLike, impulse: ArrayLike, *, target: ArrayLike = 0.0
) -> float:
    """The residual of impulses (P, 3), in their unit.

    With ``v = u - target + mu |u_t| n`` a solution obeys ``z = proj(z - v / w)`` on the cone ``|z_t| <= mu z_n``
    whatever the positive w (De Saxce and Feng 1998); w is the mean diagonal of the point's block of W. The residual is
    the largest distance between the two sides.
    """
    return _residual(problem(W, free, friction, target, impulse))


def _residual(given: ContactProblem) -> float:
    z, mu = given.start, given.friction
    v = given.free + (given.W @ z.ravel()).reshape(z.shape)
    v[:, 2] += mu * np.hypot(v[:, 0], v[:, 1]) - given.target
    weight = np.diag(given.W).reshape(z.shape).mean(axis=1, keepdims=True)
    away = z - v / np.where(weight > 0.0, weight, 1.0)
    size, normal = np.hypot(away[:, 0], away[:, 1]), away[:, 2]
    nearest = np.maximum(0.0, (normal + mu * size) / (1.0 + mu**2))
    inside = size <= mu * normal
    below = mu * size <= -normal
    scale = np.where(inside, 1.0, np.where(below, 0.0, mu * nearest / np.where(size > 0.0, size, 1.0)))
    projected = np.column_stack([away[:, :2] * scale[:, None], np.where(inside, normal, np.where(below, 0.0, nearest))])
    return float(np.linalg.norm(z - projected, axis=1).max(initial=0.0))


def _solution(given: ContactProblem, impulse: np.ndarray, status: int, iterations: int) -> Solution:
    velocity = given.free + (given.W @ impulse.ravel()).reshape(impulse.shape)
    return Solution(impulse, velocity, _residual(given._replace(start=impulse)), iterations, STATUSES[status])


@public
def cone_gauss_seidel(
    W: Any,
    free: ArrayLike,
    friction: ArrayLike,
    *,
    target: ArrayLike = 0.0,
    start: ArrayLike | None = None,
    max_sweeps: int = 10_000,
    tolerance: float = TOLERANCE,
) -> Solution:
    """Solve a contact problem by nonsmooth Gauss-Seidel sweeps over the points, accelerated.

    ``W`` (3P, 3P), ``free`` (P, 3), ``friction`` and ``target`` (P,) or one number, ``start`` (P, 3) impulses to begin
    with. It ends when no impulse changes by more than ``tolerance`` times the largest.
    """
    given = problem(W, free, friction, target, start)
    limit = as_count(max_sweeps, "max_sweeps")
    if not 0.0 < tolerance < 1.0:
        raise SolveError(f"tolerance = {tolerance} but it must be between 0 and 1")
    impulse, points = given.start.copy(), len(given.friction)
    if points == 0:
        return _solution(given, impulse, 0, 0)
    change, sweeps = sweep_to(given.W, given.free, given.target, given.friction, impulse, limit, tolerance)
    return _solution(given, impulse, 0 if change <= tolerance else 2, sweeps)


class Points(NamedTuple):
    """What a law is given of its points besides the contacts."""

    memory: np.ndarray
    mode: np.ndarray


@kernel
def _from_guess(contacts, still, given, known, impulse, points, scratch):
    """Impulses (P, 3) by the active-set method that laws use, from ``given.start`` if it is ``known``."""
    problem = begin_problem(contacts, 1.0, still, points.memory, impulse, points.mode, scratch)
    for p in range(given.friction.size):
        problem.target[p] = given.target[p]
        for k in range(3):
            problem.free[p, k] = given.free[p, k]
            impulse[p, k] = given.start[p, k]
    if known:
        move(problem)
        read_kinds(problem)
    else:
        guess(problem)
    for p in range(given.friction.size):
        for k in range(3):
            impulse[p, k] = 0.0
    return solve_from_guess(problem)


@public
def active_set(
    W: Any, free: ArrayLike, friction: ArrayLike, *, target: ArrayLike = 0.0, start: ArrayLike | None = None
) -> Solution:
    """Solve a contact problem by an active-set method: guess which points are open, stick and slide, and correct the
    guess.

    Where there are many solutions, the impulses are those of least norm. The first guess follows from ``start``, or
    from the free motion. Where corrections do not converge, and for more than 40 points, :func:`cone_newton` solves the
    problem, and the impulses are any solution. ``iterations`` counts guesses, steps and pivots. Arguments as in
    :func:`cone_gauss_seidel`.
    """
    given = problem(W, free, friction, target, start)
    impulse, points = np.zeros_like(given.free), len(given.friction)
    if points == 0:
        return _solution(given, impulse, 0, 0)
    if points > MANY:
        return cone_newton(W, free, friction, target=target, start=start)
    law = Points(memory=np.zeros((points, MEMORY_SIZE)), mode=np.zeros(points, dtype=np.int64))
    scratch = ByReference(contact_scratch(points, points))
    still = 1e-12 * max(np.abs(given.free).max(), np.abs(given.target).max())
    unsolved, iterations = _from_guess(_contacts(given), still, given, start is not None, impulse, law, scratch)
    answer = _solution(given, impulse, 0, iterations)
    if unsolved or answer.residual > EXACT * np.abs(impulse).max():  # what a step of a law has no time for
        start = None if unsolved else impulse
        found = cone_newton(W, free, given.friction, target=target, start=start)
        return replace(found, iterations=iterations + found.iterations)
    return answer


@public
def cone_newton(
    W: Any, free: ArrayLike, friction: ArrayLike, *, target: ArrayLike = 0.0, start: ArrayLike | None = None
) -> Solution:
    """Solve a contact problem by semismooth Newton (Alart and Curnier).

    It begins at ``start``, or zero, and where that fails at the solution on a pyramid; for more than 40 points, as in
    stacks and walls, at the result of Gauss-Seidel sweeps. The most reliable of these solvers; ``iterations`` counts
    Newton's steps and Lemke's pivots, or sweeps. Arguments as in :func:`cone_gauss_seidel`.
    """
    given = problem(W, free, friction, target, start)
    return _solution(given, *newton_impulse(given))


def newton_impulse(given: ContactProblem) -> tuple[np.ndarray, int, int]:
    """Impulses (P, 3) by Newton's steps, the number of the status that they end with, and how many they were."""
    points = len(given.friction)
    impulse = given.start.copy()
    if points == 0:
        return impulse, 0, 0
    if points > MANY:
        found, iterations = solve_many(given.W, given.free, given.target, given.friction, impulse)
        return impulse, 0 if found else 2, iterations
    floats, integers = np.zeros(cone_floats(points)), np.zeros(cone_integers(points), dtype=np.int64)
    own = Dense(given.W, given.free, given.target, given.friction, impulse, floats, integers)
    found, iterations, _ = solve_cone(own, True, 0.0, math.inf)
    return impulse, 0 if found else 2, iterations


@public
def polyhedral_lcp(
    W: Any, free: ArrayLike, friction: ArrayLike, *, facets: int = 8, target: ArrayLike = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """The linear complementarity problem (M, q) of a contact problem with ``facets`` directions of friction.

    Unknowns are the P normal impulses, the shares of the directions point by point, and the P slip speeds; see
    :mod:`footfall.solve.pyramid`. Arguments as in :func:`cone_gauss_seidel`.
    """
    given = problem(W, free, friction, target)
    count = as_count(facets, "facets")
    if count < 3:
        raise SolveError(f"facets = {facets} but a cone has at least 3")
    n = unknowns(len(given.friction), count)
    M, q = np.zeros((n, n)), np.zeros(n)
    friction_lcp(given.W, given.free, given.target, given.friction, count, M, q)
    return M, q


@public
def polyhedral(W: Any, free: ArrayLike, friction: ArrayLike, *, facets: int = 8, target: ArrayLike = 0.0) -> Solution:
    """Solve a contact problem on a polyhedral cone by Lemke's method.

    Friction is off by up to ``pi / facets`` in direction and weaker by up to ``1 - cos(pi / facets)``. The residual is
    that of the linear complementarity problem. Arguments as in :func:`cone_gauss_seidel`.
    """
    answer = lemke(*polyhedral_lcp(W, free, friction, facets=facets, target=target))
    given = problem(W, free, friction, target)
    impulse = np.zeros_like(given.free)
    impulses(answer.z, facets, impulse)
    velocity = given.free + (given.W @ impulse.ravel()).reshape(impulse.shape)
    return Solution(impulse, velocity, answer.residual, answer.iterations, answer.status)
