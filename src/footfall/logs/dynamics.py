"""Inverse dynamics of a log: residual forces beside motors and inertia, and the delay of torques.

In the frame of the root the accelerometer includes gravity, so that neither attitude nor place of the base is needed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.errors import FootfallError, optional_package
from footfall.files.stamps import low_passed
from footfall.logs.log import LONGEST_DELAY, NEAR_FACTOR, NO_DELAY, Compared, Log, peak, rate_of, rates_of
from footfall.robot import Robot
from footfall.robot.model import BALL, FREE
from footfall.standing import at_home, loop_rows, point_jacobian

#: Cut-off of the low pass for estimating a delay, Hz; samples used; and the largest ratio of unexplained squares after
#: a correction to those before at which it is made.
CUTOFF, LOOKED_AT, GAINED = 30.0, 400, 0.5
#: Samples used for a delay per sample used for signs; and the largest ratio of unexplained squares with a joint
#: reversed to those with its torque alone reversed at which it is the joint.
FEWER, SURELY = 4, 0.95


class Signals(NamedTuple):
    """Inputs of inverse dynamics, with the same low pass on all, and the raw IMU at the root."""

    qpos: np.ndarray  # (T, nq) with the root at the origin, without rotation
    qvel: np.ndarray  # (T, nv) with the root's angular velocity, but not its linear one
    sharp: np.ndarray  # (T, nv) qvel before the low pass, which would smear a touch-down into a slide
    qacc: np.ndarray  # (T, nv) with the reading of an accelerometer at the root
    torque: np.ndarray  # (T, nv)
    known: np.ndarray  # (nv,) rows whose torque is known
    gyro: np.ndarray  # (T, 3)
    accel: np.ndarray  # (T, 3) at the root
    said: tuple[str, ...]


def signals_of(log: Log, cutoff: float, causal: bool) -> Signals:
    """Inputs of inverse dynamics from a log, low-passed at ``cutoff`` Hz; ``causal``: without later samples."""
    robot, model, rate = log.robot, log.robot.model, log.rate
    gyro, accel, said = log.gyro, log.accel, []
    if gyro is None or accel is None:
        if log.position is None or log.attitude is None:
            lacking = "a gyroscope" if gyro is None else "an accelerometer"
            raise FootfallError(
                f"{log.source} has neither {lacking} nor the pose of the base: without an IMU no force on the base is "
                "known"
            )
        said.append("the motion of the base is that of its measured pose: the log has no IMU")
        gyro = rates_of(log.attitude, log.time)
        turned = rate_of(rate_of(log.position, log.time), log.time) - robot.gravity
        accel = np.einsum("tji,tj->ti", matrices(log.attitude), turned)
    smooth = partial(low_passed, rate=rate, cutoff=cutoff, causal=causal)
    sharp = log.qvel.copy()
    sharp[:, :3], sharp[:, 3:6] = 0.0, gyro
    qvel = smooth(sharp)
    step = 1.0 / rate
    qacc = (
        np.vstack([np.zeros((1, model.nv)), np.diff(qvel, axis=0)]) / step
        if causal
        else np.gradient(qvel, step, axis=0)
    )
    arm, spin, turning = log.imu_position, gyro, qacc[:, 3:6]
    accel = accel - np.cross(turning, arm) - np.cross(spin, np.cross(spin, arm))
    qacc[:, :3] = smooth(accel)
    qpos = log.qpos.copy()
    qpos[:, :3], qpos[:, 3:7] = 0.0, (1.0, 0.0, 0.0, 0.0)
    driven = {int(model.jnt_dofadr[int(model.actuator_trnid[i, 0])]) for i in range(model.nu)}
    measured = np.isfinite(log.torque).all(axis=0)
    known = np.array([d < 6 or measured[d] or (d not in driven and log.logged[d]) for d in range(model.nv)])
    if not measured.any():
        said.append("no torques were logged: forces of the feet are told apart by the motion of the base alone")
    torque = smooth(np.where(np.isfinite(log.torque), log.torque, 0.0))
    return Signals(qpos, qvel, sharp, qacc, torque, known, gyro, accel, tuple(said))


def matrices(attitude: np.ndarray) -> np.ndarray:
    """(T, 3, 3) rotations of attitudes (T, 4)."""
    Rotation = optional_package("scipy.spatial.transform").Rotation
    return Rotation.from_quat(attitude, scalar_first=True).as_matrix()


class Inverse:
    """Generalised residual forces beside motors and inertia of a robot, sample by sample."""

    def __init__(self, robot: Robot, signals: Signals) -> None:
        self.robot, self.signals = robot, signals
        self.model = copy.deepcopy(robot.model)
        self.model.opt.gravity[:] = 0.0  # the accelerometer includes it
        self.data = mujoco.MjData(self.model)
        self.height = max(float(at_home(robot).subtree_com[1, 2]), 1e-3)  # m, of the centre of mass
        self.scale = np.full(self.model.nv, robot.weight * self.height)  # N and N m, units of the rows
        self.scale[:3] = robot.weight
        self.wanted = np.zeros(self.model.nv)

    def needed(self, k: int) -> np.ndarray:
        """(nv,) generalised residual forces beside motors and inertia; computes the robot's kinematics."""
        model, data, signals = self.model, self.data, self.signals
        data.qpos[:], data.qvel[:], data.qacc[:] = signals.qpos[k], signals.qvel[k], signals.qacc[k]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_passive(model, data)
        mujoco.mj_rne(model, data, 1, self.wanted)
        slow = np.tanh(signals.qvel[k] / 0.01)
        return (
            self.wanted
            + model.dof_armature * signals.qacc[k]
            + model.dof_frictionloss * slow
            - data.qfrc_passive
            - signals.torque[k]
        )

    def hidden(self, *others: np.ndarray) -> np.ndarray:
        """(nv, n) basis orthogonal to unknown torques, forces in loops and the rows of ``others`` (m, nv)."""
        rows = [np.eye(self.model.nv)[~self.signals.known], *others]
        if self.model.neq:
            rows.append(equality_rows(self.model, self.data)[0])
        _, size, ways = np.linalg.svd(np.vstack(rows) / self.scale)
        rank = int((size > 1e-9 * size.max(initial=0.0)).sum())
        found: np.ndarray = ways[rank:].T
        return found


class _Unpushed:
    """Samples of a log, and the scaled directions along which contacts, loops and unknown torques do nothing there."""

    def __init__(self, log: Log, looked: Sequence[int]) -> None:
        signals = signals_of(log, CUTOFF, causal=False)
        rows = {name: getattr(signals, name)[looked] for name in ("qpos", "qvel", "qacc", "torque")}
        self.rows = signals._replace(**rows)
        self.inverse = Inverse(log.robot, self.rows)
        self.ways = np.zeros((len(looked), log.robot.model.nv, log.robot.model.nv))
        for i in range(len(looked)):
            self.inverse.needed(i)
            free = self.inverse.hidden(point_jacobian(log.robot, self.inverse.data))
            self.ways[i] = free @ free.T

    def missed(self) -> np.ndarray:
        """(K, nv) what motors and inertia do not explain of each sample."""
        return self.along(np.array([self.inverse.needed(i) for i in range(len(self.ways))]))

    def along(self, forces: np.ndarray) -> np.ndarray:
        """Generalised forces (K, nv) along these directions."""
        return np.asarray(np.einsum("kij,kj->ki", self.ways, forces / self.inverse.scale))


def torque_signs(log: Log) -> np.ndarray:
    """(nv,) signs of the torques with which they explain the motion, where as logged they do not."""
    signs, looked = np.ones(log.robot.model.nv), _looked(log)[::FEWER]
    if not looked:
        return signs
    free = _Unpushed(log, looked)
    first = missed = free.missed()
    all_of = free.along(free.rows.torque)
    if ((missed + 2.0 * all_of) ** 2).sum() < GAINED**2 * (missed**2).sum():
        signs[6:], missed = -1.0, missed + 2.0 * all_of
    else:
        turned = 2.0 * free.ways * (free.rows.torque / free.inverse.scale)[:, None, :]  # (K, nv, nv)
        for _ in range(6, signs.size):
            left = ((missed[:, :, None] + turned) ** 2).sum(axis=(0, 1))
            best = 6 + int(np.argmin(left[6:]))
            if left[best] > 0.5 * (1.0 + GAINED) * (missed**2).sum():
                break
            missed, signs[best] = missed + turned[:, :, best], -1.0
            turned[:, :, best] = -turned[:, :, best]
    explained = (missed**2).sum() < NEAR_FACTOR**2 * (all_of**2).sum()
    return signs if explained and (missed**2).sum() < (first**2).sum() else np.ones_like(signs)


def reversed_joint(log: Log, able: Sequence[int]) -> tuple[int, Log] | None:
    """The one of these joints whose reversal, of position, velocity and torque, explains the motion far better than
    other signs of torques do, and the log with it reversed; None where none does.
    """
    looked = _looked(log)[::FEWER]
    if not looked or not able:
        return None
    model = log.robot.model

    def missed(one: Log) -> tuple[float, bool]:
        """Squares of unexplained forces, and whether they are few."""
        free = _Unpushed(one, looked)
        left, all_of = (float((own**2).sum()) for own in (free.missed(), free.along(free.rows.torque)))
        return left, left < NEAR_FACTOR**2 * all_of

    def turned(joint: int) -> Log:
        at, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        qpos, qvel, torque = log.qpos.copy(), log.qvel.copy(), log.torque.copy()
        for own, column in ((qpos, at), (qvel, dof), (torque, dof)):
            own[:, column] *= -1.0
        return replace(log, qpos=qpos, qvel=qvel, torque=torque)

    found = {joint: missed(turned(joint)) for joint in able}
    best = min(found, key=lambda joint: found[joint])
    signs = torque_signs(log)
    as_signed, _ = missed(replace(log, torque=log.torque * signs))
    # Where its torque alone would be reversed as well, either is a change: the better one is made.
    most = SURELY if signs[model.jnt_dofadr[best]] < 0.0 else 0.5 * (1.0 + GAINED)
    left, few = found[best]
    return (best, turned(best)) if few and left < most * as_signed else None


def _looked(log: Log) -> range:
    """The samples of a log at which its torques are compared with its motion; few or none where they cannot be."""
    based = log.has_imu or (log.position is not None and log.attitude is not None)
    model, most = log.robot.model, round(LONGEST_DELAY * log.rate)
    looked = range(most, len(log) - most, max(1, (len(log) - 2 * most) // LOOKED_AT))
    able = model.njnt and model.jnt_type[0] == FREE and based and np.isfinite(log.torque).any()
    return looked if able and len(looked) >= 8 else range(0)


def torques_compared(log: Log) -> Compared:
    """Factor and delay (s) of the torques of a log relative to its motion; 1 and 0 if they cannot be estimated.

    Along directions without generalised contact forces, torques equal those that inertia requires, whatever the
    contacts. The delay is the shift with the best correlation of both, if it explains far more. Both halves of the log
    must give it to within a sample: reactions to a push come later than the push, but by no constant time.
    """
    looked, most = _looked(log), round(LONGEST_DELAY * log.rate)
    if not looked:
        return Compared(1.0, 0.0, 0.0)
    free = _Unpushed(log, looked)
    needed = free.missed() + free.along(free.rows.torque)
    torque = signals_of(log, CUTOFF, causal=False).torque
    shifts = np.arange(-most, most + 1)
    moved = [free.along(torque[np.add(looked, shift)]) for shift in shifts]

    def alike(part: slice) -> np.ndarray:
        """(S,) correlations of the shifted torques with the required ones over some of the samples."""
        a = needed[part] - needed[part].mean(axis=0)
        found = np.zeros(len(shifts))
        for i, one in enumerate(moved):
            b = one[part] - one[part].mean(axis=0)
            found[i] = abs((a * b).sum()) / max(float(np.sqrt((a * a).sum() * (b * b).sum())), 1e-300)
        return found

    half, whole = len(looked) // 2, alike(slice(None))
    late, first, second = (peak(own) - most for own in (whole, alike(slice(half)), alike(slice(half, None))))
    left = 1.0 - whole**2  # share of the squares that torques do not explain
    best = int(np.argmax(whole))
    factor, delay = 1.0, 0.0
    if max(abs(late - first), abs(late - second)) < NO_DELAY:
        if left[best] < NEAR_FACTOR:
            factor = float(moved[best].std() / needed.std())
        if abs(late) > NO_DELAY and left[best] < GAINED * left[most]:
            delay = late / log.rate
    return Compared(factor, delay, float(whole[best]))


# ---- joints that loops and ties determine ----------------------------------------------------------------------------


#: Iteration limit of Newton's method per sample; and tolerance of a loop, m or rad, far below the resolution of
#: encoders.
STEPS, CLOSED = 20, 1e-9


def close_loops(robot: Robot, qpos: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Solve the ``free`` degrees of freedom (nv,) of coordinates (T, nq), in place, so that loops and ties hold.

    Each sample starts from the solution of the one before. Returns (T,) m or rad, the largest error that remains, as
    where logged angles and the model disagree.
    """
    model, data = robot.model, mujoco.MjData(robot.model)
    left = np.zeros(len(qpos))
    if not model.neq or not free.any():
        return left
    moved = np.flatnonzero(free)
    offset = np.zeros(model.nv)
    before = qpos[0].copy()
    mine = np.zeros(model.nq, dtype=bool)  # unknown coordinates
    for j in np.unique(model.dof_jntid[moved]):
        first = int(model.jnt_qposadr[j])
        mine[first : first + (4 if model.jnt_type[j] == BALL else 1)] = True
    for k in range(len(qpos)):
        data.qpos[:] = np.where(mine, before, qpos[k])
        for _ in range(STEPS):
            rows, error = equality_rows(model, data)
            left[k] = float(np.abs(error).max(initial=0.0))
            if left[k] < CLOSED:
                break
            offset[moved] = np.linalg.lstsq(rows[:, moved], -error, rcond=1e-8)[0]
            if np.abs(offset).max() < CLOSED:
                break
            mujoco.mj_integratePos(model, data.qpos, offset, 1.0)
        before = data.qpos.copy()
        qpos[k] = before
    return left


def undetermined(robot: Robot, qpos: np.ndarray, free: np.ndarray) -> np.ndarray:
    """(nv,) which of the ``free`` degrees of freedom (nv,) can move at ``qpos`` (nq,) while loops and ties hold."""
    data, found = mujoco.MjData(robot.model), np.zeros_like(free)
    data.qpos[:] = qpos
    rows = equality_rows(robot.model, data)[0][:, free]
    _, size, ways = np.linalg.svd(rows)
    rank = int((size > 1e-6 * size.max(initial=0.0)).sum())
    found[free] = (np.abs(ways[rank:]) > 1e-3).any(axis=0)
    return found


def equality_rows(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """(R, nv) the Jacobian of a model's loops and ties at the state in ``data``, and (R,) their errors."""
    mujoco.mj_fwdPosition(model, data)
    return loop_rows(data), data.efc_pos[: data.ne].copy()
