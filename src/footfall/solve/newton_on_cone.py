"""Semismooth Newton on the exact Coulomb cone, from near and from a softened problem.

With ``a = z - r (u - target n)`` and a positive r for each point, impulses z solve the contact problem exactly where

    z_n = max(0, a_n)        z_t = a_t, shrunk to the length mu max(0, a_n) if it is longer

(Alart and Curnier 1991). The points of a few bodies have a Delassus matrix of low rank, and Newton's steps are taken in
as many unknowns, slightly softened, so that a singular derivative does no harm. Steps are taken whole: a solution often
lies beyond a kink at which the residual is larger, and a search for a lower one along the step ends there. From the
impulses of a similar problem Newton takes few steps; from elsewhere it may cycle, above all under a rigid foot, whose
points constrain each other.

Such a problem is softened: a term ``soft (z - c) / r`` is added to ``u``, with the last impulses for c
(Rockafellar's proximal point method 1976). The next problem, about the solution of the last one, is harder; one that
Newton does not solve is followed by a softer one. They lead to a solution, to rounding or to within a millionth, from
nearly every state of a robot, in ten steps or so; :mod:`footfall.solve.exact_cone` handles the rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from footfall.compiled import inlined, kernel
from footfall.solve.contacts import coulomb
from footfall.solve.dense import eliminate, low_rank
from footfall.solve.effort import affordable, low_rank_cost, trial_cost
from footfall.solve.newton_on_lcp import largest

#: Softness of the first problem about given impulses, and about nearly right ones; the largest, the least.
SOFT, NEARLY, SOFTEST, LEAST = 1e-2, 1e-4, 1.0, 1e-10
#: Factors of the softness after a problem that was solved, and after one that was not; the first from then on.
HARDER, SOFTER, SLOWLY = 0.1, 10.0, 0.2
#: Most steps of one softened problem, and of all, which are no more.
SOFT_STEPS, STEPS = 10, 32
#: Residual at which a softened problem is solved well enough, relative to its softness.
ROUGH = 1e-2
#: The longest step, of the largest impulse that would stop a point alone.
LONGEST = 2.0
#: Steps within which initial impulses must lead to a solution; otherwise it is softened.
NEAR = 4
#: Largest residuals that are aimed at and accepted, relative to the largest impulse that would stop a point alone.
TOLERANCE, ACCEPTED = 1e-13, 1e-10
#: Pivots of W below this, of the largest, are rounding; softness, over r, that steps in few unknowns have at least.
NO_RANK, FLOOR = 1e-13, 1e-8


def newton_floats(points: int) -> int:
    """Floats of scratch space that :func:`cone_newton` and the best impulses need."""
    n = 3 * points
    return n * (2 * n + 12)


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


class Newton(NamedTuple):
    """The state of Newton's method on n points; vectors are divided by ``size``."""

    size: float  # N s, the largest impulse that would stop a point alone
    soft: float
    ease: np.ndarray  # (n,) r of each point
    centre: np.ndarray  # (3n,) about which the problem is softened
    u: np.ndarray  # (3n,) motions
    phi: np.ndarray  # (3n,) the miss of the equations


class ConeScratch(NamedTuple):
    """What :func:`cone_newton` computes in, for n points."""

    best: np.ndarray  # (3n,) impulses that are kept from one call to the next
    factor: np.ndarray  # (3n, 3n) its first columns are those of C with W = C C^T
    gram: np.ndarray  # (3n, 3n)
    z: np.ndarray  # (3n,) impulses over their size
    u: np.ndarray  # (3n,)
    phi: np.ndarray  # (3n,)
    about: np.ndarray  # (3n,)
    step: np.ndarray  # (3n,)
    trial: np.ndarray  # (3n,)
    ease: np.ndarray  # (3n,), first n
    centre: np.ndarray  # (3n,)
    right: np.ndarray  # (3n,)
    x: np.ndarray  # (3n,) impulses inside the cone, which stay while Newton takes steps
    y: np.ndarray  # (3n,) motions there


@inlined
def cone_scratch(dense):
    """The scratch of a dense problem by name."""
    n, rest = 3 * dense.friction.size, dense.rest
    last = n + 2 * n * n
    vectors = rest[last : last + 11 * n].reshape((11, n))
    return ConeScratch(
        rest[:n],
        rest[n : n + n * n].reshape((n, n)),
        rest[n + n * n : last].reshape((n, n)),
        vectors[0],
        vectors[1],
        vectors[2],
        vectors[3],
        vectors[4],
        vectors[5],
        vectors[6],
        vectors[7],
        vectors[8],
        vectors[9],
        vectors[10],
    )


class LowRank(NamedTuple):
    """Space for steps in few unknowns."""

    factor: np.ndarray  # (3n, 3n) the first columns are those of C
    gram: np.ndarray  # (3n, 3n)
    about: np.ndarray  # (3n,)
    where: np.ndarray  # (3n,)
    right: np.ndarray  # (3n,)


@kernel
def miss(dense, newton, z):
    """Write the motions and what z (3n,) misses the equations by; gives the largest part of that."""
    size, soft, ease, u, phi = newton.size, newton.soft, newton.ease, newton.u, newton.phi
    n = z.size
    for i in range(n):
        value = dense.free[i // 3, i % 3] / size + soft / ease[i // 3] * (z[i] - newton.centre[i])
        for j in range(n):
            value += dense.matrix[i, j] * z[j]
        u[i] = value
    for p in range(dense.friction.size):
        x, y, normal = projected(p, ease[p], dense.friction[p], size, dense.target[p], z, u)
        phi[3 * p], phi[3 * p + 1], phi[3 * p + 2] = z[3 * p] - x, z[3 * p + 1] - y, z[3 * p + 2] - normal
    return largest(phi)


@kernel
def low_rank_step(dense, newton, z, rank, space, step):
    """Newton's step in as many unknowns as W = C C^T has columns of C, which are the first of ``space.factor``.

    The derivative is ``B + E' W`` with blocks B and E' of single points, so that with ``y = C^T step`` and ``E = B^-1
    E'`` the step is ``-B^-1 phi - E C y`` where ``(1 + C^T E C) y = -C^T B^-1 phi``. False if there is none.
    """
    factor, gram, about, where = space.factor, space.gram, space.about, space.where
    phi, size, row = newton.phi, newton.size, space.right
    own = 1.0 - newton.soft - FLOOR
    for i in range(rank):
        row[i] = 0.0
        for j in range(rank):
            gram[i, j] = 1.0 if i == j else 0.0
    for p in range(dense.friction.size):
        r, mu, first = newton.ease[p], dense.friction[p], 3 * p
        x, y, normal = shifted(p, r, size, dense.target[p], z, newton.u)
        length, pressed = math.sqrt(x * x + y * y), normal > 0.0
        limit = mu * normal if pressed else 0.0
        slides = length > limit
        tx, ty = (x / length, y / length) if slides else (0.0, 0.0)
        shrink = limit / length if slides else 1.0
        across = 1.0 / (1.0 - own * shrink)  # of B^-1, along the direction of slip it is 1
        down = 1.0 / (1.0 - own) if pressed else 1.0
        lean = mu * (1.0 + own * down) if slides and pressed else 0.0
        fx, fy, fz = phi[first], phi[first + 1], phi[first + 2]
        along = (1.0 - across) * (tx * fx + ty * fy) + (lean - mu if lean > 0.0 else 0.0) * fz
        step[first], step[first + 1] = -across * fx - along * tx, -across * fy - along * ty
        step[first + 2] = -down * fz
        about[first], about[first + 1] = r * shrink * across, r * lean
        about[first + 2] = r * down if pressed else 0.0
        where[first], where[first + 1] = tx, ty
        for j in range(rank):
            gx, gy, gz = factor[first, j], factor[first + 1, j], factor[first + 2, j]
            row[j] += gx * step[first] + gy * step[first + 1] + gz * step[first + 2]
        if not pressed:
            continue
        for i in range(rank):
            gx, gy, gz = factor[first, i], factor[first + 1, i], factor[first + 2, i]
            slip = about[first] * (tx * gx + ty * gy)
            hx, hy = about[first] * gx - slip * tx, about[first] * gy - slip * ty
            hz = about[first + 1] * (tx * gx + ty * gy) + about[first + 2] * gz
            for j in range(rank):
                gram[i, j] += hx * factor[first, j] + hy * factor[first + 1, j] + hz * factor[first + 2, j]
    if not eliminate(gram, rank, 0.0, row):
        return False
    for p in range(dense.friction.size):
        first = 3 * p
        gx, gy, gz = 0.0, 0.0, 0.0
        for j in range(rank):
            gx += factor[first, j] * row[j]
            gy += factor[first + 1, j] * row[j]
            gz += factor[first + 2, j] * row[j]
        tx, ty = where[first], where[first + 1]
        slip, lean = about[first] * (tx * gx + ty * gy), about[first + 1] * gz
        step[first] -= about[first] * gx - slip * tx + lean * tx
        step[first + 1] -= about[first] * gy - slip * ty + lean * ty
        step[first + 2] -= about[first + 2] * gz
    return True


@kernel
def factor_matrix(dense):
    """Factor W for :func:`cone_newton`: its rank."""
    scratch = cone_scratch(dense)
    n = 3 * dense.friction.size
    return low_rank(dense.matrix, n, NO_RANK, n, scratch.factor, scratch.about)


@inlined
def begin(dense, soft, scratch):
    """The state of Newton's method at the given impulses, about which the problem is softened."""
    w, ease, size = dense.matrix, scratch.ease, 1e-300
    for p in range(dense.friction.size):
        diagonal = w[3 * p, 3 * p] + w[3 * p + 1, 3 * p + 1] + w[3 * p + 2, 3 * p + 2]
        ease[p] = 3.0 / diagonal if diagonal > 0.0 else 1.0
        for k in range(3):
            size = max(size, ease[p] * abs(dense.free[p, k]), ease[p] * abs(dense.target[p]))
    for i in range(scratch.z.size):
        scratch.z[i] = scratch.centre[i] = dense.impulse[i // 3, i % 3] / size
    return Newton(size, soft, ease, scratch.centre, scratch.u, scratch.phi)


@inlined
def write_impulses(dense, newton, z):
    """Write the right-hand sides at z, which lie in the cone, on it or at its tip exactly, as impulses; gives the
    residual of the problem itself. ``z`` and the centre are destroyed.
    """
    for i in range(z.size):
        z[i] -= newton.phi[i]
        dense.impulse[i // 3, i % 3] = newton.size * z[i]
    return miss(dense, Newton(newton.size, 0.0, newton.ease, newton.centre, newton.u, newton.phi), z)


@kernel
def settle(dense):
    """Put the impulses into the cone, as the equations ask; gives their residual as :func:`cone_newton` does."""
    scratch = cone_scratch(dense)
    newton = begin(dense, 0.0, scratch)
    miss(dense, newton, scratch.z)
    return write_impulses(dense, newton, scratch.z)


@kernel
def cone_newton(dense, rank, soft, limit, budget):
    """Solve the problem, softened about the impulses, in ``limit`` steps and within ``budget``, and write its impulses.
    Gives the residual of the problem itself, relative to the largest impulse that would stop a point alone, the steps
    taken, and their cost; where it is not solved, the residual is infinite and impulses are as they were. W is factored
    already.
    """
    scratch = cone_scratch(dense)
    z, step, n = scratch.z, scratch.step, scratch.z.size
    newton = begin(dense, soft, scratch)
    space = LowRank(scratch.factor, scratch.gram, scratch.about, scratch.trial, scratch.right)
    cost, trial = low_rank_cost(n, rank), trial_cost(n)
    error, steps, tolerance = miss(dense, newton, z), 0, max(TOLERANCE, ROUGH * soft)
    for _ in range(affordable(budget, cost + trial, limit)):
        if error <= tolerance or not low_rank_step(dense, newton, z, rank, space, step):
            break
        length = min(1.0, LONGEST / max(LONGEST, largest(step)))
        for i in range(n):
            z[i] += length * step[i]
        error = miss(dense, newton, z)
        steps += 1
    spent = cost * steps + trial * (steps + 2)
    if not error <= max(ACCEPTED, tolerance):
        return math.inf, steps, spent
    return write_impulses(dense, newton, z), steps, spent


@kernel
def soften(dense, rank, enough, budget, soft, missed):
    """Newton's method on successive softened problems, the first of them ``soft``, in place. Gives the least residual
    of the problem itself, the steps taken, and their cost; that of the initial impulses is ``missed``, if known.
    Impulses with a residual below ``enough`` are improved as far as the steps go; if no problem is solved, they stay.
    """
    best, lowest, steps, spent, factor = cone_scratch(dense).best, missed, 0, 0.0, HARDER
    keep(dense, best)
    for _ in range(STEPS):
        if spent >= budget or steps >= STEPS:
            break
        error, more, cost = cone_newton(dense, rank, soft, min(SOFT_STEPS, STEPS - steps), budget - spent)
        steps += more
        spent += cost
        solved = error < math.inf
        if error < lowest:
            lowest = error
            keep(dense, best)
        if lowest <= ACCEPTED or (soft <= LEAST and (solved or lowest <= enough)):
            break
        if solved:
            soft = max(LEAST, factor * soft)
        elif soft < SOFTEST:
            soft, factor = min(SOFTEST, SOFTER * soft), SLOWLY
        else:
            break
    put_back(dense, best)
    return lowest, steps, spent


@inlined
def keep(dense, best):
    """Save the impulses as the best (3n,)."""
    for i in range(best.size):
        best[i] = dense.impulse[i // 3, i % 3]


@inlined
def put_back(dense, best):
    """Restore the best impulses (3n,)."""
    for i in range(best.size):
        dense.impulse[i // 3, i % 3] = best[i]
