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

from footfall.compiled import inlined
from footfall.control.contact_forces import friction_pyramid
from footfall.control.senses import Tree, com_motion, dense_inertia, translation, tree_of
from footfall.control.whole_body.problem import add_three_rows, joint_row, solve_base, unknowns
from footfall.errors import ControllerError
from footfall.robot import Robot
from footfall.robot.model import FREE, SLIDE
from footfall.robot.motors import Drives
from footfall.solve.quadratic_program import SOLVED, UNBOUNDED, solve_quadratic_program

SIDES = 4
#: Cost of a joint's acceleration, per (rad/s2)^2, which makes the solution unique.
SMALL = 1e-6
#: Rows of the tasks: the centre of mass, the turning of the root, then the points.
COM, TURN, POINTS = 0, 3, 6


class PointBody(NamedTuple):
    """What the problem is about: where everything is, what is wanted, and what was found."""

    tree: Tree
    driven: np.ndarray  # (nd,) degrees of freedom with a motor
    free: np.ndarray  # (nu,) those of the root
    least_torque: np.ndarray  # (nd,) N m, that motors can give now
    most_torque: np.ndarray  # (nd,) N m
    helpers: np.ndarray  # (nv, nh) generalised force per control of each motor on the root
    pyramid: np.ndarray  # (4, 3)
    point_body: np.ndarray  # (P,)
    slide_dofs: np.ndarray  # (k,) degrees of freedom that shift the root
    slides: np.ndarray  # (k, 3) their directions, world frame
    gravity: np.ndarray  # (3,) m/s2
    inertia: np.ndarray  # (nv, nv)
    bias: np.ndarray  # (nv,) N m
    rows: np.ndarray  # (6 + 3P, nv) tasks by q'': centre of mass, turning of the root, points
    wanted: np.ndarray  # (6 + 3P,) what their product with q'' shall be
    weight: np.ndarray  # (6 + 3P,)
    joint_wanted: np.ndarray  # (nd,) rad/s2
    joint_weight: np.ndarray  # (nd,)
    com: np.ndarray  # (3,) m
    com_velocity: np.ndarray  # (3,) m/s
    com_drift: np.ndarray  # (3,) m/s2, of the centre of mass at q'' = 0
    velocity: np.ndarray  # (P, 3) m/s
    drift: np.ndarray  # (P, 3) m/s2, at q'' = 0
    load: np.ndarray  # (P,) N, the largest normal force
    size: np.ndarray  # (1,) what forces cost, per N^2
    help_size: np.ndarray  # (6,) what help costs, per N^2 and (N m)^2
    bearing: np.ndarray  # (P,) 1 where a point may bear a force
    points: np.ndarray  # (P,) scratch: the numbers of these
    spread: np.ndarray  # (nv, 3P) scratch: generalised forces of these, per force in their frames
    problem: Any  # with room for all points
    torque: np.ndarray  # (nd,) N m, found; as everything found, that of before where there is no solution
    force: np.ndarray  # (P, 3) N, world frame, found
    help: np.ndarray  # (6,) N and N m, of the motors on the root, found


def body_on_points(robot: Robot, driving: Drives, friction: float, purpose: str) -> PointBody:
    """Room for the problem of a robot, whose motors are ``driving``; ``friction`` is the coefficient to keep to."""
    model = robot.model
    own = np.flatnonzero(~robot.root_motors)
    driven = driving.dof[own].astype(np.int64)
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
    root = int(model.body_rootid[robot.point_body[0]])
    bodies = [int(body) for body in robot.point_body]
    slide_dofs, slides = _root_slides(model)
    helpers = np.ascontiguousarray(_root_map(robot))
    P, nv, nd, nh = robot.point_count, model.nv, len(driven), helpers.shape[1]
    tasks, free = POINTS + 3 * P, undriven[at_root].astype(np.int64)
    body = PointBody(
        tree=tree_of(model, root, bodies),
        driven=driven,
        free=free,
        least_torque=-driving.limit[own],
        most_torque=driving.limit[own],
        helpers=helpers,
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
        velocity=np.zeros((P, 3)),
        drift=np.zeros((P, 3)),
        load=np.full(P, UNBOUNDED),
        size=np.zeros(1),
        help_size=np.zeros(6),
        bearing=np.zeros(P, dtype=np.int64),
        points=np.zeros(P, dtype=np.int64),
        spread=np.zeros((nv, 3 * P)),
        problem=unknowns(nd, nd + 3 * P + nh, nd + SIDES * P, len(free)),
        torque=np.zeros(nd),
        force=np.zeros((P, 3)),
        help=np.zeros(6),
    )
    if nv >= POINTS:
        body.rows[TURN:POINTS, TURN:POINTS] = np.eye(3)
    return body


@inlined
def see_points(senses, place, now):
    """Read the motion: inertia, Jacobians, velocities, and accelerations at q'' = 0.

    ``place`` (P, 3) is where the points touch, m, world frame.
    """
    tree = now.tree
    dense_inertia(senses, now.inertia)
    com_motion(senses, tree, now.rows, now.com_velocity)
    for p in range(now.point_body.size):
        rows = now.rows[POINTS + 3 * p : POINTS + 3 * p + 3]
        translation(senses, tree, now.point_body[p], p, place[p], rows, now.velocity[p], now.drift[p])
    for j in range(now.bias.size):
        now.bias[j] = senses.qfrc_bias[j] - senses.qfrc_passive[j]
    for c in range(3):
        now.com[c], now.com_drift[c] = senses.subtree_com[tree.root, c], 0.0
    for k in range(now.slide_dofs.size):
        # A slide of the root carries the whole robot: its row of the equations of motion is that of the mass.
        along, way = now.slides[k], senses.qfrc_bias[now.slide_dofs[k]] / tree.mass
        way += along[0] * now.gravity[0] + along[1] * now.gravity[1] + along[2] * now.gravity[2]
        for c in range(3):
            now.com_drift[c] += along[c] * way


@inlined
def answer_of_root(now, count, frames):
    """The root's acceleration by the joints', by each force and by help, from its rows of the equations of motion."""
    problem, points = now.problem, now.points
    M, driven, free, answer, spread = now.inertia, now.driven, now.free, problem.answer, now.spread
    nd, forces = driven.size, 3 * count
    for k in range(count):
        frame, first = frames[points[k]], POINTS + 3 * points[k]
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
        own[problem.program.shape[0]] = -now.bias[u]
    return solve_base(problem)


@inlined
def solve_points(now, frames):
    """Write torques, forces and help that come nearest to what is wanted; false if there are none.

    ``frames`` (P, 3, 3) are the contact frames, rows tangent, tangent, normal.
    """
    problem, program, points = now.problem, now.problem.program, now.points
    count = 0
    for p in range(now.bearing.size):
        if now.bearing[p]:
            points[count] = p
            count += 1
    H, f, C, lower, upper = program.H, program.f, program.C, program.lower, program.upper
    driven, free, answer = now.driven, now.free, problem.answer
    nd, forces = driven.size, 3 * count
    n = nd + forces + now.helpers.shape[1]
    program.shape[0], program.shape[1], program.shape[2] = n, n, nd + SIDES * count
    if not answer_of_root(now, count, frames):
        return False
    for i in range(n):
        f[i] = 0.0
        for j in range(i + 1):
            H[i, j] = 0.0
        lower[i], upper[i] = -UNBOUNDED, UNBOUNDED
    for first in range(0, now.wanted.size, 3):
        for r in range(3):
            rest = joint_row(now.rows[first + r], driven, free, answer, problem.rows[r], n)
            problem.wanted[r], problem.weight[r] = now.wanted[first + r] - rest, now.weight[first + r]
        add_three_rows(problem)
    for k in range(nd):
        H[k, k] += now.joint_weight[k] + SMALL
        f[k] -= now.joint_weight[k] * now.joint_wanted[k]
        bias = now.bias[driven[k]] + joint_row(now.inertia[driven[k]], driven, free, answer, C[k], n)
        for i in range(forces):
            C[k, nd + i] -= now.spread[driven[k], i]
        problem.torque_bias[k] = bias
        lower[n + k], upper[n + k] = now.least_torque[k] - bias, now.most_torque[k] - bias
    for i in range(nd, n):
        H[i, i] += now.size[0] if i < nd + forces else now.help_size[i - nd - forces]
    for k in range(count):
        normal = nd + 3 * k + 2
        lower[normal], upper[normal] = 0.0, now.load[points[k]]
        for s in range(SIDES):
            row = nd + SIDES * k + s
            lower[n + row], upper[n + row] = -UNBOUNDED, 0.0
            for c in range(3):
                C[row, nd + 3 * k + c] = now.pyramid[s, c]
    if solve_quadratic_program(program, problem.work) != SOLVED:
        return False
    take_over(now, count, frames)
    return True


@inlined
def take_over(now, count, frames):
    """Write torques, forces and help from the solution of the program."""
    problem, points = now.problem, now.points
    x, C, nd = problem.work.x, problem.program.C, now.driven.size
    for k in range(nd):
        value = problem.torque_bias[k]
        for j in range(problem.program.shape[0]):
            value += C[k, j] * x[j]
        now.torque[k] = value
    for p in range(now.force.shape[0]):
        for c in range(3):
            now.force[p, c] = 0.0
    for k in range(count):
        frame = frames[points[k]]
        for r in range(3):
            for c in range(3):
                now.force[points[k], c] += frame[r, c] * x[nd + 3 * k + r]
    for k in range(now.helpers.shape[1]):
        now.help[k] = x[nd + 3 * count + k]


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
