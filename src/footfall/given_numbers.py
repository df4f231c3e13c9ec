"""Checks of numbers that a user gives."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from footfall.errors import FootfallError


def is_number(value: Any) -> bool:
    """Whether something is one finite real number."""
    try:
        return isinstance(value, Real) and math.isfinite(float(value))
    except OverflowError:  # a whole number beyond all of floating point
        return False


def is_whole(value: Any, least: int) -> bool:
    """Whether something is a whole number of at least ``least``, NumPy's among them."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def check_seed(seed: Any) -> None:
    """Refuse what cannot seed random numbers."""
    if not is_whole(seed, 0):
        raise FootfallError(f"seed = {seed!r}, but it must be a whole number >= 0")
