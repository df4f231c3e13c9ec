"""The human walk on the hanavan man: feet stand, none goes through the ground, and the ground gives what it takes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import scipy.optimize

import footfall as ff
from footfall.control import HumanWalk
from footfall.errors import ControllerError, RobotError
from footfall.gait import human_walk, measured_walk
from footfall.gait.human.body import body_of
from footfall.gait.human.fit import FLAT, HEEL_OFF, TOE_OFF, SoftWalkFit, WalkFit, fit_soft_walk, fit_walk
from footfall.gait.human.walk import coordinates, inverse, kept, sideways, soft_ground
from footfall.measure import assistance
from footfall.measure.forces import stance_forces

SLOW_AND_QUICK = [
    pytest.param("spring-damper", 1e-4, marks=pytest.mark.slow, id="soft"),
    pytest.param("linearizing-penalty", 1e-3, id="hard"),
]


@pytest.fixture(scope="module", params=[True, False], ids=["plane", "space"])
def robot(request):
    return ff.load_robot("hanavan", planar=request.param, assist=True)


@pytest.fixture(scope="module")
def problem():
    return WalkFit(body_of(ff.load_robot("hanavan", planar=True)), measured_walk())


@pytest.fixture(scope="module")
def walk(problem):
    return fit_walk(problem)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def soles(robot, motion):
    """(N, P, 3) contact points over one period."""
    model, data, found = robot.model, mujoco.MjData(robot.model), []
    for qpos in motion.qpos:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        turn = data.xmat[robot.point_body].reshape(-1, 3, 3)
        found.append(data.xpos[robot.point_body] + np.einsum("pij,pj->pi", turn, robot.point_position))
    return np.array(found)


def test_the_closed_form_asks_the_ground_for_what_mujoco_says(problem, walk):
    robot = ff.load_robot("hanavan", planar=True)
    aside = sideways(problem, walk, 0.2, 0.1)
    wanted = inverse(robot, *coordinates(robot, walk, aside))[::5, :3]  # x, z, pitch of the root
    seen = problem.look(problem.unknowns(walk))
    hip = walk.curve("x", problem.phase).value + 1j * walk.curve("z", problem.phase).value
    # Force on the ground at z = 0 below the pressure centre: its moment about the hips.
    moment = (seen.pressure - hip.real) * -seen.force.imag - hip.imag * seen.force.real
    assert np.allclose(wanted[:, 0], seen.force.real, atol=1e-6)
    assert np.allclose(wanted[:, 1], seen.force.imag, atol=1e-6)
    assert np.allclose(wanted[:, 2], moment, atol=1e-6)


def test_a_standing_foot_stays_where_it_is_and_none_goes_through_the_ground(robot):
    motion = human_walk(robot)
    points, phase = soles(robot, motion), np.arange(len(motion)) / len(motion)
    left = points[:, : len(points[0]) // 2]
    length = robot.feet[0].points[:, 0]
    heel, toe = np.isclose(length, length.min()), np.isclose(length, length.max())
    # The heel leaves smoothly, so it begins to a little before.
    on_heel, on_toe = phase < HEEL_OFF - 0.03, (phase > FLAT) & (phase < TOE_OFF)
    # The fit weighs places by 0.2 mm, against angles by 3 degrees.
    for which, when in ((heel, on_heel), (toe, on_toe)):
        at = left[when][:, which].mean(axis=1)
        assert np.ptp(at[:, 0]) < 0.002
        assert np.abs(at[:, 2]).max() < 0.0015
    assert points[..., 2].min() > -0.0015
    swing = (phase > TOE_OFF + 0.08) & (phase < 0.92)
    assert left[swing][..., 2].min() > 0.01


def test_the_walk_repeats_moves_on_and_keeps_within_the_joints(robot):
    motion = human_walk(robot)
    model = robot.model
    joints = model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
    angle, speed = motion.qpos[:, model.jnt_qposadr[joints]], motion.qvel[:, model.jnt_dofadr[joints]]
    rate = np.diff(angle, axis=0) * len(motion) / motion.period
    assert np.allclose(rate, 0.5 * (speed[1:] + speed[:-1]), atol=0.01)
    closing = motion.qpos[0] + motion.advance - motion.qpos[-1]
    assert np.abs(closing).max() < 0.03
    assert 1.0 < motion.advance[0] / motion.period < 1.2  # m/s; measured 1.17 on longer legs
    for j in range(model.njnt):
        if model.jnt_limited[j]:
            angle = motion.qpos[:, model.jnt_qposadr[j]]
            assert model.jnt_range[j, 0] <= angle.min() and angle.max() <= model.jnt_range[j, 1], model.joint(j).name


def test_the_ground_can_give_what_the_walk_takes(robot):
    """What is left for somebody else to give, on the root: forces in N, moments in N m."""
    motion = human_walk(robot)
    count = 3 if robot.parameters["planar"] else 6
    left = np.sqrt(np.mean(motion.torque[:, :count] ** 2, axis=0))
    assert left.max() < 0.02 * robot.weight
    strength = np.abs(motion.torque[:, count:]).max(axis=0)
    allowed = robot.model.actuator_ctrlrange[: len(strength), 1]
    joints = robot.model.jnt_dofadr[robot.model.actuator_trnid[: len(strength), 0]] - count
    assert (strength[joints] < allowed).all()


def test_the_fit_stays_near_the_measured_angles(problem, walk):
    curves = problem.curves(problem.unknowns(walk))
    off = {
        name: np.degrees(np.sqrt(np.mean((curves[name].value - problem.angles[name]) ** 2))) for name in problem.angles
    }
    assert off["thigh"] < 4.0 and off["shank"] < 4.0
    assert off["foot"] < 8.0  # a foot without toes


def test_forces_asked_for_are_near_the_measured_ones(problem, walk):
    asked = problem.look(problem.unknowns(walk)).force / problem.body.weight - problem.force
    assert rms(asked.imag) < 0.04
    assert rms(asked.real) < 0.03


def test_a_taller_man_walks_faster_as_in_dynamic_similarity(problem, walk):
    tall = fit_walk(WalkFit(body_of(ff.load_robot("hanavan", planar=True, stature=2.1)), measured_walk()))
    assert tall.stride_time == pytest.approx(1.2**0.5 * walk.stride_time, rel=1e-6)
    assert tall.speed == pytest.approx(1.2**0.5 * walk.speed, rel=0.01)  # masses do not scale with the stature alone


def test_on_soft_ground_the_depth_of_the_feet_gives_the_force(problem, walk, monkeypatch):
    """Fitted to a thousandth of what is left, not to the last digits."""
    exactly = scipy.optimize.least_squares
    monkeypatch.setattr(scipy.optimize, "least_squares", lambda *given, **how: exactly(*given, **how | {"ftol": 1e-3}))
    robot, law = ff.load_robot("hanavan", planar=True), ff.law("hunt-crossley")
    soft = SoftWalkFit(problem.body, measured_walk(), soft_ground(robot, law, 1e-4))
    found = fit_soft_walk(soft, walk)
    own, _ = soft.loads(soft.unknowns(found))
    weight = problem.body.weight
    assert rms(own / weight - soft.vertical) < 0.06
    both = own + np.roll(own, -len(own) // 2)
    assert rms(both - soft.look(soft.unknowns(found)).force.imag) < 0.05 * weight


@pytest.mark.parametrize(("law", "dt"), SLOW_AND_QUICK)
def test_he_walks_with_little_help(robot, law, dt):
    law = ff.law(law)
    controller = HumanWalk(law=law, dt=dt)  # a law that gives no way is passed over
    rec = ff.Simulation(robot, law=law, dt=dt).run(4.2, controller=controller, record_dt=1e-3)
    late = rec.slice(1.1)
    helped = assistance(late)
    assert helped.force_rms < 0.01 and helped.moment_rms < 20.0, helped
    forces = stance_forces(late)
    assert len(forces) >= 3
    mean, measured = forces.mean(axis=0), measured_walk().force
    assert rms(mean[:, 2] - measured["z"]) < 0.12
    assert rms(mean[:, 0] - measured["x"]) < 0.06
    assert mean[:20, 2].max() > 1.0 and mean[30:, 2].max() > 1.0 and mean[15:35, 2].min() < 1.0


def test_only_the_hanavan_man_with_somebody_to_hold_him_walks_so():
    sim = ff.Simulation("hanavan", law="spring-damper")
    with pytest.raises(ControllerError, match="load the robot with assist=True"):
        sim.run(0.1, controller="human-walk")
    with pytest.raises(RobotError, match="not of 'spatial-biped'"):
        human_walk(ff.load_robot("spatial-biped"))


def test_a_fit_is_made_once_kept_to_the_last_bit_and_made_anew_where_its_file_is_damaged(walk, tmp_path, monkeypatch):
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))
    made = []

    def fit():
        made.append(1)
        return walk

    given = ("body", {"pressure": np.array([0.1, np.nan])}, True)
    for number in (1, 1):
        again = kept(given, fit)
        assert len(made) == number
        assert (again.stride_time, again.speed, again.foot) == (walk.stride_time, walk.speed, walk.foot)
        assert all(np.array_equal(again.coefficients[name], walk.coefficients[name]) for name in walk.coefficients)
    kept(("body", {"pressure": np.array([0.1, 0.2])}, True), fit)
    assert len(made) == 2
    for file in (tmp_path / "walks").iterdir():
        file.write_text("{")
    assert kept(given, fit) is walk and len(made) == 3
