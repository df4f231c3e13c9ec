"""The multipliers of one state of all feet, by the lanes of a warp.

Rows without sliding friction are eliminated once, before the rounds that find it.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.selection.loads import AS_THEY_ARE, JAMMED
from footfall.solve.selection.states import SINGULAR, SLIDING
from footfall.solve.together.desk import ACROSS, DOWN, LANES, wait


@inlined
def reduce_rows(lane, desk, rows):
    """Eliminate the rows without sliding friction, which are the same in every round and first in ``order``, to
    ``reduced``. Gives their number, -1 if they are singular.
    """
    fixed = 0
    for r in range(rows):
        fixed += 1 - desk.soft[r]
    for r in range(lane, rows, LANES):
        place = fixed if desk.soft[r] == 1 else 0
        for o in range(r):
            place += 1 if desk.soft[o] == desk.soft[r] else 0
        desk.order[place] = r
        desk.diagonal[place] = desk.matrix[r, r]
        b = desk.owner[r]
        if desk.soft[r] == 0 and desk.code[b] & SLIDING:
            column = r - desk.row[b] - 2
            for o in range(b):
                column += desk.code[o] & 3 if desk.code[o] & SLIDING else 0
            desk.carrying[column] = place
    wait()
    for i in range(lane // ACROSS, rows, DOWN):
        r = desk.order[i]
        for j in range(lane % ACROSS, rows + 1, ACROSS):
            if j == rows:
                value = desk.wanted[r]
            else:
                value = desk.matrix[max(r, desk.order[j]), min(r, desk.order[j])]
            desk.pair[0, i, j] = value
    wait()
    if not eliminate_rows(lane, desk, 0, fixed, rows, SINGULAR, 0):
        return -1
    for i in range(lane // ACROSS, rows, DOWN):
        for j in range(fixed + lane % ACROSS, rows + 1, ACROSS):
            desk.reduced[i, j] = desk.pair[fixed & 1, i, j]
    wait()
    return fixed


@inlined
def solve_rows_together(lane, desk, rows, fixed, loads):
    """The multipliers with the friction in ``system`` and ``rest``, of least norm if not unique. Friction follows the
    ``loads`` multipliers that load sliding feet, unless it would jam.
    """
    solved, with_loads = False, False
    if fixed >= 0:
        for i in range(lane // ACROSS, rows, DOWN):
            r = desk.order[i]
            for j in range(fixed + lane % ACROSS, rows + 1, ACROSS):
                value = desk.reduced[i, j]
                if i >= fixed:
                    if j == rows:
                        value += desk.rest[r]
                    elif desk.owner[r] == desk.owner[desk.order[j]]:
                        value += desk.system[max(r, desk.order[j]), min(r, desk.order[j])]
                desk.pair[0, i, j] = value
        if loads > 0:
            put_braked(lane, desk, rows, fixed, loads)
        for i in range(fixed + lane, rows, LANES):
            r = desk.order[i]
            desk.diagonal[i] = desk.matrix[r, r] + desk.system[r, r]
        wait()
        solved = eliminate_rows(lane, desk, fixed, rows, rows, SINGULAR, loads)
    if solved:
        found = desk.pair[(rows - fixed) & 1]
        with_loads = loads > 0 and find_loads(lane, desk, found, rows, loads)
        last = loads * (loads & 1)
        for i in range(lane, rows, LANES):
            value = found[i, rows]
            if with_loads:
                value += found[i, rows + 1]
                for c in range(loads):
                    value -= found[i, c] * desk.system[last + c, loads]
            desk.multiplier[desk.order[i]] = value
        wait()
    else:
        least_multipliers_together(lane, desk, rows)
    if not with_loads:
        for b in range(lane, desk.code.size, LANES):
            desk.shares[b, 0] = 0.0
        wait()


@inlined
def put_braked(lane, desk, rows, fixed, loads):
    """Put the effect of loads on friction into ``pair[0]``: per multiplier that loads a foot, in the columns of
    eliminated unknowns, and for the present loads, in one more right side.
    """
    for i in range(lane // ACROSS, rows, DOWN):
        r = desk.order[i]
        b = desk.owner[r]
        axis = min(r - desk.row[b], 2)
        for c in range(lane % ACROSS, loads + 1, ACROSS):
            value = 0.0
            if i >= fixed:
                if c == loads:
                    value = desk.braked[b, AS_THEY_ARE + axis]
                else:
                    loading = desk.order[desk.carrying[c]]
                    if desk.owner[loading] == b:
                        value = desk.braked[b, 3 * (loading - desk.row[b] - 2) + axis]
            desk.pair[0, i, c if c < loads else rows + 1] = value


@inlined
def find_loads(lane, desk, found, rows, loads):
    """The multipliers that load sliding feet, from those ``found`` under constant friction and per unit of each: last
    in the rows of ``system`` from ``loads`` times its parity on. False if friction would jam a foot.
    """
    for i in range(lane // ACROSS, loads, DOWN):
        row = found[desk.carrying[i]]
        for j in range(lane % ACROSS, loads + 1, ACROSS):
            if j == loads:
                value = row[rows] + row[rows + 1]
            else:
                value = row[j] + 1.0 if i == j else row[j]
            desk.system[i, j] = value
    wait()
    for k in range(loads):
        old = loads * (k & 1)
        new = loads - old
        pivot = desk.system[old + k, k]
        if not pivot > JAMMED:
            wait()
            return False
        inverse = 1.0 / pivot
        for i in range(lane // ACROSS, loads, DOWN):
            share = desk.system[old + i, k] * inverse
            for j in range(k + 1 + lane % ACROSS, loads + 1, ACROSS):
                head = desk.system[old + k, j]
                desk.system[new + i, j] = head * inverse if i == k else desk.system[old + i, j] - share * head
        wait()
    return True


@inlined
def scale_rows_together(lane, desk, rows):
    """Put the system, scaled to ones on its diagonal, right side last, into ``pair[0]``."""
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
def eliminate_rows(lane, desk, first, last, n, tolerance, more):
    """Eliminate the unknowns ``first`` to ``last`` (exclusive) from the n symmetric equations of ``pair[0]``, right
    side last, by Gauss-Jordan steps without pivoting; the result is in ``pair[(last - first) & 1]``. False if a pivot,
    that of Cholesky, is not above ``tolerance`` times its number in ``diagonal``.

    ``more`` right sides are in the first columns and one after the last.
    """
    pair, right = desk.pair, n + 2 if more > 0 else n + 1
    for k in range(first, last):
        old = (k - first) & 1
        pivot = pair[old, k, k]
        if not pivot > tolerance * desk.diagonal[k]:
            wait()
            return False
        inverse = 1.0 / pivot
        for i in range(lane // ACROSS, n, DOWN):
            share = pair[old, i, k] * inverse
            for o in range(k + 1 - more + lane % ACROSS, right, ACROSS):
                j = o if o > k else o - k - 1 + more
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
    """The multipliers of least norm for a singular system C C^T: C (C^T C)^-2 C^T times the right side."""
    for i in range(lane // ACROSS, rows, DOWN):
        for j in range(lane % ACROSS, i + 1, ACROSS):
            both = desk.soft[i] + desk.soft[j] == 2 and desk.owner[i] == desk.owner[j]
            desk.system[i, j] = desk.matrix[i, j] + (desk.system[i, j] if both else 0.0)
    for i in range(lane, rows, LANES):
        desk.rest[i] = desk.wanted[i] + (desk.rest[i] if desk.soft[i] == 1 else 0.0)
    wait()
    for i in range(lane, rows, LANES):
        d = desk.system[i, i]
        desk.scale[i] = 1.0 / math.sqrt(d) if d > 0.0 else 0.0
    wait()
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
        if eliminate_rows(lane, desk, 0, rank, rank, 0.0, 0):
            for i in range(lane, rank, LANES):
                desk.half[i] = desk.pair[rank & 1, i, rank]
        wait()
    for i in range(lane, rows, LANES):
        value = 0.0
        for k in range(rank):
            value += factor[i, k] * desk.half[k]
        desk.multiplier[i] = desk.scale[i] * value
    wait()
