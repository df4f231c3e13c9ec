"""The scratch space of lanes and warps of a GPU: all arrays in two arrays of tiles, one per number type."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import generated
from footfall.compiled.gpu_tiles import TILE, array_at, numbers_of
from footfall.engine.worlds.arrays import INTEGERS, Shapes, Space


class Tiles(NamedTuple):
    """The scratch space of all lanes (tiles, n, lanes of a tile), see :mod:`footfall.compiled.gpu_tiles`, or of one
    (n,).
    """

    reals: Any
    wholes: Any


class Layout(NamedTuple):
    """Offsets of the arrays of a tuple among the numbers of a lane."""

    kind: type  # of the tuple
    fields: tuple[Any, ...]  # of each array: its field of Tiles, its first number and its shape; or a Layout, or None


class Plot(NamedTuple):
    """Offsets of all arrays of a lane, or of a warp or block, whose tile has no other."""

    space: Layout  # ``law`` is None
    law: Layout | None  # the law's scratch arrays
    numbers: Tiles  # counts of numbers per lane
    tile: int  # lanes of a tile


class _Places:
    """Gives arrays their places among the numbers of a lane, one after the other."""

    def __init__(self) -> None:
        self.used = {"reals": 0, "wholes": 0}

    def of(self, shape: tuple[int, ...], whole: bool) -> tuple[str, int, tuple[int, ...]]:
        pool = "wholes" if whole else "reals"
        first = self.used[pool]
        self.used[pool] += math.prod(shape)
        return pool, first, shape

    def within(self, named: Any) -> Any:
        """The places of the arrays of a tuple, which may have other tuples in it."""
        if not isinstance(named, tuple):
            return self.of(named.shape, named.dtype.kind == "i")
        return Layout(type(named), tuple(map(self.within, named)))


def lay_out(shapes: Shapes, scratch: Any, pairs: Any) -> Plot:
    """Lay out the scratch space, the law's scratch arrays, a tuple or ``None``, and those of ``pairs`` of bodies."""
    places = _Places()
    own = {"law": None, "pairs": places.within(pairs)}
    fields = (own[name] if name in own else places.of(shapes[name], name in INTEGERS) for name in Space._fields)
    space = Layout(Space, tuple(fields))
    law = None if scratch is None else places.within(scratch)
    return Plot(space, law, Tiles(**places.used), TILE)


def lay_out_tuple(arrays: Any, tile: int) -> Plot:
    """Lay out the arrays of a tuple."""
    places = _Places()
    return Plot(places.within(arrays), None, Tiles(**places.used), tile)


@cache
def lane_picker(plot: Plot) -> Any:
    """A device function ``(tiles, lane) -> arrays of the lane``, in which ``law`` is all its numbers."""
    ways = {f"{pool}_of": numbers_of(count, plot.tile) for pool, count in plot.numbers._asdict().items()}
    lines = [f"    {pool} = {pool}_of(tiles.{pool}, lane)\n" for pool in Tiles._fields]
    return _picker("pick_space(tiles, lane)", "".join(lines), plot.space, plot.tile, ways)


@cache
def law_picker(plot: Plot) -> Any:
    """A device function ``Tiles of a lane -> the law's scratch arrays``; ``None`` if the law has none."""
    if plot.law is None:
        return None
    lines = [f"    {pool} = tiles.{pool}\n" for pool in Tiles._fields]
    return _picker("pick_law(tiles)", "".join(lines), plot.law, plot.tile, {})


def _picker(head: str, lines: str, layout: Layout, tile: int, known: dict[str, Any]) -> Any:
    namespace = known | {"Tiles": Tiles}

    def named(value: Any) -> str:
        name = f"part_{len(namespace)}"
        namespace[name] = value
        return name

    def text(field: Any) -> str:
        if field is None:
            return "Tiles(reals, wholes)"
        if isinstance(field, Layout):
            return f"{named(field.kind)}({', '.join(map(text, field.fields))})"
        pool, first, shape = field
        return f"{named(array_at(first, shape, tile))}({pool})"

    home: Any = zeros
    return generated(f"def {head}:\n{lines}    return {text(layout)}\n", head.partition("(")[0], namespace, home)


def zeros(plot: Plot, lanes: int) -> Tiles:
    """Zeros for this many lanes."""
    tiles = -(-lanes // plot.tile)
    kinds = zip(plot.numbers, (np.float64, np.int64), strict=True)
    return Tiles(*(np.zeros((tiles, count, plot.tile), kind) for count, kind in kinds))
