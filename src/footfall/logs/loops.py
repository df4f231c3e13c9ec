"""Joints that are not in a log but determined by loops or ties: solved for, sample by sample."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.robot import Robot
from footfall.robot.model import BALL
from footfall.standing import loop_rows

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
