"""The states of a foot (Moraud 2008, Table I) and the forces that a choice of states gives.

A foot has no contact, or a vertex, an edge or the whole face is clamped, static or sliding. Static friction clamps all
the motions that Table I names; sliding friction is in :mod:`footfall.solve.selection.sliding`.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.contacts import OPEN, SLIDE
from footfall.solve.dense import minimum_norm_solve
from footfall.solve.problem import MEMORY_SIZE as OF_POINTS
from footfall.solve.problem import MODE
from footfall.solve.selection.pressure import Load, Outline, affine_load, on_two, spread_load

NONE, VERTEX, EDGE, FACE = 0, 1, 2, 3
SLIDING = 4  # added to a state
INDEX = 3  # a state holds its first vertex to the left of these bits
# A point's memory beyond that of the contact problem: its slip speed and its load.
SPEED, LOAD = OF_POINTS, OF_POINTS + 1
MEMORY_SIZE = OF_POINTS + 2
#: m/s, the least slip speed of the first guess of friction, below which a foot may come to rest.
SLOW = 1e-4
#: m/s, below which a point counts as at rest.
STILL = 1e-8
#: Pivots below this share of the largest belong to motions that no force produces.
SINGULAR = 1e-11


@inlined
def clamped(code, vertices):
    """How many vertices a state clamps."""
    kind = code & 3
    return vertices if kind == FACE else kind


@inlined
def vertex(desk, b, code, j):
    """The j-th point that a state of a foot clamps, or, beyond these, the next on its outline."""
    begin, n = desk.begin[b], desk.begin[b + 1] - desk.begin[b]
    k = (code >> INDEX) + j
    return desk.ring[begin + (k if k < n else k - n)]


@inlined
def outline(desk, b):
    """The polygon of a foot."""
    return Outline(desk.ring, desk.begin[b], desk.begin[b + 1], desk.place)


@inlined
def state_of(modes, desk, b):
    """The state of a foot whose points have these ``modes`` (P,)."""
    begin, n = desk.begin[b], desk.begin[b + 1] - desk.begin[b]
    count, first, slides = 0, 0, 0
    for j in range(n):
        mode = modes[desk.ring[begin + j]]
        if mode != OPEN:
            count += 1
            if modes[desk.ring[begin + (j - 1 if j > 0 else n - 1)]] == OPEN:
                first = j
        if mode == SLIDE:
            slides = SLIDING
    if count >= 3:
        return FACE | slides
    if count == 2:
        following = modes[desk.ring[begin + (first + 1 if first + 1 < n else 0)]] != OPEN
        return (EDGE if following else FACE) | slides | (first << INDEX if following else 0)
    return count | slides | (first << INDEX) if count == 1 else NONE


@inlined
def put_joint(contacts, desk, b, code, row):
    """Write the constraints of a foot from ``row`` on: unit wrenches, and the velocity that each must add.

    Rows are the translations x, y, z, then the rotations. Gives the next free row.
    """
    n = desk.begin[b + 1] - desk.begin[b]
    count = clamped(code, n)
    if count == 0:
        return row
    frame = contacts.frame[desk.ring[desk.begin[b]]]
    joint, v = desk.joint[b], desk.motion[b]
    x, y, z, rx, ry, rz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    up, forth, aside = 0.0, 0.0, 0.0
    for j in range(count):
        p = vertex(desk, b, code, j)
        place, arm = desk.place[p], contacts.arm[p]
        x, y, z = x + place[0], y + place[1], z + place[2]
        rx, ry, rz = rx + arm[0], ry + arm[1], rz + arm[2]
        up, forth, aside = up + place[3], forth + place[4], aside + place[5]
    share = 1.0 / count
    x, y, z, rx, ry, rz = x * share, y * share, z * share, rx * share, ry * share, rz * share
    joint[0], joint[1], joint[2] = x, y, z
    slides = code & SLIDING != 0
    for k in range(3):
        e, w = frame[k], desk.basis[row + k]
        w[0], w[1], w[2] = e[0], e[1], e[2]
        w[3], w[4], w[5] = ry * e[2] - rz * e[1], rz * e[0] - rx * e[2], rx * e[1] - ry * e[0]
    desk.wanted[row] = (0.0 if slides else forth * share) - v[0] - v[4] * z + v[5] * y
    desk.wanted[row + 1] = (0.0 if slides else aside * share) - v[1] - v[5] * x + v[3] * z
    desk.wanted[row + 2] = up * share - v[2] - v[3] * y + v[4] * x
    if count == 1:
        return row + 3
    # Angular velocities that give the vertices their wanted velocities as nearly as one foot can.
    xx, yy, xy, tilt_x, tilt_y, twist = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        place = desk.place[vertex(desk, b, code, j)]
        u, w = place[0] - x, place[1] - y
        xx += u * u
        yy += w * w
        xy += u * w
        tilt_x += w * place[3]
        tilt_y -= u * place[3]
        twist += u * place[5] - w * place[4]
    twist = 0.0 if slides else twist / (xx + yy)
    if code & 3 == EDGE:
        a, c = desk.place[vertex(desk, b, code, 0)], desk.place[vertex(desk, b, code, 1)]
        length = math.sqrt((c[0] - a[0]) ** 2 + (c[1] - a[1]) ** 2)
        dx, dy = (c[0] - a[0]) / length, (c[1] - a[1]) / length
        joint[3], joint[4] = dx, dy
        # Rotation about this axis lifts the second vertex relative to the first: edge x normal.
        put_rotation(frame, dy, -dx, 0.0, desk.basis[row + 3])
        put_rotation(frame, 0.0, 0.0, 1.0, desk.basis[row + 4])
        desk.wanted[row + 3] = (dy * tilt_x - dx * tilt_y) / (xx + yy) - dy * v[3] + dx * v[4]
        desk.wanted[row + 4] = twist - v[5]
        return row + 5
    put_rotation(frame, 1.0, 0.0, 0.0, desk.basis[row + 3])
    put_rotation(frame, 0.0, 1.0, 0.0, desk.basis[row + 4])
    put_rotation(frame, 0.0, 0.0, 1.0, desk.basis[row + 5])
    determinant = xx * yy - xy * xy
    desk.wanted[row + 3] = (xx * tilt_x + xy * tilt_y) / determinant - v[3]
    desk.wanted[row + 4] = (yy * tilt_y + xy * tilt_x) / determinant - v[4]
    desk.wanted[row + 5] = twist - v[5]
    return row + 6


@inlined
def put_rotation(frame, x, y, z, w):
    w[0], w[1], w[2] = 0.0, 0.0, 0.0
    for k in range(3):
        w[3 + k] = x * frame[0, k] + y * frame[1, k] + z * frame[2, k]


@inlined
def assemble(contacts, dt, desk):
    """The matrix of the states in ``desk.code``: velocities along the constraints over a step, per unit multiplier."""
    feet, rows = contacts.near.size - 1, 0
    for b in range(feet):
        desk.row[b] = rows
        rows = put_joint(contacts, desk, b, desk.code[b], rows)
    desk.row[feet] = rows
    for b in range(feet):
        for k in range(desk.row[b], desk.row[b + 1]):
            w = desk.basis[k]
            for o in range(feet):
                if contacts.near[o + 1] == contacts.near[o]:
                    continue
                for c in range(6):
                    value = 0.0
                    for j in range(6):
                        value += contacts.mobility[6 * o + c, 6 * b + j] * w[j]
                    desk.mapped[k, 6 * o + c] = dt * value
            for o in range(b + 1):
                for m in range(desk.row[o], min(k + 1, desk.row[o + 1])):
                    value = 0.0
                    for c in range(6):
                        value += desk.mapped[k, 6 * o + c] * desk.basis[m, c]
                    desk.matrix[k, m] = value
    return rows


@inlined
def solve_rows(desk, rows):
    """Solve ``desk.system`` (destroyed) and ``desk.rest`` for the multipliers, of least norm if not unique. Gives the
    rank.
    """
    for i in range(rows):
        d = desk.system[i, i]
        desk.scale[i] = 1.0 / math.sqrt(d) if d > 0.0 else 0.0
    for i in range(rows):
        for j in range(i):
            desk.system[i, j] *= desk.scale[i] * desk.scale[j]
        desk.system[i, i] = 1.0
        desk.multiplier[i] = desk.scale[i] * desk.rest[i]
    rank = minimum_norm_solve(desk.system, rows, SINGULAR, desk.multiplier, desk.factor, desk.spare, desk.half)
    for i in range(rows):
        desk.multiplier[i] *= desk.scale[i]
    return rank


@inlined
def copy_rows(desk, rows):
    """Copy the rows, which are without sliding friction."""
    for i in range(rows):
        desk.rest[i] = desk.wanted[i]
        for j in range(i + 1):
            desk.system[i, j] = desk.matrix[i, j]


@inlined
def read_joint(desk, b):
    """Normal force, centre of pressure (section III, with corrected signs), friction and torsion of a foot."""
    code, row, joint, found = desk.code[b], desk.row[b], desk.joint[b], desk.pressure[b]
    kind, multiplier = code & 3, desk.multiplier
    for k in range(6):
        found[k] = 0.0
    if kind == NONE:
        return
    force = multiplier[row + 2]
    found[0], found[1], found[2], found[3], found[4] = force, joint[0], joint[1], multiplier[row], multiplier[row + 1]
    if kind == VERTEX:
        return
    inverse = 1.0 / force if force != 0.0 else 0.0
    if kind == EDGE:
        s = multiplier[row + 3] * inverse
        x, y, torsion = s * joint[3], s * joint[4], multiplier[row + 4]
    else:
        x, y, torsion = -multiplier[row + 4] * inverse, multiplier[row + 3] * inverse, multiplier[row + 5]
    found[1], found[2] = joint[0] + x, joint[1] + y
    found[5] = torsion - x * found[4] + y * found[3]


@inlined
def load_vertices(desk, b):
    """Loads of a foot's clamped vertices."""
    code, found = desk.code[b], desk.pressure[b]
    kind = code & 3
    if kind == VERTEX:
        desk.push[vertex(desk, b, code, 0), 2] = max(0.0, found[0])
    elif kind == EDGE:
        p, q = vertex(desk, b, code, 0), vertex(desk, b, code, 1)
        on_two(desk.place, p, q, Load(max(0.0, found[0]), found[1], found[2]), desk.push)
    elif kind == FACE:
        spread_load(outline(desk, b), Load(found[0], found[1], found[2]), desk.push)


@inlined
def move_feet(contacts, desk, rows):
    """Motions of all feet at the end of the step, and velocities of the vertices of their outlines."""
    for b in range(contacts.near.size - 1):
        if desk.begin[b + 1] == desk.begin[b]:
            continue
        frame = contacts.frame[desk.ring[desk.begin[b]]]
        x, y, z, p, q, r = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(rows):
            size, m = desk.multiplier[k], desk.mapped[k, 6 * b : 6 * b + 6]
            x += size * m[0]
            y += size * m[1]
            z += size * m[2]
            p += size * m[3]
            q += size * m[4]
            r += size * m[5]
        moved = desk.moved[b]
        for k in range(3):
            moved[k] = desk.motion[b, k] + frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z
            moved[3 + k] = desk.motion[b, 3 + k] + frame[k, 0] * p + frame[k, 1] * q + frame[k, 2] * r
        for j in range(desk.begin[b], desk.begin[b + 1]):
            at, v = desk.place[desk.ring[j]], desk.end[desk.ring[j]]
            v[0] = moved[0] + moved[4] * at[2] - moved[5] * at[1]
            v[1] = moved[1] + moved[5] * at[0] - moved[3] * at[2]
            v[2] = moved[2] + moved[3] * at[1] - moved[4] * at[0]


@inlined
def level(desk, b):
    """Slip velocities of a foot's clamped vertices at the height of the virtual joint."""
    code, joint, v = desk.code[b], desk.joint[b], desk.moved[b]
    x, y = v[0] + v[4] * joint[2], v[1] - v[3] * joint[2]
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        p = vertex(desk, b, code, j)
        desk.end[p, 0], desk.end[p, 1] = x - v[5] * desk.place[p, 1], y + v[5] * desk.place[p, 0]


@inlined
def hold(contacts, desk, b, memory):
    """Friction at the vertices of a foot that does not slide, in shares of their loads. Gives the largest ratio to its
    limit.

    Friction per load is a rigid velocity field, ``u + w x r``, which minimises the sum of squares per load.
    """
    code, found = desk.code[b], desk.pressure[b]
    count = clamped(code, desk.begin[b + 1] - desk.begin[b])
    spin = 0.0
    if count > 1:
        square = 0.0
        for j in range(count):
            p = vertex(desk, b, code, j)
            x, y = desk.place[p, 0] - found[1], desk.place[p, 1] - found[2]
            square += desk.push[p, 2] * (x * x + y * y)
        spin = found[5] / max(square, 1e-300)
    ux, uy = found[3] / max(found[0], 1e-300), found[4] / max(found[0], 1e-300)
    worst, slid = 0.0, False
    for j in range(count):
        slid = slid or memory[vertex(desk, b, code, j), MODE] == SLIDE
    for j in range(count):
        p = vertex(desk, b, code, j)
        f = desk.push[p]
        x = ux - spin * (desk.place[p, 1] - found[2])
        y = uy + spin * (desk.place[p, 0] - found[1])
        limit = contacts.dynamic_friction[p] if slid else contacts.static_friction[p]
        f[0], f[1], f[3] = x * f[2], y * f[2], 0.0
        if f[2] > 0.0:
            worst = max(worst, math.sqrt(x * x + y * y) - limit)
    return worst


@inlined
def least_load(desk, b):
    """The least load of a foot's vertices if loads were an affine function of the place, as in the paper; it may be
    negative.
    """
    found = desk.pressure[b]
    least, plane = affine_load(outline(desk, b), Load(found[0], found[1], found[2]), desk.push)
    return least if plane else 0.0
