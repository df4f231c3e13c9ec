"""MuJoCo's soft contacts with the ground, as inertia of the bodies that touch it.

MuJoCo's acceleration minimises ``1/2 (a - a_0)^T M (a - a_0) + s(J a - a_ref)`` (its manual, Computation, "Primal
problem"): a contact has the force ``f(y) = -ds/dy`` with ``y = J a - a_ref``. A change of y changes the force by -W
times that, so a contact acts as added inertia W of its point, as a constraint of a single joint does on its dof. A
point moves with the dofs from its body to the root, and any two of these have an entry in the inertia that MuJoCo
factors along the tree: ``M + J^T W J`` costs no more to factor than M.

Regularisation ``R = 1 / D`` and ``a_ref`` are those of the manual's "Constraint model", cones of its "Friction cones".
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.constraints.joint_rows import TINY, constant_weights, impedance, reference_gains
from footfall.engine.kinematics import cross, into_frame
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Bool, Float, Int, Matrix, Named, Tensor, Vector, zeros
from footfall.solve.contacts import Contacts

#: MuJoCo's least coefficient of friction.
LEAST_FRICTION = 1e-5


class SoftContacts(NamedTuple):
    """Parameters of MuJoCo's contacts of P points, and scratch; contact frames have rows tangent, tangent, normal."""

    folded: int  # 1 if they are solved here, 0 if MuJoCo's own solver is called in every step
    elliptic: int  # 1 if friction cones are round, 0 for pyramids
    impratio: float  # friction to normal impedance
    gains: Annotated[Vector, 2]  # stiffness 1/s2 and damping 1/s of the reference acceleration
    solimp: Annotated[Vector, 5]  # MuJoCo's
    weight: Annotated[Vector, "ngeom"]  # 1/kg, MuJoCo's body_invweight0 of the body that has the geom
    inertia: Annotated[Vector, "P"]  # kg, D of every edge of the pyramid, or of the cone's normal
    reference: Annotated[Matrix, "P", 3]  # m/s2, a_ref
    before: Annotated[Matrix, "P", 3]  # m/s2, y at the beginning of a round
    found: Annotated[Matrix, "P", 3]  # m/s2, y at its end
    stiffness: Annotated[Tensor, "P", 3, 3]  # kg, W
    fresh: Annotated[Matrix, 3, 3]  # scratch: W of one point
    rows: Annotated[Matrix, 3, 6]  # scratch: rows of J for the motion (turn, way) of a body about the centre of mass
    weighed: Annotated[Matrix, 3, 6]  # scratch: W times these
    spatial: Annotated[Matrix, 6, 6]  # scratch: inertia that the contacts of a body add to it
    kept: Annotated[Vector, "nC"]  # MuJoCo's M, without contacts


@inlined
def evaluate_contacts(points: Points, contacts: Contacts, soft: SoftContacts) -> None:
    """Inertia and reference acceleration of every near point."""
    for k in range(points.body.size):
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            gap, v, to = contacts.gap[p], contacts.velocity[p], soft.reference[p]
            share = impedance(soft.solimp, gap)
            resistance = (1.0 - share) * soft.weight[points.geom[k]] / share
            if soft.elliptic == 0:
                mu = friction(contacts, p)
                resistance = max(TINY, resistance * (1.0 + mu * mu)) * 2.0 * mu * mu / soft.impratio
            soft.inertia[p] = 1.0 / max(TINY, resistance)
            to[0], to[1] = -soft.gains[1] * v[0], -soft.gains[1] * v[1]
            to[2] = -soft.gains[1] * v[2] - soft.gains[0] * share * gap


@inlined
def friction(contacts: Contacts, p: Int) -> Float:
    return max(LEAST_FRICTION, contacts.dynamic_friction[p])


@inlined
def pyramid_force(d: Float, mu: Float, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """f(y) of the four edges ``n + mu t``, each a unilateral row with the inertia d."""
    a, b = max(0.0, -d * (z + mu * x)), max(0.0, -d * (z - mu * x))
    e, g = max(0.0, -d * (z + mu * y)), max(0.0, -d * (z - mu * y))
    return mu * (a - b), mu * (e - g), a + b + e + g


@inlined
def cone_force(d: Float, mu: Float, impratio: Float, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """f(y) of a round cone: none in the polar cone, linear in the dual cone, between them -d/dy Dm/2 (N - m T)^2."""
    m = mu / math.sqrt(impratio)
    slip = math.sqrt(x * x + y * y)
    normal, tangential = m * z, mu * slip
    if normal >= m * tangential:
        return 0.0, 0.0, 0.0
    if m * normal + tangential <= 0.0:
        return -d * impratio * x, -d * impratio * y, -d * z
    force = d / (m * (1.0 + m * m)) * (m * tangential - normal)
    return -mu * force * x / slip, -mu * force * y / slip, force


@inlined
def contact_force(
    contacts: Contacts, soft: SoftContacts, p: Int, x: Float, y: Float, z: Float
) -> tuple[Float, Float, Float]:
    """f(y) of a point."""
    if soft.elliptic == 0:
        return pyramid_force(soft.inertia[p], friction(contacts, p), x, y, z)
    return cone_force(soft.inertia[p], friction(contacts, p), soft.impratio, x, y, z)


@inlined
def pyramid_stiffness(d: Float, mu: Float, y: Vector, w: Matrix) -> None:
    """W of the edges that press."""
    for c in range(2):
        up, down = y[2] + mu * y[c] < 0.0, y[2] - mu * y[c] < 0.0
        both, either = (d if up else 0.0) + (d if down else 0.0), (d if up else 0.0) - (d if down else 0.0)
        w[c, c] = mu * mu * both
        w[c, 2] = mu * either
        w[2, 2] += both
        w[2, c] = w[c, 2]


@inlined
def cone_stiffness(d: Float, mu: Float, impratio: Float, y: Vector, w: Matrix) -> None:
    """W of a round cone."""
    m = mu / math.sqrt(impratio)
    slip = math.sqrt(y[0] * y[0] + y[1] * y[1])
    normal, tangential = m * y[2], mu * slip
    if normal >= m * tangential:
        return
    if m * normal + tangential <= 0.0:
        w[0, 0], w[1, 1], w[2, 2] = d * impratio, d * impratio, d
        return
    along = d / (1.0 + m * m)
    across = along / m * (m * tangential - normal) * mu / slip
    w[2, 2] = along
    for a in range(2):
        w[a, 2] = -along * mu * y[a] / slip
        w[2, a] = w[a, 2]
        w[a, a] = across
    for a in range(2):
        for b in range(2):
            w[a, b] += (along * mu * mu - across) * y[a] * y[b] / (slip * slip)


@inlined
def set_stiffness(contacts: Contacts, soft: SoftContacts) -> Bool:
    """W of every near point at ``found``. Returns whether any changed."""
    w, changed = soft.fresh, False
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for a in range(3):
            for b in range(3):
                w[a, b] = 0.0
        if soft.elliptic == 0:
            pyramid_stiffness(soft.inertia[p], friction(contacts, p), soft.found[p], w)
        else:
            cone_stiffness(soft.inertia[p], friction(contacts, p), soft.impratio, soft.found[p], w)
        for a in range(3):
            for b in range(3):
                changed = changed or soft.stiffness[p, a, b] != w[a, b]
                soft.stiffness[p, a, b] = w[a, b]
    return changed


@inlined
def set_accelerations(world: Named, points: Points, contacts: Contacts, soft: SoftContacts) -> None:
    """Into ``found``: y = J a - a_ref of every near point at ``qacc``."""
    qacc, out = world.qacc, soft.found
    for k in range(points.body.size):
        if contacts.near[k] == contacts.near[k + 1]:
            continue
        wx, wy, wz, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(points.chain_length[k]):
            j = np.uint64(points.chain[k, i])
            s, a = world.cdof[j], qacc[j]
            wx += s[0] * a
            wy += s[1] * a
            wz += s[2] * a
            vx += s[3] * a
            vy += s[4] * a
            vz += s[5] * a
        com = world.subtree_com[points.root[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            at = points.position[p]
            x, y, z = cross(wx, wy, wz, at[0] - com[0], at[1] - com[1], at[2] - com[2])
            found = into_frame(contacts.frame[p], vx + x, vy + y, vz + z)
            for c in range(3):
                out[p, c] = found[c] - soft.reference[p, c]


@inlined
def gather_body(points: Points, contacts: Contacts, soft: SoftContacts, k: Int, com: Vector) -> None:
    """Inertia of the near points of a body, about its tree's centre of mass."""
    spatial, rows, weighed = soft.spatial, soft.rows, soft.weighed
    for i in range(6):
        for j in range(6):
            spatial[i, j] = 0.0
    for i in range(contacts.near[k], contacts.near[k + 1]):
        p = contacts.points[i]
        at, w = points.position[p], soft.stiffness[p]
        rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
        for a in range(3):
            e, row = contacts.frame[p, a], rows[a]
            row[0], row[1], row[2] = cross(rx, ry, rz, e[0], e[1], e[2])
            row[3], row[4], row[5] = e[0], e[1], e[2]
        for a in range(3):
            for j in range(6):
                weighed[a, j] = w[a, 0] * rows[0, j] + w[a, 1] * rows[1, j] + w[a, 2] * rows[2, j]
        for m in range(6):
            for j in range(6):
                spatial[m, j] += rows[0, m] * weighed[0, j] + rows[1, m] * weighed[1, j] + rows[2, m] * weighed[2, j]


@inlined
def fold_contacts(world: Named, points: Points, contacts: Contacts, soft: SoftContacts) -> None:
    """Add J^T W J of all near points to M."""
    spatial = soft.spatial
    for k in range(points.body.size):
        if contacts.near[k] == contacts.near[k + 1]:
            continue
        gather_body(points, contacts, soft, k, world.subtree_com[points.root[k]])
        length = points.chain_length[k]
        for i in range(length):
            j = np.uint64(points.chain[k, i])
            s = world.cdof[j]
            u0, u1, u2, u3, u4, u5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for c in range(6):
                u0 += spatial[c, 0] * s[c]
                u1 += spatial[c, 1] * s[c]
                u2 += spatial[c, 2] * s[c]
                u3 += spatial[c, 3] * s[c]
                u4 += spatial[c, 4] * s[c]
                u5 += spatial[c, 5] * s[c]
            # A row of M holds the dof's ancestors from the root on, and last the dof itself.
            last = world.M_rowadr[j] + length - 1
            for above in range(i, length):
                t = world.cdof[np.uint64(points.chain[k, above])]
                value = u0 * t[0] + u1 * t[1] + u2 * t[2] + u3 * t[3] + u4 * t[4] + u5 * t[5]
                world.M[np.uint64(last - above)] += value


@inlined
def set_contact_forces(points: Points, contacts: Contacts, soft: SoftContacts) -> None:
    """f(y) at ``found``: forces of all near points, which lie within their cones."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        y, force = soft.found[p], points.force[p]
        force[0], force[1], force[2] = contact_force(contacts, soft, p, y[0], y[1], y[2])


@inlined
def contact_slope(contacts: Contacts, soft: SoftContacts, t: Float) -> Float:
    """Work of all contact forces along the line from ``before`` to ``found``, at its parameter ``t``."""
    work = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        y, to = soft.before[p], soft.found[p]
        dx, dy, dz = to[0] - y[0], to[1] - y[1], to[2] - y[2]
        fx, fy, fz = contact_force(contacts, soft, p, y[0] + t * dx, y[1] + t * dy, y[2] + t * dz)
        work += fx * dx + fy * dy + fz * dz
    return work


def folds(model: mujoco.MjModel) -> bool:
    """Whether contacts of a model can be solved as inertia, with the result of MuJoCo's own solver.

    They cannot if the model asks for another solver than Newton's, if M of a lone body is diagonal, or if actuators of
    adhesion need MuJoCo's own contacts.
    """
    option, depth = model.opt, np.zeros(model.nv, dtype=np.int64)
    for j in range(model.nv):
        above = model.dof_parentid[j]
        depth[j] = 1 if above < 0 else depth[above] + 1
    newton = option.solver == mujoco.mjtSolver.mjSOL_NEWTON and option.noslip_iterations == 0
    override = option.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE
    adhesive = (model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any()
    plain = newton and not override and not adhesive
    return bool(plain and constant_weights(model) and (model.M_rownnz == depth).all())


def make_soft_contacts(
    model: mujoco.MjModel, solref: tuple[float, ...], solimp: tuple[float, ...], count: int
) -> SoftContacts:
    """Contacts of ``count`` points with MuJoCo's ``solref`` and ``solimp``; cone and impratio are the model's."""
    stiffness, damping = reference_gains(model, np.array([solref]), np.array([solimp]))[0]
    return zeros(
        SoftContacts,
        {"P": count, "nC": model.nC},
        folded=int(folds(model)),
        elliptic=int(model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC),
        impratio=float(max(TINY, model.opt.impratio)),
        gains=np.array([stiffness, damping]),
        solimp=np.array(solimp, dtype=float),
        weight=model.body_invweight0[model.geom_bodyid, 0].copy(),
    )
