"""Legs with loops, tied joints and leaf springs, reduced to their motors: how the other joints follow the motors.

A loop closes by rows J q' = 0 of its two ends; two joints that are tied (MuJoCo's equality of joints, a gear) by the
row q1' - p'(q2) q2' = 0 of their polynomial p. With springs held as they are, the joints that neither a motor nor a
spring moves follow: q' = S y' with y the base and the motors, and q'' = S y'' + s. The equations of motion in y are
S^T M S y'' + S^T (h + M s) = tau + S^T J_c^T f. They contain neither the forces of loops and ties nor those of springs,
which balance the loads at their joints.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.control.senses import Senses, Tree, translation, tree_of, write_place
from footfall.control.whole_body import Motion
from footfall.errors import ControllerError
from footfall.kinds import Float, IntMatrix, Ints, Matrix, Named, Tensor, Vector, zeros
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.solve.dense import cholesky, cholesky_solve
from footfall.standing import loop_rows

CONNECT, TIE = int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_JOINT)
#: Regularisation of J^T J where a loop leaves a joint free, such as the spin of a rod; rows are in m per rad.
LOOSE = 1e-8
#: Damping of motors on springs, in sqrt(stiffness times rotor inertia): 2 is critical for a rotor alone.
DAMPED = 1.0
#: Time constant (s) of the filter that draws the speed that motors would have without springs to the measured one:
#: several periods of a rotor on its spring.
FORGOTTEN = 0.1


class Ties(NamedTuple):
    """Pairs of joints, the first of which follows the second by a polynomial of its angle from the reference pose."""

    dof: IntMatrix  # (T, 2) of both joints; the second is -1 where the first is held
    place: IntMatrix  # (T, 2) in qpos
    rest: Matrix  # (T, 2) rad or m, reference of both
    polynomial: Matrix  # (T, 5) of rising powers


class Linkage(NamedTuple):
    """The constraints between the joints of a robot's legs, R rows, and the room to solve them."""

    sprung: int  # 1 where springs carry joints without a motor
    equality: Ints  # numbers of MuJoCo's equalities for them
    body: Ints  # (2L,) of both ends of each loop
    anchor: Matrix  # (2L, 3) m, body frame
    tree: Tree  # with the ends as contact points
    ties: Ties
    dofs: Ints  # (ny,) the base's and the motors'
    dependent: Ints  # (nd,) those that follow
    ends: Annotated[Tensor, "E", 3, "nv"]  # scratch: Jacobians of the ends
    drifts: Annotated[Matrix, "E", 3]  # scratch: their accelerations at q'' = 0
    rows: Annotated[Matrix, "R", "nv"]  # scratch: J, three rows of each loop and one of each tie
    drift: Annotated[Vector, "R"]  # scratch: rates of the rows at q'' = 0
    place: Annotated[Vector, 3]  # scratch
    velocity: Annotated[Vector, 3]  # scratch
    gram: Annotated[Matrix, "nd", "nd"]  # scratch
    factor: Annotated[Matrix, "nd", "nd"]  # scratch
    right: Annotated[Vector, "nd"]  # scratch
    span: Matrix  # (nv, ny) S
    rest: Annotated[Vector, "nv"]  # s
    product: Annotated[Matrix, "nv", "ny"]  # scratch: M S
    damping: Vector  # (nu,) N m s/rad, of motors about the speed that they would have without springs
    speed: Annotated[Vector, "nu"]  # rad/s, that speed


def linkage_of(robot: Robot, motors: np.ndarray, purpose: str) -> Linkage:
    """The linkage of a robot whose ``motors`` drive these degrees of freedom.

    Empty where every joint that moves a foot has a motor and is tied to no other: loops of hands are nothing to a walk.
    """
    model = robot.model
    root = int(model.jnt_bodyid[0])
    dofs = np.concatenate([np.flatnonzero(model.dof_bodyid == root), motors]).astype(np.int64)
    feet = tree_of(model, root, [int(model.body(foot.body).id) for foot in robot.feet])
    of_legs = np.logical_or.reduce(feet.moves, axis=0)
    limp = np.setdiff1d(np.flatnonzero(of_legs), dofs)
    loops = np.flatnonzero((model.eq_type == CONNECT) & (model.eq_active0 != 0) & bool(limp.size))
    ends = np.column_stack([model.eq_obj1id[loops], model.eq_obj2id[loops]]).ravel().astype(np.int64)
    tree = tree_of(model, root, [int(end) for end in ends])
    ties, follow = _ties(robot, of_legs, dofs, purpose)
    moved = np.logical_or.reduce(tree.moves, axis=0) if ends.size else np.zeros(model.nv, dtype=bool)
    single = (model.jnt_stiffness > 0) & (model.jnt_type != FREE)
    sprung = np.isin(np.arange(model.nv), model.jnt_dofadr[single])
    moved[dofs] = False
    dependent = np.union1d(np.flatnonzero(moved & ~sprung), list(follow.values())).astype(np.int64)
    nv, ny, nd, rows = model.nv, len(dofs), len(dependent), 3 * len(loops) + len(ties.dof)
    span = np.zeros((nv, ny))
    span[dofs, np.arange(ny)] = 1.0
    sizes = {"E": len(ends), "R": rows, "nv": nv, "ny": ny, "nd": nd, "nu": len(motors)}
    return zeros(
        Linkage,
        sizes,
        sprung=int(bool(sprung[limp].any())),
        equality=np.array([*loops, *follow], dtype=np.int64),
        body=ends,
        anchor=model.eq_data[loops, :6].reshape(-1, 3).copy(),
        tree=tree,
        ties=ties,
        dofs=dofs,
        dependent=dependent,
        span=span,
        damping=DAMPED * np.sqrt(float(model.jnt_stiffness.max(initial=0.0)) * model.dof_armature[motors]),
    )


def _ties(robot: Robot, of_legs: np.ndarray, dofs: np.ndarray, purpose: str) -> tuple[Ties, dict[int, int]]:
    """The ties of joints of the legs, and the degree of freedom that follows by each of these equalities of MuJoCo; an
    error for other ties.

    ``of_legs`` (nv,) tells which coordinates move a foot, ``dofs`` which are the base's or have a motor.
    """
    model = robot.model
    follow = {}
    for i in np.flatnonzero((model.eq_type == TIE) & (model.eq_active0 != 0)):
        joints = [int(j) for j in (model.eq_obj1id[i], model.eq_obj2id[i]) if j >= 0]
        own = model.jnt_dofadr[joints]
        if not of_legs[own].any():
            continue
        loose = [int(dof) for dof in own if dof not in dofs]
        if len(loose) != 1:
            names = " and ".join(f"'{robot.joint_names[j]}'" for j in joints)
            why = "none of them has one" if loose else "each of them has its own"
            raise ControllerError(
                f"{purpose} needs one motor for tied joints of a leg: of {names} ({robot.name}) {why}"
            )
        follow[int(i)] = loose[0]
    tied = list(follow)
    first, second = model.eq_obj1id[tied], model.eq_obj2id[tied]
    pairs = np.column_stack([first, np.where(second < 0, first, second)])
    ties = Ties(
        dof=model.jnt_dofadr[pairs].astype(np.int64),
        place=model.jnt_qposadr[pairs].astype(np.int64),
        rest=model.qpos0[model.jnt_qposadr[pairs]],
        polynomial=model.eq_data[tied, :5].copy(),
    )
    ties.dof[second < 0, 1] = -1
    return ties, follow


def own_copy(linkage: Linkage) -> Linkage:
    """A copy with its own arrays, so that runs do not share them."""
    arrays: dict[str, Any] = {
        name: one.copy() for name, one in linkage._asdict().items() if isinstance(one, np.ndarray)
    }
    return linkage._replace(**arrays)


def follow_motors(linkage: Linkage, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """S (nv, ny) in a pose, and the change (nv,) that closes the gaps of loops and ties there."""
    span, closing = linkage.span.copy(), np.zeros(data.model.nv)
    if linkage.equality.size:
        mujoco.mj_makeConstraint(data.model, data)
        own = np.isin(data.efc_id[: data.ne], linkage.equality)
        J, error = loop_rows(data)[own], data.efc_pos[: data.ne][own]
        G = J[:, linkage.dependent]
        inverse = np.linalg.solve(G.T @ G + LOOSE * np.eye(G.shape[1]), G.T)
        span[linkage.dependent] = -inverse @ J[:, linkage.dofs]
        closing[linkage.dependent] = -inverse @ error
    return span, closing


@inlined
def solve_linkage(senses: Senses, linkage: Linkage) -> None:
    """Write S and s in this state."""
    write_rows(senses, linkage)
    J, G, right, dependent = linkage.rows, linkage.gram, linkage.right, linkage.dependent
    nd, count = dependent.size, linkage.drift.size
    for i in range(nd):
        for j in range(i + 1):
            value = LOOSE if i == j else 0.0
            for r in range(count):
                value += J[r, dependent[i]] * J[r, dependent[j]]
            G[i, j] = value
    cholesky(G, nd, 0.0, linkage.factor)
    for y in range(linkage.dofs.size + 1):  # the last column is for s
        right[:] = 0.0
        for r in range(count):
            value = J[r, linkage.dofs[y]] if y < linkage.dofs.size else linkage.drift[r]
            for i in range(nd):
                right[i] -= value * J[r, dependent[i]]
        cholesky_solve(linkage.factor, nd, right)
        for i in range(nd):
            if y < linkage.dofs.size:
                linkage.span[dependent[i], y] = right[i]
            else:
                linkage.rest[dependent[i]] = right[i]


@inlined
def write_rows(senses: Senses, linkage: Linkage) -> None:
    """Write the rows of loops and ties, and their rates at q'' = 0."""
    J, drift, place, ties = linkage.rows, linkage.drift, linkage.place, linkage.ties
    for k in range(linkage.body.size):
        body = linkage.body[k]
        write_place(senses, body, linkage.anchor[k], place)
        translation(senses, linkage.tree, body, k, place, linkage.ends[k], linkage.velocity, linkage.drifts[k])
    loops = linkage.body.size // 2
    for k in range(loops):
        for c in range(3):
            drift[3 * k + c] = linkage.drifts[2 * k, c] - linkage.drifts[2 * k + 1, c]
            for j in range(J.shape[1]):
                J[3 * k + c, j] = linkage.ends[2 * k, c, j] - linkage.ends[2 * k + 1, c, j]
    for t in range(ties.dof.shape[0]):
        follows, leads, row = ties.dof[t, 0], ties.dof[t, 1], 3 * loops + t
        J[row, follows] = 1.0
        if leads >= 0:
            x, speed, p = senses.qpos[ties.place[t, 1]] - ties.rest[t, 1], senses.qvel[leads], ties.polynomial[t]
            J[row, leads] = -(p[1] + x * (2.0 * p[2] + x * (3.0 * p[3] + x * 4.0 * p[4])))
            drift[row] = -speed * speed * (2.0 * p[2] + x * (6.0 * p[3] + x * 12.0 * p[4]))


@inlined
def reduce_motion(linkage: Linkage, whole: Motion, motion: Motion) -> None:
    """Write the ``whole`` motion, of all coordinates, as one of base and motors alone."""
    S, s, product = linkage.span, linkage.rest, linkage.product
    nv, ny = S.shape
    for i in range(nv):
        product[i, :] = 0.0
        for j in range(nv):
            share = whole.inertia[i, j]
            if share != 0.0:
                for y in range(ny):
                    product[i, y] += share * S[j, y]
    for y in range(ny):
        motion.inertia[y, :] = 0.0
        motion.bias[y] = 0.0
        for i in range(nv):
            share = S[i, y]
            if share != 0.0:
                for z in range(ny):
                    motion.inertia[y, z] += share * product[i, z]
                load = whole.bias[i]
                for j in range(nv):
                    load += whole.inertia[i, j] * s[j]
                motion.bias[y] += share * load
    for r in range(whole.drift.size):
        motion.drift[r] = whole.drift[r]
        motion.rows[r, :] = 0.0
        for i in range(nv):
            share = whole.rows[r, i]
            if share != 0.0:
                motion.drift[r] += share * s[i]
                for y in range(ny):
                    motion.rows[r, y] += share * S[i, y]


@inlined
def damp_springs(body: Named, qvel: Vector, dt: Float) -> None:
    """Add to the torques of motors a damping about the speeds that integrate the accelerations just found.

    The whole-body problem neglects oscillations of rotors on springs, which otherwise only joint damping damps.
    """
    linkage, problem = body.linkage, body.problem
    for i in range(body.problem.torque.size):
        now = qvel[body.motors[i]]
        linkage.speed[i] += dt * body.problem.acceleration[i] + min(1.0, dt / FORGOTTEN) * (now - linkage.speed[i])
        torque = body.problem.torque[i] + linkage.damping[i] * (linkage.speed[i] - now)
        body.problem.torque[i] = min(max(torque, problem.least_torque[i]), problem.most_torque[i])
