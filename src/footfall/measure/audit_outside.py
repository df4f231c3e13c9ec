"""What acts on a robot from outside, besides ground, gravity and pushes: everything that ties it to the world.

Motors, damping, springs, friction, limits and rotors of the root's own joints; a fluid; compensated gravity; tendons,
their rotors, and equalities that end in the world; adhesion. Forces between two bodies of the robot do not count.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from footfall.engine.replay import replay_places
from footfall.engine.stages import damping_servos
from footfall.measure.common import cross
from footfall.measure.energy import Actuation, actuation
from footfall.measure.motion import generalised_acceleration
from footfall.robot.model import moving_bodies
from footfall.standing import scratch_data

if TYPE_CHECKING:
    from footfall.record import Record

JOINT, ROW = mujoco.mjtJoint, mujoco.mjtConstraint
#: Bounds on the force of a row by its kind, N or N m: equalities have none, others are not below 0; friction loss is
#: added to both.
LEAST, MOST = np.zeros(len(ROW.__members__)), np.full(len(ROW.__members__), np.inf)
LEAST[int(ROW.mjCNSTR_EQUALITY)] = -np.inf
MOST[[int(ROW.mjCNSTR_FRICTION_DOF), int(ROW.mjCNSTR_FRICTION_TENDON)]] = 0.0


def root_joints(model: mujoco.MjModel) -> np.ndarray:
    """Ids of the joints between the world and what moves in it."""
    moving = moving_bodies(model)
    tops = np.flatnonzero(moving & ~moving[model.body_parentid])
    return np.flatnonzero(np.isin(model.jnt_bodyid, tops))


def outside_wrench(rec: Record, com: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force (N) and moment about the centre of mass (N m) of what ties the root to the world, (T, 3) each."""
    model, count = rec.robot.model, len(rec)
    force, moment = np.zeros((count, 3)), np.zeros((count, 3))
    joints = root_joints(model)
    if not _anything(model, joints):
        return force, moment
    torque = _torque(rec, np.isin(model.dof_jntid, joints))
    data = scratch_data(model)
    for joint in joints:
        body, first = model.jnt_bodyid[joint], model.jnt_dofadr[joint]
        at, turned, axis = replay_places(data, rec.qpos, [data.xpos[body], data.xmat[body], data.xaxis[joint]])
        turned, kind = turned.reshape(count, 3, 3), model.jnt_type[joint]
        push, turn = np.zeros((count, 3)), np.zeros((count, 3))
        if kind == JOINT.mjJNT_FREE:  # pushes along the world's axes, turns about the body's own
            push = torque[:, first : first + 3]
            turn = np.einsum("tij,tj->ti", turned, torque[:, first + 3 : first + 6])
        elif kind == JOINT.mjJNT_BALL:
            turn = np.einsum("tij,tj->ti", turned, torque[:, first : first + 3])
        elif kind == JOINT.mjJNT_HINGE:
            turn = torque[:, first, None] * axis
        else:
            push = torque[:, first, None] * axis
        force += push
        moment += cross(at - com, push) + turn
    pull, turn = _adhesion(rec, com)
    return force + pull, moment + turn


def _adhesion(rec: Record, com: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force (N) and moment (N m) of actuators of adhesion, (T, 3) each: all points of a body that touch pull alike.

    They act on MuJoCo's own contacts alone.
    """
    model = rec.robot.model
    force, moment = np.zeros((len(rec), 3)), np.zeros((len(rec), 3))
    adhesive = np.flatnonzero(model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)) if rec.law.native else ()
    body = np.concatenate([rec.robot.point_body, rec.robot.others.of_body[rec.other_points]])
    for i in adhesive:
        touching = (rec.mode != 0) & (body == model.actuator_trnid[i, 0])
        share = -actuation(rec).force[:, i] / np.maximum(touching.sum(axis=1), 1)
        pulls = (share[:, None] * touching)[..., None] * rec.normal
        force += pulls.sum(axis=1)
        moment += cross(rec.position - com[:, None], pulls).sum(axis=1)
    return force, moment


def _anything(model: mujoco.MjModel, joints: np.ndarray) -> bool:
    """Whether the model has anything that may act from outside; tendons and equalities count, also those within it."""
    own = np.isin(model.dof_jntid, joints)
    at_joint = np.isin(model.actuator_trntype, [int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)])
    inner = at_joint & ~np.isin(model.actuator_trnid[:, 0], joints)
    return bool(
        model.neq
        or model.ntendon
        or model.opt.density
        or model.opt.viscosity
        or model.body_gravcomp.any()
        or not inner.all()
        or any(each[own].any() for each in (model.dof_damping, model.dof_armature, model.dof_frictionloss))
        or any(each[joints].any() for each in (model.jnt_stiffness, model.jnt_limited))
    )


def _torque(rec: Record, own: np.ndarray) -> np.ndarray:
    """(T, nv) N or N m, forces from outside on the root's own degrees of freedom, 0 on all others."""
    model, given = rec.robot.model, actuation(rec)
    acceleration = generalised_acceleration(rec)
    gained = acceleration * np.diff(rec.time, append=rec.time[-1:])[:, None]
    # Damping acts on the velocity at the end of a step; part of a joint's force accelerates its rotor.
    damped = _damping(model, given) * gained
    torque = given.passive + given.torque - damped - model.dof_armature * acceleration
    if model.neq or model.ntendon or model.dof_frictionloss[own].any() or model.jnt_limited[model.dof_jntid[own]].any():
        torque += _constraints(rec, acceleration, damped)
    if model.tendon_armature.any():
        torque -= _tendon_inertia(rec, acceleration)
    return np.where(own, torque, 0.0)


def _tendon_inertia(rec: Record, acceleration: np.ndarray) -> np.ndarray:
    """(T, nv) N or N m, what accelerates the rotors of tendons: the inverse dynamics with them, less that without."""
    total = np.zeros((2, len(rec), rec.robot.model.nv))
    for own, armature in zip(total, (1.0, 0.0), strict=True):
        model = copy.copy(rec.robot.model)
        model.tendon_armature *= armature
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        data = mujoco.MjData(model)
        for k in range(len(rec)):
            data.qpos[:], data.qvel[:] = rec.qpos[k], rec.qvel[k]
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_mulM(model, data, own[k], acceleration[k])
            own[k] += data.qfrc_bias
    return np.asarray(total[0] - total[1])


def _damping(model: mujoco.MjModel, given: Actuation) -> np.ndarray:
    """(T, nv) N s/m or N m s/rad, of joints, and of servos that a model damps as it does joints."""
    servos = damping_servos(model)
    low, high, lowest, highest = servos.limit.T
    force, of_joint = given.force[:, servos.actuator], given.torque[:, servos.dof]
    within = (low < force) & (force < high) & (lowest < of_joint) & (of_joint < highest)
    at_dof = np.arange(model.nv) == servos.dof[:, None]  # two servos may share one
    return np.asarray(model.dof_damping.reshape(model.nv, -1)[:, 0] + (within * servos.damping) @ at_dof)


def _constraints(rec: Record, acceleration: np.ndarray, damped: np.ndarray) -> np.ndarray:
    """(T, nv) N or N m, of friction, limits and equalities: MuJoCo's constraints are soft, so the motion gives their
    forces.

    ``damped`` is the implicit part of damping within a step, which MuJoCo's own solver does not know.
    """
    model = copy.copy(rec.robot.model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    torque, seen, native = np.zeros((len(rec), model.nv)), np.zeros((1, model.nv)), rec.law.native
    qpos, qvel = data.qpos, data.qvel
    for k in range(len(rec)):
        qpos[:], qvel[:] = rec.qpos[k], rec.qvel[k]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        if not data.nefc:
            continue
        moved = acceleration[k]
        if native:
            mujoco.mj_solveM(model, data, seen, damped[k : k + 1])
            moved = moved + seen[0]
        along = np.empty(data.nefc)
        mujoco.mj_mulJacVec(model, data, along, moved)
        kind, loss = data.efc_type, data.efc_frictionloss
        bears = (data.efc_aref - along) / data.efc_R
        bears = np.minimum(np.maximum(bears, LEAST[kind] - loss), MOST[kind] + loss)
        mujoco.mj_mulJacTVec(model, data, torque[k], bears)
    return torque
