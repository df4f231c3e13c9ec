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
def tried_first(contacts, own, desk):
    """Whether a search would try the suggested states first, as the last ones slide and are the same, or do not slide
    and were tried, and whether each foot stands on a vertex in them, or on none.
    """
    feet, slid, same = contacts.near.size - 1, False, True
    for b in range(feet):
        code = own.queue[feet + b]
        slid, same = slid or own.code[b] & SLIDING != 0, same and own.code[b] == code
        inside = contacts.near[b + 1] - contacts.near[b] > desk.begin[b + 1] - desk.begin[b]
        if code & 3 > VERTEX or inside:  # points inside an outline carry nothing in any state
            return False
    return slid == same


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
    """Whether the states that Newton suggests, next in the queue, are those that the search would find, at its first
    look, and Newton's forces theirs: these are at the desk then, whose outlines are there already.
    """
    feet, wrong = contacts.near.size - 1, 0
    if not tried_first(contacts, own, desk):
        return False
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
    right = not any_lane(lane, desk, LANES, wrong)
    wait()
    return right
