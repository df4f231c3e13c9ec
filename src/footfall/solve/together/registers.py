"""Elimination by the lanes of a warp that each keep a row of the equations in registers, and tell each other theirs.

In the memory that lanes share, most instructions of an elimination compute where a number lies. Here no number has a
place: what is eliminated is always in the first register, and all others move up by one. So the code is written out for
as many unknowns as there may be. Lanes beyond the rows do what lanes before them do, so that all go the same way.
Numba's simulator does not know how lanes tell each other numbers: there, the elimination of :mod:`.algebra` and of
:mod:`.rows` stay.
"""

from __future__ import annotations

from typing import Any

from footfall.compiled import generated
from footfall.solve.together.desk import LANES


def fits(size: int) -> bool:
    """Whether there is a lane for each of so many rows."""
    return size <= LANES


def spread_over(size: int) -> int:
    """Lanes that have different rows: the least power of two that is enough."""
    return 1 << (size - 1).bit_length()


def eliminator(cuda: Any, size: int) -> Any:
    """Stands for :func:`footfall.solve.together.algebra.eliminate_together` with up to so many unknowns."""
    width = spread_over(size)
    names = [f"a{j}" for j in range(size)]
    told = "".join(
        f"        other = cuda.shfl_xor_sync(-1, largest, {width >> k})\n        largest = max(largest, other)\n"
        for k in range(1, width.bit_length())
    )
    source = f"""
def eliminate_in_registers(lane, n, tolerance, desk):
    own = lane % {width}
    row = desk.system[0, max(min(own, n - 1), 0)]
    {", ".join(names)} = {", ".join(f"row[{j}]" for j in range(size))}
    right, floor = row[n], 0.0
    if tolerance > 0.0:
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(row[j]))
{told}        floor = tolerance * largest
    free, place, scale = own < n, 0, 0.0
    for k in range(n):
        mine = abs(a0)
        if not (free and mine >= 0.0):
            mine = -1.0
        largest = mine
{told}        if not largest > floor:
            return False
        best = cuda.ffs(cuda.ballot_sync(-1, mine == largest)) - 1
        inverse = 1.0 / cuda.shfl_sync(-1, a0, best)
        share = a0 * inverse
        if own == best:
            free, place, scale, share = False, k, inverse, 0.0
{"".join(_moved_up(f"a{j - 1}", f"a{j}") for j in range(1, size))}{_moved_up("right", "right")}
    if lane < n:
        desk.moved[place] = right * scale
    cuda.syncwarp()
    return True
"""
    return generated(source, "eliminate_in_registers", {"cuda": cuda}, _HOME)


def rows_eliminator(cuda: Any, size: int) -> Any:
    """Stands for :func:`footfall.solve.together.rows.eliminate_rows` with up to so many rows."""
    count = size + 2
    source = f"""
def eliminate_rows_in_registers(lane, desk, first, last, n, tolerance, more):
    own, steps = lane % {spread_over(size)}, last - first
    end = n + 2 if more > 0 else n + 1
    wrap, left = end - first, end - first + more
    row = desk.pair[0, max(min(own, n - 1), 0)]
    {", ".join(f"a{j}" for j in range(count))} = {", ".join(["0.0"] * count)}
{"".join(_read(j) for j in range(count))}
    for k in range(first, last):
        pivot = cuda.shfl_sync(-1, a0, k)
        if not pivot > tolerance * desk.diagonal[k]:
            cuda.syncwarp()
            return False
        inverse = 1.0 / pivot
        scale, share = 1.0, a0 * inverse
        if own == k:
            scale, share = inverse, 0.0
{"".join(_scaled(j) for j in range(1, count))}
    if lane < n:
        row = desk.pair[steps & 1, lane]
        wrap, left = wrap - steps, left - steps
        first = last
{"".join(_written(j) for j in range(count))}
    cuda.syncwarp()
    return True
"""
    return generated(source, "eliminate_rows_in_registers", {"cuda": cuda}, _HOME)


def _read(j: int) -> str:
    """Lines that read a number of a row: those from the first unknown on, then the other right sides."""
    return f"    if {j} < left:\n        a{j} = row[first + {j} if {j} < wrap else {j} - wrap]\n"


def _written(j: int) -> str:
    """The same to where it belongs."""
    return f"        if {j} < left:\n            row[first + {j} if {j} < wrap else {j} - wrap] = a{j}\n"


def _scaled(j: int) -> str:
    """As :func:`_moved_up`, and the row that is eliminated is divided by its pivot."""
    return f"        a{j - 1} = scale * a{j} - share * cuda.shfl_sync(-1, a{j}, k)\n"


def _moved_up(target: str, own: str) -> str:
    """A line in which a number of all rows gets rid of its share of the row that is eliminated."""
    return f"        {target} = {own} - share * cuda.shfl_sync(-1, {own}, best)\n"


#: The function that the disk cache files these beside.
_HOME: Any = spread_over
