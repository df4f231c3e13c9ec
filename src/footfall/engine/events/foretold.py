"""A period by what those before foretell: the evaluation at its beginning, and its foretold end evaluated if need be.

Where nothing changes but smoothly, the end that the periods before foretell is accurate (``creep``), or an evaluation
or two there make it so (``correction``). Where something may change, as points slide or joint friction is about to
slip, that evaluation shows whether it did.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.events.correction import AGAIN, CHANGES, OTHERWISE, OVER, correct
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
)
from footfall.engine.events.dormand_prince import write_state
from footfall.engine.events.flow import MISSED, PART
from footfall.engine.events.period import start_period
from footfall.engine.events.restart import forget
from footfall.engine.events.search import follow_slips, keep_values
from footfall.engine.events.tableau import STAGES
from footfall.solve.dense import copy

#: The stage at the end of a period that those before foretell.
FORETOLD = STAGES + 1
#: Times the tolerance that it may be off.
FAR_OFF = 1000.0


@inlined
def foresee(loop, flow, dt):
    """Go to the end of a period that those before foretell, after the evaluation at its beginning: OVER where that is
    accurate enough and nothing changes but smoothly, AGAIN if an evaluation there may show so, else OTHERWISE.
    """
    world, points, contacts, joints = loop.world, loop.points, loop.contacts, loop.conditions.constraints.joints
    note_beginning(world, points, contacts, flow)
    order, best = best_orders(world, flow, dt)
    corrigible = best > 0 and flow.clock[MISSED] <= FAR_OFF * flow.tolerance
    if (order > 0 or corrigible) and is_smooth(world, points, contacts, loop.conditions, flow, dt):
        found = contacts_go_on(world, points, contacts, flow, dt)
        if found == QUIET and friction_may_change(world, joints, flow, dt):
            found = UNSURE
        if found == QUIET and order > 0 and creep(world, points, contacts, flow, dt, order):
            return OVER
        if found > BUSY and corrigible:
            copy(flow.start, flow.opening)
            follow_slips(points, contacts)
            keep_values(points, contacts, flow)
            if creep(world, points, contacts, flow, dt, best):
                return AGAIN
    start_period(points, flow)
    return OTHERWISE


@inlined
def take_up(loop, flow, dt, status, turn):
    """Go on from the evaluation of a foretold end: how that ends, see ``correction``."""
    how, joints = OTHERWISE, loop.conditions.constraints.joints
    if status == 0:
        how = correct(loop.world, loop.points, loop.contacts, joints, flow, dt, turn)
    if how == CHANGES:
        forget(flow)
    elif how == OTHERWISE:
        flow.clock[PART] = 0.0
        write_state(loop.world, flow.opening)
        start_period(loop.points, flow)
    return how
