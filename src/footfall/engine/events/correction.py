"""Smooth periods for which one evaluation is not enough, but two to four are: predictor and corrector.

The end of the period predicted from the periods before (``creep``) is evaluated, too. With the backward differences D^m
a there, accelerations of the period are a polynomial, whose integral is Adams and Moulton's method,

    v at the end = v + dt times the sum of c_m D^m a (m = 0 to k) at the end, c = 1, -1/2, -1/12, -1/24, -19/720 ...,

and where joint friction begins or ceases to slip on the way, the period goes on from there. The method's error is a
fiftieth of what the predictor may have, plus a share of the predictor's error, since accelerations depend on
velocities: another evaluation tells how large that share is.
"""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import DOES, engine_columns
from footfall.engine.constraints.active_set import FRICTION
from footfall.engine.constraints.joint_rows import beyond_friction
from footfall.engine.events.creep import add_turns, move
from footfall.engine.events.flow import CHANGED, KNOWN, ORDER, PART, SHARE, UNKNOWN
from footfall.engine.events.in_step import BEYOND, BISECTIONS
from footfall.engine.events.period import is_sound, keep_forces
from footfall.engine.events.search import find_event
from footfall.engine.events.strides import MOST_TURNS
from footfall.engine.stages import integrate_activations, integrate_positions
from footfall.solve.dense import copy

#: How a correction ends: the period is over, its end is to be evaluated again, joint friction changes in it, or it is
#: to be taken otherwise.
OVER, AGAIN, CHANGES, SHORTER, OTHERWISE = 0, 1, 2, 3, 4
#: Largest share of the error of a period's end that an evaluation may leave.
SLOWLY = 0.5


@inlined
def course(flow, what, m, part):
    """What the m-th difference at the end of a period gives where so much of it, 0 to 1, is over: to accelerations
    (0), or to their integral (1) or twice their integral (2) over periods.
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
def best_order(world, flow, dt):
    """How many differences Adams and Moulton's method does best with, and its error then, m/s."""
    order, least, worst = 0, UNKNOWN, flow.values
    known = min(flow.tally[KNOWN], ORDER + 1)
    for k in range(known + 1):
        worst[k] = 0.0
    for j in range(world.qvel.size):
        change = world.qacc[j]
        for k in range(known):
            change -= flow.pace[k, j]
            worst[k + 1] = max(worst[k + 1], abs(change))
    for k in range(1, known):
        error = dt * flow.differences[k, 0] * worst[k + 1]
        if error < least:
            order, least = k, error
    return order, least


@inlined
def improve(world, flow, order, dt, turn):
    """Lead the end of a period that was evaluated so many times to Adams and Moulton's method: how far off it may be,
    m/s.
    """
    change, off = flow.slope[0, : world.qvel.size], 0.0
    for j in range(change.size):
        gained = dt * sum_up(flow, 1, world.qacc[j], flow.pace[:, j], order, 1.0)
        off = max(off, abs(gained - change[j]))
        change[j] = gained
    kept = flow.clock
    if turn > 1:
        kept[SHARE] = max(off / max(kept[CHANGED], 1e-300) / dt, SLOWLY * kept[SHARE])
    kept[CHANGED] = off
    copy(world.qpos, flow.start[: world.qpos.size])
    move(world, flow, change, order, dt)
    share = dt * kept[SHARE]
    return off * share / max(SLOWLY, 1.0 - share)


@inlined
def beyond_within(world, joints, flow, i, order, part, dt):
    """How far the friction of a joint is beyond what it does, N m or N, where so much of a period is over."""
    j = joints.dof[i]
    last, before = world.qacc[j], flow.pace[:, j]
    speed = flow.speed[j] + dt * sum_up(flow, 1, last, before, order, part)
    return beyond_friction(joints, i, speed, sum_up(flow, 0, last, before, order, part))


@inlined
def first_change(world, joints, flow, order, dt):
    """When the first joint's friction has begun or ceased to slip, of the period, or 1 if none has.

    It is looked for at the end and halfway.
    """
    first = 1.0
    for i in range(joints.kind.size):
        if joints.kind[i] != FRICTION:
            continue
        low, high, allowed = 0.0, 1.0, BEYOND * joints.bound[i]
        if not beyond_within(world, joints, flow, i, order, 0.5, dt) <= allowed:
            high = 0.5
        elif beyond_within(world, joints, flow, i, order, 1.0, dt) <= allowed:
            continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if beyond_within(world, joints, flow, i, order, middle, dt) <= allowed:
                low = middle
            else:
                high = middle
        first = min(first, high)
    return first


@inlined
def stop_within(world, flow, order, part, dt):
    """Go to where so much of a period, 0 to 1, is over."""
    nq, nv, change = world.qpos.size, world.qvel.size, flow.slope[0]
    copy(world.qpos, flow.start[:nq])
    copy(world.act, flow.start[nq + nv :])
    integrate_activations(world, part * dt)
    for j in range(nv):
        last, before = world.qacc[j], flow.pace[:, j]
        world.qvel[j] = flow.speed[j] + dt / part * sum_up(flow, 2, last, before, order, part)
        change[j] = dt * sum_up(flow, 1, last, before, order, part)
    add_turns(flow, world.qvel, change, part * dt)
    integrate_positions(world, world.qvel, part * dt)
    for j in range(nv):
        world.qvel[j] = flow.speed[j] + change[j]


@cold(types.int64, soon=True)
def correct(world, points, contacts, joints, flow, dt, turn):
    """Go on from the end of a period, which was evaluated so many times: how that ends.

    How much of the period is over is in ``flow.clock[PART]``, 0 to 1.
    """
    order, error = best_order(world, flow, dt)
    happened, _ = find_event(points, contacts, flow, 0, 0.0)
    flow.clock[PART] = 0.0
    if happened:
        return OTHERWISE
    if error > flow.tolerance:
        return SHORTER
    error += improve(world, flow, order, dt, turn)
    if error > flow.tolerance:
        slow = turn > 1 and dt * flow.clock[SHARE] > SLOWLY
        return SHORTER if slow or turn == MOST_TURNS else AGAIN
    part, first = first_change(world, joints, flow, order, dt), engine_columns(points.memory)
    keep_forces(points, contacts, flow.force[1])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if points.force[p, 2] > 0.0:
            flow.worked[p] = int(points.memory[p, first + DOES])
        for c in range(3):
            flow.pushed[p, c] = dt * sum_up(flow, 1, flow.force[1, p, c], flow.began[:, p, c], order, part)
    if part < 1.0:
        flow.clock[PART] = part
        stop_within(world, flow, order, part, dt)
        return CHANGES
    return OVER if is_sound(points, contacts, flow, flow.pushed) else OTHERWISE
