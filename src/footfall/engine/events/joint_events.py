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
from footfall.kinds import Bool, Float, Int, Named, Vector

#: Distance beyond its limit at which a joint has reached it, m or rad: more than projections of points undo.
REACHED = 1e-10
#: Shortest time after which a joint may change, s.
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
def has_changed(world: MjWorld, joints: JointRows, flow: Named, i: Int, part: Float, h: Float) -> Bool:
    """Whether a joint has come to its limit, or its friction begun or ceased to slip so early that it matters more than
    a step may err, by this fraction (0 to 1) of a complete step of ``h`` seconds.
    """
    if joints.kind[i] == LIMIT:
        return away_from_limit(joints, i, value_within(flow, joints.address[i], part, h)) < -REACHED
    at, acceleration = world.qpos.size + joints.dof[i], 0.0
    for j in range(STAGES):
        acceleration += rate_within(flow, j, part) * flow.slope[j, at]
    return not friction_error(joints, i, value_within(flow, at, part, h), acceleration, h) <= allowed(flow)


@inlined
def first_change(world: MjWorld, joints: JointRows, flow: Named, h: Float) -> Float:
    """When the first joint changes so in a complete step of ``h`` seconds, s; ``h`` if none does.

    Looked at are the end and the middle of the step, or the instant at which a joint is nearest to its limit.
    """
    first = 1.0
    for i in range(joints.kind.size):
        at, middle = joints.address[i], 0.5
        if joints.kind[i] == LIMIT:
            if away_from_limit(joints, i, flow.start[at]) < 0.0:
                continue
            before, after = joints.sign[i] * flow.slope[0, at], joints.sign[i] * flow.slope[STAGES - 1, at]
            middle = before / (before - after) if before < 0.0 < after else 1.0
        elif joints.kind[i] != FRICTION:
            continue
        low, high = 0.0, 1.0
        if has_changed(world, joints, flow, i, middle, h):
            high = middle
        elif not has_changed(world, joints, flow, i, 1.0, h):
            continue
        for _ in range(BISECTIONS):
            part = 0.5 * (low + high)
            if has_changed(world, joints, flow, i, part, h):
                high = part
            else:
                low = part
        first = min(first, high)
    return min(h, max(first * h, NO_SOONER))


@inlined
def friction_may_change(world: MjWorld, joints: JointRows, flow: Named, dt: Float) -> Bool:
    """Whether the friction of any joint may begin or cease to slip within a period, if it changes as it does now."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION:
            j = joints.dof[i]
            speed, acceleration = world.qvel[j], world.qacc[j]
            now = friction_error(joints, i, speed, acceleration, dt)
            then = friction_error(joints, i, speed + dt * acceleration, acceleration + flow.accelerations[1, j], dt)
            if now + 2.0 * (then - now) > allowed(flow):
                return True
    return False


@inlined
def friction_changed(world: MjWorld, joints: JointRows, flow: Named, size: Float) -> Bool:
    """Whether joint friction has begun or ceased to slip by the end of a macro step of ``size`` seconds."""
    for i in range(joints.kind.size):
        if joints.kind[i] == FRICTION:
            j = joints.dof[i]
            if not friction_error(joints, i, world.qvel[j], world.qacc[j], size) <= allowed(flow):
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


class ForceLimits(NamedTuple):
    """Limits of the forces of nu actuators and, after them, of all actuators together at each of nv dofs."""

    known: int  # 1 if there are no others, as of tendons
    least: Vector  # (nu + nv,) N or N m
    most: Vector  # (nu + nv,)
    before: Vector  # (nu + nv,) forces at the last instant


def force_limits(model: mujoco.MjModel) -> ForceLimits:
    """The limits of a model, infinite where there are none."""
    unlimited = np.array([-np.inf, np.inf])
    own = np.where(model.actuator_forcelimited[:, None], model.actuator_forcerange, unlimited)
    joint = np.where(model.jnt_actfrclimited[:, None], model.jnt_actfrcrange, unlimited)[model.dof_jntid]
    least, most = np.concatenate([own, joint]).T.copy()
    known = not model.tendon_actfrclimited.any()
    return ForceLimits(int(known), least, most, np.zeros_like(least))


@inlined
def motor_force(world: MjWorld, i: Int) -> Float:
    """A force that may be limited, N or N m, see :class:`ForceLimits`."""
    count = world.actuator_force.size
    return world.actuator_force[i] if i < count else world.qfrc_actuator[i - count]


@inlined
def keep_motors(world: MjWorld, flow: Named) -> None:
    """Keep the forces of motors at this instant."""
    for i in range(flow.motors.before.size):
        flow.motors.before[i] = motor_force(world, i)


@inlined
def motors_may_bend(world: MjWorld, flow: Named) -> Bool:
    """Whether a motor is at the limit of its force, or may reach it in a macro step by twice its last change."""
    motors = flow.motors
    for i in range(motors.before.size):
        force = motor_force(world, i)
        change = 2.0 * abs(force - motors.before[i])
        if force - motors.least[i] <= change or motors.most[i] - force <= change:
            return True
    return motors.known == 0
