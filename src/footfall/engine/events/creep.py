"""Smooth periods that need only one evaluation: a linear multistep method.

All points in contact rest where they belong, no other is about to arrive, joints are away from their limits and motors
from those of their force, and joint friction neither begins nor ceases to slip. Bodies stay apart, or joints are slow:
contacts that begin so slowly are noticed when the period is over. Accelerations are then extrapolated from the periods
before by their backward differences, D a = a - a before. With order k

    sum of D^m v / m (m = 1 to k + 1) at the end = dt times the sum of D^m a (m = 0 to k - 1) at the beginning,

a backward differentiation formula with the acceleration at the end extrapolated, one order below it. That costs hardly
any accuracy and is stable for fast damping c of a joint: c dt up to 2.2, 1.5, 1.1 and 0.89 with orders 2 to 5, where
Adams and Bashforth's method allows 1, 0.5, 0.3 and 0.2. No such formula of higher order is stable: orders 6 and 7 also
use six differences of velocities and complete them with accelerations; they allow 0.44 and 0.23. Order 1 is a constant
acceleration. Positions advance by the mean velocity of Adams and Moulton's method. Forces have the same differences, so
that recorded impulses explain the change of momentum.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.contact.event_law import DOES, engine_columns
from footfall.engine.clearance import bodies_stay_apart
from footfall.engine.constraints.active_set import FRICTION, LIMIT
from footfall.engine.constraints.joint_rows import away_from_limit, beyond_friction
from footfall.engine.events.contact_set import off_course
from footfall.engine.events.flow import KNOWN, MISSED, ORDER, UNKNOWN
from footfall.engine.events.motor_limits import motors_may_bend
from footfall.engine.events.period import UNSOUND, is_sound, keep_forces
from footfall.engine.other_bodies.near import live
from footfall.engine.stages import integrate_activations, integrate_positions
from footfall.solve.contacts import STICK
from footfall.solve.dense import copy

#: Velocity up to which a joint is slow, m/s or rad/s; and the gap that no point crosses in a period, m, besides by its
#: own speed.
CREEPS, ASIDE = 0.2, 1e-5
#: What is expected of a period: an event, a possible event, or smooth motion.
BUSY, UNSURE, QUIET = 0, 1, 2
#: Share of the tolerance below which an order is accurate enough.
AMPLE = 0.1


@inlined
def shift(differences, value, count):
    """Update the first ``count`` backward differences with a new ``value``, which is overwritten."""
    for k in range(count):
        row = differences[k]
        for j in range(value.size):
            last = row[j]
            row[j] = value[j]
            value[j] -= last


@inlined
def note_beginning(world, points, contacts, flow):
    """Keep accelerations and forces of the beginning of a period and their backward differences, and the controls;
    and by how much velocities changed in the last one.
    """
    known = flow.tally[KNOWN]
    for i in range(world.ctrl.size):
        if world.ctrl[i] != flow.ctrl[i]:
            known = min(known, 1)  # accelerations changed with the controls: only their difference is known
    copy(flow.ctrl, world.ctrl)
    changes = flow.slope[0, : world.qvel.size]
    copy(changes, world.qacc)
    shift(flow.pace, changes, min(known, ORDER + 1) + 1)
    for j in range(changes.size):
        changes[j] = world.qvel[j] - flow.speed[j]
    shift(flow.gained, changes, min(known, ORDER))
    copy(flow.speed, world.qvel)
    keep_forces(points, contacts, flow.force[0])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            change = flow.force[0, p, c]
            for k in range(min(known, ORDER - 1) + 1):
                last = flow.began[k, p, c]
                flow.began[k, p, c] = change
                change -= last
    flow.tally[KNOWN] = min(known, ORDER + 1) + 1


@inlined
def note_end(contacts, flow):
    """Keep the impulses of a stride and their backward differences."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            change = flow.pushed[p, c]
            for k in range(min(flow.tally[KNOWN], ORDER)):
                last = flow.given[k, p, c]
                flow.given[k, p, c] = change
                change -= last


@inlined
def note_period(contacts, flow):
    """The same for a period taken in steps, as one stride."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            flow.pushed[p, c] = flow.impulse[p, c] - flow.correction[p, c]
    note_end(contacts, flow)


@inlined
def may_arrive(world, points, contacts, flow, slot, p, dt):
    """Whether an open point of a foot may reach the ground within a period, by the present motion of its body.

    This is needed for points of a sole that stands on others: they hover just above the ground.
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
def may_change(world, joints, flow, i, dt):
    """Whether the friction of a joint may begin or cease to slip within a period, if it changes as it does now."""
    j = joints.dof[i]
    speed, acceleration = world.qvel[j], world.qacc[j]
    now = beyond_friction(joints, i, speed, acceleration)
    then = beyond_friction(joints, i, speed + dt * acceleration, acceleration + flow.pace[1, j])
    return now + 2.0 * (then - now) > 0.0


@inlined
def are_slow(world, flow, dt):
    """Whether no joint moves fast, so that it is enough to check for contacts between bodies after a period."""
    for j in range(world.qvel.size):
        if flow.roams[j] == 0 and max(abs(world.qvel[j]), dt * abs(world.qacc[j])) > CREEPS:
            return False
    return True


@inlined
def may_let_go(points, contacts, flow):
    """Whether a point at rest may lift off or slip within a period, if forces keep changing as they did: by more than
    the tolerance of impulses, relative to the largest force.
    """
    slack = 0.0
    for i in range(contacts.number[0]):
        slack = max(slack, UNSOUND * points.force[contacts.points[i], 2])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, f, change = contacts.frame[p], points.force[p], flow.began[1, p]
        x = f[0] + 2.0 * (frame[0, 0] * change[0] + frame[0, 1] * change[1] + frame[0, 2] * change[2])
        y = f[1] + 2.0 * (frame[1, 0] * change[0] + frame[1, 1] * change[1] + frame[1, 2] * change[2])
        z = f[2] + 2.0 * (frame[2, 0] * change[0] + frame[2, 1] * change[1] + frame[2, 2] * change[2])
        if z < -slack or x * x + y * y > (contacts.static_friction[p] * max(0.0, z) + slack) ** 2:
            return True
    return False


@inlined
def friction_may_change(world, joints, flow, dt):
    """Whether the friction of any joint may begin or cease to slip within a period."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION and may_change(world, joints, flow, i, dt):
            return True
    return False


@inlined
def near_limit(world, joints, dt):
    """Whether a joint may come to its limit, or leave it, within a period."""
    for i in range(joints.kind.size):
        if joints.kind[i] == LIMIT:
            away = away_from_limit(joints, i, world.qpos[joints.address[i]])
            if abs(away) < 2.0 * dt * abs(world.qvel[joints.dof[i]]):
                return True
    return False


@inlined
def is_smooth(world, points, contacts, conditions, flow, dt):
    """Whether no limit of a joint or motor is reached or left, no bodies come into contact, and points are where they
    belong.
    """
    allowed = flow.tolerance
    if not (
        are_slow(world, flow, dt)
        or (flow.motors.known == 1 and bodies_stay_apart(world, conditions.clearance, flow, dt))
    ):
        return False
    if motors_may_bend(world, flow.motors, dt):
        return False
    for i in range(flow.turn.shape[0]):  # the error of composing rotations, see add_turns
        spin, change, b = 0.0, 0.0, flow.turn[i, 1]
        for k in range(3):
            spin += abs(world.qvel[b + k])
            change += abs(world.qacc[b + k])
        if dt**4 / 240.0 * spin * spin * change > allowed:
            return False
    if near_limit(world, conditions.constraints.joints, dt):
        return False
    for i in range(world.act.size):
        if dt * abs(world.act_dot[i]) > allowed:
            return False
    return off_course(points, contacts, flow) <= allowed


@inlined
def contacts_go_on(world, points, contacts, flow, dt):
    """QUIET if points in contact stay at rest and no other arrives, UNSURE if that has to be checked, BUSY if not."""
    first, slot, found = engine_columns(points.memory), 0, QUIET
    for p in range(live(points)):
        while slot < points.others.feet and p >= points.begin[slot + 1]:
            slot += 1
        if flow.touching[p] == 0 and contacts.gap[p] < ASIDE + 2.0 * dt * abs(contacts.velocity[p, 2]):
            if slot == points.others.feet or may_arrive(world, points, contacts, flow, slot, p, dt):
                found = UNSURE
        if flow.touching[p] == 1 and points.memory[p, first + DOES] != STICK:
            if flow.flat == 0:
                return BUSY
            found = UNSURE
    return UNSURE if found == QUIET and may_let_go(points, contacts, flow) else found


@inlined
def best_orders(world, flow, dt):
    """Orders of the method with one evaluation: the lowest whose error is at most a tenth of the tolerance, else the
    most accurate, or 0 if none is accurate enough; and the most accurate of all.

    The error is estimated by the first two differences that are left out, since a single one may pass through zero.
    Where an order is unstable for fast damping, these grow, and a lower order is taken.
    """
    order, best, known, before = 0, 0, flow.tally[KNOWN], UNKNOWN
    flow.clock[MISSED] = UNKNOWN
    for k in range(1, known):
        worst = 0.0
        for j in range(world.qvel.size):
            worst = max(worst, abs(flow.pace[k, j]))
        error = dt * flow.differences[k, 1] * worst
        if before + error < flow.clock[MISSED]:
            flow.clock[MISSED], best = before + error, k - 1
            if flow.clock[MISSED] <= flow.tolerance:
                order = best
            if flow.clock[MISSED] <= AMPLE * flow.tolerance:
                break
        before = error
    if known == 2 and before <= flow.tolerance:  # for instance because controls always change
        order = 1
    return order, best


@inlined
def add(total, weight, part):
    for j in range(total.size):
        total[j] += weight * part[j]


@inlined
def add_turns(flow, mean, change, dt):
    """Correct mean angular velocities over ``dt`` seconds to those of the composed rotation.

    Rotations do not commute: this is the second term of Magnus's series.
    """
    for i in range(flow.turn.shape[0]):
        a = flow.turn[i, 1]
        b, c, share = a + 1, a + 2, dt / 12.0
        x, y, z = mean[a], mean[b], mean[c]
        mean[a] += share * (y * change[c] - z * change[b])
        mean[b] += share * (z * change[a] - x * change[c])
        mean[c] += share * (x * change[b] - y * change[a])


@inlined
def move(world, flow, change, order, dt):
    """Go to the end of a period in which velocities change by this much."""
    mean = flow.slope[1, : change.size]
    copy(world.qvel, flow.speed)
    add(world.qvel, 0.5, change)
    copy(mean, change)
    for k in range(1, order):
        add(mean, -1.0, flow.gained[k - 1])
        add(world.qvel, -flow.differences[k, 0], mean)
    add_turns(flow, world.qvel, change, dt)
    integrate_positions(world, world.qvel, dt)
    for j in range(change.size):
        world.qvel[j] = flow.speed[j] + change[j]


@inlined
def creep(world, points, contacts, flow, dt, order):
    """Forces and motion of a period by a method of this order; False, with nothing moved, if the forces are not
    admissible.
    """
    ahead, changes = flow.ahead[order, 0], flow.ahead[order, 1]
    for p in range(live(points)):
        for c in range(3):
            flow.pushed[p, c] = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        flow.worked[p] = STICK if points.force[p, 2] > 0.0 else flow.worked[p]
        for c in range(3):
            value = 0.0
            for k in range(order):
                value += dt * ahead[k] * flow.began[k, p, c] + changes[k] * flow.given[k, p, c]
            flow.pushed[p, c] = value
    if order > 1 and not is_sound(points, contacts, flow, flow.pushed):
        return False
    integrate_activations(world, dt)
    change = flow.slope[0, : world.qvel.size]
    for j in range(change.size):
        change[j] = 0.0
    for k in range(order):
        add(change, dt * ahead[k], flow.pace[k])
        add(change, changes[k], flow.gained[k])
    move(world, flow, change, order, dt)
    return True
