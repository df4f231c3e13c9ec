"""Legs with loops and leaf springs, reduced to their motors: how the other joints follow the motors.

A loop closes by rows J q' = 0 of its two ends. With springs held as they are, the joints that neither a motor nor a
spring moves follow: q' = S y' with y the base and the motors, and q'' = S y'' + s. The equations of motion in y are
S^T M S y'' + S^T (h + M s) = tau + S^T J_c^T f: neither the forces of the loops nor those of the springs, which carry
what comes at their joints, are in them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.control.senses import Tree, translation, tree_of
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.solve.dense import cholesky, cholesky_solve

#: Of the squared lengths in a loop, what is added where it leaves a joint free, as the spin of a rod.
LOOSE = 1e-8
#: Damping of motors on springs, in roots of stiffness times rotor inertia: two of these are critical for a rotor alone.
DAMPED = 1.0
#: s, in which the speed that motors would have without springs is forgotten for the one that they have.
FORGOTTEN = 0.1


class Linkage(NamedTuple):
    """The loops of a robot, and the room to solve them."""

    loops: int  # how many
    body: np.ndarray  # (2L,) of both ends of each
    anchor: np.ndarray  # (2L, 3) m, body frame
    tree: Tree  # with the ends as contact points
    dofs: np.ndarray  # (ny,) the base's and the motors'
    dependent: np.ndarray  # (nd,) those that follow
    ends: np.ndarray  # (2L, 3, nv) scratch: Jacobians of the ends
    drifts: np.ndarray  # (2L, 3) scratch: their accelerations at q'' = 0
    place: np.ndarray  # (3,) scratch
    velocity: np.ndarray  # (3,) scratch
    gram: np.ndarray  # (nd, nd) scratch
    factor: np.ndarray  # (nd, nd) scratch
    right: np.ndarray  # (nd,) scratch
    span: np.ndarray  # (nv, ny) S
    rest: np.ndarray  # (nv,) s
    product: np.ndarray  # (nv, ny) scratch: M S
    damping: np.ndarray  # (nu,) N m s/rad, of motors about the speed that they would have without springs
    speed: np.ndarray  # (nu,) rad/s, that speed


def linkage_of(robot: Robot, motors: np.ndarray) -> Linkage:
    """The loops of a robot with a free base, whose ``motors`` drive these degrees of freedom.

    None where every joint that moves a foot has a motor: loops of hands are nothing to a walk.
    """
    model = robot.model
    dofs = np.concatenate([np.arange(6), motors]).astype(np.int64)
    feet = tree_of(model, int(model.jnt_bodyid[0]), [int(model.body(foot.body).id) for foot in robot.feet])
    limp = np.setdiff1d(np.flatnonzero(np.logical_or.reduce(feet.moves, axis=0)), dofs)
    connects = (model.eq_type == mujoco.mjtEq.mjEQ_CONNECT) & (model.eq_active0 != 0)
    joined = np.flatnonzero(connects & bool(limp.size))
    ends: list[int] = []
    anchors: list[np.ndarray] = []
    for i in joined:
        ends += [int(model.eq_obj1id[i]), int(model.eq_obj2id[i])]
        anchors += [model.eq_data[i, :3], model.eq_data[i, 3:6]]
    tree = tree_of(model, int(model.jnt_bodyid[0]), ends)
    moved = np.logical_or.reduce(tree.moves, axis=0) if ends else np.zeros(model.nv, dtype=bool)
    sprung = np.isin(np.arange(model.nv), model.jnt_dofadr[(model.jnt_stiffness > 0) & (model.jnt_type != FREE)])
    moved[dofs] = False
    dependent = np.flatnonzero(moved & ~sprung).astype(np.int64)
    nv, ny, nd, count = model.nv, len(dofs), len(dependent), len(ends)
    span = np.zeros((nv, ny))
    span[dofs, np.arange(ny)] = 1.0
    return Linkage(
        loops=len(joined),
        body=np.array(ends, dtype=np.int64),
        anchor=np.array(anchors, dtype=float).reshape(-1, 3),
        tree=tree,
        dofs=dofs,
        dependent=dependent,
        ends=np.zeros((count, 3, nv)),
        drifts=np.zeros((count, 3)),
        place=np.zeros(3),
        velocity=np.zeros(3),
        gram=np.zeros((nd, nd)),
        factor=np.zeros((nd, nd)),
        right=np.zeros(nd),
        span=span,
        rest=np.zeros(nv),
        product=np.zeros((nv, ny)),
        damping=DAMPED * np.sqrt(float(model.jnt_stiffness.max(initial=0.0)) * model.dof_armature[motors]),
        speed=np.zeros(len(motors)),
    )


def own_copy(linkage: Linkage) -> Linkage:
    """A copy with its own arrays, so that runs do not share them."""
    own: dict[str, Any] = {name: getattr(linkage, name).copy() for name in ("ends", "drifts", "place", "velocity")}
    own |= {name: getattr(linkage, name).copy() for name in ("gram", "factor", "right", "span", "rest", "product")}
    return linkage._replace(speed=linkage.speed.copy(), **own)


def follow_motors(linkage: Linkage, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """S (nv, ny) in a pose, and the change (nv,) that closes what is open of the loops there."""
    model, span, closing = data.model, linkage.span.copy(), np.zeros(data.model.nv)
    if not linkage.loops:
        return span, closing
    rows, open_by = np.zeros((linkage.loops, 3, model.nv)), np.zeros((linkage.loops, 3))
    for k, (body, anchor) in enumerate(zip(linkage.body, linkage.anchor, strict=True)):
        at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ anchor
        jacobian, sign = np.zeros((3, model.nv)), 1.0 - 2.0 * (k % 2)
        mujoco.mj_jac(model, data, jacobian, None, at, int(body))
        rows[k // 2] += sign * jacobian
        open_by[k // 2] += sign * at
    J, error = rows.reshape(-1, model.nv), open_by.ravel()
    G = J[:, linkage.dependent]
    inverse = np.linalg.solve(G.T @ G + LOOSE * np.eye(G.shape[1]), G.T)
    span[linkage.dependent] = -inverse @ J[:, linkage.dofs]
    closing[linkage.dependent] = -inverse @ error
    return span, closing


@inlined
def solve_linkage(senses, linkage):
    """Write S and s in this state."""
    J, G, right, dependent = linkage.ends, linkage.gram, linkage.right, linkage.dependent
    place, nd = linkage.place, dependent.size
    for k in range(linkage.body.size):
        body = linkage.body[k]
        at, turned, anchor = senses.xpos[body], senses.xmat[body], linkage.anchor[k]
        for r in range(3):
            own = turned[3 * r] * anchor[0] + turned[3 * r + 1] * anchor[1] + turned[3 * r + 2] * anchor[2]
            place[r] = at[r] + own
        translation(senses, linkage.tree, body, k, place, J[k], linkage.velocity, linkage.drifts[k])
    for i in range(nd):
        for j in range(i + 1):
            value = LOOSE if i == j else 0.0
            for k in range(linkage.loops):
                first, second = J[2 * k], J[2 * k + 1]
                for c in range(3):
                    one = first[c, dependent[i]] - second[c, dependent[i]]
                    value += one * (first[c, dependent[j]] - second[c, dependent[j]])
            G[i, j] = value
    cholesky(G, nd, 0.0, linkage.factor)
    for y in range(linkage.dofs.size + 1):  # the last column is for s
        for i in range(nd):
            right[i] = 0.0
        for k in range(linkage.loops):
            first, second = J[2 * k], J[2 * k + 1]
            for c in range(3):
                if y < linkage.dofs.size:
                    value = first[c, linkage.dofs[y]] - second[c, linkage.dofs[y]]
                else:
                    value = linkage.drifts[2 * k, c] - linkage.drifts[2 * k + 1, c]
                for i in range(nd):
                    right[i] -= value * (first[c, dependent[i]] - second[c, dependent[i]])
        cholesky_solve(linkage.factor, nd, right)
        for i in range(nd):
            if y < linkage.dofs.size:
                linkage.span[dependent[i], y] = right[i]
            else:
                linkage.rest[dependent[i]] = right[i]


@inlined
def reduce_motion(linkage, whole, motion):
    """Write the equations of motion and the soles' Jacobians of the ``whole`` robot by base and motors alone."""
    S, s, product = linkage.span, linkage.rest, linkage.product
    nv, ny = S.shape
    for i in range(nv):
        for y in range(ny):
            product[i, y] = 0.0
        for j in range(nv):
            share = whole.inertia[i, j]
            if share != 0.0:
                for y in range(ny):
                    product[i, y] += share * S[j, y]
    for y in range(ny):
        for z in range(ny):
            motion.inertia[y, z] = 0.0
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
    for k in range(2):
        for r in range(6):
            motion.drift[k, r] = whole.drift[k, r]
            for y in range(ny):
                motion.jacobian[k, r, y] = 0.0
            for i in range(nv):
                share = whole.jacobian[k, r, i]
                if share != 0.0:
                    motion.drift[k, r] += share * s[i]
                    for y in range(ny):
                        motion.jacobian[k, r, y] += share * S[i, y]


@inlined
def damp_springs(body, qvel, dt):
    """Add to the torques of motors what damps them about the speeds that the accelerations just found make of them.

    The whole-body problem does not know that rotors oscillate on springs: without this only joint damping damps them.
    """
    linkage, limits = body.linkage, body.limits
    for i in range(body.torque.size):
        now = qvel[body.motors[i]]
        linkage.speed[i] += dt * body.acceleration[i] + min(1.0, dt / FORGOTTEN) * (now - linkage.speed[i])
        torque = body.torque[i] + linkage.damping[i] * (linkage.speed[i] - now)
        body.torque[i] = min(max(torque, limits.least_torque[i]), limits.most_torque[i])
