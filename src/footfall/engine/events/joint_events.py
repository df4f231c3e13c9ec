"""Joints and motors that change between two events of contacts: limits, joint friction, and limits of motor forces.

Where a joint reaches its limit, the limit's force begins with a jump, and where its friction begins or ceases to slip
or a motor reaches the limit of its force, accelerations have a kink. During a step of Dormand and Prince's method open
limits stay open, friction that holds keeps holding and friction that slips keeps slipping, and the step ends where the
first of them changes. A macro step is taken only where none may change, or where its end shows that none did.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.constraints.active_set import FRICTION, HOLDS, LIMIT, OPEN, SLIPS_UP
from footfall.engine.constraints.joint_rows import JointRows, away_from_limit, beyond_friction
from footfall.engine.events.dormand_prince import STAGES, allowed, rate_within, value_within
from footfall.engine.world import MjWorld
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Named, Vector
from footfall.robot.model import AT_JOINT, HINGE, SLIDE

#: Distance beyond its limit at which a joint has reached it, m or rad: more than projections of points undo.
REACHED = 1e-10
#: Shortest time after which joint friction may change its state, s.
NO_SOONER = 1e-7
#: Factor on the bound of joint friction with which it holds whatever happens: a power of two, which rounds nothing.
UNBOUNDED = 2.0**400
#: Bisections that locate a change in a step: to a millionth of a microsecond.
BISECTIONS = 40


@inlined
def leave_limits_open(joints: JointRows, flow: Named) -> Bool:
    """Let limits that were open when the step began not act yet. Returns whether any would have."""
    any_would = False
    for i in range(joints.kind.size):
        if joints.kind[i] == LIMIT and joints.inertia[i] != 0.0:
            if away_from_limit(joints, i, flow.start[joints.address[i]]) >= 0.0:
                joints.inertia[i] = 0.0
                joints.state[i] = OPEN
                any_would = True
    return any_would


@inlined
def keep_friction(joints: JointRows) -> None:
    """Let friction do in this evaluation what it did in the last one, however large its force."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION:
            if joints.state[i] == HOLDS:
                joints.bound[i] *= UNBOUNDED
            else:
                joints.reference[i] = math.inf if joints.state[i] == SLIPS_UP else -math.inf


@inlined
def release_friction(joints: JointRows) -> None:
    """Let it have its bounds again."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION and joints.state[i] == HOLDS:
            joints.bound[i] /= UNBOUNDED


@inlined
def friction_error(joints: JointRows, i: Int, speed: Float, acceleration: Float, h: Float) -> Float:
    """Bound of the error of a joint's velocity, m/s or rad/s, that friction which has begun or ceased to slip within
    ``h`` (s), and does not do so here, leaves; below zero if it has not.
    """
    inertia = 0.0 if joints.state[i] == HOLDS else joints.inertia[i]
    beyond = beyond_friction(joints, i, speed, acceleration)
    return 0.5 * h * beyond * joints.weight[i] / (1.0 + joints.weight[i] * inertia)


@inlined
def friction_within(joints: JointRows, flow: Named, i: Int, first: Int, part: Float, h: Float) -> Float:
    """That error after this fraction (0 to 1) of a step of ``h`` seconds."""
    at = first + joints.dof[i]
    speed, acceleration = value_within(flow, at, part, h), 0.0
    for j in range(STAGES):
        acceleration += rate_within(flow, j, part) * flow.slope[j, at]
    return friction_error(joints, i, speed, acceleration, h)


@inlined
def friction_change(world: MjWorld, joints: JointRows, flow: Named, h: Float) -> Float:
    """When joint friction begins or ceases to slip in a complete step, s, by its middle and end; ``h`` if never, or so
    late that it matters less than a step may err.
    """
    first, nq, bound = 1.0, world.qpos.size, allowed(flow)
    for i in range(joints.kind.size):
        if joints.kind[i] != FRICTION:
            continue
        low, high = 0.0, 1.0
        if not friction_within(joints, flow, i, nq, 0.5, h) <= bound:
            high = 0.5
        elif friction_within(joints, flow, i, nq, 1.0, h) <= bound:
            continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if friction_within(joints, flow, i, nq, middle, h) <= bound:
                low = middle
            else:
                high = middle
        first = min(first, high)
    return min(h, max(first * h, NO_SOONER))


@inlined
def limit_arrival(world: MjWorld, joints: JointRows, flow: Named, h: Float) -> Float:
    """When the first joint has come to its limit in a step of ``h`` seconds that is complete, s: h if none has."""
    first = 1.0
    for i in range(joints.kind.size):
        at = joints.address[i]
        if joints.kind[i] != LIMIT or away_from_limit(joints, i, flow.start[at]) < 0.0:
            continue
        low, high = 0.0, 1.0
        if away_from_limit(joints, i, world.qpos[at]) >= -REACHED:
            before, after = joints.sign[i] * flow.slope[0, at], joints.sign[i] * flow.slope[STAGES - 1, at]
            if not before < 0.0 < after:
                continue
            high = before / (before - after)  # where it is nearest
            if away_from_limit(joints, i, value_within(flow, at, high, h)) >= -REACHED:
                continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if away_from_limit(joints, i, value_within(flow, at, middle, h)) < -REACHED:
                high = middle
            else:
                low = middle
        first = min(first, high)
    return first * h


@inlined
def may_change(world: MjWorld, joints: JointRows, flow: Named, i: Int, dt: Float) -> Bool:
    """Whether the friction of a joint may begin or cease to slip within a period, if it changes as it does now."""
    j = joints.dof[i]
    speed, acceleration = world.qvel[j], world.qacc[j]
    now = friction_error(joints, i, speed, acceleration, dt)
    then = friction_error(joints, i, speed + dt * acceleration, acceleration + flow.accelerations[1, j], dt)
    return now + 2.0 * (then - now) > allowed(flow)


@inlined
def friction_may_change(world: MjWorld, joints: JointRows, flow: Named, dt: Float) -> Bool:
    """Whether the friction of any joint may begin or cease to slip within a period."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION and may_change(world, joints, flow, i, dt):
            return True
    return False


@inlined
def near_limit(world: MjWorld, joints: JointRows, dt: Float) -> Bool:
    """Whether a joint may come to its limit, or leave it, within a period."""
    for i in range(joints.kind.size):
        if joints.kind[i] == LIMIT:
            away = away_from_limit(joints, i, world.qpos[joints.address[i]])
            if abs(away) < 2.0 * dt * abs(world.qvel[joints.dof[i]]):
                return True
    return False


class MotorLimits(NamedTuple):
    """L motors and servos on hinges and slides whose force has limits."""

    known: int  # 1 if there are no other limits of forces, as of muscles, tendons, or several motors of one joint
    actuator: Ints  # (L,)
    address: Ints  # (L,) in qpos
    dof: Ints  # (L,)
    gear: Vector  # (L,)
    gain: Matrix  # (L, 3) force per control: constant, per length, per velocity
    bias: Matrix  # (L, 3) force without control: constant, per length, per velocity
    limit: Matrix  # (L, 4) least and most control, least and most force


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
def motors_may_bend(world: MjWorld, motors: MotorLimits, dt: Float) -> Bool:
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
