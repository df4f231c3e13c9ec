"""A recording with everything in it."""

from __future__ import annotations

import numpy as np
import pytest
from blank_recordings import blank

from footfall.contact import law
from footfall.ground import Ground
from footfall.record import Failure, Push
from footfall.robot import load_robot


@pytest.fixture(scope="module")
def biped():
    return load_robot("spatial-biped")


@pytest.fixture
def rec(biped):
    """One with every bit pattern that might get lost: NaN with a payload, infinities, -0.0, denormals."""
    rng = np.random.default_rng(1)
    odd = np.array([0x7FF8000000000123, 0x8000000000000000, 0x7FF0000000000000, 1], dtype=np.uint64).view(np.float64)
    force = rng.normal(size=(50, 8, 3))
    force[3, :4, 1] = odd
    return blank(
        biped,
        50,
        qvel=rng.normal(size=(50, 20)),
        ctrl=rng.normal(size=(50, 14)),
        force=force,
        gap=rng.normal(size=(50, 8)),
        mode=rng.integers(0, 3, (50, 8)),
        status=rng.integers(0, 3, 50),
        ground=Ground.slope(0.1, friction=(0.8, 0.6)),
        law=law("linearizing-penalty", kp=0.1 + 0.2),
        failure=Failure(0.049, "diverged", "left_knee", "diverged at t = 0.049 s, joint left_knee; try a smaller dt"),
        pushes=(Push("trunk", force=(0.1, 0.0, 0.0)),),
        info={"seed": 3, "numpy": np.__version__, "warnings": [{"time": 0.0, "kind": "late", "message": "late"}]},
    )
