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
periods are macro steps, whole or in parts (``macro_step``), predicted from the history of the motion; after an event
one step of Dormand and Prince's method begins a new history.

Joint friction, limits, loops and contacts between bodies are soft: their forces follow from the state, and adaptive
steps integrate them without events, except that a step ends where a joint reaches its limit, or its friction begins or
ceases to slip so early that the step would err by more than it may. Evaluations are limited, in a period and in the
long run (``evaluation``): where few are left the tolerance is loosened, and a period in which none is left is one time
step, under the law that ``EventLaw.in_steps`` names.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import types

from footfall.compiled import inlined, kernel
from footfall.contact.event_law import DOES, INCONSISTENT, engine_columns
from footfall.engine import step as time_steps
from footfall.engine.bridge import address_of, overdue
from footfall.engine.events.contact_events import (
    DRIFT,
    KINK,
    NO_BRACKET,
    Bracket,
    about_to_change,
    adopt_modes,
    end_within,
    find_event,
    find_grounded,
    is_sound,
    keep_forces,
    keep_instant,
    look,
    off_course,
    put_back,
    rising,
    seek_event,
    stay_grounded,
    strike,
    update_contacts,
)
from footfall.engine.events.dormand_prince import (
    LONGEST,
    SHORTEST,
    STAGES,
    allowed,
    next_scale,
    read_slope,
    read_state,
    set_stage,
    step_error,
    write_state,
)
from footfall.engine.events.evaluation import (
    DIVERGES,
    FOUND,
    INSTANT,
    LOST,
    STOPS,
    earn,
    evaluate,
    find_forces,
    settle,
)
from footfall.engine.events.flow import Flow
from footfall.engine.events.joint_events import first_change, keep_motors
from footfall.engine.events.macro_step import (
    EXTENDED,
    NONE,
    SHORTEST_HISTORY,
    add_impulses,
    add_instant,
    correct,
    is_spaced,
    plan_macro_step,
    predict,
    restart,
    take_macro_step,
)
from footfall.engine.other_bodies.near import live
from footfall.engine.other_bodies.points import Points
from footfall.engine.recovery import mark_return, pthread_getspecific, pthread_setspecific
from footfall.engine.stages import integrate_activations, integrate_positions
from footfall.engine.step import MUJOCO_ERROR, Laws, Loop
from footfall.engine.tape import add_step_of_all
from footfall.kinds import Bool, Float, Int
from footfall.solve.contacts import OPEN, STICK, Contacts

#: Remainder of a period that counts as none, s.
ROUNDING = 1e-15
#: Period over which an impulse without a collision acts, s.
FLASH = 1e-9


class EventLaws(NamedTuple):
    """The law of an event-driven run."""

    between: Laws  # forces between events
    impact: Any  # impulses at events, of the same parameters
    in_steps: Laws  # of periods that are one time step


def late_parts(loop: Any, flow: Any) -> dict[Any, tuple[Any, ...]]:
    """As :func:`footfall.engine.step.late_parts`."""
    return time_steps.late_parts(loop, loop.field("laws").field("between"))


def cold_parts(loop: Any, flow: Any) -> dict[Any, tuple[Any, ...]]:
    """Cold kernels that the first step calls, with the types that they take, from those of the loop and the flow."""
    number = types.float64
    return {
        find_forces: (loop, loop.field("laws").field("between")),
        put_back: (loop, flow, types.int64),
        strike: (loop, flow, number),
        look: (loop,),
        end_within: (loop, flow, number, number, number),
        correct: (loop, flow, number, types.int64),
        restart: (loop, flow, number),
    }


# ---- events --------------------------------------------------------------------------------------------------


@inlined
def straighten(loop: Loop, flow: Flow, recorded: Int) -> Bool:
    """Lead points in contact back to where they belong, with impulses that are ``recorded`` (1) or, as those that take
    off errors within the tolerance, not (0): whether the period can go on, or a point has come over an edge of the
    ground.
    """
    if flow.flat == 0 and rising(loop.contacts, flow) > KINK:
        return False
    put_back(loop, flow, recorded)
    return True


@inlined
def collide(loop: Loop, flow: Flow, duration: Float) -> Bool:
    """An impact, or an impulse without a collision over a ``duration`` (s): whether it was found."""
    flow.unsolved[0] |= strike(loop, flow, duration)
    put_back(loop, flow, 1)
    return flow.unsolved[0] == 0


@inlined
def sort_points(loop: Loop, flow: Flow, time: Float) -> tuple[Bool, Bool]:
    """What points do after an event or a change of controls, by the forces found: whether all was found, and whether
    forces are to be found again, since velocities have jumped or points stay in contact that a time step left there.
    """
    points, contacts = loop.points, loop.contacts
    stayed, hit, duration = False, False, 0.0
    if flow.sorted[0] == 0:
        flow.sorted[0] = 1
        stayed = stay_grounded(points, contacts, flow)
        flow.events[0] += 1 if stayed else 0
        hit = find_grounded(points, contacts, flow)
    if loop.outcome.status[0] == INCONSISTENT:
        duration = FLASH
        flow.warning[min(flow.warnings[0], flow.warning.size - 1)] = time
        flow.warnings[0] += 1
    if hit or duration > 0.0:
        return collide(loop, flow, duration), True
    if stayed:
        put_back(loop, flow, 1)
        return True, True
    if off_course(points, contacts, flow) > allowed(flow):  # by the errors of many macro steps
        return straighten(loop, flow, 0 if flow.loosened[0] == 1.0 else 1), True
    adopt_modes(points, contacts, flow)
    return True, False


# ---- a step of Dormand and Prince's method -------------------------------------------------------------------


@inlined
def run_stages(loop: Loop, flow: Flow, step: Int, h: Float) -> Int:
    """Evaluate the stages of a step of ``h`` seconds: how that ends."""
    for stage in range(1, STAGES):
        set_stage(loop.world, flow, stage, h)
        how = evaluate(loop, flow, step, stage, h)
        if how != FOUND:
            return how
        keep_forces(loop.points, loop.contacts, flow.force[stage])
        read_slope(loop.world, flow, flow.slope[stage])
    return FOUND


class Verdict(NamedTuple):
    """What becomes of a step that is complete."""

    lost: bool  # the period is to be one time step
    happened: bool  # an event ends the step
    within: bool  # an event or a change of a joint is to be found on its continuous extension
    until: float  # s, when the first joint changes
    again: float  # s, length of the step to take instead, 0 if it is taken
    bracket: Bracket


@inlined
def judge(loop: Loop, flow: Flow, bracket: Bracket, h: Float) -> Verdict:
    """Whether a step of ``h`` seconds is accurate, and what happened in it."""
    world, points, contacts, joints = loop.world, loop.points, loop.contacts, loop.conditions.constraints.joints
    error, status = step_error(world, flow, h), loop.outcome.status[0]
    accurate = error <= 1.0 or h <= SHORTEST
    changing, scale = about_to_change(points, contacts), next_scale(error)
    if not accurate:
        over_edge = KINK + 10.0 * error * allowed(flow)
        lost = flow.flat == 0 and rising(contacts, flow) > over_edge
        return Verdict(lost, False, False, h, max(SHORTEST, scale * h), NO_BRACKET)
    again, happened, bracket = seek_event(points, contacts, flow, bracket, h, status)
    until = first_change(world, joints, flow, h)
    goes_on = status != INCONSISTENT and not changing  # forces are smooth up to the end, as if nothing had happened
    within = goes_on and min(again if again > 0.0 else h, until) < h
    again = until if until < h and not 0.0 < again < until else again
    if not within and again == 0.0 and bracket.high == 0.0:
        flow.length[0] = scale * h
    return Verdict(False, happened, within, until, again, bracket)


@inlined
def add_up(points: Points, contacts: Contacts, flow: Flow, stage: Int, h: Float) -> None:
    """Add the impulse of a step up to a stage, its end or an instant within it, to the record and the history."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            value = 0.0
            for j in range(stage):
                value += flow.weights[stage, j] * flow.force[j, p, k]
            flow.macro_impulse[p, k] = h * value
        if flow.force[0, p, 0] != 0.0 or flow.force[0, p, 1] != 0.0 or flow.force[0, p, 2] != 0.0:
            flow.loaded[p] = int(points.memory[p, engine_columns(points.memory) + DOES])
    add_impulses(contacts, flow)


@inlined
def end_step(loop: Loop, flow: Flow, stage: Int, h: Float, happened: Bool) -> tuple[Bool, Bool]:
    """Update contacts and history after a step: whether the period goes on, and if accelerations are still valid."""
    points, contacts = loop.points, loop.contacts
    flow.events[0] += 1 if happened else 0
    if happened and loop.outcome.status[0] != INCONSISTENT:
        adopt_modes(points, contacts, flow)
    if stage == STAGES or happened or h < SHORTEST_HISTORY * loop.conditions.plan.dt:
        flow.known[0] = 0
    elif flow.known[0] <= EXTENDED or not is_spaced(flow, h):  # else the history goes on, and is longer
        restart(loop, flow, h)
    if happened and update_contacts(points, contacts, flow):
        return collide(loop, flow, 0.0), False
    if happened or off_course(points, contacts, flow) > DRIFT * flow.loosened[0]:
        return straighten(loop, flow, 1 if happened or flow.loosened[0] > 1.0 else 0), False
    return True, True


@inlined
def locate(loop: Loop, flow: Flow, step: Int, low: Float, until: Float, h: Float) -> tuple[Int, Float, Bool]:
    """Go to the first event or change of a joint within a step and evaluate it: how it ends, when (s), if an event."""
    length = end_within(loop, flow, low, until, h)
    how = evaluate(loop, flow, step, STAGES, h)
    if how != FOUND:
        return how, length, False
    happened, _ = find_event(loop.points, loop.contacts, flow, loop.outcome.status[0], 0.0)
    return FOUND, length, happened


@inlined
def take_step(loop: Loop, flow: Flow, step: Int, left: Float) -> tuple[Int, Float, Bool]:
    """Take one step of Dormand and Prince's method from the instant that is kept, up to ``left`` seconds, accurate and
    without an event but at its end.

    Returns how it ends, its length (s), and whether the accelerations found are still those of the state.
    """
    bracket, usual = NO_BRACKET, min(max(flow.length[0], SHORTEST), LONGEST, left)
    h = left / max(1.0, math.ceil((left - SHORTEST) / usual))  # an equal part of what is left
    while True:
        how, stage, length, happened = run_stages(loop, flow, step, h), STAGES - 1, h, False
        if how == FOUND:
            verdict = judge(loop, flow, bracket, h)
            bracket, happened = verdict.bracket, verdict.happened
            if verdict.lost:
                return LOST, 0.0, False
            if verdict.within:
                stage = STAGES
                how, length, happened = locate(loop, flow, step, bracket.low, verdict.until, h)
            elif verdict.again > 0.0:
                h = verdict.again
                continue
        if how == DIVERGES:
            h, bracket = 0.25 * h, Bracket(0.0, 0.0, bracket.turns)
        elif how != FOUND:
            return how, 0.0, False
        else:
            break
    add_up(loop.points, loop.contacts, flow, stage, h)
    goes_well, valid = end_step(loop, flow, stage, h, happened)
    return FOUND if goes_well else LOST, length, valid


# ---- a period ------------------------------------------------------------------------------------------------


@inlined
def start_period(points: Points, flow: Flow) -> None:
    """Reset what is counted over a period."""
    for p in range(live(points)):
        flow.loaded[p] = OPEN
        for k in range(3):
            flow.impulse[p, k] = 0.0
    flow.struck[0] = 0.0
    flow.events[0], flow.impacts[0], flow.bounces[0], flow.unsolved[0] = 0, 0, 0, 0


@inlined
def push_changes(pushes: Any, step: Int) -> Bool:
    """Whether a push begins or ends with this period."""
    for i in range(pushes.body.size):
        if step == pushes.start[i] or step == pushes.stop[i]:
            return True
    return False


@inlined
def begin_period(loop: Loop, flow: Flow, step: Int) -> None:
    """Set out on a period."""
    plan = loop.conditions.plan
    flow.evaluations[0], flow.fresh[0], flow.ahead[0], flow.loosened[0] = 0, 1, 1.0, 1.0
    flow.acts[0] = 1 if plan.control > 0 and step % plan.control_every == 0 else 0
    # The instant after a time step gets the forces of another one, since it is not known yet which points rest.
    after_one = step == plan.total and step > 0 and flow.sorted[0] == 0
    flow.time_step[0] = 0 if earn(loop, flow) and not after_one else 1
    start_period(loop.points, flow)
    if push_changes(loop.conditions.pushes, step):
        flow.known[0] = min(flow.known[0], 1)  # forces jump, also where accelerations do not, as with a robot at rest
    read_state(loop.world, flow.opening)
    loop.world.time[0] = step * plan.dt


@inlined
def go_on(loop: Loop, flow: Flow, step: Int, left: Float) -> tuple[Int, Float]:
    """Take a macro step from an instant whose accelerations are known: how that ends, and its size, s; 0 if none."""
    world, points, contacts, macro = loop.world, loop.points, loop.contacts, NONE
    if flow.known[0] > 0 and loop.outcome.status[0] == 0:
        add_instant(world, points, contacts, flow)
        macro = plan_macro_step(loop, flow, left)
    keep_motors(world, flow)
    if macro.certain and predict(world, points, contacts, flow, macro.order, macro.size):
        add_impulses(contacts, flow)
        return FOUND, macro.size
    keep_instant(world, points, contacts, flow)
    if macro.order > 0 and not macro.certain:
        return take_macro_step(loop, flow, step, macro)
    return FOUND, 0.0


@kernel
def follow_events(loop: Loop, flow: Flow, step: Int) -> Int:
    """Integrate a period from event to event: how that ends."""
    dt = loop.conditions.plan.dt
    gone, valid = 0.0, False  # s, how far the period has come; whether accelerations are those of the state
    while gone < dt - ROUNDING:
        if not valid:
            loop.world.time[0] = step * dt + gone
            how = evaluate(loop, flow, step, INSTANT, 0.0)
            if how != FOUND:
                return how
            found, again = sort_points(loop, flow, step * dt + gone)
            if not found:
                return LOST
            if again:
                continue
        how, length = go_on(loop, flow, step, dt - gone)
        valid = False
        if how == FOUND and length == 0.0:
            how, length, valid = take_step(loop, flow, step, dt - gone)
        if how != FOUND:
            return how
        gone += length
        flow.ahead[0] = 1.0 - gone / dt
    return FOUND if is_sound(loop.points, loop.contacts, flow, flow.impulse) else LOST


@inlined
def take_time_step(loop: Loop, flow: Flow, step: Int) -> Int:
    """Take the whole period as one step of semi-implicit Euler, with the forces of time stepping: how that ends."""
    world, points, contacts, dt = loop.world, loop.points, loop.contacts, loop.conditions.plan.dt
    how = evaluate(loop, flow, step, INSTANT, 0.0)
    if how != FOUND:
        return how
    flow.unsolved[0] = loop.outcome.status[0]
    keep_forces(points, contacts, flow.force[0])
    for p in range(live(points)):
        flow.loaded[p] = points.mode[p]
        flow.touching[p] = 0
        flow.arriving[p] = points.mode[p]  # the next period begins by finding out whether it is in contact
        for k in range(3):
            flow.impulse[p, k] = dt * flow.force[0, p, k]
    flow.sorted[0] = 0
    flow.known[0] = 0
    integrate_activations(world, dt)
    for j in range(world.qvel.size):
        world.qvel[j] += dt * world.qacc[j]
    integrate_positions(world, world.qvel, dt)
    return FOUND


@inlined
def record_period(loop: Loop, flow: Flow) -> None:
    """Add a period to the current sample; ``scratch.held`` has the modes it began with."""
    points, held, tape, outcome = loop.points, loop.scratch.held, loop.tape, loop.outcome
    dt = loop.conditions.plan.dt
    for p in range(live(points)):
        mode, bears = flow.loaded[p], False
        for k in range(3):
            held.force[p, k] = flow.impulse[p, k] / dt
            bears = bears or flow.impulse[p, k] != 0.0
        # In contact without load, or loaded only within a step: where contact forces are not unique.
        if mode == OPEN and (bears or (flow.touching[p] == 1 and held.mode[p] != OPEN)):
            mode = STICK
        held.mode[p] = mode
    add_step_of_all(loop.world, points, loop.contacts, held, tape, flow.unsolved[0], outcome)
    signals = tape.signals[outcome.samples[0] - 1]
    if outcome.averaged[0] == 1:
        for k in range(6):
            signals[k] = 1.0 if k == 4 else 0.0
    signals[0] += flow.events[0]
    signals[1] += flow.impacts[0]
    signals[2] += flow.struck[0]
    signals[3] += flow.time_step[0]
    if flow.time_step[0] == 0:
        signals[4] = max(signals[4], flow.loosened[0])
    signals[5] += flow.evaluations[0]


@inlined
def take_period(loop: Loop, flow: Flow, step: Int) -> Bool:
    """One period, from event to event or, where that fails, as one time step. Returns whether the run goes on."""
    begin_period(loop, flow, step)
    how = LOST
    if flow.time_step[0] == 0:
        how = follow_events(loop, flow, step)
        settle(loop, flow, how != LOST)
        if how == LOST:
            flow.time_step[0] = 1
            start_period(loop.points, flow)
            write_state(loop.world, flow.opening)
            loop.world.time[0] = step * loop.conditions.plan.dt
    if how == LOST:
        how = take_time_step(loop, flow, step)
    if how == STOPS:
        return False
    record_period(loop, flow)
    loop.outcome.next[0] = step + 1
    return True


@kernel
def take_periods(loop: Loop, flow: Flow, first: Int, last: Int) -> None:
    """The loop of ``advance``."""
    for step in range(first, last):
        loop.outcome.next[0] = step
        if step > first and overdue(loop.scratch.clock):
            return
        loop.outcome.begun[0] = step
        if not take_period(loop, flow, step):
            return


@kernel
def advance(loop: Loop, flow: Flow, first: Int, last: Int) -> None:
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
        loop.outcome.end[0] = MUJOCO_ERROR
    pthread_setspecific(key, before)
