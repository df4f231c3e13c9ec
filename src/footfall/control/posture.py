"""Hold a posture: joint PD with gravity compensation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import mujoco
import numpy as np

from footfall.control.stance import stance
from footfall.errors import ControllerError
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import AT_JOINT
from footfall.robot.motors import motor_scale


def _posture(time, qpos, qvel, ctrl, gains):
    """gains: rows of (address in qpos, address in qvel, target, kp, kd, feed-forward, gear) per actuator, flat."""
    for i in range(ctrl.size):
        row = gains[7 * i : 7 * i + 7]
        torque = row[3] * (row[2] - qpos[int(row[0])]) - row[4] * qvel[int(row[1])] + row[5]
        ctrl[i] = torque / row[6]
    return 0


@dataclass(frozen=True)
class Posture:
    """Joint PD around a posture, with the torques that carry the robot's weight there as feed-forward.

    ``target`` (nq,) is the posture; left out, the robot's home, on a slope with the soles along the ground and the
    weight over the feet (see :func:`footfall.control.stance.stance`), which is also where a run starts. ``kp`` (N m/rad
    or N/m) and ``kd`` (N m s/rad or N s/m) are one number or one per actuator. Left out, ``kp`` is three times the
    weight times the height of the centre of mass, enough for ankles to hold an inverted pendulum upright, and
    ``kd = kp * 0.05 s``, or less where the step is too long for the inertia of a joint. Motors on a root that goes
    about (``robot.root_motors``) stay idle.
    """

    target: Sequence[float] | None = None
    kp: float | Sequence[float] | None = None
    kd: float | Sequence[float] | None = None
    gravity_compensation: bool = True

    @staticmethod
    def pointer() -> Any:
        return _pointer()

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray | None, None]:
        """The posture set down on the ground, at rest."""
        return (stance(robot, ground) if self.target is None else None), None

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The numbers the compiled controller needs, flat."""
        model = robot.model
        target = stance(robot, ground) if self.target is None else np.asarray(self.target, dtype=float)
        if target.shape != (model.nq,):
            raise ControllerError(f"posture: target has shape {target.shape}, {robot.name} needs ({model.nq},)")
        scale = motor_scale(robot, "posture")
        joint = model.actuator_trnid[:, 0]
        data = mujoco.MjData(model)
        data.qpos[:] = target
        mujoco.mj_forward(model, data)
        kp = self.kp
        if kp is None:
            height = max(0.05, float(data.subtree_com[0, 2] - _lowest(robot, data)))
            kp = 3.0 * robot.weight * height
        kd = self.kd
        if kd is None:
            inertia = joint_inertias(model, data)[model.jnt_dofadr[joint]]
            kd = np.minimum(0.05 * np.asarray(kp, dtype=float), 0.8 * inertia / dt)
        feed = standing_torques(robot, target) if self.gravity_compensation else np.zeros(model.nv)
        rows = np.zeros((model.nu, 7))
        rows[:, 0] = model.jnt_qposadr[joint]
        rows[:, 1] = model.jnt_dofadr[joint]
        rows[:, 2] = target[model.jnt_qposadr[joint]]
        rows[:, 3] = kp
        rows[:, 4] = kd
        rows[:, 5] = feed[model.jnt_dofadr[joint]]
        rows[:, 6] = scale
        rows[robot.root_motors, 3:] = [0.0, 0.0, 0.0, 1.0]  # nobody holds him from outside
        return rows.ravel()


def joint_inertias(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """(nv,) what each coordinate alone would have to accelerate, the others free, kg or kg m2."""
    identity, solved = np.eye(model.nv), np.zeros((model.nv, model.nv))
    mujoco.mj_solveM(model, data, solved, identity)
    return 1.0 / np.diag(solved)


def _lowest(robot: Robot, data: mujoco.MjData) -> float:
    """Height of the lowest contact point, m."""
    heights = [
        data.xpos[b, 2] + data.xmat[b].reshape(3, 3)[2] @ point - radius
        for b, point, radius in zip(robot.point_body, robot.point_position, robot.point_radius, strict=True)
    ]
    return float(min(heights, default=0.0))


def standing_torques(robot: Robot, qpos: np.ndarray) -> np.ndarray:
    """Generalised forces (nv,) that actuators must give for the robot to rest at ``qpos`` on its contact points.

    The ground carries the unactuated coordinates with the contact forces of least norm; what is left of gravity is
    the actuators' part.
    """
    model = robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    held = data.qfrc_bias - data.qfrc_passive
    jacobian = np.zeros((3, model.nv))
    rows = []
    for b, point in zip(robot.point_body, robot.point_position, strict=True):
        at = data.xpos[b] + data.xmat[b].reshape(3, 3) @ point
        mujoco.mj_jac(model, data, jacobian, None, at, int(b))
        rows.append(jacobian.copy())
    stacked = np.concatenate(rows) if rows else np.zeros((0, model.nv))
    actuated = np.zeros(model.nv, dtype=bool)
    joints = model.actuator_trnid[np.isin(model.actuator_trntype, AT_JOINT) & ~robot.root_motors, 0]
    actuated[model.jnt_dofadr[joints]] = True
    force = np.linalg.lstsq(stacked[:, ~actuated].T, held[~actuated], rcond=None)[0]
    torque = held - stacked.T @ force
    torque[~actuated] = 0.0
    return torque


@cache
def _pointer() -> Any:
    from footfall.compiled import function_pointer
    from footfall.control.base import control_signature

    return function_pointer(control_signature(), _posture)
