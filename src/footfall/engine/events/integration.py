"""Event-driven integration: smooth motion in adaptive steps that end where a contact changes.

Between two events the points in contact are known, and every evaluation solves the law's complementarity problem for
them. A step that contains an event ends there. If forces are smooth up to the event, as at a touch-down or the end of a
slip, it is located on the continuous extension of the step, which is as accurate as the step; otherwise the step is
repeated, shorter, until it ends there. Events are

- a touch-down: a point's gap becomes zero on the way down;
- a lift-off: the acceleration of a point in contact is upward;
- the end of a slip: the velocity along its direction at the beginning of a step becomes zero;
- the beginning of a slip: friction no longer holds a resting point;
- forces that do not exist (Painleve): an impulse without a collision follows.

Controls are held over the period ``dt``, at whose ends the state is recorded; recorded forces are means over it. Most
periods can be predicted from those before, whole or in parts (``foretold``), and then need no step.

Joint friction, limits, loops and contacts between bodies are soft: their forces follow from the state, and adaptive
steps integrate them without events, except that a step ends where a joint reaches its limit or its friction begins or
ceases to slip. A period in which contacts change again and again, or that costs more than it may
(:func:`footfall.solve.effort.period_cost`), is one time step, under the law that ``EventLaw.in_steps`` names. After
many such periods in a row, as where a foot slips ever more slowly, only some are tried with events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numba import types

from footfall.compiled import inlined, kernel
from footfall.contact.event_law import INCONSISTENT
from footfall.engine import step as time_steps
from footfall.engine.bridge import address_of, overdue
from footfall.engine.events.contact_set import KINK, put_back, rising, strike
from footfall.engine.events.correction import correct
from footfall.engine.events.creep import note_period
from footfall.engine.events.dormand_prince import (
    HOPEFUL,
    SHORTEST,
    reach,
    read_slope,
    read_state,
    set_stage,
    write_state,
)
from footfall.engine.events.evaluation import accelerations_now, collide, find_forces, jump_cost
from footfall.engine.events.flow import (
    EVENTS,
    INSTEAD,
    KEPT,
    KNOWN,
    LENGTH,
    LOOSENED,
    MISSED,
    SECANT,
    SOFT,
    SORTED,
    STRIDE,
    UNKNOWN,
    UNSOLVED,
    VAIN,
)
from footfall.engine.events.foretold import FORETOLD, foresee, take_up
from footfall.engine.events.in_step import end_within, look
from footfall.engine.events.kinks import AGAIN, OVER
from footfall.engine.events.one_step import begin_step, end_step, judge
from footfall.engine.events.period import (
    TIRED,
    add_up,
    begins_soft,
    is_sound,
    is_tired,
    keep_forces,
    note_inconsistent,
    record_period,
    reuse_stage,
    start_period,
    take_time_step,
)
from footfall.engine.events.restart import begin_anew, forget
from footfall.engine.events.search import NO_BRACKET, Bracket, adopt_modes, find_event, find_grounded, stay_grounded
from footfall.engine.events.secant import IDLE, is_as_it_ended
from footfall.engine.events.strides import change_stride
from footfall.engine.events.tableau import STAGES
from footfall.engine.law_step import cost_standing
from footfall.engine.other_bodies.points import MAY_GROW
from footfall.engine.recovery import mark_return, pthread_getspecific, pthread_setspecific
from footfall.engine.step import DIVERGED, DONE, MUJOCO_ERROR, Laws
from footfall.engine.tape import END, NEXT, STATUS, STEP, begin_sample_of_all, hold_forces
from footfall.solve.effort import period_cost

#: Error of a step, relative to the tolerance, below which it has passed the cause of earlier errors.
PASSED = 0.01
#: Remainder of a period that counts as none, s.
ROUNDING = 1e-15
#: How an evaluation ends: with forces; with none that can be, so that the period is to be taken otherwise; with
#: accelerations without bounds, which a shorter step may keep; or with the run.
FOUND, LOST, DIVERGES, STOPS = 0, 1, 2, 3
#: Period over which an impulse without a collision acts, s.
FLASH = 1e-9


class EventLaws(NamedTuple):
    """The law of an event-driven run."""

    between: Laws  # forces between events
    impact: Any  # impulses at events, of the same parameters
    in_steps: Laws  # of periods that are one time step


def late_parts(kinds: Sequence[Any]) -> dict[Any, tuple[Any, ...]]:
    """As :func:`footfall.engine.step.late_parts`."""
    return time_steps.late_parts((*kinds[:5], kinds[5].field("between")))


def cold_parts(kinds: Sequence[Any]) -> dict[Any, tuple[Any, ...]]:
    """Cold kernels that the first step calls, with the types that they take, from those of ``Loop`` and the flow."""
    world, points, contacts, scratch, conditions, laws, flow = kinds
    joints = conditions.field("constraints").field("joints")
    place = (world, points, contacts, scratch, conditions.field("constraints"), flow)
    return {
        find_forces: (world, points, contacts, scratch, conditions, laws.field("between"), types.float64),
        put_back: place,
        strike: (*place, laws, types.float64),
        look: (world, points, contacts, conditions),
        end_within: (world, points, contacts, conditions, flow, types.float64, types.float64, types.float64),
        correct: (world, points, contacts, joints, flow, types.float64, types.int64),
        begin_anew: (world, contacts, flow, types.float64),
        change_stride: (flow, types.float64),
    }


@inlined
def begin_again(loop, flow):
    """Go back to the beginning of a period, which is one time step now."""
    flow.tally[SOFT], flow.tally[SECANT] = 1, IDLE
    start_period(loop.points, flow)
    write_state(loop.world, flow.opening)


@inlined
def end_period(loop, flow, dt, known, whole):
    """Note how a period went, and record it: whether what is ``known`` is known at its end; if not, whether steps went
    through the ``whole`` of it.
    """
    soft = flow.tally[SOFT] == 1
    if soft or not (known or (whole and flow.tally[EVENTS] == 0 and flow.clock[STRIDE] == dt)):
        forget(flow)
    elif not known:
        note_period(loop.contacts, flow)
    flow.tally[VAIN] = flow.tally[VAIN] + 1 if soft else 0
    record_period(loop.world, loop.points, loop.contacts, flow, loop.scratch.held, loop.tape, dt, loop.outcome)


@inlined
def begin_period(loop, flow, step, act):
    """Set out on a period, at whose beginning a controller may ``act``: what it may cost."""
    plan, world = loop.conditions.plan, loop.world
    dt, standing = plan.dt, cost_standing(world, loop.points, plan.loops)
    left = period_cost(standing, world.qvel.size, dt, flow.clock[INSTEAD])
    flow.clock[INSTEAD], flow.clock[MISSED], flow.clock[LOOSENED] = 0.0, UNKNOWN, 1.0
    flow.clock[STRIDE] = dt if flow.tally[KNOWN] == 0 else flow.clock[STRIDE]
    flow.tally[SOFT] = 1 if begins_soft(flow, step, plan) else 0
    start_period(loop.points, flow)
    if not is_as_it_ended(world, flow, loop.conditions.pushes, step) or act:
        flow.tally[SECANT] = IDLE
    read_state(world, flow.opening)
    return left


@inlined
def jump(loop, flow, hit, flash, straighten, stayed, left):
    """Impacts and impulses without a collision, and points led back to the ground: what is ``left``, and whether
    instead a point has come over an edge.
    """
    if hit or flash > 0.0:
        left = collide(loop, flow, flash, left)
    over_edge = straighten and not hit and flash == 0.0 and flow.flat == 0 and rising(loop.contacts, flow) > KINK
    if hit or flash > 0.0 or stayed or (straighten and not over_edge):
        put_back(loop.world, loop.points, loop.contacts, loop.scratch, loop.conditions.constraints, flow)
        left -= jump_cost(loop)
    return left, over_edge


@inlined
def evaluate(loop, flow, step, stage, h, fresh, act, left):
    """Forces and accelerations of a stage, for what is ``left``: how that ends, what is left then, and what it cost.

    A ``fresh`` period's forces are kept, and recorded where a sample is due.
    """
    plan, outcome = loop.conditions.plan, loop.outcome
    loop.points.others.counters[MAY_GROW] = 1 if fresh else 0
    soft = flow.tally[SOFT] == 1
    end, left, cost = accelerations_now(loop, flow, step, stage, act, left)
    unsolved = end == DONE and outcome[STATUS] == 1
    if not soft and (unsolved or (end == DIVERGED and (stage == 0 or h <= SHORTEST))):
        return LOST, left, cost
    if fresh:
        hold_forces(loop.points, loop.contacts, loop.scratch.held)
        if (end == DONE and step % plan.record_every == 0) or end == DIVERGED:
            time = step * plan.dt
            begin_sample_of_all(loop.world, loop.points, loop.contacts, loop.scratch, loop.tape, time, outcome)
    if end == DIVERGED and not soft:
        return DIVERGES, left, cost
    if end != DONE:
        outcome[END] = end
        return STOPS, left, cost
    if fresh and step == plan.total:
        outcome[NEXT] = step + 1
        return STOPS, left, cost
    return FOUND, left, cost


@inlined
def sort_points(points, contacts, flow, status, time):
    """What points do after an event or a change of controls: whether some stay in contact that a time step left there,
    whether others arrive, and how long an impulse without a collision acts, s; 0 if none is needed.
    """
    stayed, hit, flash = False, False, 0.0
    if flow.tally[SORTED] == 0:
        flow.tally[SORTED] = 1
        stayed = stay_grounded(points, contacts, flow)
        flow.tally[EVENTS] += 1 if stayed else 0
        hit = find_grounded(points, contacts, flow)
    if status == INCONSISTENT:
        flash = FLASH
        note_inconsistent(flow, time)
    if not (hit or flash > 0.0 or stayed):
        adopt_modes(points, contacts, flow)
    return stayed, hit, flash


@inlined
def take_period(loop, flow, step):
    """One period. Gives whether the run goes on.

    Every turn of the loop is an evaluation: of stage 0, as the period begins or after an event; of stages 1 to
    STAGES - 1 of a step, the last at its end; of stage STAGES, at an event within it; or of the FORETOLD end of
    a stride.
    """
    world, points, contacts, outcome, plan = loop.world, loop.points, loop.contacts, loop.outcome, loop.conditions.plan
    dt = plan.dt
    time = step * dt
    act = plan.control > 0 and step % plan.control_every == 0
    fresh = True  # the period begins
    gone, h, length = 0.0, 0.0, 0.0  # s, how far the period has come, the step, and the part of it up to an event
    bad = 0.0  # s, where the last step that was not accurate ended
    error, scale, more = 0.0, 1.0, 0.0  # of a step, of what is allowed; of the next one; steps that may follow
    bracket = NO_BRACKET
    hit, flash, straighten, lost = False, 0.0, False, False  # what is to be done before the next evaluation
    stayed = False  # points were left in contact by a time step
    turn = 0  # evaluations of the foretold end of a stride
    known, whole = True, True  # whether differences are known at this instant; no stride was taken
    stage, flashes, left = 0, 0, begin_period(loop, flow, step, act)
    while True:
        left, over_edge = jump(loop, flow, hit, flash, straighten, stayed, left)
        hit, flash, straighten, stayed = False, 0.0, False, False
        over = gone >= dt - ROUNDING
        if over and not over_edge and is_sound(points, contacts, flow, flow.impulse):
            break
        if over_edge or over or lost or is_tired(flow, left - flow.clock[KEPT]):
            lost, gone, stage = False, 0.0, 0
            begin_again(loop, flow)
        world.time[0] = time + gone
        how, left, cost = evaluate(loop, flow, step, stage, h, fresh, act, left)
        act, status = False, outcome[STATUS]
        if how == LOST:
            lost = True
            continue
        if how == DIVERGES:
            h, stage = 0.25 * h, 1
            bracket = Bracket(0.0, 0.0, bracket.sides, bracket.turns, -1.0)
            set_stage(world, flow, stage, h)
            continue
        if how == STOPS:
            return False
        fresh = False
        if flow.tally[SOFT] == 1:
            flow.tally[UNSOLVED] = status
            take_time_step(world, points, contacts, flow, dt)
            break
        if stage == 0:  # after an event or a change of controls
            stayed, hit, flash = sort_points(points, contacts, flow, status, time + gone)
            if hit or flash > 0.0 or stayed:
                flashes += 1 if flash > 0.0 else 0
                lost = flashes > TIRED
                if left - flow.clock[KEPT] < STAGES * cost + jump_cost(loop):
                    lost, hit, flash, stayed = True, False, 0.0, False  # not even a step is to be had after it
                continue
        if stage == FORETOLD:
            how, turn = take_up(loop, flow, dt - gone, status, turn)
            if how == AGAIN:
                continue
            known, stage = how == OVER, 0
            if known:
                gone, whole = gone + flow.clock[STRIDE], False
                if flow.clock[STRIDE] == dt:
                    break
            continue
        if stage > 0:
            keep_forces(points, contacts, flow.force[stage])
            read_slope(world, flow, flow.slope[stage])
        if 0 < stage < STAGES - 1:
            stage += 1
            set_stage(world, flow, stage, h)
            continue
        if stage >= STAGES - 1:
            taken, happened = length, False
            more = (left - flow.clock[KEPT]) / ((STAGES - 1) * cost)  # steps that there is room for
            if stage == STAGES:
                happened, _ = find_event(points, contacts, flow, status, 0.0)
            else:
                verdict = judge(loop, flow, bracket, h, status, dt - gone, more)
                error, scale, bracket, lost = verdict.error, verdict.scale, verdict.bracket, verdict.lost
                taken, happened, bad = h, verdict.happened, bad if verdict.accurate else gone + h
                if lost:
                    continue
                if verdict.within:
                    contacts.effort[0] = left
                    length = end_within(world, points, contacts, loop.conditions, flow, bracket.low, verdict.until, h)
                    left, stage = contacts.effort[0], STAGES
                    continue
                if verdict.again > 0.0:
                    h, stage = verdict.again, 1
                    set_stage(world, flow, stage, h)
                    continue
            # The step is taken.
            gone += taken
            bad = 0.0 if error > PASSED else bad
            add_up(points, contacts, flow, stage, h)
            if stage < STAGES and bracket.high == 0.0:
                flow.clock[LENGTH] = scale * h
                if not happened and reach(scale, h, more, HOPEFUL) < dt - gone:
                    lost = True  # steps so short do not come to the end
                    continue
            over = gone >= dt - ROUNDING
            hit, straighten, known = end_step(loop, flow, stage, h, happened, over)
            if straighten or over:
                stage = 0
                continue
        if known and status == 0:
            how = foresee(loop, flow, dt - gone)
            if how == OVER:
                gone, stage, whole = gone + flow.clock[STRIDE], 0, False
                if flow.clock[STRIDE] == dt:
                    break
                continue
            if how == AGAIN:
                stage, turn, h = FORETOLD, 1, 0.0
                continue
            known = False
        if stage > 0:
            reuse_stage(points, flow, stage)
        else:
            if (STAGES - 1) * cost > left - flow.clock[KEPT]:
                lost = True  # not even a step is to be had
                continue
            keep_forces(points, contacts, flow.force[0])
            read_slope(world, flow, flow.slope[0])
        h, stage, bracket = begin_step(world, points, contacts, flow, dt - gone, bad - gone), 1, NO_BRACKET
    end_period(loop, flow, dt, known, whole)
    outcome[NEXT] = step + 1
    return True


@kernel
def take_periods(loop, flow, first, last):
    """The loop of ``advance``."""
    for step in range(first, last):
        loop.outcome[NEXT] = step
        if step > first and overdue(loop.scratch.clock):
            return
        loop.outcome[STEP] = step
        if not take_period(loop, flow, step):
            return


@kernel
def advance(loop, flow, first, last):
    """Integrate the periods ``first`` to ``last`` (exclusive), or as many as ``scratch.clock`` allows.

    Period number ``plan.total`` is the end: only evaluated.
    """
    back = loop.scratch.back
    key = back.key[0]
    before = pthread_getspecific(key)
    pthread_setspecific(key, address_of(back.place))
    if mark_return(back.place) == 0:
        take_periods(loop, flow, first, last)
    else:
        loop.outcome[END] = MUJOCO_ERROR
    pthread_setspecific(key, before)
