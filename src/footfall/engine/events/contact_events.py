"""Events in a step of integration: what happened, when, and which points are in contact afterwards."""

from __future__ import annotations

from typing import NamedTuple

from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import DOES, INCONSISTENT, REBOUND, SLIP, YOUNG, engine_columns
from footfall.engine.bridge import mj_com_pos, mj_com_vel, mj_kinematics
from footfall.engine.events.contact_set import (
    NEARBY,
    RESTLESS,
    SLOW,
    TOUCH,
    keep_forces,
    let_rest,
    let_slide,
    slow_slip,
)
from footfall.engine.events.dormand_prince import STAGES, read_slope, read_state, set_part, set_stage
from footfall.engine.kinematics import velocities
from footfall.engine.other_bodies.near import live, locate_all
from footfall.solve.contacts import OPEN, SLIDE, STICK

#: Tolerance of touch-downs: time, s, or gap, m.
INSTANT, NO_GAP = 1e-12, 1e-14
#: Tolerance of the end of a slip, and of the rise of a point inside the ground, m/s; the rest of the speed is removed.
NO_SLIP = 1e-9
#: Tolerance of lift-offs and beginnings of slips, s; where forces are smooth, the speed above suffices.
MOMENT = 1e-9
#: Slip speed, m/s, beyond which the beginning of a slip no longer matters.
GROWN = 0.01
#: A bracket is bisected after the same end was replaced this many times in a row.
IN_A_ROW = 8
#: Newton steps on the cubic that approximates the gap before a touch-down.
REFINEMENTS = 4
#: Most steps in the search for an event.
TURNS = 100


@inlined
def slip_along(points, contacts, p):
    """Slip of a point (m/s) along the direction that it had at the beginning of the step."""
    first, v, frame = engine_columns(points.memory), contacts.velocity[p], contacts.frame[p]
    along = 0.0
    for k in range(3):
        along += (v[0] * frame[0, k] + v[1] * frame[1, k]) * points.memory[p, first + SLIP + k]
    return along


@inlined
def follow_slips(points, contacts):
    """Update the direction of each slip: a slip that turns, as of a spinning foot, does not end."""
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v = contacts.velocity[p]
        if points.memory[p, first + DOES] == SLIDE and points.memory[p, first + YOUNG] == 0.0:
            if v[0] * v[0] + v[1] * v[1] > SLOW * SLOW:
                let_slide(points, contacts, p)


@inlined
def hold(points, contacts, p):
    """Force (N) that a point in contact can lose before it lifts off or, if it rests, slips."""
    f = points.force[p]
    if points.memory[p, engine_columns(points.memory) + DOES] == SLIDE:
        return f[2]
    return min(f[2], contacts.static_friction[p] * f[2] - (f[0] * f[0] + f[1] * f[1]) ** 0.5)


@inlined
def keep_values(points, contacts, flow):
    """Keep the values whose signs change at events: gaps, their rates, slips along their directions, and holds.

    Of holds the value that was kept before is kept too.
    """
    for p in range(live(points)):
        flow.gap_before[p], flow.rate_before[p], flow.slip_before[p] = contacts.gap[p], contacts.velocity[p, 2], 0.0
        flow.hold_earlier[p] = flow.hold_before[p]
        if flow.touching[p] == 1:
            flow.slip_before[p] = slip_along(points, contacts, p)
            flow.hold_before[p] = hold(points, contacts, p)
            if flow.slip_before[p] > GROWN:
                points.memory[p, engine_columns(points.memory) + YOUNG] = 0.0


@inlined
def keep_instant(world, points, contacts, flow):
    """Keep the state, its rates, forces, and the values whose signs change at events: a step begins here."""
    read_state(world, flow.start)
    read_slope(world, flow, flow.slope[0])
    keep_forces(points, contacts, flow.force[0])
    follow_slips(points, contacts)
    keep_values(points, contacts, flow)


@inlined
def was_inside(flow, p):
    """Whether a point that is not in contact was still inside the ground at the last instant before an event."""
    gap = flow.gap_before[p]
    return gap <= NO_GAP and (flow.rate_before[p] <= 0.0 or gap <= -TOUCH)


@inlined
def changes(points, p, first):
    """Whether a point in contact is about to leave, or to slide where it rests."""
    return points.mode[p] == OPEN or (points.mode[p] == SLIDE and points.memory[p, first + DOES] == STICK)


@inlined
def about_to_change(points, contacts):
    """Whether any point in contact is about to leave or to slide."""
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):
        if changes(points, contacts.points[i], first):
            return True
    return False


@inlined
def is_early(points, contacts, p):
    """Whether a point that has begun to leave or to slide has hardly moved yet, and its force did not jump."""
    v = contacts.velocity[p]
    if points.mode[p] == OPEN:
        return abs(v[2]) <= NO_SLIP
    smooth = contacts.static_friction[p] == contacts.dynamic_friction[p]
    return smooth and v[0] * v[0] + v[1] * v[1] <= NO_SLIP**2


@inlined
def find_event(points, contacts, flow, status, length):
    """Whether an event has happened in a step, and whether its instant is located, in the last ``length`` seconds of
    it.

    Keeps the value of each point that has become negative, or -1 where only the event itself is known.
    """
    first = engine_columns(points.memory)
    happened, found = False, True
    for p in range(live(points)):
        v, value, near = contacts.velocity[p], 1.0, NO_SLIP
        if flow.touching[p] == 0:
            if not was_inside(flow, p):
                value, near = contacts.gap[p] - min(0.0, flow.gap_before[p]), NO_GAP
                if 0.0 <= value <= NO_GAP and v[2] < 0.0:
                    value = -NO_GAP  # practically there
            else:  # it has arrived, and has not left
                value = v[2]
        elif changes(points, p, first):
            value, near = -1.0, 1.0 if length <= MOMENT or is_early(points, contacts, p) else 0.0
        elif points.memory[p, first + DOES] == SLIDE:
            value = slip_along(points, contacts, p)
            speed = (v[0] * v[0] + v[1] * v[1]) ** 0.5
            happened |= speed < slow_slip(flow) and speed < flow.slip_before[p]
        flow.value_now[p] = value
        happened |= value < 0.0
        found &= value >= -near
    if status == INCONSISTENT:
        happened, found = True, False
    return happened, found or length <= INSTANT


class Bracket(NamedTuple):
    """Lengths of a step that bracket an event."""

    low: float  # s, without an event
    high: float  # s, with an event; 0 while there is no search
    sides: int  # how many times in a row the upper end was moved, or the lower one if negative
    turns: int  # steps taken in the search
    earlier: float  # s, the lower end before, or less than zero


#: The bracket while there is no search.
NO_BRACKET = Bracket(0.0, 0.0, 0, 0, -1.0)


@inlined
def touch_down(gap_before, rate, gap, rate_after, low, high, h):
    """Time of a touch-down (s) by the cubic through gap (m) and rate (m/s) before and after a step of ``h`` seconds;
    the search converges quadratically.

    If the bracket begins at this step, by the tangent there.
    """
    start, ahead = max(0.0, gap_before), h - low
    if h < high or ahead <= 0.0:
        return low - start / rate if rate < 0.0 else high
    end = gap - min(0.0, gap_before)
    bend = (end - start - rate * ahead) / (ahead * ahead)
    square = rate * rate - 4.0 * bend * start
    if square < 0.0:
        return high
    if rate < 0.0:  # by the parabola without the rate after
        t = 2.0 * start / (square**0.5 - rate)
    elif bend < 0.0:
        t = 0.5 * (rate + square**0.5) / -bend
    else:
        return high
    # start + rate t + bend t^2 + twist t^2 (t - ahead), solved by Newton's method from the root of the parabola
    twist = (rate_after - rate - 2.0 * bend * ahead) / (ahead * ahead)
    for _ in range(REFINEMENTS):
        value = start + t * (rate + t * (bend + twist * (t - ahead)))
        slope = rate + t * (2.0 * bend + twist * (3.0 * t - 2.0 * ahead))
        if not slope < 0.0:
            break
        t = min(max(t - value / slope, 0.0), ahead)
    return low + t


@inlined
def first_event(points, contacts, flow, bracket, h):
    """The length of step to try next in the search for the first event in a bracket, after a step of length ``h``.

    A touch-down is approximated by a cubic; a lift-off or the beginning of a slip by a line through values at the lower
    end and the one before it; the end of a slip by a line through values at both ends, one of which is weighted less if
    the other was replaced several times in a row (the Illinois method). Otherwise the bracket is bisected.
    """
    low, high, sides, _, earlier = bracket
    first = engine_columns(points.memory)
    where, known = high, False
    for p in range(live(points)):
        value = flow.value_high[p] * 0.5 ** max(0, -sides - 1)
        if value >= 0.0:
            continue
        falls = flow.touching[p] == 0 and not was_inside(flow, p)
        if falls and abs(sides) < IN_A_ROW:
            gap, rate = contacts.gap[p], contacts.velocity[p, 2]
            instant = touch_down(flow.gap_before[p], flow.rate_before[p], gap, rate, low, high, h)
            if low < instant < high:
                known = True
                where = min(where, instant)
                continue
        if flow.value_high[p] == -1.0 and abs(sides) < IN_A_ROW and 0.0 <= earlier < low:
            now, then = flow.hold_before[p], flow.hold_earlier[p]
            instant = low + (low - earlier) * now / (then - now) if 0.0 < now < then else high
            if instant < high:
                known = True
                where = min(where, instant + (-0.4 * MOMENT if sides > 0 else 0.4 * MOMENT))
            continue
        start = 0.0
        if flow.touching[p] == 0:
            start = flow.gap_before[p] if falls else flow.rate_before[p]
        elif points.memory[p, first + DOES] == SLIDE:
            start = flow.slip_before[p]
        if start > 0.0 and value != -1.0:
            known = True
            start *= 0.5 ** max(0, sides - 1)
            where = min(where, low + (high - low) * start / (start - value))
    return where if known else 0.5 * (low + high)


@inlined
def lowest_instant(points, contacts, flow, h):
    """When a point that is above the ground at both ends of a step was lowest, if it may have been below the ground;
    else h.
    """
    where = h
    for p in range(live(points)):
        if flow.touching[p] == 0:
            gap, rate, after = flow.gap_before[p], flow.rate_before[p], contacts.velocity[p, 2]
            if rate < 0.0 < after and gap > NO_GAP:
                share = rate / (rate - after)
                if gap + 0.5 * share * h * rate < 0.0:
                    where = min(where, share * h)
    return where


@inlined
def seek_event(points, contacts, flow, bracket, h, status):
    """Look for an event in a step of length ``h`` (s).

    Returns the length to try instead (s, 0 if the step stands), whether an event happened in it, and the bracket.
    """
    low, high, sides, turns, earlier = bracket
    happened, found = find_event(points, contacts, flow, status, h - low)
    turns += 1
    again = 0.0
    if happened and not found:
        sides = max(1, sides + 1)
        high = h
        for p in range(live(points)):
            flow.value_high[p] = flow.value_now[p]
        again = first_event(points, contacts, flow, Bracket(low, high, sides, turns, earlier), h)
    elif not happened and high > 0.0 and turns < TURNS:
        sides = min(-1, sides - 1)
        low, earlier = h, low
        keep_values(points, contacts, flow)
        again = first_event(points, contacts, flow, Bracket(low, high, sides, turns, earlier), h)
    elif not happened and high == 0.0:
        again = lowest_instant(points, contacts, flow, h)
        again = 0.0 if again == h else again
    if high > 0.0 and again > 0.0:
        aside = (1e-3 if abs(sides) >= IN_A_ROW else 1e-9) * (high - low)
        again = min(max(again, low + aside), high - aside)
    return again, happened, Bracket(low, high, sides, turns, earlier)


@inlined
def adopt_modes(points, contacts, flow):
    """Let points in contact change to the modes that the law predicts: leave, slide, or stay as they are."""
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if points.mode[p] == OPEN:
            flow.touching[p] = 0
        elif points.mode[p] == SLIDE and points.memory[p, first + DOES] == STICK:
            points.memory[p, first + DOES] = SLIDE  # its direction is known already
            points.memory[p, first + YOUNG] = 1.0


@inlined
def update_contacts(points, contacts, flow):
    """At an event: which points have reached the ground, and whose slip has ended or turned.

    Returns whether any strikes the ground.
    """
    first = engine_columns(points.memory)
    hit = False
    for p in range(live(points)):
        v = contacts.velocity[p]
        if flow.touching[p] == 0:
            if contacts.gap[p] <= TOUCH and v[2] < 0.0:
                flow.arriving[p] = 1
                hit = True
        elif points.memory[p, first + DOES] == SLIDE:
            speed = (v[0] * v[0] + v[1] * v[1]) ** 0.5
            if speed <= slow_slip(flow):
                let_rest(points, p)
            elif slip_along(points, contacts, p) <= 0.0:
                let_slide(points, contacts, p)
    return hit


@inlined
def find_grounded(points, contacts, flow):
    """At the beginning of a run: which points are on the ground. Returns whether any strikes it."""
    hit = False
    for p in range(live(points)):
        if flow.touching[p] == 0 and contacts.gap[p] <= TOUCH and contacts.velocity[p, 2] <= REBOUND:
            flow.arriving[p] = 1
            hit = True
    return hit


@inlined
def stay_grounded(points, contacts, flow):
    """After a time step: points that it left in contact rest or slide, at their present gap. Returns whether there are
    any.
    """
    found = False
    for p in range(live(points)):
        v, did = contacts.velocity[p], flow.arriving[p]
        flow.arriving[p] = 0
        if did != OPEN and abs(contacts.gap[p]) <= NEARBY and abs(v[2]) <= RESTLESS:
            slow = v[0] * v[0] + v[1] * v[1] <= RESTLESS * RESTLESS
            if did == STICK and slow:
                let_rest(points, p)
            elif did == SLIDE and not slow:
                let_slide(points, contacts, p)
            else:
                continue
            flow.touching[p], flow.depth[p], found = 1, contacts.gap[p], True
    return found


@inlined
def goes_on(points, contacts, status):
    """Whether the forces of a step go on smoothly to its end, as if nothing had happened."""
    return status != INCONSISTENT and not about_to_change(points, contacts)


@cold(types.none, soon=True)
def look(world, points, contacts, conditions):
    """Where the points are, and their velocities."""
    ground, margin = conditions.ground, conditions.plan.margin
    mj_kinematics(world.model, world.data)
    mj_com_pos(world.model, world.data)
    mj_com_vel(world.model, world.data)
    locate_all(world, points, contacts, ground.surface, ground.shape, ground.table, margin)
    velocities(world.cvel, world.subtree_com, points, contacts)


@cold(types.float64, soon=True)
def end_within(world, points, contacts, conditions, flow, low, last, h):
    """Go to the first event within a step of ``h`` seconds, between ``low`` and ``last`` (s), or else to the last: how
    long it is until there, s.

    Forces are smooth up to it, so that only the motion of the points is looked at, on the continuous extension.
    """
    high, sides, turns, earlier = 0.0, 0, 0, -1.0
    length, again = 0.0, last
    while again > 0.0:
        length = again
        if length < h:
            set_part(flow, length / h)
            set_stage(world, flow, STAGES, h)
            look(world, points, contacts, conditions)
        bracket = Bracket(low, high, sides, turns, earlier)
        again, _, (low, high, sides, turns, earlier) = seek_event(points, contacts, flow, bracket, length, 0)
    return length
