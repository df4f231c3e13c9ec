"""Contact problems with Coulomb's exact cone on NumPy arrays: a Delassus matrix in, impulses out.

With P points, W (3P, 3P) maps impulses to velocities, ``u = free + W z``, in contact frames (tangent, tangent,
normal). A solution has ``0 <= u_n - target _|_ z_n >= 0`` and ``|z_t| <= mu z_n``; where a point slides, its friction
lies on the cone and opposes ``u_t``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.compiled import ByReference, kernel
from footfall.errors import SolveError
from footfall.given_numbers import Accuracy, Count
from footfall.kinds import Float, Int, Ints, Matrix, Vector, zeros
from footfall.solve.contact_problem import ROUNDING, search
from footfall.solve.contacts import ALL, Contacts
from footfall.solve.gauss_seidel import gauss_seidel
from footfall.solve.lcp import lemke
from footfall.solve.newton import CONTENT, SOLVED, remove_compliance
from footfall.solve.problem import MEMORY_SIZE, ContactScratch, Problem, Size, begin_problem, problem_scratch
from footfall.solve.solution import STATUSES, Solution, as_floats, as_square

#: Largest asymmetry of a matrix, relative to its largest number.
SYMMETRY = 1e-8
#: Most repetitions of Newton: walls of hundreds of contacts need several.
TRIES = 8
#: Eigenvalues of W below this share of the largest are rounding errors.
NO_RANK = 1e-14


class ContactProblem(NamedTuple):
    """A contact problem whose numbers have been checked."""

    W: Matrix  # (3P, 3P)
    free: Matrix  # (P, 3)
    friction: Vector  # (P,)
    target: Vector  # (P,)
    start: Matrix  # (P, 3)


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
    """The problem in the form of laws: each point on its own body, whose columns are its three rows of W = H^T H."""
    count = len(given.friction)
    mobility = np.zeros((count, 6, count, 6))
    mobility[:, :3, :, :3] = given.W.reshape(count, 3, count, 3)
    values, vectors = np.linalg.eigh(given.W)
    felt = values > NO_RANK * max(values.max(initial=0.0), 0.0)
    response = np.zeros((count, max(1, int(np.count_nonzero(felt))), 8))
    motions = (vectors[:, felt] * np.sqrt(values[felt])).reshape(count, 3, -1)
    response[:, : motions.shape[2], :3] = np.swapaxes(motions, 1, 2)
    numbers = np.arange(count + 1)
    nothing = np.zeros((count, 3))
    seen = zeros(
        Contacts,
        {"P": count},
        number=np.array([count, 0, response.shape[1], 0, ALL]),
        points=numbers[:-1].copy(),
        body=numbers[:-1].copy(),
        near=numbers,
        position=nothing,
        anchor=nothing,
        gap=np.zeros(count),
        frame=np.tile(np.eye(3), (count, 1, 1)),
        mobility=mobility.reshape(6 * count, 6 * count),
        static_friction=given.friction,
        dynamic_friction=given.friction,
        response=response,
        weight=np.ones(response.shape[1]),
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
    max_sweeps: Count = 10_000,
    tolerance: Accuracy = ROUNDING,
) -> Solution:
    """Solve a contact problem by nonsmooth Gauss-Seidel sweeps over the points, accelerated.

    ``W`` (3P, 3P), ``free`` (P, 3), ``friction`` and ``target`` (P,) or one number, ``start`` (P, 3) impulses to begin
    with. It ends when no impulse changes by more than ``tolerance`` times the largest.
    """
    given = problem(W, free, friction, target, start)
    limit = int(max_sweeps)
    impulse = given.start.copy()
    if not len(impulse):
        return _solution(given, impulse, 0, 0)
    change, sweeps = _sweep(*_law_view(given), given, impulse, limit, tolerance)
    return _solution(given, impulse, 0 if change <= tolerance else 2, sweeps)


class Points(NamedTuple):
    """The part of a law's view of its points that :func:`_problem_of` needs besides the contacts."""

    memory: Matrix
    mode: Ints


def _law_view(given: ContactProblem) -> tuple[ByReference, Points, ByReference]:
    """Contacts, points and scratch of a problem, in the form that laws use."""
    contacts, count = _contacts(given), len(given.friction)
    points = Points(np.zeros((count, MEMORY_SIZE)), np.zeros(count, dtype=np.int64))
    size = Size(count, count, contacts.named.response.shape[1])
    return contacts, points, ByReference(ContactScratch(problem_scratch(size)))


@kernel
def _problem_of(
    contacts: Contacts, points: Points, scratch: ContactScratch, given: ContactProblem, impulse: Matrix
) -> Problem:
    """The problem of a law; ``impulse`` (P, 3) holds the start and receives the solution."""
    problem = begin_problem(contacts, 1.0, 0.0, points.memory, impulse, points.mode, scratch)
    for p in range(given.friction.size):
        problem.target[p] = given.target[p]
        for k in range(3):
            problem.free[p, k] = given.free[p, k]
    return problem


@kernel
def _sweep(
    contacts: Contacts,
    points: Points,
    scratch: ContactScratch,
    given: ContactProblem,
    impulse: Matrix,
    sweeps: Int,
    tolerance: Float,
) -> tuple[Float, Int]:
    return gauss_seidel(_problem_of(contacts, points, scratch, given, impulse), sweeps, tolerance)


@kernel
def _search(contacts: Contacts, points: Points, scratch: ContactScratch, given: ContactProblem, impulse: Matrix) -> Int:
    problem = _problem_of(contacts, points, scratch, given, impulse)
    _, iterations, _ = search(problem)
    remove_compliance(problem)
    return iterations


@public
def cone_newton(
    W: Any, free: ArrayLike, friction: ArrayLike, *, target: ArrayLike = 0.0, start: ArrayLike | None = None
) -> Solution:
    """Solve a contact problem as laws do: by Newton's method (Alart and Curnier) with proximal softening, from
    ``start`` or zero, in turn with Gauss-Seidel where it does not converge.

    Where there are many solutions, the impulses are those of least norm, to five digits. ``iterations`` counts Newton's
    steps and sweeps. Arguments as in :func:`cone_gauss_seidel`.
    """
    given = problem(W, free, friction, target, start)
    return _solution(given, *newton_impulse(given))


def newton_impulse(given: ContactProblem) -> tuple[np.ndarray, int, int]:
    """Impulses (P, 3) by Newton's method, the status (an index of ``STATUSES``), and the number of iterations."""
    impulse, iterations = given.start.copy(), 0
    if not len(impulse):
        return impulse, 0, 0
    seen = _law_view(given)
    for _ in range(TRIES):
        if _miss(given, impulse) <= CONTENT:
            break
        iterations += _search(*seen, given, impulse)
    return impulse, 0 if _miss(given, impulse) <= SOLVED else 2, iterations


def _miss(given: ContactProblem, impulse: np.ndarray) -> float:
    """The residual of impulses, relative to the largest impulse that would stop one point alone."""
    weight = np.diag(given.W).reshape(impulse.shape).mean(axis=1)
    free = np.maximum(np.abs(given.free).max(axis=1), np.abs(given.target))
    size = (free / np.where(weight > 0.0, weight, 1.0)).max(initial=1e-300)
    return _residual(given._replace(start=impulse)) / float(size)


@public
def polyhedral_lcp(
    W: Any, free: ArrayLike, friction: ArrayLike, *, facets: Count = 8, target: ArrayLike = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """The linear complementarity problem (M, q) of a contact problem with ``facets`` directions of friction.

    The cone is replaced by the convex hull of these directions (Stewart and Trinkle 1996; Anitescu and Potra 1997).
    With the normal impulses z_n, the shares b of the directions D and the slip speed l of each point

        w_n = (u_n - target)         _|_  z_n
        w_b = D^T u_t + l            _|_  b
        w_l = mu z_n - sum of b      _|_  l

    where ``u = free + W (z_n, D b)``. Unknowns are the P normal impulses, the shares point by point, and the P slip
    speeds. The matrix is copositive, and Lemke's method finds a solution. Arguments as in :func:`cone_gauss_seidel`.
    """
    given = problem(W, free, friction, target)
    rows = _facet_rows(len(given.friction), int(facets))
    points, n = len(given.friction), len(rows)
    M, q = np.zeros((n + points, n + points)), np.zeros(n + points)
    M[:n, :n], q[:n] = rows @ given.W @ rows.T, rows @ given.free.ravel()
    q[:points] -= given.target
    slip = np.repeat(np.eye(points), int(facets), axis=0)
    M[points:n, n:], M[n:, points:n], M[n:, :points] = slip, -slip.T, np.diag(given.friction)
    return M, q


def _facet_rows(points: int, facets: int) -> np.ndarray:
    """(P + P facets, 3P) normals of all points, then directions of friction point by point."""
    if facets < 3:
        raise SolveError(f"facets = {facets} but a cone has at least 3")
    angle = 2.0 * np.pi * np.arange(facets) / facets
    around = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(facets)])
    return np.concatenate([np.eye(3 * points)[2::3], np.kron(np.eye(points), around)])


@public
def polyhedral(W: Any, free: ArrayLike, friction: ArrayLike, *, facets: Count = 8, target: ArrayLike = 0.0) -> Solution:
    """Solve a contact problem on a polyhedral cone by Lemke's method.

    Friction is off by up to ``pi / facets`` in direction and weaker by up to ``1 - cos(pi / facets)``. The residual is
    that of the linear complementarity problem. Arguments as in :func:`cone_gauss_seidel`.
    """
    answer = lemke(*polyhedral_lcp(W, free, friction, facets=facets, target=target))
    given = problem(W, free, friction, target)
    rows = _facet_rows(len(given.friction), int(facets))
    impulse = (answer.z[: len(rows)] @ rows).reshape(given.free.shape)
    velocity = given.free + (given.W @ impulse.ravel()).reshape(impulse.shape)
    return Solution(impulse, velocity, answer.residual, answer.iterations, answer.status)
