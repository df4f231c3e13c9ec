"""The friction cone as linear inequalities."""

from __future__ import annotations

import math

import numpy as np

from footfall.errors import ControllerError


def friction_pyramid(friction: float, sides: int) -> np.ndarray:
    """Rows (sides, 3) with ``rows @ f <= 0`` for every force f (tangent, tangent, normal) of a pyramid.

    Its edges lie on the cone of ``friction``, Ott 2011, eq. (3), the first one along the first tangent: whatever the
    pyramid allows, Coulomb does. Between two edges it holds back ``1 - cos(pi / sides)`` of the friction.
    """
    if sides < 3:
        raise ControllerError(f"a friction pyramid has at least 3 sides, not {sides}")
    if not friction >= 0.0:
        raise ControllerError(f"the friction of a contact must be a number >= 0, not {friction}")
    middle = (2.0 * np.arange(sides) + 1.0) * math.pi / sides
    inner = friction * math.cos(math.pi / sides)
    return np.stack([np.cos(middle), np.sin(middle), np.full(sides, -inner)], axis=1)
