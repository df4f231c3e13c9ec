"""Semismooth Newton on the Fischer-Burmeister equations of a linear complementarity problem.

``phi(z, w) = z + w - sqrt(z^2 + w^2)`` is zero exactly where ``z >= 0, w >= 0, z w = 0`` (Fischer 1992; Bravo 2021, eq.
17-18). Newton's method on ``phi(z_i, (M z + q)_i) = 0`` converges quadratically near a solution, so a warm start pays;
a line search on ``|phi|^2 / 2`` makes it converge from further away. The derivative is singular under a flat foot, so
the steps are Levenberg and Marquardt's, with a damping that vanishes with the residual (Yamashita and Fukushima 2001).
Where that stalls, Lemke's method takes over.
"""

from __future__ import annotations

from typing import NamedTuple

from footfall.compiled import inlined, kernel
from footfall.kinds import Float, Int, Ints, Matrix, Vector
from footfall.solve.dense import cholesky, cholesky_solve, copy
from footfall.solve.lemke_pivoting import SOLVED, Tableau, equilibrate, lemke_integers, pivot_to_solution, tableau

#: Iteration limit of Newton's method, after which Lemke's takes over.
STEPS = 60
#: Largest |phi| of a solution, relative to the largest q.
TOLERANCE = 1e-13
#: Bounds of the damping, which equals the merit ``|phi|^2 / 2`` between them.
LEAST, MOST = 1e-13, 1e-4
#: Share of the predicted decrease that Armijo's rule demands, and most halvings of a step.
SHARE, HALVINGS = 1e-4, 30


class NewtonScratch(NamedTuple):
    """Scratch of :func:`newton_to_solution` for n unknowns."""

    h: Matrix  # (n, n) derivative of phi
    gram: Matrix  # (n, n)
    scale: Vector  # (n,) factors that scale the entries of the matrix to about one
    w: Vector  # (n,)
    phi: Vector  # (n,)
    gradient: Vector  # (n,)
    step: Vector  # (n,)
    trial: Vector  # (n,)
    x: Vector  # (n,) z over its scale
    table: Tableau  # shares the memory of all fields but x


def newton_floats(n: int) -> int:
    """Floats that :func:`newton_scratch` needs for n unknowns."""
    return n * (2 * n + 7)


def newton_integers(n: int) -> int:
    """Integers that :func:`newton_scratch` needs for n unknowns."""
    return lemke_integers(n)


@inlined
def newton_scratch(n: Int, floats: Vector, integers: Ints) -> NewtonScratch:
    """Scratch for n unknowns, as views of ``floats`` and ``integers``."""
    vectors = floats[2 * n * n : n * (2 * n + 7)].reshape((7, n))
    return NewtonScratch(
        floats[: n * n].reshape((n, n)),
        floats[n * n : 2 * n * n].reshape((n, n)),
        vectors[0],
        vectors[1],
        vectors[2],
        vectors[3],
        vectors[4],
        vectors[5],
        vectors[6],
        tableau(n, floats, integers),
    )


@inlined
def fischer_burmeister(z: Float, w: Float) -> Float:
    """``z + w - sqrt(z^2 + w^2)``, written without cancellation: Bravo 2021, (17)."""
    root = (z * z + w * w) ** 0.5
    return 2.0 * z * w / (root + z + w) if z + w > 0.0 else z + w - root  # Bravo 2021, eq. 17


@kernel
def values(m: Matrix, q: Vector, scale: Vector, size: Float, z: Vector, w: Vector, phi: Vector) -> Float:
    """Write w and phi at z, all in equilibrated units; returns the merit ``|phi|^2 / 2``."""
    n = q.size
    merit = 0.0
    for i in range(n):
        value = q[i] / size
        for j in range(n):
            if z[j] != 0.0:
                value += m[i, j] * scale[j] * z[j]
        w[i] = scale[i] * value
        phi[i] = fischer_burmeister(z[i], w[i])
        merit += 0.5 * phi[i] * phi[i]
    return merit


@kernel
def derivative(m: Matrix, scale: Vector, z: Vector, w: Vector, h: Matrix) -> None:
    """Write an element of the generalised derivative of phi; where z and w are both zero, the one along w = z."""
    n = z.size
    for i in range(n):
        root = (z[i] * z[i] + w[i] * w[i]) ** 0.5
        by_z = 1.0 - z[i] / root if root > 0.0 else 1.0 - 0.5**0.5
        by_w = 1.0 - w[i] / root if root > 0.0 else 1.0 - 0.5**0.5
        for j in range(n):
            h[i, j] = by_w * scale[i] * m[i, j] * scale[j]
        h[i, i] += by_z


@kernel
def damped_step(h: Matrix, phi: Vector, merit: Float, gram: Matrix, gradient: Vector, step: Vector) -> Float:
    """Write Levenberg and Marquardt's step, ``-(H^T H + damping)^-1 H^T phi``; returns the slope of the merit along it.

    Destroys H. Where the matrix is not positive definite because of rounding, the step and its slope are zero.
    """
    n = phi.size
    for i in range(n):
        gradient[i] = 0.0
        for j in range(i + 1):
            gram[i, j] = 0.0
    for k in range(n):  # row by row, along memory
        for i in range(n):
            value = h[k, i]
            if value != 0.0:
                gradient[i] += value * phi[k]
                for j in range(i + 1):
                    gram[i, j] += value * h[k, j]
    for i in range(n):
        gram[i, i] += max(LEAST, min(MOST, merit))
        step[i] = -gradient[i]
    possible = cholesky(gram, n, 0.0, h)
    if possible:
        cholesky_solve(h, n, step)
    slope = 0.0
    for i in range(n):
        if not possible:
            step[i] = 0.0
        slope += gradient[i] * step[i]
    return slope


@inlined
def largest(phi: Vector) -> Float:
    error = 0.0
    for i in range(phi.size):
        error = max(error, abs(phi[i]))
    return error


@kernel
def descend(
    m: Matrix, q: Vector, size: Float, tolerance: Float, most: Int, scratch: NewtonScratch
) -> tuple[Int, Float]:
    """Newton's method from ``scratch.x``, in equilibrated units, for at most ``most`` steps or until the merit stops
    falling. Returns the steps taken and the largest |phi|.
    """
    n, scale, z, h, gram = q.size, scratch.scale, scratch.x, scratch.h, scratch.gram
    w, phi, gradient, step, trial = scratch.w, scratch.phi, scratch.gradient, scratch.step, scratch.trial
    merit = values(m, q, scale, size, z, w, phi)
    error = largest(phi)
    for count in range(most):
        if error <= tolerance:
            return count, error
        derivative(m, scale, z, w, h)
        slope = damped_step(h, phi, merit, gram, gradient, step)
        length, new = 1.0, merit
        for _ in range(HALVINGS):
            for i in range(n):
                trial[i] = z[i] + length * step[i]
            new = values(m, q, scale, size, trial, w, phi)
            if new <= merit + SHARE * length * slope:
                break
            length *= 0.5
        if not new < merit:  # the limit of rounding, or a dead end
            return count, error
        copy(z, trial)
        merit, error = new, largest(phi)
    return most, error


@kernel
def newton_to_solution(
    m: Matrix, q: Vector, z: Vector, tolerance: Float, most: Int, limit: Int, scratch: NewtonScratch
) -> tuple[Int, Int, Int]:
    """Replace the start z by a solution; returns the status, the Newton steps, at most ``most``, and Lemke's pivots, at
    most ``limit`` (0 if Newton converged).

    ``scratch`` is a :class:`NewtonScratch`. ``tolerance`` bounds |phi| relative to the largest q, in equilibrated
    units.
    """
    n, scale, x = q.size, scratch.scale, scratch.x
    equilibrate(m, scale)
    size = 0.0
    for i in range(n):
        size = max(size, abs(scale[i] * q[i]))
    if size == 0.0:
        size = 1.0
    for i in range(n):
        x[i] = max(0.0, z[i]) / (scale[i] * size)
    steps, error = descend(m, q, size, tolerance, most, scratch)
    if error <= tolerance:
        for i in range(n):
            z[i] = max(0.0, x[i]) * scale[i] * size
        return SOLVED, steps, 0
    status, pivots = pivot_to_solution(m, q, z, limit, scratch.table)
    if status != SOLVED:  # return Newton's last iterate
        equilibrate(m, scale)
        for i in range(n):
            z[i] = max(0.0, x[i]) * scale[i] * size
    return status, steps, pivots
