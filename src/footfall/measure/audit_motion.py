"""Newton and Euler on a recording: do the forces of ground, pushes and what ties the root down explain the motion?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footfall.engine.replay import replay_places
from footfall.measure.audit_outside import outside_wrench, root_joints
from footfall.measure.common import cross, once
from footfall.measure.motion import momentum
from footfall.robot.model import BALL, FREE, SLIDE
from footfall.standing import scratch_data

if TYPE_CHECKING:
    from footfall.record import Record

#: Share of a wrench that counts as rounding: below it the world bears none of the wrench.
FREELY = 1e-9


def force_residual(rec: Record) -> np.ndarray:
    """(T,) N, part of the force required by the motion that ground, gravity, pushes and help do not explain."""
    return np.linalg.norm(_residual(rec)[:, :3], axis=1)


def moment_residual(rec: Record) -> np.ndarray:
    """(T,) N m, the same for moments about the centre of mass."""
    return np.linalg.norm(_residual(rec)[:, 3:], axis=1)


def momentum_is_exact(rec: Record) -> bool:
    """Whether differences of velocities are the accelerations of the steps: semi-implicit Euler, each recorded."""
    return rec.every_step and rec.info.get("integrator", "euler") == "euler"


def unknown_balance(rec: Record) -> np.ndarray:
    """(T,) samples that cannot be judged: all, if there is no second sample to tell the acceleration."""
    unknown = np.isnan(_residual(rec)).any(axis=1)
    if len(rec) > 1:
        unknown[-1] = False
    return unknown


def _mean_force(rec: Record, momentum: np.ndarray) -> np.ndarray:
    """(T, 3) N, that changes the momentum (T, 3) from sample to sample, less the weight; 0 in the last row."""
    change = np.zeros_like(momentum)
    change[:-1] = np.diff(momentum, axis=0) / np.diff(rec.time)[:, None]
    return change - rec.robot.mass * rec.robot.gravity


@once
def _residual(rec: Record) -> np.ndarray:
    """(T, 6) N and N m about the centre of mass; NaN in the last row.

    A root on rails (a planar robot's) is judged along its degrees of freedom only, several roots along those that they
    share: what the world bears in other directions is not known.
    """
    motion = momentum(rec)
    pushed, turned = _pushes(rec, motion.com)
    pushed, turned = (a + b for a, b in zip((pushed, turned), outside_wrench(rec, motion.com), strict=True))
    arm = rec.position - motion.com[:, None]
    ground_moment = cross(arm, rec.force).sum(axis=1)
    needed = motion.force
    if not momentum_is_exact(rec):
        needed = _mean_force(rec, motion.momentum)
        if rec.every_step and rec.law.event_driven:  # periods that were done as steps of semi-implicit Euler
            stepped = rec.signals.get("time_steps", np.zeros(len(rec)))[:, None] > 0.0
            needed = np.where(stepped, motion.force, needed)
    force = needed - rec.total_force - pushed
    moment = motion.moment - cross(motion.com, motion.force) - ground_moment - turned
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
        moment[rows] += cross(places - com[rows], given) + part[rows, None] * np.asarray(push.torque)
    return force, moment


def _along_freedoms(rec: Record, com: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """The part of wrenches (T, 6) about the centre of mass along motions allowed by the joints of every root.

    Along other motions the world bears part of the wrench: of robots on rails, and of bodies that hang on it side by
    side.
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
    """(T, 6, n) velocities at the centre of mass, and rates of turning, of what moves on a joint that is not free."""
    model, data = rec.robot.model, scratch_data(rec.robot.model)
    axis, anchor = replay_places(data, rec.qpos, [data.xaxis[joint], data.xanchor[joint]])
    kind = model.jnt_type[joint]
    if kind == SLIDE:
        return np.concatenate([axis, np.zeros_like(axis)], axis=1)[:, :, None]
    axes = np.broadcast_to(np.eye(3), (len(rec), 3, 3)) if kind == BALL else axis[:, None]
    along = cross(axes, (com - anchor)[:, None])
    return np.swapaxes(np.concatenate([along, axes], axis=2), 1, 2)
