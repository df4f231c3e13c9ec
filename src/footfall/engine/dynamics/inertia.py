"""The joint-space inertia by composite bodies, its sparse factors, and recursive Newton-Euler: velocities of the bodies
and the forces of their motion and gravity.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.dynamics.tree import Bodies, Tree
from footfall.kinds import Float, Int, Named, Vector
from footfall.robot.model import BALL, FREE


@inlined
def momentum(
    i: Vector, v0: Float, v1: Float, v2: Float, v3: Float, v4: Float, v5: Float
) -> tuple[Float, Float, Float, Float, Float, Float]:
    """A spatial inertia ``i`` (10,) times a spatial velocity."""
    return (
        i[0] * v0 + i[3] * v1 + i[4] * v2 - i[8] * v4 + i[7] * v5,
        i[3] * v0 + i[1] * v1 + i[5] * v2 + i[8] * v3 - i[6] * v5,
        i[4] * v0 + i[5] * v1 + i[2] * v2 - i[7] * v3 + i[6] * v4,
        i[8] * v1 - i[7] * v2 + i[9] * v3,
        i[6] * v2 - i[8] * v0 + i[9] * v4,
        i[7] * v0 - i[6] * v1 + i[9] * v5,
    )


@inlined
def composite_inertia(tree: Tree, bodies: Bodies) -> None:
    """Overwrite ``cinert`` by the inertias of subtrees."""
    crb = bodies.cinert
    for b in range(tree.body_parentid.size - 1, 0, -1):
        p = tree.body_parentid[b]
        # A body on the world is the root of its tree, and the world carries no inertia.
        if p > 0:
            i, more = crb[p], crb[b]
            i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], i[8], i[9] = (
                i[0] + more[0],
                i[1] + more[1],
                i[2] + more[2],
                i[3] + more[3],
                i[4] + more[4],
                i[5] + more[5],
                i[6] + more[6],
                i[7] + more[7],
                i[8] + more[8],
                i[9] + more[9],
            )


@inlined
def joint_inertia(tree: Tree, bodies: Bodies, dt: Float) -> None:
    """The inertia matrix, with armature and the joint damping of a step, into ``qLD``; needs those of subtrees.

    Row j holds the dofs between the root and j, the diagonal last. Damping acts on the velocity at the end of the step:
    M + dt D.
    """
    cdof = bodies.cdof
    for j in range(tree.dof_bodyid.size):
        s = cdof[j]
        f0, f1, f2, f3, f4, f5 = momentum(bodies.cinert[tree.dof_bodyid[j]], s[0], s[1], s[2], s[3], s[4], s[5])
        first = tree.M_rowadr[j]
        last = first + tree.M_rownnz[j] - 1
        # Two at a time, so that a GPU waits for memory once.
        for e in range(first, last, 2):
            t, u = cdof[tree.M_colind[e]], cdof[tree.M_colind[e + 1]]
            one, other = product(t, f0, f1, f2, f3, f4, f5), product(u, f0, f1, f2, f3, f4, f5)
            bodies.qLD[e], bodies.qLD[e + 1] = one, other
        if (last - first) % 2 == 0:
            bodies.qLD[last] = product(s, f0, f1, f2, f3, f4, f5)
        bodies.qLD[last] += tree.dof_armature[j] + dt * tree.dof_damping[j]


@inlined
def product(t: Vector, f0: Float, f1: Float, f2: Float, f3: Float, f4: Float, f5: Float) -> Float:
    """The power of a spatial force along a motion axis ``t``."""
    return t[0] * f0 + t[1] * f1 + t[2] * f2 + t[3] * f3 + t[4] * f4 + t[5] * f5


@inlined
def factor(tree: Tree, bodies: Named) -> None:
    """Factor ``qLD`` in place, M = U^T D U with the unit triangle U stored by rows and D on its diagonal."""
    m, address, count = bodies.qLD, tree.M_rowadr, tree.M_rownnz
    for k in range(tree.dof_bodyid.size - 1, -1, -1):
        first = address[k]
        last = first + count[k] - 1
        inverse = 1.0 / m[last]
        bodies.qLDiagInv[k] = inverse
        for e in range(last - 1, first - 1, -1):
            i = tree.M_colind[e]
            share, row, own = m[e] * inverse, address[i], count[i]
            # Row k begins with the ancestors of i, as row i does. Four at a time, so that a GPU waits for memory once.
            for c in range(0, own - 3, 4):
                to, at = row + c, first + c
                m[to], m[to + 1], m[to + 2], m[to + 3] = (
                    m[to] - share * m[at],
                    m[to + 1] - share * m[at + 1],
                    m[to + 2] - share * m[at + 2],
                    m[to + 3] - share * m[at + 3],
                )
            for c in range(own - own % 4, own):
                m[row + c] -= share * m[first + c]
            m[e] = share  # no other ancestor reads it


@inlined
def bias(tree: Tree, bodies: Bodies) -> None:
    """Write ``cvel``, ``cdof_dot``, and to ``cfrc`` the force on each body that its motion at ``qacc = 0`` requires."""
    cvel, cacc, cfrc = bodies.cvel, bodies.cacc, bodies.cfrc
    for k in range(6):
        cvel[0, k], cacc[0, k], cfrc[0, k] = 0.0, 0.0, 0.0
    for k in range(3):
        cacc[0, 3 + k] = -tree.gravity[k]
    j, d = 0, 0
    for b in range(1, tree.body_parentid.size):
        v, a = cvel[tree.body_parentid[b]], cacc[tree.body_parentid[b]]
        # In registers: on a GPU, reading what was just written is slow.
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
    """Apply a force (N) and torque (N m), world frame, at the centre of mass of a body."""
    com, f = bodies.subtree_com[tree.body_tree[b]], bodies.cfrc[b]
    x, y, z = bodies.xipos[b, 0] - com[0], bodies.xipos[b, 1] - com[1], bodies.xipos[b, 2] - com[2]
    f[0] -= wrench[3] + y * wrench[2] - z * wrench[1]
    f[1] -= wrench[4] + z * wrench[0] - x * wrench[2]
    f[2] -= wrench[5] + x * wrench[1] - y * wrench[0]
    for k in range(3):
        f[3 + k] -= wrench[k]


@inlined
def subtract_body_forces(tree: Tree, bodies: Bodies) -> None:
    """Subtract the generalised forces of ``cfrc`` from ``qfrc_smooth``; ``cfrc`` becomes the sums over subtrees."""
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
