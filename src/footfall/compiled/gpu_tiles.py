"""The arrays of many worlds in one array, at addresses that a GPU's compiler knows.

The worlds of a warp make a tile: number k of world w is ``pool[w // 32, k, w % 32]``. So neighbouring lanes read
neighbouring numbers, a tile is compact, and every number of a world is at a constant distance from its first. With an
array per quantity, half of all instructions would compute addresses. What a warp or a block shares is a tile of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from footfall.compiled.gpu import is_simulated

#: Worlds of a tile: a warp.
TILE = 32


@cache
def numbers_of(count: int, tile: int) -> Any:
    """A device function ``(pool, w) -> (count,)``: all numbers of world w, in tiles of a power of two worlds."""
    if is_simulated():
        return lambda pool, w: pool[w // tile, :, w % tile]

    def start(builder: Any, whole: Any, pool: Any, w: Any) -> Any:
        row = builder.mul(builder.lshr(w, whole(tile.bit_length() - 1)), whole(count * tile))
        return builder.gep(pool, [builder.add(row, builder.and_(w, whole(tile - 1)))])

    return _view((count,), start, f"numbers {count}", tile, takes_world=True)


@cache
def array_at(first: int, shape: tuple[int, ...], tile: int) -> Any:
    """A device function ``numbers -> array`` of this shape: the numbers of a world from ``first`` on."""
    if is_simulated():
        return lambda numbers: numbers[first : first + math.prod(shape)].reshape(shape)

    def start(builder: Any, whole: Any, numbers: Any) -> Any:
        return builder.gep(numbers, [whole(first * tile)])

    return _view(shape, start, f"array at {first}", tile)


def _view(shape: tuple[int, ...], start: Callable[..., Any], name: str, tile: int, *, takes_world: bool = False) -> Any:
    """An intrinsic of Numba's CUDA that returns a view of constant shape and strides, from ``start`` on."""
    from llvmlite import ir
    from numba.cuda import types
    from numba.cuda.extending import intrinsic
    from numba.cuda.np.arrayobj import make_array, populate_array

    whole = ir.IntType(64)

    def typed(source: Any, *world: Any) -> Any:
        kind = types.Array(source.dtype, len(shape), "A")

        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            size = context.get_abi_sizeof(context.get_data_type(source.dtype))
            at = [context.cast(builder, one, was, types.int64) for one, was in zip(arguments[1:], world, strict=True)]
            data = start(builder, whole, make_array(source)(context, builder, arguments[0]).data, *at)
            strides = [size * tile * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
            made = make_array(kind)(context, builder)
            sizes = [[whole(n) for n in values] for values in (shape, strides)]
            populate_array(made, data, *sizes, whole(size), meminfo=None)
            return made._getvalue()

        return kind(source, *world), lower

    if takes_world:
        made = intrinsic(lambda _, pool, w: typed(pool, w))
    else:
        made = intrinsic(lambda _, numbers: typed(numbers))
    # All that its code depends on, for :mod:`.stamp`.
    made.linkage = lambda: f"{name} {shape} in tiles of {tile}"
    return made
