"""The inputs of a compiled controller, and functions of them: Jacobians, the centre of mass, rotations.

Arrays are live views of the engine's and of MuJoCo's. Motion and forces in coordinates of the centre of mass follow Ott
2011, (12)-(15), built on MuJoCo's motion axes ``cdof`` (rotation, then translation) about the centre of mass of the
whole tree. Rotation vectors are axis times angle, rad.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Bool, BoolMatrix, Float, Int, Ints, Matrix, Tensor, Vector
from footfall.solve.contacts import OPEN, Contacts


class Senses(NamedTuple):
    """The inputs; MuJoCo's arrays have its names. Spatial vectors are about the centre of mass of the tree."""

    qpos: Vector
    qvel: Vector
    xpos: Matrix
    xmat: Matrix
    cdof: Matrix
    cdof_dot: Matrix
    cvel: Matrix
    subtree_com: Matrix
    M: Vector
    M_rownnz: Ints
    M_rowadr: Ints
    M_colind: Ints
    qfrc_bias: Vector
    qfrc_passive: Vector
    position: Matrix  # (P, 3) m, contact points, world frame
    gap: Vector  # (P,) m
    mode: Ints  # (P,) of the step before
    force: Matrix  # (P, 3) N, of the step before, contact frame
    frame: Tensor  # (P, 3, 3) rows tangent, tangent, normal


def senses_of(data: mujoco.MjData, points: Points, contacts: Contacts) -> Senses:
    """Views of MuJoCo's data and of the engine's contact points; they must outlive the result."""
    own: dict[str, Any] = {
        "position": points.position,
        "gap": contacts.gap[: len(points.mode)],
        "mode": points.mode,
        "force": points.force,
        "frame": contacts.frame[: len(points.mode)],
    }
    for name in Senses._fields:
        if name not in own:
            own[name] = getattr(data, name) if hasattr(data, name) else getattr(data.model, name)
    return Senses(**own)


def no_senses() -> Senses:
    """Before a world is joined."""
    nothing: list[Any] = [np.zeros(0)] * len(Senses._fields)
    return Senses(*nothing)


@inlined
def dense_inertia(senses: Senses, inertia: Matrix) -> None:
    """Write the mass matrix (nv, nv), whose zeros stay as they are."""
    for i in range(inertia.shape[0]):
        first = senses.M_rowadr[i]
        for k in range(first, first + senses.M_rownnz[i]):
            j = senses.M_colind[k]
            inertia[i, j] = inertia[j, i] = senses.M[k]


@inlined
def cross(a: Any, b: Any) -> tuple[Float, Float, Float]:
    """The vector product of two triples."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def turned(xmat: Vector, v: Vector) -> tuple[Float, Float, Float]:
    """A vector (x, y, z) of a frame with this matrix (9,), in the world."""
    return (
        xmat[0] * v[0] + xmat[1] * v[1] + xmat[2] * v[2],
        xmat[3] * v[0] + xmat[4] * v[1] + xmat[5] * v[2],
        xmat[6] * v[0] + xmat[7] * v[1] + xmat[8] * v[2],
    )


@inlined
def at_arm(s: Vector, r: Any) -> tuple[Float, Float, Float]:
    """Velocity (x, y, z), at ``r`` from the centre of mass, of a motion ``s`` (6,), rotation and translation there."""
    return s[3] + s[1] * r[2] - s[2] * r[1], s[4] + s[2] * r[0] - s[0] * r[2], s[5] + s[0] * r[1] - s[1] * r[0]


@inlined
def write_place(senses: Senses, body: Int, local: Vector, place: Vector) -> None:
    """Write where (3,) in m a point ``local`` (3,) of a body is."""
    at, (x, y, z) = senses.xpos[body], turned(senses.xmat[body], local)
    place[0], place[1], place[2] = at[0] + x, at[1] + y, at[2] + z


@inlined
def is_carried(senses: Senses, p: Int) -> Bool:
    """Whether the ground carries a contact point: its force points upward more than sideways, unlike that of a wall."""
    f, frame = senses.force[p], senses.frame[p]
    x = frame[0, 0] * f[0] + frame[1, 0] * f[1] + frame[2, 0] * f[2]
    y = frame[0, 1] * f[0] + frame[1, 1] * f[1] + frame[2, 1] * f[2]
    z = frame[0, 2] * f[0] + frame[1, 2] * f[1] + frame[2, 2] * f[2]
    return senses.mode[p] != OPEN and z >= math.hypot(x, y)


@inlined
def translation(
    senses: Senses, tree: Tree, body: Int, point: Int, at: Vector, jacobian: Matrix, velocity: Vector, drift: Vector
) -> None:
    """Write Jacobian (3, nv), velocity (3,) and acceleration at q'' = 0 (3,) of a contact point ``at`` (3,) of a body.

    ``tree`` says which coordinates move the point; the Jacobian of others stays zero.
    """
    com, v = senses.subtree_com[tree.root], senses.cvel[body]
    r = (at[0] - com[0], at[1] - com[1], at[2] - com[2])
    ax, ay, az = 0.0, 0.0, 0.0
    for c in range(3):
        drift[c] = 0.0
    for j in range(senses.qvel.size):
        if tree.moves[point, j]:
            jacobian[0, j], jacobian[1, j], jacobian[2, j] = at_arm(senses.cdof[j], r)
            rate, speed = senses.cdof_dot[j], senses.qvel[j]
            for c in range(3):
                drift[c] += speed * rate[3 + c]
            ax, ay, az = ax + speed * rate[0], ay + speed * rate[1], az + speed * rate[2]
    velocity[0], velocity[1], velocity[2] = at_arm(v, r)
    # of the point of the body that is there now: the frame's, the turning's, and w x v of its way
    turning, way = cross((ax, ay, az), r), cross(v, velocity)
    for c in range(3):
        drift[c] += turning[c] + way[c]


@inlined
def rotation_of(
    senses: Senses, tree: Tree, body: Int, point: Int, jacobian: Matrix, velocity: Vector, drift: Vector
) -> None:
    """The same of its body's turning, rad/s and rad/s2."""
    for c in range(3):
        velocity[c], drift[c] = senses.cvel[body, c], 0.0
    for j in range(senses.qvel.size):
        if tree.moves[point, j]:
            for c in range(3):
                jacobian[c, j] = senses.cdof[j, c]
                drift[c] += senses.qvel[j] * senses.cdof_dot[j, c]


class Tree(NamedTuple):
    """The bodies of a robot that hang on one root."""

    root: int
    mass: float  # kg
    body: Ints  # (nv,) body that each coordinate moves first
    carried: Vector  # (nv,) part of the mass that each coordinate moves
    moves: BoolMatrix  # (points, nv) whether it moves a contact point


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
def com_jacobian(cdof: Matrix, subtree_com: Matrix, tree: Tree, jacobian: Matrix) -> None:
    """Write the Jacobian (3, nv) of the centre of mass, (12)-(14): each coordinate moves what it carries."""
    com = subtree_com[tree.root]
    for j in range(tree.body.size):
        part, at = tree.carried[j], subtree_com[tree.body[j]]
        x, y, z = at_arm(cdof[j], (at[0] - com[0], at[1] - com[1], at[2] - com[2]))
        jacobian[0, j], jacobian[1, j], jacobian[2, j] = part * x, part * y, part * z  # Ott 2011, eq. 12-14


@inlined
def com_motion(senses: Senses, tree: Tree, jacobian: Matrix, velocity: Vector) -> None:
    """Write the Jacobian (3, nv) of the centre of mass, and its velocity (3,) in m/s."""
    com_jacobian(senses.cdof, senses.subtree_com, tree, jacobian)
    for c in range(3):
        value = 0.0
        for j in range(senses.qvel.size):
            value += jacobian[c, j] * senses.qvel[j]
        velocity[c] = value


@inlined
def carrying_torques(cdof: Matrix, jacobian: Matrix, tree: Tree, arms: Matrix, force: Matrix, torque: Vector) -> None:
    """Write the generalised forces (nv,) that let contact forces carry the robot, (15): ``-J_c^T f``.

    ``J_c``, the Jacobian of a point in coordinates of the centre of mass, is that of the point less that of the mass.
    """
    fx, fy, fz = 0.0, 0.0, 0.0
    for p in range(arms.shape[0]):
        fx += force[p, 0]
        fy += force[p, 1]
        fz += force[p, 2]
    for j in range(torque.size):
        total = jacobian[0, j] * fx + jacobian[1, j] * fy + jacobian[2, j] * fz
        for p in range(arms.shape[0]):
            if tree.moves[p, j]:
                f, (x, y, z) = force[p], at_arm(cdof[j], arms[p])
                total -= f[0] * x + f[1] * y + f[2] * z
        torque[j] = total  # Ott 2011, eq. 15


@inlined
def write_flat_on(slope: Any, heading: Float, axes: Matrix) -> None:
    """Write the axes (3, 3) of a sole that lies on ground of this slope (dz/dx, dz/dy) and points along ``heading``."""
    c, s = math.cos(heading), math.sin(heading)
    rise = c * slope[0] + s * slope[1]
    long = math.sqrt(1.0 + rise * rise)
    ax, ay, az = c / long, s / long, rise / long
    tall = math.sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1])
    nx, ny, nz = -slope[0] / tall, -slope[1] / tall, 1.0 / tall
    axes[0, 0], axes[1, 0], axes[2, 0] = ax, ay, az
    axes[0, 1], axes[1, 1], axes[2, 1] = cross((nx, ny, nz), (ax, ay, az))
    axes[0, 2], axes[1, 2], axes[2, 2] = nx, ny, nz


@inlined
def rotation_between(axes: Matrix, others: Matrix) -> tuple[Float, Float, Float]:
    """The rotation vector (x, y, z) from ``others`` (3, 3) to ``axes`` (3, 3): that of axes @ others.T."""
    x, y, z, trace = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        x += axes[2, k] * others[1, k] - axes[1, k] * others[2, k]
        y += axes[0, k] * others[2, k] - axes[2, k] * others[0, k]
        z += axes[1, k] * others[0, k] - axes[0, k] * others[1, k]
        trace += axes[0, k] * others[0, k] + axes[1, k] * others[1, k] + axes[2, k] * others[2, k]
    sine, cosine = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (trace - 1.0)
    scale = 0.5 * math.atan2(sine, cosine) / sine if sine > 1e-9 else 0.5
    return scale * x, scale * y, scale * z


@inlined
def turn_axes(vector: tuple[Float, Float, Float], axes: Matrix, result: Matrix) -> None:
    """Write ``axes`` (3, 3) turned by a rotation vector (x, y, z): Rodrigues' formula for each column."""
    x, y, z = vector
    angle = math.sqrt(x * x + y * y + z * z)
    first = math.sin(angle) / angle if angle > 1e-9 else 1.0
    second = (1.0 - math.cos(angle)) / (angle * angle) if angle > 1e-9 else 0.5
    for k in range(3):
        once = cross(vector, (axes[0, k], axes[1, k], axes[2, k]))
        twice = cross(vector, once)
        for r in range(3):
            result[r, k] = axes[r, k] + first * once[r] + second * twice[r]


@inlined
def critical_gains(rate: Float) -> tuple[Float, Float]:
    """Stiffness (1/s2) and damping (1/s) of a critically damped motion of this ``rate`` (1/s)."""
    return rate * rate, 2.0 * rate
