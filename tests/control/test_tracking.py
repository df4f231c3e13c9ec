"""Tracking: the reference is interpolated, repeated and advanced, and help on the root is told."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.control.tracking import Tracking, _tracking
from footfall.errors import ControllerError
from footfall.gait.reference import PeriodicMotion
from footfall.measure import assistance


def still(robot, samples=4, period=1.0):
    """A motion that stays at home."""
    qpos = np.tile(robot.home, (samples, 1))
    rest, nothing = np.zeros((2, samples, robot.model.nv))
    return PeriodicMotion(period, np.zeros(robot.model.nq), qpos, rest, nothing)


def asked(robot, tracking, time, qpos, qvel):
    ctrl = np.zeros(robot.model.nu)
    assert _tracking(time, qpos, qvel, ctrl, tracking.gains(robot, ff.Ground.plane(), 1e-3)) == 0
    return ctrl


def test_between_samples_and_beyond_a_period_the_reference_goes_on():
    robot = ff.load_robot("hanavan", planar=True, assist=True)
    motion = still(robot)
    x = robot.model.joint("root_x").qposadr[0]
    motion.qpos[:, x] = [0.0, 0.1, 0.2, 0.3]
    motion.advance[x] = 0.4
    tracking = Tracking(motion, kp=0.0, kd=0.0, assist=(1.0, 0.0), assist_turn=(0.0, 0.0))
    pull = list(robot.root_motors).index(True)
    for time, place in ((0.0, 0.0), (0.125, 0.05), (0.9, 0.36), (1.0, 0.4), (2.5, 1.0)):
        ctrl = asked(robot, tracking, time, robot.home * (np.arange(robot.model.nq) != x), np.zeros(robot.model.nv))
        assert ctrl[pull] == pytest.approx(place, abs=1e-12)


def test_joints_get_the_feed_forward_and_springs_around_it():
    robot = ff.load_robot("hanavan", planar=True, assist=True)
    model, motion = robot.model, still(robot)
    knee = model.joint("left_knee_pitch")
    motion.torque[:, knee.dofadr[0]] = 7.0
    qpos, qvel = robot.home.copy(), np.zeros(model.nv)
    qpos[knee.qposadr[0]] += 0.1
    qvel[knee.dofadr[0]] = 0.5
    ctrl = asked(robot, Tracking(motion, kp=100.0, kd=10.0), 0.3, qpos, qvel)
    assert ctrl[model.actuator("left_knee_pitch").id] == pytest.approx(7.0 - 10.0 - 5.0)


@pytest.mark.parametrize("axis", range(3))
def test_a_free_body_is_turned_back_about_its_own_axes(axis):
    robot = ff.load_robot("hanavan", assist=True)
    tracking = Tracking(still(robot), kp=0.0, kd=0.0, assist=(0.0, 0.0), assist_turn=(50.0, 0.0))
    qpos, turn = robot.home.copy(), np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, np.eye(3)[axis], 0.01)
    mujoco.mju_mulQuat(qpos[3:7], robot.home[3:7], turn)
    moment = asked(robot, tracking, 0.0, qpos, np.zeros(robot.model.nv))[robot.root_motors][3:]
    assert np.allclose(moment, -50.0 * 0.01 * np.eye(3)[axis], atol=1e-4)


def test_help_is_told_in_body_weights_and_newton_metres():
    robot = ff.load_robot("hanavan", planar=True, assist=True)
    tracking = Tracking(still(robot), assist=(1e4, 1e3), assist_turn=(2e3, 200.0), assist_lift=(1e4, 1e3))
    rec = ff.Simulation(robot, law="spring-damper").run(0.3, controller=tracking)
    told = assistance(rec)
    own = {robot.model.actuator(i).name: rec.ctrl[:, i] for i in np.flatnonzero(robot.root_motors)}
    assert set(own) == {"assist_x", "assist_z", "assist_pitch"}
    assert told.moment_peak == pytest.approx(np.abs(own["assist_pitch"]).max())
    assert told.force_rms == pytest.approx(np.sqrt(np.mean(own["assist_x"] ** 2 + own["assist_z"] ** 2)) / robot.weight)
    assert "body weights" in str(told) and "N m" in str(told)
    alone = ff.Simulation("hanavan", law="spring-damper").run(0.01, controller="posture")
    assert assistance(alone) == (0.0, 0.0, 0.0, 0.0)


def test_a_run_starts_where_the_motion_does():
    robot = ff.load_robot("hanavan", planar=True, assist=True)
    motion = still(robot)
    motion.qvel[0, 0] = 0.25
    rec = ff.Simulation(robot, law="spring-damper").run(0.0, controller=Tracking(motion))
    assert np.allclose(rec.qpos[0], motion.qpos[0]) and rec.qvel[0, 0] == 0.25


def test_a_motion_of_another_robot_is_refused():
    motion = still(ff.load_robot("hanavan", planar=True, assist=True))
    with pytest.raises(ControllerError, match="qpos of the motion has 13 columns, hanavan needs 40"):
        Tracking(motion).gains(ff.load_robot("hanavan", assist=True), ff.Ground.plane(), 1e-3)


@pytest.mark.parametrize("planar", [True, False])
def test_in_a_posture_nobody_is_held_from_outside(planar):
    helped, alone = (ff.load_robot("hanavan", planar=planar, assist=assist) for assist in (True, False))
    recs = [ff.Simulation(robot, law="spring-damper").run(0.1, controller="posture") for robot in (helped, alone)]
    assert not recs[0].ctrl[:, helped.root_motors].any()
    assert np.allclose(recs[0].qpos, recs[1].qpos)


@pytest.mark.parametrize("planar", [True, False])
def test_the_audit_counts_help_from_outside(planar):
    """Newton and Euler hold to rounding, so nothing else holds him."""
    robot = ff.load_robot("hanavan", planar=planar, assist=True)
    pull = Tracking(still(robot), assist=(1e4, 1e3), assist_turn=(2e3, 200.0), assist_lift=(1e4, 1e3))
    qpos = robot.home.copy()
    qpos[:2] += 0.02
    rec = ff.Simulation(robot, law="linearizing-penalty").run(0.1, controller=pull, qpos=qpos)
    assert assistance(rec).force_peak > 0.1
    rows = {row.name: row.worst for row in ff.audit(rec).rows}
    assert rows["force balance"] < 1e-6 * robot.weight and rows["moment balance"] < 1e-6 * robot.weight
