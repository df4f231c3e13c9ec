"""The longest step that a law's springs and dampers allow."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import footfall as ff
from footfall.contact.setting import standing_loads
from footfall.contact.stable_step import longest_stable_step
from footfall.errors import FootfallWarning


@pytest.mark.parametrize("robot", ["ball", "spatial-biped"])
def test_a_robot_rests_in_the_step_that_is_named_and_rings_in_a_longer_one(robot):
    """The bound is that of the stiffest motion of all points at once: a third beyond it springs feed the motion."""
    robot = ff.load_robot(robot)
    law = ff.law("spring-damper", k=robot.weight / 8 / 1e-5, c=5.0)
    controller = "posture" if robot.model.nu else None
    longest = longest_stable_step(law, ff.Simulation(robot, law=law, dt=0.01).setting)
    worst = []
    for share in (0.95, 1.35):
        sim = ff.Simulation(robot, law=law, dt=share * longest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rec = sim.run(2000 * sim.dt, controller=controller)
        worst.append(np.abs(rec.force[-200:, :, 2].sum(axis=1) / robot.weight - 1.0).max())
    assert worst[0] < 1e-3
    assert worst[1] > 0.05 or rec.failure is not None


def test_a_run_in_too_long_steps_is_warned_of_with_the_step_that_would_do():
    law = ff.law("spring-damper", k=1e7, c=100.0)
    with pytest.warns(FootfallWarning, match=r"unstable in steps of 0.001 s.*dt <= \de-\d s would do"):
        ff.Simulation("spatial-biped", law=law).run(0.001)


@pytest.mark.parametrize("law", ["spring-damper", "hunt-crossley", "distributed"])
@pytest.mark.parametrize("robot", ff.robots())
def test_the_defaults_of_every_law_suit_every_robot_in_steps_of_a_millisecond(robot, law):
    sim = ff.Simulation(robot, law=law)
    assert longest_stable_step(sim.law, sim.setting) == sim.dt


def test_laws_without_springs_have_no_longest_step():
    sim = ff.Simulation("ball", law="time-stepping")
    assert longest_stable_step(sim.law, sim.setting) is None


def test_loads_are_even_balance_the_weight_and_never_pull():
    corners = np.array([[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]])
    np.testing.assert_allclose(standing_loads(corners), 0.25, rtol=1e-12)
    for shift in ([0.03, 0.0], [0.08, 0.04], [0.099, -0.049]):
        shares = standing_loads(corners - shift)
        assert shares.min() >= 0.0
        np.testing.assert_allclose([shares.sum(), *(shares @ (corners - shift))], [1.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(standing_loads(corners - [1.0, 0.0]), 0.25)  # nothing carries a robot beside its feet
