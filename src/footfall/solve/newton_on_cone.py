"""Semismooth Newton on the exact Coulomb cone, from near and from a softened problem.

With ``a = z - r (u - target n)`` and a positive r for each point, impulses z solve the contact problem exactly where

    z_n = max(0, a_n)        z_t = a_t, shrunk to the length mu max(0, a_n) if it is longer

(Alart and Curnier 1991). The points of a few bodies have a Delassus matrix of low rank, and Newton's steps are taken in
as many unknowns, slightly softened, so that a singular derivative does no harm. From the impulses of a similar problem
it takes few steps; from elsewhere it may stall, above all under a rigid foot, whose points constrain each other.

A stalled problem is then softened: a term ``soft (z - c) / ease`` is added to ``u``, with the last impulses for c,
which fades as they settle (Rockafellar's proximal point method 1976), and r is large. Softened problems lead to a
solution, to rounding or to within a millionth, from nearly every state of a robot; :mod:`footfall.solve.exact_cone`
handles the rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from footfall.compiled import inlined, kernel
from footfall.solve.contacts import coulomb
from footfall.solve.dense import copy, eliminate, low_rank
from footfall.solve.effort import affordable, low_rank_cost, short_trial_cost, trial_cost
from footfall.solve.newton_on_lcp import SHARE, largest

#: Softness of successive problems, the factor of r for each, and the most steps of each.
SOFT, EAGER, SOFT_STEPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7), 30.0, 25
#: Index of the softness with which nearly right impulses begin.
WARM = 3
#: Residual at which a softened problem is solved well enough, relative to its softness.
ROUGH = 1e-4
#: Softened problems in a row that may have larger residuals than those before, and the factor by which one must lower
#: the residual to count as progress: the next softness often helps where one has stalled, and otherwise the best one so
#: far, repeatedly.
STALLS, LOWER, LOWER_AGAIN = 3, 0.5, 0.95
#: Most halvings of a step: a step that must be shorter leads nowhere.
HALVINGS = 12
#: Steps within which initial impulses must lead to a solution; otherwise they are discarded.
NEAR = 10
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
    eager: float  # factor of r
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
def values(dense, newton, z):
    """Write the motions and the residual at z (3n,); gives half its square."""
    size, soft, ease, u = newton.size, newton.soft, newton.ease, newton.u
    n = z.size
    for i in range(n):
        value = dense.free[i // 3, i % 3] / size + soft / ease[i // 3] * (z[i] - newton.centre[i])
        for j in range(n):
            value += dense.matrix[i, j] * z[j]
        u[i] = value
    return misses(dense, newton, z)


@kernel
def misses(dense, newton, z):
    """The same where the motions are known."""
    size, ease, u, phi = newton.size, newton.ease, newton.u, newton.phi
    merit = 0.0
    for p in range(dense.friction.size):
        x, y, normal = projected(p, newton.eager * ease[p], dense.friction[p], size, dense.target[p], z, u)
        phi[3 * p], phi[3 * p + 1], phi[3 * p + 2] = z[3 * p] - x, z[3 * p + 1] - y, z[3 * p + 2] - normal
        for k in range(3):
            merit += 0.5 * phi[3 * p + k] ** 2
    return merit


@kernel
def low_rank_step(dense, newton, z, rank, space, step):
    """Newton's step in as many unknowns as W = C C^T has columns of C, which are the first of ``space.factor``.

    The derivative is ``B + E' W`` with blocks B and E' of single points, so that with ``y = C^T step`` and ``E = B^-1
    E'`` the step is ``-B^-1 phi - E C y`` where ``(1 + C^T E C) y = -C^T B^-1 phi``. False if there is none.
    """
    factor, gram, about, where = space.factor, space.gram, space.about, space.where
    phi, eager, size = newton.phi, newton.eager, newton.size
    own, row = 1.0 - eager * newton.soft - FLOOR, space.right
    for i in range(rank):
        row[i] = 0.0
        for j in range(rank):
            gram[i, j] = 1.0 if i == j else 0.0
    for p in range(dense.friction.size):
        r, mu, first = eager * newton.ease[p], dense.friction[p], 3 * p
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


@kernel
def cone_newton(dense, rank, eager, soft, limit, budget):
    """Improve the impulses in place, in ``limit`` steps and within ``budget``, softened about their initial values.
    Gives the residual of the problem itself, relative to the largest impulse that would stop a point alone, the steps
    taken, and their cost. W is factored already.
    """
    w, free, target, impulse = dense.matrix, dense.free, dense.target, dense.impulse
    points, scratch = dense.friction.size, cone_scratch(dense)
    n, z, u, phi, step, trial = 3 * points, scratch.z, scratch.u, scratch.phi, scratch.step, scratch.trial
    ease, centre = scratch.ease, scratch.centre
    size = 1e-300
    for p in range(points):
        diagonal = w[3 * p, 3 * p] + w[3 * p + 1, 3 * p + 1] + w[3 * p + 2, 3 * p + 2]
        ease[p] = 3.0 / diagonal if diagonal > 0.0 else 1.0
        for k in range(3):
            size = max(size, ease[p] * abs(free[p, k]), ease[p] * abs(target[p]))
    for p in range(points):
        for k in range(3):
            z[3 * p + k] = impulse[p, k] / size
            centre[3 * p + k] = z[3 * p + k]
    newton = Newton(size, eager, soft, ease, centre, u, phi)
    merit = values(dense, newton, z)
    error, steps = largest(phi), 0
    space = LowRank(scratch.factor, scratch.gram, scratch.about, trial, scratch.right)
    cost, trials = low_rank_cost(n, rank) + trial_cost(n), 0
    limit = affordable(budget, cost, limit)
    began, after, tolerance = scratch.about, scratch.right, max(TOLERANCE, ROUGH * soft)
    while error > tolerance and steps < limit and cost * steps + short_trial_cost(n) * trials < budget:
        if not low_rank_step(dense, newton, z, rank, space, step):
            break
        copy(began, u)
        length = 1.0
        for i in range(n):
            trial[i] = z[i] + step[i]
        new = values(dense, newton, trial)
        copy(after, u)
        for _ in range(HALVINGS):
            if new <= (1.0 - 2.0 * SHARE * length) * merit:
                break
            length *= 0.5
            for i in range(n):  # motions are linear in the impulses
                trial[i] = z[i] + length * step[i]
                u[i] = began[i] + length * (after[i] - began[i])
            new = misses(dense, newton, trial)
            trials += 1
        if not new < (1.0 - SHARE * length) * merit:
            break
        copy(z, trial)
        merit, error = new, largest(phi)
        steps += 1
    # The right-hand sides, which lie in the cone, on it or at its tip exactly.
    values(dense, newton, z)
    for p in range(points):
        x, y, normal = projected(p, eager * ease[p], dense.friction[p], size, target[p], z, u)
        trial[3 * p], trial[3 * p + 1], trial[3 * p + 2] = x, y, normal
        impulse[p, 0], impulse[p, 1], impulse[p, 2] = size * x, size * y, size * normal
    if soft > 0.0 or eager != 1.0:
        values(dense, Newton(size, 1.0, 0.0, ease, centre, u, phi), trial)
        error = largest(phi)
    return error, steps, cost * steps + 3.0 * trial_cost(n) + short_trial_cost(n) * trials


@kernel
def soften(dense, rank, enough, budget, first, missed):
    """Newton's method on successive softened problems, from number ``first`` on, in place. Gives the least residual of
    the problem itself, the steps taken, and their cost. Impulses with a residual below ``enough`` are improved while
    that is easy. If the initial impulses have a known residual ``missed``, the first problem must lower it and none may
    stall; otherwise they are discarded.
    """
    impulse, n, best = dense.impulse, 3 * dense.friction.size, cone_scratch(dense).best
    lowest, steps, spent = math.inf, 0, 0.0
    k, nearest, hardest, stalls, again = first, first, len(SOFT) - 1, 0, False
    while spent < budget:
        error, more, cost = cone_newton(dense, rank, EAGER, SOFT[k], SOFT_STEPS, budget - spent)
        steps += more
        spent += cost
        easy, lower = error < 0.1 * lowest, error < (LOWER_AGAIN if again else LOWER) * lowest
        if error < lowest:
            lowest, nearest = error, k
            for i in range(n):
                best[i] = impulse[i // 3, i % 3]
        if lowest <= ACCEPTED or (lowest <= enough and not easy) or lowest >= missed:
            break
        stalls = 0 if lower else stalls + (1 if missed == math.inf else STALLS)
        if stalls < STALLS and k < hardest:
            k += 1
        elif not again and nearest < hardest and missed == math.inf:
            put_back(dense, best)
            k, hardest, stalls, again = nearest, nearest, 0, True
        elif not again or stalls == STALLS:
            break
    if lowest < math.inf:
        put_back(dense, best)
    return lowest, steps, spent


@inlined
def put_back(dense, best):
    """Restore the best impulses (3n,)."""
    for i in range(best.size):
        dense.impulse[i // 3, i % 3] = best[i]
