"""MuJoCo's stages of a step, called one by one, at half the cost of ``mj_step1`` and ``mj_step2``."""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.bridge import (
    mj_apply_ft,
    mj_com_pos,
    mj_com_vel,
    mj_factor_m,
    mj_flex,
    mj_fwd_velocity,
    mj_integrate_pos,
    mj_kinematics,
    mj_make_m,
    mj_passive,
    mj_reference_constraint,
    mj_rne,
    mj_tendon,
    pointer_to,
)
from footfall.engine.constraints.joint_rows import JointRows
from footfall.engine.mobility import finish_solve, half_solve
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Named, Vector
from footfall.robot.model import AT_JOINT, HINGE, IMPLICIT, SLIDE
from footfall.solve.dense import copy


class Servos(NamedTuple):
    """S servos with implicit damping, like that of joints, on hinges and slides.

    Models request it by MuJoCo's integrator implicit or implicitfast: damping that would end a motion within a step is
    then stable. At the limits of its force a servo does not damp. Damping is explicit where the control sets it (a gain
    that depends on velocity), or where a tendon or site transmits it.
    """

    actuator: Ints  # (S,)
    dof: Ints  # (S,)
    damping: Vector  # (S,) N s/m or N m s/rad, at the joint
    limit: Matrix  # (S, 4) N or N m, least and most force of the servo, and of all actuators at its joint


def damping_servos(model: mujoco.MjModel) -> Servos:
    """Servos with implicit damping; none if the model does not request it."""
    affine = model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
    at_joint = np.isin(model.actuator_trntype, AT_JOINT)
    kind = model.jnt_type[np.where(at_joint, model.actuator_trnid[:, 0], 0)] if model.njnt else np.zeros(model.nu)
    wanted = affine & at_joint & np.isin(kind, (HINGE, SLIDE)) & (model.actuator_biasprm[:, 2] != 0.0)
    if int(model.opt.integrator) not in IMPLICIT or (model.actuator_outnum != 1).any():  # so forces go by actuator
        wanted[:] = False
    joint, gear = model.actuator_trnid[wanted, 0], model.actuator_gear[wanted, 0]
    unlimited = np.array([-np.inf, np.inf])
    force = np.where(model.actuator_forcelimited[wanted, None], model.actuator_forcerange[wanted], unlimited)
    of_joint = np.where(model.jnt_actfrclimited[joint, None], model.jnt_actfrcrange[joint], unlimited)
    return Servos(
        actuator=np.flatnonzero(wanted),
        dof=model.jnt_dofadr[joint].astype(np.int64),
        damping=-model.actuator_biasprm[wanted, 2] * gear**2,
        limit=np.concatenate([force, of_joint], axis=1),
    )


@inlined
def damps(limit: Vector, force: Float, of_joint: Float) -> Bool:
    """Whether a servo is within its limits, by its force and by that of all actuators at its joint (``of_joint``)."""
    return limit[0] < force < limit[1] and limit[2] < of_joint < limit[3]


@inlined
def position_stage(world: Named, rich: Int) -> None:
    model, data = world.model, world.data
    mj_kinematics(model, data)
    mj_com_pos(model, data)
    if rich:
        mj_flex(model, data)
        mj_tendon(model, data)
    mj_make_m(model, data)


@inlined
def add_damping(world: Named, dt: Float) -> None:
    """M + dt D: joint damping is implicit."""
    for j in range(world.damping.size):
        world.M[world.M_rowadr[j] + world.M_rownnz[j] - 1] += dt * world.damping[j]


@inlined
def add_servo_damping(world: Named, dt: Float) -> None:
    """Add dt D of servos with implicit damping that are within their limits after actuation."""
    servos = world.servos
    for i in range(servos.dof.size):
        a, j = servos.actuator[i], servos.dof[i]
        if damps(servos.limit[i], world.actuator_force[a], world.qfrc_actuator[j]):
            world.M[world.M_rowadr[j] + world.M_rownnz[j] - 1] += dt * servos.damping[i]


@inlined
def add_inertia(world: Named, added: Vector) -> None:
    """Add to the diagonal of M."""
    for j in range(added.size):
        world.M[world.M_rowadr[j] + world.M_rownnz[j] - 1] += added[j]


@inlined
def multiply_inertia(world: Named, x: Vector, y: Vector) -> None:
    """M x, into y."""
    for j in range(x.size):
        y[j] = 0.0
    for j in range(x.size):
        first, last = world.M_rowadr[j], world.M_rowadr[j] + world.M_rownnz[j] - 1
        value = world.M[last] * x[j]
        for e in range(first, last):
            i = np.uint64(world.M_colind[e])
            value += world.M[e] * x[i]
            y[i] += world.M[e] * x[j]
        y[j] += value


@inlined
def factor_inertia(world: Named, joints: JointRows) -> None:
    """Factor the inertia plus that of constraints on single dofs; M itself is not changed."""
    if joints.kind.size == 0:
        mj_factor_m(world.model, world.data)
        return
    for j in range(joints.added.size):
        at = world.M_rowadr[j] + world.M_rownnz[j] - 1
        joints.diagonal[j] = world.M[at]
        world.M[at] += joints.added[j]
    mj_factor_m(world.model, world.data)
    for j in range(joints.added.size):
        world.M[world.M_rowadr[j] + world.M_rownnz[j] - 1] = joints.diagonal[j]


@inlined
def velocity_stage(world: Named, rich: Int, constrained: Int) -> None:
    model, data = world.model, world.data
    if rich:
        mj_fwd_velocity(model, data)
        return
    for a in range(world.actuator_velocity.size):
        value = 0.0
        for e in range(world.moment_rowadr[a], world.moment_rowadr[a] + world.moment_rownnz[a]):
            value += world.actuator_moment[e] * world.qvel[world.moment_colind[e]]
        world.actuator_velocity[a] = value
    mj_com_vel(model, data)
    mj_passive(model, data)
    mj_rne(model, data, 0, pointer_to(world.qfrc_bias))
    if constrained:
        mj_reference_constraint(model, data)


@inlined
def smooth_force(world: Named, pushes: Named, step: Int) -> None:
    """Write all generalised forces except those of contacts and constraints to ``qfrc_smooth``."""
    for j in range(world.qfrc_smooth.size):
        world.qfrc_smooth[j] = (
            world.qfrc_passive[j] - world.qfrc_bias[j] + world.qfrc_applied[j] + world.qfrc_actuator[j]
        )
    for i in range(pushes.body.size):
        if pushes.start[i] <= step < pushes.stop[i]:
            wrench = pushes.wrench[i]
            mj_apply_ft(
                world.model,
                world.data,
                pointer_to(wrench[:3]),
                pointer_to(wrench[3:]),
                pointer_to(world.xipos[pushes.body[i]]),
                pushes.body[i],
                pointer_to(world.qfrc_smooth),
            )


@inlined
def solve(world: Named, x: Vector, y: Vector) -> None:
    """M^-1 y, into x."""
    copy(x, y)
    half_solve(world, x)
    finish_solve(world, x)


@inlined
def integrate_activations(world: Named, dt: Float) -> None:
    for i in range(world.act.size):
        ahead = dt
        if world.act_filter[i] > 0.0:  # a first-order filter, whose step is known exactly
            ahead = world.act_filter[i] * -math.expm1(-dt / world.act_filter[i])
        value = world.act[i] + ahead * world.act_dot[i]
        world.act[i] = min(max(value, world.act_range[i, 0]), world.act_range[i, 1])


@inlined
def integrate_positions(world: Named, velocity: Vector, dt: Float) -> None:
    mj_integrate_pos(world.model, pointer_to(world.qpos), pointer_to(velocity), dt)
