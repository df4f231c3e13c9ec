"""Standing on a slope: the home pose with the soles along the ground and the weight where it was over the feet."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np

from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import centre_of_mass
from footfall.standing import lowest_places, place, point_gaps, point_jacobian, point_positions

ITERATIONS = 60
LONGEST = 0.2  # rad or m, of one iteration
SETTLED = 1e-7  # rad or m, of an iteration that changes nothing more
TOUCHING = 1e-9  # m, gap of a point that stands
LEVEL = 1e-6  # m, within which points of the home pose are equally low
#: Singular values below this share of a task's largest are directions that tasks before it have taken.
RANK = 1e-6


def stance(robot: Robot, ground: Ground) -> np.ndarray:
    """(nq,) the pose to stand in at the origin of a plane or a slope, world frame.

    In order of priority: the points on which the robot stands at home touch the ground; the centre of mass keeps its
    horizontal place over them; the trunk keeps its attitude; feet and joints stay near their home values. On level
    ground, and where no such pose is found (on ground that is not a plane, or beyond the joints' limits), it is the
    home pose set down on the ground.
    """
    return _found(robot, ground).copy()


@lru_cache(maxsize=8)  # a run asks twice, for its start and for its target
def _found(robot: Robot, ground: Ground) -> np.ndarray:
    start = place(robot, ground, (0.0, 0.0), align=False)
    if ground.kind != "slope":
        return start
    solver = _Solver(robot, ground, start)
    for _ in range(ITERATIONS):
        moved = solver.improve()
        solver.look()
        if moved < SETTLED and np.abs(solver.gaps()).max() < TOUCHING:
            break
    return solver.data.qpos.copy() if np.abs(solver.gaps()).max() < TOUCHING else start


class _Solver:
    """Gauss-Newton on tasks of falling priority, each in the null space of those before."""

    def __init__(self, robot: Robot, ground: Ground, start: np.ndarray) -> None:
        self.robot, self.ground, self.model = robot, ground, robot.model
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = start
        self.look()
        low = lowest_places(robot, self.data)[:, 2]
        self.standing = np.flatnonzero(low <= low.min() + LEVEL)
        self.home = start.copy()
        self.places = point_positions(robot, self.data)
        self.com = centre_of_mass(self.model, self.data)[:2] - self.places[self.standing, :2].mean(axis=0)
        self.trunk = int(self.model.body_rootid[robot.point_body[0]])
        self.attitude = self.data.xquat[self.trunk].copy()
        movable = np.isin(self.model.jnt_type, (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE))
        limited = np.flatnonzero(movable & (self.model.jnt_limited != 0))
        self.limited, self.range = self.model.jnt_qposadr[limited], self.model.jnt_range[limited]

    def look(self) -> None:
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def gaps(self) -> np.ndarray:
        """(n,) m, of the points that stand."""
        return point_gaps(self.robot, self.ground, self.data)[0][self.standing]

    def improve(self) -> float:
        """One iteration; how far it moved the robot, rad and m."""
        step, free = np.zeros(self.model.nv), np.eye(self.model.nv)
        for rows, residual in self._tasks():
            left = rows @ free
            outer, sizes, inner = np.linalg.svd(left, full_matrices=False)
            kept = sizes > RANK * np.linalg.norm(rows, 2)
            inverse = (inner[kept].T / sizes[kept]) @ outer[:, kept].T
            step = step - free @ (inverse @ (residual + rows @ step))
            free = free @ (np.eye(self.model.nv) - inverse @ left)
        step *= min(1.0, LONGEST / max(np.abs(step).max(), LONGEST))
        before = self.data.qpos.copy()
        mujoco.mj_integratePos(self.model, self.data.qpos, step, 1.0)
        self.data.qpos[self.limited] = np.clip(self.data.qpos[self.limited], self.range[:, 0], self.range[:, 1])
        return float(np.abs(self.data.qpos - before).max())

    def _tasks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Jacobian and error of each task, those of higher rank first: touch, weight, trunk, and to stay as at home."""
        model, data = self.model, self.data
        jacobian = point_jacobian(self.robot, data).reshape(-1, 3, model.nv)
        places = point_positions(self.robot, data)
        _, normal = self.ground.gap(places[self.standing])
        touch = np.einsum("pi,pij->pj", normal, jacobian[self.standing])
        over = np.zeros((3, model.nv))
        mujoco.mj_jacSubtreeCom(model, data, over, 0)
        over *= model.body_subtreemass[0] / self.robot.mass  # what is fixed in the world does not go with it
        shift = centre_of_mass(model, data)[:2] - places[self.standing, :2].mean(axis=0) - self.com
        turn, tilt = np.zeros((3, model.nv)), np.zeros(3)
        mujoco.mj_jacBody(model, data, None, turn, self.trunk)
        mujoco.mju_subQuat(tilt, data.xquat[self.trunk], self.attitude)
        tilt = data.xmat[self.trunk].reshape(3, 3) @ tilt  # subQuat answers in the body's frame
        away = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, away, 1.0, self.home, data.qpos)
        stay = jacobian[:, :2].reshape(-1, model.nv), (places - self.places)[:, :2].ravel()
        return [
            (touch, self.gaps()),
            (over[:2] - jacobian[self.standing, :2].mean(axis=0), shift),
            (turn, tilt),
            # Metres of the feet weigh ten times radians of the joints.
            (np.vstack([10.0 * stay[0], np.eye(model.nv)]), np.concatenate([10.0 * stay[1], away])),
        ]
