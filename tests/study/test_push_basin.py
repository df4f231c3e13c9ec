"""The largest push in every direction."""

from __future__ import annotations

import math

import numpy as np
import pytest

import footfall as ff
from footfall.study.largest_push import push_outcome


def test_the_limits_enclose_what_single_runs_survive():
    basin = ff.study.push_basin("spatial-biped", law="spring-damper", directions=4, within=0.1)
    assert ((basin.failed - basin.survived) <= 0.1 * basin.failed).all() and (basin.survived > 10.0).all()
    # A robot that is the same left and right is pushed over alike from both sides.
    assert basin.survived[1] == pytest.approx(basin.survived[3], rel=0.1)
    sim = ff.Simulation("spatial-biped", law="spring-damper")
    for size, falls in ((basin.survived[0], False), (basin.failed[0], True)):
        push = ff.Push("trunk", (float(size), 0.0, 0.0), start=0.1, duration=0.1)
        assert bool(push_outcome(sim, push, 1.5, "posture")) == falls


def test_bad_input_is_refused():
    with pytest.raises(ff.FootfallError, match="directions"):
        ff.study.push_basin("spatial-biped", directions=0)
    with pytest.raises(ff.FootfallError, match="within"):
        ff.study.push_basin("spatial-biped", within=2.0)


def test_the_plot_is_polar():
    pytest.importorskip("matplotlib")
    basin = ff.study.PushBasin("r", "l", np.arange(4) * math.pi / 2, np.ones(4), 2 * np.ones(4), 0.1, 3)
    assert basin.plot().axes[0].name == "polar"
    assert "1 to 1 N" in str(basin)
