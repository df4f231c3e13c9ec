"""Events between two steps of integration: what happened, when, and who is in contact after it."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.contact.event_law import DOES, INCONSISTENT, SLIP, engine_columns
from footfall.engine.contact_set import REBOUND, SLOW, TOUCH, let_rest, let_slide
from footfall.engine.near_bodies import live
from footfall.solve.contacts import OPEN, SLIDE, STICK

#: Events are found to this time, s, gap, m, and slip, m/s.
INSTANT, NO_GAP, NO_SLIP = 1e-12, 1e-15, 1e-12


@inlined
def look(points, contacts, flow):
    """Keep what events are told by: gaps, their rates, and slips along the first direction."""
    first = engine_columns(points.memory)
    for p in range(live(points)):
        v, frame, now = contacts.velocity[p], contacts.frame[p], flow.before[p]
        now[0], now[1], now[2] = contacts.gap[p], v[2], 0.0
        if flow.touching[p] == 1:
            for k in range(3):
                now[2] += (v[0] * frame[0, k] + v[1] * frame[1, k]) * points.memory[p, first + SLIP + k]


@inlined
def find_event(points, contacts, flow, status, length):
    """Whether something has happened in a step, and whether its instant is found, in the last ``length`` seconds of it.

    Keeps by how much: values below zero of what was above, and -1 where nothing but that it happened is known.
    """
    first = engine_columns(points.memory)
    happened, found = False, True
    for p in range(live(points)):
        v, frame, then = contacts.velocity[p], contacts.frame[p], flow.before[p]
        value, near = 1.0, NO_SLIP
        if flow.touching[p] == 0:
            if then[0] > NO_GAP or (then[1] > 0.0 and then[0] > -TOUCH):
                value, near = contacts.gap[p] - min(0.0, then[0]), NO_GAP
            else:  # it is there, and has not left
                value = v[2]
        elif points.mode[p] == OPEN or (points.mode[p] == SLIDE and points.memory[p, first + DOES] == STICK):
            value = -1.0
        elif points.memory[p, first + DOES] == SLIDE:
            value = 0.0
            for k in range(3):
                value += (v[0] * frame[0, k] + v[1] * frame[1, k]) * points.memory[p, first + SLIP + k]
            speed = (v[0] * v[0] + v[1] * v[1]) ** 0.5
            happened |= speed < SLOW and speed < then[2]
        flow.after[p, 0] = value
        happened |= value < 0.0
        found &= value >= -near
    if status == INCONSISTENT:
        happened, found = True, False
    return happened, found or length <= INSTANT


@inlined
def first_event(points, flow, low, high, sides):
    """Where to look for the first event between ``low`` and ``high``: by lines through the values there, or halfway.

    ``sides`` counts how often the upper end was replaced in a row, or less than zero the lower one; then the value at
    the other end is trusted less (the Illinois method).
    """
    first = engine_columns(points.memory)
    where, known = high, False
    for p in range(live(points)):
        value = flow.after[p, 1] * 0.5 ** max(0, -sides - 1)
        if value >= 0.0:
            continue
        start = 0.0
        if flow.touching[p] == 0:
            start = flow.before[p, 0]
        elif points.memory[p, first + DOES] == SLIDE:
            start = flow.before[p, 2]
        if start > 0.0 and value != -1.0:
            known = True
            start *= 0.5 ** max(0, sides - 1)
            where = min(where, low + (high - low) * start / (start - value))
    return where if known else 0.5 * (low + high)


@inlined
def lowest(points, contacts, flow, h):
    """When a point that is above the ground at both ends of a step was lowest, if that may be below; else h."""
    where = h
    for p in range(live(points)):
        if flow.touching[p] == 0:
            gap, rate, after = flow.before[p, 0], flow.before[p, 1], contacts.velocity[p, 2]
            if rate < 0.0 < after and gap > NO_GAP:
                share = rate / (rate - after)
                if gap + 0.5 * share * h * rate < 0.0:
                    where = min(where, share * h)
    return where


@inlined
def adopt(points, contacts, flow):
    """Have points in contact do what the law says they are about to: leave, slide, or what they did."""
    first = engine_columns(points.memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if points.mode[p] == OPEN:
            flow.touching[p] = 0
        elif points.mode[p] == SLIDE:
            points.memory[p, first + DOES] = SLIDE  # its direction is there already


@inlined
def arrive(points, contacts, flow):
    """At an event: who has reached the ground, whose slip has ended or turned. Gives whether anybody strikes."""
    first = engine_columns(points.memory)
    hit = False
    for p in range(live(points)):
        v, frame = contacts.velocity[p], contacts.frame[p]
        if flow.touching[p] == 0:
            if contacts.gap[p] <= TOUCH and v[2] < 0.0:
                flow.arriving[p] = 1
                hit = True
        elif points.memory[p, first + DOES] == SLIDE:
            along = 0.0
            for k in range(3):
                along += (v[0] * frame[0, k] + v[1] * frame[1, k]) * points.memory[p, first + SLIP + k]
            speed = (v[0] * v[0] + v[1] * v[1]) ** 0.5
            if speed <= SLOW:
                let_rest(points, p)
            elif along <= 0.0:
                let_slide(points, contacts, p)
    return hit


@inlined
def begin(points, contacts, flow):
    """At the beginning of a run: who is on the ground. Gives whether anybody strikes it."""
    hit = False
    for p in range(live(points)):
        if contacts.gap[p] <= TOUCH and contacts.velocity[p, 2] <= REBOUND:
            flow.arriving[p] = 1
            hit = True
    return hit
