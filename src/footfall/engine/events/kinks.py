"""Joint friction that begins or ceases to slip within a stride: accelerations have a kink there, but no jump.

Let b be the excess of the old state's friction over its bound. The change of the friction force is proportional to b,
and the velocities that it changes act back on accelerations, as through damping:

    new a - old a = G b + J times the integral of (new a - old a) since the kink.

So the change is a sum of b, its integral since the kink, the integral of that and so on, each with a factor per dof.
Successive evaluations of the end of the stride give these factors (Picard iteration). b is linear in accelerations and
velocities, so it and its integrals have backward differences, too. These polynomials extend to times before the kink,
so the history of the motion is kept as if it had been in the new state all along.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.active_set import HOLDS, SLIPS_DOWN, SLIPS_UP
from footfall.engine.constraints.joint_rows import beyond_friction
from footfall.engine.events.course import add_pushes, course, weigh
from footfall.engine.events.flow import CHANGED, DEGREE, DID, EVALUATED, KINKS, ORDER, PART, ROW
from footfall.engine.events.period import keep_forces
from footfall.engine.events.secant import begin_pair, end_pair
from footfall.engine.other_bodies.near import live
from footfall.engine.stages import integrate_positions
from footfall.solve.dense import copy

#: How a correction ends: the stride is over, its end is to be evaluated again, the stride is to be shorter, or steps
#: are to be taken instead.
OVER, AGAIN, SHORTER, OTHERWISE = 0, 1, 2, 3
#: Largest ratio of the errors of a stride's end after and before an evaluation.
SLOWLY = 0.5
#: Most kinks of a stride; fewest evaluations after the last kink (two often suffice for the stride, but not to predict
#: the next one); most evaluations after each.
MOST_KINKS, FEWEST_EVALUATIONS, MOST_EVALUATIONS = 6, 3, 6
#: Change of velocities by an evaluation that is negligible, relative to the tolerance.
NOTHING = 1e-3
#: Largest difference of b, relative to b at the end: right before the end a kink cannot be measured.
STEEPEST = 1e4


@kernel
def integrate_since(flow, part, values, out):
    """Backward differences, at the end of a stride, of an integral since ``part`` (0 to 1) of it, from those of the
    integrand.
    """
    out[0] = 0.0
    for m in range(ORDER + 1):
        out[0] += values[m] * (flow.part[m] - course(flow, 1, m, part))
    for k in range(1, out.size):
        out[k] = 0.0
        for m in range(out.size - k):
            out[k] += flow.part[m] * values[k - 1 + m]


@inlined
def beyond_side(world, joints, i):
    """State of a joint whose friction held and begins to slip."""
    j = joints.dof[i]
    return SLIPS_UP if joints.gains[i, 1] * world.qvel[j] + world.qacc[j] < 0.0 else SLIPS_DOWN


@inlined
def find_shape(world, joints, flow, i, order, part, dt):
    """Put the differences of b, relative to b at the end of a stride, into ``flow.kink``. Gives the largest of them."""
    shape, integral, j = flow.kink[0], flow.kink[1], joints.dof[i]
    change = world.qacc[j]
    for k in range(shape.size):
        shape[k] = change if k <= order else 0.0
        change -= flow.pace[k, j] if k < order else 0.0
    integrate_since(flow, part, shape, integral)
    holds = joints.state[i] == HOLDS
    up = beyond_side(world, joints, i) == SLIPS_UP if holds else joints.state[i] == SLIPS_UP
    times = joints.inertia[i] / beyond_friction(joints, i, world.qvel[j], world.qacc[j])
    times = -times if holds == up else times
    steepest, shape[0] = 0.0, 1.0
    for k in range(1, shape.size):
        shape[k] = times * (shape[k] + dt * joints.gains[i, 1] * integral[k])
        steepest = max(steepest, abs(shape[k]))
    return steepest


@kernel
def add_before_kink(contacts, flow, part, times):
    """Add the impulses on points before a kink to ``flow.force[3]``."""
    weigh(flow, 1, part, flow.scaling[0])
    add_pushes(contacts, flow, flow.force[3], flow.scaling[0], times)


@inlined
def begin_kink(world, points, contacts, joints, flow, i, part, dt):
    """Change the state of a joint's friction from ``part`` (0 to 1) of a stride on. Gives AGAIN, for its end is to be
    evaluated again, or OTHERWISE if the change is not possible.
    """
    j, did, order = joints.dof[i], joints.state[i], min(flow.tally[DEGREE], ORDER - 1)
    if flow.tally[KINKS] == MOST_KINKS or beyond_friction(joints, i, world.qvel[j], world.qacc[j]) <= 0.0:
        return OTHERWISE
    if find_shape(world, joints, flow, i, order, part, dt) > STEEPEST:
        return OTHERWISE
    if flow.tally[KINKS] == 0:
        for p in range(live(points)):
            for c in range(3):
                flow.force[3, p, c] = 0.0
    else:
        add_before_kink(contacts, flow, flow.clock[PART], -dt)
    add_before_kink(contacts, flow, part, dt)
    joints.state[i] = beyond_side(world, joints, i) if did == HOLDS else HOLDS
    flow.tally[ROW], flow.tally[DID], flow.tally[EVALUATED] = i, did, 0
    flow.tally[KINKS] += 1
    flow.clock[PART] = part
    copy(flow.slope[2], world.qacc)
    return AGAIN


@kernel
def add_shape(rows, change, shape, first, times):
    """Add the differences of ``change`` times a shape to ``rows``, from order ``first`` on and one stride before its
    end.
    """
    for k in range(min(rows.shape[0], shape.size - first - 1)):
        weight = times * (shape[first + k] - shape[first + k + 1])
        for j in range(change.size):
            rows[k, j] += weight * change[j]


@inlined
def kink_motion(world, flow, change, dt):
    """Add a change of accelerations at the end of a stride to the motion and its history."""
    shape, integral, twice, moved = flow.kink[0], flow.kink[1], flow.kink[2], flow.slope[1, : change.size]
    integrate_since(flow, flow.clock[PART], integral, twice)
    for j in range(change.size):
        world.qvel[j] += dt * integral[0] * change[j]
        flow.speed[j] += dt * (integral[0] - integral[1]) * change[j]
        moved[j] = dt * dt * twice[0] * change[j]
    integrate_positions(world, moved, 1.0)
    copy(flow.slope[2], world.qacc)
    add_shape(flow.pace, change, shape, 0, 1.0)
    add_shape(flow.gained, change, integral, 1, dt)


@inlined
def kink_forces(points, contacts, flow, dt):
    """Add the change of forces at the end of a stride to their history."""
    shape, integral = flow.kink[0], flow.kink[1]
    keep_forces(points, contacts, flow.force[2])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        change, last = flow.force[2, p], flow.force[1, p]
        for c in range(3):
            change[c] -= last[c]
            last[c] += change[c]
        add_shape(flow.began[:, p], change, shape, 0, 1.0)
        add_shape(flow.given[:, p], change, integral, 1, dt)


@inlined
def follow_kink(world, points, contacts, joints, flow, dt):
    """Take in one more evaluation of the end of a stride after a kink. Gives one of the four outcomes above."""
    shape, integral, part = flow.kink[0], flow.kink[1], flow.clock[PART]
    change, off, fastest = flow.slope[0, : world.qvel.size], 0.0, 0.0
    integrate_since(flow, part, shape, integral)
    end_pair(world, points, contacts, flow)
    for j in range(change.size):
        change[j] = world.qacc[j] - flow.slope[2, j]
        flow.moved[0, j] = dt * integral[0] * change[j]
        off = max(off, abs(flow.moved[0, j]))
        fastest = max(fastest, abs(world.qvel[j]))
    begin_pair(world, points, contacts, flow)
    flow.tally[EVALUATED] += 1
    count, share = flow.tally[EVALUATED], 0.0
    if count > 1:
        share = off / max(flow.clock[CHANGED], 1e-300)
    elif off * (1.0 - part) * dt * fastest > flow.tolerance:  # inertia changes as joints turn, and G with it
        joints.state[flow.tally[ROW]] = flow.tally[DID]
        return SHORTER if flow.tally[KINKS] == 1 else OTHERWISE
    flow.clock[CHANGED] = off
    kink_motion(world, flow, change, dt)
    kink_forces(points, contacts, flow, dt)
    for k in range(shape.size):
        shape[k] = integral[k] / integral[0]
    if off <= NOTHING * flow.tolerance:
        flow.tally[EVALUATED] = FEWEST_EVALUATIONS
        return OVER
    if share > SLOWLY:
        return OTHERWISE
    if count == 1 or off * share / (1.0 - share) > flow.tolerance:
        return AGAIN if count < MOST_EVALUATIONS else OTHERWISE
    return OVER


@inlined
def leave_kinks(contacts, flow, dt):
    """Correct the impulses of a period: before kinks, forces differ from the extended history."""
    add_before_kink(contacts, flow, flow.clock[PART], -dt)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            flow.impulse[p, c] += flow.force[3, p, c]
