"""Contacts between two bodies: of one robot, of a robot and a box, of two robots.

Each is a contact point like those on the ground, and the law gives its force on the one body; the other body, its
*partner*, receives the opposite. Two bodies have one slot, behind those of the bodies on the ground, whose motion is
that of the body relative to its partner: velocities, accelerations and Jacobians are differences. So laws and solvers
need not distinguish pairs. :mod:`footfall.engine.other_bodies.near_pairs` detects them.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.other_bodies.points import ON_GROUND, Others, Points
from footfall.kinds import Bool, Float, Int, Matrix, Named, Tensor, Vector
from footfall.solve.contacts import Contacts


@inlined
def is_pair(others: Others, q: Int) -> Bool:
    """Whether the occupant ``q`` of a place is a contact between bodies."""
    return q >= others.local.shape[0]


@inlined
def ground_slots(points: Points) -> Int:
    """The number of slots before those of pairs."""
    return min(points.body.size, points.others.counters[ON_GROUND])


@inlined
def bodies_of(points: Points, k: Int) -> tuple[Int, Int]:
    """The body of a pair's slot, and its partner."""
    return points.body[k], points.partner[k]


@inlined
def dof_count(points: Points, k: Int) -> Int:
    """The number of dofs that move the body of a slot, or the bodies of a pair."""
    return points.chain_length[k]


@inlined
def dof_of(points: Points, k: Int, i: Int) -> Int:
    """The i-th of these dofs, children before their parents."""
    return points.chain[k, i]


@inlined
def sign_of(points: Points, k: Int, i: Int) -> Float:
    """Whether the i-th dof of a pair moves the body alone (1), the partner alone (-1) or both (0)."""
    return points.sign[k, i]


@inlined
def velocity_at(cvel: Matrix, subtree_com: Matrix, pairs: Named, body: Int, at: Vector) -> tuple[Float, Float, Float]:
    """Velocity (m/s, world frame) of the material point of a body that is ``at`` a place (3)."""
    v, com = cvel[body], subtree_com[pairs.root[body]]
    x, y, z = at[0] - com[0], at[1] - com[1], at[2] - com[2]
    return v[3] + v[1] * z - v[2] * y, v[4] + v[2] * x - v[0] * z, v[5] + v[0] * y - v[1] * x


@inlined
def relative_velocity(
    cvel: Matrix, subtree_com: Matrix, pairs: Named, body: Int, partner: Int, at: Vector
) -> tuple[Float, Float, Float]:
    """Velocity (m/s, world frame) of a body relative to its partner, at a place (3)."""
    x, y, z = velocity_at(cvel, subtree_com, pairs, body, at)
    u, v, w = velocity_at(cvel, subtree_com, pairs, partner, at)
    return x - u, y - v, z - w


@inlined
def pair_velocities(cvel: Matrix, subtree_com: Matrix, points: Points, contacts: Contacts) -> None:
    """Velocities of the near points of pairs, in their contact frames."""
    for k in range(ground_slots(points), contacts.near.size - 1):
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p, (body, partner) = contacts.points[i], bodies_of(points, k)
            frame, at = contacts.frame[p], points.position[p]
            x, y, z = relative_velocity(cvel, subtree_com, points.others.pairs, body, partner, at)
            for j in range(3):
                contacts.velocity[p, j] = frame[j, 0] * x + frame[j, 1] * y + frame[j, 2] * z


@inlined
def add_body_force(
    cdof: Matrix,
    subtree_com: Matrix,
    points: Points,
    body: Int,
    at: Vector,
    force: tuple[Float, Float, Float],
    generalised: Vector,
) -> None:
    """Add the generalised force of a ``force`` (N, world frame) on a body ``at`` a place (3)."""
    pairs, (x, y, z) = points.others.pairs, force
    com = subtree_com[pairs.root[body]]
    rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
    tx, ty, tz = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x
    for i in range(pairs.chain_length[body]):
        j = pairs.chain[body, i]
        s = cdof[j]
        generalised[j] += s[0] * tx + s[1] * ty + s[2] * tz + s[3] * x + s[4] * y + s[5] * z


@inlined
def add_pair_forces(cdof: Matrix, subtree_com: Matrix, points: Points, contacts: Contacts, generalised: Vector) -> None:
    """Add the generalised forces of all contacts between bodies: action and reaction."""
    for k in range(ground_slots(points), contacts.near.size - 1):
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p, (body, partner) = contacts.points[i], bodies_of(points, k)
            f, frame, at = points.force[p], contacts.frame[p], points.position[p]
            x = frame[0, 0] * f[0] + frame[1, 0] * f[1] + frame[2, 0] * f[2]
            y = frame[0, 1] * f[0] + frame[1, 1] * f[1] + frame[2, 1] * f[2]
            z = frame[0, 2] * f[0] + frame[1, 2] * f[1] + frame[2, 2] * f[2]
            add_body_force(cdof, subtree_com, points, body, at, (x, y, z), generalised)
            add_body_force(cdof, subtree_com, points, partner, at, (-x, -y, -z), generalised)


@inlined
def half_solved_pair(world: Named, points: Points, k: Int, centre: Vector, h: Matrix) -> None:
    """Rows ``h`` (nv, 8) of H for a pair, J about ``centre``: that of the body less that of its partner.

    As for one body (:func:`footfall.engine.mobility.half_solved_jacobian`), but two chains meet at a dof or not at all:
    the row of a dof in the factor U tells whether another is its ancestor.
    """
    roots, (body, partner) = points.others.pairs.root, bodies_of(points, k)
    for i in range(dof_count(points, k)):
        j, sign = dof_of(points, k, i), sign_of(points, k, i)
        com, s = world.subtree_com[roots[partner if sign < 0.0 else body]], world.cdof[j]
        rx, ry, rz = centre[0] - com[0], centre[1] - com[1], centre[2] - com[2]
        h0, h1, h2 = s[3] + s[1] * rz - s[2] * ry, s[4] + s[2] * rx - s[0] * rz, s[5] + s[0] * ry - s[1] * rx
        h0, h1, h2, h3, h4, h5 = sign * h0, sign * h1, sign * h2, sign * s[0], sign * s[1], sign * s[2]
        depth = world.M_rownnz[j] - 1
        for below in range(i):
            d = dof_of(points, k, below)
            e = world.M_rowadr[d] + depth
            if depth < world.M_rownnz[d] - 1 and world.M_colind[e] == j:
                factor = world.qLD[e]
                h0, h1, h2 = h0 - factor * h[d, 0], h1 - factor * h[d, 1], h2 - factor * h[d, 2]
                h3, h4, h5 = h3 - factor * h[d, 3], h4 - factor * h[d, 4], h5 - factor * h[d, 5]
        h[j, 0], h[j, 1], h[j, 2], h[j, 3], h[j, 4], h[j, 5] = h0, h1, h2, h3, h4, h5


@inlined
def bias_at(world: Named, points: Points, body: Int, at: Vector) -> tuple[Float, Float, Float]:
    """Acceleration (m/s2, world frame) of a body's material point ``at`` a place (3) as it moves, without forces."""
    pairs, v = points.others.pairs, world.cvel[body]
    bx, by, bz, bp, bq, br = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(pairs.chain_length[body]):
        j = pairs.chain[body, i]
        speed, s = world.qvel[j], world.cdof_dot[j]
        bp, bq, br = bp + speed * s[0], bq + speed * s[1], br + speed * s[2]
        bx, by, bz = bx + speed * s[3], by + speed * s[4], bz + speed * s[5]
    com = world.subtree_com[pairs.root[body]]
    rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
    vx, vy, vz = velocity_at(world.cvel, world.subtree_com, pairs, body, at)
    x = bx + bq * rz - br * ry + v[1] * vz - v[2] * vy
    y = by + br * rx - bp * rz + v[2] * vx - v[0] * vz
    z = bz + bp * ry - bq * rx + v[0] * vy - v[1] * vx
    return x, y, z


@inlined
def pair_accelerations(world: Named, points: Points, contacts: Contacts, half: Tensor, force: Vector) -> None:
    """Accelerations of the near points of pairs without contact forces, from a half-solved ``force`` (nv,)."""
    for k in range(ground_slots(points), contacts.near.size - 1):
        if contacts.near[k] == contacts.near[k + 1]:
            continue
        body, partner = bodies_of(points, k)
        ax, ay, az, ap, aq, ar = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(dof_count(points, k)):
            j = dof_of(points, k, i)
            weight, h = world.qLDiagInv[j] * force[j], half[k, j]
            ax, ay, az = ax + weight * h[0], ay + weight * h[1], az + weight * h[2]
            ap, aq, ar = ap + weight * h[3], aq + weight * h[4], ar + weight * h[5]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            frame, r, at = contacts.frame[p], contacts.arm[p], points.position[p]
            gx, gy, gz = ax + aq * r[2] - ar * r[1], ay + ar * r[0] - ap * r[2], az + ap * r[1] - aq * r[0]
            ex, ey, ez = bias_at(world, points, body, at)
            fx, fy, fz = bias_at(world, points, partner, at)
            ex, ey, ez = ex - fx, ey - fy, ez - fz
            for c in range(3):
                bias = frame[c, 0] * ex + frame[c, 1] * ey + frame[c, 2] * ez
                contacts.bias[p, c] = bias
                contacts.acceleration[p, c] = bias + frame[c, 0] * gx + frame[c, 1] * gy + frame[c, 2] * gz
