"""Events within a step of integration, found on its continuous extension by the motion of the points alone.

Where a joint reaches its limit, the limit's force begins with a jump, and where its friction begins or ceases to slip,
accelerations have a kink. These instants are found like events of contacts: during a step open limits stay open,
friction that holds keeps holding and friction that slips keeps slipping, and the step ends where the first of them
changes.
"""

from __future__ import annotations

import math

from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import INCONSISTENT
from footfall.engine.bridge import mj_com_pos, mj_com_vel, mj_kinematics
from footfall.engine.constraints.active_set import FRICTION, HOLDS, LIMIT, OPEN, SLIPS_UP
from footfall.engine.constraints.joint_rows import away_from_limit, beyond_friction
from footfall.engine.events.dormand_prince import rate_within, set_part, set_stage, weight_within
from footfall.engine.events.flow import KEPT
from footfall.engine.events.search import Bracket, about_to_change, seek_event
from footfall.engine.events.tableau import STAGES
from footfall.engine.kinematics import velocities
from footfall.engine.other_bodies.near import locate_all
from footfall.engine.other_bodies.points import LOOKS
from footfall.solve.effort import look_cost

#: How far beyond its limit a joint is taken to be there, m or rad, so that it stays so while points are put back.
REACHED = 1e-10
#: Share of the largest friction beyond which it has begun or ceased to slip, which no rounding undoes; and the least
#: time after which, s.
BEYOND, NO_SOONER = 1e-6, 1e-7
#: Times as much friction as there is holds whatever happens: a power of two, which rounds nothing.
UNBOUNDED = 2.0**400
#: Halvings in which it is found when: to a millionth of a microsecond.
BISECTIONS = 40


@inlined
def goes_on(points, contacts, status):
    """Whether the forces of a step go on smoothly to its end, as if nothing had happened."""
    return status != INCONSISTENT and not about_to_change(points, contacts)


@cold(types.none, soon=True)
def look(world, points, contacts, conditions):
    """Where the points are, and their velocities."""
    ground, margin = conditions.ground, conditions.plan.margin
    mj_kinematics(world.model, world.data)
    mj_com_pos(world.model, world.data)
    mj_com_vel(world.model, world.data)
    locate_all(world, points, contacts, ground.surface, ground.shape, ground.table, margin)
    velocities(world.cvel, world.subtree_com, points, contacts)


@inlined
def leave_limits_open(joints, flow):
    """Let limits that were open when the step began not act yet. Gives whether any would have."""
    any_would = False
    for i in range(joints.kind.size):
        if joints.kind[i] == LIMIT and joints.inertia[i] != 0.0:
            if away_from_limit(joints, i, flow.start[joints.address[i]]) >= 0.0:
                joints.inertia[i] = 0.0
                joints.state[i] = OPEN
                any_would = True
    return any_would


@inlined
def keep_friction(joints):
    """Let friction do in this evaluation what it did in the last one, however large its force."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION:
            if joints.state[i] == HOLDS:
                joints.bound[i] *= UNBOUNDED
            else:
                joints.reference[i] = math.inf if joints.state[i] == SLIPS_UP else -math.inf


@inlined
def release_friction(joints):
    """Let it have its bounds again."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION and joints.state[i] == HOLDS:
            joints.bound[i] /= UNBOUNDED


@inlined
def friction_within(joints, flow, i, first, part, h):
    """How far the friction of a joint is beyond what it does, N m or N, where so much of a step, 0 to 1, is over;
    velocities are ``first`` and so on in the state.
    """
    at = first + joints.dof[i]
    speed, acceleration = position_within(flow, at, part, h), 0.0
    for j in range(STAGES):
        acceleration += rate_within(flow, j, part) * flow.slope[j, at]
    return beyond_friction(joints, i, speed, acceleration)


@inlined
def friction_change(world, joints, flow, h):
    """When the first joint's friction has begun or ceased to slip in a step of ``h`` seconds that is complete, s: h if
    none has.

    It is looked for at the end and halfway.
    """
    first, nq = 1.0, world.qpos.size
    for i in range(joints.kind.size):
        if joints.kind[i] != FRICTION:
            continue
        low, high, allowed = 0.0, 1.0, BEYOND * joints.bound[i]
        if not friction_within(joints, flow, i, nq, 0.5, h) <= allowed:
            high = 0.5
        elif friction_within(joints, flow, i, nq, 1.0, h) <= allowed:
            continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if friction_within(joints, flow, i, nq, middle, h) <= allowed:
                low = middle
            else:
                high = middle
        first = min(first, high)
    return min(h, max(first * h, NO_SOONER))


@inlined
def position_within(flow, i, part, h):
    """A number of the state after this fraction (0 to 1) of a step of ``h`` seconds."""
    value = 0.0
    for j in range(STAGES):
        value += weight_within(flow, j, part) * flow.slope[j, i]
    return flow.start[i] + h * value


@inlined
def limit_arrival(world, joints, flow, h):
    """When the first joint has come to its limit in a step of ``h`` seconds that is complete, s: h if none has."""
    first = 1.0
    for i in range(joints.kind.size):
        at = joints.address[i]
        if joints.kind[i] != LIMIT or away_from_limit(joints, i, flow.start[at]) < 0.0:
            continue
        low, high = 0.0, 1.0
        if away_from_limit(joints, i, world.qpos[at]) >= -REACHED:
            before, after = joints.sign[i] * flow.slope[0, at], joints.sign[i] * flow.slope[STAGES - 1, at]
            if not before < 0.0 < after:
                continue
            high = before / (before - after)  # where it is nearest
            if away_from_limit(joints, i, position_within(flow, at, high, h)) >= -REACHED:
                continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if away_from_limit(joints, i, position_within(flow, at, middle, h)) < -REACHED:
                high = middle
            else:
                low = middle
        first = min(first, high)
    return first * h


@cold(types.float64, soon=True)
def end_within(world, points, contacts, conditions, flow, low, last, h):
    """Go to the first event within a step of ``h`` seconds, between ``low`` and ``last`` (s), or else to the last: how
    long it is until there, s.

    Looking takes its cost off ``contacts.effort[0]``, and ends where that is less than the period keeps: it is lost.
    """
    high, sides, turns, earlier = 0.0, 0, 0, -1.0
    cost, length, again = look_cost(world.qvel.size, points.others.counters[LOOKS], conditions.plan.price), 0.0, last
    while again > 0.0 and contacts.effort[0] > flow.clock[KEPT]:
        length = again
        if length < h:
            set_part(flow, length / h)
            set_stage(world, flow, STAGES, h)
            look(world, points, contacts, conditions)
            contacts.effort[0] -= cost
        bracket = Bracket(low, high, sides, turns, earlier)
        again, _, (low, high, sides, turns, earlier) = seek_event(points, contacts, flow, bracket, length, 0)
    return length
