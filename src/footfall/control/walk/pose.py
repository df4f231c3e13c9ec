"""Poses of a biped by inverse kinematics: feet where they shall stand, the trunk upright at a height."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.control.body.biped import Biped, Sole
from footfall.control.body.linkage import follow_motors
from footfall.control.body.rotations import rotation_vector
from footfall.standing import scratch_data

ITERATIONS = 80
#: Damping of the least-squares steps, and the longest of them, rad or m.
DAMPING, LONGEST = 1e-4, 0.2
#: rad or m, a step after which nothing comes nearer any more: loops that hold feet from their place end a search early.
STILL = 1e-10
#: Iterations in which an error that is not going to vanish changes by less than this share: places out of reach.
PATIENCE, STUCK = 8, 1e-3
#: rad by which knees are bent before the search, so that a straight leg knows which way to go.
BENT = 0.4
#: m or rad that feet and trunk may be off, and rad a joint beyond its limit, in a pose that is reached.
REACHED, BEYOND = 5e-3, 0.02


class Pose(NamedTuple):
    """A pose (nq,), how far feet and trunk are off (m or rad), and the joint that is farthest beyond its limit."""

    qpos: np.ndarray
    error: float
    joint: int  # -1 where all keep to their limits
    beyond: float  # rad

    @property
    def missed(self) -> float:
        """How far it is from one that is reached; below 1 where it is."""
        return max(self.error / REACHED, self.beyond / BEYOND)

    @property
    def reached(self) -> bool:
        return self.error < REACHED and self.beyond < BEYOND


def standing_pose(
    biped: Biped,
    lower: float,
    shift: np.ndarray | None = None,
    forward: float = 0.0,
    pitch: tuple[float, float] = (0.0, 0.0),
) -> Pose:
    """The pose with hips ``lower`` (m) than at home, the soles at home moved by ``shift`` (2, 3) (m, world frame).

    The trunk keeps its attitude and the centre of mass its place over the middle of the feet, or comes ``forward`` (m).
    Feet stand on the edge at their toes, the heel lifted by ``pitch`` (rad), or at their heel where that is negative.
    """
    moved = ((0.0, 0.0, 0.0),) * 2 if shift is None else tuple(map(tuple, shift.tolist()))
    return _found(biped, lower, moved, forward, pitch)


@lru_cache(maxsize=256)  # walks of one robot that differ in speed or number of steps ask for many of the same
def _found(
    biped: Biped, lower: float, shift: tuple[tuple[float, ...], ...], forward: float, pitch: tuple[float, float]
) -> Pose:
    """The pose of :func:`standing_pose`, by damped Newton steps on feet, trunk and centre of mass."""
    robot = biped.robot
    model, data = robot.model, scratch_data(robot.model)
    data.qpos[:] = robot.home
    _look(model, data)
    move = np.array(shift)
    goals = [
        _pitched(_place(data, sole) + own, _axes(data, sole), sole, turn)
        for sole, own, turn in zip(biped.soles, move, pitch, strict=True)
    ]
    trunk = data.xmat[biped.trunk].reshape(3, 3).copy()
    height = float(data.xpos[biped.trunk, 2]) - lower
    over = data.subtree_com[biped.trunk, :2] + move[:, :2].mean(axis=0) + np.array([forward, 0.0])
    dofs = np.concatenate([np.arange(6), *biped.legs])
    moved = np.flatnonzero(np.isin(biped.linkage.dofs, dofs))
    if not biped.linkage.loops:
        for sole, knee in zip(biped.soles, biped.knees, strict=True):
            _bend(biped, data, sole, knee)
    error = before = np.inf
    for k in range(ITERATIONS):
        _look(model, data)
        rows, off = [], []
        for sole, (place, axes) in zip(biped.soles, goals, strict=True):
            jacobian = np.zeros((6, model.nv))
            now = _place(data, sole)
            mujoco.mj_jac(model, data, jacobian[:3], jacobian[3:], now, sole.body)
            wanted = np.concatenate([place - now, rotation_vector(axes @ _axes(data, sole).T)])
            parts = 3 if biped.point else 6  # the attitude of a foot on a point follows from its leg
            rows.append(jacobian[:parts])
            off.append(wanted[:parts])
        turn, rise, com = (np.zeros((3, model.nv)) for _ in range(3))
        mujoco.mj_jacBody(model, data, rise, turn, biped.trunk)
        mujoco.mj_jacSubtreeCom(model, data, com, biped.trunk)
        rows += [turn, rise[2:], com[:2]]
        off += [
            rotation_vector(trunk @ data.xmat[biped.trunk].reshape(3, 3).T),
            np.array([height - data.xpos[biped.trunk, 2]]),
            over - data.subtree_com[biped.trunk, :2],
        ]
        span, closing = follow_motors(biped.linkage, data)
        J, e = np.concatenate(rows) @ span[:, moved], np.concatenate(off)
        error = max(float(np.abs(e).max()), float(np.abs(closing).max()))
        if error < 1e-6:
            break
        change = span[:, moved] @ (J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(len(e)), e)) + closing
        step = float(np.abs(change).max())
        if step < STILL:
            break
        if k % PATIENCE == 0:
            if abs(before - error) < STUCK * error:
                break
            before = error
        change *= min(1.0, LONGEST / step)
        mujoco.mj_integratePos(model, data.qpos, change, 1.0)
    qpos = data.qpos.copy()
    qpos.setflags(write=False)
    return Pose(qpos, error, *_beyond(biped, qpos))


def _look(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)


def _pitched(place: np.ndarray, axes: np.ndarray, sole: Sole, pitch: float) -> tuple[np.ndarray, np.ndarray]:
    """Place and axes of a sole that was turned about its edge in front or behind."""
    if pitch == 0.0:
        return place, axes
    c, s = np.cos(pitch), np.sin(pitch)
    turned = axes @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    edge = np.array([np.copysign(sole.half_length, pitch), 0.0, 0.0])
    return place + axes @ edge - turned @ edge, turned


def _place(data: mujoco.MjData, sole: Sole) -> np.ndarray:
    place: np.ndarray = data.xpos[sole.body] + data.xmat[sole.body].reshape(3, 3) @ sole.centre
    return place


def _axes(data: mujoco.MjData, sole: Sole) -> np.ndarray:
    axes: np.ndarray = data.xmat[sole.body].reshape(3, 3) @ sole.rotation
    return axes


def _bend(biped: Biped, data: mujoco.MjData, sole: Sole, knee: int) -> None:
    """Bend a knee that is straight, forward where its limits allow it."""
    model = biped.robot.model
    joint = int(model.dof_jntid[knee])
    at = int(model.jnt_qposadr[joint])
    jacobian = np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, jacobian, None, _place(data, sole), sole.body)
    back = -1.0 if jacobian[0, knee] > 0.0 else 1.0  # the foot goes back when the knee goes forward
    angle = float(data.qpos[at])
    low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.inf, np.inf)
    for sign in (back, -back):
        if low <= angle + sign * BENT <= high:
            data.qpos[at] = angle + sign * BENT
            break
    _look(model, data)


def _beyond(biped: Biped, qpos: np.ndarray) -> tuple[int, float]:
    model = biped.robot.model
    worst, joint = 0.0, -1
    for dof in np.concatenate(biped.legs):
        one = int(model.dof_jntid[dof])
        if not model.jnt_limited[one]:
            continue
        low, high = model.jnt_range[one]
        angle = float(qpos[model.jnt_qposadr[one]])
        if max(low - angle, angle - high) > worst:
            worst, joint = max(low - angle, angle - high), one
    return joint, worst
