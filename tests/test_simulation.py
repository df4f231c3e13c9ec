"""Putting robot, ground and law together."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from grounds import every_ground, grounds

import footfall as ff
from footfall.errors import SimulationError
from footfall.simulation.task import perturbed_starts


def test_names_do_for_robot_and_law():
    sim = ff.Simulation("ball", law="spring-damper")
    assert sim.robot == ff.load_robot("ball") and sim.law == ff.law("spring-damper")
    assert sim.ground == ff.Ground.plane()
    assert "ball" in repr(sim) and "spring-damper" in repr(sim) and "dt=0.001" in repr(sim)


@every_ground
@pytest.mark.parametrize("robot", ["ball", "brick", "planar-biped", "spatial-biped"])
def test_a_placed_robot_touches_the_ground_with_its_first_point(name, robot):
    sim = ff.Simulation(robot, ground=grounds()[name])
    for at in ((0.0, 0.0), (0.1, -0.05)):
        rec = sim.run(0.0, qpos=sim.place(at))
        assert rec.gap[0].min() == pytest.approx(0.0, abs=1e-9)


def test_an_aligned_brick_lies_flat_on_a_slope():
    for heading in (0.0, 1.0, 4.0):
        sim = ff.Simulation("brick", ground=ff.Ground.slope(0.4, heading=heading))
        rec = sim.run(0.0, qpos=sim.place((0.3, 0.2), align=True))
        np.testing.assert_allclose(rec.gap[0], 0.0, atol=1e-9)
        np.testing.assert_allclose(rec.qpos[0, :2], [0.3, 0.2], atol=0.02)


def test_a_run_starts_from_the_placed_home_pose_at_rest():
    sim = ff.Simulation("spatial-biped", ground=ff.Ground.plane(height=0.3))
    rec = sim.run(0.0)
    np.testing.assert_array_equal(rec.qpos[0], sim.place())
    np.testing.assert_array_equal(rec.qvel[0], 0.0)
    assert sim.place()[2] == pytest.approx(sim.robot.home[2] + 0.3)


def test_the_setting_says_how_the_robot_stands():
    for robot, carriers in (("ball", 1), ("brick", 4), ("planar-biped", 4), ("spatial-biped", 8)):
        setting = ff.Simulation(robot).setting
        assert setting.carriers == carriers
        assert setting.load * carriers == pytest.approx(setting.robot.weight)
        assert setting.share * carriers == pytest.approx(setting.robot.mass)


def test_the_mobility_of_a_round_point_is_that_of_its_place_of_contact():
    """A push along the ground at the bottom of a solid sphere moves that place by 1/m + r^2/I = 3.5/m."""
    assert ff.Simulation(ff.load_robot("ball", mass=2.0)).setting.mobility == pytest.approx(3.5 / 2.0)


def test_the_mobility_of_a_brick_is_the_largest_eigenvalue_of_its_delassus_matrix():
    robot = ff.load_robot("brick")
    arm = robot.point_position
    skew = [np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]) for x, y, z in arm]
    rows = np.concatenate([np.hstack([np.eye(3), s]) for s in skew])
    inertia = np.diag([1, 1, 1, *robot.model.body_inertia[1]])
    expected = np.linalg.eigvalsh(rows @ np.linalg.inv(inertia) @ rows.T).max()
    assert ff.Simulation(robot).setting.mobility == pytest.approx(expected)


@pytest.mark.parametrize("law", ["linearizing-penalty", "spring-damper", "mujoco"])
def test_a_robot_from_an_mjmodel_runs_too(law):
    model = ff.load_robot("spatial-biped").model
    robot = ff.load_robot(model, feet={"left": "left_foot", "right": "right_foot"})
    if law == "mujoco":
        with pytest.raises(SimulationError, match="law mujoco: the ground has no geom in this MjModel"):
            ff.Simulation(robot, law=law)
        return
    one = ff.Simulation(robot, law=law).run(0.2, controller="posture")
    other = ff.Simulation("spatial-biped", law=law).run(0.2, controller="posture")
    np.testing.assert_allclose(one.qpos, other.qpos, atol=1e-9)


def test_a_robot_with_a_fixed_base_runs():
    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body name="arm" pos="0 0 .5"><joint name="shoulder" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .6 0 0" size=".02" mass="1"/></body></worldbody></mujoco>"""
    )
    with pytest.warns(ff.FootfallWarning, match="body 'arm', which robot .* hangs on, is held in the world"):
        robot = ff.load_robot(spec, feet={"tip": ("arm", np.array([[0.6, 0.0, 0.0]]))})
    for law in ff.laws():
        rec = ff.Simulation(robot, law=law, ground=ff.Ground.plane(1e-3), body_contacts=False).run(2.5, controller=None)
        assert rec.failure is None, law
        assert rec.gap[-1, 0] == pytest.approx(0.0, abs=2e-2), law
        # It rests on its tip: half its weight is there, as the moment about the shoulder says, friction all but none.
        assert rec.force[-500:, 0, 2].mean() == pytest.approx(9.81 / 2, rel=1e-2), law


@every_ground
def test_every_law_stands_on_every_ground(name):
    """A ball set down at rest must not be thrown off, nor fall through, wherever the ground is."""
    for law in ff.laws():
        sim = ff.Simulation("ball", ground=grounds()[name], law=law)
        rec = sim.run(0.5)
        assert rec.failure is None, law
        assert (rec.status == 0).all(), law
        assert rec.gap.min() > -2e-2 and rec.gap.max() < 0.1, law


def test_heavier_gravity_weighs_more():
    spec = mujoco.MjSpec.from_string(ff.load_robot("ball").mjcf)
    spec.option.gravity = [0.0, 0.0, -20.0]
    rec = ff.Simulation(ff.load_robot(spec)).run(0.5)
    assert rec.total_force[-1, 2] == pytest.approx(20.0, rel=1e-3)


def test_the_angle_of_a_slope_tilts_the_force():
    sim = ff.Simulation("brick", ground=ff.Ground.slope(0.3, friction=0.6))
    rec = sim.run(1.0, qpos=sim.place(align=True))
    np.testing.assert_allclose(rec.total_force[-1], [0.0, 0.0, rec.robot.weight], atol=1e-6)
    normal = rec.ground.frame([0, 0, 0])[2]
    assert rec.total_force[-1] @ normal == pytest.approx(rec.robot.weight * math.cos(0.3))


def test_perturbed_starts_are_off_by_as_much_as_asked_and_all_alike():
    sim = ff.Simulation("spatial-biped")
    exact = sim.run(0.0)
    with perturbed_starts(3, 1e-6):
        off, again = sim.run(0.0), sim.run(0.0)
        with perturbed_starts(4, 1e-6):
            other = sim.run(0.0)
    for name in ("qpos", "qvel"):
        found = np.abs(getattr(off, name) - getattr(exact, name))
        assert 1e-7 < found.max() <= 1e-6 * (1.0 + 1e-9)
        np.testing.assert_array_equal(getattr(off, name), getattr(again, name))
        assert (getattr(off, name) != getattr(other, name)).any()
        np.testing.assert_array_equal(getattr(sim.run(0.0), name), getattr(exact, name))
    assert np.linalg.norm(off.qpos[0, 3:7]) == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(SimulationError, match="size = -1"), perturbed_starts(0, -1):
        pass


def test_a_model_that_someone_changed_is_not_handed_to_the_next_simulation():
    first = ff.Simulation("brick")
    mass = first.robot.mass
    first.robot.model.body_mass[:] *= 2.0
    third = ff.Simulation("brick")
    assert third.robot is not first.robot
    assert third.robot.model.body_mass.sum() == pytest.approx(mass)
