"""A stride whose end was evaluated: accelerations within it, and when joint friction begins or ceases to slip.

With the backward differences at the end, accelerations of the stride are a polynomial of the part of it that is over.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.active_set import FRICTION
from footfall.engine.constraints.joint_rows import beyond_friction
from footfall.engine.events.flow import DEGREE, ORDER
from footfall.engine.events.in_step import BEYOND, BISECTIONS


@inlined
def course(flow, what, m, part):
    """What the m-th difference at the end of a stride gives where so much of it, 0 to 1, is over: to accelerations (0),
    or to their integral over strides (1).
    """
    value, row = 0.0, flow.course[what, m]
    for i in range(row.size - 1, -1, -1):
        value = value * part + row[i]
    return value


@kernel
def weigh(flow, what, part, weights):
    """The same of all differences, into ``weights``: at the end of a stride ``flow.part`` has those of the integral."""
    for m in range(ORDER + 1):
        weights[m] = course(flow, what, m, part)


@inlined
def sum_up(weights, last, before, order):
    """The sum of that over the differences of a ``last`` value, those of the one ``before`` known."""
    change, total = last, weights[0] * last
    for k in range(order):
        change -= before[k]
        total += weights[k + 1] * change
    return total


@kernel
def beyond_within(world, joints, flow, i, order, dt):
    """How far the friction of a joint is beyond what it does, N m or N, by the weights of accelerations and velocities
    in ``flow.scaling``.
    """
    j = joints.dof[i]
    last, before = world.qacc[j], flow.pace[:, j]
    speed = flow.speed[j] + dt * sum_up(flow.scaling[1], last, before, order)
    return beyond_friction(joints, i, speed, sum_up(flow.scaling[0], last, before, order))


@inlined
def look_within(flow, part):
    """Put the weights of a part of a stride, 0 to 1, where ``beyond_within`` reads them."""
    weigh(flow, 0, part, flow.scaling[0])
    weigh(flow, 1, part, flow.scaling[1])


@inlined
def change_of(world, joints, flow, i, order, low, high, dt):
    """Part of a stride between ``low`` and ``high`` at which the friction of a joint begins or ceases to slip."""
    allowed = BEYOND * joints.bound[i]
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        look_within(flow, middle)
        if beyond_within(world, joints, flow, i, order, dt) <= allowed:
            low = middle
        else:
            high = middle
    return high


@inlined
def first_change(world, joints, flow, order, since, dt):
    """Part of a stride after ``since``, 0 to 1, at which the first joint's friction begins or ceases to slip, and its
    row; 1 if none does.

    It is looked for at the end and halfway there.
    """
    first, row, halfway = 1.0, -1, 0.5 * (since + 1.0)
    look_within(flow, halfway)
    for i in range(joints.kind.size):
        if joints.kind[i] != FRICTION:
            continue
        high, allowed, j = 1.0, BEYOND * joints.bound[i], joints.dof[i]
        if not beyond_within(world, joints, flow, i, order, dt) <= allowed:
            high = halfway
        elif beyond_friction(joints, i, world.qvel[j], world.qacc[j]) <= allowed:
            continue
        high = change_of(world, joints, flow, i, order, since, high, dt)
        look_within(flow, halfway)
        if high < first:
            first, row = high, i
    return first, row


@kernel
def add_pushes(contacts, flow, out, weights, times):
    """Add to ``out`` the integral of the forces of points over strides, of the part whose ``weights`` these are."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            out[p, c] += times * sum_up(weights, flow.force[1, p, c], flow.began[:, p, c], flow.tally[DEGREE])
