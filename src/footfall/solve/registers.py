"""Gaussian elimination by the lanes of a warp, each with a row of the matrix in its registers, exchanged by shuffles.

In shared memory most instructions of an elimination compute addresses, and each waits for the one before. Here the
next unknown to eliminate is always in the first register, and all others move up by one. There are registers for as
many columns as a warp has lanes; the first unknowns of a larger matrix are eliminated in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.compiled import generated, inlined
from footfall.compiled.lanes import WARP, greatest, lane, lanes, total, wait
from footfall.kinds import Bool, Int, Matrix, Vector

#: Rows and columns of the block of a matrix in memory that the lanes of a warp work on together.
DOWN, ACROSS = 4, 8
#: Columns per branch: shifts of registers are skipped in groups of this size once their unknowns are eliminated.
PART = 4


@inlined
def eliminate_in_memory(a: Matrix, n: Int, k: Int, x: Vector) -> Bool:
    """Eliminate unknown k from all equations after the k-th; False if its column is zero."""
    down, across = lane() // ACROSS, lane() % ACROSS
    best, pivot = n, -1.0
    for i in range(k + lane(), n, lanes()):
        if abs(a[i, k]) > pivot:
            best, pivot = i, abs(a[i, k])
    most = greatest(pivot)
    if not most > 0.0:
        return False
    best = n - int(greatest(float(n - best) if pivot == most else 0.0))  # the first of equals
    if best != k and down == 0:
        for j in range(k + across, n, ACROSS):
            a[k, j], a[best, j] = a[best, j], a[k, j]
        if across == 0:
            x[k], x[best] = x[best], x[k]
    wait()
    inverse = 1.0 / a[k, k]
    for i in range(k + 1 + down, n, DOWN):
        share = a[i, k] * inverse
        for j in range(k + 1 + across, n, ACROSS):
            a[i, j] -= share * a[k, j]
        if across == 0:
            x[i] -= share * x[k]
    wait()
    return True


@inlined
def insert_unknown(a: Matrix, n: Int, i: Int, x: Vector) -> None:
    """Back substitution: solve equation i for its unknown, with those after it known."""
    value = 0.0
    for j in range(i + 1 + lane(), n, lanes()):
        value += a[i, j] * x[j]
    value = (x[i] - total(value)) / a[i, i]
    wait()
    if lane() == 0:
        x[i] = value
    wait()


def eliminator(cuda: Any) -> Any:
    """The replacement of :func:`footfall.solve.dense.eliminate` in a warp. Pivots whose first twenty binary digits
    agree count as equal, and the first is taken; ``tolerance`` is ignored.
    """
    columns = range(WARP)
    read = "".join(f"    a{j} = row[first + {j}] if {j} < rows else 0.0\n" for j in columns)
    moves = ""
    for j in columns[1:]:
        if j % PART == 1:
            moves += f"        if left > {j}:\n"
        moves += f"            a{j - 1} = a{j} - share * cuda.shfl_sync(-1, a{j}, best)\n"
    source = f"""
def eliminate_in_registers(a, n, tolerance, x):
    own, first, k = lane(), max(0, n - {WARP}), 0
    while k < first:
        if not eliminate_in_memory(a, n, k, x):
            return False
        k += 1
    rows = n - first
    mine = first + max(min(own, rows - 1), 0)
    row, right = a[mine], x[mine]
{read}
    free, place, scale, left = own < rows, 0, 0.0, rows
    while left > 0:
        high = high_word(abs(a0))
        if not free:
            high = NONE
        most = high
        most = max(most, cuda.shfl_xor_sync(-1, most, 16))
        most = max(most, cuda.shfl_xor_sync(-1, most, 8))
        most = max(most, cuda.shfl_xor_sync(-1, most, 4))
        most = max(most, cuda.shfl_xor_sync(-1, most, 2))
        most = max(most, cuda.shfl_xor_sync(-1, most, 1))
        best = cuda.ffs(cuda.ballot_sync(-1, high == most)) - 1
        pivot = cuda.shfl_sync(-1, a0, best)
        if not abs(pivot) > 0.0:
            return False
        inverse = 1.0 / pivot
        share = a0 * inverse
        if own == best:
            free, place, scale, share = False, rows - left, inverse, 0.0
        right = right - share * cuda.shfl_sync(-1, right, best)
{moves}
        left -= 1
    wait()
    if own < rows:
        x[first + place] = right * scale
    wait()
    while first > 0:
        first -= 1
        insert_unknown(a, n, first, x)
    return True
"""
    known = {
        "cuda": cuda,
        "high_word": cuda.libdevice.double2hiint,
        "NONE": np.int32(-1),
        "lane": lane,
        "wait": wait,
        "eliminate_in_memory": eliminate_in_memory,
        "insert_unknown": insert_unknown,
    }
    return generated(source, "eliminate_in_registers", known, eliminator)  # type: ignore[arg-type]
