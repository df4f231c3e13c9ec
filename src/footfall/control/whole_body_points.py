"""Whole-body control with a force at every contact point: any number of feet of any shape.

The unknowns are the accelerations of the driven joints, the forces at the points that stand, and, where motors push the
root from outside, their wrench. The equations of motion of what is not driven (u) are solved for its acceleration, so
they hold exactly; torques of the driven joints (d) follow and keep within their limits:

    M_u q'' + h_u = J_u^T f + w
    tau = M_d q'' + h_d - J_d^T f
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import ByReference, inlined, kernel
from footfall.control.com_coordinates import Tree, com_jacobian, tree_of
from footfall.control.friction_pyramid import friction_pyramid
from footfall.control.senses import Senses, dense_inertia, translation
from footfall.control.whole_body_problem import add_three_rows, joint_row, solve_base, unknowns
from footfall.errors import ControllerError
from footfall.robot import Robot
from footfall.robot.model import FREE, SLIDE
from footfall.robot.motors import Drives, drives
from footfall.solve.quadratic_program import SOLVED, solve_quadratic_program

SIDES = 4
#: What the acceleration of a joint costs, per (rad/s2)^2, so that the problem has one solution.
SMALL = 1e-6
#: Rows of the tasks: the centre of mass, the turning of the root, then the points.
COM, TURN, POINTS = 0, 3, 6


class PointBody(NamedTuple):
    """What the problem is about: where everything is, what is wanted, and what was found."""

    tree: Tree
    driven: Any  # (nd,) degrees of freedom with a motor
    free: Any  # (nu,) those of the root
    limit: Any  # (nd,) N m
    helpers: Any  # (nv, nh) generalised force per control of each motor on the root
    pyramid: Any  # (4, 3)
    point_body: Any  # (P,)
    slide_dofs: Any  # (k,) degrees of freedom that shift the root
    slides: Any  # (k, 3) their directions, world frame
    gravity: Any  # (3,) m/s2
    inertia: Any  # (nv, nv)
    bias: Any  # (nv,) N m
    rows: Any  # (6 + 3P, nv) tasks by q'': centre of mass, turning of the root, points
    wanted: Any  # (6 + 3P,) what their product with q'' shall be
    weight: Any  # (6 + 3P,)
    joint_wanted: Any  # (nd,) rad/s2
    joint_weight: Any  # (nd,)
    com: Any  # (3,) m
    com_velocity: Any  # (3,) m/s
    com_drift: Any  # (3,) m/s2, of the centre of mass at q'' = 0
    place: Any  # (P, 3) m, of the points
    velocity: Any  # (P, 3) m/s
    drift: Any  # (P, 3) m/s2, at q'' = 0
    frames: Any  # (P, 3, 3) rows tangent, tangent, normal
    load: Any  # (P,) N, the largest normal force
    size: Any  # (1,) what forces cost, per N^2
    help_size: Any  # (6,) what help costs, per N^2 and (N m)^2
    spread: Any  # (nv, 3P) scratch: generalised forces of the points that bear, per force in their frames
    torque: Any  # (nd,) N m, found
    force: Any  # (P, 3) N, world frame, found
    help: Any  # (6,) N and N m, of the motors on the root, found


class WholeBodyPoints:
    """Solves for torques, at one state after the other.

    ``friction`` is the coefficient to keep to. Where everything is, what is wanted and what was found is in ``now``;
    without a solution it is what was found before.
    """

    def __init__(self, robot: Robot, friction: float, purpose: str) -> None:
        model = self.model = robot.model
        self.robot = robot
        if not model.nu:
            raise ControllerError(f"{purpose} needs motors, and {robot.name} has none")
        self.drives: Drives = drives(robot, purpose)
        self.own = np.flatnonzero(~robot.root_motors)
        driven = self.driven = self.drives.dof[self.own].astype(np.int64)
        if len(set(driven.tolist())) < len(driven):
            raise ControllerError(f"{purpose} needs one motor for a joint, and {robot.name} has more on one")
        # Other joints without a motor, as of grippers, are taken to stay as they are.
        undriven = np.setdiff1d(np.arange(model.nv), driven)
        at_root = model.body_parentid[model.dof_bodyid[undriven]] == 0
        for dof in undriven[~at_root]:
            if any(_moves(model, int(dof), int(body)) for body in robot.point_body):
                raise ControllerError(
                    f"{purpose} needs a motor at every joint of a leg, and joint '{robot.dof_name(int(dof))}' of "
                    f"{robot.name} has none"
                )
        self.root = int(model.body_rootid[robot.point_body[0]])
        P, nv, nd = robot.point_count, model.nv, len(driven)
        bodies = [int(body) for body in robot.point_body]
        slide_dofs, slides = _root_slides(model)
        tasks = POINTS + 3 * P
        self.now = PointBody(
            tree=tree_of(model, self.root, bodies),
            driven=driven,
            free=undriven[at_root].astype(np.int64),
            limit=self.drives.limit[self.own],
            helpers=np.ascontiguousarray(_root_map(robot)),
            pyramid=friction_pyramid(friction, SIDES),
            point_body=np.array(bodies),
            slide_dofs=slide_dofs,
            slides=slides,
            gravity=np.array(robot.gravity, dtype=float),
            inertia=np.zeros((nv, nv)),
            bias=np.zeros(nv),
            rows=np.zeros((tasks, nv)),
            wanted=np.zeros(tasks),
            weight=np.zeros(tasks),
            joint_wanted=np.zeros(nd),
            joint_weight=np.zeros(nd),
            com=np.zeros(3),
            com_velocity=np.zeros(3),
            com_drift=np.zeros(3),
            place=np.zeros((P, 3)),
            velocity=np.zeros((P, 3)),
            drift=np.zeros((P, 3)),
            frames=np.tile(np.eye(3), (P, 1, 1)),
            load=np.full(P, 1e30),
            size=np.zeros(1),
            help_size=np.zeros(6),
            spread=np.zeros((nv, 3 * P)),
            torque=np.zeros(nd),
            force=np.zeros((P, 3)),
            help=np.zeros(6),
        )
        if nv >= 6:
            self.now.rows[TURN:POINTS, TURN:POINTS] = np.eye(3)
        self._place = ByReference(self.now)
        self._senses: tuple[Senses, ByReference] | None = None
        self._problems: dict[int, ByReference] = {}
        self.solved = True

    def see(self, senses: Senses, places: np.ndarray, frames: np.ndarray) -> None:
        """Take over the state; ``places`` (P, 3) are where the points touch, m, world frame, with their frames."""
        if self._senses is None or self._senses[0] is not senses:
            self._senses = senses, ByReference(senses)
        self.now.place[:], self.now.frames[:] = places, frames
        see_points(self._senses[1], self._place)

    def solve(self, bearing: np.ndarray) -> np.ndarray:
        """The torques (nd,) that come nearest to what is wanted, with forces at the points of ``bearing`` (P,)."""
        points = np.flatnonzero(bearing)
        if len(points) not in self._problems:
            nd, nh = len(self.driven), self.now.helpers.shape[1]
            n, m = nd + 3 * len(points) + nh, nd + SIDES * len(points)
            self._problems[len(points)] = ByReference(unknowns(nd, n, m, len(self.now.free)))
        self.solved = bool(solve_points(self._place, points, self._problems[len(points)]))
        return self.now.torque

    def controls(self, torque: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """(nu,) controls for these torques (nd,) and the help on the root."""
        every = np.zeros(self.model.nu)
        every[self.own] = np.clip(torque, -self.now.limit, self.now.limit)
        given = self.drives.controls(every, qpos, qvel)
        helping = np.flatnonzero(self.robot.root_motors)
        given[helping] = self.now.help[: len(helping)]
        return given


@kernel
def see_points(senses, now):
    """Take over how everything moves: inertia, Jacobians, velocities, and accelerations at q'' = 0."""
    tree = now.tree
    dense_inertia(senses, now.inertia)
    com_jacobian(senses.cdof, senses.subtree_com, tree, now.rows)
    for p in range(now.point_body.size):
        rows = now.rows[POINTS + 3 * p : POINTS + 3 * p + 3]
        translation(senses, tree, now.point_body[p], p, now.place[p], rows, now.velocity[p], now.drift[p])
    for j in range(now.bias.size):
        now.bias[j] = senses.qfrc_bias[j] - senses.qfrc_passive[j]
    for c in range(3):
        now.com[c], now.com_velocity[c], now.com_drift[c] = senses.subtree_com[tree.root, c], 0.0, 0.0
        for j in range(now.bias.size):
            now.com_velocity[c] += now.rows[c, j] * senses.qvel[j]
    for k in range(now.slide_dofs.size):
        # A slide of the root carries the whole robot: its row of the equations of motion is that of the mass.
        along, way = now.slides[k], senses.qfrc_bias[now.slide_dofs[k]] / tree.mass
        way += along[0] * now.gravity[0] + along[1] * now.gravity[1] + along[2] * now.gravity[2]
        for c in range(3):
            now.com_drift[c] += along[c] * way


@inlined
def answer_of_root(now, points, problem):
    """The root's acceleration by the joints', by each force and by help, from its rows of the equations of motion."""
    M, driven, free, answer, spread = now.inertia, now.driven, now.free, problem.answer, now.spread
    nd, forces = driven.size, 3 * points.size
    for k in range(points.size):
        frame, first = now.frames[points[k]], POINTS + 3 * points[k]
        for j in range(spread.shape[0]):
            x, y, z = now.rows[first, j], now.rows[first + 1, j], now.rows[first + 2, j]
            for c in range(3):
                spread[j, 3 * k + c] = x * frame[c, 0] + y * frame[c, 1] + z * frame[c, 2]
    for i in range(free.size):
        own, u = answer[i], free[i]
        for j in range(free.size):
            problem.block[i, j] = M[u, free[j]]
        for k in range(nd):
            own[k] = -M[u, driven[k]]
        for k in range(forces):
            own[nd + k] = spread[u, k]
        for k in range(now.helpers.shape[1]):
            own[nd + forces + k] = now.helpers[u, k]
        own[own.size - 1] = -now.bias[u]
    return solve_base(problem)


@kernel
def solve_points(now, points, problem):
    """Write torques, forces and help that come nearest to what is wanted. False, with those of before, if there are
    none.
    """
    program = problem.program
    H, f, C, lower, upper = program.H, program.f, program.C, program.lower, program.upper
    driven, free, answer = now.driven, now.free, problem.answer
    nd, n, forces = driven.size, f.size, 3 * points.size
    if not answer_of_root(now, points, problem):
        return False
    for i in range(n):
        f[i] = 0.0
        for j in range(i + 1):
            H[i, j] = 0.0
        lower[i], upper[i] = -1e30, 1e30
    for first in range(0, now.wanted.size, 3):
        for r in range(3):
            rest = joint_row(now.rows[first + r], driven, free, answer, problem.rows[r])
            problem.wanted[r], problem.weight[r] = now.wanted[first + r] - rest, now.weight[first + r]
        add_three_rows(problem)
    for k in range(nd):
        H[k, k] += now.joint_weight[k] + SMALL
        f[k] -= now.joint_weight[k] * now.joint_wanted[k]
        bias = now.bias[driven[k]] + joint_row(now.inertia[driven[k]], driven, free, answer, C[k])
        for i in range(forces):
            C[k, nd + i] -= now.spread[driven[k], i]
        problem.torque_bias[k] = bias
        lower[n + k], upper[n + k] = -now.limit[k] - bias, now.limit[k] - bias
    for i in range(nd, n):
        H[i, i] += now.size[0] if i < nd + forces else now.help_size[i - nd - forces]
    for k in range(points.size):
        normal = nd + 3 * k + 2
        lower[normal], upper[normal] = 0.0, now.load[points[k]]
        for s in range(SIDES):
            row = nd + SIDES * k + s
            lower[n + row], upper[n + row] = -1e30, 0.0
            for c in range(3):
                C[row, nd + 3 * k + c] = now.pyramid[s, c]
    if solve_quadratic_program(program, problem.work) != SOLVED:
        return False
    take_over(now, points, problem)
    return True


@inlined
def take_over(now, points, problem):
    """Write what the solution of the program means."""
    x, C, nd = problem.work.x, problem.program.C, now.driven.size
    for k in range(nd):
        value = problem.torque_bias[k]
        for j in range(x.size):
            value += C[k, j] * x[j]
        now.torque[k] = value
    for p in range(now.force.shape[0]):
        for c in range(3):
            now.force[p, c] = 0.0
    for k in range(points.size):
        frame = now.frames[points[k]]
        for r in range(3):
            for c in range(3):
                now.force[points[k], c] += frame[r, c] * x[nd + 3 * k + r]
    for k in range(now.helpers.shape[1]):
        now.help[k] = x[nd + 3 * points.size + k]


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
    return np.array(dofs, dtype=np.int64), np.array(axes, dtype=float).reshape(-1, 3)


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
