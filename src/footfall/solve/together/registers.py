"""Elimination by the lanes of a warp with the equations in registers: a row in each lane, exchanged by shuffles.

In shared memory, most instructions of an elimination compute addresses. Here there are none: the unknown to be
eliminated is always in the first register, and all others move up by one. So the code is generated for the largest
number of unknowns. If half the lanes are enough for all rows, two lanes share a row: one *side* has the even unknowns,
the other the odd ones, and one of each is eliminated before they move up. Lanes without a row repeat the work of
others, so that none diverges. Numba's simulator has no shuffles; it uses the elimination of :mod:`.algebra` and of
:mod:`.rows`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.compiled import generated
from footfall.solve.together.desk import LANES


def fits(size: int) -> bool:
    """Whether there is a lane for each of this many rows."""
    return size <= LANES


def spread_over(size: int) -> int:
    """The number of lanes with different rows: the least power of two that suffices."""
    return 1 << (size - 1).bit_length()


def sides_of(size: int) -> int:
    """The number of lanes that share a row."""
    return 2 if 2 * spread_over(size) <= LANES else 1


def eliminator(cuda: Any, size: int) -> Any:
    """Replaces :func:`footfall.solve.together.algebra.eliminate_together` with up to so many unknowns, an
    even number. Of pivots whose first twenty binary digits are the same, the first is taken.
    """
    width, sides = spread_over(size), sides_of(size)
    kept = size // sides
    read = "".join(f"    a{j} = row[{sides * j} + side]\n" for j in range(kept))
    greatest = "".join(
        f"        other = cuda.shfl_xor_sync(-1, largest, {width >> k})\n        largest = max(largest, other)\n"
        for k in range(1, width.bit_length())
    )
    pivots = "".join(
        f"""
        mine = cuda.shfl_sync(-1, a0, own + {width * side})
        high = high_word(abs(mine))
        if not free:
            high = NONE
        most = high
{greatest.replace("largest", "most").replace("other", "more")}
        best = cuda.ffs(cuda.ballot_sync(-1, high == most)) - 1
        pivot = cuda.shfl_sync(-1, mine, best)
        if not abs(pivot) > floor:
            return False
        inverse = 1.0 / pivot
        share = mine * inverse
        if own == best:
            free, place, scale, share = False, k + {side}, inverse, 0.0
        teller = best + beside
{_without_share("{own} - share * {told}", kept, moves_up=side == sides - 1)}
        right = right - share * cuda.shfl_sync(-1, right, teller)
"""
        for side in range(sides)
    )
    source = f"""
def eliminate_in_registers(lane, n, tolerance, desk):
    own, side = lane % {width}, lane // {width} % {sides}
    row, beside = desk.system[0, max(min(own, n - 1), 0)], {width} * side
{read}
    right, floor = row[n], 0.0
    if tolerance > 0.0:
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(row[j]))
{greatest}
        floor = tolerance * largest
    free, place, scale = own < n, 0, 0.0
    for k in range(0, n, {sides}):
{pivots}
    if lane < n:
        desk.moved[place] = right * scale
    cuda.syncwarp()
    return True
"""
    known = {"cuda": cuda, "high_word": cuda.libdevice.double2hiint, "NONE": np.int32(-1)}
    return generated(source, "eliminate_in_registers", known, _HOME)


def rows_eliminator(cuda: Any, size: int) -> Any:
    """Replaces :func:`footfall.solve.together.rows.eliminate_rows` with up to so many rows."""
    width, sides = spread_over(size), sides_of(size)
    kept = -(-(size + 2) // sides)
    change = "scale * {own} - share * {told}"
    turns = _indented(_without_share(change, kept, moves_up=True))
    if sides > 1:
        stays = _indented(_without_share(change, kept, moves_up=False))
        turns = f"        if turn == 0:\n{stays}        else:\n{turns}"
    else:
        turns = f"        if True:\n{turns}"
    source = f"""
def eliminate_rows_in_registers(lane, desk, first, last, n, tolerance, more):
    own, side, steps = lane % {width}, lane // {width} % {sides}, last - first
    beside = {width} * side
    end = n + 2 if more > 0 else n + 1
    wrap, left = end - first, end - first + more
    row = desk.pair[0, max(min(own, n - 1), 0)]
    {", ".join(f"a{j}" for j in range(kept))} = {", ".join(["0.0"] * kept)}
{"".join(_read(j, sides) for j in range(kept))}
    turn = 0
    for k in range(first, last):
        mine = cuda.shfl_sync(-1, a0, own + {width} * turn)
        pivot = cuda.shfl_sync(-1, mine, k)
        if not pivot > tolerance * desk.diagonal[k]:
            cuda.syncwarp()
            return False
        inverse = 1.0 / pivot
        scale, share = 1.0, mine * inverse
        if own == k:
            scale, share = inverse, 0.0
        teller = k + beside
{turns}
        turn = {sides - 1} - turn
    if own < n:
        row = desk.pair[steps & 1, own]
        wrap, left = wrap - steps, left - steps
        side -= turn
{"".join(_written(j, sides) for j in range(kept))}
    cuda.syncwarp()
    return True
"""
    return generated(source, "eliminate_rows_in_registers", {"cuda": cuda}, _HOME)


def _read(j: int, sides: int) -> str:
    """Source lines that read a number of a row: unknowns from the first on, then the other right sides."""
    return f"""
    at = {sides * j} + side
    if at < left:
        a{j} = row[first + at if at < wrap else at - wrap]
"""


def _written(j: int, sides: int) -> str:
    """Source lines that write a number back; what was eliminated since the last move has no place."""
    return f"""
        at = {sides * j} + side
        if 0 <= at < left:
            row[last + at if at < wrap else at - wrap] = a{j}
"""


def _without_share(change: str, kept: int, *, moves_up: bool) -> str:
    """Source lines that subtract the pivot row's share from all rows, and move the numbers up."""
    up, lines = int(moves_up), ""
    for j in range(up, kept):
        lines += f"        a{j - up} = {change.format(own=f'a{j}', told=f'cuda.shfl_sync(-1, a{j}, teller)')}\n"
    return lines


def _indented(lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines.splitlines())


#: The function that the disk cache files these beside.
_HOME: Any = spread_over
