"""The states of a foot (Moraud 2008, Table I) and the forces that a choice of states gives.

A foot has no contact, or a vertex, an edge or the whole face is clamped. Multipliers at a virtual joint, the mean of
the clamped vertices, hold them: translations along x, y, z, then the rotations that the clamped vertices prevent. The
centre of pressure follows from the multipliers (section III, with corrected signs).
"""

from __future__ import annotations

import math

from numba import types

from footfall.compiled import cold, inlined, kernel
from footfall.kinds import Float, Int, Matrix, Vector
from footfall.solve.contacts import ALL, OPEN, Contacts, write_mobility
from footfall.solve.dense import minimum_norm_solve
from footfall.solve.problem import MEMORY_SIZE as OF_POINTS
from footfall.solve.selection.soles import Workspace

NONE, VERTEX, EDGE, FACE = 0, 1, 2, 3
INDEX = 2  # a state holds its first vertex to the left of these bits
# A point's memory beyond that of the contact problem: its load.
LOAD = OF_POINTS
MEMORY_SIZE = OF_POINTS + 1
#: m/s, speed below which a point is at rest.
STILL = 1e-8
#: Pivots below this share of the largest belong to motions that no force produces.
SINGULAR = 1e-11
#: Distance from an edge, relative to the size of the outline, below which a centre of pressure lies on the edge.
ON_EDGE = 1e-12


@inlined
def clamped(code: Int, vertices: Int) -> Int:
    """How many vertices a state clamps."""
    kind = code & 3
    return vertices if kind == FACE else kind  # Moraud 2008, Table I


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
    count, first = 0, 0
    for j in range(n):
        if modes[work.ring[begin + j]] != OPEN:
            count += 1
            if modes[work.ring[begin + (j - 1 if j > 0 else n - 1)]] == OPEN:
                first = j
    if count == 2 and n > 2 and modes[work.ring[begin + (first + 1 if first + 1 < n else 0)]] == OPEN:
        count = n  # two vertices that are not neighbours
    return FACE if count >= 3 else count | first << INDEX if count > 0 else NONE


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
    for k in range(3):
        e, w = frame[k], work.basis[row + k]
        w[0], w[1], w[2] = e[0], e[1], e[2]
        w[3], w[4], w[5] = ry * e[2] - rz * e[1], rz * e[0] - rx * e[2], rx * e[1] - ry * e[0]
    wanted[row] = forth * share - v[0] - v[4] * z + v[5] * y
    wanted[row + 1] = aside * share - v[1] - v[5] * x + v[3] * z
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
    wanted[last] = twist * size - v[5]
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
    write_mobility(contacts, ALL)
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
def solve_states(work: Workspace, rows: Int) -> None:
    """Write the multipliers of assembled states, of least norm if they are not unique."""
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
        work.end[vertex(work, b, code, j), 3] = coordinate(work, b, j, count)
        total += work.end[vertex(work, b, code, j), 3]
    for j in range(count):
        p = vertex(work, b, code, j)
        work.end[p, 3] *= force / total
        if work.push[p, 2] < 0.0:
            share = max(share, work.push[p, 2] / (work.push[p, 2] - work.end[p, 3]))
    for j in range(count):
        p = vertex(work, b, code, j)
        load = work.push[p, 2] + share * (work.end[p, 3] - work.push[p, 2])
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
def hold(contacts: Contacts, work: Workspace, b: Int) -> Float:
    """Write the friction at the vertices of a foot. Returns the largest excess of friction per load over the static
    friction coefficient.

    Friction per load is a rigid field, ``u + w x r``, which minimises the sum of squared friction over load.
    """
    code, found = work.code[b], work.pressure[b]
    count = clamped(code, work.begin[b + 1] - work.begin[b])
    square = 0.0
    for j in range(count):
        p = vertex(work, b, code, j)
        x, y = work.place[p, 0] - found[1], work.place[p, 1] - found[2]
        square += work.push[p, 2] * (x * x + y * y)
    spin = found[5] / max(square, 1e-300)
    ux, uy = found[3] / max(found[0], 1e-300), found[4] / max(found[0], 1e-300)
    worst = 0.0
    for j in range(count):
        p = vertex(work, b, code, j)
        f = work.push[p]
        x = ux - spin * (work.place[p, 1] - found[2])
        y = uy + spin * (work.place[p, 0] - found[1])
        f[0], f[1] = x * f[2], y * f[2]
        if f[2] > 0.0:
            worst = max(worst, math.sqrt(x * x + y * y) - contacts.static_friction[p])
    return worst


@cold(types.none, soon=True)
def evaluate(contacts: Contacts, dt: Float, work: Workspace) -> None:
    """Write forces and motions of the states in ``work.code``."""
    rows = assemble(contacts, dt, work)
    solve_states(work, rows)
    move_feet(contacts, work, rows)
    for b in range(contacts.near.size - 1):
        read_joint(work, b)
