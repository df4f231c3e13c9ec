"""Coulomb friction at one point, shared by the laws."""

from __future__ import annotations

from footfall.compiled import kernel
from footfall.contact.base import SLIDE, STICK


@kernel
def coulomb(x, y, limit):
    """Shrink a tangential force radially to ``limit`` N: the force that is left, and whether it slides."""
    size = (x * x + y * y) ** 0.5
    if size <= limit:
        return x, y, STICK
    scale = limit / size
    return x * scale, y * scale, SLIDE
