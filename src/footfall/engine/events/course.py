"""A stride whose end was evaluated: accelerations within it, and when joint friction begins or ceases to slip.

With the backward differences at the end, accelerations of the stride are a polynomial of the part of it that is over.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.constraints.active_set import FRICTION
from footfall.engine.constraints.joint_rows import beyond_friction
from footfall.engine.events.flow import DEGREE
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


@inlined
def sum_up(flow, what, last, before, order, part):
    """The sum of that over the differences of a ``last`` value, those of the one ``before`` known."""
    change, total = last, course(flow, what, 0, part) * last
    for k in range(order):
        change -= before[k]
        total += course(flow, what, k + 1, part) * change
    return total


@inlined
def beyond_within(world, joints, flow, i, order, part, dt):
    """How far the friction of a joint is beyond what it does, N m or N, where so much of a stride is over."""
    j = joints.dof[i]
    last, before = world.qacc[j], flow.pace[:, j]
    speed = flow.speed[j] + dt * sum_up(flow, 1, last, before, order, part)
    return beyond_friction(joints, i, speed, sum_up(flow, 0, last, before, order, part))


@inlined
def first_change(world, joints, flow, order, since, dt):
    """Part of a stride after ``since``, 0 to 1, at which the first joint's friction begins or ceases to slip, and its
    row; 1 if none does.

    It is looked for at the end and halfway there.
    """
    first, row, halfway = 1.0, -1, 0.5 * (since + 1.0)
    for i in range(joints.kind.size):
        if joints.kind[i] != FRICTION:
            continue
        low, high, allowed = since, 1.0, BEYOND * joints.bound[i]
        if not beyond_within(world, joints, flow, i, order, halfway, dt) <= allowed:
            high = halfway
        elif beyond_within(world, joints, flow, i, order, 1.0, dt) <= allowed:
            continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if beyond_within(world, joints, flow, i, order, middle, dt) <= allowed:
                low = middle
            else:
                high = middle
        if high < first:
            first, row = high, i
    return first, row


@inlined
def add_pushes(contacts, flow, out, part, times):
    """Add ``times`` the integral of the forces of points, over strides, up to a part of a stride."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            last, before = flow.force[1, p, c], flow.began[:, p, c]
            out[p, c] += times * sum_up(flow, 1, last, before, flow.tally[DEGREE], part)
