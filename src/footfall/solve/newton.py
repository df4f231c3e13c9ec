"""Newton's method on Coulomb's exact cone, for all near points at once.

Impulses z of the points move them by ``u = free + W z`` in their contact frames. Sought is z with

    z = P(z - r (u + compliance z - target n))                                                    (Alart, Curnier 1991)

P the projection onto Coulomb's law: the normal part onto z_n >= 0, the tangential part onto the disc of radius mu z_n.
The compliance is a billionth of the mobility of the most mobile point (:data:`footfall.solve.problem.COMPLIANCE`): it
makes the forces of points that share a body unique, the least ones.

All points of a body move together. With G the wrenches of unit forces on the points of a body, and S the motions of
the body in the coordinates that contacts move, each with the sign s of its weight (see ``response`` of
:class:`footfall.solve.contacts.Contacts`), ``W = G S s S^T G^T``, and is never written out: with P linearised,
``z' = B z + E u'``, a step solves

    (1 + s S^T (G^T E G) S) y = s S^T G^T step,

which has about as many unknowns as the robot has degrees of freedom, however many points there are. Where fewer points
are near than that, as under a robot that lies, W is written out, and the step of the points that are pressed is found
at once.

Where whole steps do not converge, the problem is softened about the last iterate, which is the proximal point method
(Rockafellar 1976), and hardened again as it is solved.

On a GPU a warp solves one problem (:mod:`footfall.compiled.lanes`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from footfall.compiled import inlined, kernel
from footfall.compiled.lanes import greatest, lane, lanes, total, wait
from footfall.solve.contacts import SLIDE, coulomb
from footfall.solve.dense import eliminate
from footfall.solve.problem import ANY, COMPLIANCE, MODE, known_slip

#: Residuals, relative to the largest impulse that stops a point alone: at which Newton ends (a thousandth of the
#: compliance, so that forces which only that decides are known to three digits), with which it is content if rounding
#: allows no better, and at which a problem counts as solved.
TOLERANCE, CONTENT, SOLVED = 1e-12, 1e-10, 1e-6
#: Most steps on the problem as it is, on each softened one, and in all.
HARD_STEPS, SOFT_STEPS, STEPS = 8, 10, 60
#: Softness, relative to each point's own mobility: of the first softened problem, the most and the least there is.
SOFT, SOFTEST, LEAST_SOFT = 1e-2, 1.0, 1e-9
#: Factors of the softness: after a solved problem, after one that followed a failure, and after a failure.
HARDER, SLOWLY, SOFTER = 0.1, 0.2, 10.0
#: Share of the softness to which a softened problem is solved.
ROUGH = 1e-2
#: Longest step of an impulse, relative to the largest impulse that stops a point alone.
LONGEST = 2.0


class Scale(NamedTuple):
    """The size of a problem."""

    columns: int  # of S; zero if W is written out
    size: float  # the unit of impulses
    compliance: float  # of contacts, in the unit of W


@inlined
def write_motions(problem, space):
    """Write S, without the columns that no contact moves, and the sign of each; returns their number."""
    contacts, near, response = problem.contacts, problem.contacts.near, problem.contacts.response
    weight, whole = contacts.weight, contacts.number[2]
    for j in range(lane(), whole, lanes()):
        moved = 0
        for b in range(near.size - 1):
            if near[b + 1] > near[b] and weight[j] != 0.0:
                h = response[b, j]
                if h[0] != 0.0 or h[1] != 0.0 or h[2] != 0.0 or h[3] != 0.0 or h[4] != 0.0 or h[5] != 0.0:
                    moved = 1
        space.moves[j] = moved
    wait()
    n = 0
    for j in range(whole):
        if space.moves[j] == 1:
            if lane() == 0:
                space.column[n] = j
                space.sign[n] = 1.0 if weight[j] > 0.0 else -1.0
            n += 1
    wait()
    for c in range(lane(), n, lanes()):
        j, row = space.column[c], 0
        root = math.sqrt(problem.step * abs(weight[j]))
        for b in range(near.size - 1):
            if near[b + 1] > near[b]:
                for k in range(6):
                    space.motions[row + k, c] = root * response[b, j, k]
                row += 6
    wait()
    return n


@inlined
def write_lever(contacts, p, levers):
    """Write the wrenches of unit forces along the axes of a point's contact frame, (3, 6)."""
    r = contacts.arm[p]
    for k in range(3):
        e, row = contacts.frame[p, k], levers[k]
        row[0], row[1], row[2] = e[0], e[1], e[2]
        row[3], row[4], row[5] = r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]


@inlined
def mobility_of_point(levers, gram):
    """Trace of ``G S s S^T G^T`` of a point, from ``S s S^T`` (6, 6) of its body."""
    trace = 0.0
    for k in range(3):
        row = levers[k]
        for i in range(6):
            value = 0.0
            for j in range(6):
                value += gram[i, j] * row[j]
            trace += row[i] * value
    return trace


@kernel
def write_out(problem, space):
    """Write W, from the mobility of the bodies."""
    contacts, w, step = problem.contacts, space.delassus, problem.step
    for e in range(lane(), 3 * contacts.number[0], lanes()):
        i = e // 3
        b, g, last = contacts.body[contacts.points[i]], space.levers[e], -1
        m0, m1, m2, m3, m4, m5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(i + 1):
            other = contacts.body[contacts.points[j]]
            if other != last:  # the motion of that body under a unit force
                last, m0, m1, m2, m3, m4, m5 = other, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for d in range(6):
                    line, part = contacts.mobility[6 * b + d, 6 * other : 6 * other + 6], step * g[d]  # symmetric
                    m0, m1, m2 = m0 + line[0] * part, m1 + line[1] * part, m2 + line[2] * part
                    m3, m4, m5 = m3 + line[3] * part, m4 + line[4] * part, m5 + line[5] * part
            for c in range(3 * j, 3 * j + 3):
                h = space.levers[c]
                value = h[0] * m0 + h[1] * m1 + h[2] * m2 + h[3] * m3 + h[4] * m4 + h[5] * m5
                w[e, c], w[c, e] = value, value
    wait()


@kernel
def lay_out(problem, space):
    """Write S, G, the weights and the friction of every near point, and W if it is small. Returns the scale."""
    contacts, gram, weight = problem.contacts, space.block, space.weight
    near, row, size, mobile = contacts.near, 0, 1e-300, 0.0
    n = write_motions(problem, space)
    for b in range(near.size - 1):
        if near[b + 1] == near[b]:
            continue
        for e in range(lane(), 36, lanes()):
            i, j = e // 6, e % 6
            if j <= i:
                value, one, other = 0.0, space.motions[row + i], space.motions[row + j]
                for c in range(n):
                    value += space.sign[c] * one[c] * other[c]
                gram[i, j], gram[j, i] = value, value
        wait()
        for i in range(near[b] + lane(), near[b + 1], lanes()):
            p, levers = contacts.points[i], space.levers[3 * i : 3 * i + 3]
            write_lever(contacts, p, levers)
            trace = mobility_of_point(levers, gram)
            mobile = max(mobile, trace / 3.0)
            weight[i] = 3.0 / trace if trace > 0.0 else 1.0
            slid = problem.memory[p, MODE] == SLIDE
            space.friction[i] = contacts.dynamic_friction[p] if slid else contacts.static_friction[p]
            if problem.target[p] != ANY:
                largest = abs(problem.target[p])
                for k in range(3):
                    largest = max(largest, abs(problem.free[p, k]))
                size = max(size, weight[i] * largest)
        wait()
        row += 6
    if 3 * contacts.number[0] <= n:
        write_out(problem, space)
        n = 0
    return Scale(n, greatest(size), COMPLIANCE * greatest(mobile))


@inlined
def shifted(problem, space, i, size):
    """``z - r (u - target n)`` of one point."""
    p, r, z, u = problem.contacts.points[i], space.weight[i], space.impulse[i], space.motion[i]
    return z[0] - r * u[0], z[1] - r * u[1], z[2] - r * (u[2] - problem.target[p] / size)


@inlined
def sum_wrenches(problem, space, n, impulse):
    """Write ``y = s S^T G^T z`` of impulses (P, 3), to ``right``."""
    near, y, row = problem.contacts.near, space.right, 0
    for c in range(lane(), n, lanes()):
        y[c] = 0.0
    for b in range(near.size - 1):
        if near[b + 1] == near[b]:
            continue
        w0, w1, w2, w3, w4, w5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(near[b] + lane(), near[b + 1], lanes()):
            for k in range(3):
                part, g = impulse[i, k], space.levers[3 * i + k]
                w0, w1, w2 = w0 + part * g[0], w1 + part * g[1], w2 + part * g[2]
                w3, w4, w5 = w3 + part * g[3], w4 + part * g[4], w5 + part * g[5]
        w0, w1, w2, w3, w4, w5 = total(w0), total(w1), total(w2), total(w3), total(w4), total(w5)
        s0, s1, s2 = space.motions[row], space.motions[row + 1], space.motions[row + 2]
        s3, s4, s5 = space.motions[row + 3], space.motions[row + 4], space.motions[row + 5]
        for c in range(lane(), n, lanes()):
            y[c] += s0[c] * w0 + s1[c] * w1 + s2[c] * w2 + s3[c] * w3 + s4[c] * w4 + s5[c] * w5
        row += 6
    for c in range(lane(), n, lanes()):
        y[c] *= space.sign[c]
    wait()


@inlined
def move_points(problem, space, n, motion):
    """Write the motions ``G S y`` (P, 3) of the points, y being in ``right``."""
    near, y, row = problem.contacts.near, space.right, 0
    for b in range(near.size - 1):
        if near[b + 1] == near[b]:
            continue
        m0, m1, m2, m3, m4, m5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        s0, s1, s2 = space.motions[row], space.motions[row + 1], space.motions[row + 2]
        s3, s4, s5 = space.motions[row + 3], space.motions[row + 4], space.motions[row + 5]
        for c in range(lane(), n, lanes()):
            part = y[c]
            m0, m1, m2 = m0 + s0[c] * part, m1 + s1[c] * part, m2 + s2[c] * part
            m3, m4, m5 = m3 + s3[c] * part, m4 + s4[c] * part, m5 + s5[c] * part
        m0, m1, m2, m3, m4, m5 = total(m0), total(m1), total(m2), total(m3), total(m4), total(m5)
        row += 6
        for i in range(near[b] + lane(), near[b + 1], lanes()):
            for k in range(3):
                g = space.levers[3 * i + k]
                motion[i, k] = g[0] * m0 + g[1] * m1 + g[2] * m2 + g[3] * m3 + g[4] * m4 + g[5] * m5
    wait()


@inlined
def find_motions(problem, space, scale, impulse, motion):
    """Write ``W z`` (P, 3) of impulses (P, 3)."""
    count, n = problem.contacts.number[0], scale.columns
    if n > 0:
        sum_wrenches(problem, space, n, impulse)
        move_points(problem, space, n, motion)
        return
    for i in range(lane(), count, lanes()):
        for k in range(3):
            value, line = 0.0, space.delassus[3 * i + k]
            for j in range(count):
                value += line[3 * j] * impulse[j, 0] + line[3 * j + 1] * impulse[j, 1] + line[3 * j + 2] * impulse[j, 2]
            motion[i, k] = value
    wait()


@kernel
def find_residual(problem, space, scale, soft):
    """Write the motions u under the impulses, compliance and softness included, and the residual; returns its
    largest part.
    """
    contacts, z, u, phi, size = problem.contacts, space.impulse, space.motion, space.residual, scale.size
    find_motions(problem, space, scale, z, u)
    worst = 0.0
    for i in range(lane(), contacts.number[0], lanes()):
        p, pull = contacts.points[i], soft / space.weight[i]
        for k in range(3):
            u[i, k] += problem.free[p, k] / size + scale.compliance * z[i, k] + pull * (z[i, k] - space.centre[i, k])
        x, v, normal = shifted(problem, space, i, size)
        normal = max(0.0, normal)
        limit = space.friction[i] * normal
        if known_slip(problem, p):
            x, v = -limit * problem.slip[p, 0], -limit * problem.slip[p, 1]
        else:
            x, v, _ = coulomb(x, v, limit)
        phi[i, 0], phi[i, 1], phi[i, 2] = z[i, 0] - x, z[i, 1] - v, z[i, 2] - normal
        worst = max(worst, abs(phi[i, 0]), abs(phi[i, 1]), abs(phi[i, 2]))
    wait()
    return greatest(worst)


@inlined
def linearise(problem, space, i, scale, soft):
    """Write E of a point, to ``slope``, and ``-B^-1 phi``, to ``step``; returns whether it is pressed."""
    r, mu, f, step, slope = space.weight[i], space.friction[i], space.residual[i], space.step[i], space.slope[i]
    own = 1.0 - soft - r * scale.compliance
    x, y, normal = shifted(problem, space, i, scale.size)
    length, pressed = math.sqrt(x * x + y * y), normal > 0.0
    limit = mu * normal if pressed else 0.0
    slides = length > limit
    tx, ty = (x / length, y / length) if slides else (0.0, 0.0)
    shrink = limit / length if slides else 1.0
    p = problem.contacts.points[i]
    if known_slip(problem, p):
        tx, ty, shrink, slides = -problem.slip[p, 0], -problem.slip[p, 1], 0.0, True
    across = 1.0 / (1.0 - own * shrink)
    down = 1.0 / (1.0 - own) if pressed else 1.0
    lean = mu * (1.0 + own * down) if slides and pressed else 0.0
    along = (1.0 - across) * (tx * f[0] + ty * f[1]) + (lean - mu if lean > 0.0 else 0.0) * f[2]
    step[0], step[1], step[2] = -across * f[0] - along * tx, -across * f[1] - along * ty, -down * f[2]
    slope[0], slope[1], slope[2] = r * shrink * across, r * lean, r * down if pressed else 0.0
    slope[3], slope[4], space.shrink[i] = tx, ty, shrink
    return pressed


@inlined
def turn_levers(space, i, pressed):
    """Write ``E G`` (3, 6) of a point, zero unless it is ``pressed``."""
    slope, gx, gy, gz = space.slope[i], space.levers[3 * i], space.levers[3 * i + 1], space.levers[3 * i + 2]
    hx, hy, hz = space.turned[3 * i], space.turned[3 * i + 1], space.turned[3 * i + 2]
    tx, ty = slope[3], slope[4]
    for j in range(6):
        slip = slope[0] * (tx * gx[j] + ty * gy[j]) - slope[1] * gz[j]
        hx[j] = slope[0] * gx[j] - slip * tx if pressed else 0.0
        hy[j] = slope[0] * gy[j] - slip * ty if pressed else 0.0
        hz[j] = slope[2] * gz[j] if pressed else 0.0


@inlined
def write_block(space, first, last):
    """Write ``G^T E G`` of one body, whose points are ``first`` to ``last``."""
    block, g, h = space.block, space.levers, space.turned
    for e in range(lane(), 36, lanes()):
        block[e // 6, e % 6] = 0.0
    for e in range(lane(), 6, lanes()):
        row = block[e]
        for i in range(3 * first, 3 * last):
            part, line = g[i, e], h[i]
            for j in range(6):
                row[j] += part * line[j]
    wait()


@kernel
def step_by_bodies(problem, space, scale, soft):
    """Write Newton's step of the impulses in the coordinates of S; False if there is none."""
    contacts, matrix, n = problem.contacts, space.matrix, scale.columns
    near, block, lifted, step, row = contacts.near, space.block, space.lifted, space.step, 0
    for i in range(lane(), n, lanes()):
        line = matrix[i]
        for j in range(n):
            line[j] = 0.0
        line[i] = 1.0
    for b in range(near.size - 1):
        if near[b + 1] == near[b]:
            continue
        for i in range(near[b] + lane(), near[b + 1], lanes()):
            turn_levers(space, i, linearise(problem, space, i, scale, soft))
        wait()
        write_block(space, near[b], near[b + 1])
        s = space.motions[row : row + 6]
        for c in range(lane(), n, lanes()):
            s0, s1, s2, s3, s4, s5 = s[0, c], s[1, c], s[2, c], s[3, c], s[4, c], s[5, c]
            for k in range(6):
                f = block[k]
                lifted[k, c] = f[0] * s0 + f[1] * s1 + f[2] * s2 + f[3] * s3 + f[4] * s4 + f[5] * s5
        wait()
        t0, t1, t2, t3, t4, t5 = lifted[0], lifted[1], lifted[2], lifted[3], lifted[4], lifted[5]
        for i in range(lane(), n, lanes()):
            s0, s1, s2, s3, s4, s5 = s[0, i], s[1, i], s[2, i], s[3, i], s[4, i], s[5, i]
            if s0 != 0.0 or s1 != 0.0 or s2 != 0.0 or s3 != 0.0 or s4 != 0.0 or s5 != 0.0:
                line, sign = matrix[i], space.sign[i]
                s0, s1, s2, s3, s4, s5 = sign * s0, sign * s1, sign * s2, sign * s3, sign * s4, sign * s5
                for c in range(n):
                    line[c] += s0 * t0[c] + s1 * t1[c] + s2 * t2[c] + s3 * t3[c] + s4 * t4[c] + s5 * t5[c]
        wait()
        row += 6
    sum_wrenches(problem, space, n, step)
    if not eliminate(matrix, n, 0.0, space.right):
        return False
    move_points(problem, space, n, space.moved)
    for i in range(lane(), contacts.number[0], lanes()):
        slope, m = space.slope[i], space.moved[i]
        tx, ty = slope[3], slope[4]
        slip = slope[0] * (tx * m[0] + ty * m[1]) - slope[1] * m[2]
        step[i, 0] -= slope[0] * m[0] - slip * tx
        step[i, 1] -= slope[0] * m[1] - slip * ty
        step[i, 2] -= slope[2] * m[2]
    wait()
    return True


@inlined
def write_rows(space, pressed, a, n, soft, compliance):
    """Write the three equations of a pressed point: its impulses, W and the other pressed points in its projection."""
    i, w = pressed[a], space.delassus
    r, slope, f, shrink = space.weight[i], space.slope[i], space.residual[i], space.shrink[i]
    own, tx, ty = 1.0 - soft - r * compliance, slope[3], slope[4]
    lean = space.friction[i] if tx != 0.0 or ty != 0.0 else 0.0
    x, y, z = space.matrix[3 * a], space.matrix[3 * a + 1], space.matrix[3 * a + 2]
    wx, wy, wz, right = w[3 * i], w[3 * i + 1], w[3 * i + 2], space.right
    for b in range(n):
        for k in range(3):
            j, c = 3 * pressed[b] + k, 3 * b + k
            along = shrink * (tx * wx[j] + ty * wy[j]) - lean * wz[j]
            x[c], y[c], z[c] = r * (shrink * wx[j] - along * tx), r * (shrink * wy[j] - along * ty), r * wz[j]
    c = 3 * a
    x[c] += 1.0 - own * shrink * (1.0 - tx * tx)
    x[c + 1] += own * shrink * tx * ty
    x[c + 2] -= own * lean * tx
    y[c] += own * shrink * tx * ty
    y[c + 1] += 1.0 - own * shrink * (1.0 - ty * ty)
    y[c + 2] -= own * lean * ty
    z[c + 2] += 1.0 - own
    # Points that are not pressed lose their impulse, which moves this one.
    m = space.moved[i]
    along = shrink * (tx * m[0] + ty * m[1]) - lean * m[2]
    right[c] = -f[0] - r * (shrink * m[0] - along * tx)
    right[c + 1] = -f[1] - r * (shrink * m[1] - along * ty)
    right[c + 2] = -f[2] - r * m[2]


@kernel
def step_by_points(problem, space, scale, soft):
    """Write Newton's step of the impulses in the forces of the points that are pressed; False if there is none."""
    count, right, step, pressed = problem.contacts.number[0], space.right, space.step, space.pressed
    for i in range(lane(), count, lanes()):
        space.moves[i] = 1 if linearise(problem, space, i, scale, soft) else 0
        for k in range(3):
            step[i, k] = 0.0 if space.moves[i] == 1 else -space.residual[i, k]
    wait()
    n = 0
    for i in range(count):
        if space.moves[i] == 1:
            if lane() == 0:
                pressed[n] = i
            n += 1
    wait()
    find_motions(problem, space, scale, step, space.moved)
    for a in range(lane(), n, lanes()):
        write_rows(space, pressed, a, n, soft, scale.compliance)
    wait()
    if not eliminate(space.matrix, 3 * n, 0.0, right):
        return False
    for a in range(lane(), n, lanes()):
        for k in range(3):
            step[pressed[a], k] = right[3 * a + k]
    wait()
    return True


@inlined
def newton_step(problem, space, scale, soft):
    """Write Newton's step of the impulses; False if there is none."""
    if scale.columns > 0:
        return step_by_bodies(problem, space, scale, soft)
    return step_by_points(problem, space, scale, soft)


@inlined
def copy_points(target, source, count):
    """Copy the first ``count`` rows (3,)."""
    for i in range(lane(), count, lanes()):
        target[i, 0], target[i, 1], target[i, 2] = source[i, 0], source[i, 1], source[i, 2]
    wait()


@kernel
def newton(problem, space, scale, soft, limit):
    """Newton's method from z, about which the problem is softened. Returns the residual and the steps taken."""
    z, step, count = space.impulse, space.step, problem.contacts.number[0]
    copy_points(space.centre, z, count)
    error, steps = find_residual(problem, space, scale, soft), 0
    tolerance = max(TOLERANCE, ROUGH * soft)
    while steps < limit and error > tolerance and newton_step(problem, space, scale, soft):
        longest = 0.0
        for i in range(lane(), count, lanes()):
            longest = max(longest, abs(step[i, 0]), abs(step[i, 1]), abs(step[i, 2]))
        length = min(1.0, LONGEST / max(LONGEST, greatest(longest)))
        for i in range(lane(), count, lanes()):
            for k in range(3):
                z[i, k] += length * step[i, k]
        wait()
        error = find_residual(problem, space, scale, soft)
        steps += 1
    return error, steps


@inlined
def project(space, count):
    """Replace z by its projection: on the cone, inside it or at its tip without a rounding error."""
    for i in range(lane(), count, lanes()):
        for k in range(3):
            space.impulse[i, k] -= space.residual[i, k]
    wait()


@kernel
def proximal_newton(problem, space, scale):
    """From the impulses there are to those of a solution. Returns the residual and the steps taken."""
    count, z, best = problem.contacts.number[0], space.impulse, space.best
    copy_points(best, z, count)
    error, steps = newton(problem, space, scale, 0.0, HARD_STEPS)
    if error <= CONTENT:
        project(space, count)
        return error, steps
    copy_points(z, best, count)
    lowest, soft, factor = math.inf, SOFT, HARDER
    while steps < STEPS:
        error, more = newton(problem, space, scale, soft, min(SOFT_STEPS, STEPS - steps))
        steps += max(1, more)
        if error <= max(CONTENT, ROUGH * soft):
            project(space, count)
            error = find_residual(problem, space, scale, 0.0)
            if error < lowest:
                lowest = error
                copy_points(best, z, count)
            if lowest <= CONTENT or soft == 0.0:
                break
            soft = factor * soft if soft > LEAST_SOFT else 0.0
        else:
            copy_points(z, best, count)
            if soft >= SOFTEST or (lowest <= SOLVED and soft <= LEAST_SOFT):
                break
            soft, factor = min(SOFTEST, max(LEAST_SOFT, SOFTER * soft)), SLOWLY
    copy_points(z, best, count)
    return lowest, steps


@inlined
def let_slide(problem, space, size):
    """Give points that stuck and now slide the friction of sliding ones; returns whether there are any."""
    contacts, found = problem.contacts, 0.0
    for i in range(lane(), contacts.number[0], lanes()):
        p, u = contacts.points[i], space.motion[i]
        slip = size * math.sqrt(u[0] * u[0] + u[1] * u[1])
        if space.friction[i] != contacts.dynamic_friction[p] and slip > problem.still and space.impulse[i, 2] > 0.0:
            space.friction[i] = contacts.dynamic_friction[p]
            found = 1.0
    wait()
    return greatest(found) > 0.0


@inlined
def take_forces(problem, space, size):
    """Write the impulses from the forces there are."""
    for i in range(lane(), problem.contacts.number[0], lanes()):
        for k in range(3):
            space.impulse[i, k] = problem.force[problem.contacts.points[i], k] / size
    wait()


@inlined
def give_forces(problem, space, size):
    """Write the forces, and the motions under them, from the impulses."""
    for i in range(lane(), problem.contacts.number[0], lanes()):
        p = problem.contacts.points[i]
        for k in range(3):
            problem.force[p, k], problem.end[p, k] = size * space.impulse[i, k], size * space.motion[i, k]
    wait()


@kernel
def solve_by_newton(problem):
    """Forces of all near points, contact frames, from the last ones, which ``force`` holds, and the motions under
    them. Returns the residual and the steps taken.
    """
    space = problem.newton
    scale = lay_out(problem, space)
    take_forces(problem, space, scale.size)
    error, steps = proximal_newton(problem, space, scale)
    find_residual(problem, space, scale, 0.0)
    if error <= SOLVED and let_slide(problem, space, scale.size):
        error, more = proximal_newton(problem, space, scale)
        find_residual(problem, space, scale, 0.0)
        steps += more
    give_forces(problem, space, scale.size)
    return error, steps


@kernel
def remove_compliance(problem):
    """Continue from forces that solve the problem to the nearest ones of contacts without compliance."""
    space = problem.newton
    scale = lay_out(problem, space)
    rigid = Scale(scale.columns, scale.size, 0.0)
    take_forces(problem, space, scale.size)
    newton(problem, space, rigid, COMPLIANCE, HARD_STEPS)
    project(space, problem.contacts.number[0])
    give_forces(problem, space, scale.size)
