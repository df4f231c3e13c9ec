"""Detection of bodies other than feet near the ground, their places among the contact points, and their contacts."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.kinematics import locate, release, release_far
from footfall.engine.other_bodies.pairs import is_pair
from footfall.engine.other_bodies.points import FAR, LIVE, LOST, MAY_GROW, ON_GROUND, Others, Points
from footfall.ground.surface import tangent_frame
from footfall.kinds import Bool, Float, Function, Int, Matrix, Named, Vector
from footfall.solve.contacts import OPEN, Contacts

# The lengths and speeds below decide when points take places, which only costs time: forces do not depend on them as
# long as a point has its place before it touches, and a step in which it has none is marked as unsolved.
#: A point gives its place back when its gap exceeds the larger of this length, m, and the distance covered in a step at
#: this speed, m/s.
KEEP, FASTEST = 0.02, 10.0
#: Sine of the angle between the normals of a disc and of the ground below which the disc stands on its fixed points.
LEVEL = 0.1
#: A point is about to touch if its gap is less than its motion in this many steps plus a slack, m.
AHEAD, SLACK = 3.0, 2e-4
#: Speed, m/s, that motors or an impact may give within a step to bodies of a robot that hardly moves.
JOLT = 1.0


class Below(NamedTuple):
    """The ground, and the largest gap of points that the law is given."""

    surface: Any
    shape: Any
    table: Any
    margin: float  # m


@inlined
def support(
    turn: Vector, axes: Matrix, nx: Float, ny: Float, nz: Float, roll: Matrix
) -> tuple[Float, Float, Float, Bool]:
    """The contact of an ellipsoid relative to its centre, world frame, and whether it is a single point.

    With W the semi-axes in the world and y = W^T n the contact is -W y / |y|; ``roll`` (3, 3) becomes its negative
    derivative by the normal, W W^T / |y| - (W y)(W y)^T / |y|^3, which for a ball is its radius.
    """
    ax, ay, az, bx, by, bz, cx, cy, cz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):  # the columns of W are a, b, c
        ax += turn[k] * axes[k, 0]
        ay += turn[3 + k] * axes[k, 0]
        az += turn[6 + k] * axes[k, 0]
        bx += turn[k] * axes[k, 1]
        by += turn[3 + k] * axes[k, 1]
        bz += turn[6 + k] * axes[k, 1]
        cx += turn[k] * axes[k, 2]
        cy += turn[3 + k] * axes[k, 2]
        cz += turn[6 + k] * axes[k, 2]
    u, v, w = ax * nx + ay * ny + az * nz, bx * nx + by * ny + bz * nz, cx * nx + cy * ny + cz * nz
    longest = max(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz, cx * cx + cy * cy + cz * cz)
    size = (u * u + v * v + w * w) ** 0.5
    if size * size < LEVEL * LEVEL * longest:
        return 0.0, 0.0, 0.0, False
    x, y, z = ax * u + bx * v + cx * w, ay * u + by * v + cy * w, az * u + bz * v + cz * w
    s, t = 1.0 / size, 1.0 / size**3
    roll[0, 0] = (ax * ax + bx * bx + cx * cx) * s - x * x * t
    roll[0, 1] = (ax * ay + bx * by + cx * cy) * s - x * y * t
    roll[0, 2] = (ax * az + bx * bz + cx * cz) * s - x * z * t
    roll[1, 1] = (ay * ay + by * by + cy * cy) * s - y * y * t
    roll[1, 2] = (ay * az + by * bz + cy * cz) * s - y * z * t
    roll[2, 2] = (az * az + bz * bz + cz * cz) * s - z * z * t
    roll[1, 0], roll[2, 0], roll[2, 1] = roll[0, 1], roll[0, 2], roll[1, 2]
    return -x * s, -y * s, -z * s, True


@inlined
def kept_within(dt: Float) -> Float:
    """The gap (m) beyond which a point has no place among the contact points in steps of ``dt`` (s)."""
    return max(KEEP, FASTEST * dt)


@inlined
def is_far(world: Named, others: Others, b: Int, surface: Function, shape: Vector, table: Matrix, reach: Float) -> Bool:
    """Whether no point of a body can be near the ground: by the box around its points, on uneven ground by the ball.

    Near means within the gap that keeps a place. For a body without places it means touching within ``AHEAD`` steps,
    or, if the law is given points earlier (``patient``), within ``reach`` (m).
    """
    body = others.body[b]
    x, r, u, h = world.xpos[body], world.xmat[body], others.centre[b], others.half[b]
    pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
    low = pz - others.highest - (abs(r[6]) * h[0] + abs(r[7]) * h[1] + abs(r[8]) * h[2])
    if low > kept_within(others.dt):
        return True
    px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
    py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
    gap, nx, ny, nz = surface(px, py, pz, shape, table)
    if others.flat == 1:
        extent = 0.0
        for c in range(3):
            extent += abs(r[c] * nx + r[3 + c] * ny + r[6 + c] * nz) * h[c]
        low = gap - extent
    else:
        low = gap / others.lipschitz - others.size[b]
    if low > kept_within(others.dt):
        return True
    if low <= SLACK or others.seated[b] > 0:
        return False
    if others.patient == 1:
        return low > reach
    v, com = world.cvel[body], world.subtree_com[others.root[b]]
    away = ((px - com[0]) ** 2 + (py - com[1]) ** 2 + (pz - com[2]) ** 2) ** 0.5 + others.size[b]
    spin = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5
    speed = (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) ** 0.5 + spin * away
    return low > SLACK + AHEAD * others.dt * speed


@inlined
def touching_place(
    x: Vector, r: Vector, u: Vector, smooth: Int, axes: Matrix, roll: Matrix, below: Below
) -> tuple[Float, Float, Float, Float, Float, Float, Float]:
    """Gap, position and normal of the point nearest to the ground of a point ``u``, or of the ellipsoid around it, of a
    body at ``x`` turned by ``r``; without its radius. The gap is ``FAR`` for a disc that stands on fixed points.
    """
    px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
    py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
    pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
    gap, nx, ny, nz = below.surface(px, py, pz, below.shape, below.table)
    if smooth == 1:
        # First from the normal under the centre, then from that under the place found.
        touches, dx, dy, dz = True, 0.0, 0.0, 0.0
        for _ in range(2):
            dx, dy, dz, touches = support(r, axes, nx, ny, nz, roll)
            if not touches:
                break
            gap, nx, ny, nz = below.surface(px + dx, py + dy, pz + dz, below.shape, below.table)
        if touches:
            px, py, pz = px + dx, py + dy, pz + dz
        else:
            gap = FAR
    return gap, px, py, pz, nx, ny, nz


@inlined
def touches_soon(gap: Float, at: tuple[Float, Float, Float], v: Vector, com: Vector, dt: Float) -> Bool:
    """Whether a point at the place ``at`` (3) of a body that moves with ``v`` about ``com`` is about to touch."""
    if gap <= SLACK:
        return True
    rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
    vx = v[3] + v[1] * rz - v[2] * ry
    vy = v[4] + v[2] * rx - v[0] * rz
    vz = v[5] + v[0] * ry - v[1] * rx
    return gap <= SLACK + AHEAD * dt * (vx * vx + vy * vy + vz * vz) ** 0.5


@inlined
def put_in_place(points: Points, q: Int, p: Int) -> None:
    """Write the shape of point ``q`` of another body to the place ``p``."""
    others = points.others
    points.radius[p], points.smooth[p] = others.radius[q], others.smooth[q]
    for c in range(3):
        points.local[p, c] = others.local[q, c]
        for d in range(3):
            points.axes[p, c, d] = others.axes[q, c, d]


@inlined
def take_place(points: Points, contacts: Contacts, q: Int) -> Int:
    """A free place for point ``q``, or -1 if there is none."""
    others = points.others
    for s in range(others.who.size):
        if others.who[s] < 0:
            p = others.first + s
            others.who[s], others.place[q] = q, p
            put_in_place(points, q, p)
            release(points, p)
            contacts.static_friction[p] = contacts.static_friction[0]  # it may have been a contact between bodies
            contacts.dynamic_friction[p] = contacts.dynamic_friction[0]
            others.counters[LIVE] = max(others.counters[LIVE], p + 1)
            return p
    return -1


@inlined
def is_early(others: Others) -> Bool:
    """Whether points take places as soon as they are near enough to keep them: before a period of an event-driven law,
    in which no places can be added, and in which an impact may throw a body down faster than it came.
    """
    return others.patient == 1 and others.full == 0 and others.counters[MAY_GROW] == 1


@cold(types.int64)
def list_body(world: Named, points: Points, contacts: Contacts, b: Int, slot: Int, count: Int, below: Below) -> Int:
    """List the near points of a body other than a foot, in a ``slot``, or in none if that is -1. Returns the count."""
    others, body, scratch = points.others, points.others.body[b], points.roll[points.roll.shape[0] - 1]
    x, r, v, com = world.xpos[body], world.xmat[body], world.cvel[body], world.subtree_com[others.root[b]]
    early = is_early(others)
    for q in range(others.begin[b], others.begin[b + 1]):
        p, u, smooth = others.place[q], others.local[q], others.smooth[q]
        gap, px, py, pz, nx, ny, nz = touching_place(x, r, u, smooth, others.axes[q], scratch, below)
        gap -= others.radius[q]
        if not gap < kept_within(others.dt):  # also where there is no ground (NaN)
            if p >= 0:
                contacts.gap[p] = FAR if gap != gap else gap
            if p < 0 or others.patient == 0:
                continue
        px, py, pz = px - others.radius[q] * nx, py - others.radius[q] * ny, pz - others.radius[q] * nz
        soon = touches_soon(gap, (px, py, pz), v, com, others.dt)
        if p < 0:
            if not (soon or early):
                continue
            p = take_place(points, contacts, q)
            if p < 0:
                others.counters[LOST] += 1
                continue
            others.seated[b] += 1
        at = points.position[p]
        at[0], at[1], at[2] = px, py, pz
        contacts.gap[p] = gap
        if gap > below.margin or not (soon or points.mode[p] != OPEN or others.patient == 1):
            continue
        if slot < 0:
            others.counters[LOST] += 1
            continue
        tangent_frame(nx, ny, nz, contacts.frame[p])
        if others.smooth[q] == 1:
            for c in range(3):
                for d in range(3):
                    points.roll[p, c, d] = scratch[c, d]
        contacts.body[p] = slot
        contacts.points[count] = p
        count += 1
    return count


@cold(types.none)
def set_far(points: Points, contacts: Contacts, b: Int) -> None:
    """Set the gaps of points of a far body that still have places to ``FAR``."""
    others = points.others
    for q in range(others.begin[b], others.begin[b + 1]):
        if others.place[q] >= 0:
            contacts.gap[others.place[q]] = FAR


@cold(types.none)
def take_slot(points: Points, b: Int, a: Int) -> None:
    """Give the slot ``a`` behind the feet's to a body, with the data for the Delassus operator."""
    others = points.others
    k = others.feet + a
    others.slot[a] = b
    points.body[k] = others.body[b]
    points.root[k] = others.root[b]
    points.geom[k] = others.geom[b]
    points.chain_length[k] = others.chain_length[b]
    for i in range(others.chain_length[b]):
        points.chain[k, i] = others.chain[b, i]
    for m in range(others.feet):
        points.shared[k, m] = points.shared[m, k] = others.shared[others.feet + b, m]
    for c in range(others.slot.size):
        if 0 <= others.slot[c] < others.body.size:
            m = others.feet + c
            points.shared[k, m] = points.shared[m, k] = others.shared[others.feet + b, others.feet + others.slot[c]]


@inlined
def live(points: Points) -> Int:
    """Points up to the last that may be near the ground."""
    return points.others.counters[LIVE]


@cold(types.none)
def turn_feet(world: Named, points: Points, below: Below) -> None:
    """Find where ellipsoids of feet touch."""
    for k in range(points.others.feet):
        x, r = world.xpos[points.body[k]], world.xmat[points.body[k]]
        for p in range(points.begin[k], points.begin[k + 1]):
            if points.smooth[p] == 1:
                _, px, py, pz, _, _, _ = touching_place(
                    x, r, points.centre[p], 1, points.axes[p], points.roll[p], below
                )
                for c in range(3):
                    points.local[p, c] = r[c] * (px - x[0]) + r[3 + c] * (py - x[1]) + r[6 + c] * (pz - x[2])


@inlined
def reach_of_period(qvel: Vector, dt: Float) -> Float:
    """Largest gap (m) from which a body may reach the ground within a period of ``dt`` (s): an impact may throw it down
    ``AHEAD`` times as fast as the robot moves, the sum of its joint speeds at levers of a metre.
    """
    speed = JOLT
    for j in range(qvel.size):
        speed += abs(qvel[j])
    return min(kept_within(dt), SLACK + AHEAD * dt * speed)


@inlined
def locate_all(
    world: Named, points: Points, contacts: Contacts, surface: Function, shape: Vector, table: Matrix, margin: Float
) -> Int:
    """Gaps, places and, nearer than ``margin``, frames of all points. Returns a foot's point without a gap, or -1."""
    others, below = points.others, Below(surface, shape, table, margin)
    others.counters[LOST] = 0
    if others.curved == 1:
        turn_feet(world, points, below)
    bad = locate(world, points, contacts, surface, shape, table, margin)
    if bad >= 0:
        return bad
    count, a, bodies = contacts.number[0], 0, 0
    reach = reach_of_period(world.qvel, others.dt) if others.patient == 1 else 0.0
    for b in range(others.body.size):  # those that are fixed to a foot come first, and share its slot
        if is_far(world, others, b, surface, shape, table, reach):
            if others.seated[b] > 0:
                set_far(points, contacts, b)
            continue
        slot = others.foot[b]
        fixed = slot >= 0
        bodies += 0 if fixed else 1
        if not fixed and a < others.slot.size:
            slot = others.feet + a
            contacts.near[slot] = count
        last = list_body(world, points, contacts, b, slot, count, below)
        if fixed:
            for i in range(count, last):
                insert(contacts, slot, i)
        elif last > count:
            if others.slot[a] != b:
                take_slot(points, b, a)
            a += 1
        count = last
    if bodies > others.slot.size and is_early(others):
        others.counters[LOST] += 1
    for k in range(others.feet + a, contacts.near.size):
        contacts.near[k] = count
    contacts.number[0] = count
    others.counters[ON_GROUND] = others.feet + a
    return -1


@inlined
def insert(contacts: Contacts, slot: Int, i: Int) -> None:
    """Move the near point at the end of the list, number ``i``, to the end of those of a slot."""
    p = contacts.points[i]
    for j in range(i, contacts.near[slot + 1], -1):
        contacts.points[j] = contacts.points[j - 1]
    contacts.points[contacts.near[slot + 1]] = p
    for k in range(slot + 1, contacts.near.size):
        contacts.near[k] += 1


@inlined
def release_all(points: Points, contacts: Contacts) -> None:
    """Open all points that are not near, before the law is called."""
    if points.others.who.size == 0:  # then they are listed in their order
        release_far(points, contacts, points.mode.size)
        return
    for i in range(contacts.number[0]):
        points.listed[contacts.points[i]] = 1
    for p in range(live(points)):
        if points.listed[p] == 0:
            release(points, p)
        points.listed[p] = 0


@inlined
def body_of(others: Others, q: Int) -> Int:
    """The index among these bodies of the body of a point."""
    b = 0
    while others.begin[b + 1] <= q:
        b += 1
    return b


@cold(types.none)
def free_places(points: Points, contacts: Contacts) -> None:
    """Free the places of points that are far from the ground, between samples."""
    others = points.others
    live = others.first
    for s in range(others.counters[LIVE] - others.first):
        p, q = others.first + s, others.who[s]
        if q < 0:
            continue
        if contacts.gap[p] > kept_within(others.dt) and points.mode[p] == OPEN:
            others.who[s] = -1
            contacts.gap[p] = FAR
            if not is_pair(others, q):
                others.place[q] = -1
                others.seated[body_of(others, q)] -= 1
        else:
            live = p + 1
    others.counters[LIVE] = live


@inlined
def free_far_places(points: Points, contacts: Contacts) -> None:
    """As :func:`free_places`, if any point has a place."""
    if live(points) > points.others.first:
        free_places(points, contacts)


@inlined
def lacks_room(points: Points) -> Bool:
    """Whether a point that is about to touch lacks a place or slot."""
    return points.others.counters[LOST] > 0


@inlined
def too_small(points: Points) -> Bool:
    """Whether a point that is about to touch lacks a place, and the run can still add places."""
    others = points.others
    return others.counters[LOST] > 0 and others.full == 0 and others.counters[MAY_GROW] == 1
