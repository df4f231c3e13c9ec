"""The states of a foot (Moraud 2008, Table I) and the forces that a choice of states gives.

A foot has no contact, or a vertex, an edge or the whole face is clamped, each static or sliding. Static friction
clamps all the motions that Table I names. Sliding friction acts at the vertices, where each has its load and its own
direction (the paper's acts at the virtual joint, where it cannot brake a foot that spins on the spot); it is a damper
whose strength is adapted to load and speed until they agree, so that a vertex which stops may stay.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.contact.base import OPEN, SLIDE
from footfall.solve.contact_problem import MODE
from footfall.solve.dense import minimum_norm_solve
from footfall.solve.selection.pressure import affine_load, on_two, spread_load

NONE, VERTEX, EDGE, FACE = 0, 1, 2, 3
SLIDING = 4  # added to a state
INDEX = 3  # bits to the left of which a state tells where on the outline it begins
# What a point remembers beside what the contact problem does: its slip speed and its load.
SPEED, LOAD = 5, 6
MEMORY_SIZE = 7
#: Rounds in which friction, load and slip may be adapted to one another, and the share of friction that may be missed.
ROUNDS, AGREEMENT = 84, 1e-9
#: The first of them take Newton's tangent; what they do not solve, dampers and extrapolation may.
NEWTON = 24
#: Share of a damper that Newton's tangent makes constant; not all, for compliances must be finite.
TANGENT = 1.0 - 1e-5
#: m/s, the slowest slip that friction is first guessed from, and at which a foot may be at rest.
SLOW = 1e-4
#: m/s below which a point does not move.
STILL = 1e-8
#: Pivots smaller than this share of the largest: motions that no force produces.
SINGULAR = 1e-11


@inlined
def clamped(code, vertices):
    """How many vertices a state clamps."""
    kind = code & 3
    return vertices if kind == FACE else kind


@inlined
def vertex(desk, b, code, j):
    """The j-th point that a state of a foot clamps, or that follows."""
    begin, n = desk.begin[b], desk.begin[b + 1] - desk.begin[b]
    k = (code >> INDEX) + j
    return desk.ring[begin + (k if k < n else k - n)]


@inlined
def remembered(memory, desk, b):
    """The state a foot was in."""
    begin, n = desk.begin[b], desk.begin[b + 1] - desk.begin[b]
    count, first, slides = 0, 0, 0
    for j in range(n):
        mode = memory[desk.ring[begin + j], MODE]
        if mode != OPEN:
            count += 1
            if memory[desk.ring[begin + (j - 1 if j > 0 else n - 1)], MODE] == OPEN:
                first = j
        if mode == SLIDE:
            slides = SLIDING
    if count >= 3:
        return FACE | slides
    if count == 2:
        following = memory[desk.ring[begin + (first + 1 if first + 1 < n else 0)], MODE] != OPEN
        return (EDGE if following else FACE) | slides | (first << INDEX if following else 0)
    return count | slides | (first << INDEX) if count == 1 else NONE


@inlined
def put_joint(contacts, desk, b, code, row):
    """Write the constraints of a foot from ``row`` on: unit wrenches, and the velocity each must still add.

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
    # Rates of turn that give the vertices the velocities wanted of them, as nearly as one foot can.
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
        length = ((c[0] - a[0]) ** 2 + (c[1] - a[1]) ** 2) ** 0.5
        dx, dy = (c[0] - a[0]) / length, (c[1] - a[1]) / length
        joint[3], joint[4] = dx, dy
        # The axis that lifts the second vertex against the first: edge x normal.
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
    """The matrix of the states in ``desk.code``: velocities of the constraints over a step, per unit multiplier."""
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
    """Multipliers for ``desk.system`` (destroyed) and ``desk.rest``; the least where they are not unique."""
    for i in range(rows):
        d = desk.system[i, i]
        desk.scale[i] = 1.0 / d**0.5 if d > 0.0 else 0.0
    for i in range(rows):
        for j in range(i):
            desk.system[i, j] *= desk.scale[i] * desk.scale[j]
        desk.system[i, i] = 1.0
        desk.multiplier[i] = desk.scale[i] * desk.rest[i]
    minimum_norm_solve(desk.system, rows, SINGULAR, desk.multiplier, desk.factor, desk.spare, desk.half)
    for i in range(rows):
        desk.multiplier[i] *= desk.scale[i]


@inlined
def copy_rows(desk, rows):
    """The rows as they are without sliding friction."""
    for i in range(rows):
        desk.rest[i] = desk.wanted[i]
        for j in range(i + 1):
            desk.system[i, j] = desk.matrix[i, j]


@inlined
def read_joint(desk, b):
    """Normal force, centre of pressure (eq. of section III, signs put right), friction and torsion of a foot."""
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
        on_two(desk.place, p, q, max(0.0, found[0]), found[1], found[2], desk.push)
    elif kind == FACE:
        spread_load(desk.ring, desk.begin[b], desk.begin[b + 1], desk.place, found[0], found[1], found[2], desk.push)


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
    """Slip velocities of a foot's clamped vertices as if they were as high as the virtual joint."""
    code, joint, v = desk.code[b], desk.joint[b], desk.moved[b]
    x, y = v[0] + v[4] * joint[2], v[1] - v[3] * joint[2]
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        p = vertex(desk, b, code, j)
        desk.end[p, 0], desk.end[p, 1] = x - v[5] * desk.place[p, 1], y + v[5] * desk.place[p, 0]


@inlined
def damper(contacts, desk, p):
    """Sliding friction at a vertex made linear: the strength of its damper (N s/m), what share of it is a constant
    force instead, and the direction of the slip.

    About a slip velocity v it is ``-mu f (v / |v|)``: Newton's tangent damps what is across v and keeps the rest. A
    damper that works in all directions ends nearer to the truth where the slip may stop.
    """
    f = desk.push[p]
    speed = max(f[3], STILL)
    return contacts.dynamic_friction[p] * f[2] / speed, desk.end[p, 5], f[4] / speed, f[5] / speed


@inlined
def soften(contacts, desk, b):
    """Put sliding friction into the rows of a foot that slides: the inverse of its dampers' sum, and constant forces.

    They are summed up about the vertex with the strongest, which may be so strong that others would be lost beside it.
    """
    code, row, joint = desk.code[b], desk.row[b], desk.joint[b]
    count = clamped(code, desk.begin[b + 1] - desk.begin[b])
    strongest, ox, oy = -1.0, joint[0], joint[1]
    for j in range(count):
        p = vertex(desk, b, code, j)
        k, _, _, _ = damper(contacts, desk, p)
        if k > strongest:
            strongest, ox, oy = k, desk.place[p, 0], desk.place[p, 1]
    # Friction that is next to none, for compliances must be finite.
    xx = 1e-12 / max(1e-300, desk.matrix[row, row], desk.matrix[row + 1, row + 1])
    yy, xy, xr, yr, rr = xx, 0.0, 0.0, 0.0, 0.0
    fx, fy, fr = 0.0, 0.0, 0.0
    for j in range(count):
        p = vertex(desk, b, code, j)
        k, fixed, dx, dy = damper(contacts, desk, p)
        x, y = desk.place[p, 0] - ox, desk.place[p, 1] - oy
        a, c, d = k * (1.0 - fixed * dx * dx), -k * fixed * dx * dy, k * (1.0 - fixed * dy * dy)
        xx += a
        xy += c
        yy += d
        xr += c * x - a * y
        yr += d * x - c * y
        rr += d * x * x - 2.0 * c * x * y + a * y * y
        force = k * fixed * max(desk.push[p, 3], STILL)
        fx -= force * dx
        fy -= force * dy
        fr -= force * (x * dy - y * dx)
    if count == 1:
        d = 1.0 / (xx * yy - xy * xy)
        desk.system[row, row] += yy * d
        desk.system[row + 1, row] -= xy * d
        desk.system[row + 1, row + 1] += xx * d
        desk.rest[row] += (yy * fx - xy * fy) * d
        desk.rest[row + 1] += (xx * fy - xy * fx) * d
        return
    last = desk.row[b + 1] - 1
    rr += 1e-12 / max(1e-300, desk.matrix[last, last])
    cxx, cxy, cxr = yy * rr - yr * yr, xr * yr - xy * rr, xy * yr - yy * xr
    d = 1.0 / (xx * cxx + xy * cxy + xr * cxr)
    cxx, cxy, cxr = cxx * d, cxy * d, cxr * d
    cyy, cyr, crr = (xx * rr - xr * xr) * d, (xy * xr - xx * yr) * d, (xx * yy - xy * xy) * d
    # From that vertex to the virtual joint.
    hx, hy = oy - joint[1], joint[0] - ox
    desk.system[row, row] += cxx + hx * (2.0 * cxr + hx * crr)
    desk.system[row + 1, row] += cxy + hx * cyr + hy * (cxr + hx * crr)
    desk.system[row + 1, row + 1] += cyy + hy * (2.0 * cyr + hy * crr)
    desk.system[last, row] += cxr + hx * crr
    desk.system[last, row + 1] += cyr + hy * crr
    desk.system[last, last] += crr
    turn = cxr * fx + cyr * fy + crr * fr
    desk.rest[row] += cxx * fx + cxy * fy + cxr * fr + hx * turn
    desk.rest[row + 1] += cxy * fx + cyy * fy + cyr * fr + hy * turn
    desk.rest[last] += turn


@inlined
def balance(contacts, desk, b):
    """Hand what rounding left of a foot's friction to the vertex with the strongest damper."""
    code, found = desk.code[b], desk.pressure[b]
    x, y, strongest, which = found[3], found[4], -1.0, 0
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        p = vertex(desk, b, code, j)
        k, _, _, _ = damper(contacts, desk, p)
        x, y = x - desk.push[p, 0], y - desk.push[p, 1]
        if k > strongest:
            strongest, which = k, p
    if strongest >= 0.0:
        desk.push[which, 0] += x
        desk.push[which, 1] += y


@inlined
def begin_sliding(contacts, memory, desk, b):
    """A first guess of loads and slip velocities of a foot that slides."""
    code, row = desk.code[b], desk.row[b]
    count = clamped(code, desk.begin[b + 1] - desk.begin[b])
    known = True
    for j in range(count):
        known = known and memory[vertex(desk, b, code, j), SPEED] > 0.0
    share = max(0.0, desk.wanted[row + 2] / max(1e-300, desk.matrix[row + 2, row + 2])) / count
    for j in range(count):
        p = vertex(desk, b, code, j)
        v, f = contacts.velocity[p], desk.push[p]
        f[2] = memory[p, LOAD] if known else share
        f[3] = (v[0] * v[0] + v[1] * v[1]) ** 0.5
        f[4], f[5] = v[0], v[1]
        desk.end[p, 5] = TANGENT if known else 0.0
        if f[3] < SLOW:
            f[3], desk.end[p, 5] = SLOW, 0.0


@inlined
def adapt_sliding(contacts, desk, b, newton):
    """Move loads and slip velocities of a foot that slides to what they turned out to be.

    Gives the friction missed and the friction there should be, N.
    """
    code = desk.code[b]
    missed, whole = 0.0, 0.0
    count = clamped(code, desk.begin[b + 1] - desk.begin[b])
    for j in range(count):  # what the dampers gave, before their loads change
        p = vertex(desk, b, code, j)
        v, f = desk.end[p], desk.push[p]
        k, fixed, dx, dy = damper(contacts, desk, p)
        along = fixed * (max(f[3], STILL) - dx * v[0] - dy * v[1])
        f[0], f[1] = -k * (v[0] + along * dx), -k * (v[1] + along * dy)
    load_vertices(desk, b)
    for j in range(count):
        p = vertex(desk, b, code, j)
        v, f = desk.end[p], desk.push[p]
        speed = (v[0] * v[0] + v[1] * v[1]) ** 0.5
        limit = contacts.dynamic_friction[p] * f[2]
        whole += limit
        if speed > STILL:
            x, y = f[0] + limit * v[0] / speed, f[1] + limit * v[1] / speed
            missed += (x * x + y * y) ** 0.5
        else:
            missed += max(0.0, (f[0] * f[0] + f[1] * f[1]) ** 0.5 - limit)
        if not newton:
            f[3], v[5] = max(speed, STILL), 0.0
        elif v[5] > 0.0 and f[4] * v[0] + f[5] * v[1] < 0.05 * f[3] * f[3]:  # Newton went too far: it may stop
            f[3], f[4], f[5], v[5] = max(0.1 * f[3], STILL), 0.1 * f[4], 0.1 * f[5], 0.0
        else:
            v[5] = TANGENT if speed > 0.3 * f[3] and speed > STILL else 0.0
            f[3], f[4], f[5] = max(speed, STILL), v[0], v[1]
    return missed, whole


@inlined
def extrapolate(desk, b, turn, newton):
    """Aitken's extrapolation, every third turn, of loads and, where Newton does not see to them, of slip speeds."""
    code = desk.code[b]
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        p = vertex(desk, b, code, j)
        f, kept = desk.push[p], desk.end[p]
        if turn < 2:
            kept[3 + turn] = f[2]
            if not newton:
                f[4 + turn] = f[3]
            continue
        f[2] = max(limit_of(kept[3], kept[4], f[2]), 0.0)
        if not newton:  # a speed that would be negative is that of a vertex which stops
            f[3] = max(limit_of(f[4], f[5], f[3]), 1e-3 * f[3], STILL)


@inlined
def limit_of(a, b, c):
    """Where three numbers lead that approach it geometrically or swing about it; the last if they do neither."""
    bend = (c - b) - (b - a)
    return c - (c - b) ** 2 / bend if abs(c - b) < abs(b - a) or (c - b) * (b - a) < 0.0 else c


@kernel
def slide(contacts, memory, desk, rows, rounds):
    """Solve the states in ``desk.code`` where feet slide. True if friction, load and slip agree."""
    feet = contacts.near.size - 1
    for b in range(feet):
        if desk.code[b] & SLIDING:
            begin_sliding(contacts, memory, desk, b)
    for turn in range(rounds):
        copy_rows(desk, rows)
        for b in range(feet):
            if desk.code[b] & SLIDING:
                soften(contacts, desk, b)
        solve_rows(desk, rows)
        move_feet(contacts, desk, rows)
        missed, whole = 0.0, 0.0
        for b in range(feet):
            read_joint(desk, b)
            if desk.code[b] & SLIDING:
                level(desk, b)
                short, limit = adapt_sliding(contacts, desk, b, turn < NEWTON)
                missed, whole = missed + short, whole + limit
        if missed <= AGREEMENT * whole:
            for b in range(feet):
                if desk.code[b] & SLIDING:
                    balance(contacts, desk, b)
            return True
        for b in range(feet):
            if desk.code[b] & SLIDING:
                extrapolate(desk, b, turn % 3, turn < NEWTON)
    return False


@inlined
def hold(contacts, desk, b, memory):
    """Friction at the vertices of a foot that does not slide: shares of their loads. The largest ratio to its limit.

    Friction per load is a rigid field, ``u + w x r``: of all ways to spread it the one with the least sum of squares
    per load.
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
            worst = max(worst, (x * x + y * y) ** 0.5 - limit)
    return worst


@inlined
def least_load(desk, b):
    """The least load of a foot's vertices if they were spread as an affine function, the paper's negative forces."""
    found, begin, end = desk.pressure[b], desk.begin[b], desk.begin[b + 1]
    least, plane = affine_load(desk.ring, begin, end, desk.place, found[0], found[1], found[2], desk.push)
    return least if plane else 0.0
