"""Balance control: it stands, gives way and comes back; what it cannot do it says."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.control import Balance, controllers, named_controller
from footfall.control.balance import PAPER, Gains, Wanted, desired_wrench, gains, least_force
from footfall.control.body.stance import size_of
from footfall.control.posture import standing_torques
from footfall.control.senses import carrying_torques, com_jacobian, tree_of
from footfall.errors import ControllerError

PUSH = ff.Push("trunk", force=(0.0, 70.0, 0.0), start=0.2, duration=0.05)


@pytest.fixture(scope="module")
def biped() -> ff.Robot:
    return ff.load_robot("torque-biped")


def kinds(rec: ff.Recording) -> list[str]:
    return [warning["kind"] for warning in rec.info["warnings"]]


# ---- its equations ---------------------------------------------------------------------------------------------


def moving(robot: ff.Robot, seed: int = 0) -> mujoco.MjData:
    data, random = mujoco.MjData(robot.model), np.random.default_rng(seed)
    data.qpos[:] = robot.home
    mujoco.mj_integratePos(robot.model, data.qpos, 0.3 * random.normal(size=robot.model.nv), 1.0)
    data.qvel[:] = random.normal(size=robot.model.nv)
    mujoco.mj_forward(robot.model, data)
    return data


@pytest.mark.parametrize("name", ["torque-biped", "spatial-biped", "quadruped"])
def test_jacobians_in_coordinates_of_the_centre_of_mass_are_mujocos(name):
    """(12)-(15): J_c is the point's Jacobian less that of the centre of mass; both from MuJoCo here."""
    robot = ff.load_robot(name)
    model, data = robot.model, moving(robot)
    body = [int(b) for b in robot.point_body]
    tree = tree_of(model, 1, body)
    jacobian, expected = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    com_jacobian(data.cdof, data.subtree_com, tree, jacobian)
    mujoco.mj_jacSubtreeCom(model, data, expected, 1)
    np.testing.assert_allclose(jacobian, expected, atol=1e-12)
    place = np.array(
        [data.xpos[b] + data.xmat[b].reshape(3, 3) @ p for b, p in zip(body, robot.point_position, strict=True)]
    )
    force = np.random.default_rng(1).normal(size=(len(body), 3))
    torque = np.zeros(model.nv)
    carrying_torques(data.cdof, jacobian, tree, place - data.subtree_com[1], force, torque)
    total = np.zeros(model.nv)
    for b, at, f in zip(body, place, force, strict=True):
        point = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, point, None, at, b)
        total -= (point - expected).T @ f
    np.testing.assert_allclose(torque, total, atol=1e-12)


def test_at_rest_the_torques_are_those_that_carry_the_robot(biped):
    rec = ff.Simulation(biped).run(0.0, controller=Balance())
    np.testing.assert_allclose(rec.ctrl[0], standing_torques(biped, biped.home)[6:], atol=0.02)  # a2: 1e-3 of a torque
    np.testing.assert_allclose(rec.signals["desired_wrench"][0], [0, 0, biped.weight, 0, 0, 0], atol=1e-9)


def test_gains_and_floor_are_the_papers_for_its_robot_and_follow_inertia_and_frequency():
    own = gains(Balance(damping_h=0.8), PAPER)  # ours is larger: more pushes are survived
    np.testing.assert_allclose(own.stiffness, [900.0, 900.0, 3000.0])
    m = PAPER.mass
    np.testing.assert_allclose(own.damping, [2 * 0.8 * math.sqrt(900 * m)] * 2 + [2 * 0.2 * math.sqrt(3000 * m)])
    assert (own.kr, own.dr) == (100.0, 50.0)
    np.testing.assert_allclose(own.weight, [0.0, 0.0, 9.81 * m])
    assert least_force(PAPER) == 4.0
    # Half the height falls twice as fast: the same share of g/h, by twice the mass and the inertia given.
    small = PAPER._replace(mass=2.0 * m, height=0.5 * PAPER.height, points=16)
    other = gains(Balance(kh=100.0), small)
    np.testing.assert_allclose([other.stiffness[0], other.stiffness[2]], [100.0, 12000.0])
    np.testing.assert_allclose([other.kr, other.dr], [200.0, 50.0 * math.sqrt(2.0)])
    np.testing.assert_allclose(least_force(small), 4.0)  # twice the weight on twice the points


def test_the_papers_robot_has_the_size_that_gains_refer_to(biped):
    size = size_of(biped, biped.point_count)
    np.testing.assert_allclose(
        [size.mass, size.inertia, size.height], [PAPER.mass, PAPER.inertia, PAPER.height], rtol=1e-3
    )
    assert size.points == PAPER.points


def test_the_trunk_is_turned_back_by_the_spring_of_equation_21():
    """Against the quaternion, and against the potential: torque is minus its derivative along every axis."""
    stiffness, random = 70.0, np.random.default_rng(2)
    own = Gains(np.zeros(3), np.zeros(3), np.zeros(3), stiffness, 0.0)
    for _ in range(5):
        quaternion = random.normal(size=(2, 4))
        quaternion /= np.linalg.norm(quaternion, axis=1)[:, None]

        def torque(actual, target):
            flat, goal, wrench = np.zeros(9), np.zeros(9), np.zeros(6)
            mujoco.mju_quat2Mat(flat, actual)
            mujoco.mju_quat2Mat(goal, target)
            wanted = Wanted(np.zeros(3), np.zeros(3), goal.reshape(3, 3), np.zeros(3))
            desired_wrench(own, wanted, np.zeros(3), np.zeros(3), flat, np.zeros(6), np.zeros(3), wrench)
            return wrench[3:]

        def potential(actual, target):
            inverse, turn = np.zeros(4), np.zeros(4)
            mujoco.mju_negQuat(inverse, target)
            mujoco.mju_mulQuat(turn, inverse, actual)
            return 2.0 * stiffness * turn[1:] @ turn[1:]

        for axis in np.eye(3):
            ahead, back = (np.zeros(4) for _ in range(2))
            for turned, angle in ((ahead, 1e-6), (back, -1e-6)):
                small = np.array([math.cos(angle / 2), *(math.sin(angle / 2) * axis)])
                mujoco.mju_mulQuat(turned, small, quaternion[0])
            slope = (potential(ahead, quaternion[1]) - potential(back, quaternion[1])) / 2e-6
            assert torque(quaternion[0], quaternion[1]) @ axis == pytest.approx(-slope, abs=1e-4)


# ---- standing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ff.laws())
def test_pushed_by_70_newton_it_comes_back_under_every_law(biped, law):
    rec = ff.Simulation(biped, law=law).run(1.8, controller=Balance(), pushes=[PUSH]).check()
    error = np.linalg.norm(rec.signals["com_error"], axis=1)
    assert 5e-3 < error.max() < 15e-3
    assert error[rec.time > 1.55].max() < 2e-3
    assert not rec.summary()["fell"]
    assert rec.signals["commanded_force"][..., 2].min() >= 4.0 - 1e-6
    assert kinds(rec) == []
    # What is asked for is what the ground gives, but for what is still moving.
    np.testing.assert_allclose(rec.total_force[-1, 2], biped.weight, rtol=0.02)


@pytest.mark.parametrize("name", ["spatial-biped", "quadruped"])
def test_other_robots_stand_with_gains_by_their_mass(name):
    robot = ff.load_robot(name)
    push = ff.Push("trunk", force=(0.0, 1.4 * robot.mass, 0.0), start=0.1, duration=0.05)
    rec = ff.Simulation(robot).run(1.6, controller="balance", pushes=[push]).check()
    error = np.linalg.norm(rec.signals["com_error"], axis=1)
    assert error.max() > 3e-3 and error[-1] < 1e-3


@pytest.mark.parametrize("heading", [0.0, math.pi / 2])
def test_on_a_slope_forces_keep_to_its_friction_and_floor(biped, heading):
    ground = ff.Ground.slope(math.radians(10.0), heading=heading, friction=0.5)
    rec = ff.Simulation(biped, ground=ground).run(1.0, controller=Balance(), pushes=[PUSH]).check()
    assert not rec.summary()["fell"]
    local = rec.signals["commanded_force"] @ ground.frame(np.zeros(3)).T
    assert local[..., 2].min() >= 4.0 - 1e-6
    assert (np.linalg.norm(local[..., :2], axis=2) <= 0.5 * local[..., 2] + 1e-5).all()


def test_on_uneven_ground_every_point_has_the_normal_under_it(biped):
    ground = ff.Ground.stairs(rise=-0.02, run=1.0, count=1, start=0.0, heading=math.pi / 2)
    rec = ff.Simulation(biped, ground=ground).run(1.5, controller=Balance()).check()
    assert not rec.summary()["fell"]
    np.testing.assert_allclose(rec.total_force[-1, 2], biped.weight, rtol=0.05)
    assert (rec.force[-1, :, 2].reshape(2, 4).sum(axis=1) > 0.2 * biped.weight).all()  # both feet carry


@pytest.mark.parametrize("law", ["time-stepping", "spring-damper", "mujoco"])
def test_limbs_without_load_are_held_arms_in_their_pose_and_feet_by_their_place(law):
    """A push of 0.04 weights times a second lifts a foot by a centimetre and more.

    Free arms would swing out by 1.6 rad; under spring-damper a foot that is loaded in the air lets the robot fall.
    """
    robot = ff.load_robot("small-humanoid")
    root = robot.model.body(1).name
    push = ff.Push(root, (0.0, 0.4 * robot.weight, 0.0), start=0.1, duration=0.1)
    rec = ff.Simulation(robot, law=law).run(2.0, controller=Balance(), pushes=[push], record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    assert rec.gap[:, : robot.point_count].max(axis=0).max() > 0.01
    arms = [i for i, name in enumerate(robot.joint_names) if "shoulder" in name or "elbow" in name]
    assert arms
    angles = rec.qpos[:, robot.model.jnt_qposadr[arms]]
    assert np.abs(angles[-1] - angles[0]).max() < 0.05  # a part of what free ones do
    way = rec.position[-1] - rec.position[0]
    assert np.abs(way[: robot.point_count, :2]).max() < 0.02  # of 0.14 m between the feet


@pytest.mark.parametrize("held", [True, False])
def test_the_papers_controller_takes_all_points_to_touch(biped, held):
    """In the air it asks the ground for forces nevertheless; ours asks for the least that presses a foot."""
    sim = ff.Simulation(biped)
    qpos = sim.place()
    qpos[2] += 0.1
    rec = sim.run(0.06, controller=Balance(hold_limbs=held), qpos=qpos)
    assert not rec.force.any()
    asked = rec.signals["commanded_force"][-1, :, 2].sum() / biped.weight
    assert asked < 0.1 if held else asked > 0.5


def test_it_follows_a_reference_of_place_and_orientation(biped):
    def sway(time):
        return np.array([0.0, 0.02 * (1.0 - math.cos(math.pi * min(time, 1.0))), 0.0])

    def nod(time):
        return np.array([0.0, 0.05 * (1.0 - math.cos(math.pi * min(time, 1.0))), 0.0])

    rec = ff.Simulation(biped).run(3.0, controller=Balance(com=sway, orientation=nod)).check()
    moved = ff.measure.momentum(rec).com
    assert moved[-1, 1] - moved[0, 1] == pytest.approx(0.04, abs=1e-3)
    w, _, y, _ = rec.qpos[-1, 3:7]
    assert 2.0 * math.atan2(y, w) == pytest.approx(0.1, abs=3e-3)
    assert kinds(rec) == []


def test_a_reference_is_asked_once_for_every_step_and_never_before_the_start(biped):
    """One that takes the root of the time was said to give what is no number at t = -0.001 s."""
    asked = []

    def rise(time):
        asked.append(time)
        return np.array([0.0, 0.0, 1e-3 * math.sqrt(time)])

    rec = ff.Simulation(biped).run(0.1, controller=Balance(com=rise, orientation=lambda time: (0.0, 0.0, time**1.5)))
    assert min(asked) == 0.0 and len(asked) == len(rec) + 1  # each sample, and a step beyond the last
    np.testing.assert_allclose(np.diff(asked), rec.dt, rtol=1e-6)


# ---- what cannot be had ----------------------------------------------------------------------------------------


def test_too_large_a_push_ends_in_a_fall_that_is_told(biped):
    push = ff.Push("trunk", force=(0.0, 500.0, 0.0), start=0.1, duration=0.1)
    rec = ff.Simulation(biped).run(1.2, controller=Balance(), pushes=[push])
    assert rec.failure is None
    assert kinds(rec)[0] == "infeasible" and kinds(rec).count("fallen") == 1
    fallen = next(warning for warning in rec.info["warnings"] if warning["kind"] == "fallen")
    assert "before: infeasible from" in fallen["message"]
    told = rec.summary()
    # two thirds of the height come before the half at which motors are switched off
    assert told["fell"] and 0.2 < told["fell_at_s"] <= fallen["time"]
    assert told["fell_because"].startswith("tipped to its left: its centre of mass left the support at 0.")
    np.testing.assert_array_equal(rec.ctrl[rec.time > fallen["time"]], 0.0)
    assert len(kinds(rec)) < 12  # episodes, not steps


def test_a_floor_that_is_more_than_the_weight_is_infeasible_from_the_start(biped):
    rec = ff.Simulation(biped).run(0.05, controller=Balance(floor=100.0))
    assert rec.info["warnings"][0]["kind"] == "infeasible" and rec.info["warnings"][0]["time"] == 0.0
    assert "short (t = 0 s to 0.05 s)" in rec.info["warnings"][0]["message"]
    np.testing.assert_allclose(rec.signals["commanded_force"][0, :, 2], 100.0, atol=1e-5)


def test_a_motor_at_its_limit_is_told_and_not_asked_for_more(biped):
    rec = ff.Simulation(biped).run(0.1, controller=Balance(com=lambda time: (0.0, 0.0, 1.5)))
    assert "saturated" in kinds(rec)
    assert np.abs(rec.ctrl).max() <= 176.0
    told = next(one for one in rec.info["warnings"] if one["kind"] == "saturated")
    assert "N m and has" in told["message"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kh": -1.0}, "kh = -1.0, but it must be a number >= 0"),
        ({"sides": 2}, "sides = 2, but it must be a whole number >= 3"),
        ({"floor": -1.0}, "floor = -1.0, but it must be a number >= 0"),
        ({"friction": math.nan}, "friction = nan, but it must be a number >= 0"),
        ({"com": lambda time: (1.0, 2.0)}, "the reference com gave"),
    ],
)
def test_bad_options_are_one_sentence(biped, options, message):
    with pytest.raises(ControllerError, match=message):
        ff.Simulation(biped).run(0.01, controller=Balance(**options))


def test_it_is_known_by_name_and_tells_what_differs():
    assert "balance" in controllers()
    assert named_controller("balance") == Balance()
    assert str(Balance()) == "balance"
    assert str(Balance(kh=500.0, sides=8)) == "balance(kh=500.0, sides=8)"


def test_a_robot_without_motors_is_refused():
    with pytest.raises(ControllerError, match="ball has no motors"):
        ff.Simulation("ball").run(0.1, controller=Balance())
