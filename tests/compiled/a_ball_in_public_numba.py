"""A whole run where kernels are compiled through Numba's public interfaces; the nightly checks start it."""

from __future__ import annotations

import pytest

import footfall as ff


def test_a_ball_comes_to_rest():
    rec = ff.Simulation("ball", law="spring-damper").run(1.0)
    assert rec.total_force[-1, 2] == pytest.approx(9.81, rel=1e-3)
