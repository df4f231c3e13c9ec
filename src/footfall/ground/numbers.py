"""The numbers a ground is made of: checked when it is made, and its height table packed for JSON."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from footfall.errors import GroundError

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


def packed(table: Array) -> Any:
    """A table for JSON: rows of numbers if small, else compressed bytes (float64, little-endian)."""
    if table.size <= READABLE_TABLE:
        return table.tolist()
    data = base64.b64encode(zlib.compress(table.astype("<f8").tobytes())).decode("ascii")
    return {"shape": list(table.shape), "zlib_base64_float64": data}


def unpacked(table: Any) -> Any:
    """The table that ``packed`` wrote; anything that is not packed as it is."""
    if not isinstance(table, Mapping):
        return table
    try:
        data = zlib.decompress(base64.b64decode(table["zlib_base64_float64"]))
        return np.frombuffer(data, dtype="<f8").reshape(table["shape"])
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise GroundError(f"the height table cannot be read: {error!r}") from None
