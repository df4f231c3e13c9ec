"""Integration from event to event: smooth motion in steps that adapt, ended where a contact changes.

Between two events the points in contact are known, and every evaluation solves the law's complementarity problem for
them. A step that an event falls into is made shorter until it ends there: with Dormand and Prince's method a step of
any length is as accurate as another, so no interpolation is needed. Events are

- a touch-down: a point's gap becomes zero on the way down;
- a lift-off: the acceleration of a point in contact is upward;
- the end of a slip: the velocity along its first direction becomes zero;
- the beginning of a slip: friction no longer holds a resting point;
- forces that do not exist (Painleve): an impulse without a collision follows.

Controls are held over the period ``dt``, at whose ends the state is recorded; forces on record are means over it.

Joint friction, limits, loops and contacts between bodies are soft: their forces follow from the state, and steps that
adapt integrate them without events. A period in which contacts change again and again is one time step, under the law
that ``EventLaw.in_steps`` names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numba import types

from footfall.compiled import inlined, kernel
from footfall.contact.event_law import DOES, INCONSISTENT, engine_columns
from footfall.engine import step as time_steps
from footfall.engine.bridge import address_of
from footfall.engine.clock import overdue
from footfall.engine.contact_set import (
    DRIFT,
    KINK,
    measure_turning,
    off_course,
    put_back,
    rising,
    show_near,
    show_touching,
    strike,
)
from footfall.engine.dormand_prince import (
    EVENTS,
    IMPACTS,
    LENGTH,
    SOFT,
    SORTED,
    STAGES,
    UNSOLVED,
    WARNINGS,
    read_slope,
    read_state,
    set_stage,
    step_error,
    write_state,
)
from footfall.engine.event_search import adopt, arrive, begin, find_event, first_event, look, lowest
from footfall.engine.kinematics import velocities
from footfall.engine.law_step import constrained_step
from footfall.engine.near_bodies import live
from footfall.engine.others import MAY_GROW
from footfall.engine.recovery import mark_return, pthread_getspecific, pthread_setspecific
from footfall.engine.sample_of_all import add_step_of_all, begin_sample_of_all
from footfall.engine.stages import add_damping, factor_inertia, integrate_activations, integrate_positions
from footfall.engine.step import DIVERGED, DONE, MUJOCO_ERROR, Laws, runaway, sense_and_act
from footfall.engine.tape import END, NEXT, SAMPLES, STATUS, STEP, STEPS, hold_forces
from footfall.solve.contacts import OPEN, STICK
from footfall.solve.dense import copy
from footfall.solve.effort import BETWEEN_EVENTS

#: A run may end because events do not.
STALLED = 4
#: Longest and shortest step, s.
LONGEST, SHORTEST = 0.01, 1e-9
#: Events beside impacts in one period after which it is done over as a time step, and all events after which the run is
#: given up.
TIRED, ENOUGH = 12, 10_000
#: Integration steps of one period, less four for each impact, after which it is done over as a time step: so many, and
#: so many more for each second that the period lasts.
MANY, PER_SECOND = 500, 1e5
#: What solving may cost in one period before it is done over as a time step, see :mod:`footfall.solve.effort`.
PERIOD = 200e6
#: Steps in which an event is sought.
TURNS = 100
#: Period over which an impulse without a collision acts, s.
FLASH = 1e-9
#: Share of the largest impulse by which another may pull or leave the cone: on a plane, and where both turn with the
#: ground.
UNSOUND, UNSOUND_IN_CURVES = 1e-6, 1e-3


class EventLaws(NamedTuple):
    """The law of an event-driven run."""

    between: Laws  # forces between events
    impact: Any  # impulses at events, of the same parameters
    in_steps: Laws  # of periods that are one time step


@inlined
def keep_forces(points, contacts, kept):
    """Forces of all points, world frame."""
    for p in range(live(points)):
        f, frame = points.force[p], contacts.frame[p]
        for k in range(3):
            kept[p, k] = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]


@inlined
def forces_now(loop, flow, step, act):
    """Everything that follows from the state and the points in contact. Gives how it ended.

    Where ``flow.tally[SOFT]`` says so, forces are those of the law of time steps.
    """
    world, points, contacts, scratch = loop.world, loop.points, loop.contacts, loop.scratch
    conditions, outcome, laws = loop.conditions, loop.outcome, loop.laws.between
    end, _ = sense_and_act(world, points, contacts, conditions, step, act, outcome)
    if end != DONE:
        return end
    velocities(world.cvel, world.subtree_com, points, contacts)
    if flow.tally[SOFT] == 1:
        laws = loop.laws.in_steps
        show_near(points, contacts, flow.margin)
        add_damping(world, conditions.plan.dt)
        factor_inertia(world, conditions.constraints.joints)
    else:
        show_touching(points, contacts, flow.touching)
        measure_turning(world, points, contacts, conditions.ground, flow.flat)
    outcome[STATUS] = constrained_step(world, points, contacts, scratch, conditions, laws, BETWEEN_EVENTS)
    return runaway(world, outcome)


def late_parts(kinds: Sequence[Any]) -> dict[Any, tuple[Any, ...]]:
    """As :func:`footfall.engine.step.late_parts`."""
    return time_steps.late_parts((*kinds[:5], kinds[5].field("between")))


def cold_parts(kinds: Sequence[Any]) -> dict[Any, tuple[Any, ...]]:
    """Cold kernels that the first step calls, with the types that they take, from those of ``Loop`` and the flow."""
    world, points, contacts, scratch, conditions, laws, flow = kinds
    place = (world, points, contacts, scratch, conditions.field("constraints"), flow)
    return {strike: (*place, laws, types.float64), put_back: place}


@inlined
def take_time_step(world, points, contacts, flow, dt):
    """A whole period as one step of semi-implicit Euler, whose forces are those of the law of time steps."""
    keep_forces(points, contacts, flow.force[0])
    for p in range(live(points)):
        flow.worked[p] = points.mode[p]
        flow.touching[p] = 0
        for k in range(3):
            flow.impulse[p, k] = dt * flow.force[0, p, k]
    flow.tally[SORTED] = 0  # who is in contact is found anew
    integrate_activations(world, dt)
    for j in range(world.qvel.size):
        world.qvel[j] += dt * world.qacc[j]
    integrate_positions(world, world.qvel, dt)


@inlined
def add_up(points, contacts, flow, h):
    """Add the impulse of a step's forces to what is recorded."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            value = 0.0
            for stage in range(STAGES - 1):
                value += flow.weights[STAGES - 1, stage] * flow.force[stage, p, k]
            flow.impulse[p, k] += h * value
        if flow.force[0, p, 0] != 0.0 or flow.force[0, p, 1] != 0.0 or flow.force[0, p, 2] != 0.0:
            flow.worked[p] = int(points.memory[p, engine_columns(points.memory) + DOES])


@inlined
def is_sound(points, contacts, flow):
    """Whether all forces of a period were found, and no impulse of it pulls or is outside the cone.

    Where the ground could hold a robot in many ways, the forces of a step's stages may do so in different ones. Not all
    of their weights are positive, and the mean force of a point could pull.
    """
    if flow.tally[UNSOLVED] != 0:
        return False
    largest, share = 0.0, UNSOUND if flow.flat == 1 else UNSOUND_IN_CURVES
    for p in range(live(points)):
        for k in range(3):
            largest = max(largest, abs(flow.impulse[p, k]))
    for p in range(live(points)):
        f, n, square = flow.impulse[p], contacts.frame[p, 2], 0.0
        load = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
        for k in range(3):
            square += (f[k] - load * n[k]) ** 2
        limit = contacts.static_friction[p] * max(0.0, load) + share * largest
        if load < -share * largest or square > limit * limit:
            return False
    return True


@inlined
def start_period(points, flow):
    """Nothing has happened yet."""
    for p in range(live(points)):
        flow.worked[p] = OPEN
        for k in range(3):
            flow.impulse[p, k] = 0.0
    flow.struck[0] = 0.0
    flow.tally[EVENTS] = 0
    flow.tally[IMPACTS] = 0
    flow.tally[UNSOLVED] = 0


@inlined
def record_period(world, points, contacts, flow, held, tape, dt, outcome):
    """Add what happened in a period to the sample that is under way; ``held`` has the modes it began with."""
    for p in range(live(points)):
        mode = flow.worked[p]
        if mode == OPEN and flow.touching[p] == 1 and held.mode[p] != OPEN:
            mode = STICK  # there, and not loaded
        held.mode[p] = mode
        for k in range(3):
            held.force[p, k] = flow.impulse[p, k] / dt
    add_step_of_all(world, points, contacts, held, tape, flow.tally[UNSOLVED], outcome)
    told = tape.signals[outcome[SAMPLES] - 1]
    if outcome[STEPS] == 1:
        told[0], told[1], told[2], told[3] = 0.0, 0.0, 0.0, 0.0
    told[0] += flow.tally[EVENTS]
    told[1] += flow.tally[IMPACTS]
    told[2] += flow.struck[0]
    told[3] += flow.tally[SOFT]


@kernel
def take_periods(loop, flow, first, last):
    """The loop of ``advance``."""
    world, points, contacts, scratch = loop.world, loop.points, loop.contacts, loop.scratch
    plan, constraints = loop.conditions.plan, loop.conditions.constraints
    tape, outcome = loop.tape, loop.outcome
    dt = plan.dt
    for step in range(first, last):
        time = step * dt
        outcome[NEXT] = step
        if step > first and overdue(scratch.clock):
            return
        outcome[STEP] = step
        act = plan.control > 0 and step % plan.control_every == 0
        fresh = True  # the period begins
        gone, h = 0.0, 0.0  # s, how far the period and the step have come
        low, high, sides, turns = 0.0, 0.0, 0, 0  # s, between which an event is sought
        hit, flash, straighten = False, 0.0, False  # what is to be done before the next evaluation
        stage, steps, spent = 0, 0, 0.0
        flow.tally[SOFT] = 0
        start_period(points, flow)
        read_state(world, flow.opening)
        while True:
            if hit or flash > 0.0:
                flow.tally[UNSOLVED] |= strike(world, points, contacts, scratch, constraints, flow, loop.laws, flash)
                spent += BETWEEN_EVENTS - contacts.effort[0]
                if flow.tally[EVENTS] > ENOUGH:
                    outcome[END] = STALLED
                    return
            over_edge = straighten and not hit and flash == 0.0 and flow.flat == 0 and rising(contacts, flow) > KINK
            if hit or flash > 0.0 or (straighten and not over_edge):
                put_back(world, points, contacts, scratch, constraints, flow)
            hit, flash, straighten = False, 0.0, False
            over = gone >= dt - 1e-15
            if over and not over_edge and is_sound(points, contacts, flow):
                break
            impacts = flow.tally[IMPACTS]
            tired = flow.tally[EVENTS] - 2 * impacts > TIRED or steps - 4 * impacts > MANY + PER_SECOND * dt
            if tired or over_edge or over or spent > PERIOD:
                steps = 0
                flow.tally[SOFT], gone, stage = 1, 0.0, 0
                start_period(points, flow)
                write_state(world, flow.opening)
            world.time[0] = time + gone
            points.others.counters[MAY_GROW] = 1 if fresh else 0
            end = forces_now(loop, flow, step, act)
            act = False
            status = outcome[STATUS]
            spent += BETWEEN_EVENTS - contacts.effort[0]
            if fresh:
                hold_forces(points, contacts, scratch.held)
                if (end == DONE and step % plan.record_every == 0) or end == DIVERGED:
                    begin_sample_of_all(world, points, contacts, scratch, tape, time, outcome)
            if end == DIVERGED and stage > 0 and h > SHORTEST:
                h, low, high, stage = 0.25 * h, 0.0, 0.0, 1
                set_stage(world, flow, stage, h)
                continue
            if end != DONE:
                outcome[END] = end
                return
            if fresh:
                if step == plan.total:
                    outcome[NEXT] = step + 1
                    return
            fresh = False
            if flow.tally[SOFT] == 1:
                flow.tally[UNSOLVED] = status
                take_time_step(world, points, contacts, flow, dt)
                break
            if stage == 0:  # after an event or a change of controls
                if flow.tally[SORTED] == 0:
                    flow.tally[SORTED] = 1
                    hit = begin(points, contacts, flow)
                if status == INCONSISTENT:
                    flash = FLASH
                    flow.warning[min(flow.tally[WARNINGS], flow.warning.size - 1)] = time + gone
                    flow.tally[WARNINGS] += 1
                if hit or flash > 0.0:
                    continue
                adopt(points, contacts, flow)
            keep_forces(points, contacts, flow.force[stage])
            read_slope(world, flow, flow.slope[stage])
            flow.tally[UNSOLVED] |= 1 if status == 1 else 0
            if 0 < stage < STAGES - 1:
                stage += 1
                set_stage(world, flow, stage, h)
                continue
            if stage == STAGES - 1:
                # The step is complete. Is it accurate?
                error = step_error(world, flow, h)
                scale = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
                again, happened = 0.0, False
                if high == 0.0 and error > 1.0 and h > SHORTEST:
                    again = max(SHORTEST, scale * h)
                else:  # Is there an event in it?
                    happened, found = find_event(points, contacts, flow, status, h - low)
                    turns += 1
                    if happened and not found:
                        sides = max(1, sides + 1)
                        high = h
                        for p in range(live(points)):
                            flow.after[p, 1] = flow.after[p, 0]
                        again = first_event(points, flow, low, high, sides)
                    elif not happened and high > 0.0 and turns < TURNS:
                        sides = min(-1, sides - 1)
                        low = h
                        look(points, contacts, flow)
                        again = first_event(points, flow, low, high, sides)
                    elif not happened and high == 0.0:
                        again = lowest(points, contacts, flow, h)
                        again = 0.0 if again == h else again
                    if high > 0.0 and again > 0.0:
                        again = min(max(again, low + 0.001 * (high - low)), high - 0.001 * (high - low))
                if again > 0.0:
                    h, stage = again, 1
                    set_stage(world, flow, stage, h)
                    continue
                # The step is taken.
                gone += h
                steps += 1
                add_up(points, contacts, flow, h)
                if high == 0.0:
                    flow.clock[LENGTH] = scale * h
                flow.tally[EVENTS] += 1 if happened else 0
                if happened and status != INCONSISTENT:
                    adopt(points, contacts, flow)
                hit = happened and arrive(points, contacts, flow)
                straighten = happened or off_course(points, contacts, flow) > DRIFT
                if straighten or gone >= dt - 1e-15:
                    stage = 0
                    continue
                copy(flow.slope[0], flow.slope[STAGES - 1])
                for p in range(live(points)):
                    copy(flow.force[0, p], flow.force[STAGES - 1, p])
            # A new step begins.
            read_state(world, flow.start)
            look(points, contacts, flow)
            h = min(max(flow.clock[LENGTH], SHORTEST), LONGEST, dt - gone)
            if dt - gone - h < SHORTEST:
                h = dt - gone
            low, high, sides, turns = 0.0, 0.0, 0, 0
            stage = 1
            set_stage(world, flow, stage, h)
        record_period(world, points, contacts, flow, scratch.held, tape, dt, outcome)
        outcome[NEXT] = step + 1


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
