"""Whole-body control with a force at every contact point: any number of feet of any shape.

The unknowns are the accelerations of the driven joints, the forces at the points that stand, and, where motors push the
root from outside, their wrench. The equations of motion of what is not driven (u) are solved for its acceleration, so
they hold exactly; torques of the driven joints (d) follow and keep within their limits:

    M_u q'' + h_u = J_u^T f + w
    tau = M_d q'' + h_d - J_d^T f
"""

from __future__ import annotations

import daqp
import mujoco
import numpy as np

from footfall.control.friction_pyramid import friction_pyramid
from footfall.errors import ControllerError
from footfall.robot import Robot
from footfall.robot.model import FREE, SLIDE
from footfall.robot.motors import Drives, drives

SOLVED = 1  # daqp's exit flag
NO_BOUND = 1e30  # daqp's infinity
SIDES = 4


class WholeBodyPoints:
    """Solves for torques, at one state after the other.

    ``friction`` is the coefficient to keep to. After :meth:`solve`:

    Attributes:
        torque: (nd,) N m, of the driven joints.
        force: (P, 3) N, world frame, of the ground on each contact point.
        help: (6,) N and N m, of the motors on the root, world frame and the root's frame.
        solved: whether the solver says so; if not, they are those of the call before.
    """

    def __init__(self, robot: Robot, friction: float, purpose: str) -> None:
        model = self.model = robot.model
        self.robot = robot
        if not model.nu:
            raise ControllerError(f"{purpose} needs motors, and {robot.name} has none")
        self.drives: Drives = drives(robot, purpose)
        self.own = np.flatnonzero(~robot.root_motors)
        self.driven = self.drives.dof[self.own].astype(np.int64)
        if len(set(self.driven.tolist())) < len(self.driven):
            raise ControllerError(f"{purpose} needs one motor for a joint, and {robot.name} has more on one")
        self.limit = self.drives.limit[self.own]
        # Other joints without a motor, as of grippers, are taken to stay as they are.
        undriven = np.setdiff1d(np.arange(model.nv), self.driven)
        at_root = model.body_parentid[model.dof_bodyid[undriven]] == 0
        self.free = undriven[at_root]
        for dof in undriven[~at_root]:
            if any(_moves(model, int(dof), int(body)) for body in robot.point_body):
                raise ControllerError(
                    f"{purpose} needs a motor at every joint of a leg, and joint '{robot.dof_name(int(dof))}' of "
                    f"{robot.name} has none"
                )
        self.helpers = _root_map(robot)
        self.root = int(model.body_rootid[robot.point_body[0]])
        self.mass = float(model.body_subtreemass[self.root])
        self.gravity = np.array(robot.gravity)
        self._slide_dofs, self._slides = _root_slides(model)
        self._com_drift = np.zeros(3)
        self.pyramid = friction_pyramid(friction, SIDES)
        P, nv = robot.point_count, model.nv
        self.inertia, self.jacobian, self.drift = np.zeros((nv, nv)), np.zeros((P, 3, nv)), np.zeros((P, 3))
        self.com, self.com_velocity = np.zeros(3), np.zeros(3)
        self.place, self.velocity = np.zeros((P, 3)), np.zeros((P, 3))
        self._com_jacobian, self._rate = np.zeros((3, nv)), np.zeros((3, nv))
        self.bias = np.zeros(nv)
        self.torque, self.force, self.help = np.zeros(len(self.driven)), np.zeros((P, 3)), np.zeros(6)
        self.solved = True
        self._solvers: dict[bytes, daqp.Model] = {}

    def see(self, data: mujoco.MjData, places: np.ndarray) -> None:
        """Take over the state; ``places`` (P, 3) are where the points touch, m, world frame."""
        model, qvel = self.model, data.qvel
        mujoco.mj_fullM(model, data, self.inertia)
        self.place[:] = places
        for p, body in enumerate(self.robot.point_body):
            mujoco.mj_jac(model, data, self.jacobian[p], None, places[p], int(body))
            mujoco.mj_jacDot(model, data, self._rate, None, places[p], int(body))
            np.dot(self._rate, qvel, out=self.drift[p])
        np.dot(self.jacobian, qvel, out=self.velocity)
        np.subtract(data.qfrc_bias, data.qfrc_passive, out=self.bias)
        mujoco.mj_jacSubtreeCom(model, data, self._com_jacobian, self.root)
        self.com[:] = data.subtree_com[self.root]
        np.dot(self._com_jacobian, qvel, out=self.com_velocity)
        # A slide of the root carries the whole robot: its row of the equations of motion is that of the mass.
        self._com_drift = self._slides.T @ (data.qfrc_bias[self._slide_dofs] / self.mass + self._slides @ self.gravity)

    def com_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """(3, nv) rows that give the acceleration of the centre of mass, and (3,) what it is at q'' = 0, m/s2."""
        return self._com_jacobian, self._com_drift

    def solve(
        self, tasks: list[tuple[np.ndarray, np.ndarray, np.ndarray]], standing: np.ndarray, problem: Forces
    ) -> np.ndarray:
        """The torques (nd,) that come nearest to the ``tasks``.

        A task is (rows (r, nv), the wanted product with q'' (r,), weights (r,)). ``standing`` (P,) says which points
        may bear a force, and ``problem`` what is asked of these.
        """
        d, u, M = self.driven, self.free, self.inertia
        points = np.flatnonzero(standing)
        nd, nf, nh = len(d), 3 * len(points), self.helpers.shape[1]
        n = nd + nf + nh
        # forces in contact frames -> generalised forces
        spread = np.zeros((self.model.nv, nf))
        for k, p in enumerate(points):
            spread[:, 3 * k : 3 * k + 3] = self.jacobian[p].T @ problem.frames[p].T
        # q'' = T x + t, from the rows of what is not driven
        right = np.zeros((len(u), n + 1))
        right[:, :nd] = -M[np.ix_(u, d)]
        right[:, nd : nd + nf] = spread[u]
        right[:, nd + nf : n] = self.helpers[u]
        right[:, n] = -self.bias[u]
        solved = np.linalg.solve(M[np.ix_(u, u)], right) if len(u) else right
        T, t = np.zeros((self.model.nv, n)), np.zeros(self.model.nv)
        T[u], t[u] = solved[:, :n], solved[:, n]
        T[d, np.arange(nd)] = 1.0
        H, f = np.zeros((n, n)), np.zeros(n)
        for rows, wanted, weights in tasks:
            A = rows @ T
            scaled = A * weights[:, None]
            H += scaled.T @ A
            f -= scaled.T @ (wanted - rows @ t)
        size = np.concatenate([np.full(nd, 1e-6), np.full(nf, problem.size), problem.help_size[:nh]])
        H[np.diag_indices(n)] += size
        C = np.zeros((nd + SIDES * len(points), n))
        C[:nd] = M[d] @ T
        C[:nd, nd : nd + nf] -= spread[d]
        rest = self.bias[d] + M[d] @ t
        for k in range(len(points)):
            C[nd + SIDES * k : nd + SIDES * (k + 1), nd + 3 * k : nd + 3 * k + 3] = self.pyramid
        lower, upper = np.full(n + len(C), -NO_BOUND), np.full(n + len(C), NO_BOUND)
        normal = nd + 2 + 3 * np.arange(len(points))
        lower[normal], upper[normal] = 0.0, problem.load[points]
        lower[n : n + nd], upper[n : n + nd] = -self.limit - rest, self.limit - rest
        upper[n + nd :] = 0.0
        x = self._solution(standing, H, f, C, upper, lower)
        if x is not None:
            self.torque = C[:nd] @ x + rest
            self.force[:] = 0.0
            for k, p in enumerate(points):
                self.force[p] = problem.frames[p].T @ x[nd + 3 * k : nd + 3 * k + 3]
            self.help[:nh] = x[nd + nf :]
        return self.torque

    def controls(self, torque: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """(nu,) controls for these torques (nd,) and the help on the root."""
        every = np.zeros(self.model.nu)
        every[self.own] = np.clip(torque, -self.limit, self.limit)
        given = self.drives.controls(every, qpos, qvel)
        helping = np.flatnonzero(self.robot.root_motors)
        given[helping] = self.help[: len(helping)]
        return given

    def _solution(
        self, standing: np.ndarray, H: np.ndarray, f: np.ndarray, C: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        key = standing.tobytes()
        solver = self._solvers.get(key)
        if solver is None:
            solver = self._solvers[key] = daqp.Model()
            solver.setup(H, f, C, upper, lower, np.zeros(len(upper), dtype=np.int32))
        else:
            solver.update(H=H, f=f, A=C, bupper=upper, blower=lower)
        x, _, end, _ = solver.solve()
        self.solved = end == SOLVED
        if self.solved:
            return np.array(x)
        del self._solvers[key]  # its warm start may be the cause: begin the next one cold
        return None


class Forces:
    """What is asked of the forces: frames of the points, the largest normal forces, and what their size costs."""

    def __init__(self, count: int, size: float, help_size: np.ndarray) -> None:
        self.frames = np.tile(np.eye(3), (count, 1, 1))  # rows tangent, tangent, normal
        self.load = np.full(count, NO_BOUND)  # N
        self.size = size  # per N^2
        self.help_size = help_size  # (6,) per N^2 and (N m)^2


def _moves(model: mujoco.MjModel, dof: int, body: int) -> bool:
    """Whether a degree of freedom moves a body."""
    while body:
        if model.dof_bodyid[dof] == body:
            return True
        body = int(model.body_parentid[body])
    return False


def _root_slides(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Degrees of freedom that shift the root, and their directions (k, 3), world frame."""
    dofs, axes = [], []
    for j in range(model.njnt):
        if model.body_parentid[model.jnt_bodyid[j]] == 0 and model.jnt_type[j] in (FREE, SLIDE):
            free = model.jnt_type[j] == FREE
            axes += list(np.eye(3)) if free else [model.jnt_axis[j]]
            dofs += [int(model.jnt_dofadr[j]) + k for k in range(3 if free else 1)]
    return np.array(dofs, dtype=int), np.array(axes).reshape(-1, 3)


def _root_map(robot: Robot) -> np.ndarray:
    """(nv, k) generalised force per control of each motor on the root."""
    model = robot.model
    columns = []
    for i in np.flatnonzero(robot.root_motors):
        joint = int(model.actuator_trnid[i, 0])
        first = int(model.jnt_dofadr[joint])
        column = np.zeros(model.nv)
        parts = 6 if model.jnt_type[joint] == FREE else 1
        column[first : first + parts] = model.actuator_gear[i, :parts] * model.actuator_gainprm[i, 0]
        columns.append(column)
    return np.array(columns).T.reshape(model.nv, len(columns))
