"""Strides predicted from those before: one evaluation at the beginning of each, or of its predicted end, or of both.

In smooth motion the end predicted from the strides before is accurate (``creep``), or an evaluation or two there make
it so (``correction``). Where something may change, because points slide or joint friction is about to slip, that
evaluation shows whether it did. What it tells of the end may be enough to begin the next stride with (``secant``). Most
periods are one stride (``strides``).
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.events.correction import correct
from footfall.engine.events.creep import (
    BUSY,
    QUIET,
    UNSURE,
    best_orders,
    contacts_go_on,
    creep,
    friction_may_change,
    is_smooth,
    note_beginning,
    note_end,
)
from footfall.engine.events.dormand_prince import read_state, write_state
from footfall.engine.events.flow import AFTER, KINKS, MISSED, SECANT, STRIDE
from footfall.engine.events.kinks import AGAIN, OTHERWISE, OVER, SHORTER
from footfall.engine.events.restart import forget
from footfall.engine.events.search import follow_slips, keep_values
from footfall.engine.events.secant import IDLE
from footfall.engine.events.strides import FAR_OFF, MOST_STRIDES, change_stride, divide
from footfall.engine.events.tableau import STAGES

#: The stage at the end of a stride that those before foretell.
FORETOLD = STAGES + 1
#: Times as far apart as instants were at which the motion is known, at most, so that it is still known then.
FARTHER = 4.0


@inlined
def set_out(world, points, contacts, flow, order):
    """Go to the end of a stride by a method of this order: AGAIN, or OTHERWISE if that is too far off."""
    flow.tally[KINKS], flow.tally[SECANT] = 0, IDLE
    far = order == 0 or flow.clock[MISSED] > FAR_OFF * flow.tolerance
    return OTHERWISE if far or not creep(world, points, contacts, flow, flow.clock[STRIDE], order) else AGAIN


@inlined
def end_stride(contacts, flow):
    """Add what a stride gave to the points to what the period did, and keep it."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            flow.impulse[p, c] += flow.pushed[p, c]
    note_end(contacts, flow)


@inlined
def leave_to_steps(flow, left):
    """Let what is known be known as far apart as the ``left`` seconds of a period are long, which steps go through."""
    if flow.clock[STRIDE] != left and left <= FARTHER * flow.clock[STRIDE]:
        change_stride(flow, left)


@inlined
def choose_stride(world, flow, left):
    """Divide the ``left`` seconds of a period into strides: their length, s, and the orders of methods for the first.

    Differences farther apart may turn out larger than those that are known let expect: then it is divided anew.
    """
    stride, order, best = 0.0, 0, 0
    for _ in range(2):
        stride = divide(world, flow, left)
        if stride == 0.0:
            if flow.clock[STRIDE] != left:
                return stride, 0, 0
            stride = left
        elif flow.clock[STRIDE] != stride:
            change_stride(flow, stride)
        order, best = best_orders(world, flow, stride)
        if flow.clock[MISSED] <= FAR_OFF * flow.tolerance:
            break
    return stride, order, best


@inlined
def take_stride(loop, flow, left):
    """Go to the end of a stride of the ``left`` seconds of a period, after the evaluation at its beginning: see
    ``foresee``.
    """
    world, points, contacts, joints = loop.world, loop.points, loop.contacts, loop.conditions.constraints.joints
    stride, order, best = left, 0, 0
    if flow.clock[STRIDE] == left:
        order, best = best_orders(world, flow, left)
    if order == 0:
        stride, order, best = choose_stride(world, flow, left)
    if max(order, best) == 0 or not is_smooth(world, points, contacts, loop.conditions, flow, stride):
        return OTHERWISE
    found = contacts_go_on(world, points, contacts, flow, stride)
    if found == QUIET and (flow.tally[KINKS] > 0 or friction_may_change(world, joints, flow, stride)):
        found = UNSURE
    if found == QUIET and order > 0 and creep(world, points, contacts, flow, stride, order):
        end_stride(contacts, flow)
        return OVER
    if found == BUSY:
        return OTHERWISE
    read_state(world, flow.start)
    follow_slips(points, contacts)
    keep_values(points, contacts, flow)
    flow.tally[AFTER] = 1 if flow.tally[KINKS] > 0 else 0
    return set_out(world, points, contacts, flow, best)


@inlined
def foresee(loop, flow, left):
    """Go on by a stride that those before foretell, with ``left`` seconds of the period to go, after the evaluation at
    its beginning: OVER where its end is accurate enough and nothing changes but smoothly, AGAIN if an evaluation there
    may show so, else OTHERWISE.
    """
    note_beginning(loop.world, loop.points, loop.contacts, flow)
    how = take_stride(loop, flow, left)
    if how == OTHERWISE:
        leave_to_steps(flow, left)
    return how


@inlined
def take_up(loop, flow, left, status, turn):
    """Go on from the evaluation of the foretold end of a stride, which begins with ``left`` seconds of the period to
    go: how that ends, see ``correction``, and how often an end was evaluated.
    """
    world, points, contacts, joints = loop.world, loop.points, loop.contacts, loop.conditions.constraints.joints
    how, stride = OTHERWISE, flow.clock[STRIDE]
    if status == 0:
        how = correct(world, points, contacts, joints, flow, stride, turn)
    if how == OVER:
        end_stride(contacts, flow)
        read_state(world, flow.ended)
    elif how != AGAIN:
        flow.tally[SECANT] = IDLE
        write_state(world, flow.start)
    if how == OTHERWISE and flow.tally[KINKS] > 0:
        forget(flow)
    if how == SHORTER:
        how, turn = OTHERWISE, 0
        if left <= MOST_STRIDES / 2 * stride:
            change_stride(flow, 0.5 * stride)
            _, best = best_orders(world, flow, 0.5 * stride)
            how = set_out(world, points, contacts, flow, best)
    if how == OTHERWISE:
        leave_to_steps(flow, left)
    return how, turn + 1
