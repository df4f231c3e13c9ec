"""Points of all bodies beside the feet: who of them is near the ground, and a place among the contact points for those.

A robot has hundreds of such points, and hardly ever more than a few of them matter. Each body has a ball around its
points; bodies whose ball is far from the ground cost one look at it. Points that are about to touch take one of the
places behind the points of the feet, and keep it, with what the law remembers of them, until they are far again; bodies
with near points take a slot behind those of the feet in every step anew. So laws and solvers see few points and few
bodies, and none but the feet while a robot stands: places and slots are added to a run when they are asked for, up to a
fixed number. What finds no place even then is counted, and the step is not a solved one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import cold, inlined
from footfall.engine.kinematics import Points, locate, near_forces, point_forces, release, release_far, roll_anchors
from footfall.engine.other_tape import OtherTape, larger_tape, make_other_tape
from footfall.engine.tape import SAMPLES, STEPS, add_step, begin_sample
from footfall.ground.surface import tangent_frame
from footfall.solve.contacts import OPEN

if TYPE_CHECKING:
    from footfall.robot import Robot

#: Places for points and slots for bodies beside those of the feet, in the sizes that a run grows through.
SIZES = ((0, 0), (24, 6), (96, 20))
#: Points that have come farther than this from the ground give their place back, m.
KEEP = 0.02
#: A disc whose normal is nearer to the ground's than this (sine) stands on its fixed points.
LEVEL = 0.1
#: Gap of a place that no point has, m.
FAR = 1e6
# Where the counters stand: places up to the last that is taken, near points without a place or slot, whether the run
# may pause now to get more of them, and steps that lack forces because there were no more to be had.
LIVE, LOST, MAY_GROW, LACKING = 0, 1, 2, 3
#: What of :class:`Others` a step changes, but for the tape.
CHANGING = ("place", "who", "seated", "slot", "counters")
#: A point is about to touch if its gap is less than this many times its way in a step, and a slack, m.
AHEAD, SLACK = 3.0, 2e-4


class Others(NamedTuple):
    """Q points on B bodies beside the feet, grouped by body. Constant, but for ``CHANGING`` and the tape."""

    feet: int  # F, slots of feet
    first: int  # places of feet's points, before those of others
    dt: float  # s
    flat: int  # 1 if the ground is one plane
    lipschitz: float  # how fast the gap may change with the way, at most
    highest: float  # m, no ground above this
    curved: int  # 1 if any point, of feet or others, is an ellipsoid
    patient: int  # 1 if the law is shown points that have a place, however far they are
    full: int  # 1 if there are no more places to be had
    body: np.ndarray  # (B,) MuJoCo's body
    root: np.ndarray  # (B,)
    geom: np.ndarray  # (B,) one of its geoms
    foot: np.ndarray  # (B,) slot of the foot that is fixed to it, or -1
    begin: np.ndarray  # (B + 1,)
    local: np.ndarray  # (Q, 3) m, body frame
    radius: np.ndarray  # (Q,)
    axes: np.ndarray  # (Q, 3, 3)
    smooth: np.ndarray  # (Q,) 1 for ellipsoids and rims
    centre: np.ndarray  # (B, 3) m, body frame, of the box around all its points
    half: np.ndarray  # (B, 3) m, half the sides of that box, along the axes of the body
    size: np.ndarray  # (B,) m, radius of a ball around all its points, about the same centre
    chain: np.ndarray  # (B, nv)
    chain_length: np.ndarray  # (B,)
    shared: np.ndarray  # (F + B, F + B) of feet and these bodies
    place: np.ndarray  # (Q,) place of each point among all contact points, or -1
    who: np.ndarray  # (S,) which point has a place, or -1
    seated: np.ndarray  # (B,) how many points of a body have places
    slot: np.ndarray  # (A,) which body has a slot behind the feet, or -1
    counters: np.ndarray  # (4,) LIVE, LOST, MAY_GROW, LACKING
    tape: OtherTape


class AllPoints(NamedTuple):
    """The contact points of a run: :class:`footfall.engine.kinematics.Points`, and what those beside the feet need.

    P points: those of the feet, grouped by foot, then places for others. K slots for bodies: first the feet, then other
    bodies as they come near the ground.
    """

    local: np.ndarray
    radius: np.ndarray
    begin: np.ndarray
    body: np.ndarray
    root: np.ndarray
    chain: np.ndarray
    chain_length: np.ndarray
    shared: np.ndarray
    position: np.ndarray
    anchor: np.ndarray
    force: np.ndarray
    mode: np.ndarray
    memory: np.ndarray
    geom: np.ndarray  # (K,) one of the body's geoms, or -1
    centre: np.ndarray  # (P, 3) m, body frame: of an ellipsoid the centre, while ``local`` is where it touches
    axes: np.ndarray  # (P, 3, 3) m, body frame, semi-axes of the ellipsoid around the point that touches, as columns
    smooth: np.ndarray  # (P,) 1 if there is such an ellipsoid
    roll: np.ndarray  # (P + 1, 3, 3) m, how the place of contact of an ellipsoid moves as it turns; the last is scratch
    listed: np.ndarray  # (P,) scratch, zero between calls
    others: Others


def of_feet(points: AllPoints) -> Points:
    """The part of contact points that those of feet alone have, too; arrays are the same."""
    return Points(**{name: getattr(points, name) for name in Points._fields})


def chains(model: mujoco.MjModel, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dofs that move each body, from its own up to the root (K, nv), their number, and how many any two share."""
    count = len(bodies)
    chain = np.full((count, model.nv), -1, dtype=np.int64)
    length = np.zeros(count, dtype=np.int64)
    for k in range(count):
        b = int(bodies[k])
        while b and model.body_dofnum[b] == 0:
            b = int(model.body_parentid[b])
        dof = int(model.body_dofadr[b] + model.body_dofnum[b] - 1) if b else -1
        while dof >= 0:
            chain[k, length[k]] = dof
            length[k] += 1
            dof = int(model.dof_parentid[dof])
    sets = [set(chain[k, : length[k]].tolist()) for k in range(count)]
    shared = np.array([[len(a & b) for b in sets] for a in sets], dtype=np.int64).reshape(count, count)
    return chain, length, shared


def first_geoms(model: mujoco.MjModel, bodies: np.ndarray) -> np.ndarray:
    """The first geom of each body, -1 if it has none."""
    found = [np.flatnonzero(model.geom_bodyid == body)[:1] for body in bodies]
    return np.array([int(geoms[0]) if geoms.size else -1 for geoms in found], dtype=np.int64)


class Around(NamedTuple):
    """What the points of other bodies need to know of a run."""

    dt: float  # s
    flat: bool  # whether the ground is one plane
    lipschitz: float
    highest: float  # m
    patient: bool  # whether the law looks at points that are not about to touch
    wanted: bool  # whether other bodies meet the ground at all


def make_others(model: mujoco.MjModel, robot: Robot, around: Around) -> Others:
    """The points of a robot beside its feet, for compiled code."""
    feet = np.array([model.body(foot.body).id for foot in robot.feet], dtype=np.int64)
    found = robot.others
    many = len(found.body) if around.wanted else 0
    body = found.body[:many].astype(np.int64)
    begin = found.begin[: many + 1].astype(np.int64)
    total = int(begin[-1])
    chain, length, shared = chains(model, np.concatenate([feet, body]))
    centre, half, size = np.zeros((many, 3)), np.zeros((many, 3)), np.zeros(many)
    reach = found.radius + np.linalg.norm(found.axes, axis=1).max(axis=1, initial=0.0)
    for b in range(many):
        own = slice(begin[b], begin[b + 1])
        at, r = found.points[own], reach[own, None]
        low, high = (at - r).min(axis=0), (at + r).max(axis=0)
        centre[b], half[b] = 0.5 * (low + high), 0.5 * (high - low)
        size[b] = np.max(np.linalg.norm(at - centre[b], axis=1) + r[:, 0])
    foot = found.foot[:many].astype(np.int64)
    loose = int((foot < 0).sum())
    return Others(
        feet=len(feet),
        first=robot.point_count,
        dt=float(around.dt),
        flat=int(around.flat),
        lipschitz=float(around.lipschitz),
        highest=float(around.highest),
        curved=int(robot.point_axes.any() or found.axes[:total].any()),
        patient=int(around.patient),
        full=1,
        body=body,
        root=model.body_rootid[body].astype(np.int64),
        geom=first_geoms(model, robot.model.geom_bodyid[found.geom[begin[:-1]]]),
        foot=foot,
        begin=begin,
        local=found.points[:total].copy(),
        radius=found.radius[:total].copy(),
        axes=found.axes[:total].copy(),
        smooth=np.asarray(found.axes[:total].any(axis=(1, 2)), dtype=np.int64),
        centre=centre,
        half=half,
        size=size,
        chain=np.ascontiguousarray(chain[len(feet) :]),
        chain_length=length[len(feet) :].copy(),
        shared=shared,
        place=np.full(total, -1, dtype=np.int64),
        who=np.full(min(SIZES[-1][0], total), -1, dtype=np.int64),
        seated=np.zeros(many, dtype=np.int64),
        slot=np.full(min(SIZES[-1][1], loose), -1, dtype=np.int64),
        counters=np.array([robot.point_count, 0, 1, 0], dtype=np.int64),
        tape=make_other_tape(0, 0),
    )


def own_copy(points: AllPoints) -> AllPoints:
    """The same in arrays of its own, but for those that never change."""
    others = points.others
    changing = {name: getattr(others, name).copy() for name in CHANGING}
    own = {name: array.copy() for name, array in points._asdict().items() if name != "others"}
    return AllPoints(**own, others=others._replace(**changing))


def with_places(others: Others, size: int) -> Others:
    """The same with as many places and slots as ``SIZES[size]`` says; arrays are views of those given."""
    places, slots = (
        min(wanted, there.size) for wanted, there in zip(SIZES[size], (others.who, others.slot), strict=True)
    )
    full = places == others.who.size and slots == others.slot.size
    others.slot[:] = -1  # slots are taken anew in the next step
    return others._replace(who=others.who[:places], slot=others.slot[:slots], full=int(full))


def with_tape(others: Others, size: int, samples: int) -> Others:
    """The same with room to record ``samples`` of as many places as ``SIZES[size]`` says."""
    return others._replace(tape=larger_tape(others.tape, min(SIZES[size][0], others.who.size), samples))


@inlined
def support(turn, axes, nx, ny, nz, roll):
    """Where an ellipsoid touches, from its centre, world frame, and whether it does so in one place.

    With W the semi-axes in the world and y = W^T n that is -W y / |y|; ``roll`` (3, 3) becomes the derivative of its
    place by the turning of the normal, W W^T / |y| - (W y)(W y)^T / |y|^3, which for a ball is its radius.
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
def is_far(world, others, b, surface, shape, table):
    """Whether no point of a body can be near the ground: by the box around them all, on uneven ground by the ball.

    Near is what keeps a place, or, of a body that has none, what may touch within ``AHEAD`` steps.
    """
    body = others.body[b]
    x, r, u, h = world.xpos[body], world.xmat[body], others.centre[b], others.half[b]
    pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
    low = pz - others.highest - (abs(r[6]) * h[0] + abs(r[7]) * h[1] + abs(r[8]) * h[2])
    if low > KEEP:
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
    if low > KEEP:
        return True
    if low <= SLACK or others.seated[b] > 0 or others.patient == 1:
        return False
    v, com = world.cvel[body], world.subtree_com[others.root[b]]
    away = ((px - com[0]) ** 2 + (py - com[1]) ** 2 + (pz - com[2]) ** 2) ** 0.5 + others.size[b]
    spin = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5
    speed = (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) ** 0.5 + spin * away
    return low > SLACK + AHEAD * others.dt * speed


@cold
def take_place(points, contacts, q):
    """A free place for point ``q``, or -1 if there is none."""
    others = points.others
    for s in range(others.who.size):
        if others.who[s] < 0:
            p = others.first + s
            others.who[s] = q
            others.place[q] = p
            for c in range(3):
                points.local[p, c] = others.local[q, c]
                points.force[p, c] = 0.0
            points.radius[p] = others.radius[q]
            points.smooth[p] = others.smooth[q]
            for c in range(3):
                for d in range(3):
                    points.axes[p, c, d] = others.axes[q, c, d]
            points.mode[p] = OPEN
            points.memory[p, :] = 0.0
            others.counters[LIVE] = max(others.counters[LIVE], p + 1)
            return p
    return -1


@inlined
def is_early(others):
    """Whether points take their places as soon as they would keep them: before a period from event to event, in which
    a run cannot get more, and in which an impact may throw a body down faster than it came.
    """
    return others.patient == 1 and others.full == 0 and others.counters[MAY_GROW] == 1


@cold
def list_body(world, points, contacts, b, slot, count, surface, shape, table, margin):
    """List the near points of a body beside the feet, in a ``slot`` or, if that is -1, in none. Gives the new count."""
    others = points.others
    body = others.body[b]
    x, r, v, com = world.xpos[body], world.xmat[body], world.cvel[body], world.subtree_com[others.root[b]]
    early = is_early(others)
    for q in range(others.begin[b], others.begin[b + 1]):
        u = others.local[q]
        px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
        py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
        pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
        gap, nx, ny, nz = surface(px, py, pz, shape, table)
        p = others.place[q]
        if others.smooth[q] == 1:
            # First from the normal under the centre, then from that under the place found.
            roll, touches = points.roll[points.roll.shape[0] - 1], True
            dx, dy, dz = 0.0, 0.0, 0.0
            for _ in range(2):
                dx, dy, dz, touches = support(r, others.axes[q], nx, ny, nz, roll)
                if not touches:
                    break
                gap, nx, ny, nz = surface(px + dx, py + dy, pz + dz, shape, table)
            if touches:
                px, py, pz = px + dx, py + dy, pz + dz
            else:
                gap = FAR
        gap -= others.radius[q]
        if not gap < KEEP:  # nor where there is no ground
            if p >= 0:
                contacts.gap[p] = FAR if gap != gap else gap
            if p < 0 or others.patient == 0:
                continue
        px, py, pz = px - others.radius[q] * nx, py - others.radius[q] * ny, pz - others.radius[q] * nz
        soon = gap <= SLACK
        if not soon:
            rx, ry, rz = px - com[0], py - com[1], pz - com[2]
            vx = v[3] + v[1] * rz - v[2] * ry
            vy = v[4] + v[2] * rx - v[0] * rz
            vz = v[5] + v[0] * ry - v[1] * rx
            soon = gap <= SLACK + AHEAD * others.dt * (vx * vx + vy * vy + vz * vz) ** 0.5
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
        if gap > margin or not (soon or points.mode[p] != OPEN or others.patient == 1):
            continue
        if slot < 0:
            others.counters[LOST] += 1
            continue
        tangent_frame(nx, ny, nz, contacts.frame[p])
        if others.smooth[q] == 1:
            for c in range(3):
                for d in range(3):
                    points.roll[p, c, d] = points.roll[points.roll.shape[0] - 1, c, d]
        contacts.body[p] = slot
        contacts.points[count] = p
        count += 1
    return count


@cold
def set_far(points, contacts, b):
    """Places that points of a far body still have are far from the ground, too."""
    others = points.others
    for q in range(others.begin[b], others.begin[b + 1]):
        if others.place[q] >= 0:
            contacts.gap[others.place[q]] = FAR


@cold
def take_slot(points, b, a):
    """Give the slot ``a`` behind the feet's to a body, with all that the operator must know of it."""
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
        if others.slot[c] >= 0:
            m = others.feet + c
            points.shared[k, m] = points.shared[m, k] = others.shared[others.feet + b, others.feet + others.slot[c]]


@inlined
def live(points):
    """Points up to the last that may be near the ground."""
    return points.others.counters[LIVE]


@cold
def turn_feet(world, points, surface, shape, table):
    """Find where ellipsoids of feet touch: from the normal under the centre, then from that under the place found."""
    for k in range(points.others.feet):
        x, r = world.xpos[points.body[k]], world.xmat[points.body[k]]
        for p in range(points.begin[k], points.begin[k + 1]):
            if points.smooth[p] == 0:
                continue
            u, local = points.centre[p], points.local[p]
            px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
            py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
            pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
            dx, dy, dz = 0.0, 0.0, 0.0
            for _ in range(2):
                _, nx, ny, nz = surface(px + dx, py + dy, pz + dz, shape, table)
                dx, dy, dz, _ = support(r, points.axes[p], nx, ny, nz, points.roll[p])
            for c in range(3):
                local[c] = u[c] + r[c] * dx + r[3 + c] * dy + r[6 + c] * dz


@inlined
def locate_all(world, points, contacts, surface, shape, table, margin):
    """Positions, gaps and, for points nearer than ``margin``, contact frames of feet and other bodies.

    Gives a foot's point whose gap is NaN, or -1.
    """
    others = points.others
    others.counters[LOST] = 0
    if others.curved == 1:
        turn_feet(world, points, surface, shape, table)
    bad = locate(world.xpos, world.xmat, points, contacts, surface, shape, table, margin)
    if bad >= 0:
        return bad
    count, a, bodies = contacts.number[0], 0, 0
    for b in range(others.body.size):  # those that are fixed to a foot come first, and share its slot
        if is_far(world, others, b, surface, shape, table):
            if others.seated[b] > 0:
                set_far(points, contacts, b)
            continue
        slot = others.foot[b]
        fixed = slot >= 0
        bodies += 0 if fixed else 1
        if not fixed and a < others.slot.size:
            slot = others.feet + a
            contacts.near[slot] = count
        last = list_body(world, points, contacts, b, slot, count, surface, shape, table, margin)
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
    return -1


@inlined
def insert(contacts, slot, i):
    """Move the near point at the end of the list, number ``i``, to the end of those of a slot."""
    p = contacts.points[i]
    for j in range(i, contacts.near[slot + 1], -1):
        contacts.points[j] = contacts.points[j - 1]
    contacts.points[contacts.near[slot + 1]] = p
    for k in range(slot + 1, contacts.near.size):
        contacts.near[k] += 1


@inlined
def release_all(points, contacts):
    """Set every point open that is not near; a coupled law starts from there."""
    if points.others.who.size == 0:  # then they are listed in their order
        release_far(points, contacts)
        return
    for i in range(contacts.number[0]):
        points.listed[contacts.points[i]] = 1
    for p in range(live(points)):
        if points.listed[p] == 0:
            release(points, p)
            points.memory[p, :] = 0.0
        points.listed[p] = 0


@inlined
def all_point_forces(points, contacts, law, parameters, slip):
    """Ask a point law for the force on every near point; all others are open."""
    if points.others.who.size == 0:
        point_forces(points, contacts, law, parameters, slip)
        return
    release_all(points, contacts)
    near_forces(points, contacts, law, parameters, slip)


@inlined
def roll_all_anchors(cvel, points, contacts, dt):
    """Let the anchors of round points and of ellipsoids follow the place of contact as it rolls over the ground."""
    roll_anchors(cvel, points, contacts, dt)
    if points.others.curved == 0:
        return
    for k in range(points.body.size):
        v = cvel[points.body[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            if points.smooth[p] == 0:
                continue
            n = contacts.frame[p, 2]
            x, y, z = v[1] * n[2] - v[2] * n[1], v[2] * n[0] - v[0] * n[2], v[0] * n[1] - v[1] * n[0]
            for c in range(3):
                t = points.roll[p, c]
                points.anchor[p, c] += dt * (t[0] * x + t[1] * y + t[2] * z)


@inlined
def body_of(others, q):
    """The body here that a point belongs to."""
    b = 0
    while others.begin[b + 1] <= q:
        b += 1
    return b


@cold
def free_places(points, contacts):
    """Take back the places of points that are far from the ground: between samples, when nothing is under way."""
    others = points.others
    live = others.first
    for s in range(others.counters[LIVE] - others.first):
        p, q = others.first + s, others.who[s]
        if q < 0:
            continue
        if contacts.gap[p] > KEEP and points.mode[p] == OPEN:
            others.who[s] = -1
            others.place[q] = -1
            contacts.gap[p] = FAR
            others.seated[body_of(others, q)] -= 1
        else:
            live = p + 1
    others.counters[LIVE] = live


@inlined
def too_small(points):
    """Whether a point is about to touch that has no place, and the run can still get more."""
    others = points.others
    return others.counters[LOST] > 0 and others.full == 0 and others.counters[MAY_GROW] == 1


@inlined
def begin_sample_of_all(world, points, contacts, scratch, tape, time, outcome):
    """Write the state of this instant as a new sample, and take back places that are no longer needed."""
    begin_sample(world, points, contacts, scratch, tape, time, outcome)
    if live(points) > points.others.first:
        free_places(points, contacts)
        add_others(world, points, contacts, scratch.held, tape, outcome[SAMPLES] - 1, 0)


@inlined
def add_step_of_all(world, points, contacts, held, tape, status, outcome):
    """Add the forces of a step to the sample that is under way, those on other bodies than feet included."""
    add_step(points, contacts, held, tape, status, outcome)
    if points.others.counters[LOST] > 0:
        points.others.counters[LACKING] += 1
    if live(points) > points.others.first:
        add_others(world, points, contacts, held, tape, outcome[SAMPLES] - 1, outcome[STEPS])


@cold
def add_others(world, points, contacts, held, tape, row, count):
    """Add the forces of the ``count``-th step of a sample on points beside the feet: means, peaks, modes.

    Number 0 is the instant of the sample itself, when the state of closed points is written, too. That of others is
    filled in after the run; until then their gap is NaN.
    """
    others = points.others
    own = others.tape
    instant = count == 0
    count = max(1, count)
    for s in range(live(points) - others.first):
        q, p = others.who[s], others.first + s
        if q < 0:
            continue
        f, mean, peak, normal = held.force[p], own.force[s, row], own.peak_force[s, row], contacts.frame[p, 2]
        if own.who[s, row] == 0:
            own.gap[s, row] = np.nan
        own.who[s, row] = q + 1
        if instant and held.mode[p] != OPEN:
            b = body_of(others, q)
            v, com, at = world.cvel[others.body[b]], world.subtree_com[others.root[b]], points.position[p]
            rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
            own.velocity[s, row, 0] = v[3] + v[1] * rz - v[2] * ry
            own.velocity[s, row, 1] = v[4] + v[2] * rx - v[0] * rz
            own.velocity[s, row, 2] = v[5] + v[0] * ry - v[1] * rx
            own.gap[s, row] = contacts.gap[p]
            for c in range(3):
                own.position[s, row, c] = at[c]
                own.normal[s, row, c] = normal[c]
        own.mode[s, row] = max(own.mode[s, row] if count > 1 else OPEN, held.mode[p])
        size, largest = 0.0, 0.0
        for c in range(3):
            mean[c] = f[c] if count == 1 else mean[c] + (f[c] - mean[c]) / count
            size += f[c] * f[c]
            largest += peak[c] * peak[c]
        if count == 1 or size > largest:
            for c in range(3):
                peak[c] = f[c]
    x, y, z, load = 0.0, 0.0, 0.0, 0.0  # on the robot
    for p in range(live(points)):
        f, normal = held.force[p], contacts.frame[p, 2]
        x, y, z = x + f[0], y + f[1], z + f[2]
        load += f[0] * normal[0] + f[1] * normal[1] + f[2] * normal[2]
    last = held.peak.size - 1
    if load > held.peak[last]:
        held.peak[last] = load
        total = tape.peak_total_force[row]
        total[0], total[1], total[2] = x, y, z
