"""A step between events: its length, its accuracy, events within it, and what it changes."""

from __future__ import annotations

from typing import NamedTuple

from footfall.compiled import inlined
from footfall.contact.event_law import INCONSISTENT
from footfall.engine.events.contact_set import DRIFT, KINK, off_course, rising
from footfall.engine.events.dormand_prince import (
    LONGEST,
    SHORTEST,
    is_accurate,
    loosen,
    next_scale,
    read_state,
    set_stage,
    step_error,
)
from footfall.engine.events.flow import EVENTS, LENGTH, LOOSENED, TAKEN
from footfall.engine.events.in_step import friction_change, goes_on, limit_arrival
from footfall.engine.events.restart import begin_anew, forget, tells_more
from footfall.engine.events.search import (
    NO_BRACKET,
    Bracket,
    about_to_change,
    adopt_modes,
    follow_slips,
    keep_values,
    seek_event,
    update_contacts,
)
from footfall.engine.events.tableau import STAGES
from footfall.engine.tape import STATUS


@inlined
def begin_step(world, points, contacts, flow, left, ahead):
    """Set out on a step, as long as the last ones were accurate with and no longer than ``left`` (s): its length, s.

    If a step that was ``ahead`` (s) too long was not accurate, something is in its way there: no more than halfway.
    """
    read_state(world, flow.start)
    follow_slips(points, contacts)
    keep_values(points, contacts, flow)
    h = min(max(flow.clock[LENGTH], SHORTEST), LONGEST, left)
    if 0.0 < ahead < 2.0 * h:
        h = max(0.5 * ahead, min(h, flow.clock[TAKEN]))
    if left - h < SHORTEST:
        h = left
    set_stage(world, flow, 1, h)
    return h


class Verdict(NamedTuple):
    """What becomes of a step that is complete."""

    error: float  # of what is allowed
    scale: float  # how many times as long the next one may be
    accurate: bool
    lost: bool  # the period is to be taken otherwise
    happened: bool  # an event ends the step
    within: bool  # an event or a change of a joint is to be found on its continuous extension
    until: float  # s, when the first joint changes
    again: float  # s, length of the step to take instead, 0 if it is taken
    bracket: Bracket


@inlined
def judge(loop, flow, bracket, h, status, left, most):
    """Whether a step of ``h`` seconds is accurate, and what happened in it, ``left`` seconds before the end of the
    period, in which ``most`` further steps may be taken.
    """
    world, points, contacts, joints = loop.world, loop.points, loop.contacts, loop.conditions.constraints.joints
    error = step_error(world, flow, h)
    if bracket.high == 0.0:
        error = loosen(flow, error, h, left, most)
    accurate = is_accurate(flow, error, h) or h <= SHORTEST
    scale = next_scale(flow, error, h, about_to_change(points, contacts))
    if not accurate:
        lost = flow.flat == 0 and rising(contacts, flow) > KINK + 10.0 * error * flow.clock[LOOSENED] * flow.tolerance
        return Verdict(error, scale, False, lost, False, False, h, max(SHORTEST, scale * h), NO_BRACKET)
    again, happened, bracket = seek_event(points, contacts, flow, bracket, h, status)
    until = min(limit_arrival(world, joints, flow, h), friction_change(world, joints, flow, h))
    within = min(again if again > 0.0 else h, until) < h and goes_on(points, contacts, status)
    again = until if until < h and not 0.0 < again < until else again
    return Verdict(error, scale, True, False, happened, within, until, again, bracket)


@inlined
def end_step(loop, flow, stage, h, happened, last):
    """What a step changes of the contacts and of what is known, the ``last`` one of a period or another: whether points
    hit the ground, whether they are to be put back, and whether differences begin anew.
    """
    world, points, contacts, plan = loop.world, loop.points, loop.contacts, loop.conditions.plan
    anew = False
    flow.tally[EVENTS] += 1 if happened else 0
    if happened and loop.outcome[STATUS] != INCONSISTENT:
        adopt_modes(points, contacts, flow)
    if stage == STAGES or happened:
        forget(flow)
    elif tells_more(world, flow, plan, h, last):
        begin_anew(world, contacts, flow, h)
        anew = True
    hit = happened and update_contacts(points, contacts, flow)
    return hit, happened or off_course(points, contacts, flow) > DRIFT, anew
