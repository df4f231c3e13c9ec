"""Feet whose states Newton's forces settle: each stands or slides on a vertex or an edge, or is in the air.

Restless robots mostly stand so, and need no search of states.

A state of a vertex has three equations: its velocity along the normal is the one wanted, and its friction is that of a
static or of a sliding point. Newton solves the same equations for each point if it is given the wanted velocities.

A sliding edge has one equation along the normal for each of its two vertices, and friction opposes the slip of each.
The state takes friction at the height of the virtual joint, the mean of both vertices. So Newton is given both points
at this height, and solves the same equations again. The two loads follow from the centre of pressure, so there is only
one way to share them.

A static edge has five equations: the middle moves as wanted, and the rates of turn about the normal and across the edge
are those wanted. Newton's points move so if they hold and were given the velocities of that rigid motion. The wrench of
the foot is then unique, and the state shares its friction between the vertices.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.solve.contact_guess import MODE
from footfall.solve.contacts import SLIDE
from footfall.solve.problem import RAISED
from footfall.solve.selection.rules import FRICTION, IN_CONE
from footfall.solve.selection.states import (
    EDGE,
    FACE,
    INDEX,
    SLIDING,
    SLOW,
    STILL,
    VERTEX,
    clamped,
    hold,
    state_of,
    vertex,
)
from footfall.solve.together.desk import LANES, wait
from footfall.solve.together.selection_desk import fetch_outlines

#: m, largest error of the height of friction: for a foot of 0.1 m, the share of friction that a search may miss.
LEVEL = 1e-10


class Soles(NamedTuple):
    """States of the feet and forces on their vertices, after Newton; with the names of
    :class:`footfall.solve.together.selection_desk.SelectionDesk`.
    """

    begin: Any
    ring: Any
    code: Any
    push: Any
    end: Any
    wrong: Any  # (P,) integers: 1 for a vertex that breaks a rule
    pressure: Any
    place: Any


@inlined
def soles_at(desk, own):
    """Soles in arrays of Newton's desk that are no longer needed, and places of points from the law's own."""
    return Soles(desk.owner, desk.foot, desk.order, desk.turned, desk.rows, desk.last, desk.gram[0], own.place)


@inlined
def tell_newton(problem, desk):
    """Give Newton the velocities that states want of vertices: along the normal, the velocity of a clamped vertex is
    the least. Newton is told of anchors and heights for the last states, but not of the anchor of a vertex that
    friction could not hold, since it will slide.
    """
    contacts = problem.contacts
    for b in range(contacts.near.size - 1):
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            problem.target[p] = desk.place[p, 3]
            problem.friction[p, RAISED] = 0.0
        code = desk.code[b]
        slips = code & 3 > 0 and code & SLIDING == 0 and desk.fault[b] == FRICTION
        desk.worst[b] = code + SLIDING if slips else code
        tell_of_foot(problem, desk, desk, b, desk.worst[b], 1.0)


@inlined
def tell_of_foot(problem, desk, own, b, code, share):
    """Tell Newton of a foot in this state, with a ``share`` of 1, or take it back, with -1. Tangential velocities of a
    static vertex are relative to that which leads it to its anchor. Those of a static edge are relative to the rigid
    motion of ``put_joint``. The points of an edge are moved to the height of the middle.
    """
    if code & (3 | SLIDING) == VERTEX:
        p = vertex(desk, b, code, 0)
        problem.free[p, 0] -= share * own.place[p, 4]
        problem.free[p, 1] -= share * own.place[p, 5]
    elif code & 3 == EDGE:
        p, q, turn = vertex(desk, b, code, 0), vertex(desk, b, code, 1), own.motion[b]
        rise = 0.5 * share * (own.place[q, 2] - own.place[p, 2])
        problem.friction[p, RAISED] += rise
        problem.friction[q, RAISED] -= rise
        problem.free[p, 0] += rise * turn[4]
        problem.free[p, 1] -= rise * turn[3]
        problem.free[q, 0] -= rise * turn[4]
        problem.free[q, 1] += rise * turn[3]
        if code & SLIDING == 0:
            a, c = own.place[p], own.place[q]
            x, y = 0.5 * (c[0] - a[0]), 0.5 * (c[1] - a[1])
            forth, aside = 0.5 * share * (a[4] + c[4]), 0.5 * share * (a[5] + c[5])
            twist = 0.5 * share * (x * (c[5] - a[5]) - y * (c[4] - a[4])) / (x * x + y * y)
            problem.free[p, 0] -= forth + twist * y
            problem.free[p, 1] -= aside - twist * x
            problem.free[q, 0] -= forth - twist * y
            problem.free[q, 1] -= aside + twist * x


@inlined
def told_of(code):
    """The part of a state that Newton is told of."""
    return code if code & 3 == EDGE or code & (3 | SLIDING) == VERTEX else 0


@inlined
def tell_again(lane, contacts, problem, own, desk):
    """Tell Newton of the states that it suggests, at the desk, where they are others than it was told of and their
    forces could settle them. Gives whether there are any.
    """
    feet, others = contacts.near.size - 1, False
    for b in range(feet):
        code = desk.code[b]
        others = others or told_of(own.worst[b]) != told_of(code)
        if code & 3 == FACE:
            return False
    wait()
    for b in range(lane, feet, LANES):
        if own.worst[b] != desk.code[b]:
            tell_of_foot(problem, desk, own, b, own.worst[b], -1.0)
            tell_of_foot(problem, desk, own, b, desk.code[b], 1.0)
            own.worst[b] = desk.code[b]
    wait()
    return others


@inlined
def is_within(code, last, vertices):
    """Whether all vertices that a state clamps are clamped in the ``last`` state too."""
    kind, first = code & 3, (code >> INDEX) - (last >> INDEX)
    if first < 0:
        first += vertices
    return kind == 0 or last & 3 == FACE or (kind != FACE and first + kind <= last & 3)


@inlined
def is_ruled_out(contacts, code, last, vertices, p):
    """Whether the last states cannot be right, as far as this foot is concerned, since Newton suggests ``code``.

    If they broke no rule, they would be a second answer to the problem that Newton solved, which has one, unless rules
    of states allow more than rules of points. This is so in three cases. A free vertex that leaves may go into the
    ground; a foot that slid on a vertex where Newton suggests an edge was right in 2 of 10 cases, so it is not ruled
    out. Static friction may exceed dynamic friction; ``p`` is the first point of the foot. And a static edge or face
    has friction as a whole.
    """
    if last == code:
        return True
    if last + SLIDING == code:
        return contacts.static_friction[p] == contacts.dynamic_friction[p]
    if last & 3 > VERTEX:
        return last & SLIDING != 0 and is_within(code, last, vertices)
    return code & 3 <= VERTEX


@inlined
def number_before(contacts, own, desk):
    """The number of states ruled out before the suggested ones, 0 or 1; -1 if the last states must be tried first. They
    need not if they are the suggested ones, if a lane has tried them, as none slides, or if they are ruled out.
    """
    feet, slid, same, out = contacts.near.size - 1, False, True, True
    for b in range(feet):
        code, last, n = desk.code[b], own.code[b], desk.begin[b + 1] - desk.begin[b]
        slid, same = slid or last & SLIDING != 0, same and last == code
        if n > 0:
            out = out and is_ruled_out(contacts, code, last, n, desk.ring[desk.begin[b]])
    if not slid:
        return 0
    return 0 if same else 1 if out else -1


@inlined
def breaks_a_rule(contacts, points, problem, own, code, told, high, p, desk):
    """Whether a vertex of a foot in this state, -1 if it is free, breaks a rule under Newton's forces, or Newton did
    not have the equations of the state, but was ``told`` of another, or had friction at another height than ``high``.
    Force and slip of a clamped vertex are brought to the desk.
    """
    x, y, load = points.force[p, 0], points.force[p, 1], points.force[p, 2]
    u, v, w = problem.end[p, 0], problem.end[p, 1], problem.end[p, 2]
    up, forth, aside = own.place[p, 3], own.place[p, 4], own.place[p, 5]
    if code < 0:
        return load != 0.0 or w < up - STILL
    speed = math.sqrt(u * u + v * v)
    f, end = desk.push[p], desk.end[p]
    f[0], f[1], f[2], f[3], end[0], end[1] = x, y, load, speed, u, v
    level = abs(own.place[p, 2] + problem.friction[p, RAISED] - high) <= LEVEL
    if load <= 0.0 or abs(w - up) > STILL or not level:
        return True
    still, edge = forth == 0.0 and aside == 0.0, told & (3 | SLIDING) == EDGE
    if code & SLIDING:
        return edge or (told & (3 | SLIDING) == VERTEX and not still)
    if not (told == code or (still and not edge)) or speed > STILL:
        return True
    if code & 3 == EDGE:  # has friction as a whole
        return False
    limit = contacts.dynamic_friction[p] if points.memory[p, MODE] == SLIDE else contacts.static_friction[p]
    return math.sqrt(x * x + y * y) > limit * load


@inlined
def holds_edge(contacts, points, desk, b):
    """Whether friction holds a foot that stands on an edge, with the forces that its state makes of Newton's."""
    code, found = desk.code[b], desk.pressure[b]
    p, q = vertex(desk, b, code, 0), vertex(desk, b, code, 1)
    f, g, a, c = desk.push[p], desk.push[q], desk.place[p], desk.place[q]
    load = f[2] + g[2]
    if f[2] <= 0.0 or g[2] <= 0.0:
        return False
    x, y = (f[2] * a[0] + g[2] * c[0]) / load, (f[2] * a[1] + g[2] * c[1]) / load
    torsion = (a[0] - x) * f[1] - (a[1] - y) * f[0] + (c[0] - x) * g[1] - (c[1] - y) * g[0]
    found[0], found[1], found[2], found[3], found[4], found[5] = load, x, y, f[0] + g[0], f[1] + g[1], torsion
    return hold(contacts, desk, b, points.memory) <= IN_CONE


@inlined
def on_vertices(lane, contacts, points, problem, own, desk):
    """Whether Newton's forces are those of the states that it suggests, which are at the desk, and no rule is broken.
    Brings the forces to the desk.
    """
    feet, right = contacts.near.size - 1, True
    for b in range(feet):
        code = desk.code[b]
        inside = contacts.near[b + 1] - contacts.near[b] > desk.begin[b + 1] - desk.begin[b]
        if inside or code & 3 == FACE:  # points inside carry nothing in any state
            return False
    for q in range(lane, desk.begin[feet], LANES):
        b = 0
        for o in range(1, feet):
            if q >= desk.begin[o]:
                b = o
        code, n = desk.code[b], desk.begin[b + 1] - desk.begin[b]
        after = q - desk.begin[b] - (code >> INDEX)
        if after < 0:
            after += n
        high = 0.0
        for j in range(clamped(code, n)):
            high += own.place[vertex(desk, b, code, j), 2]
        high /= max(1, code & 3)
        fastest = 0.0
        for j in range(clamped(code, n)):
            p = vertex(desk, b, code, j)
            fastest = max(fastest, problem.end[p, 0] ** 2 + problem.end[p, 1] ** 2)
        clamps, told = after < code & 3, own.worst[b]
        wrong = breaks_a_rule(contacts, points, problem, own, code if clamps else -1, told, high, desk.ring[q], desk)
        rests = code & SLIDING and fastest <= SLOW * SLOW  # it may come to rest
        desk.wrong[q] = 1 if wrong or rests else 0
    wait()
    for q in range(desk.begin[feet]):
        right = right and desk.wrong[q] == 0
    wait()
    for b in range(lane, feet, LANES):
        edge = desk.code[b] & (3 | SLIDING) == EDGE
        desk.wrong[b] = 1 if right and edge and not holds_edge(contacts, points, desk, b) else 0
    wait()
    for b in range(feet):
        right = right and desk.wrong[b] == 0
    wait()
    return right


@inlined
def settle_on_vertices(lane, contacts, points, problem, own, desk):
    """Settle the states by Newton's forces, if they can be. Gives the number of states that a search would have tried;
    0 if Newton's forces are not those of the states, and -1 if the last states must be tried first. The states and
    their forces are at the desk.
    """
    fetch_outlines(lane, contacts, own, desk)
    for b in range(lane, contacts.near.size - 1, LANES):
        desk.code[b] = state_of(problem.kind, desk, b)
    wait()
    before = number_before(contacts, own, desk)
    if before < 0:
        return -1
    return before + 1 if on_vertices(lane, contacts, points, problem, own, desk) else 0
