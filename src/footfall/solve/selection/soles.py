"""The soles in constraint selection: their outlines, free motions and wanted motions.

Everything is in the contact frame of each foot, about the centroid of its near points. The near points are the vertices
of the outline if they form a convex polygon; of other points (a grid) the convex hull is taken.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import inlined, kernel, reference_to
from footfall.compiled.meeting import meet
from footfall.solve.contacts import OPEN, STICK
from footfall.solve.dense import cholesky, cholesky_solve
from footfall.solve.problem import MODE

#: Largest differences of normals, and of heights (m), of ground that counts as one plane under a foot.
FLAT = 1e-9
#: Largest distance (m) of points of a flat sole from its plane.
UNEVEN = 1e-5
#: Area, relative to the foot's squared size, below which a corner is straight and three points are on a line.
STRAIGHT = 1e-9
#: Largest distance (m) of a static vertex from its anchor. Beyond it the vertex drags the anchor along, since pulling
#: the vertex back would add energy.
LEASH = 1e-4


class Stabilisation(NamedTuple):
    """Baumgarte's stabilisation: what the next step keeps of the errors of clamped vertices, and what it corrects."""

    keep: float  # share of a velocity
    rate: float  # 1/s, of an error of position
    fastest: float  # m/s, the fastest correction
    level: float  # s, in which a sole that is wholly inside the ground, or deep at one place, becomes parallel to it
    deep: float  # m


class Desk(NamedTuple):
    """Scratch of one step: K feet, P points, R = 6K rows of constraints, Q places in the queue."""

    # per foot
    begin: np.ndarray  # (K + 1,) where each outline begins in `ring`
    code: np.ndarray  # (K,) the state that was evaluated last, see footfall.solve.selection.states
    fault: np.ndarray  # (K,) the first rule that it breaks
    worst: np.ndarray  # (K,) where on the outline
    row: np.ndarray  # (K + 1,) first row of constraints
    motion: np.ndarray  # (K, 6) velocity of the centroid and angular velocity, at the end of a step without contact
    moved: np.ndarray  # (K, 6) the same with the contact forces of the state
    joint: np.ndarray  # (K, 6) virtual joint: x, y, z of the middle of clamped vertices; direction of an edge (x, y)
    pressure: np.ndarray  # (K, 6) normal force, centre of pressure (x, y), tangential force (x, y), torsion about it
    shares: np.ndarray  # (K, 6) how loads follow from a foot's multipliers, see footfall.solve.selection.loads
    braked: np.ndarray  # (K, 12) effect of loads on the slip, per unit of three multipliers and in all
    # per point
    ring: np.ndarray  # (P + 1,) outlines, counter-clockwise seen from above the ground; one more while one is sought
    order: np.ndarray  # (P,)
    place: np.ndarray  # (P, 6) x, y, z m; wanted velocity if clamped: normal, tangential (x, y)
    push: np.ndarray  # (P, 6) force: tangential (x, y), normal; slip at which friction is linearised: speed, (x, y)
    end: np.ndarray  # (P, 6) velocity at the end of the step; loads before; share of friction that is made constant
    # the linear problem of a state
    basis: np.ndarray  # (R, 6) wrench of a unit multiplier, world frame, about the centroid
    mapped: np.ndarray  # (R, R) velocities of all feet per unit multiplier, world frame
    matrix: np.ndarray  # (R, R)
    factor: np.ndarray  # (R, R)
    spare: np.ndarray  # (R, R)
    system: np.ndarray  # (R, R)
    wanted: np.ndarray  # (R,) velocity that the multipliers must add
    rest: np.ndarray  # (R,) the same with sliding friction
    multiplier: np.ndarray  # (R,)
    scale: np.ndarray  # (R,)
    half: np.ndarray  # (R,)
    # the search
    queue: np.ndarray  # (Q K,) states, one after the other
    rank: np.ndarray  # (Q,) violations of a state, of its parent before it is tried
    tried: np.ndarray  # (Q,)
    stand: np.ndarray  # (8,) progress of a search that is interrupted on a GPU, see footfall.solve.together.selection


def make_desk(points: int, bodies: int, places: int) -> Desk:
    """Scratch for this many points, feet and queued states."""
    n = 6 * bodies

    def integers(size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)

    return Desk(
        begin=integers(bodies + 1),
        code=integers(bodies),
        fault=integers(bodies),
        worst=integers(bodies),
        row=integers(bodies + 1),
        motion=np.zeros((bodies, 6)),
        moved=np.zeros((bodies, 6)),
        joint=np.zeros((bodies, 6)),
        pressure=np.zeros((bodies, 6)),
        shares=np.zeros((bodies, 6)),
        braked=np.zeros((bodies, 12)),
        ring=integers(points + 1),
        order=integers(points),
        place=np.zeros((points, 6)),
        push=np.zeros((points, 6)),
        end=np.zeros((points, 6)),
        basis=np.zeros((n, 6)),
        mapped=np.zeros((n, n)),
        matrix=np.zeros((n, n)),
        factor=np.zeros((n, n)),
        spare=np.zeros((n, n)),
        system=np.zeros((n, n)),
        wanted=np.zeros(n),
        rest=np.zeros(n),
        multiplier=np.zeros(n),
        scale=np.zeros(n),
        half=np.zeros(n),
        queue=integers(places * bodies),
        rank=integers(places),
        tried=integers(places),
        stand=integers(8),
    )


def desk_type() -> Any:
    """The type of a desk by reference in compiled code."""
    return reference_to(make_desk(1, 1, 1))


@inlined
def look(contacts, dt, stabilisation, memory, desk):
    """Describe every foot on the ground; False if a sole or the ground under one is not flat."""
    count = 0
    for b in range(contacts.near.size - 1):
        desk.begin[b] = count
        first, last = contacts.near[b], contacts.near[b + 1]
        if first == last:
            continue
        if not meet(on_a_plane(contacts, first, last)) or not meet(is_flat(contacts, first, last)):
            return False
        put_in_place(contacts, dt, stabilisation, memory, first, last, desk.place)
        free_motion(contacts, dt, first, last, desk.place, desk.system, desk.factor, desk.motion[b])
        if meet(in_order(contacts, first, last, desk.place)):
            for i in range(first, last):
                desk.ring[count] = contacts.points[i]
                count += 1
        else:
            count += foot_hull(contacts, first, last, desk.place, desk.ring[count:], desk.order)
    desk.begin[contacts.near.size - 1] = count
    return True


@inlined
def on_a_plane(contacts, first, last):
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
def is_flat(contacts, first, last):
    """Whether a foot's near points are in one plane, as they must be to stand on the whole face."""
    if last - first < 4:
        return True
    o = contacts.position[contacts.points[first]]
    # The plane through the first point, the farthest from it, and the farthest from the line through both.
    ux, uy, uz, longest = 0.0, 0.0, 0.0, 0.0
    for i in range(first + 1, last):
        at = contacts.position[contacts.points[i]]
        x, y, z = at[0] - o[0], at[1] - o[1], at[2] - o[2]
        size = x * x + y * y + z * z
        if size > longest:
            ux, uy, uz, longest = x, y, z, size
    nx, ny, nz, widest = 0.0, 0.0, 0.0, 0.0
    for i in range(first + 1, last):
        at = contacts.position[contacts.points[i]]
        x, y, z = at[0] - o[0], at[1] - o[1], at[2] - o[2]
        x, y, z = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
        size = x * x + y * y + z * z
        if size > widest:
            nx, ny, nz, widest = x, y, z, size
    limit = UNEVEN * widest**0.5
    for i in range(first + 1, last):
        at = contacts.position[contacts.points[i]]
        if abs(nx * (at[0] - o[0]) + ny * (at[1] - o[1]) + nz * (at[2] - o[2])) > limit:
            return False
    return True


@inlined
def put_in_place(contacts, dt, stabilisation, memory, first, last, place):
    """Positions of a foot's near points in its contact frame, and the velocities wanted of them if they are clamped.

    At the rate of the stabilisation, a point above the ground descends to it, a point inside comes out, and one away
    from its anchor returns. Under a foot inside the ground the ground counts as that low and rises at this rate, since
    a rigid sole can only follow a plane. A clamped vertex may keep a share of its velocity.
    """
    keep, rate, fastest, level, deep = stabilisation
    ground, highest = 0.0, contacts.gap[contacts.points[first]]
    for i in range(first, last):
        ground = min(ground, contacts.gap[contacts.points[i]])
        highest = max(highest, contacts.gap[contacts.points[i]])
    rise = min(-rate * ground, fastest)
    within = level if highest < 0.0 or ground < -deep else dt
    for i in range(first, last):
        p = contacts.points[i]
        frame, arm, at, row = contacts.frame[p], contacts.arm[p], contacts.position[p], place[p]
        for k in range(3):
            row[k] = frame[k, 0] * arm[0] + frame[k, 1] * arm[1] + frame[k, 2] * arm[2]
        row[3] = rise - (contacts.gap[p] - ground) / within
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
def free_motion(contacts, dt, first, last, place, moment, factor, motion):
    """Motion of a foot at the end of a step without contact forces, from that of its near points."""
    near = last - first
    for k in range(6):
        motion[k] = 0.0
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(first, last):
        p = contacts.points[i]
        v, a, bias, r = contacts.velocity[p], contacts.acceleration[p], contacts.bias[p], place[p]
        x, y, z = v[0] + dt * (a[0] - bias[0]), v[1] + dt * (a[1] - bias[1]), v[2] + dt * (a[2] - bias[2])
        motion[0] += x
        motion[1] += y
        motion[2] += z
        motion[3] += r[1] * z - r[2] * y
        motion[4] += r[2] * x - r[0] * z
        motion[5] += r[0] * y - r[1] * x
        xx += r[0] * r[0]
        yy += r[1] * r[1]
        zz += r[2] * r[2]
        xy += r[0] * r[1]
        xz += r[0] * r[2]
        yz += r[1] * r[2]
    share = 1.0 / near
    motion[0], motion[1], motion[2] = motion[0] * share, motion[1] * share, motion[2] * share
    size = xx + yy + zz
    if near == 1 or size == 0.0:
        motion[3], motion[4], motion[5] = 0.0, 0.0, 0.0
        return
    moment[0, 0], moment[1, 1], moment[2, 2] = yy + zz, xx + zz, xx + yy
    moment[1, 0], moment[2, 0], moment[2, 1] = -xy, -xz, -yz
    if meet(near > 2 and cholesky(moment, 3, STRAIGHT, factor)):
        cholesky_solve(factor, 3, motion[3:6])
    else:  # points on a line: rotation about it moves none
        motion[3], motion[4], motion[5] = motion[3] / size, motion[4] / size, motion[5] / size


@inlined
def in_order(contacts, first, last, place):
    """Whether near points are the vertices of a convex polygon, counter-clockwise, once around."""
    near = last - first
    if near < 3:
        return True
    turns = 0
    for i in range(near):
        a = place[contacts.points[first + i]]
        b = place[contacts.points[first + (i + 1) % near]]
        c = place[contacts.points[first + (i + 2) % near]]
        x, y, u, v = b[0] - a[0], b[1] - a[1], c[0] - b[0], c[1] - b[1]
        if x * v - y * u <= STRAIGHT * (x * x + y * y + u * u + v * v):
            return False
        if y < 0.0 and v >= 0.0:
            turns += 1
    return turns == 1


@kernel
def foot_hull(contacts, first, last, place, ring, order):
    """The convex outline of near points, counter-clockwise (Andrew's monotone chain). Gives the number of vertices.

    ``ring`` has room for one more than there are points: the second half of the chain may add a vertex twice.
    """
    near = last - first
    for i in range(near):
        p = contacts.points[first + i]
        k = i
        while k > 0:
            a, b = place[order[k - 1]], place[p]
            if a[0] < b[0] or (a[0] == b[0] and a[1] <= b[1]):
                break
            order[k] = order[k - 1]
            k -= 1
        order[k] = p
    if near < 3:
        for i in range(near):
            ring[i] = order[i]
        return near
    count = 0
    for half in range(2):
        base = count
        for i in range(near):
            p = order[i] if half == 0 else order[near - 1 - i]
            while count - base >= 2 and not _turns_left(place[ring[count - 2]], place[ring[count - 1]], place[p]):
                count -= 1
            count = min(count, near)  # in spite of rounding
            ring[count] = p
            count += 1
        count -= 1  # the last is the first of the other half
    return count


@inlined
def _turns_left(a, b, c):
    x, y, u, v = b[0] - a[0], b[1] - a[1], c[0] - b[0], c[1] - b[1]
    return x * v - y * u > STRAIGHT * (x * x + y * y + u * u + v * v)
