"""Velocities of the bodies, and the forces that their motion and gravity take: recursive Newton-Euler."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.dynamics.inertia import momentum
from footfall.engine.dynamics.tree import Bodies, Tree
from footfall.kinds import Float, Int, Vector
from footfall.robot.model import BALL, FREE


@inlined
def bias(tree: Tree, bodies: Bodies) -> None:
    """``cvel``, ``cdof_dot``, and in ``cfrc`` the force that each body's motion at ``qacc = 0`` takes."""
    cvel, cacc, cfrc = bodies.cvel, bodies.cacc, bodies.cfrc
    for k in range(6):
        cvel[0, k], cacc[0, k], cfrc[0, k] = 0.0, 0.0, 0.0
    for k in range(3):
        cacc[0, 3 + k] = -tree.gravity[k]
    j, d = 0, 0
    for b in range(1, tree.body_parentid.size):
        v, a = cvel[tree.body_parentid[b]], cacc[tree.body_parentid[b]]
        # In registers, as a GPU waits long for what it has just written.
        v0, v1, v2, v3, v4, v5 = v[0], v[1], v[2], v[3], v[4], v[5]
        a0, a1, a2, a3, a4, a5 = a[0], a[1], a[2], a[3], a[4], a[5]
        for _ in range(tree.body_jntnum[b]):
            kind = tree.jnt_type[j]
            j += 1
            if kind == FREE:
                for k in range(3):
                    for c in range(6):
                        bodies.cdof_dot[d + k, c] = 0.0
                v3, v4, v5 = v3 + bodies.qvel[d], v4 + bodies.qvel[d + 1], v5 + bodies.qvel[d + 2]
                d += 3
            # The axes of a ball turn together: each rate is that of the body before all three.
            u0, u1, u2, u3, u4, u5 = v0, v1, v2, v3, v4, v5
            count = 3 if kind in (FREE, BALL) else 1
            for i in range(d, d + count):
                s, rate, speed = bodies.cdof[i], bodies.cdof_dot[i], bodies.qvel[i]
                r0, r1, r2, r3, r4, r5 = carried(s, u0, u1, u2, u3, u4, u5)
                v0, v1, v2 = v0 + speed * s[0], v1 + speed * s[1], v2 + speed * s[2]
                v3, v4, v5 = v3 + speed * s[3], v4 + speed * s[4], v5 + speed * s[5]
                a0, a1, a2 = a0 + speed * r0, a1 + speed * r1, a2 + speed * r2
                a3, a4, a5 = a3 + speed * r3, a4 + speed * r4, a5 + speed * r5
                rate[0], rate[1], rate[2], rate[3], rate[4], rate[5] = r0, r1, r2, r3, r4, r5
            d += count
        f0, f1, f2, f3, f4, f5 = momentum(bodies.cinert[b], a0, a1, a2, a3, a4, a5)
        h0, h1, h2, h3, h4, h5 = momentum(bodies.cinert[b], v0, v1, v2, v3, v4, v5)
        v, a, f = cvel[b], cacc[b], cfrc[b]
        v[0], v[1], v[2], v[3], v[4], v[5] = v0, v1, v2, v3, v4, v5
        a[0], a[1], a[2], a[3], a[4], a[5] = a0, a1, a2, a3, a4, a5
        f[0] = f0 + v1 * h2 - v2 * h1 + v4 * h5 - v5 * h4
        f[1] = f1 + v2 * h0 - v0 * h2 + v5 * h3 - v3 * h5
        f[2] = f2 + v0 * h1 - v1 * h0 + v3 * h4 - v4 * h3
        f[3] = f3 + v1 * h5 - v2 * h4
        f[4] = f4 + v2 * h3 - v0 * h5
        f[5] = f5 + v0 * h4 - v1 * h3


@inlined
def carried(
    s: Vector, v0: Float, v1: Float, v2: Float, v3: Float, v4: Float, v5: Float
) -> tuple[Float, Float, Float, Float, Float, Float]:
    """The rate of a motion axis ``s`` carried along by a spatial velocity."""
    return (
        v1 * s[2] - v2 * s[1],
        v2 * s[0] - v0 * s[2],
        v0 * s[1] - v1 * s[0],
        v1 * s[5] - v2 * s[4] + v4 * s[2] - v5 * s[1],
        v2 * s[3] - v0 * s[5] + v5 * s[0] - v3 * s[2],
        v0 * s[4] - v1 * s[3] + v3 * s[1] - v4 * s[0],
    )


@inlined
def push_body(tree: Tree, bodies: Bodies, b: Int, wrench: Vector) -> None:
    """Let a force (N) and torque (N m), world frame, act at the centre of mass of a body."""
    com, f = bodies.subtree_com[tree.body_tree[b]], bodies.cfrc[b]
    x, y, z = bodies.xipos[b, 0] - com[0], bodies.xipos[b, 1] - com[1], bodies.xipos[b, 2] - com[2]
    f[0] -= wrench[3] + y * wrench[2] - z * wrench[1]
    f[1] -= wrench[4] + z * wrench[0] - x * wrench[2]
    f[2] -= wrench[5] + x * wrench[1] - y * wrench[0]
    for k in range(3):
        f[3 + k] -= wrench[k]


@inlined
def subtract_body_forces(tree: Tree, bodies: Bodies) -> None:
    """Subtract from ``qfrc_smooth`` what the forces on all bodies take of each dof; ``cfrc`` then has subtrees."""
    f = bodies.cfrc
    for b in range(tree.body_parentid.size - 1, 0, -1):
        p = tree.body_parentid[b]
        if p > 0:
            g, h = f[p], f[b]
            g[0], g[1], g[2] = g[0] + h[0], g[1] + h[1], g[2] + h[2]
            g[3], g[4], g[5] = g[3] + h[3], g[4] + h[4], g[5] + h[5]
    for j in range(tree.dof_bodyid.size):
        s, g = bodies.cdof[j], f[tree.dof_bodyid[j]]
        bodies.qfrc_smooth[j] -= s[0] * g[0] + s[1] * g[1] + s[2] * g[2] + s[3] * g[3] + s[4] * g[4] + s[5] * g[5]
