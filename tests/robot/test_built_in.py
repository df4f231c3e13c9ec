"""The built-in robots: their structure as printed in the papers, their size as asked for, their stance."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from fresh_python import fresh_python
from robot_models import posed

import footfall
from footfall.errors import RobotError
from footfall.robot import Robot, documentation, load_robot, robots, summary

SOURCE = Path(footfall.__file__).parents[1]


def contact_points(robot: Robot) -> np.ndarray:
    """(P, 3) lowest points of the contact spheres in the home pose, world frame, m."""
    data = posed(robot, robot.home)
    rotation = data.xmat[robot.point_body].reshape(-1, 3, 3)
    position = data.xpos[robot.point_body] + np.einsum("pij,pj->pi", rotation, robot.point_position)
    return position - robot.point_radius[:, None] * [0, 0, 1]


STRUCTURE = {
    "ball": (7, 6, 0, 1),
    "brick": (7, 6, 0, 4),
    "planar-biped": (9, 9, 6, 4),
    "spatial-biped": (21, 20, 14, 8),
    "torque-biped": (19, 18, 12, 8),
}


def test_the_list_of_robots_is_sorted_and_each_is_described():
    assert robots() == tuple(sorted(robots()))
    assert set(STRUCTURE) <= set(robots())
    for name in robots():
        assert "\n" not in summary(name)
        assert len(documentation(name)) > 100


FIRST_IMPORTS = (
    "",
    "import footfall.robot",
    "import footfall.robot.built_in",
    "import footfall.robot.built_in.ball",
    "from footfall.robot.load import load_robot",
)


@pytest.mark.parametrize("first", FIRST_IMPORTS)
def test_ff_robots_is_a_plain_function_whatever_was_imported_first(first, tmp_path):
    program = (
        f"{first}\nimport types, footfall as ff\nassert type(ff.robots) is types.FunctionType\nprint(*ff.robots())"
    )
    done = fresh_python(program, tmp_path, SOURCE)
    assert done.returncode == 0, done.stderr
    assert tuple(done.stdout.split()) == robots()


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure_is_that_of_the_paper(name):
    robot = load_robot(name)
    model = robot.model
    assert (model.nq, model.nv, model.nu, robot.point_count) == STRUCTURE[name]
    assert robot.name == name


@pytest.mark.parametrize("name", STRUCTURE)
def test_the_total_mass_is_the_one_asked_for(name):
    assert load_robot(name, mass=33.0).mass == pytest.approx(33.0, rel=1e-12)


@pytest.mark.parametrize("name", STRUCTURE)
def test_all_contact_points_touch_the_ground_at_home(name):
    np.testing.assert_allclose(contact_points(load_robot(name))[:, 2], 0.0, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"height": 1.9, "mass": 80}, {"thigh": 0.45}, {"knee": 0.6}])
@pytest.mark.parametrize("name", ["planar-biped", "spatial-biped"])
def test_a_biped_stands_with_its_centre_of_mass_over_the_middle_of_its_soles(name, options):
    robot = load_robot(name, **options)
    middle = contact_points(robot).mean(axis=0)
    centre = posed(robot, robot.home).subtree_com[robot.model.body("trunk").id]
    np.testing.assert_allclose(centre[:2], middle[:2], atol=1e-9)
    np.testing.assert_allclose(posed(robot, robot.home).body("left_foot").xmat.reshape(3, 3), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", ["planar-biped", "spatial-biped"])
def test_a_biped_is_as_tall_as_asked_when_its_legs_are_straight(name):
    robot = load_robot(name, height=1.6)
    model = robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0
    mujoco.mj_kinematics(model, data)
    head = model.geom("head")
    top = data.geom("head").xpos[2] + head.size[0] + head.size[1]
    sole = data.geom("left_sole").xpos[2] - model.geom("left_sole").size[2]
    assert top - sole == pytest.approx(1.6, rel=0.03)  # the head is only drawn


@pytest.mark.parametrize("name", ["planar-biped", "spatial-biped"])
def test_the_two_legs_are_alike(name):
    model = load_robot(name).model
    for part in ("thigh", "shank", "foot"):
        left, right = model.body(f"left_{part}"), model.body(f"right_{part}")
        assert left.mass == right.mass
        np.testing.assert_array_equal(left.inertia, right.inertia)


@pytest.mark.parametrize("name", STRUCTURE)
def test_links_meet_the_ground_but_not_each_other(name):
    robot = load_robot(name)
    assert posed(robot, robot.home).ncon == 0
    assert np.all(robot.model.geom_contype == 1)
    assert np.all(robot.model.geom_conaffinity == 2)


def test_soles_of_the_spatial_biped_have_the_area_asked_for():
    robot = load_robot("spatial-biped", foot_length=0.3, foot_width=0.12)
    for foot in robot.feet:
        assert np.ptp(foot.polygon[:, 0]) * np.ptp(foot.polygon[:, 1]) == pytest.approx(0.3 * 0.12)
        assert len(foot.polygon) == 4
    default = load_robot("spatial-biped").feet[0].polygon
    np.testing.assert_allclose(np.ptp(default, axis=0)[:2], [0.22, 0.10])


def test_feet_of_the_planar_biped_are_lines_from_heel_to_toe():
    for foot in load_robot("planar-biped").feet:
        assert len(foot.polygon) == 2
        assert foot.points[1, 0] - foot.points[0, 0] == pytest.approx(0.2)


def test_the_planar_biped_moves_in_its_plane_only():
    robot = load_robot("planar-biped")
    data = posed(robot, robot.home)
    jacobian = np.zeros((3, robot.model.nv))
    for body in range(1, robot.model.nbody):
        mujoco.mj_jacBody(robot.model, data, jacobian, None, body)
        np.testing.assert_allclose(jacobian[1], 0.0, atol=1e-14)
    assert robot.joint_names[:4] == ("root_x", "root_z", "root_pitch", "left_hip")


def test_actuated_joints_of_the_spatial_biped_are_its_fourteen_hinges():
    robot = load_robot("spatial-biped")
    assert robot.actuated == robot.joint_names[1:]
    assert len(robot.actuated) == 14
    np.testing.assert_allclose(robot.model.dof_armature[6:], 0.05)
    low, high = robot.model.jnt_range[1:].T
    assert np.all((low < robot.home[7:]) & (robot.home[7:] < high))


def test_position_servos_hold_the_home_pose_in_equilibrium():
    robot = load_robot("spatial-biped", actuators="position", kp=1000, kd=50)
    np.testing.assert_array_equal(robot.home_ctrl, robot.home[7:])
    data = posed(robot, robot.home)
    data.ctrl[:] = robot.home_ctrl
    mujoco.mj_forward(robot.model, data)
    np.testing.assert_allclose(data.actuator_force, 0.0, atol=1e-12)
    data.qvel[6:] = 1.0
    data.qpos[7:] += 0.01
    mujoco.mj_forward(robot.model, data)
    np.testing.assert_allclose(data.actuator_force, -1000 * 0.01 - 50 * 1.0, rtol=1e-9)


def test_the_motors_can_hold_the_home_pose_against_gravity():
    robot = load_robot("spatial-biped")
    data = posed(robot, robot.home)
    # Half the weight under the middle of each sole and no torque there: the statics of double support.
    force = np.zeros(robot.model.nv)
    for foot in robot.feet:
        jacobian = np.zeros((3, robot.model.nv))
        body = robot.model.body(foot.body).id
        middle = data.xpos[body] + foot.polygon.mean(axis=0)
        mujoco.mj_jac(robot.model, data, jacobian, None, middle, body)
        force += jacobian.T @ [0, 0, robot.weight / 2]
    torque = data.qfrc_bias - force
    np.testing.assert_allclose(torque[:6], 0.0, atol=1e-6)
    assert np.all(np.abs(torque[6:]) < 0.5 * robot.model.actuator_ctrlrange[:, 1])


def test_a_homogeneous_ball_and_brick_have_the_inertia_of_their_shape():
    ball, brick = load_robot("ball", radius=0.2, mass=3), load_robot("brick", mass=12)
    np.testing.assert_allclose(ball.model.body_inertia[1], 0.4 * 3 * 0.2**2)
    np.testing.assert_allclose(brick.model.body_inertia[1], [0.1**2 + 0.06**2, 0.2**2 + 0.06**2, 0.2**2 + 0.1**2])


def test_parameters_are_kept_with_their_defaults_resolved():
    parameters = load_robot("spatial-biped", height=1.8).parameters
    assert parameters["thigh"] == pytest.approx(0.245 * 1.8)
    assert parameters["actuators"] == "motor"


def test_an_impossible_stance_is_refused():
    with pytest.raises(RobotError, match="cannot stand"):
        load_robot("spatial-biped", foot_length=6.0)
