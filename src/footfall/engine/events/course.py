"""The course of a stride whose end is known: accelerations within it, and when joint friction begins or ceases to slip.

The backward differences at its end make the accelerations of a stride a polynomial in the fraction of it that is over.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.active_set import FRICTION
from footfall.engine.constraints.joint_rows import beyond_friction
from footfall.engine.events.flow import DEGREE, ORDER
from footfall.engine.events.in_step import BEYOND, BISECTIONS


@inlined
def course(flow, what, m, part):
    """Weight of the m-th difference at the end of a stride after ``part`` (0 to 1) of it: for accelerations (``what`` =
    0), or for their integral in units of strides (1).
    """
    value, row = 0.0, flow.course[what, m]
    for i in range(row.size - 1, -1, -1):
        value = value * part + row[i]
    return value


@kernel
def weigh(flow, what, part, weights):
    """These weights for all differences; ``flow.part`` holds those of the integral at the end of the stride."""
    for m in range(ORDER + 1):
        weights[m] = course(flow, what, m, part)


@inlined
def sum_up(weights, last, before, order):
    """The weighted sum of the differences of a ``last`` value; ``before`` are those of the value before it."""
    change, total = last, weights[0] * last
    for k in range(order):
        change -= before[k]
        total += weights[k + 1] * change
    return total


@kernel
def beyond_within(world, joints, flow, i, order, dt):
    """Excess of a joint's friction over what its state allows, N m or N, where the weights in ``flow.scaling`` say."""
    j = joints.dof[i]
    last, before = world.qacc[j], flow.pace[:, j]
    speed = flow.speed[j] + dt * sum_up(flow.scaling[1], last, before, order)
    return beyond_friction(joints, i, speed, sum_up(flow.scaling[0], last, before, order))


@inlined
def look_within(flow, part):
    """Put the weights for ``part`` (0 to 1) of a stride where ``beyond_within`` reads them."""
    weigh(flow, 0, part, flow.scaling[0])
    weigh(flow, 1, part, flow.scaling[1])


@inlined
def change_of(world, joints, flow, i, order, low, high, dt):
    """Fraction of a stride, between ``low`` and ``high``, at which the friction of a joint begins or ceases to slip."""
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
    """First fraction of a stride after ``since`` (0 to 1) at which a joint's friction begins or ceases to slip, and its
    row; 1 if none does.

    Friction is checked at the end and halfway to it.
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
    """Add the integral of the forces on points to ``out``, over the part of the stride that ``weights`` belong to."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            out[p, c] += times * sum_up(weights, flow.force[1, p, c], flow.began[:, p, c], flow.tally[DEGREE])
