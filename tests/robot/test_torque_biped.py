"""The torque-controlled biped: the structure Ott prints, its mass as assumed, and a stance it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from robot_models import posed

import footfall as ff
from footfall.control.posture import standing_torques
from footfall.errors import RobotError
from footfall.robot import load_robot


def test_each_leg_has_six_motors_and_four_contact_points():
    robot = load_robot("torque-biped")
    assert robot.actuated == robot.joint_names[1:]
    assert robot.joint_names[1:7] == tuple(
        f"left_{joint}" for joint in ("hip_yaw", "hip_roll", "hip_pitch", "knee_pitch", "ankle_pitch", "ankle_roll")
    )
    assert [len(foot.points) for foot in robot.feet] == [4, 4]
    assert robot.mass == pytest.approx(50.0, rel=1e-12)


@pytest.mark.parametrize("height", [1.25, 0.8])
def test_it_is_as_tall_as_asked_with_straight_legs(height):
    robot = load_robot("torque-biped", height=height)
    data = posed(robot, robot.model.qpos0)
    trunk = robot.model.geom("trunk")
    top = data.geom("trunk").xpos[2] + trunk.size[2]
    bottom = data.body("left_foot").xpos[2] + robot.feet[0].points[0, 2]
    assert top - bottom == pytest.approx(height, rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"knee": 1.2}, {"height": 0.8, "mass": 20.0}])
def test_at_home_it_stands_with_bent_knees_and_its_weight_over_the_middle_of_its_soles(options):
    robot = load_robot("torque-biped", **options)
    data = posed(robot, robot.home)
    points = np.vstack([data.xpos[b] + p for b, p in zip(robot.point_body, robot.point_position, strict=True)])
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-12)
    np.testing.assert_allclose(data.subtree_com[1, :2], points.mean(axis=0)[:2], atol=1e-9)
    np.testing.assert_allclose(data.body("trunk").xmat.reshape(3, 3), np.eye(3), atol=1e-12)
    assert data.joint("left_knee_pitch").qpos[0] == robot.parameters["knee"]
    low, high = robot.model.jnt_range[1:].T
    assert np.all((low < robot.home[7:]) & (robot.home[7:] < high))


def test_the_motors_can_hold_the_home_pose_against_gravity():
    robot = load_robot("torque-biped")
    torque = standing_torques(robot, robot.home)
    assert np.all(np.abs(torque[6:]) < 0.5 * robot.model.actuator_ctrlrange[:, 1])


def test_the_right_leg_mirrors_the_left():
    model = load_robot("torque-biped").model
    for part in ("thigh", "shank", "foot"):
        left, right = model.body(f"left_{part}"), model.body(f"right_{part}")
        assert left.mass == right.mass
        np.testing.assert_array_equal(left.inertia, right.inertia)
        np.testing.assert_array_equal(left.pos * [1, -1, 1], right.pos)


@pytest.mark.parametrize("law", ["spring-damper", "linearizing-penalty", "time-stepping"])
def test_it_stands_still_in_a_posture(law):
    robot = load_robot("torque-biped")
    rec = ff.Simulation(robot, law=law, dt=1e-3).run(1.0, controller="posture", record_dt=0.01)
    assert rec.failure is None
    assert rec.force[-1, :, 2].sum() == pytest.approx(robot.weight, rel=1e-3)
    # It may sink by the rest penetration of the law, 1 mm.
    np.testing.assert_allclose(rec.qpos, np.broadcast_to(robot.home, rec.qpos.shape), atol=2e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mass": 0.0}, "mass of robot 'torque-biped'"),
        ({"knee": 2.0}, "knee of robot 'torque-biped'"),
        ({"armature": -1.0}, "armature of robot 'torque-biped'"),
    ],
)
def test_impossible_parameters_are_refused(options, message):
    with pytest.raises(RobotError, match=message):
        load_robot("torque-biped", **options)
