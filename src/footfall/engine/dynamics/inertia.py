"""The joint-space inertia: composite bodies, its sparse factors, and motions from forces."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.dynamics.tree import Bodies, Tree
from footfall.kinds import Float, Vector


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
        # Two at a time: a GPU waits for both together.
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
def add_to_diagonal(tree: Tree, bodies: Bodies, added: Vector) -> None:
    """Add to the diagonal of the inertia (nv,)."""
    for j in range(added.size):
        bodies.qLD[tree.M_rowadr[j] + tree.M_rownnz[j] - 1] += added[j]


@inlined
def factor(tree: Tree, bodies: Bodies) -> None:
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
            # The ancestors of i stand at the head of row k as they do in row i. Four at a time: a GPU waits for all.
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
            m[e] = share  # which no other ancestor reads
