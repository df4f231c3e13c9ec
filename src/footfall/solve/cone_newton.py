"""Semismooth Newton on the exact Coulomb cone, from the solution on a pyramid.

With ``a = z - r (u - target n)`` and a positive r for each point, impulses z solve the contact problem exactly where

    z_n = max(0, a_n)        z_t = a_t, shrunk to the length mu max(0, a_n) if it is longer

(Alart and Curnier 1991). Newton's steps are damped as in :mod:`footfall.solve.fischer_burmeister`, so that a singular
Delassus matrix does no harm. From the impulses of a similar problem they take few steps; from anywhere they may lead
astray, but hardly ever from the solution with a few facets, which Lemke finds.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.solve.contacts import coulomb
from footfall.solve.dense import copy
from footfall.solve.fischer_burmeister import HALVINGS, SHARE, STEPS, damped_step, largest
from footfall.solve.pyramid import pyramid_floats, pyramid_marks, solve_pyramid

#: Directions of friction of the pyramids, each tried if the one before was too rough.
FACETS = (5, 8, 12)
#: Steps in which impulses to begin with must lead to a solution, or they are no good.
NEAR = 10
#: Largest miss of the equations, of the largest impulse that would stop a point alone, that is aimed at and accepted.
TOLERANCE, ACCEPTED = 1e-13, 1e-10


def cone_floats(points: int) -> int:
    """Floats of scratch space that :func:`solve_cone` needs."""
    return max(newton_floats(points), pyramid_floats(points, FACETS[-1]))


def newton_floats(points: int) -> int:
    """Floats of scratch space that :func:`newton_alone` needs."""
    n = 3 * points
    return n * (2 * n + 7)


def cone_marks(points: int) -> int:
    """Integers of scratch space that :func:`solve_cone` needs."""
    return pyramid_marks(points, FACETS[-1])


@inlined
def shifted(p, r, size, target, z, u):
    """The vector a of a point."""
    return z[3 * p] - r * u[3 * p], z[3 * p + 1] - r * u[3 * p + 1], z[3 * p + 2] - r * (u[3 * p + 2] - target / size)


@inlined
def projected(p, r, mu, size, target, z, u):
    """The right-hand sides of a point's equations."""
    x, y, normal = shifted(p, r, size, target, z, u)
    normal = max(0.0, normal)
    x, y, _ = coulomb(x, y, mu * normal)
    return x, y, normal


@kernel
def values(w, free, target, friction, ease, size, z, u, phi):
    """Write u and the miss of the equations at z, all over ``size``; gives half its square."""
    n = z.size
    merit = 0.0
    for i in range(n):
        value = free[i // 3, i % 3] / size
        for j in range(n):
            value += w[i, j] * z[j]
        u[i] = value
    for p in range(friction.size):
        x, y, normal = projected(p, ease[p], friction[p], size, target[p], z, u)
        phi[3 * p], phi[3 * p + 1], phi[3 * p + 2] = z[3 * p] - x, z[3 * p + 1] - y, z[3 * p + 2] - normal
        for k in range(3):
            merit += 0.5 * phi[3 * p + k] ** 2
    return merit


@kernel
def derivative(w, target, friction, ease, size, z, u, h):
    n = z.size
    for p in range(friction.size):
        r, mu = ease[p], friction[p]
        x, y, normal = shifted(p, r, size, target[p], z, u)
        length = (x * x + y * y) ** 0.5
        pressed = normal > 0.0
        limit = mu * normal if pressed else 0.0
        slides = length > limit
        tx, ty = (x / length, y / length) if slides else (0.0, 0.0)
        shrink = limit / length if slides else 1.0
        for j in range(n):
            own_x = 1.0 if j == 3 * p else 0.0
            own_y = 1.0 if j == 3 * p + 1 else 0.0
            own_z = 1.0 if j == 3 * p + 2 else 0.0
            by_x, by_y, by_z = own_x - r * w[3 * p, j], own_y - r * w[3 * p + 1, j], own_z - r * w[3 * p + 2, j]
            if not pressed:
                by_z = 0.0
            along = tx * by_x + ty * by_y
            h[3 * p, j] = own_x - shrink * (by_x - tx * along)
            h[3 * p + 1, j] = own_y - shrink * (by_y - ty * along)
            if slides:
                h[3 * p, j] -= mu * tx * by_z
                h[3 * p + 1, j] -= mu * ty * by_z
            h[3 * p + 2, j] = own_z - by_z


@kernel
def cone_newton(w, free, target, friction, impulse, tolerance, limit, work):
    """Improve impulses (P, 3) in place, in ``limit`` steps: whether they solve the problem, and the steps taken.

    ``work`` is flat, with ``n (2 n + 7)`` floats for n = 3P.
    """
    points = friction.size
    n = 3 * points
    rows = work[: n * (2 * n + 7)].reshape((2 * n + 7, n))
    h, gram, vectors = rows[:n], rows[n : 2 * n], rows[2 * n :]
    z, u, phi, gradient, step, trial, ease = (
        vectors[0],
        vectors[1],
        vectors[2],
        vectors[3],
        vectors[4],
        vectors[5],
        vectors[6],
    )
    size = 1e-300
    for p in range(points):
        diagonal = w[3 * p, 3 * p] + w[3 * p + 1, 3 * p + 1] + w[3 * p + 2, 3 * p + 2]
        ease[p] = 3.0 / diagonal if diagonal > 0.0 else 1.0
        for k in range(3):
            size = max(size, ease[p] * abs(free[p, k]), ease[p] * abs(target[p]))
    for p in range(points):
        for k in range(3):
            z[3 * p + k] = impulse[p, k] / size
    merit = values(w, free, target, friction, ease, size, z, u, phi)
    error, steps = largest(phi), 0
    while error > tolerance and steps < limit:
        derivative(w, target, friction, ease, size, z, u, h)
        slope = damped_step(h, phi, merit, gram, gradient, step)
        length, new = 1.0, merit
        for _ in range(HALVINGS):
            for i in range(n):
                trial[i] = z[i] + length * step[i]
            new = values(w, free, target, friction, ease, size, trial, u, phi)
            if new <= merit + SHARE * length * slope:
                break
            length *= 0.5
        if not new < merit:
            break
        copy(z, trial)
        merit, error = new, largest(phi)
        steps += 1
    # The right-hand sides, which lie in the cone, on it or at its tip without a rounding error.
    values(w, free, target, friction, ease, size, z, u, phi)
    for p in range(points):
        x, y, normal = projected(p, ease[p], friction[p], size, target[p], z, u)
        impulse[p, 0], impulse[p, 1], impulse[p, 2] = size * x, size * y, size * normal
    return error <= max(tolerance, ACCEPTED), steps


@kernel
def solve_cone(w, free, target, friction, impulse, work, marks):
    """Make impulses (P, 3) solve a contact problem, from what they are: whether they do, and the steps and pivots.

    ``w`` (3P, 3P), ``free`` (P, 3), ``target`` and ``friction`` (P,); ``work`` is flat, with ``cone_floats`` numbers,
    ``marks`` has ``cone_marks``.
    """
    found, iterations = cone_newton(w, free, target, friction, impulse, TOLERANCE, NEAR, work)
    if found:
        return True, iterations
    for facets in FACETS:
        _, pivots = solve_pyramid(w, free, target, friction, facets, impulse, work, marks)
        found, steps = cone_newton(w, free, target, friction, impulse, TOLERANCE, STEPS, work)
        iterations += pivots + steps
        if found:
            return True, iterations
    return False, iterations


@kernel
def newton_alone(w, free, target, friction, impulse, work, marks):
    """The same without pyramids to begin with: little code and space, for GPUs. It fails more often."""
    return cone_newton(w, free, target, friction, impulse, TOLERANCE, STEPS, work)
