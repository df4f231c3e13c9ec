"""Torque motors: what a controller that computes torques needs of a robot."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.errors import ControllerError
from footfall.robot import Robot
from footfall.robot.model import AT_JOINT


def motor_scale(robot: Robot, controller: str) -> np.ndarray:
    """(nu,) torque per control of each actuator, N m; an error where one is no plain motor on a joint."""
    model = robot.model
    for i in range(model.nu):
        if (
            model.actuator_trntype[i] not in AT_JOINT
            or model.actuator_biastype[i] != mujoco.mjtBias.mjBIAS_NONE
            or model.actuator_dyntype[i] != mujoco.mjtDyn.mjDYN_NONE
        ):
            raise ControllerError(
                f"{controller}: actuator '{model.actuator(i).name}' of {robot.name} is no plain motor on a joint; "
                "servos hold a posture by themselves: set their targets with a function controller(t, state)"
            )
    return model.actuator_gear[:, 0] * model.actuator_gainprm[:, 0]


def torque_limits(robot: Robot) -> np.ndarray:
    """(nu,) the largest torque or force of each motor at its joint, N m or N; inf where the model has no limit."""
    model = robot.model
    joint = model.actuator_trnid[:, 0]
    gear = np.abs(model.actuator_gear[:, 0])
    limit = np.full(model.nu, np.inf)
    for limited, top in (
        (
            model.actuator_ctrllimited,
            np.abs(model.actuator_ctrlrange).min(axis=1) * gear * model.actuator_gainprm[:, 0],
        ),
        (model.actuator_forcelimited, np.abs(model.actuator_forcerange).min(axis=1) * gear),
        (model.jnt_actfrclimited[joint], np.abs(model.jnt_actfrcrange[joint]).min(axis=1)),
    ):
        limit = np.where(limited, np.minimum(limit, top), limit)
    return limit
