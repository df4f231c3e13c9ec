"""Instants at which a motor reaches or leaves the limit of its force: accelerations have a kink there."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.robot.model import AT_JOINT, HINGE, SLIDE


class MotorLimits(NamedTuple):
    """L motors and servos on hinges and slides whose force has limits."""

    known: int  # 1 if there are no other limits of forces, as of muscles, tendons, or several motors of one joint
    actuator: np.ndarray  # (L,)
    address: np.ndarray  # (L,) in qpos
    dof: np.ndarray  # (L,)
    gear: np.ndarray  # (L,)
    gain: np.ndarray  # (L, 3) force per control: constant, per length, per velocity
    bias: np.ndarray  # (L, 3) force without control: constant, per length, per velocity
    limit: np.ndarray  # (L, 4) least and most control, least and most force


def motor_limits(model: mujoco.MjModel) -> MotorLimits:
    """The motors of a model whose force has limits, of their own or of their joint."""
    at_joint = np.isin(model.actuator_trntype, AT_JOINT)
    joint = np.where(at_joint, model.actuator_trnid[:, 0], 0)
    alone = at_joint & (np.bincount(joint[at_joint], minlength=model.njnt + 1)[joint] == 1)
    of_joint = at_joint & (model.jnt_actfrclimited[joint].astype(bool) if model.njnt else False)
    limited = model.actuator_forcelimited.astype(bool) | of_joint
    fixed, affine = int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE)
    none, linear = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)
    plain = np.isin(model.actuator_gaintype, (fixed, affine)) & np.isin(model.actuator_biastype, (none, linear))
    plain &= at_joint & (alone | ~of_joint) & (model.actuator_actnum == 0) & (model.actuator_outnum == 1)
    plain &= (model.actuator_gear[:, 0] != 0.0) & (model.actuator_ctrlnum == 1)
    if model.njnt:
        plain &= np.isin(model.jnt_type[joint], (HINGE, SLIDE))
    own = np.flatnonzero(limited & plain)
    joint, gear = joint[own], model.actuator_gear[own, 0]
    gain, bias = model.actuator_gainprm[own, :3].copy(), model.actuator_biasprm[own, :3].copy()
    gain[model.actuator_gaintype[own] == fixed, 1:] = 0.0  # whatever the model has there
    bias[model.actuator_biastype[own] == none] = 0.0
    unlimited = np.array([-np.inf, np.inf])
    control = np.where(model.actuator_ctrllimited[own, None], model.actuator_ctrlrange[own], unlimited)
    force = np.where(model.actuator_forcelimited[own, None], model.actuator_forcerange[own], unlimited)
    there = np.where(of_joint[own, None], model.jnt_actfrcrange[joint], unlimited) / gear[:, None]
    least = np.maximum(force[:, 0], there.min(axis=1))
    most = np.minimum(force[:, 1], there.max(axis=1))
    return MotorLimits(
        known=int(not (limited & ~plain).any() and model.ntendon == 0),
        actuator=own,
        address=model.jnt_qposadr[joint].astype(np.int64),
        dof=model.jnt_dofadr[joint].astype(np.int64),
        gear=gear.copy(),
        gain=gain,
        bias=bias,
        limit=np.column_stack([control, least, most]),
    )


@inlined
def motors_may_bend(world, motors, dt):
    """Whether a motor may reach the limit of its force within ``dt`` (s) or come back from it, going on as now."""
    for i in range(motors.actuator.size):
        gear, gain, bias, limit = motors.gear[i], motors.gain[i], motors.bias[i], motors.limit[i]
        control = min(max(world.ctrl[motors.actuator[i]], limit[0]), limit[1])
        position, speed = world.qpos[motors.address[i]], world.qvel[motors.dof[i]]
        stiff, damping = gear * (gain[1] * control + bias[1]), gear * (gain[2] * control + bias[2])
        force = gain[0] * control + bias[0] + stiff * position + damping * speed
        change = 2.0 * dt * abs(stiff * speed + damping * world.qacc[motors.dof[i]])
        if abs(force - limit[2]) < change or abs(force - limit[3]) < change:
            return True
    return False
