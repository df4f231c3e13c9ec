"""One ground of each kind, for the tests of several files."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from footfall.ground import Ground

ANGLE, HEADING = 0.35, 0.8  # rad
EXACT = 1e-12  # m: rounding of a few operations on numbers of order one


def rolling(x, y):
    """The height function of the function ground, m."""
    return 0.1 * math.sin(2.0 * x) + 0.05 * math.cos(3.0 * y)


@functools.cache
def grounds() -> dict[str, Ground]:
    x, y = np.meshgrid(np.linspace(-2, 2, 41), np.linspace(-1, 1, 21))
    return {
        "plane": Ground.plane(height=0.2),
        "slope": Ground.slope(ANGLE, heading=HEADING, friction=(0.8, 0.5)),
        "stairs": Ground.stairs(heading=HEADING),
        "stairs down": Ground.stairs(rise=-0.1, heading=-2.0),
        "heightfield": Ground.heightfield(0.1 * np.sin(2 * x) + 0.05 * np.cos(3 * y), size=(4, 2)),
        "function": Ground.function(rolling),
    }


every_ground = pytest.mark.parametrize("name", grounds())


def points_around(count: int = 200) -> np.ndarray:
    """(count, 3) points above and below the surfaces, m."""
    return np.random.default_rng(7).uniform([-2.5, -2.5, -0.5], [2.5, 2.5, 1.0], (count, 3))
