"""How the lanes of a GPU's warp share the loops of a kernel; on a CPU one lane does it all.

A loop whose rounds do not depend on each other is written ``for i in range(lane(), n, lanes())``. What one lane writes
others may read after :func:`wait`; sums and maxima over such a loop are those of all lanes after :func:`total` and
:func:`greatest`. Lanes that list what they find take places by :func:`take`, in any order. On a GPU :func:`warp` or
:func:`block` replaces these functions where a warp or a block runs the kernel.
"""

from __future__ import annotations

from typing import Any

from footfall.compiled import inlined
from footfall.kinds import Float, Int, Ints


@inlined
def lane() -> Int:
    """The number of this lane."""
    return 0


@inlined
def lanes() -> Int:
    """How many lanes share the work."""
    return 1


@inlined
def wait() -> None:
    """Wait until all lanes are here."""
    return


@inlined
def total(value: Float) -> Float:
    """The sum of a number over all lanes."""
    return value


@inlined
def greatest(value: Float) -> Float:
    """The largest of a number over all lanes."""
    return value


@inlined
def take(counter: Ints, i: Int) -> Int:
    """The number ``i`` of a counter that lanes share, which is one more then."""
    counter[i] += 1
    return counter[i] - 1


#: Lanes of a warp.
WARP = 32


def warp(cuda: Any) -> dict[Any, Any]:
    """What replaces these functions in a block of one warp."""

    def own_lane():
        return cuda.threadIdx.x

    def all_lanes():
        return WARP

    def wait_for_all():
        cuda.syncwarp()

    def total_of_all(value):
        for distance in (16, 8, 4, 2, 1):
            value += cuda.shfl_xor_sync(-1, value, distance)
        return value

    def greatest_of_all(value):
        for distance in (16, 8, 4, 2, 1):
            value = max(value, cuda.shfl_xor_sync(-1, value, distance))
        return value

    return {lane: own_lane, lanes: all_lanes, wait: wait_for_all, total: total_of_all, greatest: greatest_of_all}


def block(cuda: Any) -> dict[Any, Any]:
    """What replaces these functions in a block of several warps."""

    def own_lane():
        return cuda.threadIdx.x

    def all_lanes():
        return cuda.blockDim.x

    def wait_for_all():
        cuda.syncthreads()

    def take_one(counter, i):
        return cuda.atomic.add(counter, i, 1)

    return {lane: own_lane, lanes: all_lanes, wait: wait_for_all, take: take_one}
