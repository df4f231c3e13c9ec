"""The numbers a ground is made of: checked when it is made, and its height table packed for JSON."""

from __future__ import annotations

import base64
import math
import os
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from footfall.errors import GroundError

LARGEST_TABLE = 2**25  # entries of a height table: 5792 x 5792, 256 MiB
READABLE_TABLE = 400  # entries up to which a height table is written as plain numbers

Array = NDArray[np.float64]


def number(name: str, value: Any) -> float:
    """``value`` as a finite float, or an error that names it."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise GroundError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(result):
        raise GroundError(f"{name} must be finite, got {result}")
    return result


def pair(name: str, value: Any) -> tuple[float, float]:
    """``value`` as two finite floats, or an error that names it."""
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise GroundError(f"{name} must be a pair of numbers, got {value!r}")
    return number(name, value[0]), number(name, value[1])


def height_table(heights: ArrayLike) -> Array:
    """``heights`` as a read-only table of finite floats, at least 2 x 2."""
    check_table_size(np.shape(heights) if isinstance(heights, np.ndarray) else ())
    try:
        table = np.array(heights, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise GroundError(f"heights must be a rectangular table of numbers: {error}") from None
    if table.ndim != 2 or min(table.shape) < 2:
        raise GroundError(f"heights must be a table of at least 2 x 2 numbers (rows along y), got shape {table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise GroundError(f"heights must be finite, got {table[row, column]} at [{row}, {column}]")
    table.setflags(write=False)
    return table


def check_table_size(shape: tuple[int, ...]) -> None:
    """Refuse a height table that is too large to draw and to collide with, before it is made."""
    if math.prod(shape) > LARGEST_TABLE:
        sides = " x ".join(map(str, shape))
        raise GroundError(f"a height table of {sides} entries is too large: at most {LARGEST_TABLE}; thin it out")


def packed(table: Array) -> Any:
    """A table for JSON: rows of numbers if small, else compressed bytes (float64, little-endian)."""
    if table.size <= READABLE_TABLE:
        return table.tolist()
    data = base64.b64encode(zlib.compress(table.astype("<f8").tobytes())).decode("ascii")
    return {"shape": list(table.shape), "zlib_base64_float64": data}


def unpacked(table: Any) -> Any:
    """The table that ``packed`` wrote, or one that is not packed; a file name is refused, since a description is read
    alone.
    """
    if isinstance(table, str | os.PathLike):
        raise GroundError(f"the height table is a file, '{table}', and a description holds its heights itself")
    if not isinstance(table, Mapping):
        return table
    try:
        rows, columns = (int(n) for n in table["shape"])
        check_table_size((rows, columns))
        unpacking = zlib.decompressobj()
        # One byte more than needed, so that a small file which unpacks to a huge one is noticed and not unpacked.
        data = unpacking.decompress(base64.b64decode(table["zlib_base64_float64"]), 8 * rows * columns + 1)
        return np.frombuffer(data, dtype="<f8").reshape(rows, columns)
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
        raise GroundError(f"the height table cannot be read: {error!r}") from None
