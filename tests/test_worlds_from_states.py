"""Many worlds from the state of a single one, and back: what the law remembers of its contacts goes along."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import footfall as ff
from footfall.errors import SimulationError

#: m, rad or their rates: rounding of two different orders of summation, over a tenth of a second.
SAME = 1e-9
TOPPLE = ff.Push("trunk", force=(150.0, 60.0, 0.0), duration=0.3)


@cache
def lying(law: str) -> tuple[ff.Simulation, ff.Recording, object]:
    """A biped that has fallen and still moves, its next tenth of a second, and its state before."""
    sim = ff.Simulation("spatial-biped", law=law)
    world = sim.start(recorded=False, pushes=[TOPPLE])
    world.step(n=1400)
    state = world.state()
    return sim, sim.run(0.1, controller=None, start=state), state


@pytest.mark.parametrize("law", ["spring-damper", "distributed", "time-stepping"])
def test_worlds_go_on_from_a_state_as_the_single_world_does(law):
    """On knees and hands, too, whose points have places among the contact points: those with springs remember much."""
    sim, expected, state = lying(law)
    assert len(expected.other_points) > 0
    worlds = ff.Worlds(sim, 3, start=state, fall=0.0)
    np.testing.assert_array_equal(worlds.time, state.time)
    worlds.step(n=100)
    assert np.abs(worlds.qpos - expected.qpos[-1]).max() < 0.8 * SAME
    again = sim.run(0.1, controller=None, start=worlds.state(1))
    worlds.step(n=100)
    assert np.abs(worlds.qpos[1] - again.qpos[-1]).max() < 0.8 * SAME


def test_some_worlds_are_reset_to_states_and_later_to_coordinates():
    sim, expected, state = lying("spring-damper")
    worlds = ff.Worlds(sim, 3, fall=0.0)
    first = ff.Worlds(sim, 1, qpos=worlds.qpos[0] + 0.0, fall=0.0)
    worlds.reset(np.array([False, True, True]), start=state)
    worlds.reset(np.array([False, False, True]), qpos=first.qpos[0], qvel=first.qvel[0])
    for one in (worlds, first):
        one.step(n=100)
    assert np.abs(worlds.qpos[1] - expected.qpos[-1]).max() < 0.8 * SAME
    np.testing.assert_array_equal(worlds.qpos[[0, 2]], first.qpos[[0, 0]])  # the third remembers nothing
    np.testing.assert_allclose(worlds.time, [0.1, state.time + 0.1, 0.1])


def test_each_world_may_have_a_state_of_its_own():
    sim = ff.Simulation("brick", law="spring-damper")
    rec = sim.run(0.3, qvel=[0.2, 0.0, 0.5, 0.0, 0.0, 1.0])  # thrown
    worlds = ff.Worlds(sim, 2, start=[rec.state(0.1), rec.state(0.2)], fall=0.0)
    worlds.step(n=100)
    assert np.abs(worlds.qpos - rec.qpos[[200, 300]]).max() < 0.8 * SAME


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"start": 5}, "must be a state of world.state"),
        ({"start": [lambda: None] * 2}, "must be a state of world.state"),
        ({"start": "own", "qvel": np.zeros(6)}, "start has coordinates and velocities of its own"),
        ({"start": "three"}, "3 states for 2 worlds: give one, or one for each"),
        ({"start": "other"}, "a state of brick under hunt-crossley.* does not fit brick under spring-damper"),
    ],
)
def test_a_start_that_fits_no_world_is_refused_in_a_sentence(given, sentence):
    sim = ff.Simulation("brick", law="spring-damper")
    own = sim.start().state()
    other = ff.Simulation("brick", law="hunt-crossley").start().state()
    states = {"own": own, "three": [own] * 3, "other": other}
    start = given["start"]
    with pytest.raises(SimulationError, match=sentence):
        ff.Worlds(sim, 2, **given | {"start": states[start] if isinstance(start, str) else start})
    with pytest.raises(SimulationError, match="world 2 is not among 0 to 1"):
        ff.Worlds(sim, 2).state(2)
