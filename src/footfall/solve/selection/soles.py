"""The soles in constraint selection: their outlines, free motions and wanted motions.

Positions are in the contact frame of each foot, about the centroid of its near points. The outline is the convex hull
of these points.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from footfall.compiled import inlined, kernel
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Vector, zeros
from footfall.solve.contacts import OPEN, STICK, Contacts
from footfall.solve.dense import minimum_norm_solve
from footfall.solve.problem import MODE

#: Largest difference of normals, and of heights (m), at which the ground under a foot is one plane.
FLAT = 1e-9
#: Largest distance (m) of the points of a flat sole from its plane.
UNEVEN = 1e-5
#: Area of a triangle, relative to its squared sides, below which its three points lie on a line.
STRAIGHT = 1e-9
#: Largest distance (m) of a static vertex from its anchor. A vertex further away drags the anchor along, since pulling
#: the vertex back would add energy.
LEASH = 1e-4


class Stabilisation(NamedTuple):
    """Baumgarte's stabilisation of the velocities and positions of clamped vertices."""

    keep: float  # share of its velocity that a clamped vertex keeps in a step
    rate: float  # 1/s, at which errors of position are corrected
    fastest: float  # m/s, largest velocity of a correction
    level: float  # 1/s, at which clamped vertices above the lowest one, or above the ground, descend


class Workspace(NamedTuple):
    """Scratch of one step: K feet, P points, R = 6K rows of constraints, Q places in the queue."""

    # per foot
    begin: Annotated[Ints, "K + 1"]  # where each outline begins in `ring`
    code: Annotated[Ints, "K"]  # the state that was evaluated last, see footfall.solve.selection.forces
    fault: Annotated[Ints, "K"]  # FRICTION if the foot exceeds its friction, else GOOD
    row: Annotated[Ints, "K + 1"]  # first row of constraints
    motion: Annotated[Matrix, "K", 6]  # velocity of the centroid and angular velocity, after a step without contact
    moved: Annotated[Matrix, "K", 6]  # the same with the contact forces of the state
    joint: Annotated[Matrix, "K", 8]  # virtual joint: mean of clamped vertices (x, y, z); inverse of their second
    # moments (xx, yy, xy); direction of an edge (x, y)
    pressure: Annotated[Matrix, "K", 6]  # normal force, centre of pressure (x, y), tangential force (x, y), torsion
    # per point
    ring: Annotated[Ints, "P + 1"]  # outlines, counter-clockwise from above; one spare place for the hull's search
    order: Annotated[Ints, "P"]
    flaw: Annotated[Ints, "P"]  # rule by which a vertex should change between clamped and free
    place: Annotated[Matrix, "P", 6]  # x, y, z m; wanted velocity if clamped: normal, tangential (x, y)
    push: Annotated[Matrix, "P", 3]  # force: tangential (x, y), normal
    end: Annotated[Matrix, "P", 4]  # velocity at the end of the step; positive load
    # the linear problem of a state
    basis: Annotated[Matrix, "R", 6]  # wrench of a unit multiplier, world frame, about the centroid
    mapped: Annotated[Matrix, "R", "R"]  # velocities of all feet per unit multiplier, world frame
    matrix: Annotated[Matrix, "R", "R"]
    system: Annotated[Matrix, "R", "R"]
    factor: Annotated[Matrix, "R", "R"]
    spare: Annotated[Matrix, "R", "R"]
    wanted: Annotated[Vector, "R"]  # velocity that the multipliers must add
    multiplier: Annotated[Vector, "R"]
    scale: Annotated[Vector, "R"]
    half: Annotated[Vector, "R"]
    # the search
    queue: Annotated[Ints, "QK"]  # states, one after the other
    rank: Annotated[Ints, "Q"]  # violations of a state, of its parent before it is tried
    tried: Annotated[Ints, "Q"]


def make_workspace(points: int, bodies: int, places: int) -> Workspace:
    """Scratch for this many points, feet and queued states."""
    return zeros(Workspace, {"P": points, "K": bodies, "R": 6 * bodies, "Q": places, "QK": places * bodies})


@inlined
def look(contacts: Contacts, dt: Float, stabilisation: Stabilisation, memory: Matrix, work: Workspace) -> Bool:
    """Write outline, free and wanted motion of feet near the ground; False if a sole or its ground is not flat."""
    count = 0
    for b in range(contacts.near.size - 1):
        work.begin[b] = count
        first, last = contacts.near[b], contacts.near[b + 1]
        if first == last:
            continue
        if not on_a_plane(contacts, first, last):
            return False
        put_in_place(contacts, stabilisation, memory, first, last, work.place)
        if not free_motion(contacts, dt, first, last, work, work.motion[b]):
            return False
        for i in range(first, last):
            work.order[i - first] = contacts.points[i]
        count += convex_outline(work.place, work.order, last - first, STRAIGHT, work.ring[count:])
    work.begin[contacts.near.size - 1] = count
    return True


@inlined
def on_a_plane(contacts: Contacts, first: Int, last: Int) -> Bool:
    """Whether the ground under a foot's near points is one plane."""
    p = contacts.points[first]
    n, at = contacts.frame[p, 2], contacts.position[p]
    height = n[0] * at[0] + n[1] * at[1] + n[2] * at[2] - contacts.gap[p]
    for i in range(first + 1, last):
        q = contacts.points[i]
        m, at = contacts.frame[q, 2], contacts.position[q]
        if abs(m[0] - n[0]) + abs(m[1] - n[1]) + abs(m[2] - n[2]) > FLAT:
            return False
        if abs(n[0] * at[0] + n[1] * at[1] + n[2] * at[2] - contacts.gap[q] - height) > FLAT:
            return False
    return True


@inlined
def put_in_place(
    contacts: Contacts, stabilisation: Stabilisation, memory: Matrix, first: Int, last: Int, place: Matrix
) -> None:
    """Write the positions of a foot's near points in its contact frame, and the velocities wanted of them if clamped.

    A point inside the ground comes out, and one away from its anchor returns, at the rate of the stabilisation; a point
    above the ground descends to it at the rate ``level``. If a foot is inside the ground, heights are measured from its
    lowest point, since a rigid sole can only follow a plane. A clamped vertex keeps the share ``keep`` of its velocity.
    """
    keep, rate, fastest, level = stabilisation
    ground = 0.0
    for i in range(first, last):
        ground = min(ground, contacts.gap[contacts.points[i]])
    rise = min(-rate * ground, fastest)
    for i in range(first, last):
        p = contacts.points[i]
        frame, arm, at, row = contacts.frame[p], contacts.arm[p], contacts.position[p], place[p]
        for k in range(3):
            row[k] = frame[k, 0] * arm[0] + frame[k, 1] * arm[1] + frame[k, 2] * arm[2]
        row[3] = rise - level * (contacts.gap[p] - ground)
        row[4], row[5] = 0.0, 0.0
        if keep > 0.0 and memory[p, MODE] != OPEN:
            v = contacts.velocity[p]
            row[3], row[4], row[5] = row[3] + keep * v[2], keep * v[0], keep * v[1]
        if memory[p, MODE] == STICK:
            anchor = contacts.anchor[p]
            x, y, z = at[0] - anchor[0], at[1] - anchor[1], at[2] - anchor[2]
            slip_x = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
            slip_y = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
            slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
            if slip > LEASH:
                drag = 1.0 - LEASH / slip
                anchor[0], anchor[1], anchor[2] = anchor[0] + drag * x, anchor[1] + drag * y, anchor[2] + drag * z
                slip_x, slip_y = slip_x - drag * slip_x, slip_y - drag * slip_y
            back = min(rate, fastest / LEASH)
            row[4], row[5] = row[4] - back * slip_x, row[5] - back * slip_y


@inlined
def free_motion(contacts: Contacts, dt: Float, first: Int, last: Int, work: Workspace, motion: Vector) -> Bool:
    """Write the motion of a foot after a step without contact forces; False if its near points are not in one plane."""
    place, moment = work.place, work.system
    for k in range(3):
        motion[k], motion[3 + k] = 0.0, 0.0
        for m in range(3):
            moment[k, m] = 0.0
    for i in range(first, last):
        p = contacts.points[i]
        v, a, bias, r = contacts.velocity[p], contacts.acceleration[p], contacts.bias[p], place[p]
        x, y, z = v[0] + dt * (a[0] - bias[0]), v[1] + dt * (a[1] - bias[1]), v[2] + dt * (a[2] - bias[2])
        motion[0], motion[1], motion[2] = motion[0] + x, motion[1] + y, motion[2] + z
        motion[3] += r[1] * z - r[2] * y
        motion[4] += r[2] * x - r[0] * z
        motion[5] += r[0] * y - r[1] * x
        for k in range(3):
            for m in range(k + 1):
                moment[k, m] -= r[k] * r[m]
    for k in range(3):
        motion[k] /= last - first
    xx, yy, xy, xz, yz = -moment[0, 0], -moment[1, 1], -moment[1, 0], -moment[2, 0], -moment[2, 1]
    trace = xx + yy - moment[2, 2]
    for k in range(3):
        moment[k, k] += trace
    # The least angular velocity does not rotate about a line through all points.
    minimum_norm_solve(moment, 3, STRAIGHT, motion[3:6], work.factor, work.spare, work.half)
    # Heights of a flat sole are a linear function of position; of collinear points, of position along their line.
    determinant, size = xx * yy - xy * xy, xx + yy
    slope_x, slope_y = xz / max(size, 1e-300), yz / max(size, 1e-300)
    if determinant > STRAIGHT * size * size:
        slope_x, slope_y = (yy * xz - xy * yz) / determinant, (xx * yz - xy * xz) / determinant
    for i in range(first, last):
        r = place[contacts.points[i]]
        if abs(r[2] - slope_x * r[0] - slope_y * r[1]) > UNEVEN:
            return False
    return True


@kernel
def convex_outline(place: Matrix, order: Ints, count: Int, straight: Float, ring: Ints) -> Int:
    """The corners of the first ``count`` points of ``order`` seen from above, counter-clockwise (Andrew's monotone
    chain). Returns their number.

    Sorts ``order``, indices of rows of ``place`` that begin with x and y. ``ring`` has room for one more than there are
    points: the second half of the chain may add a corner twice. Corners flatter than ``straight``, see
    :data:`STRAIGHT`, are left out.
    """
    for i in range(count):
        p = order[i]
        k = i
        while k > 0:
            a, b = place[order[k - 1]], place[p]
            if a[0] < b[0] or (a[0] == b[0] and a[1] <= b[1]):
                break
            order[k] = order[k - 1]
            k -= 1
        order[k] = p
    if count < 2:
        ring[0] = order[0]
        return count
    size = 0
    for half in range(2):
        base = size
        for i in range(count):
            p = order[i] if half == 0 else order[count - 1 - i]
            while size - base >= 2 and not turns_left(place[ring[size - 2]], place[ring[size - 1]], place[p], straight):
                size -= 1
            size = min(size, count)  # rounding could add more corners than points
            ring[size] = p
            size += 1
        size -= 1  # the last is the first of the other half
    return size


@inlined
def turns_left(a: Vector, b: Vector, c: Vector, straight: Float) -> Bool:
    x, y, u, v = b[0] - a[0], b[1] - a[1], c[0] - b[0], c[1] - b[1]
    return x * v - y * u > straight * (x * x + y * y + u * u + v * v)
