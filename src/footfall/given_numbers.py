"""Numbers that a user gives: checks of them, and types that say what they may be."""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple

import numpy as np


def is_number(value: Any) -> bool:
    """Whether something is one finite real number."""
    try:
        return isinstance(value, Real) and math.isfinite(float(value))
    except OverflowError:  # a whole number beyond all of floating point
        return False


def is_whole(value: Any, least: int) -> bool:
    """Whether something is a whole number of at least ``least``, NumPy's among them."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


class Bounds(NamedTuple):
    """Which numbers a type allows: finite ones from ``least`` to ``most``, without ``least`` if it is ``open``."""

    least: float = -math.inf
    most: float = math.inf
    open: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number that is allowed."""
        least = math.nextafter(self.least, math.inf) if self.open else max(self.least, -sys.float_info.max)
        return least, min(self.most, sys.float_info.max)

    def __str__(self) -> str:
        if self.most < math.inf and not self.open:
            return f"between {self.least:g} and {self.most:g}"
        above = "" if self.least == -math.inf else f"{'>' if self.open else '>='} {self.least:g}"
        return above if self.most == math.inf else f"{above} and <= {self.most:g}"


class Shape(NamedTuple):
    """Which arrays a type allows: those with these numbers of elements along their axes."""

    sizes: tuple[int, ...]

    def __str__(self) -> str:
        return f"of shape {self.sizes}"


#: Types of arguments: what ``footfall.arguments.public`` checks of them beyond that they are numbers.
Finite = Annotated[float, Bounds()]
Positive = Annotated[float, Bounds(0.0, open=True)]
NotNegative = Annotated[float, Bounds(0.0)]
Share = Annotated[float, Bounds(0.0, 1.0)]
Accuracy = Annotated[float, Bounds(0.0, 1.0, open=True)]
Count = Annotated[int, Bounds(0, open=True)]
Whole = Annotated[int, Bounds(0)]
Rotation = Annotated[np.ndarray, Shape((3, 3))]
