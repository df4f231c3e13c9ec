"""Newton's method on Coulomb's exact cone, for all near points at once.

Impulses z of the points move them by ``u = free + W z`` in their contact frames. The solution is the z with

    z = P(z - r (u + compliance z - target n))                                                    (Alart, Curnier 1991)

where P projects onto Coulomb's law: the normal part onto z_n >= 0, the tangential part onto the disc of radius mu z_n.
The compliance is a billionth of the mobility of the most mobile point (:data:`footfall.solve.problem.COMPLIANCE`). It
makes the forces of points that share a body unique: those of least norm.

All points of a body move together. With G the wrenches of unit forces on the points of a body, and S the motions of
the body in the coordinates that contacts move, each with the sign s of its weight (see ``response`` of
:class:`footfall.solve.contacts.Contacts`), ``W = G S s S^T G^T`` need not be formed: with P linearised,
``z' = B z + E u'``, a step solves

    (1 + s S^T (G^T E G) S) y = s S^T G^T step,

which has about as many unknowns as the robot has degrees of freedom, however many points there are. Few coordinates
move a given body: its S is stored without the columns that are zero. Coordinates are eliminated from the hands and feet
to the trunk, as in the inertia matrix, which avoids fill-in between limbs. Where W has fewer rows than there are such
coordinates, it is formed, and a step solves ``(1 + E W) z' = step`` for the points under load.

Where full steps do not converge, the proximal point method (Rockafellar 1976) is used: the problem is softened about
the last iterate, and hardened again as iterates converge. So it is as soon as a step near a solution raises the
residual: among points whose forces only compliance determines, as under a robot that lies, full steps are long and
jump from one set of points in contact to another.

On a GPU a warp solves one problem (:mod:`footfall.compiled.lanes`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from footfall.compiled import inlined, kernel
from footfall.compiled.lanes import greatest, lane, lanes, total, wait
from footfall.kinds import Bool, Float, Int, Matrix, Vector
from footfall.solve.contacts import ALL, OWN, SLIDE, Contacts, write_mobility
from footfall.solve.dense import eliminate
from footfall.solve.held_feet import GIVES_WAY
from footfall.solve.problem import ANY, COMPLIANCE, MODE, NewtonScratch, Problem, known_slip

#: Residuals, relative to the largest impulse that stops one point alone. Newton iterates down to the first, a
#: thousandth of the compliance, so that forces which only compliance determines have three digits; it accepts the
#: second where rounding prevents the first; below the third a problem counts as solved.
TOLERANCE, CONTENT, SOLVED = 1e-12, 1e-10, 1e-6
#: Iteration limits: of a whole search, of the original problem, and of each softened one. The last two are low, since
#: Newton converges in a few steps or not at all.
STEPS, HARD_STEPS, SOFT_STEPS = 300, 8, 10
#: Softness, relative to each point's own mobility: of the first softened problem, the largest, and the smallest. The
#: first is also the residual below which an iterate is near a solution: as near as that of the first softened problem.
#: The largest is for soles of as many points, whose common mobility is that many times the share of each.
SOFT, SOFTEST, LEAST_SOFT = 1e-2, 100.0, 1e-9
#: Factors of the softness: after convergence, after convergence once a problem has failed, and after a failure.
HARDER, SLOWLY, SOFTER = 0.1, 0.2, 10.0
#: Tolerance of a softened problem, as a share of its softness.
ROUGH = 1e-2
#: Longest change of an impulse in a step, relative to the largest impulse that stops one point alone.
LONGEST = 2.0


class Scale(NamedTuple):
    """The size of a problem."""

    columns: int  # of S; zero if W is formed
    size: float  # the unit of impulses
    compliance: float  # of contacts, in the unit of W


@inlined
def write_motions(problem: Problem, space: NewtonScratch) -> Int:
    """Write S of each body and the signs of its columns; returns the number of columns that move any of the bodies."""
    contacts, near, response = problem.contacts, problem.contacts.near, problem.contacts.response
    weight, whole, number = contacts.weight, contacts.number[2], space.number
    for j in range(lane(), whole, lanes()):
        number[j] = -1
    wait()
    for b in range(lane(), near.size - 1, lanes()):
        width, motions = 0, space.motions[b]
        for j in range(whole if near[b + 1] > near[b] else 0):
            h = response[b, j]
            size = abs(h[0]) + abs(h[1]) + abs(h[2]) + abs(h[3]) + abs(h[4]) + abs(h[5])
            if weight[j] != 0.0 and size != 0.0:
                root, number[j], space.support[b, width] = math.sqrt(problem.step * abs(weight[j])), 0, j
                for k in range(6):
                    motions[k, width] = root * h[k]
                width += 1
        space.width[b] = width
    wait()
    n = 0
    for j in range(whole - 1, -1, -1):
        if number[j] >= 0:  # still true after the first lane has numbered the column
            if lane() == 0:
                space.sign[n] = 1.0 if weight[j] > 0.0 else -1.0
                number[j] = n
            n += 1
    wait()
    for b in range(lane(), near.size - 1, lanes()):
        for c in range(space.width[b]):
            space.support[b, c] = number[space.support[b, c]]
    wait()
    return n


@inlined
def write_lever(contacts: Contacts, p: Int, levers: Matrix) -> None:
    """Write the wrenches of unit forces along the axes of a point's contact frame, (3, 6)."""
    r = contacts.arm[p]
    for k in range(3):
        e, row = contacts.frame[p, k], levers[k]
        row[0], row[1], row[2] = e[0], e[1], e[2]
        row[3], row[4], row[5] = r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]


@inlined
def mobility_of_point(contacts: Contacts, p: Int, b: Int) -> Float:
    """Trace of a point's own mobility ``[1 -r] L [1 -r]^T``, L being the mobility of its body."""
    r, m, k = contacts.arm[p], contacts.mobility, 6 * b
    x, y, z = r[0], r[1], r[2]
    xx, yy, zz = m[k + 3, k + 3], m[k + 4, k + 4], m[k + 5, k + 5]
    turning = (y * y + z * z) * xx + (x * x + z * z) * yy + (x * x + y * y) * zz
    turning -= 2.0 * (x * y * m[k + 3, k + 4] + x * z * m[k + 3, k + 5] + y * z * m[k + 4, k + 5])
    mixed = x * (m[k + 1, k + 5] - m[k + 2, k + 4])
    mixed += y * (m[k + 2, k + 3] - m[k, k + 5]) + z * (m[k, k + 4] - m[k + 1, k + 3])
    return m[k, k] + m[k + 1, k + 1] + m[k + 2, k + 2] + 2.0 * mixed + turning


@kernel
def write_out(problem: Problem, space: NewtonScratch) -> None:
    """Form W from the mobility of the bodies."""
    contacts, w, step = problem.contacts, space.delassus, problem.step
    write_mobility(contacts, ALL)
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
                value = along(space.levers[c], (m0, m1, m2, m3, m4, m5))
                w[e, c], w[c, e] = value, value
    wait()


@kernel
def lay_out(problem: Problem, space: NewtonScratch) -> Scale:
    """Write G, the weights and the friction of every near point, and S, or W if that is smaller. Returns the scale."""
    contacts, weight = problem.contacts, space.weight
    write_mobility(contacts, OWN)
    size, mobile = 1e-300, 0.0
    for i in range(lane(), contacts.number[0], lanes()):
        p = contacts.points[i]
        write_lever(contacts, p, space.levers[3 * i : 3 * i + 3])
        trace = problem.step * mobility_of_point(contacts, p, contacts.body[p])
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
    n = write_motions(problem, space)
    if 3 * contacts.number[0] <= n:
        write_out(problem, space)
        n = 0
    return Scale(n, greatest(size), COMPLIANCE * greatest(mobile))


@inlined
def sum_wrenches(problem: Problem, space: NewtonScratch, n: Int, impulse: Matrix) -> None:
    """Write ``y = s S^T G^T z`` of impulses z (P, 3) to ``space.right``."""
    near, y = problem.contacts.near, space.right
    for c in range(lane(), n, lanes()):
        y[c] = 0.0
    wait()
    for b in range(near.size - 1):
        if near[b + 1] == near[b]:
            continue
        w0, w1, w2, w3, w4, w5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(near[b] + lane(), near[b + 1], lanes()):
            x, v, z = impulse[i, 0], impulse[i, 1], impulse[i, 2]
            if x != 0.0 or v != 0.0 or z != 0.0:
                gx, gy, gz = space.levers[3 * i], space.levers[3 * i + 1], space.levers[3 * i + 2]
                w0, w1 = w0 + x * gx[0] + v * gy[0] + z * gz[0], w1 + x * gx[1] + v * gy[1] + z * gz[1]
                w2, w3 = w2 + x * gx[2] + v * gy[2] + z * gz[2], w3 + x * gx[3] + v * gy[3] + z * gz[3]
                w4, w5 = w4 + x * gx[4] + v * gy[4] + z * gz[4], w5 + x * gx[5] + v * gy[5] + z * gz[5]
        w0, w1, w2, w3, w4, w5 = total(w0), total(w1), total(w2), total(w3), total(w4), total(w5)
        s, support = space.motions[b], space.support[b]
        for a in range(lane(), space.width[b], lanes()):
            value = s[0, a] * w0 + s[1, a] * w1 + s[2, a] * w2 + s[3, a] * w3 + s[4, a] * w4 + s[5, a] * w5
            y[support[a]] += space.sign[support[a]] * value
        wait()


@inlined
def move_bodies(problem: Problem, space: NewtonScratch) -> None:
    """Write the motions ``S y`` of the bodies, y being in ``space.right``."""
    near, y = problem.contacts.near, space.right
    for b in range(near.size - 1):
        if near[b + 1] == near[b]:
            continue
        s, support, m = space.motions[b], space.support[b], space.moved[b]
        m0, m1, m2, m3, m4, m5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(lane(), space.width[b], lanes()):
            part = y[support[a]]
            m0, m1, m2 = m0 + s[0, a] * part, m1 + s[1, a] * part, m2 + s[2, a] * part
            m3, m4, m5 = m3 + s[3, a] * part, m4 + s[4, a] * part, m5 + s[5, a] * part
        m[0], m[1], m[2], m[3], m[4], m[5] = total(m0), total(m1), total(m2), total(m3), total(m4), total(m5)
    wait()


@inlined
def along(g: Vector, m: Any) -> Float:
    """The motion of a point along an axis of wrench ``g`` (6,), from the motion ``m`` (6,) of its body."""
    return g[0] * m[0] + g[1] * m[1] + g[2] * m[2] + g[3] * m[3] + g[4] * m[4] + g[5] * m[5]


@inlined
def moved_by_impulses(space: NewtonScratch, scale: Scale, i: Int, b: Int, k: Int, count: Int) -> Float:
    """``W z`` of one point along one axis, from the motions of the bodies or, if formed, from W."""
    if scale.columns > 0:
        return along(space.levers[3 * i + k], space.moved[b])
    value, line, z = 0.0, space.delassus[3 * i + k], space.impulse
    for j in range(count):
        value += line[3 * j] * z[j, 0] + line[3 * j + 1] * z[j, 1] + line[3 * j + 2] * z[j, 2]
    return value


@inlined
def project_point(
    problem: Problem, space: NewtonScratch, i: Int, p: Int, limit: Float, x: Float, y: Float
) -> tuple[Float, Float]:
    """Friction, at most ``limit``, nearest to a tangential impulse (x, y); writes the direction of sliding friction,
    zero where the point sticks, and the factor by which (x, y) is shortened.
    """
    slope = space.slope[i]
    slope[3], slope[4], space.shrink[i] = 0.0, 0.0, 1.0
    if known_slip(problem, p):
        slope[3], slope[4], space.shrink[i] = -problem.slip[p, 0], -problem.slip[p, 1], 0.0
        return limit * slope[3], limit * slope[4]
    square = x * x + y * y
    if square <= limit * limit:
        return x, y
    inverse = 1.0 / math.sqrt(square)
    slope[3], slope[4], space.shrink[i] = x * inverse, y * inverse, limit * inverse
    return limit * slope[3], limit * slope[4]


@kernel
def find_residual(problem: Problem, space: NewtonScratch, scale: Scale, soft: Float) -> Float:
    """Write the motions u under the impulses, compliance and softness included, the residual, and which points are
    under load (``pressed``); returns the largest residual. Of unloaded points only the normal motion is written.
    """
    contacts, size, count, worst = problem.contacts, scale.size, problem.contacts.number[0], 0.0
    if scale.columns > 0:
        sum_wrenches(problem, space, scale.columns, space.impulse)
        move_bodies(problem, space)
    for i in range(lane(), count, lanes()):
        p, r, z, u, phi = contacts.points[i], space.weight[i], space.impulse[i], space.motion[i], space.residual[i]
        b, pull, centre, free = contacts.body[p], soft / r, space.centre[i], problem.free[p]
        own = scale.compliance + pull
        u[2] = moved_by_impulses(space, scale, i, b, 2, count) + free[2] / size + own * z[2] - pull * centre[2]
        normal = z[2] - r * (u[2] - problem.target[p] / size)
        space.pressed[i] = 1 if normal > 0.0 else 0
        if normal <= 0.0:
            phi[0], phi[1], phi[2] = z[0], z[1], z[2]
        else:
            u[0] = moved_by_impulses(space, scale, i, b, 0, count) + free[0] / size + own * z[0] - pull * centre[0]
            u[1] = moved_by_impulses(space, scale, i, b, 1, count) + free[1] / size + own * z[1] - pull * centre[1]
            x, y = project_point(problem, space, i, p, space.friction[i] * normal, z[0] - r * u[0], z[1] - r * u[1])
            phi[0], phi[1], phi[2] = z[0] - x, z[1] - y, z[2] - normal
        worst = max(worst, abs(phi[0]), abs(phi[1]), abs(phi[2]))
    wait()
    return greatest(worst)


@inlined
def linearise(space: NewtonScratch, i: Int, compliance: Float, soft: Float) -> None:
    """Write E of a point to ``slope``, and ``-B^-1 phi`` to ``step``, phi being its residual."""
    r, mu, f, step, slope = space.weight[i], space.friction[i], space.residual[i], space.step[i], space.slope[i]
    if space.pressed[i] == 0:
        step[0], step[1], step[2] = -f[0], -f[1], -f[2]
        return
    tx, ty, shrink = slope[3], slope[4], space.shrink[i]
    own = 1.0 - soft - r * compliance
    across, down = 1.0 / (1.0 - own * shrink), 1.0 / (1.0 - own)
    slides = tx != 0.0 or ty != 0.0
    lean = mu * (1.0 + own * down) if slides else 0.0
    extra = (1.0 - across) * (tx * f[0] + ty * f[1]) + (lean - mu if slides else 0.0) * f[2]
    step[0], step[1], step[2] = -across * f[0] - extra * tx, -across * f[1] - extra * ty, -down * f[2]
    slope[0], slope[1], slope[2] = r * shrink * across, r * lean, r * down


@inlined
def answer(slope: Vector, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """``E u`` of a pressed point."""
    slip = slope[0] * (slope[3] * x + slope[4] * y) - slope[1] * z
    return slope[0] * x - slip * slope[3], slope[0] * y - slip * slope[4], slope[2] * z


@inlined
def turn_levers(space: NewtonScratch, i: Int) -> None:
    """Write ``E G`` (3, 6) of a pressed point."""
    slope, gx, gy, gz = space.slope[i], space.levers[3 * i], space.levers[3 * i + 1], space.levers[3 * i + 2]
    hx, hy, hz = space.turned[3 * i], space.turned[3 * i + 1], space.turned[3 * i + 2]
    for j in range(6):
        hx[j], hy[j], hz[j] = answer(slope, gx[j], gy[j], gz[j])


@inlined
def write_block(space: NewtonScratch, first: Int, last: Int) -> None:
    """Write ``G^T E G`` of one body, whose points are ``first`` to ``last``."""
    for e in range(lane(), 6, lanes()):
        v0, v1, v2, v3, v4, v5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(first, last):
            if space.pressed[i] == 1:
                x, y, z = space.levers[3 * i, e], space.levers[3 * i + 1, e], space.levers[3 * i + 2, e]
                hx, hy, hz = space.turned[3 * i], space.turned[3 * i + 1], space.turned[3 * i + 2]
                v0, v1 = v0 + x * hx[0] + y * hy[0] + z * hz[0], v1 + x * hx[1] + y * hy[1] + z * hz[1]
                v2, v3 = v2 + x * hx[2] + y * hy[2] + z * hz[2], v3 + x * hx[3] + y * hy[3] + z * hz[3]
                v4, v5 = v4 + x * hx[4] + y * hy[4] + z * hz[4], v5 + x * hx[5] + y * hy[5] + z * hz[5]
        row = space.block[e]
        row[0], row[1], row[2], row[3], row[4], row[5] = v0, v1, v2, v3, v4, v5
    wait()


@inlined
def add_block(space: NewtonScratch, b: Int) -> None:
    """Add ``s S^T (G^T E G) S`` of one body to ``space.matrix``."""
    block, s, support, width, lifted = space.block, space.motions[b], space.support[b], space.width[b], space.lifted
    for a in range(lane(), width, lanes()):
        s0, s1, s2, s3, s4, s5 = s[0, a], s[1, a], s[2, a], s[3, a], s[4, a], s[5, a]
        for k in range(6):
            f = block[k]
            lifted[k, a] = f[0] * s0 + f[1] * s1 + f[2] * s2 + f[3] * s3 + f[4] * s4 + f[5] * s5
    wait()
    t0, t1, t2, t3, t4, t5 = lifted[0], lifted[1], lifted[2], lifted[3], lifted[4], lifted[5]
    for a in range(lane(), width, lanes()):
        line, sign = space.matrix[support[a]], space.sign[support[a]]
        s0, s1, s2, s3, s4, s5 = s[0, a], s[1, a], s[2, a], s[3, a], s[4, a], s[5, a]
        for c in range(width):
            value = s0 * t0[c] + s1 * t1[c] + s2 * t2[c] + s3 * t3[c] + s4 * t4[c] + s5 * t5[c]
            line[support[c]] += sign * value
    wait()


@inlined
def step_by_bodies(problem: Problem, space: NewtonScratch, n: Int) -> Bool:
    """Complete the step of all points in the coordinates of S; False if the matrix is singular."""
    contacts, near, matrix, step = problem.contacts, problem.contacts.near, space.matrix, space.step
    for i in range(lane(), n, lanes()):
        line = matrix[i]
        for j in range(n):
            line[j] = 0.0
        line[i] = 1.0
    for b in range(near.size - 1):
        some = 0.0
        for i in range(near[b] + lane(), near[b + 1], lanes()):
            if space.pressed[i] == 1:
                some = 1.0
                turn_levers(space, i)
        wait()
        if greatest(some) > 0.0:
            write_block(space, near[b], near[b + 1])
            add_block(space, b)
    sum_wrenches(problem, space, n, step)
    if not eliminate(matrix, n, 0.0, space.right):
        return False
    move_bodies(problem, space)
    for i in range(lane(), contacts.number[0], lanes()):
        if space.pressed[i] == 1:
            g, m = space.levers[3 * i : 3 * i + 3], space.moved[contacts.body[contacts.points[i]]]
            x, y, z = answer(space.slope[i], along(g[0], m), along(g[1], m), along(g[2], m))
            step[i, 0] -= x
            step[i, 1] -= y
            step[i, 2] -= z
    wait()
    return True


@inlined
def write_equations(space: NewtonScratch, i: Int, row: Int, count: Int) -> None:
    """Write the three equations of a pressed point in the steps of all pressed points; other steps are known."""
    w, slope, step, right = space.delassus, space.slope[i], space.step, space.right
    wx, wy, wz = w[3 * i], w[3 * i + 1], w[3 * i + 2]
    ax, ay, az = space.matrix[row], space.matrix[row + 1], space.matrix[row + 2]
    bx, by, bz, c = step[i, 0], step[i, 1], step[i, 2], 0
    for j in range(count):
        pressed = space.pressed[j] == 1
        for k in range(3):
            e = 3 * j + k
            x, y, z = answer(slope, wx[e], wy[e], wz[e])
            if pressed:
                ax[c], ay[c], az[c] = x, y, z
                c += 1
            else:
                bx, by, bz = bx - x * step[j, k], by - y * step[j, k], bz - z * step[j, k]
    ax[row] += 1.0
    ay[row + 1] += 1.0
    az[row + 2] += 1.0
    right[row], right[row + 1], right[row + 2] = bx, by, bz


@inlined
def pressed_before(space: NewtonScratch, i: Int) -> Int:
    """How many of the first ``i`` points are pressed."""
    number = 0
    for j in range(i):
        number += space.pressed[j]
    return number


@inlined
def step_by_points(problem: Problem, space: NewtonScratch) -> Bool:
    """Complete the step of all points in the impulses of the pressed ones; False if the matrix is singular."""
    count, step, right = problem.contacts.number[0], space.step, space.right
    for i in range(lane(), count, lanes()):
        if space.pressed[i] == 1:
            write_equations(space, i, 3 * pressed_before(space, i), count)
    wait()
    if not eliminate(space.matrix, 3 * pressed_before(space, count), 0.0, right):
        return False
    for i in range(lane(), count, lanes()):
        if space.pressed[i] == 1:
            row = 3 * pressed_before(space, i)
            step[i, 0], step[i, 1], step[i, 2] = right[row], right[row + 1], right[row + 2]
    wait()
    return True


@kernel
def newton_step(problem: Problem, space: NewtonScratch, scale: Scale, soft: Float) -> Bool:
    """Write Newton's step of the impulses; False if the matrix is singular."""
    for i in range(lane(), problem.contacts.number[0], lanes()):
        linearise(space, i, scale.compliance, soft)
    wait()
    if scale.columns > 0:
        return step_by_bodies(problem, space, scale.columns)
    return step_by_points(problem, space)


@inlined
def copy_points(target: Matrix, source: Matrix, count: Int) -> None:
    """Copy the first ``count`` rows (3,)."""
    for i in range(lane(), count, lanes()):
        target[i, 0], target[i, 1], target[i, 2] = source[i, 0], source[i, 1], source[i, 2]
    wait()


@inlined
def add_step(space: NewtonScratch, length: Float, count: Int) -> None:
    """Add ``length`` times the step to the impulses."""
    for i in range(lane(), count, lanes()):
        for k in range(3):
            space.impulse[i, k] += length * space.step[i, k]
    wait()


@kernel
def newton(problem: Problem, space: NewtonScratch, scale: Scale, soft: Float, limit: Int) -> tuple[Float, Int]:
    """Newton's method from z on the problem softened about z by ``soft``. Returns the residual and the steps taken.

    A step that raises the residual of the original problem near a solution is taken back, and ends the method.
    """
    z, step, count = space.impulse, space.step, problem.contacts.number[0]
    copy_points(space.centre, z, count)
    error, steps = find_residual(problem, space, scale, soft), 0
    tolerance, least = max(TOLERANCE, ROUGH * soft), 1 if soft > 0.0 else 0  # a softened problem is to move its centre
    while steps < limit and (error > tolerance or steps < least) and newton_step(problem, space, scale, soft):
        longest = 0.0
        for i in range(lane(), count, lanes()):
            longest = max(longest, abs(step[i, 0]), abs(step[i, 1]), abs(step[i, 2]))
        length = min(1.0, LONGEST / max(LONGEST, greatest(longest)))
        add_step(space, length, count)
        before, error = error, find_residual(problem, space, scale, soft)
        steps += 1
        if soft == 0.0 and error > before and before < SOFT:
            add_step(space, -length, count)
            return find_residual(problem, space, scale, soft), steps
    return error, steps


@inlined
def project(space: NewtonScratch, count: Int) -> None:
    """Replace z by its projection P: exactly on the cone, inside it, or zero."""
    for i in range(lane(), count, lanes()):
        for k in range(3):
            space.impulse[i, k] -= space.residual[i, k]
    wait()


@kernel
def proximal_newton(problem: Problem, space: NewtonScratch, scale: Scale) -> tuple[Float, Int]:
    """Newton's method, on softened problems if it fails; writes impulses and motions. Returns residual and steps."""
    count, z, best = problem.contacts.number[0], space.impulse, space.best
    copy_points(best, z, count)
    error, steps = newton(problem, space, scale, 0.0, HARD_STEPS)
    if error <= CONTENT:
        project(space, count)
        if error > TOLERANCE:
            find_residual(problem, space, scale, 0.0)
        return error, steps
    if steps == HARD_STEPS:
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
            copy_points(z, space.centre, count)  # not ``best``: a point of least residual may be far from a solution
            if soft >= SOFTEST or (lowest <= SOLVED and soft <= LEAST_SOFT):
                break
            soft, factor = min(SOFTEST, max(LEAST_SOFT, SOFTER * soft)), SLOWLY
    copy_points(z, best, count)
    find_residual(problem, space, scale, 0.0)
    return lowest, steps


@inlined
def move_open_points(problem: Problem, space: NewtonScratch, scale: Scale) -> None:
    """Write the tangential motions of unloaded points, which :func:`find_residual` leaves out."""
    contacts, count = problem.contacts, problem.contacts.number[0]
    for i in range(lane(), count, lanes()):
        p = contacts.points[i]
        for k in range(2 if space.pressed[i] == 0 else 0):
            moved = moved_by_impulses(space, scale, i, contacts.body[p], k, count)
            space.motion[i, k] = moved + problem.free[p, k] / scale.size
    wait()


@inlined
def let_slide(problem: Problem, space: NewtonScratch, size: Float) -> Bool:
    """Give points that begin to slide their dynamic friction; returns whether there are any."""
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
def take_forces(problem: Problem, space: NewtonScratch, size: Float) -> None:
    """Write the impulses from ``problem.force``, in units of ``size``."""
    for i in range(lane(), problem.contacts.number[0], lanes()):
        for k in range(3):
            space.impulse[i, k] = problem.force[problem.contacts.points[i], k] / size
    wait()


@inlined
def give_forces(problem: Problem, space: NewtonScratch, size: Float) -> None:
    """Write ``problem.force`` and ``problem.end`` from the impulses and their motions."""
    for i in range(lane(), problem.contacts.number[0], lanes()):
        p = problem.contacts.points[i]
        for k in range(3):
            problem.force[p, k], problem.end[p, k] = size * space.impulse[i, k], size * space.motion[i, k]
    wait()


@inlined
def borne_by_compliance(problem: Problem, space: NewtonScratch, scale: Scale) -> Float:
    """The motion that compliance contributes, as a share of the largest motion; 0 up to the share ``GIVES_WAY``.

    Between jammed bodies no force produces the wanted motion, and the forces would grow until compliance does. Each
    point's impulse is therefore limited to one that moves its compliance by the share ``GIVES_WAY``.
    """
    motion, way, count = 0.0, 0.0, problem.contacts.number[0]
    for i in range(lane(), count, lanes()):
        p, z = problem.contacts.points[i], space.impulse[i]
        for k in range(3):
            motion = max(motion, abs(problem.free[p, k]) / scale.size)
            way = max(way, scale.compliance * abs(z[k]))
    motion, way = greatest(motion), greatest(way)
    if not way > GIVES_WAY * motion:
        return 0.0
    for i in range(lane(), count, lanes()):
        z = space.impulse[i]
        share = GIVES_WAY * motion / max(GIVES_WAY * motion, scale.compliance * max(abs(z[0]), abs(z[1]), abs(z[2])))
        z[0], z[1], z[2] = share * z[0], share * z[1], share * z[2]
    wait()
    return way / motion


@kernel
def solve_by_newton(problem: Problem) -> tuple[Float, Int]:
    """Replace ``problem.force``, the last forces of all near points, by those of a solution, and write the motions.
    Returns the residual and the steps taken.
    """
    space = problem.newton
    scale = lay_out(problem, space)
    take_forces(problem, space, scale.size)
    error, steps = proximal_newton(problem, space, scale)
    while error <= SOLVED and let_slide(problem, space, scale.size):  # friction only falls, so this ends
        error, more = proximal_newton(problem, space, scale)
        steps += more
    move_open_points(problem, space, scale)
    borne = borne_by_compliance(problem, space, scale)
    give_forces(problem, space, scale.size)
    return max(error, borne), steps


@kernel
def remove_compliance(problem: Problem) -> None:
    """Correct forces that solve the problem with compliance to the nearest solution without it."""
    space = problem.newton
    scale = lay_out(problem, space)
    rigid = Scale(scale.columns, scale.size, 0.0)
    take_forces(problem, space, scale.size)
    newton(problem, space, rigid, COMPLIANCE, HARD_STEPS)
    project(space, problem.contacts.number[0])
    give_forces(problem, space, scale.size)
