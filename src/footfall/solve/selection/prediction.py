"""The one-step mode (Moraud 2008, section IV): the state nearest to the preferences of all vertices.

Each vertex prefers to be clamped or free, by the last step and its present motion, with a weight that respects the
order of the rules. The state of each foot that suits its vertices best is taken. No other is tried: if it is wrong, the
next step corrects it.
"""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.solve.contacts import OPEN, SLIDE, STICK, coulomb
from footfall.solve.problem import MODE
from footfall.solve.selection.rules import FRICTION, PRESSURE, PULL, evaluate, judge
from footfall.solve.selection.states import EDGE, FACE, INDEX, LOAD, NONE, SLIDING, SLOW, VERTEX, clamped, vertex

#: Rounds in which friction is adapted to load and slip.
ROUNDS = 3


@inlined
def preference(contacts, memory, wanted, p, rules, vertices):
    """Whether a vertex prefers to be clamped (1) or free (0), and the weight; ``wanted`` is its velocity (m/s) if
    clamped.

    Weights fall by a factor N + 1 from rule to rule, so that N violations of one rule weigh less than one of the rule
    above. With the paper's factor N they could tie.
    """
    gap, v = contacts.gap[p], contacts.velocity[p, 2]
    share = 1.0 / (vertices + 1.0)
    arrives = v <= wanted
    was_clamped = memory[p, MODE] != OPEN
    if was_clamped and memory[p, LOAD] < 0.0:
        return 0, 1.0
    if gap < -rules.d and arrives:
        return 1, share
    if gap > rules.d and not arrives:
        return 0, share
    if was_clamped:
        return 1, share * share
    leaves = v > -rules.v_t and contacts.acceleration[p, 2] > rules.a_t
    return 1 if arrives and not leaves else 0, share * share * share


@inlined
def nearest(contacts, memory, desk, b, rules):
    """The state of a foot nearest to the preferences of its vertices; of equals, the one with fewest clamped."""
    begin, n = desk.begin[b], desk.begin[b + 1] - desk.begin[b]
    slides = 0
    whole, single, pair, at_single, at_pair, before, first = 0.0, 0.0, 0.0, 0, 0, 0.0, 0.0
    for j in range(n):
        p = desk.ring[begin + j]
        if memory[p, MODE] == SLIDE:
            slides = SLIDING
        clamp, weight = preference(contacts, memory, desk.place[p, 3], p, rules, n)
        gain = weight if clamp == 1 else -weight  # gain of a state by clamping this vertex
        whole += gain
        if gain > single:
            single, at_single = gain, j
        if j > 0 and before + gain > pair:
            pair, at_pair = before + gain, j - 1
        if j == 0:
            first = gain
        before = gain
    if n > 2 and before + first > pair:
        pair, at_pair = before + first, n - 1
    if single <= 0.0 and pair <= 0.0 and whole <= 0.0:
        return NONE
    if single >= pair and (single >= whole or n < 3):
        return VERTEX | slides | at_single << INDEX
    if pair >= whole or n < 3:
        return EDGE | slides | at_pair << INDEX
    return FACE | slides


@cold(types.int64)
def predict(contacts, dt, memory, desk, rules):
    """Choose the states of all feet, and find their forces. Gives the rank."""
    for b in range(contacts.near.size - 1):
        desk.code[b] = nearest(contacts, memory, desk, b, rules)
    evaluate(contacts, dt, memory, desk, ROUNDS)
    return judge(contacts, dt, memory, desk, rules)


@cold(types.none)
def write_modes(contacts, desk, memory, force, mode):
    """Note for the next step which rules the states broke, and clip forces to what the ground can give."""
    for b in range(contacts.near.size - 1):
        code, fault = desk.code[b], desk.fault[b]
        count = clamped(code, desk.begin[b + 1] - desk.begin[b])
        for j in range(count):
            p = vertex(desk, b, code, j)
            if fault == PULL:
                for k in range(3):
                    force[p, k] = 0.0
                memory[p, LOAD] = -1.0
            elif fault == PRESSURE:
                edge = code & 3 == EDGE
                near = j == desk.worst[b] or (not edge and j == (desk.worst[b] + 1) % count)
                memory[p, LOAD] = force[p, 2] if near else -1.0
            elif fault == FRICTION:
                force[p, 0], force[p, 1], _ = coulomb(
                    force[p, 0], force[p, 1], contacts.dynamic_friction[p] * force[p, 2]
                )
                mode[p] = SLIDE
                memory[p, MODE] = SLIDE
            elif mode[p] == SLIDE:
                v = desk.end[p]
                if v[0] * v[0] + v[1] * v[1] < SLOW * SLOW:
                    memory[p, MODE] = STICK
