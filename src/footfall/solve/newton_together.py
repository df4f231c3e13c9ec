"""Newton on the exact Coulomb cone by the lanes of a GPU's warp together, for worlds whose guesses have failed.

The same method as :mod:`footfall.solve.newton_on_cone`. A lane for each world would be slow: where one world in ten
needs it, nearly every warp has one that does, and all its lanes wait while it works through memory alone. So the lanes
solve one world's problem after the other, each lane its share, in the fast memory that they share.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.solve.contact_search import ENOUGH, OF_A_FOOT
from footfall.solve.newton_on_cone import ACCEPTED, EAGER, TOLERANCE, projected, shifted
from footfall.solve.newton_on_lcp import HALVINGS, LEAST, MOST, SHARE

#: Lanes that work together: a warp.
LANES = 32
#: Steps of Newton, and of each softened problem; how soft these are, one after the other.
NEAR, SOFT_STEPS = 10, 12
SOFT = (1e-4, 1e-5, 1e-6)
#: Points of the largest problem that fits into the memory that lanes share.
MOST_POINTS = 16

#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


class Desk(NamedTuple):
    """What the lanes share: a problem of n = 3P unknowns and the space to solve it.

    Of two symmetric matrices the lower triangles are kept, one of them transposed, in one array.
    """

    pair: Any  # (N, N + 1) the Delassus matrix, and H^T H
    slope: Any  # (N, N) the derivative H, and Cholesky's factor
    free: Any  # (N,)
    target: Any  # (N,) of the points
    friction: Any  # (N,) of the points
    impulse: Any  # (N,)
    ease: Any  # (N,) of the points
    centre: Any  # (N,)
    z: Any  # (N,)
    u: Any  # (N,)
    phi: Any  # (N,)
    gradient: Any  # (N,)
    step: Any  # (N,)
    trial: Any  # (N,)
    best: Any  # (N,)


def desk_unknowns(points: int, feet: int) -> int:
    """Unknowns of the largest problem of a robot that the lanes may have to solve."""
    return 3 * min(points, (OF_A_FOOT + 1) * feet, MOST_POINTS)


@inlined
def delassus(desk, i, j):
    return desk.pair[i, j] if i >= j else desk.pair[j, i]


@inlined
def values_together(lane, points, desk, eager, soft, size, z):
    """Write u and the miss of the equations at z: gives half its square, to every lane."""
    n = 3 * points
    for i in range(lane, n, LANES):
        value = desk.free[i] / size + soft / desk.ease[i // 3] * (z[i] - desk.centre[i])
        for j in range(n):
            value += delassus(desk, i, j) * z[j]
        desk.u[i] = value
    cuda.syncthreads()
    for p in range(lane, points, LANES):
        x, y, normal = projected(p, eager * desk.ease[p], desk.friction[p], size, desk.target[p], z, desk.u)
        desk.phi[3 * p] = z[3 * p] - x
        desk.phi[3 * p + 1] = z[3 * p + 1] - y
        desk.phi[3 * p + 2] = z[3 * p + 2] - normal
    cuda.syncthreads()
    merit = 0.0
    for i in range(n):
        merit += 0.5 * desk.phi[i] * desk.phi[i]
    return merit


@inlined
def largest_miss(points, desk):
    error = 0.0
    for i in range(3 * points):
        error = max(error, abs(desk.phi[i]))
    return error


@inlined
def derivative_together(lane, points, desk, eager, soft, size):
    """H at z, column by column; see ``derivative`` of :mod:`footfall.solve.newton_on_cone`."""
    h, own = desk.slope, 1.0 - eager * soft
    for p in range(points):
        r, mu = eager * desk.ease[p], desk.friction[p]
        x, y, normal = shifted(p, r, size, desk.target[p], desk.z, desk.u)
        length = math.sqrt(x * x + y * y)
        pressed = normal > 0.0
        limit = mu * normal if pressed else 0.0
        slides = length > limit
        tx, ty = (x / length, y / length) if slides else (0.0, 0.0)
        shrink = limit / length if slides else 1.0
        for j in range(lane, 3 * points, LANES):
            own_x = 1.0 if j == 3 * p else 0.0
            own_y = 1.0 if j == 3 * p + 1 else 0.0
            own_z = 1.0 if j == 3 * p + 2 else 0.0
            by_x = own * own_x - r * delassus(desk, 3 * p, j)
            by_y = own * own_y - r * delassus(desk, 3 * p + 1, j)
            by_z = own * own_z - r * delassus(desk, 3 * p + 2, j) if pressed else 0.0
            along = tx * by_x + ty * by_y
            pull = mu * by_z if slides else 0.0
            h[3 * p, j] = own_x - shrink * (by_x - tx * along) - tx * pull
            h[3 * p + 1, j] = own_y - shrink * (by_y - ty * along) - ty * pull
            h[3 * p + 2, j] = own_z - by_z
    cuda.syncthreads()


@inlined
def damped_step_together(lane, points, desk, merit):
    """Levenberg and Marquardt's step, ``-(H^T H + damping)^-1 H^T phi``, over H: gives the slope of the merit."""
    n, h, gram = 3 * points, desk.slope, desk.pair
    for e in range(lane, n * n, LANES):
        i = e // n
        j = e - i * n
        if j <= i:
            value = max(LEAST, min(MOST, merit)) if i == j else 0.0
            for k in range(n):
                value += h[k, i] * h[k, j]
            gram[j, i + 1] = value
    for i in range(lane, n, LANES):
        value = 0.0
        for k in range(n):
            value += h[k, i] * desk.phi[k]
        desk.gradient[i], desk.step[i] = value, -value
    cuda.syncthreads()
    possible = True
    for j in range(n):
        pivot = gram[j, j + 1]
        for k in range(j):
            pivot -= h[j, k] * h[j, k]
        if not pivot > 0.0:
            possible = False
            break
        inverse = 1.0 / math.sqrt(pivot)
        for i in range(j + 1 + lane, n, LANES):
            value = gram[j, i + 1]
            for k in range(j):
                value -= h[i, k] * h[j, k]
            h[i, j] = value * inverse
        if lane == 0:
            h[j, j] = inverse
        cuda.syncthreads()
    if not possible:
        for i in range(lane, n, LANES):
            desk.step[i] = 0.0
        cuda.syncthreads()
        return 0.0
    for k in range(n):
        x = desk.step[k] * h[k, k]
        if lane == 0:
            desk.trial[k] = x
        for i in range(k + 1 + lane, n, LANES):
            desk.step[i] -= h[i, k] * x
        cuda.syncthreads()
    for k in range(n - 1, -1, -1):
        x = desk.trial[k] * h[k, k]
        if lane == 0:
            desk.step[k] = x
        for i in range(lane, k, LANES):
            desk.trial[i] -= h[k, i] * x
        cuda.syncthreads()
    slope = 0.0
    for i in range(n):
        slope += desk.gradient[i] * desk.step[i]
    return slope


@inlined
def cone_newton_together(lane, points, desk, eager, soft, size, limit):
    """Improve the impulses, softened about what they are: gives by how much they miss the equations themselves."""
    n = 3 * points
    for i in range(lane, n, LANES):
        desk.z[i] = desk.impulse[i] / size
        desk.centre[i] = desk.z[i]
    cuda.syncthreads()
    merit = values_together(lane, points, desk, eager, soft, size, desk.z)
    error, steps = largest_miss(points, desk), 0
    while error > TOLERANCE and steps < limit:
        derivative_together(lane, points, desk, eager, soft, size)
        slope = damped_step_together(lane, points, desk, merit)
        length, new = 1.0, merit
        for _ in range(HALVINGS):
            cuda.syncthreads()
            for i in range(lane, n, LANES):
                desk.trial[i] = desk.z[i] + length * desk.step[i]
            cuda.syncthreads()
            new = values_together(lane, points, desk, eager, soft, size, desk.trial)
            if new <= merit + SHARE * length * slope:
                break
            length *= 0.5
        if not new < merit:
            break
        merit, error = new, largest_miss(points, desk)
        for i in range(lane, n, LANES):
            desk.z[i] = desk.trial[i]
        cuda.syncthreads()
        steps += 1
    # The right-hand sides, which lie in the cone; at z, for the last trial may have been another.
    values_together(lane, points, desk, eager, soft, size, desk.z)
    for p in range(lane, points, LANES):
        x, y, normal = projected(p, eager * desk.ease[p], desk.friction[p], size, desk.target[p], desk.z, desk.u)
        desk.trial[3 * p], desk.trial[3 * p + 1], desk.trial[3 * p + 2] = x, y, normal
    cuda.syncthreads()
    for i in range(lane, n, LANES):
        desk.impulse[i] = size * desk.trial[i]
    values_together(lane, points, desk, 1.0, 0.0, size, desk.trial)
    return largest_miss(points, desk)


@inlined
def newton_together(lane, points, desk, warm):
    """Newton, then on softened problems, from the impulses on the desk; gives whether it is solved, to every lane."""
    n, size = 3 * points, 1e-300
    for p in range(points):
        diagonal = desk.pair[3 * p, 3 * p] + desk.pair[3 * p + 1, 3 * p + 1] + desk.pair[3 * p + 2, 3 * p + 2]
        ease = 3.0 / diagonal if diagonal > 0.0 else 1.0
        if lane == 0:
            desk.ease[p] = ease
        for k in range(3):
            size = max(size, ease * abs(desk.free[3 * p + k]), ease * abs(desk.target[p]))
    cuda.syncthreads()
    lowest = math.inf
    for turn in range(len(SOFT) + 1):
        eager, soft, limit = 1.0, 0.0, NEAR
        if turn > 0:
            eager, soft, limit = EAGER, SOFT[turn - 1], SOFT_STEPS
        if turn == 1 and not warm:
            for i in range(lane, n, LANES):
                desk.impulse[i] = 0.0
            cuda.syncthreads()
        error = cone_newton_together(lane, points, desk, eager, soft, size, limit)
        easy = error < 0.1 * lowest
        cuda.syncthreads()
        if error < lowest:
            lowest = error
            for i in range(lane, n, LANES):
                desk.best[i] = desk.impulse[i]
        if lowest <= ACCEPTED or (turn > 0 and lowest <= ENOUGH and not easy):
            break
    cuda.syncthreads()
    return lowest <= ENOUGH
