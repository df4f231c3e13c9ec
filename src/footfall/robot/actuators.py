"""The actuators of a robot: those of its model, or torque motors in place of its servos."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from footfall.errors import RobotError, did_you_mean

CHOICES = ("as-is", "motor")


def check_choice(actuators: Any) -> None:
    """Raise ``RobotError`` unless ``actuators`` is one of the choices."""
    if actuators not in CHOICES:
        raise RobotError(f"actuators cannot be {actuators!r}: {did_you_mean(str(actuators), CHOICES)}")


def servos_to_motors(spec: mujoco.MjSpec) -> None:
    """Replace position and velocity servos by motors: the control is a force, limited to the servo's force range.

    A servo without a force range has that of its joint; without either the motor is unlimited. Transmission and gear
    stay. Controls of keyframes, which were angles, become zero.
    """
    changed = [_is_servo(a.biastype, a.biasprm, a.gaintype) for a in spec.actuators]
    for actuator, servo in zip(spec.actuators, changed, strict=True):
        if not servo:
            continue
        limits = _range(actuator.forcelimited, actuator.forcerange)
        joint = spec.joint(actuator.target) if actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT else None
        if limits is None and joint is not None:
            limits = _range(joint.actfrclimited, joint.actfrcrange)
            # A joint's range is that of the force after the gear.
            limits = None if limits is None else limits / abs(actuator.gear[0] or 1.0)
        gear = np.array(actuator.gear)
        actuator.set_to_motor()
        actuator.gear = gear
        actuator.dyntype, actuator.actlimited = mujoco.mjtDyn.mjDYN_NONE, mujoco.mjtLimited.mjLIMITED_FALSE
        actuator.inheritrange = 0.0
        actuator.ctrllimited = int(limits is not None)
        actuator.ctrlrange = [0.0, 0.0] if limits is None else limits
    for key in spec.keys:
        if len(key.ctrl) == len(changed):
            key.ctrl = np.where(changed, 0.0, key.ctrl)
        if any(changed):
            key.act = []


def servos_of_model_to_motors(model: mujoco.MjModel) -> None:
    """The same on a compiled model, in place."""
    for i in range(model.nu):
        if not _is_servo(model.actuator_biastype[i], model.actuator_biasprm[i], model.actuator_gaintype[i]):
            continue
        if model.actuator_actnum[i]:
            raise RobotError(
                f"actuator '{model.actuator(i).name}' has a state, which a compiled MjModel cannot lose; "
                'load the robot from its XML or MjSpec to get actuators="motor"'
            )
        joint = int(model.actuator_trnid[i, 0])
        at_joint = model.actuator_trntype[i] == int(mujoco.mjtTrn.mjTRN_JOINT)
        limits = model.actuator_forcerange[i].copy() if model.actuator_forcelimited[i] else None
        if limits is None and at_joint and model.jnt_actfrclimited[joint]:
            limits = model.jnt_actfrcrange[joint] / abs(model.actuator_gear[i, 0] or 1.0)
        model.actuator_gaintype[i], model.actuator_gainprm[i] = int(mujoco.mjtGain.mjGAIN_FIXED), 0.0
        model.actuator_gainprm[i, 0] = 1.0
        model.actuator_biastype[i], model.actuator_biasprm[i] = int(mujoco.mjtBias.mjBIAS_NONE), 0.0
        model.actuator_ctrllimited[i] = limits is not None
        model.actuator_ctrlrange[i] = 0.0 if limits is None else limits
        model.key_ctrl[:, i] = 0.0


def _is_servo(bias: Any, parameters: Any, gain: Any) -> bool:
    """Whether the force of an actuator depends on the position or speed of what it drives."""
    affine = int(bias) == int(mujoco.mjtBias.mjBIAS_AFFINE)
    feedback = affine and (parameters[1] != 0 or parameters[2] != 0)
    return bool(feedback) or int(gain) == int(mujoco.mjtGain.mjGAIN_AFFINE)


def _range(limited: Any, values: Any) -> np.ndarray | None:
    """A range that is enabled, or None."""
    given = np.array(values, dtype=float)
    on = int(limited) != int(mujoco.mjtLimited.mjLIMITED_FALSE) and given[0] < given[1]
    return given if on else None
