"""Sliding feet: friction at each vertex, with its own load and direction.

The paper's friction acts at the virtual joint, where it cannot brake a foot that spins on the spot. Here friction is a
damper at each vertex, whose strength is adapted to load and speed until all agree, so that a vertex can come to rest.
The linear problem also contains how friction depends on loads (:mod:`footfall.solve.selection.loads`), which makes this
Newton's method in slip and load.
"""

from __future__ import annotations

import math

from numba import types

from footfall.compiled import cold, inlined
from footfall.solve.selection.loads import linear_load, put_loads, solve_with_loads
from footfall.solve.selection.states import (
    LOAD,
    SLIDING,
    SLOW,
    SPEED,
    STILL,
    clamped,
    copy_rows,
    level,
    load_vertices,
    move_feet,
    read_joint,
    vertex,
)

#: Most rounds in which friction, load and slip are adapted to one another, and their relative tolerance.
ROUNDS, AGREEMENT = 64, 1e-9
#: The first rounds use Newton's tangent, the others dampers and extrapolation.
NEWTON = 16
#: Share of the damper's slope along the slip that Newton's method takes as a constant force: below 1, so that the
#: compliance of the contact, the inverse of the rest, stays finite.
TANGENT = 1.0 - 1e-5
#: The same share for a vertex that may stop, whose damper acts in all directions: almost none.
STOPPING = 1e-300


@inlined
def damper(contacts, desk, p):
    """Sliding friction at a vertex, linearised: strength of its damper (N s/m), the share of it that is a constant
    force instead, and the direction of the slip.

    At a slip velocity v friction is ``-mu f (v / |v|)``. Newton's tangent damps motion across v and is constant along
    it. A damper in all directions converges better where the slip may stop.
    """
    f = desk.push[p]
    speed = max(f[3], STILL)
    return contacts.dynamic_friction[p] * f[2] / speed, desk.end[p, 5], f[4] / speed, f[5] / speed


@inlined
def soften(contacts, desk, b):
    """Put sliding friction into the rows of a foot: the inverse of the sum of its dampers, constant forces, and how
    both depend on loads.

    They are summed about the vertex with the strongest damper: beside it the others could vanish by rounding.
    """
    code, row, joint = desk.code[b], desk.row[b], desk.joint[b]
    count = clamped(code, desk.begin[b + 1] - desk.begin[b])
    strongest, ox, oy = -1.0, joint[0], joint[1]
    for j in range(count):
        p = vertex(desk, b, code, j)
        k, _, _, _ = damper(contacts, desk, p)
        if k > strongest:
            strongest, ox, oy = k, desk.place[p, 0], desk.place[p, 1]
    # A trace of friction, for compliances must be finite.
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
    last = desk.row[b + 1] - 1
    # A single vertex does not brake rotation.
    rr = rr + 1e-12 / max(1e-300, desk.matrix[last, last]) if count > 1 else 1.0
    cxx, cxy, cxr = yy * rr - yr * yr, xr * yr - xy * rr, xy * yr - yy * xr
    d = 1.0 / (xx * cxx + xy * cxy + xr * cxr)
    cxx, cxy, cxr = cxx * d, cxy * d, cxr * d
    cyy, cyr = (xx * rr - xr * xr) * d, (xy * xr - xx * yr) * d
    crr = (xx * yy - xy * xy) * d if count > 1 else 0.0
    # From that vertex to the virtual joint.
    hx, hy = oy - joint[1], joint[0] - ox
    turn = cxr * fx + cyr * fy + crr * fr
    desk.rest[row] += cxx * fx + cxy * fy + cxr * fr + hx * turn
    desk.rest[row + 1] += cxy * fx + cyy * fy + cyr * fr + hy * turn
    desk.rest[last] += turn
    cxy += hx * cyr + hy * (cxr + hx * crr)
    cxx, cyy = cxx + hx * (2.0 * cxr + hx * crr), cyy + hy * (2.0 * cyr + hy * crr)
    cxr, cyr = cxr + hx * crr, cyr + hy * crr
    desk.system[row, row] += cxx
    desk.system[row + 1, row] += cxy
    desk.system[row + 1, row + 1] += cyy
    desk.system[last, row] += cxr
    desk.system[last, row + 1] += cyr
    desk.system[last, last] += crr
    put_loads(contacts, desk, b, (cxx, cxy, cxr, cyy, cyr, crr))


@inlined
def balance(contacts, desk, b):
    """Give the rounding error of a foot's friction to the vertex with the strongest damper."""
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
        f[3] = math.sqrt(v[0] * v[0] + v[1] * v[1])
        f[4], f[5] = v[0], v[1]
        desk.end[p, 5] = TANGENT if known else 0.0
        if f[3] < SLOW:
            f[3], desk.end[p, 5] = SLOW, 0.0


@inlined
def adapt_sliding(contacts, desk, b, newton):
    """Update loads and slip velocities of a sliding foot to those of the solution.

    Gives the friction missed and the friction there should be, N.
    """
    code = desk.code[b]
    missed, whole = 0.0, 0.0
    count = clamped(code, desk.begin[b + 1] - desk.begin[b])
    for j in range(count):
        put_friction(contacts, desk, b, vertex(desk, b, code, j), newton)
    load_vertices(desk, b)
    for j in range(count):
        short, limit = adapt_vertex(contacts, desk, vertex(desk, b, code, j), newton)
        missed, whole = missed + short, whole + limit
    return missed, whole


@inlined
def put_friction(contacts, desk, b, p, newton):
    """Friction of a vertex in the linear problem, with its dependence on the load."""
    v, f = desk.end[p], desk.push[p]
    k, fixed, dx, dy = damper(contacts, desk, p)
    along = fixed * (max(f[3], STILL) - dx * v[0] - dy * v[1])
    more = contacts.dynamic_friction[p] * (linear_load(desk, b, p) - f[2]) if newton else 0.0
    f[0], f[1] = -k * (v[0] + along * dx) - more * dx, -k * (v[1] + along * dy) - more * dy


@inlined
def adapt_vertex(contacts, desk, p, newton):
    """The same as :func:`adapt_sliding` for a vertex whose load is new."""
    v, f = desk.end[p], desk.push[p]
    speed = math.sqrt(v[0] * v[0] + v[1] * v[1])
    limit = contacts.dynamic_friction[p] * f[2]
    if speed > STILL:
        x, y = f[0] + limit * v[0] / speed, f[1] + limit * v[1] / speed
        missed = math.sqrt(x * x + y * y)
    else:
        missed = max(0.0, math.sqrt(f[0] * f[0] + f[1] * f[1]) - limit)
    if not newton:
        f[3], v[5] = max(speed, STILL), 0.0
    elif v[5] == TANGENT and f[4] * v[0] + f[5] * v[1] < 0.05 * f[3] * f[3]:  # Newton overshot: the vertex may stop
        f[3], f[4], f[5], v[5] = max(0.1 * f[3], STILL), 0.1 * f[4], 0.1 * f[5], STOPPING
    elif v[5] == STOPPING and speed < f[3]:  # less than full friction holds it
        f[3], f[4], f[5] = STILL, v[0] * (STILL / f[3]), v[1] * (STILL / f[3])
    else:
        v[5] = TANGENT if speed > 0.3 * f[3] and speed > STILL else 0.0
        f[3], f[4], f[5] = max(speed, STILL), v[0], v[1]
    return missed, limit


@inlined
def extrapolate(desk, b, turn):
    """Aitken's extrapolation of loads and slip speeds, every third round."""
    code = desk.code[b]
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        extrapolate_vertex(desk, vertex(desk, b, code, j), turn)


@inlined
def extrapolate_vertex(desk, p, turn):
    f, kept = desk.push[p], desk.end[p]
    if turn < 2:
        kept[3 + turn] = f[2]
        f[4 + turn] = f[3]
        return
    f[2] = max(limit_of(kept[3], kept[4], f[2]), 0.0)
    # A vertex whose speed would be negative stops.
    f[3] = max(limit_of(f[4], f[5], f[3]), 1e-3 * f[3], STILL)


@inlined
def limit_of(a, b, c):
    """The limit of a sequence of three numbers that converges geometrically or oscillates; the last number if it does
    neither.
    """
    bend = (c - b) - (b - a)
    return c - (c - b) ** 2 / bend if abs(c - b) < abs(b - a) or (c - b) * (b - a) < 0.0 else c


@cold(types.boolean)
def slide(contacts, memory, desk, rows, rounds):
    """Solve the states in ``desk.code``, of which some slide. True if friction, load and slip agree."""
    feet = contacts.near.size - 1
    for b in range(feet):
        if desk.code[b] & SLIDING:
            begin_sliding(contacts, memory, desk, b)
    for turn in range(rounds):
        copy_rows(desk, rows)
        for b in range(feet):
            if desk.code[b] & SLIDING:
                soften(contacts, desk, b)
        solve_with_loads(desk, feet, rows, turn < NEWTON)
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
            if turn >= NEWTON and desk.code[b] & SLIDING:
                extrapolate(desk, b, (turn - NEWTON) % 3)
    return False
