"""Landings of the planar biped: events and time steps agree, the better the shorter the step."""

from __future__ import annotations

import numpy as np

from footfall.papers.bravo2021 import landing


def test_a_step_a_quarter_as_long_differs_by_a_quarter():
    """A flat landing in steps of 0.25 ms and 62.5 us; between 3 and 6 of the 4 that first order says."""
    miss = []
    exact = landing.land("acceleration-complementarity", 0.0, 1e-3)
    for dt in (2.5e-4, 6.25e-5):
        several = landing.land("time-stepping", 0.0, dt)
        miss.append(landing.Landing(exact, {dt: several}).differences[0])
    assert 3.0 < miss[0] / miss[1] < 6.0
    assert all(np.isfinite(miss))
