"""Motion and forces in coordinates of the centre of mass: Ott 2011, (12)-(15).

Built on MuJoCo's motion axes ``cdof`` (rotation, then translation) about the centre of mass of the whole tree.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined


class Tree(NamedTuple):
    """The bodies of a robot that hang on one root."""

    root: int
    mass: float  # kg
    body: np.ndarray  # (nv,) body that each coordinate moves first
    carried: np.ndarray  # (nv,) part of the mass that each coordinate moves
    moves: np.ndarray  # (points, nv) whether it moves a contact point


def tree_of(model: mujoco.MjModel, root: int, point_body: list[int]) -> Tree:
    """The tree under ``root``, with contact points on the given bodies."""
    mass = float(model.body_subtreemass[root])
    body = model.dof_bodyid.astype(np.int64)
    own = model.body_rootid[body] == root
    carried = np.where(own, model.body_subtreemass[body] / mass, 0.0)
    moves = np.zeros((len(point_body), model.nv), dtype=np.bool_)
    for p, at in enumerate(point_body):
        while at > 0:
            moves[p, model.body_dofadr[at] : model.body_dofadr[at] + model.body_dofnum[at]] = True
            at = model.body_parentid[at]
    return Tree(root, mass, body, carried, moves)


@inlined
def com_jacobian(cdof, subtree_com, tree, jacobian):
    """Write the Jacobian (3, nv) of the centre of mass, (12)-(14): each coordinate moves what it carries."""
    com = subtree_com[tree.root]
    for j in range(tree.body.size):
        s, part, at = cdof[j], tree.carried[j], subtree_com[tree.body[j]]
        rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
        jacobian[0, j] = part * (s[3] + s[1] * rz - s[2] * ry)
        jacobian[1, j] = part * (s[4] + s[2] * rx - s[0] * rz)
        jacobian[2, j] = part * (s[5] + s[0] * ry - s[1] * rx)


@inlined
def com_motion(senses, tree, jacobian, velocity):
    """Write the Jacobian (3, nv) of the centre of mass, and its velocity (3,) in m/s."""
    com_jacobian(senses.cdof, senses.subtree_com, tree, jacobian)
    for c in range(3):
        value = 0.0
        for j in range(senses.qvel.size):
            value += jacobian[c, j] * senses.qvel[j]
        velocity[c] = value


@inlined
def carrying_torques(cdof, jacobian, tree, arms, force, torque):
    """Write the generalised forces (nv,) that let contact forces carry the robot, (15): ``-J_c^T f``.

    ``J_c``, the Jacobian of a point in coordinates of the centre of mass, is that of the point less that of the mass.
    """
    fx, fy, fz = 0.0, 0.0, 0.0
    for p in range(arms.shape[0]):
        fx += force[p, 0]
        fy += force[p, 1]
        fz += force[p, 2]
    for j in range(torque.size):
        s = cdof[j]
        total = jacobian[0, j] * fx + jacobian[1, j] * fy + jacobian[2, j] * fz
        for p in range(arms.shape[0]):
            if tree.moves[p, j]:
                r, f = arms[p], force[p]
                total -= f[0] * (s[3] + s[1] * r[2] - s[2] * r[1])
                total -= f[1] * (s[4] + s[2] * r[0] - s[0] * r[2])
                total -= f[2] * (s[5] + s[0] * r[1] - s[1] * r[0])
        torque[j] = total
