"""Kinematics of bodies: positions, inertias and motion axes about the centre of mass.

Quaternions (w, x, y, z) are four numbers, which stay in registers.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.engine.dynamics.tree import Bodies, Tree
from footfall.kinds import Float, Vector
from footfall.robot.model import BALL, FREE, HINGE, SLIDE


@inlined
def quaternion_product(
    a0: Float, a1: Float, a2: Float, a3: Float, b0: Float, b1: Float, b2: Float, b3: Float
) -> tuple[Float, Float, Float, Float]:
    return (
        a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
        a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
        a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1,
        a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0,
    )


@inlined
def rotate(q0: Float, q1: Float, q2: Float, q3: Float, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """The vector (x, y, z) turned by a unit quaternion."""
    tx, ty, tz = 2.0 * (q2 * z - q3 * y), 2.0 * (q3 * x - q1 * z), 2.0 * (q1 * y - q2 * x)
    return x + q0 * tx + q2 * tz - q3 * ty, y + q0 * ty + q3 * tx - q1 * tz, z + q0 * tz + q1 * ty - q2 * tx


@inlined
def normalised(q0: Float, q1: Float, q2: Float, q3: Float) -> tuple[Float, Float, Float, Float]:
    scale = 1.0 / math.sqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
    return q0 * scale, q1 * scale, q2 * scale, q3 * scale


@inlined
def turned(
    q0: Float, q1: Float, q2: Float, q3: Float, wx: Float, wy: Float, wz: Float, time: Float
) -> tuple[Float, Float, Float, Float]:
    """A quaternion after turning for ``time`` (s) at the body-frame rate (wx, wy, wz), rad/s."""
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    half = 0.5 * time * speed
    # sin(half) / speed, by its series where the quotient would lose digits
    share = 0.5 * time * (1.0 - half * half / 6.0) if half < 1e-4 else math.sin(half) / speed
    q0, q1, q2, q3 = quaternion_product(q0, q1, q2, q3, math.cos(half), share * wx, share * wy, share * wz)
    return normalised(q0, q1, q2, q3)


@inlined
def rotation_vector(
    a0: Float, a1: Float, a2: Float, a3: Float, b0: Float, b1: Float, b2: Float, b3: Float
) -> tuple[Float, Float, Float]:
    """The rotation (rad, body frame) that leads from quaternion b to quaternion a, the shorter way."""
    q0, q1, q2, q3 = quaternion_product(b0, -b1, -b2, -b3, a0, a1, a2, a3)
    if q0 < 0.0:
        q0, q1, q2, q3 = -q0, -q1, -q2, -q3
    sine = math.sqrt(q1 * q1 + q2 * q2 + q3 * q3)
    share = 2.0 if sine < 1e-8 else 2.0 * math.atan2(sine, q0) / sine
    return share * q1, share * q2, share * q3


@inlined
def kinematics(tree: Tree, bodies: Bodies) -> None:
    """Write all that depends on ``qpos``: frames, centres of mass, ``cinert`` and ``cdof``."""
    place_bodies(tree, bodies)
    centre_of_mass(tree, bodies)
    body_inertias(tree, bodies)
    motion_axes(tree, bodies)


@inlined
def write_matrix(q0: Float, q1: Float, q2: Float, q3: Float, out: Vector) -> None:
    """The rotation matrix of a unit quaternion, row by row, into ``out`` (9,)."""
    out[0], out[3], out[6] = rotate(q0, q1, q2, q3, 1.0, 0.0, 0.0)
    out[1], out[4], out[7] = rotate(q0, q1, q2, q3, 0.0, 1.0, 0.0)
    out[2], out[5], out[8] = rotate(q0, q1, q2, q3, 0.0, 0.0, 1.0)


@inlined
def place_bodies(tree: Tree, bodies: Bodies) -> None:
    """Frames of all bodies and joints."""
    xpos, xquat, qpos = bodies.xpos, bodies.xquat, bodies.qpos
    for c in range(3):
        xpos[0, c] = 0.0
    q0, q1, q2, q3 = 1.0, 0.0, 0.0, 0.0
    xquat[0, 0], xquat[0, 1], xquat[0, 2], xquat[0, 3] = q0, q1, q2, q3
    write_matrix(q0, q1, q2, q3, bodies.xmat[0])
    j = 0
    for b in range(1, tree.body_parentid.size):
        joints = tree.body_jntnum[b]
        if joints == 1 and tree.jnt_type[j] == FREE:
            a = tree.jnt_qposadr[j]
            x, y, z = qpos[a], qpos[a + 1], qpos[a + 2]
            q0, q1, q2, q3 = normalised(qpos[a + 3], qpos[a + 4], qpos[a + 5], qpos[a + 6])
            bodies.xanchor[j, 0], bodies.xanchor[j, 1], bodies.xanchor[j, 2] = x, y, z
            j += 1
        else:
            p = tree.body_parentid[b]
            r, u, v = bodies.xmat[p], tree.body_pos[b], tree.body_quat[b]
            x = xpos[p, 0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
            y = xpos[p, 1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
            z = xpos[p, 2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
            q0, q1, q2, q3 = quaternion_product(
                xquat[p, 0], xquat[p, 1], xquat[p, 2], xquat[p, 3], v[0], v[1], v[2], v[3]
            )
            for _ in range(joints):
                axis, at = tree.jnt_axis[j], tree.jnt_pos[j]
                dx, dy, dz = rotate(q0, q1, q2, q3, axis[0], axis[1], axis[2])
                bodies.xaxis[j, 0], bodies.xaxis[j, 1], bodies.xaxis[j, 2] = dx, dy, dz
                ox, oy, oz = rotate(q0, q1, q2, q3, at[0], at[1], at[2])
                ox, oy, oz = x + ox, y + oy, z + oz
                bodies.xanchor[j, 0], bodies.xanchor[j, 1], bodies.xanchor[j, 2] = ox, oy, oz
                a = tree.jnt_qposadr[j]
                if tree.jnt_type[j] == SLIDE:
                    way = qpos[a] - tree.qpos0[a]
                    x, y, z = x + way * dx, y + way * dy, z + way * dz
                else:
                    if tree.jnt_type[j] == HINGE:
                        half = 0.5 * (qpos[a] - tree.qpos0[a])
                        s, w0 = math.sin(half), math.cos(half)
                        w1, w2, w3 = s * axis[0], s * axis[1], s * axis[2]
                    else:
                        w0, w1, w2, w3 = normalised(qpos[a], qpos[a + 1], qpos[a + 2], qpos[a + 3])
                    q0, q1, q2, q3 = quaternion_product(q0, q1, q2, q3, w0, w1, w2, w3)
                    # The body turns about the anchor.
                    tx, ty, tz = rotate(q0, q1, q2, q3, at[0], at[1], at[2])
                    x, y, z = ox - tx, oy - ty, oz - tz
                j += 1
            q0, q1, q2, q3 = normalised(q0, q1, q2, q3)
        xpos[b, 0], xpos[b, 1], xpos[b, 2] = x, y, z
        xquat[b, 0], xquat[b, 1], xquat[b, 2], xquat[b, 3] = q0, q1, q2, q3
        r, u = bodies.xmat[b], tree.body_ipos[b]
        write_matrix(q0, q1, q2, q3, r)
        bodies.xipos[b, 0] = x + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
        bodies.xipos[b, 1] = y + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
        bodies.xipos[b, 2] = z + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]


@inlined
def centre_of_mass(tree: Tree, bodies: Bodies) -> None:
    """The centre of mass of each tree; a tree without mass has its root there."""
    com = bodies.subtree_com
    for t in range(com.shape[0]):
        mass, x, y, z = 0.0, 0.0, 0.0, 0.0
        root = 0
        for b in range(tree.body_parentid.size):
            if tree.body_tree[b] != t:
                continue
            root = b if root == 0 else root
            m = bodies.body_mass[b]
            mass += m
            x += m * bodies.xipos[b, 0]
            y += m * bodies.xipos[b, 1]
            z += m * bodies.xipos[b, 2]
        if mass > 0.0:
            com[t, 0], com[t, 1], com[t, 2] = x / mass, y / mass, z / mass
        else:
            for c in range(3):
                com[t, c] = bodies.xpos[root, c]


@inlined
def body_inertias(tree: Tree, bodies: Bodies) -> None:
    """``cinert``: the inertia of each body about the centre of mass of its tree, world axes."""
    for k in range(10):
        bodies.cinert[0, k] = 0.0
    for b in range(1, tree.body_parentid.size):
        r, u, com, out = bodies.xmat[b], tree.body_imat[b], bodies.subtree_com[tree.body_tree[b]], bodies.cinert[b]
        ixx, iyy, izz, ixy, ixz, iyz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(3):
            x = r[0] * u[k] + r[1] * u[3 + k] + r[2] * u[6 + k]
            y = r[3] * u[k] + r[4] * u[3 + k] + r[5] * u[6 + k]
            z = r[6] * u[k] + r[7] * u[3 + k] + r[8] * u[6 + k]
            i = bodies.body_inertia[b, k]
            ixx += i * x * x
            iyy += i * y * y
            izz += i * z * z
            ixy += i * x * y
            ixz += i * x * z
            iyz += i * y * z
        m = bodies.body_mass[b]
        x, y, z = bodies.xipos[b, 0] - com[0], bodies.xipos[b, 1] - com[1], bodies.xipos[b, 2] - com[2]
        out[0], out[1], out[2] = ixx + m * (y * y + z * z), iyy + m * (x * x + z * z), izz + m * (x * x + y * y)
        out[3], out[4], out[5] = ixy - m * x * y, ixz - m * x * z, iyz - m * y * z
        out[6], out[7], out[8], out[9] = m * x, m * y, m * z, m


@inlined
def write_hinge(x: Float, y: Float, z: Float, ox: Float, oy: Float, oz: Float, out: Vector) -> None:
    """The motion of a unit rate about an axis, seen at an offset from it."""
    out[0], out[1], out[2] = x, y, z
    out[3], out[4], out[5] = y * oz - z * oy, z * ox - x * oz, x * oy - y * ox


@inlined
def write_slide(x: Float, y: Float, z: Float, out: Vector) -> None:
    out[0], out[1], out[2] = 0.0, 0.0, 0.0
    out[3], out[4], out[5] = x, y, z


@inlined
def motion_axes(tree: Tree, bodies: Bodies) -> None:
    """``cdof``: the spatial velocity that a unit rate of each dof gives."""
    for j in range(tree.jnt_type.size):
        b, d, kind = tree.jnt_bodyid[j], tree.jnt_dofadr[j], tree.jnt_type[j]
        com, at, axis, r = bodies.subtree_com[tree.body_tree[b]], bodies.xanchor[j], bodies.xaxis[j], bodies.xmat[b]
        ox, oy, oz = com[0] - at[0], com[1] - at[1], com[2] - at[2]
        if kind == HINGE:
            write_hinge(axis[0], axis[1], axis[2], ox, oy, oz, bodies.cdof[d])
        elif kind == SLIDE:
            write_slide(axis[0], axis[1], axis[2], bodies.cdof[d])
        else:
            if kind == FREE:
                write_slide(1.0, 0.0, 0.0, bodies.cdof[d])
                write_slide(0.0, 1.0, 0.0, bodies.cdof[d + 1])
                write_slide(0.0, 0.0, 1.0, bodies.cdof[d + 2])
                d += 3
            for k in range(3):
                write_hinge(r[k], r[3 + k], r[6 + k], ox, oy, oz, bodies.cdof[d + k])


@inlined
def integrate_positions(tree: Tree, qpos: Vector, qvel: Vector, dt: Float) -> None:
    """Move ``qpos`` (nq,) for ``dt`` (s) at the rates ``qvel`` (nv,)."""
    for j in range(tree.jnt_type.size):
        a, d, kind = tree.jnt_qposadr[j], tree.jnt_dofadr[j], tree.jnt_type[j]
        if kind == FREE:
            for k in range(3):
                qpos[a + k] += dt * qvel[d + k]
            a, d = a + 3, d + 3
        if kind in (FREE, BALL):
            qpos[a], qpos[a + 1], qpos[a + 2], qpos[a + 3] = turned(
                qpos[a], qpos[a + 1], qpos[a + 2], qpos[a + 3], qvel[d], qvel[d + 1], qvel[d + 2], dt
            )
        else:
            qpos[a] += dt * qvel[d]
