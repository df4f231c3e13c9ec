"""Velocities of the bodies, and the forces that their motion and gravity take: recursive Newton-Euler."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.dynamics.inertia import momentum
from footfall.robot.model import BALL, FREE


@inlined
def bias(tree, bodies):
    """``cvel``, ``cdof_dot``, and in ``cfrc`` the force that each body's motion at ``qacc = 0`` takes."""
    cvel, cacc, cfrc = bodies.cvel, bodies.cacc, bodies.cfrc
    for k in range(6):
        cvel[0, k], cacc[0, k], cfrc[0, k] = 0.0, 0.0, 0.0
    for k in range(3):
        cacc[0, 3 + k] = -tree.gravity[k]
    j, d = 0, 0
    for b in range(1, tree.body_parentid.size):
        p = tree.body_parentid[b]
        v, a = cvel[b], cacc[b]
        for k in range(6):
            v[k], a[k] = cvel[p, k], cacc[p, k]
        for _ in range(tree.body_jntnum[b]):
            kind = tree.jnt_type[j]
            j += 1
            if kind == FREE:
                for k in range(3):
                    for c in range(6):
                        bodies.cdof_dot[d + k, c] = 0.0
                    v[3 + k] += bodies.qvel[d + k]
                d += 3
            # The axes of a ball turn together: each rate is that of the body before all three.
            count = 3 if kind in (FREE, BALL) else 1
            for i in range(d, d + count):
                write_cross(v, bodies.cdof[i], bodies.cdof_dot[i])
            for i in range(d, d + count):
                speed = bodies.qvel[i]
                for c in range(6):
                    v[c] += speed * bodies.cdof[i, c]
                    a[c] += speed * bodies.cdof_dot[i, c]
            d += count
        inertia = bodies.cinert[b]
        f0, f1, f2, f3, f4, f5 = momentum(inertia, a[0], a[1], a[2], a[3], a[4], a[5])
        h0, h1, h2, h3, h4, h5 = momentum(inertia, v[0], v[1], v[2], v[3], v[4], v[5])
        cfrc[b, 0] = f0 + v[1] * h2 - v[2] * h1 + v[4] * h5 - v[5] * h4
        cfrc[b, 1] = f1 + v[2] * h0 - v[0] * h2 + v[5] * h3 - v[3] * h5
        cfrc[b, 2] = f2 + v[0] * h1 - v[1] * h0 + v[3] * h4 - v[4] * h3
        cfrc[b, 3] = f3 + v[1] * h5 - v[2] * h4
        cfrc[b, 4] = f4 + v[2] * h3 - v[0] * h5
        cfrc[b, 5] = f5 + v[0] * h4 - v[1] * h3


@inlined
def write_cross(v, s, out):
    """The rate of a motion axis ``s`` carried along by a spatial velocity ``v``."""
    out[0] = v[1] * s[2] - v[2] * s[1]
    out[1] = v[2] * s[0] - v[0] * s[2]
    out[2] = v[0] * s[1] - v[1] * s[0]
    out[3] = v[1] * s[5] - v[2] * s[4] + v[4] * s[2] - v[5] * s[1]
    out[4] = v[2] * s[3] - v[0] * s[5] + v[5] * s[0] - v[3] * s[2]
    out[5] = v[0] * s[4] - v[1] * s[3] + v[3] * s[1] - v[4] * s[0]


@inlined
def push_body(tree, bodies, b, wrench):
    """Let a force (N) and torque (N m), world frame, act at the centre of mass of a body."""
    com, f = bodies.subtree_com[tree.body_tree[b]], bodies.cfrc[b]
    x, y, z = bodies.xipos[b, 0] - com[0], bodies.xipos[b, 1] - com[1], bodies.xipos[b, 2] - com[2]
    f[0] -= wrench[3] + y * wrench[2] - z * wrench[1]
    f[1] -= wrench[4] + z * wrench[0] - x * wrench[2]
    f[2] -= wrench[5] + x * wrench[1] - y * wrench[0]
    for k in range(3):
        f[3 + k] -= wrench[k]


@inlined
def subtract_body_forces(tree, bodies):
    """Subtract from ``qfrc_smooth`` what the forces on all bodies take of each dof; ``cfrc`` then has subtrees."""
    f = bodies.cfrc
    for b in range(tree.body_parentid.size - 1, 0, -1):
        p = tree.body_parentid[b]
        if p > 0:
            for k in range(6):
                f[p, k] += f[b, k]
    for j in range(tree.dof_bodyid.size):
        s, g = bodies.cdof[j], f[tree.dof_bodyid[j]]
        bodies.qfrc_smooth[j] -= s[0] * g[0] + s[1] * g[1] + s[2] * g[2] + s[3] * g[3] + s[4] * g[4] + s[5] * g[5]
