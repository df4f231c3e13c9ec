"""Forces and motions of the states of all feet, and the rules they break, by the lanes of a warp.

The method is that of :mod:`footfall.solve.selection`, where the equations are derived. Feet and vertices are handled
one per lane; all lanes share the rows of constraints. Rounds that find sliding friction change at most three rows of a
foot; all others are eliminated once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from footfall.compiled import inlined
from footfall.solve.selection.rules import GOOD, NO_PULL, judge_clamped, judge_free, slides
from footfall.solve.selection.sliding import (
    AGREEMENT,
    NEWTON,
    STOPPING,
    TANGENT,
    adapt_vertex,
    balance,
    begin_sliding,
    extrapolate_vertex,
    put_friction,
    soften,
)
from footfall.solve.selection.states import (
    EDGE,
    NONE,
    SLIDING,
    STILL,
    clamped,
    level,
    load_vertices,
    put_joint,
    read_joint,
    vertex,
)
from footfall.solve.together.desk import ACROSS, DOWN, LANES, wait
from footfall.solve.together.rows import reduce_rows, solve_rows_together


class Rounds(NamedTuple):
    """The rounds that find the sliding friction of a state."""

    begin: int  # more than zero if it goes on from an earlier turn
    end: int
    most: int  # in this turn
    known: bool  # whether loads and slip to begin with are there


@inlined
def rows_of(code, vertices):
    """The number of constraints of a foot's state, see ``put_joint``."""
    count = clamped(code, vertices)
    if count < 2:
        return 3 * count
    return 5 if code & 3 == EDGE else 6


@inlined
def assemble_together(lane, contacts, dt, desk):
    """The matrix of the states in ``desk.code``, as ``assemble``, and which rows have sliding friction in them. Gives
    the number of rows.
    """
    feet = contacts.near.size - 1
    for b in range(lane, feet, LANES):
        row, code = 0, desk.code[b]
        for o in range(b):
            row += rows_of(desk.code[o], desk.begin[o + 1] - desk.begin[o])
        last = put_joint(contacts, desk, b, code, row)
        for k in range(row, last):
            sliding = code & SLIDING and (k < row + 2 or (k == last - 1 and last > row + 3))
            desk.owner[k], desk.soft[k] = b, 1 if sliding else 0
        desk.row[b] = row
        if b == feet - 1:
            desk.row[feet] = last
    wait()
    rows = desk.row[feet]
    for k in range(lane // ACROSS, rows, DOWN):
        first = 6 * desk.owner[k]
        for c in range(lane % ACROSS, 6 * feet, ACROSS):
            value = 0.0
            for j in range(6):
                value += desk.mobility[c, first + j] * desk.basis[k, j]
            desk.mapped[k, c] = dt * value
    wait()
    for k in range(lane // ACROSS, rows, DOWN):
        for m in range(lane % ACROSS, k + 1, ACROSS):
            first = 6 * desk.owner[m]
            value = 0.0
            for c in range(6):
                value += desk.mapped[k, first + c] * desk.basis[m, c]
            desk.matrix[k, m] = value
    wait()
    return rows


@inlined
def move_feet_together(lane, contacts, desk, rows):
    """Motions of all feet at the end of the step, and velocities of the vertices of their outlines."""
    feet = contacts.near.size - 1
    for t in range(lane, 6 * feet, LANES):
        value = 0.0
        for k in range(rows):
            value += desk.multiplier[k] * desk.mapped[k, t]
        desk.half[t] = value
    wait()
    for b in range(lane // ACROSS, feet, DOWN):
        if desk.begin[b + 1] > desk.begin[b]:
            frame = desk.frame[desk.ring[desk.begin[b]]]
            for k in range(lane % ACROSS, 6, ACROSS):
                axis = k if k < 3 else k - 3
                first = 6 * b + k - axis
                x, y, z = desk.half[first], desk.half[first + 1], desk.half[first + 2]
                desk.moved[b, k] = desk.motion[b, k] + frame[axis, 0] * x + frame[axis, 1] * y + frame[axis, 2] * z
    wait()
    for b in range(lane // ACROSS, feet, DOWN):
        moved = desk.moved[b]
        for j in range(desk.begin[b] + lane % ACROSS, desk.begin[b + 1], ACROSS):
            at, v = desk.place[desk.ring[j]], desk.end[desk.ring[j]]
            v[0] = moved[0] + moved[4] * at[2] - moved[5] * at[1]
            v[1] = moved[1] + moved[5] * at[0] - moved[3] * at[2]
            v[2] = moved[2] + moved[3] * at[1] - moved[4] * at[0]
    wait()


@inlined
def put_dampers(lane, contacts, desk):
    """Put the dampers of all sliding vertices into ``dampers``, where :func:`kept_damper` reads them."""
    for b in range(lane // ACROSS, contacts.near.size - 1, DOWN):
        if desk.code[b] & SLIDING:
            for j in range(lane % ACROSS, clamped(desk.code[b], desk.begin[b + 1] - desk.begin[b]), ACROSS):
                p = vertex(desk, b, desk.code[b], j)
                speed = max(desk.push[p, 3], STILL)
                desk.dampers[p, 0] = contacts.dynamic_friction[p] * desk.push[p, 2] / speed
                desk.dampers[p, 1] = desk.push[p, 4] / speed
                desk.dampers[p, 2] = desk.push[p, 5] / speed
    wait()


@inlined
def kept_damper(contacts, desk, p):
    """Replaces :func:`footfall.solve.selection.sliding.damper`, whose divisions are the slowest part of a round."""
    return desk.dampers[p, 0], desk.end[p, 5], desk.dampers[p, 1], desk.dampers[p, 2]


@inlined
def soften_together(lane, contacts, desk):
    """Put sliding friction alone into ``system`` and ``rest``."""
    put_dampers(lane, contacts, desk)
    for b in range(lane, contacts.near.size - 1, LANES):
        if desk.code[b] & SLIDING:
            row, last = desk.row[b], desk.row[b + 1] - 1
            desk.system[row, row], desk.system[row + 1, row], desk.system[row + 1, row + 1] = 0.0, 0.0, 0.0
            desk.system[last, row], desk.system[last, row + 1], desk.system[last, last] = 0.0, 0.0, 0.0
            desk.rest[row], desk.rest[row + 1], desk.rest[last] = 0.0, 0.0, 0.0
            soften(contacts, desk, b)
    wait()


@inlined
def adapt_together(lane, contacts, desk, newton):
    """Update loads and slip velocities of sliding feet to those of the solution. Gives the friction missed and the
    friction there should be, N.
    """
    feet, missed, whole = contacts.near.size - 1, 0.0, 0.0
    for b in range(lane, feet, LANES):
        read_joint(desk, b)
        if desk.code[b] & SLIDING:
            level(desk, b)
    wait()
    for b in range(lane // ACROSS, feet, DOWN):
        if desk.code[b] & SLIDING:
            for j in range(lane % ACROSS, clamped(desk.code[b], desk.begin[b + 1] - desk.begin[b]), ACROSS):
                put_friction(contacts, desk, b, vertex(desk, b, desk.code[b], j), newton)
    wait()
    for b in range(lane, feet, LANES):
        if desk.code[b] & SLIDING:
            load_vertices(desk, b)
    wait()
    for b in range(lane // ACROSS, feet, DOWN):
        if desk.code[b] & SLIDING:
            for j in range(lane % ACROSS, clamped(desk.code[b], desk.begin[b + 1] - desk.begin[b]), ACROSS):
                p = vertex(desk, b, desk.code[b], j)
                desk.missed[p], desk.whole[p] = adapt_vertex(contacts, desk, p, newton)
    wait()
    for b in range(feet):
        if desk.code[b] & SLIDING:
            for j in range(clamped(desk.code[b], desk.begin[b + 1] - desk.begin[b])):
                p = vertex(desk, b, desk.code[b], j)
                missed, whole = missed + desk.missed[p], whole + desk.whole[p]
    return missed, whole


@inlined
def begin_with(problem, force, desk, b):
    """Loads and slip velocities of a sliding foot from a solution on the exact cone, whose velocities are in
    ``problem.end``; replaces ``begin_sliding``.
    """
    code = desk.code[b]
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b]) if code & SLIDING else 0):
        p = vertex(desk, b, code, j)
        f, u, v = desk.push[p], problem.end[p, 0], problem.end[p, 1]
        speed = math.sqrt(u * u + v * v)
        f[2], f[3], f[4], f[5] = max(0.0, force[p, 2]), max(speed, STILL), u, v
        desk.end[p, 5] = TANGENT if speed > STILL else STOPPING


@inlined
def evaluate_together(lane, contacts, dt, memory, desk, own, rounds):
    """Forces and motions of the states in ``desk.code``. Gives whether sliding friction was found in these rounds, how
    many it took, and whether it continues in the next turn, from loads and slip in ``own``, because the limit of this
    one is reached.
    """
    begin, end, most = rounds.begin, rounds.end, rounds.most
    rows = assemble_together(lane, contacts, dt, desk)
    feet, sliding, loads = contacts.near.size - 1, slides(contacts, desk), 0
    for b in range(feet):
        loads += desk.code[b] & 3 if desk.code[b] & SLIDING else 0
    fixed = reduce_rows(lane, desk, rows)
    if begin == 0:
        for b in range(lane, 0 if rounds.known else feet, LANES):
            if desk.code[b] & SLIDING:
                begin_sliding(contacts, memory, desk, b)
    else:
        copy_points(lane, desk.push, own.push)
        copy_points(lane, desk.end, own.end)
    wait()
    for turn in range(begin, end):
        if sliding:
            soften_together(lane, contacts, desk)
        solve_rows_together(lane, desk, rows, fixed, loads if turn < NEWTON else 0)
        move_feet_together(lane, contacts, desk, rows)
        missed, whole = adapt_together(lane, contacts, desk, turn < NEWTON)
        if missed <= AGREEMENT * whole:
            if sliding:
                put_dampers(lane, contacts, desk)
                for b in range(lane, feet, LANES):
                    if desk.code[b] & SLIDING:
                        balance(contacts, desk, b)
                wait()
            return True, turn + 1 - begin, False
        for b in range(lane // ACROSS, feet if turn >= NEWTON else 0, DOWN):
            if desk.code[b] & SLIDING:
                for j in range(lane % ACROSS, clamped(desk.code[b], desk.begin[b + 1] - desk.begin[b]), ACROSS):
                    extrapolate_vertex(desk, vertex(desk, b, desk.code[b], j), (turn - NEWTON) % 3)
        wait()
        if turn + 1 - begin == most and turn + 1 < end:
            copy_points(lane, own.push, desk.push)
            copy_points(lane, own.end, desk.end)
            return False, most, True
    return False, end - begin, False


@inlined
def copy_points(lane, target, source):
    """Copy six numbers of each point."""
    for p in range(lane // ACROSS, source.shape[0], DOWN):
        for k in range(lane % ACROSS, 6, ACROSS):
            target[p, k] = source[p, k]


@inlined
def judge_together(lane, contacts, dt, memory, desk, rules):
    """Rank of the states in ``desk.code``, as ``judge``."""
    feet, rank, largest = contacts.near.size - 1, 0, 0.0
    for b in range(feet):
        largest = max(largest, abs(desk.pressure[b, 0]), abs(desk.pressure[b, 3]), abs(desk.pressure[b, 4]))
    for b in range(lane, feet, LANES):
        desk.fault[b], desk.worst[b] = GOOD, 0
        own = 0
        if desk.begin[b + 1] > desk.begin[b]:
            own = judge_free(contacts, dt, desk, b, rules)
            if desk.code[b] & 3 != NONE:
                own += judge_clamped(contacts, memory, desk, b, rules, NO_PULL * largest)
        desk.rank[b] = own
    wait()
    for b in range(feet):
        rank += desk.rank[b]
    return rank
