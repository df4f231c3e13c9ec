"""Contact problems with a polyhedral friction cone, as linear complementarity problems.

The cone is replaced by the convex hull of k directions of friction (Stewart and Trinkle 1996; Anitescu and Potra 1997).
With the normal impulses z_n, the shares b of the directions D and the slip speed l of each point

    w_n = (u_n - target)         _|_  z_n
    w_b = D^T u_t + l            _|_  b
    w_l = mu z_n - sum of b      _|_  l

where ``u = free + W (z_n, D b)``. The matrix is copositive, and Lemke's method finds a solution. Friction is right to
within half the angle between two directions, pi / k, and smaller than Coulomb's by up to 1 - cos(pi / k).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from footfall.compiled import inlined, kernel
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Vector
from footfall.solve.lemke_pivoting import lemke_floats, lemke_integers, pivot_limit, pivot_to_solution, tableau


class Dense(NamedTuple):
    """The problem of n points with its explicit Delassus matrix, and scratch to solve it."""

    matrix: Matrix  # (3n, 3n)
    free: Matrix  # (n, 3)
    target: Vector  # (n,)
    friction: Vector  # (n,) coefficients
    impulse: Matrix  # (n, 3) unknown
    rest: Vector  # (floats,) scratch
    integers: Ints  # scratch


def unknowns(points: int, facets: int) -> int:
    """The number of unknowns of the complementarity problem."""
    return points * (facets + 2)


def pyramid_floats(points: int, facets: int) -> int:
    """Floats of scratch space that :func:`solve_pyramid` needs."""
    n = unknowns(points, facets)
    return n * (n + 2) + lemke_floats(n)


def pyramid_integers(points: int, facets: int) -> int:
    """Integers of scratch space that :func:`solve_pyramid` needs."""
    return lemke_integers(unknowns(points, facets))


@inlined
def direction(facet: Int, facets: Int) -> tuple[Float, Float]:
    angle = 2.0 * math.pi * facet / facets
    return math.cos(angle), math.sin(angle)


@kernel
def friction_lcp(w: Matrix, free: Matrix, target: Vector, friction: Vector, facets: Int, m: Matrix, q: Vector) -> None:
    """Write the matrix and vector of the problem: normal impulses first, then shares point by point, then slip speeds.

    ``w`` (3P, 3P), ``free`` (P, 3), ``target`` and ``friction`` (P,).
    """
    points, n = friction.size, q.size
    slip = points * (facets + 1)  # where the slip speeds begin
    for i in range(n):
        for j in range(n):
            m[i, j] = 0.0
    for a in range(points):
        q[a] = free[a, 2] - target[a]
        q[slip + a] = 0.0
        m[slip + a, a] = friction[a]
        for i in range(facets):
            c, s = direction(i, facets)
            row = points + a * facets + i
            q[row] = c * free[a, 0] + s * free[a, 1]
            m[row, slip + a], m[slip + a, row] = 1.0, -1.0
            for b in range(points):
                x = c * w[3 * a, 3 * b] + s * w[3 * a + 1, 3 * b]
                y = c * w[3 * a, 3 * b + 1] + s * w[3 * a + 1, 3 * b + 1]
                z = c * w[3 * a, 3 * b + 2] + s * w[3 * a + 1, 3 * b + 2]
                m[row, b], m[b, row] = z, z
                for j in range(facets):
                    cj, sj = direction(j, facets)
                    m[row, points + b * facets + j] = cj * x + sj * y
        for b in range(points):
            m[a, b] = w[3 * a + 2, 3 * b + 2]


@kernel
def impulses(z: Vector, facets: Int, impulse: Matrix) -> None:
    """Write the impulses (P, 3) from the unknowns z of the complementarity problem."""
    points = impulse.shape[0]
    for a in range(points):
        x, y = 0.0, 0.0
        for i in range(facets):
            c, s = direction(i, facets)
            x += c * z[points + a * facets + i]
            y += s * z[points + a * facets + i]
        impulse[a, 0], impulse[a, 1], impulse[a, 2] = x, y, z[a]


@kernel
def solve_pyramid(dense: Dense, facets: Int) -> tuple[Int, Int]:
    """Write the impulses of a contact problem; returns the status of Lemke's method and its pivots.

    ``dense.rest`` has ``pyramid_floats`` numbers, ``dense.integers`` has ``pyramid_integers``.
    """
    floats, n = dense.rest, dense.friction.size * (facets + 2)
    m = floats[: n * n].reshape((n, n))
    q, z = floats[n * n : n * n + n], floats[n * n + n : n * n + 2 * n]
    table = tableau(n, floats[n * n + 2 * n :], dense.integers)
    friction_lcp(dense.matrix, dense.free, dense.target, dense.friction, facets, m, q)
    status, pivots = pivot_to_solution(m, q, z, pivot_limit(n), table)
    impulses(z, facets, dense.impulse)
    return status, pivots


@inlined
def inside_polygon(x: Float, y: Float, limit: Float, facets: Int) -> Bool:
    """Whether friction (x, y) lies in the regular polygon with its ``facets`` corners at the distance ``limit``."""
    sector = 2.0 * math.pi / facets
    edge = (math.floor(math.atan2(y, x) / sector) + 0.5) * sector  # angle of the normal of the nearest edge
    return x * math.cos(edge) + y * math.sin(edge) <= limit * math.cos(0.5 * sector)
