"""The rules that define valid contact (Moraud 2008, sections II.C and III), and the corrections for each.

They are checked at the end of the step, where clamped vertices are on the ground. In order of priority:

- friction: a foot that does not slide needs no more friction than there is;
- centre of pressure: it lies within what is clamped (with the rule switched off, no vertex pulls instead, or none by
  more than a threshold, the paper's model before it had the rule);
- geometry: no free vertex ends deeper than ``d``;
- force: the ground does not pull;
- kinematics: no free vertex goes into the ground, unless it is leaving (``a_n > a_t`` and ``v_n > -v_t``).

Of two states that are equally good, the one with fewer clamped vertices ranks higher.
"""

from __future__ import annotations

import math
from typing import Any

from footfall.compiled import inlined, kernel, separate
from footfall.solve.contacts import coupled_signature
from footfall.solve.selection.pressure import beyond
from footfall.solve.selection.sliding import slide
from footfall.solve.selection.soles import desk_type
from footfall.solve.selection.states import (
    EDGE,
    FACE,
    INDEX,
    NONE,
    SLIDING,
    STILL,
    VERTEX,
    assemble,
    clamped,
    copy_rows,
    hold,
    least_load,
    load_vertices,
    move_feet,
    outline,
    read_joint,
    solve_rows,
    vertex,
)

GOOD, FRICTION, PRESSURE, GEOMETRY, PULL, KINEMATICS = 0, 1, 2, 3, 4, 5
#: Bits of each number in a rank: clamped vertices in the lowest, then the violations of each rule, the first rule
#: highest.
CLAMPED_BITS = 12
KINEMATICS_UNIT, PULL_UNIT, GEOMETRY_UNIT = 1 << 12, 1 << 24, 1 << 36
PRESSURE_UNIT, FRICTION_UNIT = 1 << 48, 1 << 54
#: Tolerances of the rules: relative to the largest force, relative to a friction coefficient, and m.
NO_PULL, IN_CONE, INSIDE = 1e-10, 1e-9, 1e-9


def evaluate_signature() -> Any:
    """The signature of :func:`evaluate`."""
    from numba import boolean, float64, int64

    contacts, _, matrix, *_ = coupled_signature().args
    return boolean(contacts, float64, matrix, desk_type(), int64)


@separate(evaluate_signature)
def evaluate(contacts, dt, memory, desk, rounds):
    """Forces and motions of the states in ``desk.code``. False if sliding friction was not found in ``rounds``."""
    rows = assemble(contacts, dt, desk)
    if slides(contacts, desk):
        return slide(contacts, memory, desk, rows, rounds)
    stand(contacts, desk, rows)
    return True


@inlined
def slides(contacts, desk):
    """Whether any foot slides in the states in ``desk.code``."""
    for b in range(contacts.near.size - 1):
        if desk.code[b] & SLIDING:
            return True
    return False


@inlined
def stand(contacts, desk, rows):
    """Forces and motions of assembled states in which no foot slides."""
    feet, loose = contacts.near.size - 1, False
    for b in range(feet):
        loose = loose or (desk.begin[b + 1] > desk.begin[b] and desk.code[b] & 3 != FACE)
    copy_rows(desk, rows)
    solve_rows(desk, rows)
    if loose:
        move_feet(contacts, desk, rows)
    for b in range(feet):
        read_joint(desk, b)


@kernel
def judge(contacts, dt, memory, desk, rules):
    """Rank of the states in ``desk.code``, less is better; the first rule that a foot breaks goes to ``desk.fault``."""
    feet, rank, largest = contacts.near.size - 1, 0, 0.0
    for b in range(feet):
        largest = max(largest, abs(desk.pressure[b, 0]), abs(desk.pressure[b, 3]), abs(desk.pressure[b, 4]))
    for b in range(feet):
        desk.fault[b], desk.worst[b] = GOOD, 0
        if desk.begin[b + 1] == desk.begin[b]:
            continue
        rank += judge_free(contacts, dt, desk, b, rules)
        if desk.code[b] & 3 != NONE:
            rank += judge_clamped(contacts, memory, desk, b, rules, NO_PULL * largest)
    return rank


@inlined
def judge_free(contacts, dt, desk, b, rules):
    """Violations by the free vertices of a foot; the deepest goes to ``desk.worst``."""
    code, n = desk.code[b], desk.begin[b + 1] - desk.begin[b]
    count, rank, deepest = clamped(code, n), 0, 0.0
    for j in range(count, n):
        p = vertex(desk, b, code, j)
        v, gap = desk.end[p, 2], contacts.gap[p]
        if v >= desk.place[p, 3] - STILL:
            continue
        if gap + dt * v < -rules.d:
            rank += GEOMETRY_UNIT
            fault = GEOMETRY
        elif v > -rules.v_t and v - contacts.velocity[p, 2] > rules.a_t * dt:
            continue
        else:
            rank += KINEMATICS_UNIT
            fault = KINEMATICS
        desk.fault[b] = fault if desk.fault[b] == GOOD else min(desk.fault[b], fault)
        if v - desk.place[p, 3] < deepest:
            deepest = v - desk.place[p, 3]
            desk.worst[b] = j
    return rank


@inlined
def judge_clamped(contacts, memory, desk, b, rules, pull):
    """Violations by the clamped vertices of a foot; fills in their loads and, if it does not slide, their friction."""
    code, found = desk.code[b], desk.pressure[b]
    kind = code & 3
    rank = clamped(code, desk.begin[b + 1] - desk.begin[b])
    if found[0] < -pull:
        desk.fault[b] = PULL
        return rank + PULL_UNIT
    out = 0.0
    if kind == FACE:
        if rules.cop_rule == 0.0 and least_load(desk, b) < -max(pull, rules.pull):
            desk.fault[b] = PULL
            rank += PULL_UNIT
        out, edge = beyond(outline(desk, b), found[1], found[2])
        desk.worst[b] = edge - desk.begin[b]
        if rules.pull > 0.0:
            out = 0.0  # the model with a threshold looks at forces of vertices, not at the centre of pressure
    elif kind == EDGE:
        half = 0.5 * edge_length(desk, b)
        along = (found[1] - desk.joint[b, 0]) * desk.joint[b, 3] + (found[2] - desk.joint[b, 1]) * desk.joint[b, 4]
        out = abs(along) - half
        if out > 0.0:
            desk.worst[b] = 1 if along > 0.0 else 0
    wrong = out > INSIDE and out * found[0] > INSIDE * pull
    if kind != FACE or rules.pull == 0.0:
        load_vertices(desk, b)
    if code & SLIDING == 0:
        needed = hold(contacts, desk, b, memory)
        if needed > IN_CONE or (found[0] <= pull and abs(found[3]) + abs(found[4]) > 10.0 * pull):
            desk.fault[b] = FRICTION
            return rank + FRICTION_UNIT
    if wrong:
        if rules.cop_rule == 1.0:
            desk.fault[b] = PRESSURE
            return rank + PRESSURE_UNIT
        desk.fault[b] = PULL
        return rank + PULL_UNIT
    return rank


@inlined
def edge_length(desk, b):
    a, c = desk.place[vertex(desk, b, desk.code[b], 0)], desk.place[vertex(desk, b, desk.code[b], 1)]
    return math.sqrt((c[0] - a[0]) ** 2 + (c[1] - a[1]) ** 2)


@inlined
def correction(contacts, dt, desk, b, choice):
    """The ``choice``-th state that may correct a foot's first fault; -1 if there is none left."""
    code, fault, n = desk.code[b], desk.fault[b], desk.begin[b + 1] - desk.begin[b]
    kind, index, slides = code & 3, code >> INDEX, code & SLIDING
    if fault == FRICTION:
        return code | SLIDING if choice == 0 else -1
    if fault == PULL and choice == 0 and desk.pressure[b, 0] < 0.0:
        return NONE
    if fault in (PULL, PRESSURE):
        if kind == FACE:
            return release_face(desk, b, slides, choice)
        if kind == EDGE and choice == 0:
            return VERTEX | slides | _wrapped(index + desk.worst[b], n) << INDEX
        return -1
    if fault in (GEOMETRY, KINEMATICS):
        return clamp_more(contacts, dt, desk, b, kind, index, slides, choice)
    return -1


@inlined
def release_face(desk, b, slides, choice):
    """Release the face to the edge that the centre of pressure lies beyond, or to one of its ends."""
    n = desk.begin[b + 1] - desk.begin[b]
    if choice == 0:
        return EDGE | slides | desk.worst[b] << INDEX
    if choice > 2:
        return -1
    return VERTEX | slides | _wrapped(desk.worst[b] + choice - 1, n) << INDEX


@inlined
def clamp_more(contacts, dt, desk, b, kind, index, slides, choice):
    """Clamp vertices that enter the ground: the face if all do, else an edge or the deepest vertex."""
    n = desk.begin[b + 1] - desk.begin[b]
    worst = _wrapped(index + desk.worst[b], n)
    inside = 0
    for j in range(n):
        p = desk.ring[desk.begin[b] + j]
        inside += 1 if desk.end[p, 2] < desk.place[p, 3] - STILL else 0
    if kind == EDGE:
        return FACE | slides if choice == 0 and n > 2 else -1
    if n == 1:
        return VERTEX | slides if choice == 0 else -1
    before, after = _wrapped(worst + n - 1, n), _wrapped(worst + 1, n)
    p, q = desk.ring[desk.begin[b] + before], desk.ring[desk.begin[b] + after]
    deeper = contacts.gap[p] + dt * desk.end[p, 2] < contacts.gap[q] + dt * desk.end[q, 2]
    edge = before if deeper and n > 2 else (worst if n > 2 else 0)
    other = worst if deeper and n > 2 else (before if n > 2 else 0)
    if kind == VERTEX and n > 2:  # the edges at the clamped vertex come first
        left = _wrapped(index + n - 1, n)
        r, s = desk.ring[desk.begin[b] + left], desk.ring[desk.begin[b] + _wrapped(index + 1, n)]
        deeper = contacts.gap[r] + dt * desk.end[r, 2] < contacts.gap[s] + dt * desk.end[s, 2]
        edge, other = (left, index) if deeper else (index, left)
    whole = inside >= n - kind and n > 2 and inside > 1
    if whole:
        if choice == 0:
            return FACE | slides
        choice -= 1
    if kind == NONE and inside == 1:
        if choice == 0:
            return VERTEX | slides | worst << INDEX
        choice -= 1
    if choice == 0:
        return EDGE | slides | edge << INDEX
    if choice == 1 and n > 2:
        return EDGE | slides | other << INDEX
    if choice == 2:
        return VERTEX | slides | worst << INDEX
    return -1


@inlined
def _wrapped(k, n):
    return k - n if k >= n else k
