"""The Delassus operator: how forces on the contact points accelerate them.

It is the matrix ``D_c^T A^-1 D_c`` of Rengifo 2009, eq. (15)-(16). All points of a foot share its six motions, so the
operator is stored as the mobility ``L = J M^-1 J^T`` of the feet, with J the 6-row Jacobian (linear, angular) of each
foot about the centroid of its near points. MuJoCo factors ``M = U^T D U`` along the kinematic tree, and a foot's
Jacobian is zero except for the dofs between it and the root, so the half-solved rows ``H = U^-T J^T`` are computed
along that chain. The mobility is ``H^T D^-1 H`` (:func:`footfall.solve.contacts.write_mobility`), a generalised force t
accelerates the feet by ``H^T D^-1 (U^-T t)``, and with wrenches w on the feet the robot accelerates by
``U^-1 D^-1 (U^-T t + H w)``.
"""

from __future__ import annotations

import numpy as np

from footfall.compiled import inlined
from footfall.engine.kinematics import cross, from_frame, into_frame, velocity_there
from footfall.engine.other_bodies.pairs import (
    dof_count,
    dof_of,
    ground_slots,
    half_solved_pair,
    pair_accelerations,
)
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Int, Matrix, Named, Tensor, Vector
from footfall.solve.contacts import KNOWN, NOTHING, Contacts


@inlined
def half_solve(world: Named, x: Vector) -> None:
    """Replace x by U^-T x: every dof passes its part on to its ancestors."""
    for j in range(x.size - 1, -1, -1):
        value, address = x[j], world.M_rowadr[j]
        for e in range(address, address + world.M_rownnz[j] - 1):
            x[np.uint64(world.M_colind[e])] -= world.qLD[e] * value


@inlined
def finish_solve(world: Named, x: Vector) -> None:
    """Replace x by U^-1 D^-1 x."""
    for j in range(x.size):
        value, address = x[j] * world.qLDiagInv[j], world.M_rowadr[j]
        for e in range(address, address + world.M_rownnz[j] - 1):
            value -= world.qLD[e] * x[np.uint64(world.M_colind[e])]
        x[j] = value


@inlined
def gather(points: Points, contacts: Contacts, centroid: Matrix) -> None:
    """Centroids of each foot's near points, and the points' arms from there."""
    near, at = contacts.near, points.position
    for k in range(near.size - 1):
        if near[k] == near[k + 1]:
            continue
        x, y, z = 0.0, 0.0, 0.0
        for i in range(near[k], near[k + 1]):
            p = contacts.points[i]
            x += at[p, 0]
            y += at[p, 1]
            z += at[p, 2]
        share = 1.0 / (near[k + 1] - near[k])
        x, y, z = x * share, y * share, z * share
        centroid[k, 0], centroid[k, 1], centroid[k, 2] = x, y, z
        for i in range(near[k], near[k + 1]):
            p = contacts.points[i]
            contacts.arm[p, 0] = at[p, 0] - x
            contacts.arm[p, 1] = at[p, 1] - y
            contacts.arm[p, 2] = at[p, 2] - z


@inlined
def free_acceleration(
    world: Named, points: Points, contacts: Contacts, centroid: Matrix, half: Tensor, force: Vector
) -> None:
    """Accelerations of the near points without contact forces, from a half-solved generalised ``force`` (nv,)."""
    near, qvel, cdof_dot = contacts.near, world.qvel, world.cdof_dot
    pair_accelerations(world, points, contacts, half, force)
    for k in range(ground_slots(points)):
        if near[k] == near[k + 1]:
            continue
        # The foot's acceleration by forces (about its centroid) ...
        ax, ay, az, ap, aq, ar = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        # ... and its spatial acceleration by velocities (about the tree's centre of mass).
        bx, by, bz, bp, bq, br = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        h = half[k]
        for i in range(points.chain_length[k]):
            j = np.uint64(points.chain[k, i])
            weight, speed = world.qLDiagInv[j] * force[j], qvel[j]
            ax += weight * h[j, 0]
            ay += weight * h[j, 1]
            az += weight * h[j, 2]
            ap += weight * h[j, 3]
            aq += weight * h[j, 4]
            ar += weight * h[j, 5]
            bp += speed * cdof_dot[j, 0]
            bq += speed * cdof_dot[j, 1]
            br += speed * cdof_dot[j, 2]
            bx += speed * cdof_dot[j, 3]
            by += speed * cdof_dot[j, 4]
            bz += speed * cdof_dot[j, 5]
        v, com = world.cvel[points.body[k]], world.subtree_com[points.root[k]]
        for i in range(near[k], near[k + 1]):
            p = contacts.points[i]
            frame, arm = contacts.frame[p], contacts.arm[p]
            rx, ry, rz = arm[0], arm[1], arm[2]
            gx, gy, gz = ax + aq * rz - ar * ry, ay + ar * rx - ap * rz, az + ap * ry - aq * rx
            rx += centroid[k, 0] - com[0]
            ry += centroid[k, 1] - com[1]
            rz += centroid[k, 2] - com[2]
            # The classical acceleration of a material point is the spatial one plus omega x v.
            vx, vy, vz = velocity_there(v, rx, ry, rz)
            ex = bx + bq * rz - br * ry + v[1] * vz - v[2] * vy
            ey = by + br * rx - bp * rz + v[2] * vx - v[0] * vz
            ez = bz + bp * ry - bq * rx + v[0] * vy - v[1] * vx
            bias, given = into_frame(frame, ex, ey, ez), into_frame(frame, gx, gy, gz)
            for c in range(3):
                contacts.bias[p, c] = bias[c]
                contacts.acceleration[p, c] = bias[c] + given[c]


@inlined
def add_half_solved_forces(points: Points, contacts: Contacts, half: Tensor, force: Vector) -> None:
    """Add H w of all contact forces to a half-solved generalised force."""
    near = contacts.near
    for k in range(near.size - 1):
        if near[k] == near[k + 1]:
            continue
        fx, fy, fz, tx, ty, tz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(near[k], near[k + 1]):
            p = contacts.points[i]
            r, (x, y, z) = contacts.arm[p], from_frame(contacts.frame[p], points.force[p])
            mx, my, mz = cross(r[0], r[1], r[2], x, y, z)
            fx, fy, fz, tx, ty, tz = fx + x, fy + y, fz + z, tx + mx, ty + my, tz + mz
        h = half[k]
        for i in range(dof_count(points, k)):
            j = np.uint64(dof_of(points, k, i))
            force[j] += h[j, 0] * fx + h[j, 1] * fy + h[j, 2] * fz + h[j, 3] * tx + h[j, 4] * ty + h[j, 5] * tz


@inlined
def half_solved_jacobian(world: Named, points: Points, k: Int, centre: Vector, h: Matrix) -> None:
    """Rows ``h`` (nv, 8) of H for one foot, J about ``centre``; only the dofs of its chain are touched."""
    com = world.subtree_com[points.root[k]]
    rx, ry, rz = centre[0] - com[0], centre[1] - com[1], centre[2] - com[2]
    length = points.chain_length[k]
    for i in range(length):
        j = np.uint64(points.chain[k, i])
        s = world.cdof[j]
        h0, h1, h2 = velocity_there(s, rx, ry, rz)
        h3, h4, h5 = s[0], s[1], s[2]
        depth = length - 1 - i
        for below in range(i):  # the parts of the dofs between this one and the foot
            d = np.uint64(points.chain[k, below])
            if world.M_rownnz[d] > 1:  # else a lone body, whose inertia is diagonal
                # A row of U lists the dof's ancestors from the root, so the index of this dof is its depth.
                factor = world.qLD[np.uint64(world.M_rowadr[d] + depth)]
                h0 -= factor * h[d, 0]
                h1 -= factor * h[d, 1]
                h2 -= factor * h[d, 2]
                h3 -= factor * h[d, 3]
                h4 -= factor * h[d, 4]
                h5 -= factor * h[d, 5]
        h[j, 0], h[j, 1], h[j, 2], h[j, 3], h[j, 4], h[j, 5] = h0, h1, h2, h3, h4, h5


@inlined
def fill_slot(world: Named, points: Points, k: Int, centre: Vector, h: Matrix) -> None:
    """Rows ``h`` (nv, 8) of H for the body of a slot, or for a pair of bodies."""
    for j in range(h.shape[0] if k >= points.others.feet else 0):  # another body may have had the slot
        for c in range(6):
            h[j, c] = 0.0
    if k < ground_slots(points):
        half_solved_jacobian(world, points, k, centre, h)
    else:
        half_solved_pair(world, points, k, centre, h)


@inlined
def write_columns(world: Named, points: Points, contacts: Contacts, centroid: Matrix) -> None:
    """Write the columns H of bodies with near points to ``contacts.response``, and their weights D^-1."""
    near, columns = contacts.near, world.qvel.size
    for k in range(near.size - 1):
        if near[k] < near[k + 1]:
            fill_slot(world, points, k, centroid[k], contacts.response[k])
    contacts.number[2], contacts.number[KNOWN] = columns, NOTHING
    for j in range(columns):
        contacts.weight[j] = world.qLDiagInv[j]
