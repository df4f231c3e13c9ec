"""The quadruped: twelve motors, four round feet, and a stance it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from robot_models import posed

import footfall as ff
from footfall.control import Posture
from footfall.control.posture import standing_torques
from footfall.errors import RobotError
from footfall.robot import load_robot
from footfall.standing import point_positions


def test_structure_is_three_motors_and_one_ball_a_leg():
    robot = load_robot("quadruped")
    assert (robot.model.nq, robot.model.nv, robot.model.nu) == (19, 18, 12)
    assert [foot.name for foot in robot.feet] == ["FL", "FR", "RL", "RR"]
    np.testing.assert_allclose(robot.point_radius, [0.02] * 4)
    assert robot.actuated == robot.joint_names[1:]
    np.testing.assert_allclose(robot.model.dof_armature[6:], 0.01)


@pytest.mark.parametrize("mass", [12.0, 15.0, 30.0])
def test_the_total_mass_is_the_one_asked_for(mass):
    assert load_robot("quadruped", mass=mass).mass == pytest.approx(mass, rel=1e-12)


OPTIONS = [{}, {"thigh": 0.3, "shank": 0.25}, {"knee": 0.8, "foot_radius": 0.03}]


@pytest.mark.parametrize("options", OPTIONS)
def test_it_stands_level_with_its_feet_under_its_hips(options):
    robot = load_robot("quadruped", **options)
    data = posed(robot, robot.home)
    points = point_positions(robot, data)
    np.testing.assert_allclose(points[:, 2], robot.point_radius, atol=1e-12)
    np.testing.assert_allclose(data.body("trunk").xmat.reshape(3, 3), np.eye(3), atol=1e-12)
    for name, point in zip(("FL", "FR", "RL", "RR"), points, strict=True):
        np.testing.assert_allclose(point[:2], data.body(f"{name}_thigh").xpos[:2], atol=1e-12)
    low, high = robot.model.jnt_range[1:].T
    assert np.all((low < robot.home[7:]) & (robot.home[7:] < high))


@pytest.mark.parametrize("options", OPTIONS)
def test_its_centre_of_mass_lies_well_inside_its_feet(options):
    robot = load_robot("quadruped", **options)
    data = posed(robot, robot.home)
    offset = data.subtree_com[1] - point_positions(robot, data).mean(axis=0)
    assert abs(offset[0]) < 0.05
    assert abs(offset[1]) < 1e-12


def test_links_meet_the_ground_but_not_each_other():
    robot = load_robot("quadruped")
    assert posed(robot, robot.home).ncon == 0
    assert np.all(robot.model.geom_contype == 1)
    assert np.all(robot.model.geom_conaffinity == 2)


def test_legs_are_mirror_images():
    model = load_robot("quadruped").model
    for part in ("hip", "thigh", "shank"):
        for pair in (("FL", "FR"), ("RL", "RR")):
            left, right = (model.body(f"{leg}_{part}") for leg in pair)
            assert left.mass == right.mass
            np.testing.assert_array_equal(left.inertia, right.inertia)
            np.testing.assert_array_equal(left.ipos * [1, -1, 1], right.ipos)


def test_the_motors_can_hold_the_home_pose_against_gravity():
    robot = load_robot("quadruped")
    torque = standing_torques(robot, robot.home)
    np.testing.assert_allclose(torque[:6], 0.0, atol=1e-9)
    assert np.all(np.abs(torque[6:]) < 0.5 * robot.model.actuator_ctrlrange[:, 1])


@pytest.mark.parametrize("law", ["spring-damper", "linearizing-penalty"])
def test_it_stands_still_in_a_posture(law):
    robot = load_robot("quadruped")
    rec = ff.Simulation(robot, law=law, dt=1e-3).run(2.0, controller=Posture(), record_dt=0.01)
    assert rec.failure is None
    assert rec.force[-1, :, 2].sum() == pytest.approx(robot.weight, rel=1e-3)
    # It may sink by the rest penetration of the law, 1 mm, and its soft legs give as it does.
    np.testing.assert_allclose(rec.qpos, np.broadcast_to(robot.home, rec.qpos.shape), atol=5e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mass": 0.0}, "mass of robot 'quadruped'"),
        ({"thigh": -0.2}, "thigh of robot 'quadruped'"),
        ({"knee": 2.0}, "knee of robot 'quadruped'"),
        ({"armature": -1.0}, "armature of robot 'quadruped'"),
        ({"tail": 1.0}, "no parameter 'tail'"),
    ],
)
def test_impossible_parameters_are_refused(options, message):
    with pytest.raises(RobotError, match=message):
        load_robot("quadruped", **options)
