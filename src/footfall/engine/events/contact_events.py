"""Contacts between and at events: which points are in contact, jumps of velocity, the correction of drift, and the
events in a step of integration: what happened, when, and which points are in contact afterwards.

A point in contact rests or slides until the next event; that and the direction of its slip are kept in the engine's
columns of its memory, see :mod:`footfall.contact.event_law`.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import DOES, INCONSISTENT, REBOUND, SLIP, TURNING, YOUNG, engine_columns
from footfall.engine.bridge import mj_com_pos, mj_com_vel, mj_kinematics
from footfall.engine.constraints.joint_rows import fold_equalities
from footfall.engine.constraints.row_elimination import answer_change, hold_rows, write_row_columns
from footfall.engine.events.dormand_prince import STAGES, allowed, read_slope, read_state, set_part, set_stage
from footfall.engine.kinematics import bending, centre_in_motion, from_frame, into_frame, rolled_by, velocities
from footfall.engine.law_step import ask
from footfall.engine.mobility import add_half_solved_forces, finish_solve, gather, write_columns
from footfall.engine.other_bodies.near import live, locate_all, release_all
from footfall.engine.other_bodies.points import Points
from footfall.engine.stages import factor_inertia, integrate_positions
from footfall.engine.step import Loop, Surface
from footfall.engine.world import MjWorld
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Named, Vector
from footfall.solve.contacts import OPEN, SLIDE, STICK, Contacts, to_contact_frames
from footfall.solve.minimum_norm import spread

#: Gap up to which points touch, m: points so near arrive together.
TOUCH = 1e-9
#: Depth beyond which a point keeps its depth, m: it started there.
DEEP = 1e-6
#: Gap, m, and speed, m/s, with which a time step may leave a point in contact: the loosest tolerance of a step, and
#: what it adds up to in a millisecond.
NEARBY, RESTLESS = 1e-5, 1e-2
#: Slip up to which a point rests, m/s: in three dimensions a slip that ends need not pass exactly through zero.
SLOW = 1e-7
#: Share of what a step may err by, up to which a speed is none.
NEGLIGIBLE = 0.1
#: Gap and slip (m) and speeds (m/s) of points in contact beyond which they are projected back after a step, times what
#: its tolerance is loosened by.
DRIFT = 1e-12
#: Normal speed of a point in contact, m/s, that is no integration error: it has crossed an edge of the ground.
KINK = 1e-7
#: Distance over which the curvature of the ground is measured, m.
BEND = 1e-6
#: Share of the largest impulse by which another may pull or leave the cone: on a plane, and on curved ground.
UNSOUND, UNSOUND_IN_CURVES = 1e-6, 1e-3
#: Tolerance of touch-downs: time, s, or gap, m.
INSTANT, NO_GAP = 1e-12, 1e-14
#: Tolerance of the end of a slip, and of the rise of a point inside the ground, m/s; the rest of the speed is removed.
NO_SLIP = 1e-9
#: Tolerance of lift-offs and beginnings of slips, s; where forces are smooth, the speed above suffices.
MOMENT = 1e-9
#: Slip speed, m/s, beyond which the beginning of a slip no longer matters: a hundred thousand times what is rest,
#: so that its direction is known to five digits.
GROWN = 0.01
#: Most steps in the search for an event.
TURNS = 100


# ---- points in contact ---------------------------------------------------------------------------------------


@inlined
def show(points: Points, contacts: Contacts, shown: Ints) -> None:
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
def show_near(points: Points, contacts: Contacts, margin: Float) -> None:
    """Leave only points nearer to the ground than ``margin`` in the list of near ones."""
    for p in range(live(points)):
        points.listed[p] = 1 if contacts.gap[p] <= margin else 0
    show(points, contacts, points.listed)
    for p in range(live(points)):
        points.listed[p] = 0


@inlined
def measure_turning(world: MjWorld, points: Points, contacts: Contacts, ground: Surface, flat: Int) -> None:
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
            turning = into_frame(frame, *bending(spin, n, radius, (vx, vy, vz), (bx, by, bz), rolled))
            for c in range(3):
                memory[first + TURNING + c] = turning[c]


@inlined
def let_rest(points: Points, p: Int) -> None:
    """Let a point rest where it is."""
    first = engine_columns(points.memory)
    points.memory[p, first + DOES] = STICK
    points.memory[p, first + YOUNG] = 0.0
    for k in range(3):
        points.anchor[p, k] = points.position[p, k]


@inlined
def let_slide(points: Points, contacts: Contacts, p: Int) -> None:
    """Let a point slide in the direction of its velocity."""
    first = engine_columns(points.memory)
    frame, v = contacts.frame[p], contacts.velocity[p]
    size = (v[0] * v[0] + v[1] * v[1]) ** 0.5
    points.memory[p, first + DOES] = SLIDE
    points.memory[p, first + YOUNG] = 0.0
    for k in range(3):
        points.memory[p, first + SLIP + k] = (v[0] * frame[0, k] + v[1] * frame[1, k]) / size


@inlined
def slow_slip(flow: Named) -> Float:
    """Slip up to which a point rests now, m/s."""
    return max(SLOW, NEGLIGIBLE * allowed(flow))


@inlined
def held_depth(gap: Float) -> Float:
    """Gap at which a point is held that comes into contact at this one, m."""
    return gap if gap < -DEEP else 0.0


@inlined
def sort_touching(points: Points, contacts: Contacts, flow: Named) -> None:
    """After a jump of the velocity: which points leave, which rest, which slide."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v = contacts.velocity[p]
        if v[2] > max(REBOUND, NEGLIGIBLE * allowed(flow)):
            flow.touching[p] = 0
            continue
        flow.depth[p] = held_depth(contacts.gap[p])
        if v[0] * v[0] + v[1] * v[1] > slow_slip(flow) ** 2:
            let_slide(points, contacts, p)
        else:
            let_rest(points, p)


@inlined
def prepare(loop: Loop) -> None:
    """Prepare impacts and projections: velocities of points in contact, and the Delassus operator.

    Joints that equalities fix and loops that they close stay so in an impact; friction and limits, whose forces are
    finite, take no part in it.
    """
    world, points, contacts, scratch = loop.world, loop.points, loop.contacts, loop.scratch
    constraints = loop.conditions.constraints
    release_all(points, contacts)
    velocities(world.cvel, world.subtree_com, points, contacts)
    gather(points, contacts, scratch.centroid)
    if constraints.joints.kind.size > 0:
        fold_equalities(constraints.joints)
        factor_inertia(world, constraints.joints)
    write_columns(world, points, contacts, scratch.centroid)
    if constraints.shared.number[0] > 0:
        hold_rows(world, constraints.shared, True)
        write_row_columns(world, points, contacts, constraints.shared)


@inlined
def answer(loop: Loop, change: Vector) -> None:
    """Change of velocities by the impulses in ``points.force`` (contact frames), into ``change`` (nv,)."""
    world, shared = loop.world, loop.conditions.constraints.shared
    for j in range(change.size):
        change[j] = 0.0
    add_half_solved_forces(loop.points, loop.contacts, loop.scratch.half, change)
    if shared.number[0] > 0:
        answer_change(world, shared, change)
    finish_solve(world, change)


@inlined
def add_impulses(points: Points, contacts: Contacts, total: Matrix) -> None:
    """Add impulses in ``points.force`` (contact frames) to a ``total`` in the world frame."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        x, y, z = from_frame(contacts.frame[p], points.force[p])
        total[p, 0], total[p, 1], total[p, 2] = total[p, 0] + x, total[p, 1] + y, total[p, 2] + z


@cold(types.int64, soon=True)
def strike(loop: Loop, flow: Named, dt: Float) -> Int:
    """An impact of all points that touch, at the present position. Returns the law's status.

    Accelerations, which count with a ``dt`` that is not zero, are those of the last evaluation.
    """
    world, points, contacts, scratch, laws = loop.world, loop.points, loop.contacts, loop.scratch, loop.laws
    for p in range(live(points)):
        if contacts.gap[p] <= TOUCH and (flow.arriving[p] == 1 or contacts.gap[p] > -TOUCH):
            flow.touching[p] = 1
        flow.arriving[p] = 0
    show(points, contacts, flow.touching)
    prepare(loop)
    struck, bounces = dt > 0.0, False
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        flow.kind[p] = 1 if contacts.velocity[p, 2] < -REBOUND else 0
        struck |= flow.kind[p] == 1
    between = laws.between
    status = ask(laws.impact, points, contacts, between.scratch, scratch.signals, between.values, dt)
    change = scratch.generalised
    answer(loop, change)
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
def is_held(points: Points, contacts: Contacts, p: Int, first: Int) -> Bool:
    """Whether friction keeps a point where it is; ``first`` is the engine's first column of its memory."""
    return points.memory[p, first + DOES] == STICK and contacts.static_friction[p] > 0.0


@inlined
def off_course(points: Points, contacts: Contacts, flow: Named) -> Float:
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
def rising(contacts: Contacts, flow: Named) -> Float:
    """Largest normal speed of points in contact, up or down, m/s."""
    worst = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if flow.touching[p] == 1:
            worst = max(worst, abs(contacts.velocity[p, 2]))
    return worst


@cold(types.none, soon=True)
def put_back(loop: Loop, flow: Named, recorded: Int) -> None:
    """Project velocities and positions of points in contact onto the constraints, where they belong.

    Both by the least change in the metric of the inertia. A projection of velocities never adds energy; positions
    change by the error of the integration. The impulses are ``recorded`` (1) at events and where the tolerance is
    loosened; those that remove such an error (0) are no forces of the law.
    """
    world, points, contacts, change = loop.world, loop.points, loop.contacts, loop.scratch.generalised
    first = engine_columns(points.memory)
    show(points, contacts, flow.touching)
    if contacts.number[0] == 0:
        return
    prepare(loop)
    for what in range(2):
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            rests = is_held(points, contacts, p, first)
            flow.kind[p] = STICK if rests else SLIDE
            frame, v, f, at = contacts.frame[p], contacts.velocity[p], points.force[p], points.position[p]
            for c in range(3):
                f[c] = -v[c] if what == 0 else 0.0
            if what == 1:
                if rests and points.radius[p] == 0.0 and points.smooth[p] == 0:
                    to = points.anchor[p]
                    f[0], f[1], _ = into_frame(frame, to[0] - at[0], to[1] - at[1], to[2] - at[2])
                f[2] = flow.depth[p] - contacts.gap[p]
            f[0], f[1], f[2] = from_frame(frame, f)
        spread(contacts, flow.kind, points.force, flow.least)
        to_contact_frames(contacts, points.force)
        answer(loop, change)
        if what == 0:
            if recorded == 1:
                add_impulses(points, contacts, flow.impulse)
            for j in range(change.size):
                world.qvel[j] += change[j]
                flow.speed[j] += change[j]  # not part of the motion's change
        else:
            integrate_positions(world, change, 1.0)


@inlined
def keep_forces(points: Points, contacts: Contacts, kept: Matrix) -> None:
    """Forces of all points, world frame."""
    for p in range(live(points)):
        kept[p, 0], kept[p, 1], kept[p, 2] = from_frame(contacts.frame[p], points.force[p])


@inlined
def is_sound(points: Points, contacts: Contacts, flow: Named, impulse: Matrix) -> Bool:
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


# ---- events --------------------------------------------------------------------------------------------------


@inlined
def slip_along(points: Points, contacts: Contacts, p: Int) -> Float:
    """Slip of a point (m/s) along the direction that it had at the beginning of the step."""
    first, v, frame = engine_columns(points.memory), contacts.velocity[p], contacts.frame[p]
    along = 0.0
    for k in range(3):
        along += (v[0] * frame[0, k] + v[1] * frame[1, k]) * points.memory[p, first + SLIP + k]
    return along


@inlined
def keep_values(points: Points, contacts: Contacts, flow: Named) -> None:
    """Keep the values whose signs change at events: gaps, rates, and slips along their directions."""
    first = engine_columns(points.memory)
    for p in range(live(points)):
        flow.gap_before[p], flow.rate_before[p], flow.slip_before[p] = contacts.gap[p], contacts.velocity[p, 2], 0.0
        if flow.touching[p] == 1:
            flow.slip_before[p] = slip_along(points, contacts, p)
            if flow.slip_before[p] > GROWN:
                points.memory[p, first + YOUNG] = 0.0


@inlined
def keep_instant(world: MjWorld, points: Points, contacts: Contacts, flow: Named) -> None:
    """Keep the state, its rates, forces, and the values whose signs change at events: a step begins here."""
    read_state(world, flow.start)
    read_slope(world, flow, flow.slope[0])
    keep_forces(points, contacts, flow.force[0])
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):  # a slip that turns, as of a spinning foot, does not end
        p = contacts.points[i]
        v, memory = contacts.velocity[p], points.memory[p]
        if memory[first + DOES] == SLIDE and memory[first + YOUNG] == 0.0 and v[0] * v[0] + v[1] * v[1] > SLOW * SLOW:
            let_slide(points, contacts, p)
    keep_values(points, contacts, flow)


@inlined
def was_inside(flow: Named, p: Int) -> Bool:
    """Whether a point that is not in contact was still inside the ground at the last instant before an event."""
    gap = flow.gap_before[p]
    return gap <= NO_GAP and (flow.rate_before[p] <= 0.0 or gap <= -TOUCH)


@inlined
def changes(points: Points, p: Int, first: Int) -> Bool:
    """Whether a point in contact is about to leave, or to slide where it rests."""
    return points.mode[p] == OPEN or (points.mode[p] == SLIDE and points.memory[p, first + DOES] == STICK)


@inlined
def about_to_change(points: Points, contacts: Contacts) -> Bool:
    """Whether any point in contact is about to leave or to slide."""
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):
        if changes(points, contacts.points[i], first):
            return True
    return False


@inlined
def is_early(points: Points, contacts: Contacts, p: Int) -> Bool:
    """Whether a point that has begun to leave or to slide has hardly moved yet, and its force did not jump."""
    v = contacts.velocity[p]
    if points.mode[p] == OPEN:
        return abs(v[2]) <= NO_SLIP
    smooth = contacts.static_friction[p] == contacts.dynamic_friction[p]
    return smooth and v[0] * v[0] + v[1] * v[1] <= NO_SLIP**2


@inlined
def find_event(points: Points, contacts: Contacts, flow: Named, status: Int, length: Float) -> tuple[Bool, Bool]:
    """Whether an event has happened in a step, and whether its instant is located, in the last ``length`` seconds of
    it.
    """
    first = engine_columns(points.memory)
    happened, found = False, True
    for p in range(live(points)):
        v, value, near = contacts.velocity[p], 1.0, NO_SLIP
        if flow.touching[p] == 0:
            if not was_inside(flow, p):
                value, near = contacts.gap[p] - min(0.0, flow.gap_before[p]), NO_GAP
                if 0.0 <= value <= NO_GAP and v[2] < 0.0:
                    value = -NO_GAP  # practically there
            else:  # it has arrived, and has not left
                value = v[2]
        elif changes(points, p, first):
            value, near = -1.0, 1.0 if length <= MOMENT or is_early(points, contacts, p) else 0.0
        elif points.memory[p, first + DOES] == SLIDE:
            value = slip_along(points, contacts, p)
            speed = (v[0] * v[0] + v[1] * v[1]) ** 0.5
            happened |= speed < slow_slip(flow) and speed < flow.slip_before[p]
        happened |= value < 0.0
        found &= value >= -near
    if status == INCONSISTENT:
        happened, found = True, False
    return happened, found or length <= INSTANT


class Bracket(NamedTuple):
    """Lengths of a step that bracket an event."""

    low: float  # s, without an event
    high: float  # s, with an event; 0 while there is no search
    turns: int  # steps taken in the search


#: The bracket while there is no search.
NO_BRACKET = Bracket(0.0, 0.0, 0)


@inlined
def lowest_instant(points: Points, contacts: Contacts, flow: Named, h: Float) -> Float:
    """When a point that is above ground at both ends of a step, and perhaps not between, was lowest; else h."""
    where = h
    for p in range(live(points)):
        if flow.touching[p] == 0:
            gap, rate, after = flow.gap_before[p], flow.rate_before[p], contacts.velocity[p, 2]
            if rate < 0.0 < after and gap > NO_GAP:
                share = rate / (rate - after)
                if gap + 0.5 * share * h * rate < 0.0:
                    where = min(where, share * h)
    return where


@inlined
def seek_event(
    points: Points, contacts: Contacts, flow: Named, bracket: Bracket, h: Float, status: Int
) -> tuple[Float, Bool, Bracket]:
    """Look for the first event in a step of length ``h`` (s), by bisection.

    Returns the length to try instead (s, 0 if the step stands), whether an event happened in it, and the bracket.
    """
    low, high, turns = bracket
    happened, found = find_event(points, contacts, flow, status, h - low)
    again = 0.0
    if happened and not found:
        high = h
        again = 0.5 * (low + high)
    elif not happened and high > 0.0 and turns + 1 < TURNS:
        low = h
        keep_values(points, contacts, flow)
        again = 0.5 * (low + high)
    elif not happened and high == 0.0:
        again = lowest_instant(points, contacts, flow, h)
        again = 0.0 if again == h else again
    return again, happened, Bracket(low, high, turns + 1)


@inlined
def adopt_modes(points: Points, contacts: Contacts, flow: Named) -> None:
    """Let points in contact change to the modes that the law predicts: leave, slide, or stay as they are."""
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if points.mode[p] == OPEN:
            flow.touching[p] = 0
        elif points.mode[p] == SLIDE and points.memory[p, first + DOES] == STICK:
            points.memory[p, first + DOES] = SLIDE  # its direction is known already
            points.memory[p, first + YOUNG] = 1.0


@inlined
def update_contacts(points: Points, contacts: Contacts, flow: Named) -> Bool:
    """At an event: which points have arrived, and whose slip has ended or turned. Returns whether any strikes."""
    first = engine_columns(points.memory)
    hit = False
    for p in range(live(points)):
        v = contacts.velocity[p]
        if flow.touching[p] == 0:
            if contacts.gap[p] <= TOUCH and v[2] < 0.0:
                flow.arriving[p] = 1
                hit = True
        elif points.memory[p, first + DOES] == SLIDE:
            speed = (v[0] * v[0] + v[1] * v[1]) ** 0.5
            if speed <= slow_slip(flow):
                let_rest(points, p)
            elif slip_along(points, contacts, p) <= 0.0:
                let_slide(points, contacts, p)
    return hit


@inlined
def find_grounded(points: Points, contacts: Contacts, flow: Named) -> Bool:
    """At the beginning of a run: which points are on the ground. Returns whether any strikes it."""
    hit = False
    for p in range(live(points)):
        if flow.touching[p] == 0 and contacts.gap[p] <= TOUCH and contacts.velocity[p, 2] <= REBOUND:
            flow.arriving[p] = 1
            hit = True
    return hit


@inlined
def stay_grounded(points: Points, contacts: Contacts, flow: Named) -> Bool:
    """After a time step: points that it left in contact rest or slide where they are. Returns whether any does."""
    found = False
    for p in range(live(points)):
        v, did = contacts.velocity[p], flow.arriving[p]
        flow.arriving[p] = 0
        if did != OPEN and abs(contacts.gap[p]) <= NEARBY and abs(v[2]) <= RESTLESS:
            square = v[0] * v[0] + v[1] * v[1]
            if did == SLIDE and square > slow_slip(flow) ** 2:
                let_slide(points, contacts, p)
            elif square <= RESTLESS * RESTLESS:
                let_rest(points, p)
            else:
                continue
            flow.touching[p], flow.depth[p], found = 1, held_depth(contacts.gap[p]), True
    return found


@cold(types.none, soon=True)
def look(loop: Loop) -> None:
    """Where the points are, and their velocities."""
    world, points, contacts, ground = loop.world, loop.points, loop.contacts, loop.conditions.ground
    mj_kinematics(world.model, world.data)
    mj_com_pos(world.model, world.data)
    mj_com_vel(world.model, world.data)
    locate_all(world, points, contacts, ground.surface, ground.shape, ground.table, loop.conditions.plan.margin)
    velocities(world.cvel, world.subtree_com, points, contacts)


@cold(types.float64, soon=True)
def end_within(loop: Loop, flow: Named, low: Float, last: Float, h: Float) -> Float:
    """Go to the first event within a step of ``h`` seconds, between ``low`` and ``last`` (s), or else to the last: how
    long it is until there, s.

    Forces are smooth up to it, so that only the motion of the points is looked at, on the continuous extension.
    """
    bracket, length, again = Bracket(low, 0.0, 0), 0.0, last
    while again > 0.0:
        length = again
        if length < h:
            set_part(flow, length / h)
            set_stage(loop.world, flow, STAGES, h)
            look(loop)
        again, _, bracket = seek_event(loop.points, loop.contacts, flow, bracket, length, 0)
    return length
