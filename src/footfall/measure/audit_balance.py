"""Balance of forces and moments (Newton, Euler), with all external forces beside ground, gravity and pushes.

These are motors, damping, springs, friction, limits and rotors of the root's own joints; a fluid; compensated gravity;
tendons, their rotors, and equalities that end in the world; adhesion. Forces between two bodies of the robot cancel.
"""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from footfall.engine.replay import replay_places
from footfall.engine.stages import damping_servos
from footfall.measure.common import once
from footfall.measure.motion import Actuation, Motion, actuation, generalised_acceleration, momentum
from footfall.record import Record
from footfall.robot.model import BALL, FREE, SLIDE, moving_bodies
from footfall.standing import scratch_data

JOINT, ROW = mujoco.mjtJoint, mujoco.mjtConstraint
#: Bounds on the force of a constraint row by its kind, N or N m, without friction loss, which widens both: equalities
#: have none, unilateral rows are at least 0, friction has both at 0.
LEAST, MOST = np.zeros(len(ROW.__members__)), np.full(len(ROW.__members__), np.inf)
LEAST[int(ROW.mjCNSTR_EQUALITY)] = -np.inf
MOST[[int(ROW.mjCNSTR_FRICTION_DOF), int(ROW.mjCNSTR_FRICTION_TENDON)]] = 0.0


def root_joints(model: mujoco.MjModel) -> np.ndarray:
    """Ids of the joints between the world and the topmost moving bodies."""
    moving = moving_bodies(model)
    tops = np.flatnonzero(moving & ~moving[model.body_parentid])
    return np.flatnonzero(np.isin(model.jnt_bodyid, tops))


def outside_wrench(rec: Record, com: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """External force (N) and moment about the centre of mass (N m) beside ground, gravity and pushes, (T, 3) each."""
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
        if kind == JOINT.mjJNT_FREE:  # pushes along the world's axes, and then turns about the body's own as a ball
            push, first = torque[:, first : first + 3], first + 3
        if kind in (FREE, BALL):
            turn = np.einsum("tij,tj->ti", turned, torque[:, first : first + 3])
        elif kind == JOINT.mjJNT_HINGE:
            turn = torque[:, first, None] * axis
        else:
            push = torque[:, first, None] * axis
        force += push
        moment += np.cross(at - com, push) + turn
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
        moment += np.cross(rec.position - com[:, None], pulls).sum(axis=1)
    return force, moment


def _anything(model: mujoco.MjModel, joints: np.ndarray) -> bool:
    """Whether the model may have further external forces; any tendon or equality counts, also between its bodies."""
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
    """(T, nv) N or N m, external forces on the root's own degrees of freedom, 0 on all others."""
    model, given = rec.robot.model, actuation(rec)
    acceleration = generalised_acceleration(rec)
    gained = acceleration * np.diff(rec.time, append=rec.time[-1:])[:, None]
    # Damping acts on the velocity at the end of a step; part of a joint's force accelerates its rotor.
    damped = _damping(model, given) * gained
    torque = given.passive + given.torque - damped - model.dof_armature * acceleration
    if model.neq or model.ntendon or model.dof_frictionloss[own].any() or model.jnt_limited[model.dof_jntid[own]].any():
        torque += _constraints(rec, acceleration, damped)
    return np.where(own, torque, 0.0)


def _damping(model: mujoco.MjModel, given: Actuation) -> np.ndarray:
    """(T, nv) N s/m or N m s/rad, implicit damping of joints and of servos."""
    servos = damping_servos(model)
    low, high, lowest, highest = servos.limit.T
    force, of_joint = given.force[:, servos.actuator], given.torque[:, servos.dof]
    within = (low < force) & (force < high) & (lowest < of_joint) & (of_joint < highest)
    at_dof = np.arange(model.nv) == servos.dof[:, None]  # two servos may act on one dof
    return np.asarray(model.dof_damping.reshape(model.nv, -1)[:, 0] + (within * servos.damping) @ at_dof)


def _constraints(rec: Record, acceleration: np.ndarray, damped: np.ndarray) -> np.ndarray:
    """(T, nv) N or N m, forces of friction, limits and equalities, which follow from the motion, since MuJoCo's
    constraints are soft.

    ``damped`` is the implicit part of damping within a step, which MuJoCo's own solver leaves out.
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


# ---- Newton and Euler -----------------------------------------------------------------------------------------------


#: Eigenvalue of the projection onto blocked motions below which a motion is free; 1 is blocked, the rest is rounding.
FREELY = 1e-9


def force_residual(rec: Record) -> np.ndarray:
    """Forces add up to the rate of momentum (Newton).

    (T,) N, part of the force required by the motion that ground, gravity, pushes and help do not explain.
    """
    return np.linalg.norm(_residual(rec)[:, :3], axis=1)


def moment_residual(rec: Record) -> np.ndarray:
    """Moments about the centre of mass add up to the rate of angular momentum (Euler).

    (T,) N m, part of the moment required by the motion that these moments do not explain.
    """
    return np.linalg.norm(_residual(rec)[:, 3:], axis=1)


def momentum_is_exact(rec: Record) -> bool:
    """Whether differences of velocities are the steps' accelerations: semi-implicit Euler, every step recorded."""
    return rec.every_step and rec.info.get("integrator", "euler") == "euler"


def stepped(rec: Record) -> np.ndarray:
    """(T, 1) whether an event-driven law took a period as one step of semi-implicit Euler."""
    steps = rec.signals.get("time_steps") if rec.every_step and rec.law.event_driven else None
    return np.zeros((len(rec), 1), dtype=bool) if steps is None else steps[:, None] > 0.0


def largest_change(rec: Record, part: int) -> float:
    """Largest change between two samples of the force (``part`` 0, N) or moment (1, N m) that the motion requires, plus
    the largest external one.
    """
    motion = momentum(rec)
    changes = np.diff(_needed(motion)[part][:-1], axis=0)  # the last sample has no acceleration
    return _largest(changes) + _largest(outside_wrench(rec, motion.com)[part])


def _needed(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Force (N) and moment about the centre of mass (N m) that a motion requires, (T, 3) each."""
    return motion.force, motion.moment - np.cross(motion.com, motion.force)


def _largest(vectors: np.ndarray) -> float:
    sizes = np.linalg.norm(vectors, axis=1)
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def unknown_balance(rec: Record) -> np.ndarray:
    """(T,) samples that cannot be judged: all of a recording with one sample, which has no acceleration."""
    unknown = np.isnan(_residual(rec)).any(axis=1)
    if len(rec) > 1:
        unknown[-1] = False
    return unknown


def _mean_rates(rec: Record, motion: Motion) -> np.ndarray:
    """(2, T, 3) force (N) and moment about the centre of mass (N m) that change the momenta from sample to sample,
    without gravity's; 0 in the last row.
    """
    rates = np.zeros((2, len(rec), 3))
    rates[:, :-1] = np.diff([motion.momentum, motion.angular_momentum], axis=1) / np.diff(rec.time)[:, None]
    rates[0] -= rec.robot.mass * rec.robot.gravity
    return rates


@once
def _residual(rec: Record) -> np.ndarray:
    """(T, 6) N and N m about the centre of mass; NaN in the last row.

    The root of a planar robot is judged along its degrees of freedom only, several roots along those that they share:
    the reactions of the world in other directions are not known.
    """
    motion = momentum(rec)
    given = [np.stack(one) for one in (_pushes(rec, motion.com), outside_wrench(rec, motion.com))]
    arm, needed = rec.position - motion.com[:, None], np.stack(_needed(motion))
    ground = np.stack([rec.total_force, np.cross(arm, rec.force).sum(axis=1)])
    if not momentum_is_exact(rec):
        needed = np.where(stepped(rec), needed, _mean_rates(rec, motion))
    force, moment = needed - ground - (given[0] + given[1])
    wrench = _along_freedoms(rec, motion.com, np.concatenate([force, moment], axis=1))
    wrench[-1:] = np.nan  # the last sample has no acceleration
    return wrench


def _pushes(rec: Record, com: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the centre of mass of all pushes, (T, 3) each."""
    model = rec.robot.model
    data = scratch_data(model)
    force, moment = np.zeros((len(rec), 3)), np.zeros((len(rec), 3))
    steps = np.rint(rec.time / rec.dt)
    count = np.diff(steps, append=steps[-1:] + 1)  # steps until the next sample
    for push in rec.pushes:
        body = model.body(push.body).id
        start, stop = push.steps(rec.dt)
        part = (np.minimum(stop, steps + count) - np.maximum(start, steps)) / count  # of the interval
        rows = np.flatnonzero(part > 0.0)
        (places,) = replay_places(data, rec.qpos[rows], [data.xipos[body]])
        given = part[rows, None] * np.asarray(push.force, dtype=float)
        force[rows] += given
        moment[rows] += np.cross(places - com[rows], given) + part[rows, None] * np.asarray(push.torque)
    return force, moment


def _along_freedoms(rec: Record, com: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """The part of wrenches (T, 6) about the centre of mass along motions allowed by the joints of every root.

    Along other motions the world bears part of the wrench, as of planar robots and of several bodies hung on it.
    """
    model = rec.robot.model
    joints = root_joints(model)
    tops = np.unique(model.jnt_bodyid[joints])
    bound = [top for top in tops if not (model.jnt_type[joints][model.jnt_bodyid[joints] == top] == FREE).any()]
    if not bound:
        return wrench
    borne = np.zeros((len(rec), 6, 6))
    for top in bound:
        own = joints[model.jnt_bodyid[joints] == top]
        allowed = np.concatenate([_motions(rec, com, joint) for joint in own], axis=2)
        borne += np.eye(6) - allowed @ np.linalg.pinv(allowed)
    share, along = np.linalg.eigh(borne)
    along *= share[:, None] < FREELY
    return np.einsum("tij,tkj,tk->ti", along, along, wrench)


def _motions(rec: Record, com: np.ndarray, joint: int) -> np.ndarray:
    """(T, 6, n) velocities at the centre of mass and angular velocities, per unit speed of a joint that is not free."""
    model, data = rec.robot.model, scratch_data(rec.robot.model)
    axis, anchor = replay_places(data, rec.qpos, [data.xaxis[joint], data.xanchor[joint]])
    kind = model.jnt_type[joint]
    if kind == SLIDE:
        return np.concatenate([axis, np.zeros_like(axis)], axis=1)[:, :, None]
    axes = np.broadcast_to(np.eye(3), (len(rec), 3, 3)) if kind == BALL else axis[:, None]
    along = np.cross(axes, (com - anchor)[:, None])
    return np.swapaxes(np.concatenate([along, axes], axis=2), 1, 2)
