"""Newton on the exact Coulomb cone by the lanes of a warp: the equations of :mod:`footfall.solve.newton_on_cone`, with
a search along each step.

All points of a foot move together, so the Delassus matrix ``W = G L G^T`` is never written out, and a step is taken in
the motions of the feet: with blocks B and E' of single points the derivative is ``B + E' W``, and with ``E = B^-1 E'``
and ``v = L G^T step`` the step is ``-B^-1 phi - E G v`` where ``(1 + L G^T E G) v = -L G^T B^-1 phi``. ``G^T E G`` has
a block of 6 x 6 for each foot. So all points take part, however many there are.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.contact_search import ENOUGH
from footfall.solve.contacts import coulomb
from footfall.solve.delassus import ANY
from footfall.solve.newton_on_cone import ACCEPTED, FLOOR
from footfall.solve.newton_on_lcp import SHARE
from footfall.solve.together.algebra import eliminate_together
from footfall.solve.together.desk import ACROSS, DOWN, LANES, copy_together, motion_of, move_feet, wait

#: Times that a step is halved, and steps from given forces.
HALVINGS, NEAR = 12, 10
#: Softness of successive problems, the factor of r for each, and the most steps of each.
SOFT, EAGER, SOFT_STEPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7), 30.0, 25
#: Index of the softness with which nearly right forces begin.
WARM = 3
#: Accepted residual if it goes straight: that of friction in a search.
AGREED = 1e-9
#: Stages: Newton itself, on softened problems about its result, and about nothing, from this one on.
FROM_NOTHING = 1 + len(SOFT) - WARM
STAGES = FROM_NOTHING + len(SOFT)


@inlined
def shifted(i, r, scale, desk, z):
    """The vector a of a point, whose motions are in ``end``."""
    x, y, normal = z[3 * i] - r * desk.end[3 * i], z[3 * i + 1] - r * desk.end[3 * i + 1], z[3 * i + 2]
    return x, y, normal - r * (desk.end[3 * i + 2] - desk.target[i] * scale)


@inlined
def projected(i, r, scale, desk, z):
    """The right-hand sides of a point's equations."""
    if desk.target[i] == ANY:
        return 0.0, 0.0, 0.0
    x, y, normal = shifted(i, r, scale, desk, z)
    normal = max(0.0, normal)
    x, y, _ = coulomb(x, y, desk.dynamic[i] * normal)
    return x, y, normal


@inlined
def values_together(lane, count, feet, eager, soft, scale, desk, z):
    """Write the motions, times ``scale``, and the miss of the equations at z: half its square, and the largest, to all
    lanes.
    """
    move_feet(lane, feet, desk, z)
    for e in range(lane, 3 * count, LANES):
        desk.end[e] = desk.free[e] * scale + motion_of(desk, e)
    wait()
    for i in range(lane, count, LANES):
        if soft > 0.0:
            softness = soft / desk.ease[i]
            for e in range(3 * i, 3 * i + 3):
                desk.end[e] += softness * (z[e] - desk.centre[e])
        x, y, normal = projected(i, eager * desk.ease[i], scale, desk, z)
        x, y, normal = z[3 * i] - x, z[3 * i + 1] - y, z[3 * i + 2] - normal
        desk.phi[3 * i], desk.phi[3 * i + 1], desk.phi[3 * i + 2] = x, y, normal
        desk.share[i] = 0.5 * (x * x + y * y + normal * normal)
        desk.about[i, 0] = max(abs(x), abs(y), abs(normal))
    wait()
    merit, error = 0.0, 0.0
    for i in range(count):
        merit += desk.share[i]
        error = max(error, desk.about[i, 0])
    wait()
    return merit, error


@inlined
def linearise_point(i, eager, soft, scale, desk):
    """E of a point, to ``about``, and ``-B^-1 phi``, to ``step``; see ``low_rank_step``."""
    own, first = 1.0 - eager * soft - FLOOR, 3 * i
    r, mu, about = eager * desk.ease[i], desk.dynamic[i], desk.about[i]
    x, y, normal = shifted(i, r, scale, desk, desk.z)
    length, pressed = math.sqrt(x * x + y * y), normal > 0.0 and desk.target[i] != ANY
    limit = mu * normal if pressed else 0.0
    slides = length > limit
    inverse = 1.0 / length if slides else 0.0
    tx, ty = x * inverse, y * inverse
    shrink = limit * inverse if slides else 1.0
    if not pressed:
        shrink = 0.0
    across = 1.0 / (1.0 - own * shrink)  # of B^-1, along the direction of slip it is 1
    down = 1.0 / (1.0 - own) if pressed else 1.0
    lean = mu * (1.0 + own * down) if slides and pressed else 0.0
    fx, fy, fz = desk.phi[first], desk.phi[first + 1], desk.phi[first + 2]
    along = (1.0 - across) * (tx * fx + ty * fy) + (lean - mu if lean > 0.0 else 0.0) * fz
    x, y, normal = -across * fx - along * tx, -across * fy - along * ty, -down * fz
    desk.step[first], desk.step[first + 1], desk.step[first + 2] = x, y, normal
    desk.turned[first, 6], desk.turned[first + 1, 6], desk.turned[first + 2, 6] = x, y, normal
    about[0], about[1] = r * shrink * across, r * lean
    about[2] = r * down if pressed else 0.0
    about[3], about[4] = tx, ty


@inlined
def newton_step(lane, count, feet, eager, soft, scale, desk):
    """Newton's step at z, to ``step``. False if there is none."""
    rows, turned, n = desk.rows, desk.turned, 6 * feet
    for i in range(lane, count, LANES):
        linearise_point(i, eager, soft, scale, desk)
    wait()
    for i in range(lane // ACROSS, count, DOWN):
        about = desk.about[i]
        tx, ty = about[3], about[4]
        for k in range(lane % ACROSS, 6, ACROSS):
            gx, gy, gz = rows[3 * i, k], rows[3 * i + 1, k], rows[3 * i + 2, k]
            slip = about[0] * (tx * gx + ty * gy) - about[1] * gz
            turned[3 * i, k], turned[3 * i + 1, k] = about[0] * gx - slip * tx, about[0] * gy - slip * ty
            turned[3 * i + 2, k] = about[2] * gz
    wait()
    for t in range(lane // ACROSS, n, DOWN):  # G^T E G, and -G^T B^-1 phi
        b = desk.owner[t]
        k = t - 6 * b
        for j in range(lane % ACROSS, 7, ACROSS):
            value = 0.0
            for e in range(3 * desk.begin[b], 3 * desk.begin[b + 1]):
                value += rows[e, k] * turned[e, j]
            if j < 6:
                desk.gram[0, t, j] = value
            else:
                desk.wrench[t] = value
    wait()
    for i in range(lane // ACROSS, n, DOWN):
        for j in range(lane % ACROSS, n, ACROSS):
            value = 1.0 if i == j else 0.0
            first = 6 * desk.owner[j]
            for m in range(6):
                value += desk.mobility[i, first + m] * desk.gram[0, first + m, j - first]
            desk.system[0, i, j] = value
    for i in range(lane, n, LANES):
        value = 0.0
        for m in range(n):
            value += desk.mobility[i, m] * desk.wrench[m]
        desk.system[0, i, n] = value
    wait()
    if not eliminate_together(lane, n, 0.0, desk):
        return False
    for e in range(lane, 3 * count, LANES):
        first, value = 6 * desk.foot[e], desk.step[e]
        for k in range(6):
            value -= turned[e, k] * desk.moved[first + k]
        desk.step[e] = value
    wait()
    return True


@inlined
def cone_newton_together(lane, count, feet, eager, soft, size, limit, straight, desk):
    """Improve the forces, softened about what they are, in ``limit`` steps: by how much they miss the equations
    themselves, and the evaluations it took.

    If it goes ``straight``, no step is halved, and motions stay in ``end``. Of 9,549 problems of restless humanoids
    whose states are sought, 235 stall with a line search, and 82 do not converge without.
    """
    scale, accepted = 1.0 / size, AGREED if straight else ACCEPTED
    for e in range(lane, 3 * count, LANES):
        desk.z[e] = desk.force[e] * scale
        desk.centre[e] = desk.z[e]
        desk.trial[e] = desk.z[e]
    wait()
    merit, error, length, steps, halvings, stalled, last = math.inf, math.inf, 1.0, -1, 0, False, False
    evaluations = 0
    # One loop and one place where motions are evaluated: code that is there twice does not fit a GPU's cache.
    while True:
        new, miss = values_together(lane, count, feet, eager, soft, scale, desk, desk.trial)
        evaluations += 1
        if last:
            break
        goes_on = False
        if not stalled:
            enough = steps < 0 or new <= merit - 2.0 * SHARE * length * merit or (straight and new < math.inf)
            if not enough and halvings < HALVINGS:
                halvings += 1
                length *= 0.5
                goes_on = True
            elif enough or new < merit:
                merit, error, steps, length, halvings = new, miss, steps + 1, 1.0, 0
                copy_together(lane, count, desk.z, desk.trial)
                if error > accepted and steps < limit:  # guesses do the rest
                    goes_on = newton_step(lane, count, feet, eager, soft, scale, desk)
            else:
                stalled = True  # the motions are not those at z
                copy_together(lane, count, desk.trial, desk.z)
                continue
        if goes_on:
            for e in range(lane, 3 * count, LANES):
                desk.trial[e] = desk.z[e] + length * desk.step[e]
        else:  # the right-hand sides, which lie in the cone, on it or at its tip without a rounding error
            for i in range(lane, count, LANES):
                x, y, normal = projected(i, eager * desk.ease[i], scale, desk, desk.z)
                desk.trial[3 * i], desk.trial[3 * i + 1], desk.trial[3 * i + 2] = x, y, normal
                desk.force[3 * i], desk.force[3 * i + 1], desk.force[3 * i + 2] = size * x, size * y, size * normal
            if straight and error <= accepted:
                miss = error
                break
            eager, soft, last = 1.0, 0.0, True
        wait()
    wait()
    for e in range(lane, 3 * count if straight else 0, LANES):
        desk.end[e] *= size
    wait()
    return miss, evaluations


@inlined
def ease_together(lane, count, feet, desk):
    """The impulse per motion that stops a point alone, of each, to ``ease``; gives the largest that one would need."""
    for e in range(lane, 3 * count, LANES):
        first, value = 6 * desk.foot[e], 0.0
        for k in range(first, 6 + first):
            along = 0.0
            for m in range(6):
                along += desk.mobility[k, first + m] * desk.rows[e, m]
            value += desk.rows[e, k - first] * along
        desk.trial[e] = value
    wait()
    for i in range(lane, count, LANES):
        diagonal = desk.trial[3 * i] + desk.trial[3 * i + 1] + desk.trial[3 * i + 2]
        largest = max(abs(desk.free[3 * i]), abs(desk.free[3 * i + 1]), abs(desk.free[3 * i + 2]))
        ease = 3.0 / diagonal if diagonal > 0.0 else 1.0
        desk.ease[i] = ease
        desk.share[i] = 0.0 if desk.target[i] == ANY else ease * max(largest, abs(desk.target[i]))
    wait()
    size = 1e-300
    for i in range(count):
        size = max(size, desk.share[i])
    wait()
    return size


@inlined
def newton_together(lane, count, feet, stage, end, lowest, most, desk):
    """Newton from the forces there are, then on softened problems, about these and about none, from one of its stages
    on and before ``end``, until there were ``most`` evaluations: the stage that follows, ``STAGES`` if there is none,
    and by how much the best forces miss. It goes straight where the first stage is the only one.
    """
    size, left = ease_together(lane, count, feet, desk), most
    while stage < end and left > 0:
        if stage == FROM_NOTHING:
            if lowest <= ENOUGH:
                return STAGES, lowest
            for e in range(lane, 3 * count, LANES):
                desk.force[e] = 0.0
            wait()
        number = stage - FROM_NOTHING if stage >= FROM_NOTHING else stage - 1 + WARM
        eager, soft, limit = (1.0, 0.0, NEAR) if stage == 0 else (EAGER, SOFT[number], SOFT_STEPS)
        error, evaluations = cone_newton_together(lane, count, feet, eager, soft, size, limit, end == 1, desk)
        left -= evaluations
        easy = error < 0.1 * lowest
        if error < lowest:
            lowest = error
            copy_together(lane, count, desk.best, desk.force)
        if lowest <= ACCEPTED or (stage > 0 and lowest <= ENOUGH and not easy):
            return STAGES, lowest
        stage += 1
    return stage, lowest
