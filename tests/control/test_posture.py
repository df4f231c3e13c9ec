"""Joint PD around a posture, with gravity compensation."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from robot_models import HOPPER

import footfall as ff
from footfall.control import Posture, controllers, named_controller
from footfall.control.posture import standing_torques
from footfall.errors import ControllerError


def test_standing_torques_and_ground_forces_together_carry_the_robot():
    """In a static pose J^T f and the torques must balance gravity; what is not actuated is the ground's part."""
    for name in ("planar-biped", "spatial-biped"):
        robot = ff.load_robot(name)
        torque = standing_torques(robot, robot.home)
        data = mujoco.MjData(robot.model)
        data.qpos[:] = robot.home
        data.qfrc_applied[:] = torque
        mujoco.mj_forward(robot.model, data)
        rows = []
        for body, point in zip(robot.point_body, robot.point_position, strict=True):
            jacobian = np.zeros((3, robot.model.nv))
            at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ point
            mujoco.mj_jac(robot.model, data, jacobian, None, at, int(body))
            rows.append(jacobian)
        left = data.qfrc_bias - torque
        force = np.linalg.lstsq(np.concatenate(rows).T, left, rcond=None)[0]
        np.testing.assert_allclose(np.concatenate(rows).T @ force, left, atol=1e-9 * robot.weight)
        assert force.reshape(-1, 3)[:, 2].sum() == pytest.approx(robot.weight)
        base = robot.model.nv - robot.model.nu
        np.testing.assert_array_equal(torque[:base], 0.0)


def test_gravity_compensation_holds_without_any_gain():
    """With feed-forward alone the robot does not move at first: what a PD must do is small."""
    robot = ff.load_robot("spatial-biped")
    rec = ff.Simulation(robot).run(0.1, controller=Posture(kp=0.0, kd=0.0))
    assert np.abs(rec.qvel[-1]).max() < 1e-4
    loose = ff.Simulation(robot).run(0.1, controller=Posture(kp=0.0, kd=0.0, gravity_compensation=False))
    assert np.abs(loose.qvel[-1]).max() > 0.1


def test_the_torque_is_proportional_derivative_and_feed_forward():
    robot = ff.load_robot("spatial-biped")
    qpos, qvel = robot.home.copy(), np.zeros(20)
    qpos[7:] += np.linspace(-0.1, 0.1, 14)
    qvel[6:] = np.linspace(0.5, -0.5, 14)
    rec = ff.Simulation(robot).run(0.0, qpos=qpos, qvel=qvel, controller=Posture(kp=100.0, kd=7.0))
    expected = -100.0 * np.linspace(-0.1, 0.1, 14) - 7.0 * np.linspace(0.5, -0.5, 14)
    expected += standing_torques(robot, robot.home)[6:]
    gear = robot.model.actuator_gear[:, 0] * robot.model.actuator_gainprm[:, 0]
    np.testing.assert_allclose(rec.ctrl[0] * gear, expected, rtol=1e-12)


def test_gains_may_be_one_per_actuator_and_the_target_any_posture():
    robot = ff.load_robot("spatial-biped")
    target = robot.home.copy()
    target[7:] += 0.05
    kp = np.linspace(100.0, 200.0, 14)
    rec = ff.Simulation(robot).run(0.0, controller=Posture(target=target, kp=kp, kd=0.0, gravity_compensation=False))
    np.testing.assert_allclose(rec.ctrl[0] * robot.model.actuator_gear[:, 0], 0.05 * kp, rtol=1e-9)


@pytest.mark.parametrize("robot", ["planar-biped", "spatial-biped"])
def test_a_posture_is_held_in_the_air_without_ringing(robot):
    """Where the feet are free a light foot must not be driven into oscillation by damping in steps of 1 ms."""
    sim = ff.Simulation(robot)
    qpos, qvel = sim.place(), np.zeros(sim.robot.model.nv)
    qpos[2 if robot == "spatial-biped" else 1] += 10.0
    qvel[-1] = 0.1
    rec = sim.run(0.5, qpos=qpos, qvel=qvel, controller="posture")
    joints = sim.robot.model.nu
    assert np.abs(rec.qvel[-1, -joints:]).max() < 0.1


@pytest.mark.parametrize("robot", ["planar-biped", "spatial-biped"])
def test_a_disturbed_posture_comes_back(robot):
    sim = ff.Simulation(robot)
    rec = sim.run(3.0, controller="posture", pushes=[ff.Push("trunk", force=(30.0, 0.0, 0.0), duration=0.1)])
    start = len(rec.robot.home) - rec.robot.model.nu
    assert np.abs(rec.qvel).max() > 0.05
    np.testing.assert_allclose(rec.qpos[-1, start:], rec.robot.home[start:], atol=0.02)


def test_controllers_have_names():
    assert "posture" in controllers()
    assert named_controller("posture") == Posture()


def test_a_target_of_another_robot_is_refused():
    with pytest.raises(ControllerError, match=r"target has shape \(3,\), spatial-biped needs \(21,\)"):
        ff.Simulation("spatial-biped").run(0.1, controller=Posture(target=np.zeros(3)))


def test_an_actuator_that_is_neither_motor_nor_servo_is_refused():
    spec = mujoco.MjSpec.from_string(HOPPER)
    spec.actuators[0].dyntype = mujoco.mjtDyn.mjDYN_FILTER  # its force depends on what was asked for before
    spec.actuators[0].dynprm[0] = 0.1
    with pytest.raises(ControllerError, match="actuator 'hip' of hopper is neither a motor nor a servo on a joint"):
        ff.Simulation(ff.load_robot(spec)).run(0.1, controller="posture")


def test_light_joints_that_move_each_other_are_held_still():
    """Each joint alone is slow enough for the step; three of one axis together are three times as fast."""
    wrist = (
        '<body name="w{0}"><joint name="w{0}" axis="0 0 1"/><inertial pos="0 0 0" mass=".2" diaginertia="{1} {1} {1}"/>'
    )
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body name='box' pos='0 0 .1'><freejoint/>"
        "<geom type='box' size='.2 .2 .1' mass='20'/><body name='arm' pos='0 0 .2'>"
        + "".join(wrist.format(i, inertia) for i, inertia in enumerate([1e-4] * 4))
        + "</body>" * 6
        + "</worldbody><actuator>"
        + "".join(f"<motor joint='w{i}'/>" for i in range(4))
        + "</actuator></mujoco>"
    )
    robot = ff.load_robot(spec)
    rows = Posture().gains(robot, ff.Ground.plane(), 1e-3).reshape(-1, 9)
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_forward(robot.model, data)
    inertia = np.zeros((robot.model.nv, robot.model.nv))
    mujoco.mj_fullM(robot.model, data, inertia)
    mobility = np.linalg.inv(inertia)[6:, 6:]
    stiff, damped = (np.linalg.eigvals(gain * rows[:, k] * mobility).real.max() for gain, k in ((1e-6, 3), (1e-3, 4)))
    assert stiff + 2.0 * damped < 4.0  # where Euler's steps are stable
    qvel = np.zeros(robot.model.nv)
    qvel[6:] = 0.1
    rec = ff.Simulation(robot, law="time-stepping", dt=1e-3).run(1.0, qvel=qvel, controller=Posture())
    assert np.abs(rec.qvel[-1]).max() < 1e-6
