"""A single world from the state of one of many: what the law remembers of its contacts goes along."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.errors import SimulationError

#: m, rad or their rates: rounding of two different orders of summation, over a tenth of a second.
SAME = 1e-9
TOPPLE = ff.Push("trunk", force=(150.0, 60.0, 0.0), duration=0.3)


@pytest.mark.parametrize("law", ["spring-damper", "distributed", "time-stepping"])
def test_a_single_world_goes_on_from_the_state_of_one_of_many(law):
    """On knees and hands, too, whose points have places among the contact points: those with springs remember much."""
    sim = ff.Simulation("spatial-biped", law=law)
    worlds = ff.Worlds(sim, 2, pushes=[[], [TOPPLE]], fall=0.0)
    worlds.step(n=1400)
    assert np.abs(worlds.body_force[1]).max() > 0.0
    state = worlds.state(1)
    assert state.time == worlds.time[1]
    again = sim.run(0.1, controller=None, start=state)
    worlds.step(n=100)
    assert np.abs(worlds.qpos[1] - again.qpos[-1]).max() < 0.8 * SAME


def test_the_state_of_a_world_that_is_none_is_refused():
    with pytest.raises(SimulationError, match="world 2 is not among 0 to 1"):
        ff.Worlds(ff.Simulation("brick", law="spring-damper"), 2).state(2)
