"""The two humanoids of Moraud 2008: joints and mass as published, soles of 3 to 64 corners, a stance they keep."""

from __future__ import annotations

import numpy as np
import pytest
from robot_models import area, posed

import footfall as ff
from footfall.control.posture import standing_torques
from footfall.errors import RobotError
from footfall.robot import load_robot
from footfall.standing import point_positions

# joints, kg, m: as published for Hoap-2 and CB
PUBLISHED = {"small-humanoid": (25, 7.0, 0.50), "full-humanoid": (50, 92.0, 1.57)}
both = pytest.mark.parametrize("name", PUBLISHED)


@both
def test_joints_and_mass_are_those_published(name):
    robot = load_robot(name)
    joints, mass, _ = PUBLISHED[name]
    assert (robot.model.nv, robot.model.nu, robot.point_count) == (6 + joints, joints, 8)
    assert robot.actuated == robot.joint_names[1:]
    assert robot.mass == pytest.approx(mass, rel=1e-12)
    assert load_robot(name, mass=50.0).mass == pytest.approx(50.0, rel=1e-12)


@both
@pytest.mark.parametrize("scale", [1.0, 1.3])
def test_it_is_as_tall_as_asked_with_straight_legs(name, scale):
    height = scale * PUBLISHED[name][2]
    robot = load_robot(name, height=height)
    data = posed(robot, robot.model.qpos0)
    top = data.geom("head").xpos[2] + robot.model.geom("head").size[2]
    assert top - point_positions(robot, data)[:, 2].min() == pytest.approx(height, rel=1e-9)


@both
@pytest.mark.parametrize("options", [{}, {"vertices": 3}, {"vertices": 64, "knee": 0.8}])
def test_at_home_it_stands_upright_with_its_weight_over_the_middle_of_its_soles(name, options):
    robot = load_robot(name, **options)
    data = posed(robot, robot.home)
    points = point_positions(robot, data)
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-12)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    np.testing.assert_allclose(data.subtree_com[1, :2], middle[:2], atol=1e-9)
    np.testing.assert_allclose(data.body("trunk").xmat.reshape(3, 3), np.eye(3), atol=1e-12)
    low, high = robot.model.jnt_range[1:].T
    assert np.all((low <= robot.home[7:]) & (robot.home[7:] <= high))
    assert data.ncon == 0


@both
def test_right_mirrors_left(name):
    model = load_robot(name).model
    pairs = [model.body(i).name for i in range(model.nbody) if model.body(i).name.startswith("left_")]
    assert len(pairs) >= 6
    for left in pairs:
        one, other = model.body(left), model.body(left.replace("left", "right"))
        assert one.mass == other.mass
        np.testing.assert_array_equal(one.inertia, other.inertia)
        np.testing.assert_array_equal(one.pos * [1, -1, 1], other.pos)
        np.testing.assert_array_equal(one.ipos * [1, -1, 1], other.ipos)
    joints = [name for name in load_robot(name).joint_names if name.startswith("left_")]
    for left in joints:
        one, other = model.joint(left), model.joint(left.replace("left", "right"))
        np.testing.assert_array_equal(one.axis, other.axis)
        same = abs(one.axis[1]) == 1.0
        np.testing.assert_array_equal(one.range if same else -one.range[::-1], other.range)


@both
def test_the_motors_can_hold_the_home_pose_against_gravity(name):
    robot = load_robot(name)
    torque = standing_torques(robot, robot.home)
    np.testing.assert_allclose(torque[:6], 0.0, atol=1e-9)
    assert np.all(np.abs(torque[6:]) < 0.5 * robot.model.actuator_ctrlrange[:, 1])


@both
@pytest.mark.parametrize("law", ["spring-damper", "linearizing-penalty", "time-stepping"])
def test_it_stands_still_in_a_posture(name, law):
    robot = load_robot(name)
    rec = ff.Simulation(robot, law=law, dt=1e-3).run(1.0, controller="posture", record_dt=0.01)
    assert rec.failure is None
    assert rec.force[-1, :, 2].sum() == pytest.approx(robot.weight, rel=1e-3)
    # It may sink by the rest penetration of the law, 1 mm.
    np.testing.assert_allclose(rec.qpos, np.broadcast_to(robot.home, rec.qpos.shape), atol=2e-3)


@pytest.mark.parametrize("vertices", [3, 16])
def test_it_stands_on_any_number_of_corners(vertices):
    robot = load_robot("small-humanoid", vertices=vertices)
    rec = ff.Simulation(robot, law="time-stepping", dt=1e-3).run(1.0, controller="posture", record_dt=0.01)
    assert rec.failure is None
    assert rec.force[-1, :, 2].sum() == pytest.approx(robot.weight, rel=1e-3)


@pytest.mark.parametrize("vertices", [3, 4, 5, 8, 17, 64])
def test_soles_have_the_corners_asked_for_and_fill_their_rectangle(vertices):
    for foot in load_robot("small-humanoid", vertices=vertices).feet:
        assert len(foot.points) == len(foot.polygon) == vertices
        np.testing.assert_allclose(np.ptp(foot.points, axis=0), [0.098, 0.063, 0.0], atol=1e-12)
        mirrored = foot.points * [1, -1, 1]
        distance = np.linalg.norm(mirrored[:, None] - foot.points[None], axis=2)
        assert distance.min(axis=1).max() < 1e-12


def test_many_corners_approach_the_rounded_rectangle():
    """Of x^4 + y^4 = 1 the area is 0.927 of its square's: Gamma(1/4)^2 / (2 sqrt(pi)) / 4."""
    shares = [area(load_robot("small-humanoid", vertices=n).feet[0].polygon) / (0.098 * 0.063) for n in (3, 4, 64)]
    assert shares[:2] == pytest.approx([0.5, 1.0])
    assert shares[2] == pytest.approx(0.9270, abs=5e-3)


@pytest.mark.parametrize("vertices", [2, 65, 4.5, -3])
def test_other_numbers_of_corners_are_refused(vertices):
    with pytest.raises(RobotError, match="vertices of robot 'small-humanoid' must be"):
        load_robot("small-humanoid", vertices=vertices)


SQUARE = np.array([[0.05, 0.03, -0.037], [-0.05, 0.03, -0.037], [-0.05, -0.03, -0.037], [0.05, -0.03, -0.037]])


@pytest.mark.parametrize("ring", [SQUARE, SQUARE[::-1], SQUARE[:3], SQUARE + [[0, 0, 1e-4], [0, 0, 0]] * 2])
def test_a_flat_convex_polygon_is_taken_as_the_sole(ring):
    feet = {side: {"body": f"{side}_foot", "polygon": ring} for side in ("left", "right")}
    robot = load_robot("small-humanoid", feet=feet)
    assert area(robot.feet[0].polygon) == pytest.approx(abs(area(np.array(ring))))
    np.testing.assert_array_equal(robot.feet[0].points, ring)


@pytest.mark.parametrize(
    ("ring", "message"),
    [
        (SQUARE[:2], "has 2 vertices; a sole is a flat convex polygon"),
        (np.vstack([SQUARE, [[0.0, 0.0, -0.037]]]), "is not convex, at vertex 4 it does not turn inwards; a sole is"),
        (SQUARE[[0, 2, 1, 3]], "is not convex"),
        ([[np.cos(a), np.sin(a), 0.0] for a in 0.8 * np.pi * np.arange(5)], "is not convex, its edges cross"),
        (np.add(SQUARE, [[0, 0, 0.02], [0, 0, 0], [0, 0, 0], [0, 0, 0]]), "is not flat, vertex . lies 0.005"),
    ],
)
def test_a_polygon_that_is_not_flat_or_not_convex_is_refused_and_told_what_is_supported(ring, message):
    with pytest.raises(RobotError, match=message):
        load_robot("small-humanoid", feet={"left": {"body": "left_foot", "polygon": ring}})


def test_a_foot_without_its_body_is_refused():
    with pytest.raises(RobotError, match="must be a body name"):
        load_robot("small-humanoid", feet={"left": {"polygon": SQUARE}})
