"""The points in contact between two events: which they are, jumps of velocity at events, and the correction of drift.

A point in contact rests or slides until the next event; that and the direction of its slip are kept in the engine's
columns of its memory, see :mod:`footfall.contact.event_law`.
"""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import DOES, REBOUND, SLIP, TURNING, YOUNG, engine_columns
from footfall.engine.bending import bending, centre_in_motion, rolled_by
from footfall.engine.bridge import mj_com_vel
from footfall.engine.constraints.joint_rows import fold_equalities
from footfall.engine.constraints.row_elimination import answer_change, hold_rows, reduce_mobility
from footfall.engine.kinematics import velocities
from footfall.engine.law_step import ask
from footfall.engine.mobility import add_half_solved_forces, finish_solve, gather, mobility, weigh_columns
from footfall.engine.other_bodies.near import live, release_all
from footfall.engine.stages import factor_inertia, integrate_positions
from footfall.solve.contacts import SLIDE, STICK, to_contact_frames
from footfall.solve.minimum_norm import spread

#: Gap up to which points touch, m: points so near arrive together.
TOUCH = 1e-9
#: Depth beyond which a point keeps its depth, m: it started there.
DEEP = 1e-6
#: Gap, m, and speed, m/s, with which a time step may leave a point in contact: it took the ground's plane as fixed.
NEARBY, RESTLESS = 1e-6, 1e-4
#: Slip up to which a point rests, m/s: in three dimensions a slip that ends need not pass exactly through zero.
SLOW = 1e-7
#: Largest factor on that where the tolerance of a period is loosened.
SLOWER = 100.0
#: Gap and slip (m) and speeds (m/s) of points in contact beyond which they are projected back.
DRIFT = 1e-12
#: Normal speed of a point in contact, m/s, that is no integration error: it has crossed an edge of the ground.
KINK = 1e-7
#: Distance over which the curvature of the ground is measured, m.
BEND = 1e-6
#: Share of the largest impulse by which another may pull or leave the cone: on a plane, and on curved ground.
UNSOUND, UNSOUND_IN_CURVES = 1e-6, 1e-3


@inlined
def show(points, contacts, shown):
    """Leave only those points in the list of near ones that are 1 in ``shown`` (P,)."""
    count = 0
    for k in range(points.body.size):
        contacts.near[k] = count
        for p in range(points.begin[k], points.begin[k + 1]):
            if shown[p] == 1:
                contacts.points[count] = p
                count += 1
        for p in range(points.others.first, live(points)):
            if shown[p] == 1 and contacts.body[p] == k:
                contacts.points[count] = p
                count += 1
    contacts.near[points.body.size] = count
    contacts.number[0] = count


@inlined
def show_near(points, contacts, margin):
    """Leave only points nearer to the ground than ``margin`` in the list of near ones."""
    for p in range(live(points)):
        points.listed[p] = 1 if contacts.gap[p] <= margin else 0
    show(points, contacts, points.listed)
    for p in range(live(points)):
        points.listed[p] = 0


@inlined
def measure_turning(world, points, contacts, ground, flat):
    """Write what the curvature of the ground adds to the rate of a point's velocity, for the law between events."""
    first = engine_columns(points.memory)
    for k in range(points.body.size):
        spin, com = world.cvel[points.body[k]], world.subtree_com[points.root[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            radius, frame = points.radius[p], contacts.frame[p]
            memory = points.memory[p]
            if flat == 1:
                for c in range(3):
                    memory[first + TURNING + c] = 0.0
                continue
            n = frame[2]
            (x, y, z), (vx, vy, vz) = centre_in_motion(spin, com, radius, points.position[p], n)
            bx, by, bz = 0.0, 0.0, 0.0
            speed = (vx * vx + vy * vy + vz * vz) ** 0.5
            if speed > SLOW:
                s = BEND / speed
                _, ax, ay, az = ground.surface(x + s * vx, y + s * vy, z + s * vz, ground.shape, ground.table)
                _, cx, cy, cz = ground.surface(x - s * vx, y - s * vy, z - s * vz, ground.shape, ground.table)
                bx, by, bz = (ax - cx) / (2.0 * s), (ay - cy) / (2.0 * s), (az - cz) / (2.0 * s)
            rolled = rolled_by(points, p, bx, by, bz)
            tx, ty, tz = bending(spin, n, radius, (vx, vy, vz), (bx, by, bz), rolled)
            for c in range(3):
                memory[first + TURNING + c] = frame[c, 0] * tx + frame[c, 1] * ty + frame[c, 2] * tz


@inlined
def let_rest(points, p):
    """Let a point rest where it is."""
    first = engine_columns(points.memory)
    points.memory[p, first + DOES] = STICK
    points.memory[p, first + YOUNG] = 0.0
    for k in range(3):
        points.anchor[p, k] = points.position[p, k]


@inlined
def let_slide(points, contacts, p):
    """Let a point slide in the direction of its velocity."""
    first = engine_columns(points.memory)
    frame, v = contacts.frame[p], contacts.velocity[p]
    size = (v[0] * v[0] + v[1] * v[1]) ** 0.5
    points.memory[p, first + DOES] = SLIDE
    points.memory[p, first + YOUNG] = 0.0
    for k in range(3):
        points.memory[p, first + SLIP + k] = (v[0] * frame[0, k] + v[1] * frame[1, k]) / size


@inlined
def slow_slip(flow):
    """Slip up to which a point rests in this period, m/s."""
    return SLOW * min(SLOWER, flow.loosened[0])


@inlined
def sort_touching(points, contacts, flow):
    """After a jump of the velocity: which points leave, which rest, which slide."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v = contacts.velocity[p]
        if v[2] > REBOUND:
            flow.touching[p] = 0
            continue
        flow.depth[p] = contacts.gap[p] if contacts.gap[p] < -DEEP else 0.0
        if v[0] * v[0] + v[1] * v[1] > slow_slip(flow) ** 2:
            let_slide(points, contacts, p)
        else:
            let_rest(points, p)


@inlined
def prepare(world, points, contacts, scratch, constraints):
    """Prepare impacts and projections: velocities of points in contact, and the Delassus operator.

    Joints that equalities fix and loops that they close stay so in an impact; friction and limits, whose forces are
    finite, take no part in it.
    """
    release_all(points, contacts)
    velocities(world.cvel, world.subtree_com, points, contacts)
    gather(points, contacts, scratch.centroid)
    if constraints.joints.kind.size > 0:
        fold_equalities(constraints.joints)
        factor_inertia(world, constraints.joints)
    mobility(world, points, contacts, scratch.centroid, scratch.half, scratch.block)
    weigh_columns(world, contacts)
    if constraints.shared.number[0] > 0:
        hold_rows(world, constraints.shared, True)
        reduce_mobility(world, points, contacts, scratch.half, constraints.shared)


@inlined
def answer(world, points, contacts, scratch, constraints, change):
    """Change of velocities by the impulses in ``points.force`` (contact frames), into ``change`` (nv,)."""
    for j in range(change.size):
        change[j] = 0.0
    add_half_solved_forces(points, contacts, scratch.half, change)
    if constraints.shared.number[0] > 0:
        answer_change(world, constraints.shared, change)
    finish_solve(world, change)


@inlined
def add_impulses(points, contacts, total):
    """Add impulses in ``points.force`` (contact frames) to a ``total`` in the world frame."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, frame = points.force[p], contacts.frame[p]
        for k in range(3):
            total[p, k] += frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]


@cold(types.int64, soon=True)
def strike(world, points, contacts, scratch, constraints, flow, laws, dt):
    """An impact of all points that touch, at the present position. Returns the law's status.

    Accelerations, which count with a ``dt`` that is not zero, are those of the last evaluation.
    """
    for p in range(live(points)):
        if contacts.gap[p] <= TOUCH and (flow.arriving[p] == 1 or contacts.gap[p] > -TOUCH):
            flow.touching[p] = 1
        flow.arriving[p] = 0
    show(points, contacts, flow.touching)
    prepare(world, points, contacts, scratch, constraints)
    struck, bounces = dt > 0.0, False
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        flow.kind[p] = 1 if contacts.velocity[p, 2] < -REBOUND else 0
        struck |= flow.kind[p] == 1
    between = laws.between
    status = ask(laws.impact, points, contacts, between.scratch, scratch.signals, between.values, dt)
    change = scratch.generalised
    answer(world, points, contacts, scratch, constraints, change)
    for j in range(change.size):
        world.qvel[j] += change[j]
    add_impulses(points, contacts, flow.impulse)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f = points.force[p]
        if f[2] > 0.0:
            flow.loaded[p] = points.mode[p]
        flow.struck[0] += f[2]
    flow.impacts[0] += 1 if struck else 0
    flow.events[0] += 1
    mj_com_vel(world.model, world.data)
    velocities(world.cvel, world.subtree_com, points, contacts)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        bounces |= flow.kind[p] == 1 and contacts.velocity[p, 2] > REBOUND
    flow.bounces[0] += 1 if bounces else 0
    sort_touching(points, contacts, flow)
    return status


@inlined
def is_held(points, contacts, p, first):
    """Whether friction keeps a point where it is; ``first`` is the engine's first column of its memory."""
    return points.memory[p, first + DOES] == STICK and contacts.static_friction[p] > 0.0


@inlined
def off_course(points, contacts, flow):
    """How far points in contact are from where they belong, m or m/s."""
    first = engine_columns(points.memory)
    worst = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v = contacts.velocity[p]
        worst = max(worst, abs(v[2]), abs(contacts.gap[p] - flow.depth[p]))
        if is_held(points, contacts, p, first):
            worst = max(worst, abs(v[0]), abs(v[1]))
            if points.radius[p] == 0.0 and points.smooth[p] == 0:
                for k in range(3):
                    worst = max(worst, abs(points.anchor[p, k] - points.position[p, k]))
    return worst


@inlined
def rising(contacts, flow):
    """Largest normal speed of points in contact, up or down, m/s."""
    worst = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if flow.touching[p] == 1:
            worst = max(worst, abs(contacts.velocity[p, 2]))
    return worst


@cold(types.none, soon=True)
def put_back(world, points, contacts, scratch, constraints, flow, recorded):
    """Project velocities and positions of points in contact onto the constraints.

    Both by the least change in the metric of the inertia. A projection of velocities never adds energy; positions
    change by the error of the integration. The impulses are ``recorded`` (1) at events; those that remove such an error
    (0) are no forces of the law.
    """
    first, change = engine_columns(points.memory), scratch.generalised
    show(points, contacts, flow.touching)
    if contacts.number[0] == 0:
        return
    prepare(world, points, contacts, scratch, constraints)
    for what in range(2):
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            rests = is_held(points, contacts, p, first)
            flow.kind[p] = STICK if rests else SLIDE
            frame, v, f = contacts.frame[p], contacts.velocity[p], points.force[p]
            if what == 0:
                x, y, z = -v[0], -v[1], -v[2]
            else:
                x, y, z = 0.0, 0.0, flow.depth[p] - contacts.gap[p]
                if rests and points.radius[p] == 0.0 and points.smooth[p] == 0:
                    for k in range(3):
                        away = points.anchor[p, k] - points.position[p, k]
                        x += frame[0, k] * away
                        y += frame[1, k] * away
            for k in range(3):
                f[k] = frame[0, k] * x + frame[1, k] * y + frame[2, k] * z
        spread(contacts, flow.kind, points.force, flow.least)
        to_contact_frames(contacts, points.force)
        answer(world, points, contacts, scratch, constraints, change)
        if what == 0:
            if recorded == 1:
                add_impulses(points, contacts, flow.impulse)
            for j in range(change.size):
                world.qvel[j] += change[j]
                flow.speed[j] += change[j]  # not part of the motion's change
        else:
            integrate_positions(world, change, 1.0)


@inlined
def keep_forces(points, contacts, kept):
    """Forces of all points, world frame."""
    for p in range(live(points)):
        f, frame = points.force[p], contacts.frame[p]
        for k in range(3):
            kept[p, k] = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]


@inlined
def is_sound(points, contacts, flow, impulse):
    """Whether all forces of a period were found, and no impulse of it, or of a part, pulls or is outside the cone.

    Where the ground can hold a robot in many ways, the stages of a step may have different solutions. Not all weights
    of the stages are positive, so the mean force of a point could pull.
    """
    if flow.unsolved[0] != 0:
        return False
    largest, share = 0.0, UNSOUND if flow.flat == 1 else UNSOUND_IN_CURVES
    for p in range(live(points)):
        for k in range(3):
            largest = max(largest, abs(impulse[p, k]))
    for p in range(live(points)):
        f, n, square = impulse[p], contacts.frame[p, 2], 0.0
        load = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
        for k in range(3):
            square += (f[k] - load * n[k]) ** 2
        limit = contacts.static_friction[p] * max(0.0, load) + share * largest
        if load < -share * largest or square > limit * limit:
            return False
    return True
