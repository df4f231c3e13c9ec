"""Computed torque with the feet that carry held."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.control import ComputedTorque, GaitWalk, named_controller
from footfall.control.computed_torque import ConstrainedDynamics
from footfall.errors import ControllerError
from footfall.gait.library import find_gait
from footfall.gait.polynomial import standing_on
from footfall.gait.reference import Target

PLANAR = ff.load_robot("planar-biped")
GROUND = ff.Ground.plane(friction=0.75)


@dataclass(frozen=True)
class Still:
    """A motion that does not move: a posture (one number per actuator, rad) and how the feet share the load."""

    posture: np.ndarray
    load: tuple[float, ...]

    def target(self, phase: int, t: float) -> Target:
        nothing = np.zeros(len(self.posture))
        return Target(self.posture, nothing, nothing, np.array(self.load))

    def duration(self, phase: int) -> float:
        return math.inf

    def landing(self, phase: int) -> None:
        return None


def touch_downs(rec: ff.Recording) -> np.ndarray:
    return np.flatnonzero(np.diff(rec.signals["phase"][:, 0]) > 0) + 1


# ---- the law ---------------------------------------------------------------------------------------------------


def test_on_one_foot_the_torques_are_those_of_the_paper():
    """(39) written out with M and N of (35), against the general solution."""
    rng = np.random.default_rng(3)
    dynamics = ConstrainedDynamics(PLANAR)
    q, qd, wanted = rng.uniform(-0.4, 0.4, 6), rng.normal(size=6), 5.0 * rng.normal(size=6)
    qpos, qvel = standing_on(PLANAR, 0, q, qd)
    dynamics.set(qpos, qvel, np.array([1.0, 0.0]))
    np.testing.assert_allclose(dynamics.data.qvel, qvel, atol=1e-9)  # the foot rests already
    model, data = PLANAR.model, dynamics.data
    linear, angular, inertia, H = np.zeros((3, 9)), np.zeros((3, 9)), np.zeros((9, 9)), np.zeros(9)
    foot = model.body("left_foot").id
    mujoco.mj_jacBody(model, data, linear, angular, foot)
    J = np.stack([linear[0], linear[2], angular[1]])
    mujoco.mj_jacDot(model, data, linear, angular, data.xpos[foot], foot)
    drift = np.stack([linear[0], linear[2], angular[1]]) @ qvel
    M = np.vstack([-np.linalg.solve(J[:, :3], J[:, 3:]), np.eye(6)])
    N = np.concatenate([-np.linalg.solve(J[:, :3], drift), np.zeros(6)])
    mujoco.mj_fullM(model, data, inertia)
    mujoco.mj_rne(model, data, 0, H)
    np.testing.assert_allclose(dynamics.torques(wanted), M.T @ (inertia @ (M @ wanted + N) + H), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("load", [(1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("name", ["planar-biped", "spatial-biped"])
def test_the_torques_give_the_accelerations_that_were_asked_for(name, load):
    """The model (31), solved for accelerations and ground forces with these torques, in the plane and in space."""
    robot = ff.load_robot(name)
    rng = np.random.default_rng(6)
    dynamics = ConstrainedDynamics(robot)
    model, data = robot.model, dynamics.data
    qvel, wanted = rng.normal(size=model.nv), 5.0 * rng.normal(size=model.nu)
    dynamics.set(robot.home, qvel, np.array(load))  # which brings the stance foot to rest
    push = -dynamics.bias
    push[dynamics.actuated] += dynamics.torques(wanted)
    J = dynamics.jacobian
    rates = np.zeros_like(J)
    for i, p in enumerate(np.flatnonzero(np.array(load)[robot.point_foot])):
        body = int(robot.point_body[p])
        at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ robot.point_position[p]
        mujoco.mj_jacDot(model, data, rates[3 * i : 3 * i + 3], None, at, body)
    whole = np.block([[dynamics.inertia, -J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.lstsq(whole, np.concatenate([push, -rates @ data.qvel]), rcond=1e-10)[0]
    np.testing.assert_allclose(found[dynamics.actuated], wanted, rtol=1e-6, atol=1e-6)


def test_a_moving_foot_is_taken_as_after_a_plastic_impact():
    rng = np.random.default_rng(4)
    dynamics = ConstrainedDynamics(PLANAR)
    qpos, _ = standing_on(PLANAR, 0, rng.uniform(-0.4, 0.4, 6), np.zeros(6))
    before = rng.normal(size=9)
    dynamics.set(qpos, before, np.array([1.0, 0.0]))
    after = dynamics.data.qvel.copy()
    np.testing.assert_allclose(dynamics.jacobian @ after, 0.0, atol=1e-12)
    impulse = dynamics.inertia @ (after - before)  # must be one of the foot: J^T p
    fitted = dynamics.jacobian.T @ np.linalg.lstsq(dynamics.jacobian.T, impulse, rcond=None)[0]
    np.testing.assert_allclose(fitted, impulse, atol=1e-9)


def test_in_flight_the_joints_still_do_as_they_are_told():
    rng = np.random.default_rng(5)
    dynamics = ConstrainedDynamics(PLANAR)
    qpos, qvel, wanted = PLANAR.home + np.array([0.0, 5.0, *np.zeros(7)]), rng.normal(size=9), rng.normal(size=6)
    dynamics.set(qpos, qvel, np.zeros(2))
    data = mujoco.MjData(PLANAR.model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, dynamics.torques(wanted)
    mujoco.mj_forward(PLANAR.model, data)
    np.testing.assert_allclose(data.qacc[3:], wanted, rtol=1e-9, atol=1e-9)


def test_two_feet_share_the_weight_as_the_reference_says():
    """Both feet are at the same place in the plane, so loads of 3 and 1 can be had exactly."""
    motion = Still(PLANAR.home[3:], (3.0, 1.0))
    rec = ff.Simulation(PLANAR, law="time-stepping").run(0.3, controller=ComputedTorque(motion=motion))
    np.testing.assert_allclose(rec.foot_force[-1, :, 2], PLANAR.weight * np.array([0.75, 0.25]), rtol=1e-3)


def at_home(robot: ff.Robot) -> Still:
    return Still(robot.home[-robot.model.nu :], (1.0, 1.0))


# ---- standing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar-biped", "spatial-biped"])
def test_a_push_on_two_feet_is_brought_back(name):
    robot = ff.load_robot(name)
    push = ff.Push("trunk", force=(40.0, 0.0, 0.0), duration=0.1)
    rec = ff.Simulation(robot, law="time-stepping").run(
        1.0, controller=ComputedTorque(motion=at_home(robot)), pushes=[push]
    )
    start = robot.model.nq - robot.model.nu
    assert np.abs(rec.qvel).max() > 0.01
    np.testing.assert_allclose(rec.qpos[-1, start:], robot.home[start:], atol=1e-3)
    assert rec.total_force[-1, 2] == pytest.approx(robot.weight, rel=1e-3)


def test_an_error_decays_as_the_gains_say():
    """On one rigid, flat foot the loop is linear: e'' + kv e' + kp e = 0, critically damped."""
    q = PLANAR.home[3:] + np.array([0.0, 0.0, 0.0, -0.3, 0.6, -0.3])  # one foot lifted
    off = 0.01 * np.array([0.3, -0.2, 0.1, 1.0, 0.5, -0.5])
    qpos, qvel = standing_on(PLANAR, 0, q + off, np.zeros(6))
    sim = ff.Simulation(PLANAR, law="time-stepping", ground=GROUND, dt=2e-4)
    rec = sim.run(0.1, controller=ComputedTorque(motion=Still(q, (1.0, 0.0))), qpos=qpos, qvel=qvel)
    expected = off * (1.0 + 20.0 * rec.time[-1]) * np.exp(-20.0 * rec.time[-1])
    np.testing.assert_allclose(rec.qpos[-1, 3:] - q, expected, atol=0.01 * np.abs(off).max())  # Euler, dt kv = 0.008


# ---- walking ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walked() -> ff.Recording:
    gait = find_gait(PLANAR).gait
    sim = ff.Simulation(PLANAR, law="time-stepping", ground=GROUND)
    return sim.run(6.5 * gait.step_duration, controller=ComputedTorque(motion=gait))


def test_six_steps_repeat_the_first(walked):
    downs = touch_downs(walked)
    assert len(downs) == 6
    assert not walked.summary()["fell"]
    at = walked.qpos[downs, 3:]
    np.testing.assert_allclose(at[2:], at[:-2], atol=1e-3)  # the same leg, a stride later


def test_joints_stay_within_a_degree_of_their_references(walked):
    error = walked.qpos[:, 3:] - walked.signals["q_reference"]
    assert np.abs(error).max() < np.radians(1.0)
    assert not walked.info["warnings"]  # and no motor at its limit


def test_no_foot_slips_and_the_force_stays_in_the_cone(walked):
    carries = walked.foot_force[:, :, 2] > 1e-3 * PLANAR.weight
    force = walked.foot_force[carries]
    assert (np.abs(force[:, 0]) <= 0.75 * force[:, 2]).all()
    first, last = touch_downs(walked)[[0, -1]]
    speed = (walked.qpos[last, 0] - walked.qpos[first, 0]) / (walked.time[last] - walked.time[first])
    assert speed == pytest.approx(0.5, rel=0.01)  # each touch-down up to 1 ms early


def test_the_clock_alone_leads_too(walked):
    """Without waiting for touch-downs the walk goes on as well, for it is periodic in time."""
    gait = find_gait(PLANAR).gait
    controller = ComputedTorque(motion=gait, on_touch=False)
    rec = ff.Simulation(PLANAR, law="time-stepping", ground=GROUND).run(4.2 * gait.step_duration, controller=controller)
    np.testing.assert_allclose(np.diff(rec.time[touch_downs(rec)]), gait.step_duration, atol=1.1e-3)
    assert not rec.summary()["fell"]


@pytest.mark.parametrize("law", ["hunt-crossley", "mujoco"])  # the paper's experiment ``laws`` walks under all
def test_other_laws_carry_the_same_walk(law):
    rec = ff.Simulation(PLANAR, law=law, ground=GROUND).run(2.2, controller="gait")
    assert len(touch_downs(rec)) >= 4
    assert not rec.summary()["fell"]
    error = rec.qpos[:, 3:] - rec.signals["q_reference"]
    assert np.sqrt((error**2).mean()) < np.radians(1.0)


def test_the_controller_gait_starts_in_the_middle_of_a_walk(tmp_path):
    gait = find_gait(PLANAR).gait
    assert named_controller("gait") == GaitWalk()
    path = gait.save(tmp_path / "walk.json")
    sim = ff.Simulation(PLANAR, ground=ff.Ground.plane(height=0.3))
    rec = sim.run(0.0, controller=GaitWalk(gait=str(path)))
    np.testing.assert_allclose(rec.qpos[0, 3:], gait.at(0.0)[0], atol=1e-12)
    np.testing.assert_allclose(rec.qvel[0, 3:], gait.at(0.0)[1], atol=1e-12)
    assert rec.gap.min() == pytest.approx(0.0, abs=1e-9)
    stated = sim.run(0.0, controller=GaitWalk(), qpos=sim.place())
    np.testing.assert_array_equal(stated.qvel[0], 0.0)


def test_a_torque_beyond_the_motors_is_cut_and_told():
    robot = ff.load_robot("planar-biped")
    bent = robot.home[3:] + np.array([0.5, -0.1, 0.3, 0.0, 0.0, 0.0])
    controller = ComputedTorque(motion=Still(bent, (1.0, 1.0)), kp=4000.0)
    rec = ff.Simulation(robot).run(0.02, controller=controller)
    assert (np.abs(rec.ctrl) <= robot.model.actuator_ctrlrange[:, 1] + 1e-9).all()
    assert rec.info["warnings"]


def test_what_is_no_motion_or_no_gain_is_refused():
    with pytest.raises(ControllerError, match="motion = 'walk', but it must be ReferenceMotion"):
        ComputedTorque(motion="walk")
    with pytest.raises(ControllerError, match="but it must be a number >= 0"):
        ComputedTorque(motion=at_home(PLANAR), kp=-1.0)
