"""The states of a foot (Moraud 2008, Table I) and the forces that a choice of states gives.

A foot has no contact, or a vertex, an edge or the whole face is clamped, static or sliding. Multipliers at a virtual
joint, the mean of the clamped vertices, hold them: translations along x, y, z, then the rotations that the clamped
vertices prevent. The centre of pressure follows from the multipliers (section III, with corrected signs).

The paper's sliding friction acts at the virtual joint, where it cannot brake a foot that spins on the spot. Here each
vertex has its own friction, ``-mu N v / |v|``, with its load N and slip v. It is linearised in slip and load, and
iterated until friction, load and slip agree, which is Newton's method; a vertex that may stop gets a damper instead, so
that it can come to rest.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from footfall.compiled import cold, inlined, kernel, separate
from footfall.kinds import Bool, Float, Int, Matrix, Vector
from footfall.solve.contacts import OPEN, SLIDE, Contacts, coupled_signature
from footfall.solve.dense import eliminate, minimum_norm_solve
from footfall.solve.problem import MEMORY_SIZE as OF_POINTS
from footfall.solve.problem import MODE
from footfall.solve.selection.soles import Workspace, workspace_type

NONE, VERTEX, EDGE, FACE = 0, 1, 2, 3
SLIDING = 4  # added to a state
INDEX = 3  # a state holds its first vertex to the left of these bits
# A point's memory beyond that of the contact problem: its slip speed and its load.
SPEED, LOAD = OF_POINTS, OF_POINTS + 1
MEMORY_SIZE = OF_POINTS + 2
#: m/s, slip speed below which the initial guess of friction is a damper, so that the foot may come to rest.
SLOW = 1e-4
#: m/s, slip speed below which a point is at rest.
STILL = 1e-8
#: Pivots below this share of the largest belong to motions that no force produces.
SINGULAR = 1e-11
#: Compliance, relative to the mobility, that makes the forces of sliding feet unique where such motions exist.
COMPLIANCE = 1e-9
#: Iteration limit of friction, load and slip, and the relative tolerance of their agreement.
ROUNDS, AGREEMENT = 40, 1e-9
#: Iterations in which the linear problem includes the dependence of friction on load (Newton's method); after them
#: loads lag by one iteration, since Newton's method fails where friction jams a foot.
NEWTON = 16
#: Share of friction along the slip that is a constant force, the rest being a damper: all of it in Newton's tangent,
#: none in the damper of a vertex that may stop. STOPPING is zero but tells a vertex that Newton overshot from others.
TANGENT, STOPPING, DAMPER = 1.0, 1e-300, 0.0
#: Distance from an edge, relative to the size of the outline, below which a centre of pressure lies on the edge.
ON_EDGE = 1e-12


@inlined
def clamped(code: Int, vertices: Int) -> Int:
    """How many vertices a state clamps."""
    kind = code & 3
    return vertices if kind == FACE else kind


@inlined
def vertex(work: Workspace, b: Int, code: Int, j: Int) -> Int:
    """The j-th point that a state of a foot clamps; beyond these, the following points of its outline."""
    begin, n = work.begin[b], work.begin[b + 1] - work.begin[b]
    k = (code >> INDEX) + j
    return work.ring[begin + (k if k < n else k - n)]


@inlined
def state_of(modes: Vector, work: Workspace, b: Int) -> Int:
    """The state of a foot whose points have these ``modes`` (P,)."""
    begin, n = work.begin[b], work.begin[b + 1] - work.begin[b]
    count, first, slides = 0, 0, 0
    for j in range(n):
        mode = modes[work.ring[begin + j]]
        if mode != OPEN:
            count += 1
            if modes[work.ring[begin + (j - 1 if j > 0 else n - 1)]] == OPEN:
                first = j
        if mode == SLIDE:
            slides = SLIDING
    if count == 2 and n > 2 and modes[work.ring[begin + (first + 1 if first + 1 < n else 0)]] == OPEN:
        count = n  # two vertices that are not neighbours
    return FACE | slides if count >= 3 else count | slides | first << INDEX if count > 0 else NONE


@inlined
def put_joint(contacts: Contacts, work: Workspace, b: Int, row: Int) -> Int:
    """Write the constraints of a foot from ``row`` on: unit wrenches, and the velocity that each must add.

    Returns the next free row.
    """
    code, kind = work.code[b], work.code[b] & 3
    count = clamped(code, work.begin[b + 1] - work.begin[b])
    if count == 0:
        return row
    frame = contacts.frame[work.ring[work.begin[b]]]
    joint, v, wanted = work.joint[b], work.motion[b], work.wanted
    x, y, z, rx, ry, rz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    up, forth, aside = 0.0, 0.0, 0.0
    for j in range(count):
        p = vertex(work, b, code, j)
        place, arm = work.place[p], contacts.arm[p]
        x, y, z = x + place[0], y + place[1], z + place[2]
        rx, ry, rz = rx + arm[0], ry + arm[1], rz + arm[2]
        up, forth, aside = up + place[3], forth + place[4], aside + place[5]
    share = 1.0 / count
    x, y, z, rx, ry, rz = x * share, y * share, z * share, rx * share, ry * share, rz * share
    joint[0], joint[1], joint[2], joint[3], joint[4], joint[5] = x, y, z, 0.0, 0.0, 0.0
    holds = 0.0 if code & SLIDING else share  # Moraud 2008, Table I
    for k in range(3):
        e, w = frame[k], work.basis[row + k]
        w[0], w[1], w[2] = e[0], e[1], e[2]
        w[3], w[4], w[5] = ry * e[2] - rz * e[1], rz * e[0] - rx * e[2], rx * e[1] - ry * e[0]
    wanted[row] = forth * holds - v[0] - v[4] * z + v[5] * y
    wanted[row + 1] = aside * holds - v[1] - v[5] * x + v[3] * z
    wanted[row + 2] = up * share - v[2] - v[3] * y + v[4] * x
    if count == 1:
        return row + 3
    # Angular velocities that give the vertices their wanted velocities as nearly as one foot can.
    xx, yy, xy, rise_x, rise_y, twist = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        place = work.place[vertex(work, b, code, j)]
        u, w = place[0] - x, place[1] - y
        xx += u * u
        yy += w * w
        xy += u * w
        rise_x += u * place[3]
        rise_y += w * place[3]
        twist += u * place[5] - w * place[4]
    size = 1.0 / (xx + yy)
    if kind == EDGE:
        xx, yy, xy = xx * size * size, yy * size * size, xy * size * size
    else:
        determinant = 1.0 / (xx * yy - xy * xy)
        xx, yy, xy = yy * determinant, xx * determinant, -xy * determinant
    joint[3], joint[4], joint[5] = xx, yy, xy
    tilt_x, tilt_y = xy * rise_x + yy * rise_y, -xx * rise_x - xy * rise_y
    if kind == EDGE:
        a, c = work.place[vertex(work, b, code, 0)], work.place[vertex(work, b, code, 1)]
        length = math.sqrt((c[0] - a[0]) ** 2 + (c[1] - a[1]) ** 2)
        joint[6], joint[7] = (c[0] - a[0]) / length, (c[1] - a[1]) / length
    for k in range(1, kind):
        _, along_x, along_y = per_multiplier(work, b, k)
        put_rotation(frame, along_y, -along_x, 0.0, work.basis[row + 2 + k])
        wanted[row + 2 + k] = along_y * (tilt_x - v[3]) - along_x * (tilt_y - v[4])
    last = row + 2 + kind
    put_rotation(frame, 0.0, 0.0, 1.0, work.basis[last])
    wanted[last] = (0.0 if code & SLIDING else twist * size) - v[5]
    return last + 1


@inlined
def put_rotation(frame: Matrix, x: Float, y: Float, z: Float, w: Vector) -> None:
    w[0], w[1], w[2] = 0.0, 0.0, 0.0
    for k in range(3):
        w[3 + k] = x * frame[0, k] + y * frame[1, k] + z * frame[2, k]


@inlined
def assemble(contacts: Contacts, dt: Float, work: Workspace) -> Int:
    """Write the matrix of the states in ``work.code``: change of velocity along the constraints in a step, per unit
    multiplier. Returns the number of constraints.
    """
    feet, rows = contacts.near.size - 1, 0
    for b in range(feet):
        work.row[b] = rows
        rows = put_joint(contacts, work, b, rows)
    work.row[feet] = rows
    for b in range(feet):
        for k in range(work.row[b], work.row[b + 1]):
            w = work.basis[k]
            for o in range(feet):
                if contacts.near[o + 1] == contacts.near[o]:
                    continue
                for c in range(6):
                    value = 0.0
                    for j in range(6):
                        value += contacts.mobility[6 * o + c, 6 * b + j] * w[j]
                    work.mapped[k, 6 * o + c] = dt * value
            for o in range(b + 1):
                for m in range(work.row[o], min(k + 1, work.row[o + 1])):
                    value = 0.0
                    for c in range(6):
                        value += work.mapped[k, 6 * o + c] * work.basis[m, c]
                    work.matrix[k, m] = value
    for k in range(rows):
        d = work.matrix[k, k]
        work.scale[k] = 1.0 / math.sqrt(d) if d > 0.0 else 0.0
    return rows


@inlined
def solve_static(work: Workspace, rows: Int) -> None:
    """Write the multipliers of assembled states in which no foot slides, of least norm if they are not unique."""
    for i in range(rows):
        for j in range(i):
            work.system[i, j] = work.matrix[i, j] * work.scale[i] * work.scale[j]
        work.system[i, i] = 1.0
        work.multiplier[i] = work.scale[i] * work.wanted[i]
    minimum_norm_solve(work.system, rows, SINGULAR, work.multiplier, work.factor, work.spare, work.half)
    for i in range(rows):
        work.multiplier[i] *= work.scale[i]


@inlined
def per_multiplier(work: Workspace, b: Int, k: Int) -> tuple[Float, Float, Float]:
    """Normal force F and its moments F x, F y about the virtual joint per unit of a multiplier, k = 0 being the normal
    force.
    """
    if k == 0:
        return 1.0, 0.0, 0.0
    if work.code[b] & 3 == EDGE:
        return 0.0, work.joint[b, 6], work.joint[b, 7]
    return (0.0, 0.0, 1.0) if k == 1 else (0.0, -1.0, 0.0)


@inlined
def affine_load(work: Workspace, b: Int, p: Int, force: Float, x: Float, y: Float) -> Float:
    """Load (N) of a clamped vertex if loads are an affine function of position, which has the least norm and may be
    negative; ``x`` and ``y`` are the moments of :func:`per_multiplier`.
    """
    joint = work.joint[b]
    u, w = work.place[p, 0] - joint[0], work.place[p, 1] - joint[1]
    count = clamped(work.code[b], work.begin[b + 1] - work.begin[b])
    return force / count + x * (u * joint[3] + w * joint[5]) + y * (u * joint[5] + w * joint[4])


@inlined
def read_joint(work: Workspace, b: Int) -> None:
    """Write normal force, centre of pressure (section III, with corrected signs), friction and torsion of a foot."""
    kind, row, joint, found = work.code[b] & 3, work.row[b], work.joint[b], work.pressure[b]
    for k in range(6):
        found[k] = 0.0
    if kind == NONE:
        return
    multiplier, x, y = work.multiplier, 0.0, 0.0
    for k in range(1, kind):
        _, along_x, along_y = per_multiplier(work, b, k)
        x, y = x + along_x * multiplier[row + 2 + k], y + along_y * multiplier[row + 2 + k]
    force = multiplier[row + 2]
    inverse = 1.0 / force if force != 0.0 else 0.0
    x, y = x * inverse, y * inverse
    found[0], found[1], found[2] = force, joint[0] + x, joint[1] + y  # Moraud 2008, sec. III, with corrected signs
    found[3], found[4] = multiplier[row], multiplier[row + 1]
    if kind != VERTEX:
        found[5] = multiplier[row + 2 + kind] - x * found[4] + y * found[3]


@inlined
def spread_load(work: Workspace, b: Int) -> None:
    """Write non-negative loads of a foot's clamped vertices for its normal force and centre of pressure.

    Loads are an affine function of position. Where that is negative somewhere, it is blended with the Wachspress
    coordinates of the centre of pressure, which are positive in a convex polygon, until no load is negative.
    """
    code, found = work.code[b], work.pressure[b]
    count = clamped(code, work.begin[b + 1] - work.begin[b])
    force, least = max(0.0, found[0]), 0.0
    x, y = force * (found[1] - work.joint[b, 0]), force * (found[2] - work.joint[b, 1])
    for j in range(count):
        p = vertex(work, b, code, j)
        work.push[p, 2] = affine_load(work, b, p, force, x, y)
        least = min(least, work.push[p, 2])
    if least < 0.0:
        spread_positive(work, b, count, force)


@kernel
def spread_positive(work: Workspace, b: Int, count: Int, force: Float) -> None:
    """The blending of :func:`spread_load`, where an affine load is negative."""
    code, total, share = work.code[b], 0.0, 0.0
    for j in range(count):
        work.end[vertex(work, b, code, j), 4] = coordinate(work, b, j, count)
        total += work.end[vertex(work, b, code, j), 4]
    for j in range(count):
        p = vertex(work, b, code, j)
        work.end[p, 4] *= force / total
        if work.push[p, 2] < 0.0:
            share = max(share, work.push[p, 2] / (work.push[p, 2] - work.end[p, 4]))
    for j in range(count):
        p = vertex(work, b, code, j)
        load = work.push[p, 2] + share * (work.end[p, 4] - work.push[p, 2])
        work.push[p, 2] = load if load > ON_EDGE * force else 0.0


@inlined
def coordinate(work: Workspace, b: Int, j: Int, count: Int) -> Float:
    """Wachspress coordinate of the centre of pressure for the j-th clamped vertex, up to a common factor."""
    code, found = work.code[b], work.pressure[b]
    a = work.place[vertex(work, b, code, j + count - 1 if j == 0 else j - 1)]
    c, e = work.place[vertex(work, b, code, j)], work.place[vertex(work, b, code, j + 1 if j + 1 < count else 0)]
    if count == 2:  # a and e are the other end of the edge
        u, w = c[0] - e[0], c[1] - e[1]
        return min(1.0, max(0.0, (u * (found[1] - e[0]) + w * (found[2] - e[1])) / (u * u + w * w)))
    corner = area(a, c, e[0], e[1])
    thin = ON_EDGE / work.joint[b, 3] ** 0.5 / work.joint[b, 4] ** 0.5
    return corner / (max(area(a, c, found[1], found[2]), thin) * max(area(c, e, found[1], found[2]), thin))


@inlined
def area(a: Vector, b: Vector, x: Float, y: Float) -> Float:
    """Twice the area of the triangle of two vertices and the point (x, y), positive if that is to their left."""
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])


@inlined
def move_feet(contacts: Contacts, work: Workspace, rows: Int) -> None:
    """Motions of all feet at the end of the step, and velocities of the vertices of their outlines."""
    for b in range(contacts.near.size - 1):
        if work.begin[b + 1] == work.begin[b]:
            continue
        frame = contacts.frame[work.ring[work.begin[b]]]
        x, y, z, p, q, r = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(rows):
            size, m = work.multiplier[k], work.mapped[k, 6 * b : 6 * b + 6]
            x += size * m[0]
            y += size * m[1]
            z += size * m[2]
            p += size * m[3]
            q += size * m[4]
            r += size * m[5]
        moved = work.moved[b]
        for k in range(3):
            moved[k] = work.motion[b, k] + frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z
            moved[3 + k] = work.motion[b, 3 + k] + frame[k, 0] * p + frame[k, 1] * q + frame[k, 2] * r
        for j in range(work.begin[b], work.begin[b + 1]):
            at, v = work.place[work.ring[j]], work.end[work.ring[j]]
            v[0] = moved[0] + moved[4] * at[2] - moved[5] * at[1]
            v[1] = moved[1] + moved[5] * at[0] - moved[3] * at[2]
            v[2] = moved[2] + moved[3] * at[1] - moved[4] * at[0]


@inlined
def hold(contacts: Contacts, work: Workspace, b: Int, memory: Matrix) -> Float:
    """Write the friction at the vertices of a foot that does not slide. Returns the largest excess of friction per load
    over the friction coefficient.

    Friction per load is a rigid field, ``u + w x r``, which minimises the sum of squared friction over load.
    """
    code, found = work.code[b], work.pressure[b]
    count = clamped(code, work.begin[b + 1] - work.begin[b])
    square, slid = 0.0, False
    for j in range(count):
        p = vertex(work, b, code, j)
        x, y = work.place[p, 0] - found[1], work.place[p, 1] - found[2]
        square += work.push[p, 2] * (x * x + y * y)
        slid = slid or memory[p, MODE] == SLIDE
    spin = found[5] / max(square, 1e-300)
    ux, uy = found[3] / max(found[0], 1e-300), found[4] / max(found[0], 1e-300)
    worst = 0.0
    for j in range(count):
        p = vertex(work, b, code, j)
        f = work.push[p]
        x = ux - spin * (work.place[p, 1] - found[2])
        y = uy + spin * (work.place[p, 0] - found[1])
        limit = contacts.dynamic_friction[p] if slid else contacts.static_friction[p]
        f[0], f[1], f[3] = x * f[2], y * f[2], 0.0
        if f[2] > 0.0:
            worst = max(worst, math.sqrt(x * x + y * y) - limit)
    return worst


def evaluate_signature() -> Any:
    """The signature of :func:`evaluate`."""
    from numba import boolean, float64, int64

    contacts, _, matrix, *_ = coupled_signature().args
    return boolean(contacts, float64, matrix, workspace_type(), int64)


@separate(evaluate_signature)
def evaluate(contacts: Contacts, dt: Float, memory: Matrix, work: Workspace, rounds: Int) -> Bool:
    """Write forces and motions of the states in ``work.code``. False if sliding friction did not converge."""
    rows, feet, loose = assemble(contacts, dt, work), contacts.near.size - 1, False
    for b in range(feet):
        if work.code[b] & SLIDING:
            return slide(contacts, memory, work, rows, rounds)
        loose = loose or (work.begin[b + 1] > work.begin[b] and work.code[b] & 3 != FACE)
    solve_static(work, rows)
    if loose:
        move_feet(contacts, work, rows)
    for b in range(feet):
        read_joint(work, b)
    return True


@cold(types.boolean)
def slide(contacts: Contacts, memory: Matrix, work: Workspace, rows: Int, rounds: Int) -> Bool:
    """Write forces and motions of assembled states, some of which slide. True if friction, load and slip agree."""
    feet = contacts.near.size - 1
    for b in range(feet):
        if work.code[b] & SLIDING:
            begin_sliding(contacts, memory, work, b)
    for turn in range(rounds):
        if not (
            solve_sliding(contacts, work, rows, turn, 0.0) or solve_sliding(contacts, work, rows, turn, COMPLIANCE)
        ):
            return False
        move_feet(contacts, work, rows)
        missed, whole = 0.0, 0.0
        for b in range(feet):
            read_joint(work, b)
            if work.code[b] & SLIDING:
                short, limit = adapt_sliding(contacts, work, b, turn)
                missed, whole = missed + short, whole + limit
        if missed <= AGREEMENT * whole:
            return True
    return False


@inlined
def begin_sliding(contacts: Contacts, memory: Matrix, work: Workspace, b: Int) -> None:
    """Write the initial guess of loads and slip velocities of a foot that slides."""
    code, row = work.code[b], work.row[b]
    count = clamped(code, work.begin[b + 1] - work.begin[b])
    known = True
    for j in range(count):
        known = known and memory[vertex(work, b, code, j), SPEED] > 0.0
    share = max(0.0, work.wanted[row + 2] / max(1e-300, work.matrix[row + 2, row + 2])) / count
    for j in range(count):
        p = vertex(work, b, code, j)
        v, f = contacts.velocity[p], work.push[p]
        f[2] = max(0.0, memory[p, LOAD]) if known else share
        f[3] = math.sqrt(v[0] * v[0] + v[1] * v[1])
        f[4], f[5] = v[0], v[1]
        work.end[p, 5] = TANGENT if known else DAMPER
        if f[3] < SLOW:
            f[3], work.end[p, 5] = SLOW, DAMPER


@inlined
def friction(contacts: Contacts, work: Workspace, p: Int) -> tuple[Float, Float, Float, Float]:
    """Sliding friction at a vertex, linearised: its damping (N s/m), the share along the slip that is a constant force
    instead of a damper, and the direction of the slip.
    """
    f = work.push[p]
    speed = max(f[3], STILL)
    return contacts.dynamic_friction[p] * f[2] / speed, work.end[p, 5], f[4] / speed, f[5] / speed


@kernel
def solve_sliding(contacts: Contacts, work: Workspace, rows: Int, turn: Int, softness: Float) -> Bool:
    """Write the multipliers m with linearised friction: ``A m = wanted`` in the rows of constraints, and ``m = c - D u
    + G m`` with the slip ``u = A m - wanted`` in those of friction. False if they are not unique.
    """
    a, right, scale = work.system, work.multiplier, work.scale
    for i in range(rows):
        for j in range(rows):
            a[i, j] = work.matrix[max(i, j), min(i, j)] * scale[i] * scale[j]
        a[i, i] = 1.0 + softness
        right[i] = scale[i] * work.wanted[i]
    for b in range(contacts.near.size - 1):
        if work.code[b] & SLIDING:
            put_friction(contacts, work, b, rows, turn)
    if not eliminate(a, rows, SINGULAR if softness == 0.0 else 0.0, right):
        return False
    for i in range(rows):
        right[i] *= scale[i]
    return True


@inlined
def put_friction(contacts: Contacts, work: Workspace, b: Int, rows: Int, turn: Int) -> None:
    """Write the rows of a sliding foot's friction: force and torsion at the virtual joint."""
    code, row, joint, a = work.code[b], work.row[b], work.joint[b], work.system
    count, kind, scale, damping = clamped(code, work.begin[b + 1] - work.begin[b]), code & 3, work.scale, work.spare
    constant = work.half
    for i in range(3):
        constant[i] = 0.0
        for k in range(6):  # D, G
            damping[i, k] = 0.0
    force, moment_x, moment_y = 0.0, 0.0, 0.0
    for j in range(count):
        p = vertex(work, b, code, j)
        force += work.push[p, 2]
        moment_x += work.push[p, 2] * (work.place[p, 0] - joint[0])
        moment_y += work.push[p, 2] * (work.place[p, 1] - joint[1])
    for j in range(count):
        p = vertex(work, b, code, j)
        k, fixed, dx, dy = friction(contacts, work, p)
        x, y = work.place[p, 0] - joint[0], work.place[p, 1] - joint[1]
        xx, xy, yy = k * (1.0 - fixed * dx * dx), -k * fixed * dx * dy, k * (1.0 - fixed * dy * dy)
        xr, yr = xy * x - xx * y, yy * x - xy * y
        damping[0, 0] += xx
        damping[0, 1] += xy
        damping[0, 2] += xr
        damping[1, 1] += yy
        damping[1, 2] += yr
        damping[2, 2] += yr * x - xr * y
        steady = -k * fixed * max(work.push[p, 3], STILL)
        if turn < NEWTON:
            mu = contacts.dynamic_friction[p]
            work.end[p, 3] = affine_load(work, b, p, force, moment_x, moment_y)
            steady += mu * work.end[p, 3]
            for m in range(kind):
                f, along_x, along_y = per_multiplier(work, b, m)
                more = -mu * affine_load(work, b, p, f, along_x, along_y)
                damping[0, 3 + m] += more * dx
                damping[1, 3 + m] += more * dy
                damping[2, 3 + m] += more * (x * dy - y * dx)
        constant[0] += steady * dx
        constant[1] += steady * dy
        constant[2] += steady * (x * dy - y * dx)
    damping[1, 0], damping[2, 0], damping[2, 1] = damping[0, 1], damping[0, 2], damping[1, 2]
    for i in range(2 if kind == VERTEX else 3):
        at = row + i if i < 2 else row + 2 + kind
        size = 1.0 / (1.0 + damping[i, i] * work.matrix[at, at])
        work.multiplier[at] = 0.0
        if scale[at] == 0.0:
            continue
        size /= scale[at]
        for j in range(rows):
            a[at, j] = 0.0
        for k in range(2 if kind == VERTEX else 3):
            along = row + k if k < 2 else row + 2 + kind
            for j in range(rows):
                a[at, j] += size * damping[i, k] * work.matrix[max(along, j), min(along, j)] * scale[j]
            work.multiplier[at] += size * damping[i, k] * work.wanted[along]
        a[at, at] += size * scale[at]
        for m in range(kind):
            a[at, row + 2 + m] -= size * damping[i, 3 + m] * scale[row + 2 + m]
        work.multiplier[at] += size * constant[i]


@inlined
def adapt_sliding(contacts: Contacts, work: Workspace, b: Int, turn: Int) -> tuple[Float, Float]:
    """Update friction, loads and slip velocities of a sliding foot to those of the solution.

    Returns the error of friction and the limit of friction, summed over vertices, N.
    """
    code, joint, found, v = work.code[b], work.joint[b], work.pressure[b], work.moved[b]
    count = clamped(code, work.begin[b + 1] - work.begin[b])
    moment_x, moment_y = found[0] * (found[1] - joint[0]), found[0] * (found[2] - joint[1])
    slip_x, slip_y = v[0] + v[4] * joint[2], v[1] - v[3] * joint[2]  # at the height of the virtual joint
    rest_x, rest_y, strongest, which = found[3], found[4], -1.0, 0
    for j in range(count):
        p = vertex(work, b, code, j)
        f, end = work.push[p], work.end[p]
        end[0], end[1] = slip_x - v[5] * work.place[p, 1], slip_y + v[5] * work.place[p, 0]
        k, fixed, dx, dy = friction(contacts, work, p)
        along = k * fixed * (max(f[3], STILL) - dx * end[0] - dy * end[1])
        if turn < NEWTON:
            more = affine_load(work, b, p, found[0], moment_x, moment_y) - end[3]
            along += contacts.dynamic_friction[p] * more
        f[0], f[1] = -k * end[0] - along * dx, -k * end[1] - along * dy
        rest_x, rest_y = rest_x - f[0], rest_y - f[1]
        if k > strongest:
            strongest, which = k, p
    # Rounding comes mostly from the vertex with the strongest damper, which is corrected for it.
    work.push[which, 0] += rest_x
    work.push[which, 1] += rest_y
    spread_load(work, b)
    missed, whole = 0.0, 0.0
    for j in range(count):
        short, limit = adapt_vertex(contacts, work, vertex(work, b, code, j))
        missed, whole = missed + short, whole + limit
    return missed, whole


@inlined
def adapt_vertex(contacts: Contacts, work: Workspace, p: Int) -> tuple[Float, Float]:
    """The part of :func:`adapt_sliding` for one vertex, after its load has been updated."""
    v, f = work.end[p], work.push[p]
    speed = math.sqrt(v[0] * v[0] + v[1] * v[1])
    limit = contacts.dynamic_friction[p] * f[2]
    if speed > STILL:
        x, y = f[0] + limit * v[0] / speed, f[1] + limit * v[1] / speed
        missed = math.sqrt(x * x + y * y)
    else:
        missed = max(0.0, math.sqrt(f[0] * f[0] + f[1] * f[1]) - limit)
    if v[5] == TANGENT and f[4] * v[0] + f[5] * v[1] < 0.05 * f[3] * f[3]:  # Newton overshot: the vertex may stop
        f[3], f[4], f[5], v[5] = max(0.1 * f[3], STILL), 0.1 * f[4], 0.1 * f[5], STOPPING
    elif v[5] == STOPPING and speed < f[3]:  # less than full friction holds it
        f[3], f[4], f[5] = STILL, v[0] * (STILL / f[3]), v[1] * (STILL / f[3])
    else:
        v[5] = TANGENT if speed > 0.3 * f[3] and speed > STILL else DAMPER
        f[3], f[4], f[5] = max(speed, STILL), v[0], v[1]
    return missed, limit
