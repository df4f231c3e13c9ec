"""Feet that stand on one vertex each, or on none: what Newton finds for points one by one is what their states give.

Restless robots mostly stand so: a search that would evaluate such states first, and find no rule broken, is spared.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.contact_guess import MODE
from footfall.solve.contacts import SLIDE
from footfall.solve.selection.states import INDEX, SLIDING, SLOW, STILL, VERTEX
from footfall.solve.together.desk import LANES, wait
from footfall.solve.together.selection import any_lane


@inlined
def stands_on_vertex(code):
    """Whether a foot in this state stands on a vertex and does not slide."""
    return code & (3 | SLIDING) == VERTEX


@inlined
def number_tried(contacts, own, desk):
    """How many states a search would have tried after the suggested ones, in which each foot stands on a vertex, or on
    none; 0 if it might find others.

    It begins with these if they are the last ones, or if those do not slide and were tried. Else it begins with the
    last ones: where these are of vertices too, and static friction holds none that is suggested to slide, they would
    be another answer to the problem that Newton solved, which has but one.
    """
    feet, slid, same, others = contacts.near.size - 1, False, True, False
    for b in range(feet):
        code, last = own.queue[feet + b], own.code[b]
        slid, same = slid or last & SLIDING != 0, same and last == code
        others = others or last & 3 > VERTEX or last + SLIDING == code
        inside = contacts.near[b + 1] - contacts.near[b] > desk.begin[b + 1] - desk.begin[b]
        if code & 3 > VERTEX or inside:  # points inside an outline carry nothing in any state
            return 0
    if slid and not same:
        return 0 if others else 2
    return 1 if slid == same else 0


@inlined
def breaks_a_rule(contacts, points, problem, own, code, stood, p, desk):
    """Whether a vertex, of a foot in this state or a free one (-1), breaks a rule under Newton's forces, or is near to
    that, or Newton was not told what is wanted of it, which it is if the foot ``stood`` on one. Forces and slip of a
    clamped one are brought to the desk.
    """
    x, y, load = points.force[p, 0], points.force[p, 1], points.force[p, 2]
    u, v, w = problem.end[p, 0], problem.end[p, 1], problem.end[p, 2]
    up, forth, aside = own.place[p, 3], own.place[p, 4], own.place[p, 5]
    if code < 0:
        return load != 0.0 or w < up - STILL
    speed = math.sqrt(u * u + v * v)
    f, end = desk.push[p], desk.end[p]
    f[0], f[1], f[2], f[3], end[0], end[1] = x, y, load, speed, u, v
    told = stood or (forth == 0.0 and aside == 0.0)
    if load <= 0.0 or abs(w - up) > STILL:
        return True
    if code & SLIDING:
        return speed <= SLOW or forth != 0.0 or aside != 0.0
    limit = contacts.dynamic_friction[p] if points.memory[p, MODE] == SLIDE else contacts.static_friction[p]
    return not told or speed > STILL or math.sqrt(x * x + y * y) > limit * load


@inlined
def on_vertices(lane, contacts, points, problem, own, desk):
    """Whether the states that Newton suggests, next in the queue, are those that the search would find, and Newton's
    forces theirs: after how many states, 0 if it is not known. They are at the desk then, whose outlines are there
    already.
    """
    feet, wrong, tried = contacts.near.size - 1, 0, number_tried(contacts, own, desk)
    if tried == 0:
        return 0
    for q in range(lane, desk.begin[feet], LANES):
        b = 0
        for o in range(1, feet):
            if q >= desk.begin[o]:
                b = o
        code = own.queue[feet + b]
        clamps = code & 3 == VERTEX and q - desk.begin[b] == code >> INDEX
        stood = stands_on_vertex(own.code[b])
        if breaks_a_rule(contacts, points, problem, own, code if clamps else -1, stood, desk.ring[q], desk):
            wrong = 1
    for b in range(lane, feet, LANES):
        desk.code[b] = own.queue[feet + b]
    if any_lane(lane, desk, LANES, wrong):
        tried = 0
    wait()
    return tried
