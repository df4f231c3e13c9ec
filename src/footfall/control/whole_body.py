"""Whole-body control: joint torques that come nearest to wanted accelerations with forces the ground can give.

The unknowns are the accelerations of the driven joints (d), the forces f of the loaded contacts, and, where motors act
on the root from outside, their wrench w. The equations of motion of the other coordinates (u) are solved for their
acceleration, so they hold exactly; torques of the driven joints follow, and are limited:

    M_u q'' + h_u = J_u^T f + w
    tau = M_d q'' + h_d - J_d^T f

A contact is a point, whose force has three components, or a sole, whose wrench has six. They are taken in the frame of
the contact, where the limits of friction, pressure and pull do not change with time.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.control.contact_forces import friction_pyramid
from footfall.control.senses import Senses, Tree, com_motion, dense_inertia, translation, tree_of
from footfall.errors import ControllerError
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Tensor, Vector, zeros
from footfall.robot import Robot
from footfall.robot.model import FREE, SLIDE
from footfall.robot.motors import Drives
from footfall.solve.dense import cholesky, copy
from footfall.solve.quadratic_program import (
    SOLVED,
    UNBOUNDED,
    ActiveSet,
    QuadraticProgram,
    active_set,
    empty_program,
    solve_quadratic_program,
)

#: Pivot of the root's inertia, as a share of the largest, below which the inertia is singular.
SINGULAR = 1e-12
#: Sides of the friction pyramid of a point.
SIDES = 4
#: Rows of the tasks: the centre of mass, the turning of the root, then the contacts.
COM, TURN, CONTACTS = 0, 3, 6


class Motion(NamedTuple):
    """The equations of motion, M q'' + h, and the accelerations of the tasks, rows q'' + drift."""

    inertia: Annotated[Matrix, "nv", "nv"]
    bias: Annotated[Vector, "nv"]  # N m
    rows: Annotated[Matrix, "R", "nv"]
    drift: Annotated[Vector, "R"]  # m/s2 and rad/s2


class WholeBody(NamedTuple):
    """State, tasks and solution of the whole-body problem. R is 6 + K size."""

    size: int  # components of the force of a contact: 3 of a point, 6 of a sole
    body: Ints  # (K,) of each contact
    tree: Tree  # with these bodies
    driven: Ints  # (nd,) degrees of freedom with a motor
    free: Ints  # (nu,) those of the root
    helpers: Matrix  # (nv, nh) generalised force per control of each motor on the root
    slide_dofs: Ints  # (k,) degrees of freedom that shift the root
    slides: Matrix  # (k, 3) their directions, world frame
    gravity: Vector  # (3,) m/s2
    motion: Motion
    com: Annotated[Vector, 3]  # m
    com_velocity: Annotated[Vector, 3]  # m/s
    velocity: Annotated[Matrix, "K", "size"]  # m/s and rad/s, of the contacts, world frame
    wanted: Annotated[Vector, "R"]  # m/s2 and rad/s2, wanted accelerations of the tasks
    weight: Annotated[Vector, "R"]
    joint_wanted: Annotated[Vector, "nd"]  # rad/s2
    joint_weight: Annotated[Vector, "nd"]
    force_weight: Annotated[Vector, "size"]  # cost of contact forces, per N^2 and (N m)^2
    help_weight: Annotated[Vector, 6]  # cost of the wrench on the root, per N^2 and (N m)^2
    least_torque: Annotated[Vector, "nd"]  # N m, present limits of the motors
    most_torque: Annotated[Vector, "nd"]  # N m
    limits: Tensor  # (K, L, size) rows whose product with the force of a contact is >= 0
    least_load: float  # N, least normal force of a loaded contact
    load: Vector  # (K,) N, largest normal force
    bearing: Annotated[Ints, "K"]  # 1 where a contact may have a force
    bears: Annotated[Ints, "K"]  # scratch: the numbers of these contacts
    spread: Annotated[Matrix, "nv", "Kf"]  # scratch: generalised forces per component of their forces
    program: QuadraticProgram  # rows of C are torques, then the limits of the forces
    work: ActiveSet
    torque_bias: Annotated[Vector, "nd"]  # scratch: torque = (first rows of C) x + torque_bias
    three: Annotated[Matrix, 3, "n"]  # scratch: a task by the unknowns
    three_wanted: Annotated[Vector, 3]  # scratch
    answer: Annotated[Matrix, "nu", "n + 1"]  # scratch: the root's acceleration per unknown, and without any
    factor: Annotated[Matrix, "nu", "nu"]  # scratch
    block: Annotated[Matrix, "nu", "nu"]  # scratch
    # the solution, or the last one where the problem has none
    torque: Annotated[Vector, "nd"]  # N m
    acceleration: Annotated[Vector, "nd"]  # rad/s2
    force: Annotated[Matrix, "K", "size"]  # N and N m, frame of the contact
    help: Annotated[Vector, 6]  # N and N m, of the motors on the root


def no_motion(nv: int, rows: int) -> Motion:
    """Room for the motion in ``nv`` coordinates, the tasks but the turning of the root still to be written."""
    motion = zeros(Motion, {"nv": nv, "R": rows})
    if nv >= CONTACTS:
        motion.rows[TURN:CONTACTS, TURN:CONTACTS] = np.eye(3)
    return motion


def whole_body(
    robot: Robot,
    tree: Tree,
    body: np.ndarray,
    driven: np.ndarray,
    free: np.ndarray,
    limits: np.ndarray,
    *,
    coordinates: int | None = None,
    least_load: float = 0.0,
) -> WholeBody:
    """Room for the problem of a robot with contacts on these bodies (K,), whose forces obey ``limits`` (K, L, size).

    The numbers ``driven`` and ``free`` are those of its coordinates, or of the ``coordinates`` that it is reduced to.
    """
    nv = robot.model.nv if coordinates is None else coordinates
    slide_dofs, slides = _root_slides(robot.model)
    helpers = np.ascontiguousarray(_root_map(robot)[:nv])
    (K, per_contact, size), nd, nu = limits.shape, len(driven), len(free)
    tasks, n, m = CONTACTS + K * size, nd + K * size + helpers.shape[1], nd + K * per_contact
    sizes = {"K": K, "size": size, "Kf": K * size, "R": tasks, "nv": nv, "nd": nd, "nu": nu, "n": n}
    return zeros(
        WholeBody,
        sizes,
        size=size,
        body=body.astype(np.int64),
        tree=tree,
        driven=driven.astype(np.int64),
        free=free.astype(np.int64),
        helpers=helpers,
        slide_dofs=slide_dofs,
        slides=slides,
        gravity=np.array(robot.gravity, dtype=float),
        motion=no_motion(nv, tasks),
        limits=limits.copy(),
        least_load=float(least_load),
        load=np.full(K, UNBOUNDED),
        program=empty_program(n, n, m),
        work=active_set(n, n, m),
    )


def body_on_points(robot: Robot, driving: Drives, friction: float, purpose: str) -> WholeBody:
    """Room for the problem of a robot on its contact points; ``friction`` is the coefficient to keep to."""
    model = robot.model
    driven = driving.dof[~robot.root_motors]
    if len(set(driven.tolist())) < len(driven):
        raise ControllerError(f"{purpose} needs one motor for a joint, and {robot.name} has more on one")
    # Other joints without a motor, as of grippers, are taken to stay as they are.
    undriven = np.setdiff1d(np.arange(model.nv), driven)
    at_root = model.body_parentid[model.dof_bodyid[undriven]] == 0
    tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), [int(body) for body in robot.point_body])
    for dof in undriven[~at_root]:
        if tree.moves[:, dof].any():
            raise ControllerError(
                f"{purpose} needs a motor at every joint of a leg, and joint '{robot.dof_name(int(dof))}' of "
                f"{robot.name} has none"
            )
    limits = np.tile(-friction_pyramid(friction, SIDES), (robot.point_count, 1, 1))
    return whole_body(robot, tree, np.array(robot.point_body), driven, undriven[at_root], limits)


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
    model, motors = robot.model, np.flatnonzero(robot.root_motors)
    columns = np.zeros((model.nv, len(motors)))
    for k, i in enumerate(motors):
        joint = int(model.actuator_trnid[i, 0])
        first, parts = int(model.jnt_dofadr[joint]), 6 if model.jnt_type[joint] == FREE else 1
        columns[first : first + parts, k] = model.actuator_gear[i, :parts] * model.actuator_gainprm[i, 0]
    return columns


@inlined
def see_motion(senses: Senses, body: WholeBody, motion: Motion) -> None:
    """Write the equations of motion, and the centre of mass with its task."""
    tree, drift = body.tree, motion.drift
    dense_inertia(senses, motion.inertia)
    com_motion(senses, tree, motion.rows, body.com_velocity)
    for j in range(motion.bias.size):
        motion.bias[j] = senses.qfrc_bias[j] - senses.qfrc_passive[j]
    for c in range(3):
        body.com[c], drift[COM + c] = senses.subtree_com[tree.root, c], 0.0
    for k in range(body.slide_dofs.size):
        # A slide of the root carries the whole robot: its row of the equations of motion is that of the mass.
        along, way = body.slides[k], senses.qfrc_bias[body.slide_dofs[k]] / tree.mass
        way += along[0] * body.gravity[0] + along[1] * body.gravity[1] + along[2] * body.gravity[2]
        for c in range(3):
            drift[COM + c] += along[c] * way


@inlined
def see_points(senses: Senses, place: Matrix, body: WholeBody) -> None:
    """Read the motion; ``place`` (P, 3) is where the points touch, m, world frame."""
    rows, drift = body.motion.rows, body.motion.drift
    see_motion(senses, body, body.motion)
    for p in range(body.body.size):
        own = slice(CONTACTS + 3 * p, CONTACTS + 3 * p + 3)
        translation(senses, body.tree, body.body[p], p, place[p], rows[own], body.velocity[p], drift[own])


@inlined
def write_forces(body: WholeBody, frames: Tensor, forces: Matrix) -> None:
    """Write the forces (K, 3) of points in N, world frame."""
    for p in range(forces.shape[0]):
        f, frame = body.force[p], frames[p]
        for c in range(3):
            forces[p, c] = frame[0, c] * f[0] + frame[1, c] * f[1] + frame[2, c] * f[2]


@inlined
def solve_body(body: WholeBody, frames: Tensor) -> Bool:
    """Write torques, forces and help that come nearest to what is wanted; false if there are none.

    ``frames`` (K, 3, 3) are those of the contacts, rows tangent, tangent, normal.
    """
    program, work, bears = body.program, body.work, body.bears
    count = 0
    for k in range(body.bearing.size):
        if body.bearing[k]:
            bears[count] = k
            count += 1
    nd, forces = body.driven.size, body.size * count
    n = nd + forces + body.helpers.shape[1]
    program.shape[0], program.shape[1], program.shape[2] = n, n, nd + body.limits.shape[1] * count
    spread_forces(body, count, frames)
    if not answer_of_root(body, forces):
        return False
    add_tasks(body, forces)
    write_torque_rows(body, forces)
    write_limits(body, count)
    if solve_quadratic_program(program, work) != SOLVED:
        return False
    x = work.x
    copy(body.acceleration, x[:nd])
    for k in range(nd):
        value = body.torque_bias[k]
        for j in range(n):
            value += program.C[k, j] * x[j]
        body.torque[k] = value
    body.force[:] = 0.0
    for k in range(count):
        copy(body.force[bears[k]], x[nd + body.size * k : nd + body.size * (k + 1)])
    for k in range(body.helpers.shape[1]):
        body.help[k] = x[nd + forces + k]
    return True


@inlined
def spread_forces(body: WholeBody, count: Int, frames: Tensor) -> None:
    """Write the generalised forces of the contacts that bear, per component of their forces."""
    rows, spread = body.motion.rows, body.spread
    for k in range(count):
        frame = frames[body.bears[k]]
        for half in range(body.size // 3):
            first, at = CONTACTS + body.size * body.bears[k] + 3 * half, body.size * k + 3 * half
            for j in range(spread.shape[0]):
                x, y, z = rows[first, j], rows[first + 1, j], rows[first + 2, j]
                for c in range(3):
                    spread[j, at + c] = x * frame[c, 0] + y * frame[c, 1] + z * frame[c, 2]


@inlined
def answer_of_root(body: WholeBody, forces: Int) -> Bool:
    """Find the root's acceleration by the joints', by each force and by help. False if it has no inertia."""
    M, driven, free, answer, L = body.motion.inertia, body.driven, body.free, body.answer, body.factor
    nd, nu, last = driven.size, free.size, body.program.shape[0] + 1
    for i in range(nu):
        own, u = answer[i], free[i]
        for j in range(nu):
            body.block[i, j] = M[u, free[j]]
        for k in range(nd):
            own[k] = -M[u, driven[k]]
        for k in range(forces):
            own[nd + k] = body.spread[u, k]
        for k in range(body.helpers.shape[1]):
            own[nd + forces + k] = body.helpers[u, k]
        own[last - 1] = -body.motion.bias[u]
    if not cholesky(body.block, nu, SINGULAR, L):
        return False
    for i in range(nu):  # all columns at once: L y = b, then L^T x = y
        for k in range(i):
            for j in range(last):
                answer[i, j] -= L[i, k] * answer[k, j]
        for j in range(last):
            answer[i, j] *= L[i, i]
    for i in range(nu - 1, -1, -1):
        for k in range(i + 1, nu):
            for j in range(last):
                answer[i, j] -= L[k, i] * answer[k, j]
        for j in range(last):
            answer[i, j] *= L[i, i]
    return True


@inlined
def joint_row(body: WholeBody, row: Vector, target: Vector) -> Float:
    """Write a row (nv,) of joint space as one of the unknowns; returns what is there at x = 0."""
    answer, n, rest = body.answer, body.program.shape[0], 0.0
    target[:n] = 0.0
    for i in range(body.free.size):
        share = row[body.free[i]]
        rest += share * answer[i, n]
        for j in range(n):
            target[j] += share * answer[i, j]
    for k in range(body.driven.size):
        target[k] += row[body.driven[k]]
    return rest


@inlined
def add_tasks(body: WholeBody, forces: Int) -> None:
    """Write H and f: the squares of what tasks and joints miss, and of forces; of three rows at a time, for then H is
    read and written once for them.
    """
    H, f, A, wanted, motion = body.program.H, body.program.f, body.three, body.three_wanted, body.motion
    nd, n = body.driven.size, body.program.shape[0]
    f[:n] = 0.0
    H[:n, :n] = 0.0
    for first in range(0, body.wanted.size, 3):
        for r in range(3):
            rest = joint_row(body, motion.rows[first + r], A[r])
            wanted[r] = body.wanted[first + r] - motion.drift[first + r] - rest
        x, y, z = body.weight[first], body.weight[first + 1], body.weight[first + 2]
        for i in range(n):
            a, b, c = x * A[0, i], y * A[1, i], z * A[2, i]
            f[i] -= a * wanted[0] + b * wanted[1] + c * wanted[2]
            for j in range(i + 1):
                H[i, j] += a * A[0, j] + b * A[1, j] + c * A[2, j]
    for k in range(nd):
        H[k, k] += body.joint_weight[k]
        f[k] -= body.joint_weight[k] * body.joint_wanted[k]
    for k in range(n - nd):
        H[nd + k, nd + k] += body.force_weight[k % body.size] if k < forces else body.help_weight[k - forces]


@inlined
def write_torque_rows(body: WholeBody, forces: Int) -> None:
    """The torques by the unknowns, within the limits of the motors; unknowns themselves have no bounds yet."""
    C, lower, upper, motion = body.program.C, body.program.lower, body.program.upper, body.motion
    nd, n = body.driven.size, body.program.shape[0]
    lower[:n], upper[:n] = -UNBOUNDED, UNBOUNDED
    for k in range(nd):
        d = body.driven[k]
        bias = motion.bias[d] + joint_row(body, motion.inertia[d], C[k])
        for i in range(forces):
            C[k, nd + i] -= body.spread[d, i]
        body.torque_bias[k] = bias
        lower[n + k], upper[n + k] = body.least_torque[k] - bias, body.most_torque[k] - bias


@inlined
def write_limits(body: WholeBody, count: Int) -> None:
    """Friction and pressure as rows, the load of each contact as bounds."""
    C, lower, upper = body.program.C, body.program.lower, body.program.upper
    nd, n, size, row = body.driven.size, body.program.shape[0], body.size, body.driven.size
    for k in range(count):
        first, own = nd + size * k, body.limits[body.bears[k]]
        for r in range(own.shape[0]):
            copy(C[row, first : first + size], own[r])
            lower[n + row], upper[n + row] = 0.0, UNBOUNDED
            row += 1
        lower[first + 2] = body.least_load
        upper[first + 2] = max(body.load[body.bears[k]], 2.0 * body.least_load)
