"""The actuators of a robot as sources of torque: controls for given torques, limits, and virtual motors on the root."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.errors import ControllerError, RobotError
from footfall.kinds import Float, Int, Ints, Vector
from footfall.robot.model import AT_JOINT, FREE
from footfall.robot.robot import Robot


class Drives(NamedTuple):
    """Actuators on joints: ``torque = scale ctrl + offset + per_angle q + per_speed q'``, N m or N at the joint.

    A plain motor has only a scale; a position or velocity servo gets the target that produces the torque.
    """

    place: Ints  # (nu,) address of its joint in qpos
    dof: Ints  # (nu,) address in qvel
    scale: Vector  # (nu,) N m per unit of control
    offset: Vector  # (nu,) N m
    per_angle: Vector  # (nu,) N m/rad
    per_speed: Vector  # (nu,) N m s/rad
    limit: Vector  # (nu,) N m, the largest torque
    low: Vector  # (nu,) least control; -inf where the model sets no range
    high: Vector  # (nu,) largest control; inf where the model sets no range
    servos: int  # 1 if any actuator is a servo, else 0

    def range_at(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(nu,) least and (nu,) largest torque that the actuators can give at rest in this pose (nq,), N m."""
        own = self.offset + self.per_angle * qpos[self.place]
        ends = np.sort([self.scale * self.low + own, self.scale * self.high + own], axis=0)
        least, most = np.clip(ends, -self.limit, self.limit)
        return least, most


@inlined
def own_torque(drives: Drives, i: Int, qpos: Vector, qvel: Vector) -> Float:
    """N m, torque of an actuator at control zero in this state: zero except for a servo."""
    return drives.offset[i] + drives.per_angle[i] * qpos[drives.place[i]] + drives.per_speed[i] * qvel[drives.dof[i]]


@inlined
def torque_range(drives: Drives, i: Int, qpos: Vector, qvel: Vector) -> tuple[Float, Float]:
    """Least and largest torque (N m) that an actuator can give in this state, within its limit and control range."""
    own, top = own_torque(drives, i, qpos, qvel), drives.limit[i]
    first, second = drives.scale[i] * drives.low[i] + own, drives.scale[i] * drives.high[i] + own
    return min(max(min(first, second), -top), top), min(max(max(first, second), -top), top)


@inlined
def write_controls(drives: Drives, torque: Vector, qpos: Vector, qvel: Vector, ctrl: Vector) -> None:
    """Write the controls (nu,), within their ranges, whose torques in this state are nearest to ``torque`` (nu,)."""
    for i in range(ctrl.size):
        wanted = (torque[i] - own_torque(drives, i, qpos, qvel)) / drives.scale[i]
        ctrl[i] = min(max(wanted, drives.low[i]), drives.high[i])


def drives(robot: Robot, controller: str) -> Drives:
    """The actuators of a robot; an error where one is neither a motor nor a servo on a joint."""
    model = robot.model
    affine = int(mujoco.mjtBias.mjBIAS_AFFINE)
    strength = model.actuator_gear[:, 0] * model.actuator_gainprm[:, 0]
    for i in range(model.nu):
        if (
            model.actuator_trntype[i] not in AT_JOINT
            or model.actuator_gaintype[i] != mujoco.mjtGain.mjGAIN_FIXED
            or model.actuator_biastype[i] not in (int(mujoco.mjtBias.mjBIAS_NONE), affine)
            or model.actuator_dyntype[i] != mujoco.mjtDyn.mjDYN_NONE
            or (strength[i] == 0.0 and not robot.root_motors[i])
        ):
            raise ControllerError(
                f"{controller}: actuator '{robot.actuator_names[i]}' of {robot.name} is neither a motor nor a servo "
                "on a joint, so no control is known that gives a torque"
            )
    joint = model.actuator_trnid[:, 0]
    gear = model.actuator_gear[:, 0]
    bias = np.where((model.actuator_biastype == affine)[:, None], model.actuator_biasprm[:, :3], 0.0)
    limited = model.actuator_ctrllimited != 0
    return Drives(
        place=model.jnt_qposadr[joint],
        dof=model.jnt_dofadr[joint],
        scale=np.where(strength == 0.0, 1.0, strength),  # motors between world and root may have none
        offset=gear * bias[:, 0],
        per_angle=gear * gear * bias[:, 1],
        per_speed=gear * gear * bias[:, 2],
        limit=torque_limits(robot),
        low=np.where(limited, model.actuator_ctrlrange[:, 0], -np.inf),
        high=np.where(limited, model.actuator_ctrlrange[:, 1], np.inf),
        servos=int(bias.any()),
    )


def motor_scale(robot: Robot, controller: str) -> np.ndarray:
    """(nu,) torque per control of each actuator, N m; an error where one is not a plain motor on a joint."""
    found = drives(robot, controller)
    if found.servos:
        raise ControllerError(
            f"{controller}: {robot.name} has servos, and not a plain motor on a joint each; load the robot with "
            'actuators="motor"'
        )
    return found.scale


def torque_limits(robot: Robot) -> np.ndarray:
    """(nu,) the largest torque or force of each motor at its joint, N m or N; inf where the model has no limit.

    The control range of a servo limits its target; ``torque_range`` says what it can give in a state.
    """
    model = robot.model
    joint = model.actuator_trnid[:, 0]
    gear = np.abs(model.actuator_gear[:, 0])
    plain = model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_NONE)
    of_ctrl, of_force, of_joint = (
        np.abs(one).min(axis=1)
        for one in (model.actuator_ctrlrange, model.actuator_forcerange, model.jnt_actfrcrange[joint])
    )
    limits = [
        np.where(plain & (model.actuator_ctrllimited != 0), of_ctrl * gear * model.actuator_gainprm[:, 0], np.inf),
        np.where(model.actuator_forcelimited, of_force * gear, np.inf),
        np.where(model.jnt_actfrclimited[joint], of_joint, np.inf),
    ]
    return np.asarray(np.min(limits, axis=0))


#: Names of the six motors, after ``assist_``.
PARTS = ("x", "y", "z", "roll", "pitch", "yaw")


@public
def assisted(robot: Robot) -> Robot:
    """The same robot with six unlimited motors on its free root: three forces (world frame) and three moments (the
    root's frame). They come after its own actuators; ``footfall.measure.assistance`` measures their forces and work.
    """
    if robot.root_motors.any():
        return robot
    model = robot.model
    if not model.njnt or model.jnt_type[0] != FREE:
        raise RobotError(f"{robot.name} has no free root that motors could push and turn")
    spec = robot.spec()
    root = spec.body(model.body(int(model.jnt_bodyid[0])).name).joints[0]
    root.name = root.name or "root"
    for i, part in enumerate(PARTS):
        motor = spec.add_actuator(name=f"assist_{part}", target=root.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        motor.gear = [float(k == i) for k in range(6)]
    for key in spec.keys:
        key.ctrl = np.concatenate([key.ctrl, np.zeros(len(PARTS))]) if len(key.ctrl) else key.ctrl
    return robot.of_spec(spec, home_ctrl=np.concatenate([robot.home_ctrl, np.zeros(len(PARTS))]))
