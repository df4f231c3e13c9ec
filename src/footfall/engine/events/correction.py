"""Smooth periods for which one evaluation is not enough, but two to four are: predictor and corrector.

The end of the period predicted from the periods before (``creep``) is evaluated, too. With the backward differences D^m
a there, accelerations of the period are a polynomial, whose integral is Adams and Moulton's method,

    v at the end = v + dt times the sum of c_m D^m a (m = 0 to k) at the end, c = 1, -1/2, -1/12, -1/24, -19/720 ...,

and where joint friction begins or ceases to slip on the way, they have a kink (``kinks``). The method's error is a
fiftieth of what the predictor may have, plus a share of the predictor's error, since accelerations depend on
velocities: another evaluation tells how large that share is.
"""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import DOES, engine_columns
from footfall.engine.events.course import add_pushes, first_change, sum_up
from footfall.engine.events.creep import move
from footfall.engine.events.flow import (
    AFTER,
    CHANGED,
    DEGREE,
    EVALUATED,
    KINKS,
    KNOWN,
    ORDER,
    PART,
    SECANT,
    SHARE,
    UNKNOWN,
)
from footfall.engine.events.kinks import (
    AGAIN,
    FEWEST_EVALUATIONS,
    OTHERWISE,
    OVER,
    SHORTER,
    SLOWLY,
    begin_kink,
    follow_kink,
    leave_kinks,
)
from footfall.engine.events.period import is_sound, keep_forces
from footfall.engine.events.search import find_event
from footfall.engine.events.secant import IDLE, begin_pair, end_pair, foretell_end
from footfall.engine.events.strides import MOST_TURNS
from footfall.solve.dense import copy

#: Error of the method in the stride after a kink, relative to that of the predicted acceleration: what the prediction
#: lacks is of low degree, whatever the order.
UNLIKE = 0.05


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
    if flow.tally[AFTER] == 1:
        least = max(least, UNLIKE * dt * worst[known])
    return order, least


@inlined
def improve(world, points, contacts, flow, order, dt, turn):
    """Lead the end of a period that was evaluated so many times to Adams and Moulton's method: how far off it may be,
    m/s.
    """
    change, off = flow.slope[0, : world.qvel.size], 0.0
    end_pair(world, points, contacts, flow)
    for j in range(change.size):
        gained = dt * sum_up(flow.part, world.qacc[j], flow.pace[:, j], order)
        flow.moved[0, j] = gained - change[j]
        off = max(off, abs(flow.moved[0, j]))
        change[j] = gained
    begin_pair(world, points, contacts, flow)
    kept = flow.clock
    if turn > 1:
        kept[SHARE] = max(off / max(kept[CHANGED], 1e-300) / dt, SLOWLY * kept[SHARE])
    kept[CHANGED] = off
    copy(world.qpos, flow.start[: world.qpos.size])
    move(world, flow, change, order, dt)
    share = dt * kept[SHARE]
    return off * share / max(SLOWLY, 1.0 - share)


@inlined
def lead_to_end(world, points, contacts, flow, dt, turn):
    """Correct the end of a stride by Adams and Moulton's method after so many evaluations: how that ends."""
    order, error = best_order(world, flow, dt)
    if error > flow.tolerance:
        return SHORTER
    error += improve(world, points, contacts, flow, order, dt, turn)
    if error > flow.tolerance:
        slow = turn > 1 and dt * flow.clock[SHARE] > SLOWLY
        return SHORTER if slow or turn == MOST_TURNS else AGAIN
    flow.tally[DEGREE] = order
    keep_forces(points, contacts, flow.force[1])
    return OVER


@inlined
def note_pushes(points, contacts, flow, dt):
    """Impulses of a stride that is over, as if it had been in the state of its end all along."""
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if points.force[p, 2] > 0.0:
            flow.worked[p] = int(points.memory[p, first + DOES])
        for c in range(3):
            flow.pushed[p, c] = 0.0
    add_pushes(contacts, flow, flow.pushed, flow.part, dt)


@cold(types.int64, soon=True)
def correct(world, points, contacts, joints, flow, dt, turn):
    """Go on from the end of a stride, which was evaluated so many times: how that ends."""
    since = 0.0
    happened, _ = find_event(points, contacts, flow, 0, 0.0)
    if happened:
        return OTHERWISE
    if flow.tally[KINKS] == 0:
        how = lead_to_end(world, points, contacts, flow, dt, turn)
    else:
        since = flow.clock[PART]
        how = follow_kink(world, points, contacts, joints, flow, dt)
    if how != OVER:
        return how
    part, row = first_change(world, joints, flow, flow.tally[DEGREE], since, dt)
    if part < 1.0:
        flow.tally[SECANT] = IDLE
        return begin_kink(world, points, contacts, joints, flow, row, part, dt)
    if flow.tally[KINKS] > 0 and flow.tally[EVALUATED] < FEWEST_EVALUATIONS:
        return AGAIN
    note_pushes(points, contacts, flow, dt)
    if not is_sound(points, contacts, flow, flow.pushed):
        return OTHERWISE
    if flow.tally[KINKS] > 0:
        leave_kinks(contacts, flow, dt)
    foretell_end(points, contacts, flow, dt)
    return OVER
