"""The scratch space of a step on a GPU: all arrays of ``Space`` and of the law in two arrays of tiles, one per number
type.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import generated
from footfall.compiled.gpu_tiles import TILE, array_at, numbers_of
from footfall.engine.worlds.arrays import INTEGERS, Shapes, Space, room


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
    """Offsets of all arrays of a lane."""

    space: Layout  # ``law`` is None
    law: Layout | None  # the law's scratch arrays
    numbers: Tiles  # counts of numbers per lane


class _Places:
    """Gives arrays their places among the numbers of a lane or a warp, one after the other."""

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
    return Plot(space, law, Tiles(**places.used))


def lay_out_rows(arrays: Any) -> tuple[Layout, Tiles]:
    """Lay out the arrays of a warp, a tuple, in rows of numbers; and how many there are."""
    places = _Places()
    return places.within(arrays), Tiles(**places.used)


@cache
def row_picker(layout: Layout, *, simulated: bool) -> Any:
    """A device function ``(rows, warp) -> the arrays of a warp``, of rows of numbers (warps, n)."""
    lines = [f"    {pool} = rows.{pool}[warp]\n" for pool in Tiles._fields]
    return _picker("pick_row(rows, warp)", "".join(lines), layout, simulated, {}, tile=1)


@cache
def tile_picker(plot: Plot, *, simulated: bool) -> Any:
    """A device function ``(tiles, lane) -> Space``, whose ``law`` is all numbers of the lane."""
    ways = {
        "reals_of": numbers_of(plot.numbers.reals, simulated=simulated),
        "wholes_of": numbers_of(plot.numbers.wholes, simulated=simulated),
    }
    lines = [f"    {pool} = {pool}_of(tiles.{pool}, lane)\n" for pool in Tiles._fields]
    return _picker("pick_space(tiles, lane)", "".join(lines), plot.space, simulated, ways)


@cache
def law_picker(plot: Plot, *, simulated: bool) -> Any:
    """A device function ``Tiles of a lane -> the law's scratch arrays``; ``None`` if the law has none."""
    if plot.law is None:
        return None
    lines = [f"    {pool} = tiles.{pool}\n" for pool in Tiles._fields]
    return _picker("pick_law(tiles)", "".join(lines), plot.law, simulated, {})


def _picker(head: str, lines: str, layout: Layout, simulated: bool, known: dict[str, Any], *, tile: int = TILE) -> Any:
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
        return f"{named(array_at(first, shape, simulated=simulated, tile=tile))}({pool})"

    home: Any = room
    return generated(f"def {head}:\n{lines}    return {text(layout)}\n", head.partition("(")[0], namespace, home)


def zeros(plot: Plot, lanes: int, real: Any, *, simulated: bool) -> Tiles:
    """Zeros for this many lanes."""
    tile = 1 if simulated else TILE
    kinds = Tiles(real, np.int64)
    return Tiles(*(np.zeros((-(-lanes // tile), n, tile), kind) for n, kind in zip(plot.numbers, kinds, strict=True)))
