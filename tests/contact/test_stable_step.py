"""The longest step that a law's springs and dampers allow."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.contact.setting import standing_loads
from footfall.contact.stable_step import longest_stable_step
from footfall.control import Walk
from footfall.errors import FootfallWarning
from footfall.measure import fall


def test_a_robot_rests_in_the_step_that_is_named_and_rings_in_a_longer_one():
    """The bound is that of the stiffest motion of all points at once; half as much again feeds it."""
    robot = ff.load_robot("spatial-biped")
    law = ff.law("spring-damper", k=robot.weight / 8 / 1e-5, c=5.0)
    longest = longest_stable_step(law, ff.Simulation(robot, law=law, dt=0.01).setting)
    start = np.zeros(robot.model.nv)
    start[2] = -1e-3
    speed = []
    for share in (0.95, 1.5):
        sim = ff.Simulation(robot, law=law, dt=share * longest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rec = sim.run(2000 * sim.dt, controller="posture", qpos=sim.place(), qvel=start)
        speed.append(np.abs(rec.qvel[-200:]).max())
    assert speed[0] < 0.5e-3  # it came to rest: at first it fell with 1e-3
    assert speed[1] > 0.05


def test_a_run_in_too_long_steps_is_warned_of_with_the_step_that_would_do():
    law = ff.law("spring-damper", k=1e7, c=100.0)
    with pytest.warns(FootfallWarning, match=r"unstable in steps of 0.001 s.*dt <= \de-\d s would do"):
        ff.Simulation("spatial-biped", law=law).run(0.001)


@pytest.mark.parametrize("law", ["spring-damper", "hunt-crossley", "distributed"])
@pytest.mark.parametrize("robot", ff.robots())
def test_the_defaults_of_every_law_suit_every_robot_in_steps_of_a_millisecond(robot, law):
    sim = ff.Simulation(robot, law=law)
    assert longest_stable_step(sim.law, sim.setting) == sim.dt == 1e-3


def on_light_feet() -> ff.Robot:
    """The biped with feet of 0.2 kg and without rotors: as in descriptions that give a robot's links alone."""
    spec = mujoco.MjSpec.from_string(ff.load_robot("spatial-biped").mjcf)
    for joint in spec.joints:
        joint.armature = 0.0
    for foot in (body for body in spec.bodies if "foot" in body.name):
        foot.inertia, foot.mass = 0.2 / foot.mass * np.array(foot.inertia), 0.2
    return ff.load_robot(spec, name="light")


@pytest.mark.parametrize("law", ff.laws())
def test_a_robot_on_light_feet_walks_in_the_step_that_is_chosen_for_it(law):
    """In steps of 1 ms springs of light feet get next to no damping: under spring-damper and hunt-crossley it falls."""
    sim = ff.Simulation(on_light_feet(), law=law)
    springs = law in ("spring-damper", "hunt-crossley", "distributed")
    assert (sim.dt < 1e-3) == springs
    rec = sim.run(2.0, controller=Walk(steps=2), record_dt=0.01)
    assert rec.failure is None and fall(rec) is None


def test_whoever_chooses_gains_chooses_the_step():
    sim = ff.Simulation(on_light_feet(), law=ff.law("spring-damper", rest_penetration=2e-3))
    assert sim.dt == 1e-3
    assert ff.Simulation(on_light_feet(), law="spring-damper", dt=5e-4).dt == 5e-4


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
