"""Periods in which nothing changes but smoothly, which one evaluation is enough for.

All points in contact rest where they belong, no other is about to arrive, and joints are slow and away from their
limits. Accelerations then go on as they did in the periods before, by their backward differences: Adams and Bashforth's
method, of the lowest order that is accurate enough by the first difference that it leaves out. Contacts of other bodies
that it comes upon so slowly are noticed when the period is over.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.contact.event_law import DOES, engine_columns
from footfall.engine.active_set import LIMIT
from footfall.engine.contact_set import off_course
from footfall.engine.dormand_prince import KNOWN, ORDER
from footfall.engine.near_bodies import live
from footfall.engine.period import is_sound, keep_forces
from footfall.engine.stages import integrate_activations, integrate_positions
from footfall.solve.contacts import STICK
from footfall.solve.dense import copy

#: Velocities of joints up to which a period may have one evaluation, m/s or rad/s; and the gap that no point crosses in
#: a period, m, beside its own speed.
CREEPS, ASIDE = 0.2, 1e-5
#: Error of a method that is not known, m/s.
UNKNOWN = 1e300
#: Share of the tolerance that such a step may use: its error is foreseen, not measured.
FORESEEN = 0.1


@inlined
def note_beginning(world, points, contacts, flow):
    """Keep accelerations and forces of the beginning of a period and their backward differences, and the controls."""
    known = flow.tally[KNOWN]
    for i in range(world.ctrl.size):
        if world.ctrl[i] != flow.ctrl[i]:
            known = min(known, 1)  # accelerations changed with controls: no more than by how much is known of them
    copy(flow.ctrl, world.ctrl)
    for j in range(world.qvel.size):
        change = world.qacc[j]
        for k in range(min(known, ORDER) + 1):
            last = flow.pace[k, j]
            flow.pace[k, j] = change
            change -= last
    keep_forces(points, contacts, flow.force[0])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            change = flow.force[0, p, c]
            for k in range(min(known, ORDER - 1) + 1):
                last = flow.began[k, p, c]
                flow.began[k, p, c] = change
                change -= last
    flow.tally[KNOWN] = min(known, ORDER) + 1


@inlined
def may_arrive(world, points, contacts, flow, slot, p, dt):
    """Whether an open point of a foot may reach the ground within a period, as its body moves and is accelerated now.

    Points of a sole that stands on others hover over the ground by less than anything else could tell.
    """
    at, n, com = points.position[p], contacts.frame[p, 2], world.subtree_com[points.root[slot]]
    rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
    tx, ty, tz = ry * n[2] - rz * n[1], rz * n[0] - rx * n[2], rx * n[1] - ry * n[0]
    along, speed = 0.0, 0.0
    for i in range(points.chain_length[slot]):
        j = points.chain[slot, i]
        s = world.cdof[j]
        along += world.qacc[j] * (s[0] * tx + s[1] * ty + s[2] * tz + s[3] * n[0] + s[4] * n[1] + s[5] * n[2])
        speed += abs(world.qvel[j])
    acceleration = abs(along) + max(1.0, flow.reach) * speed * speed
    return contacts.gap[p] < 2.0 * dt * abs(contacts.velocity[p, 2]) + dt * dt * acceleration


@inlined
def is_quiet(world, points, contacts, joints, flow, dt):
    """Whether no contact and no joint limit is about to begin or to end."""
    first, allowed = engine_columns(points.memory), FORESEEN * flow.tolerance
    for j in range(world.qvel.size):
        if flow.roams[j] == 0 and max(abs(world.qvel[j]), dt * abs(world.qacc[j])) > CREEPS:
            return False
    for i in range(flow.turn.shape[0]):  # turns that follow one another do not add up like numbers
        spin, change, b = 0.0, 0.0, flow.turn[i, 1]
        for k in range(3):
            spin += abs(world.qvel[b + k])
            change += abs(world.qacc[b + k])
        if dt**3 / 12.0 * spin * change > allowed:
            return False
    for i in range(joints.kind.size):
        if joints.kind[i] == LIMIT:
            away = joints.sign[i] * (world.qpos[joints.address[i]] - joints.bound[i]) - joints.margin[i]
            if abs(away) < 2.0 * dt * abs(world.qvel[joints.dof[i]]):
                return False
    for i in range(world.act.size):
        if dt * abs(world.act_dot[i]) > allowed:
            return False
    slot = 0
    for p in range(live(points)):
        while slot < points.others.feet and p >= points.begin[slot + 1]:
            slot += 1
        if flow.touching[p] == 0 and contacts.gap[p] < ASIDE + 2.0 * dt * abs(contacts.velocity[p, 2]):
            if slot == points.others.feet or may_arrive(world, points, contacts, flow, slot, p, dt):
                return False
        if flow.touching[p] == 1 and points.memory[p, first + DOES] != STICK:
            return False
    return off_course(points, contacts, flow) <= allowed


@inlined
def creeping_order(world, points, contacts, joints, flow, dt):
    """Order of the method that is accurate enough with one evaluation, 1 to ORDER, or 0 if none is.

    By the first difference that it leaves out and the one after that: a single one may pass through zero.
    """
    order, known, before = 0, flow.tally[KNOWN], UNKNOWN
    for k in range(1, known):
        worst = 0.0
        for j in range(world.qvel.size):
            worst = max(worst, abs(flow.pace[k, j]))
        error = dt * flow.adams[k, 0] * worst
        if before + error <= FORESEEN * flow.tolerance:
            order = k - 1
            break
        before = error
    if order == 0 and before <= FORESEEN * flow.tolerance:
        order = known - 1
    if order > 0 and is_quiet(world, points, contacts, joints, flow, dt):
        return order
    return 0


@inlined
def creep(world, points, contacts, flow, dt, order):
    """Forces and motion of a period by a method of this order; False, and nothing moved, if the forces cannot be."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        flow.worked[p] = STICK if points.force[p, 2] > 0.0 else flow.worked[p]
        for c in range(3):
            value = 0.0
            for k in range(order):
                value += flow.adams[k, 0] * flow.began[k, p, c]
            flow.impulse[p, c] = dt * value
    if order > 1 and not is_sound(points, contacts, flow):
        return False
    integrate_activations(world, dt)
    for half in range(2):
        for j in range(world.qvel.size):
            value = 0.0
            for k in range(order):
                # First to the mean velocity of the period, then from there to the one at its end.
                value += (flow.adams[k, 1] if half == 0 else flow.adams[k, 0] - flow.adams[k, 1]) * flow.pace[k, j]
            world.qvel[j] += dt * value
        if half == 0:
            integrate_positions(world, world.qvel, dt)
    return True
