"""Forces and motions of the states of all feet, and the rules they break, by the lanes of a warp.

The method of :mod:`footfall.solve.selection`: there are the equations and why they are so. A lane has a foot where
feet are looked at one by one; rows of constraints are shared by all lanes.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.selection.rules import GOOD, NO_PULL, judge_clamped, judge_free, slides
from footfall.solve.selection.sliding import (
    AGREEMENT,
    NEWTON,
    adapt_sliding,
    balance,
    begin_sliding,
    extrapolate,
    soften,
)
from footfall.solve.selection.states import (
    EDGE,
    NONE,
    SINGULAR,
    SLIDING,
    clamped,
    level,
    put_joint,
    read_joint,
)
from footfall.solve.together.desk import ACROSS, DOWN, LANES, wait


@inlined
def rows_of(code, vertices):
    """How many constraints a state of a foot has, see ``put_joint``."""
    count = clamped(code, vertices)
    if count < 2:
        return 3 * count
    return 5 if code & 3 == EDGE else 6


@inlined
def assemble_together(lane, contacts, dt, desk):
    """The matrix of the states in ``desk.code``, as ``assemble``. Gives the number of rows."""
    feet = contacts.near.size - 1
    for b in range(lane, feet, LANES):
        row = 0
        for o in range(b):
            row += rows_of(desk.code[o], desk.begin[o + 1] - desk.begin[o])
        last = put_joint(contacts, desk, b, desk.code[b], row)
        for k in range(row, last):
            desk.owner[k] = b
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
def copy_rows_together(lane, desk, rows):
    """The rows as they are without sliding friction."""
    for i in range(lane // ACROSS, rows, DOWN):
        for j in range(lane % ACROSS, i + 1, ACROSS):
            desk.system[i, j] = desk.matrix[i, j]
    for i in range(lane, rows, LANES):
        desk.rest[i] = desk.wanted[i]
    wait()


@inlined
def solve_rows_together(lane, desk, rows):
    """Multipliers for ``desk.system`` and ``desk.rest``, the least where they are not unique; destroys the system."""
    for i in range(lane, rows, LANES):
        d = desk.system[i, i]
        desk.scale[i] = 1.0 / math.sqrt(d) if d > 0.0 else 0.0
    wait()
    scale_rows_together(lane, desk, rows)
    if eliminate_rows(lane, desk, rows, SINGULAR):
        for i in range(lane, rows, LANES):
            desk.multiplier[i] = desk.scale[i] * desk.pair[rows & 1, i, rows]
        wait()
    else:
        least_multipliers_together(lane, desk, rows)


@inlined
def scale_rows_together(lane, desk, rows):
    """The system with ones on its diagonal, its right side last, to ``pair[0]``."""
    for i in range(lane // ACROSS, rows, DOWN):
        own = desk.scale[i]
        for j in range(lane % ACROSS, rows + 1, ACROSS):
            if j == rows:
                value = own * desk.rest[i]
            elif j == i:
                value = 1.0
            else:
                value = own * desk.scale[j] * (desk.system[i, j] if j < i else desk.system[j, i])
            desk.pair[0, i, j] = value
    wait()


@inlined
def eliminate_rows(lane, desk, n, floor):
    """Solve the n equations of ``pair[0]``, symmetric, the right side last, by elimination of Gauss and Jordan without
    pivots: x is the last column of ``pair[n & 1]``. False where a pivot, which is that of Cholesky, is not above
    ``floor``.
    """
    pair = desk.pair
    for k in range(n):
        old = k & 1
        pivot = pair[old, k, k]
        if not pivot > floor:
            wait()
            return False
        inverse = 1.0 / pivot
        for i in range(lane // ACROSS, n, DOWN):
            share = pair[old, i, k] * inverse
            for j in range(k + 1 + lane % ACROSS, n + 1, ACROSS):
                head = pair[old, k, j]
                pair[1 - old, i, j] = head * inverse if i == k else pair[old, i, j] - share * head
        wait()
    return True


@inlined
def pivoted_rows(lane, desk, n, tolerance):
    """Columns C with ``pair[0] = C C^T``, to ``system``, as ``pivoted_cholesky`` of :mod:`footfall.solve.dense`;
    destroys ``pair[0]``. Gives the rank.
    """
    a, factor = desk.pair[0], desk.system
    for column in range(n):
        best, pivot = -1, tolerance
        for i in range(n):
            if a[i, i] > pivot:
                best, pivot = i, a[i, i]
        if best < 0:
            return column
        scale = 1.0 / math.sqrt(pivot)
        for i in range(lane, n, LANES):
            factor[i, column] = a[i, best] * scale
        wait()
        for i in range(lane // ACROSS, n, DOWN):
            for j in range(lane % ACROSS, n, ACROSS):
                change = factor[i, column] * factor[j, column]
                # What cancels to rounding must not come back as a pivot.
                a[i, j] = 0.0 if i == best or j == best else a[i, j] - change
        wait()
    return n


@inlined
def least_multipliers_together(lane, desk, rows):
    """The least multipliers for a singular system C C^T: C (C^T C)^-2 C^T times the right side."""
    scale_rows_together(lane, desk, rows)
    rank, factor = pivoted_rows(lane, desk, rows, SINGULAR), desk.system
    for i in range(lane, rank, LANES):
        value = 0.0
        for k in range(rows):
            value += factor[k, i] * desk.scale[k] * desk.rest[k]
        desk.half[i] = value
    wait()
    for _ in range(2):
        for i in range(lane // ACROSS, rank, DOWN):
            for j in range(lane % ACROSS, rank + 1, ACROSS):
                value = desk.half[i] if j == rank else 0.0
                if j < rank:
                    for k in range(rows):
                        value += factor[k, i] * factor[k, j]
                desk.pair[0, i, j] = value
        wait()
        if eliminate_rows(lane, desk, rank, 0.0):
            for i in range(lane, rank, LANES):
                desk.half[i] = desk.pair[rank & 1, i, rank]
        wait()
    for i in range(lane, rows, LANES):
        value = 0.0
        for k in range(rank):
            value += factor[i, k] * desk.half[k]
        desk.multiplier[i] = desk.scale[i] * value
    wait()


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
def evaluate_together(lane, contacts, dt, memory, desk, rounds):
    """Forces and motions of the states in ``desk.code``: whether sliding friction was found in so many rounds, and how
    many it took.
    """
    rows = assemble_together(lane, contacts, dt, desk)
    feet, sliding = contacts.near.size - 1, slides(contacts, desk)
    if sliding:
        for b in range(lane, feet, LANES):
            if desk.code[b] & SLIDING:
                begin_sliding(contacts, memory, desk, b)
    for turn in range(rounds):
        copy_rows_together(lane, desk, rows)
        if sliding:
            for b in range(lane, feet, LANES):
                if desk.code[b] & SLIDING:
                    soften(contacts, desk, b)
            wait()
        solve_rows_together(lane, desk, rows)
        move_feet_together(lane, contacts, desk, rows)
        for b in range(lane, feet, LANES):
            read_joint(desk, b)
            desk.missed[b], desk.whole[b] = 0.0, 0.0
            if desk.code[b] & SLIDING:
                level(desk, b)
                desk.missed[b], desk.whole[b] = adapt_sliding(contacts, desk, b, turn < NEWTON)
        wait()
        missed, whole = 0.0, 0.0
        for b in range(feet):
            missed, whole = missed + desk.missed[b], whole + desk.whole[b]
        agreed = missed <= AGREEMENT * whole
        for b in range(lane, feet, LANES):
            if desk.code[b] & SLIDING:
                if agreed:
                    balance(contacts, desk, b)
                else:
                    extrapolate(desk, b, turn % 3, turn < NEWTON)
        wait()
        if agreed or not sliding:
            return True, turn + 1
    return False, rounds


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
