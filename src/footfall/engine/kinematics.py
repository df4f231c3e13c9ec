"""Kinematics of contact points: positions, velocities, and the generalised forces of contact forces.

MuJoCo's spatial quantities about the tree's centre of mass (``cdof``, ``cvel``, ``subtree_com``) replace Jacobians of
points: a point's velocity follows from its body's, and the forces on a body's points act through their wrench. In
MuJoCo's spatial vectors the rotation comes first.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.other_bodies.pairs import add_pair_forces, ground_slots, pair_velocities
from footfall.engine.other_bodies.points import Points
from footfall.ground.surface import tangent_frame
from footfall.kinds import Float, Function, Int, Matrix, Named, Tensor, Vector
from footfall.solve.contacts import OPEN, Contacts
from footfall.solve.dense import copy


@inlined
def cross(a: Float, b: Float, c: Float, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """The cross product (a, b, c) x (x, y, z)."""
    return b * z - c * y, c * x - a * z, a * y - b * x


@inlined
def into_frame(frame: Matrix, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """A vector of the world frame in a contact frame."""
    return (
        frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z,
        frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z,
        frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z,
    )


@inlined
def from_frame(frame: Matrix, f: Vector) -> tuple[Float, Float, Float]:
    """A vector of a contact frame in the world frame."""
    return (
        frame[0, 0] * f[0] + frame[1, 0] * f[1] + frame[2, 0] * f[2],
        frame[0, 1] * f[0] + frame[1, 1] * f[1] + frame[2, 1] * f[2],
        frame[0, 2] * f[0] + frame[1, 2] * f[1] + frame[2, 2] * f[2],
    )


@inlined
def velocity_there(motion: Vector, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """Velocity that a spatial motion (rotation first) gives a point at (x, y, z) from its point of reference."""
    return (
        motion[3] + motion[1] * z - motion[2] * y,
        motion[4] + motion[2] * x - motion[0] * z,
        motion[5] + motion[0] * y - motion[1] * x,
    )


@inlined
def locate(
    world: Named, points: Points, contacts: Contacts, surface: Function, shape: Vector, table: Matrix, margin: Float
) -> Int:
    """Write positions, gaps, normals and, nearer than ``margin``, contact frames. Returns a point of gap NaN, or -1."""
    count = 0
    for k in range(points.body.size):
        contacts.near[k] = count
        b = points.body[k]
        x, r = world.xpos[b], world.xmat[b]
        for p in range(points.begin[k], points.begin[k + 1]):
            u = points.local[p]
            at = points.position[p]
            px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
            py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
            pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
            gap, nx, ny, nz = surface(px, py, pz, shape, table)
            if gap != gap:
                at[0], at[1], at[2] = px, py, pz
                return p
            radius = points.radius[p]
            gap -= radius
            at[0] = px - radius * nx
            at[1] = py - radius * ny
            at[2] = pz - radius * nz
            contacts.gap[p] = gap
            if gap > margin:
                normal = contacts.frame[p, 2]
                normal[0], normal[1], normal[2] = nx, ny, nz
                continue
            tangent_frame(nx, ny, nz, contacts.frame[p])
            contacts.points[count] = p
            count += 1
    contacts.near[points.body.size] = count
    contacts.number[0] = count
    return -1


@inlined
def find_friction(points: Points, contacts: Contacts, friction: Function, corner: Vector, table: Tensor) -> Int:
    """Write the friction coefficients of the near points, where they vary. Returns a point without one (NaN), or -1."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        static, dynamic = friction(points.position[p, 0], points.position[p, 1], corner, table)
        if static != static or dynamic != dynamic:
            return p
        contacts.dynamic_friction[p] = max(0.0, dynamic)
        contacts.static_friction[p] = max(contacts.dynamic_friction[p], static)
    return -1


@inlined
def velocities(cvel: Matrix, subtree_com: Matrix, points: Points, contacts: Contacts) -> None:
    """Velocities of the near points, in their contact frames."""
    pair_velocities(cvel, subtree_com, points, contacts)
    for k in range(ground_slots(points)):
        v, com = cvel[points.body[k]], subtree_com[points.root[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            at, out = points.position[p], contacts.velocity[p]
            x, y, z = velocity_there(v, at[0] - com[0], at[1] - com[1], at[2] - com[2])
            out[0], out[1], out[2] = into_frame(contacts.frame[p], x, y, z)


@inlined
def point_forces(points: Points, contacts: Contacts, law: Function, parameters: Vector, slip: Matrix) -> None:
    """Write the force of a point law on every near point; all others are open already. ``slip`` (2, 2) is scratch.

    The anchor of a round point is stored for its centre, so that a normal that turns as it rolls causes no slip.
    """
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        at, anchor, frame, velocity = points.position[p], points.anchor[p], contacts.frame[p], contacts.velocity[p]
        memory, r = points.memory[p], points.radius[p]
        x, y, z = at[0] + r * frame[2, 0], at[1] + r * frame[2, 1], at[2] + r * frame[2, 2]
        if points.mode[p] == OPEN:
            anchor[0], anchor[1], anchor[2] = x, y, z
            memory[:] = 0.0
        dx, dy, dz = x - anchor[0], y - anchor[1], z - anchor[2]
        for j in range(2):
            slip[0, j] = frame[j, 0] * dx + frame[j, 1] * dy + frame[j, 2] * dz
            slip[1, j] = velocity[j]
        static, dynamic = contacts.static_friction[p], contacts.dynamic_friction[p]
        normal, fx, fy, mode = law(
            max(0.0, -contacts.gap[p]), -velocity[2], slip[0], slip[1], memory, static, dynamic, parameters
        )
        anchor[0] = x - frame[0, 0] * slip[0, 0] - frame[1, 0] * slip[0, 1]
        anchor[1] = y - frame[0, 1] * slip[0, 0] - frame[1, 1] * slip[0, 1]
        anchor[2] = z - frame[0, 2] * slip[0, 0] - frame[1, 2] * slip[0, 1]
        force = points.force[p]
        force[0], force[1], force[2] = fx, fy, normal
        points.mode[p] = mode


@inlined
def release(points: Points, p: Int) -> None:
    """Open a point: no force, and an empty memory."""
    points.mode[p] = OPEN
    force = points.force[p]
    force[0], force[1], force[2] = 0.0, 0.0, 0.0
    points.memory[p, :] = 0.0


@inlined
def release_far(points: Points, contacts: Contacts, count: Int) -> None:
    """Open all of the first ``count`` points that are not near; the near points must be listed in increasing order."""
    before = 0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if p < count:
            while before < p:
                release(points, before)
                before += 1
            before = p + 1
    while before < count:
        release(points, before)
        before += 1


@inlined
def add_forces(cdof: Matrix, subtree_com: Matrix, points: Points, contacts: Contacts, generalised: Vector) -> None:
    """Add the generalised force J^T f of all contact forces (Rengifo 2009, (13)-(14))."""
    add_pair_forces(cdof, subtree_com, points, contacts, generalised)
    for k in range(ground_slots(points)):
        if contacts.near[k] == contacts.near[k + 1]:
            continue
        com = subtree_com[points.root[k]]
        fx, fy, fz, tx, ty, tz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            at, (x, y, z) = points.position[p], from_frame(contacts.frame[p], points.force[p])
            rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
            fx += x
            fy += y
            fz += z
            tx += ry * z - rz * y
            ty += rz * x - rx * z
            tz += rx * y - ry * x
        for i in range(points.chain_length[k]):
            j = points.chain[k, i]
            s = cdof[j]
            # Rengifo 2009, eq. 13-14
            generalised[j] += s[0] * tx + s[1] * ty + s[2] * tz + s[3] * fx + s[4] * fy + s[5] * fz


@inlined
def add_turning(contacts: Contacts, p: Int, spin: Vector, x: Float, y: Float, z: Float) -> None:
    """Add ``spin`` x (x, y, z) to the acceleration of a near point, and to its part that is Jdot qdot."""
    turning = into_frame(contacts.frame[p], *cross(spin[0], spin[1], spin[2], x, y, z))
    for c in range(3):
        contacts.bias[p, c] += turning[c]
        contacts.acceleration[p, c] += turning[c]


@inlined
def keep_near(points: Points, contacts: Contacts, scratch: Named) -> None:
    """Save the memory of near points, all that their law changes, before it is called."""
    m = points.memory.shape[1]
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        copy(scratch.memory[p, :m], points.memory[p])
        copy(scratch.memory[p, m:], points.anchor[p])
        scratch.mode[p] = points.mode[p]


@inlined
def restore_near(points: Points, contacts: Contacts, scratch: Named) -> None:
    m = points.memory.shape[1]
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        copy(points.memory[p], scratch.memory[p, :m])
        copy(points.anchor[p], scratch.memory[p, m:])
        points.mode[p] = scratch.mode[p]


# ---- round points and curved ground --------------------------------------------------------------------------
# Round points roll over the ground, and the normal of curved ground turns as points move over it.
#
# Let n be the normal, n' its rate along the path of the point's centre, R the point's radius, w the body's angular
# velocity and v the velocity of the material point. The rate of v relative to the ground is that on a plane plus
# n (n' . v) - R w x n'; for an ellipsoid R is the matrix ``roll``. The normal part is v' H v, with H the curvature of
# the ground at the centre.
#
# In semi-implicit Euler a velocity is the mean over a step and so belongs to its middle, half a step before the
# normals. With these terms a law that prescribes accelerations keeps points on curved ground.

#: Distance per step below which curvature is ignored, m: at 1 cm/s and a curvature of 1 / m it adds 1e-4 m/s2.
STILL = 1e-5


@inlined
def rolled_by(points: Points, p: Int, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """Velocity (m/s) of the contact over a round point or an ellipsoid, from the rate (1/s) of the normal."""
    if points.smooth[p] == 1:
        t = points.roll[p]
        return (
            t[0, 0] * x + t[0, 1] * y + t[0, 2] * z,
            t[1, 0] * x + t[1, 1] * y + t[1, 2] * z,
            t[2, 0] * x + t[2, 1] * y + t[2, 2] * z,
        )
    radius = points.radius[p]
    return radius * x, radius * y, radius * z


@inlined
def roll_anchors(cvel: Matrix, points: Points, contacts: Contacts, dt: Float) -> None:
    """Move the anchors of round points and ellipsoids with the contact as it rolls over the ground."""
    for k in range(ground_slots(points)):
        w = cvel[points.body[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            n = contacts.frame[p, 2]
            x, y, z = cross(w[0], w[1], w[2], n[0], n[1], n[2])
            x, y, z = rolled_by(points, p, dt * x, dt * y, dt * z)
            points.anchor[p, 0] += x
            points.anchor[p, 1] += y
            points.anchor[p, 2] += z


@inlined
def roll_points(cvel: Matrix, points: Points, contacts: Contacts) -> None:
    """Add w x R (w x n) to the accelerations of round points and ellipsoids.

    This turns the acceleration of the material point, which rises from the ground as a ball rolls, into the rate of the
    contact's velocity.
    """
    for k in range(ground_slots(points)):
        w = cvel[points.body[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            n = contacts.frame[p, 2]
            x, y, z = rolled_by(points, p, *cross(w[0], w[1], w[2], n[0], n[1], n[2]))
            if x != 0.0 or y != 0.0 or z != 0.0:
                add_turning(contacts, p, w, x, y, z)


@inlined
def centre_in_motion(
    spin: Vector, com: Vector, radius: Float, at: Vector, n: Vector
) -> tuple[tuple[Float, Float, Float], tuple[Float, Float, Float]]:
    """The centre of a round point that touches at ``at`` (3), m, and its velocity, m/s."""
    x, y, z = at[0] + radius * n[0], at[1] + radius * n[1], at[2] + radius * n[2]
    return (x, y, z), velocity_there(spin, x - com[0], y - com[1], z - com[2])


@inlined
def bending(
    spin: Vector,
    n: Vector,
    radius: Float,
    velocity: tuple[Float, Float, Float],
    rate: tuple[Float, Float, Float],
    rolled: tuple[Float, Float, Float],
) -> tuple[Float, Float, Float]:
    """The terms n (n' . v) - R w x n' (m/s2), from the centre's ``velocity``, the ``rate`` n' and ``rolled``, R n'."""
    bx, by, bz = rate
    ex, ey, ez = rolled
    wx, wy, wz = cross(spin[0], spin[1], spin[2], n[0], n[1], n[2])
    along = bx * (velocity[0] - radius * wx) + by * (velocity[1] - radius * wy) + bz * (velocity[2] - radius * wz)
    x, y, z = cross(spin[0], spin[1], spin[2], ex, ey, ez)
    return along * n[0] - x, along * n[1] - y, along * n[2] - z


@inlined
def rate_ahead(
    centre: tuple[Float, Float, Float],
    velocity: tuple[Float, Float, Float],
    n: Vector,
    surface: Function,
    shape: Vector,
    table: Matrix,
    dt: Float,
) -> tuple[Float, Float, Float]:
    """The rate (1/s) at which the normal will turn in a step of ``dt`` (s), also over a crease.

    Zero where the ground bends more closely than a step can follow, with a radius shorter than the way of the step, as
    before a riser: the next step meets that face with its own normal, while now the floor would throw the point up.
    """
    vx, vy, vz = velocity
    if (vx * vx + vy * vy + vz * vz) * dt * dt < STILL * STILL:
        return 0.0, 0.0, 0.0
    gap, ax, ay, az = surface(centre[0] + dt * vx, centre[1] + dt * vy, centre[2] + dt * vz, shape, table)
    x, y, z = ax - n[0], ay - n[1], az - n[2]
    if gap != gap or x * x + y * y + z * z > 1.0:  # the ground ends there, or another face begins
        return 0.0, 0.0, 0.0
    return x / dt, y / dt, z / dt


@inlined
def bend_points(
    world: Named,
    points: Points,
    contacts: Contacts,
    surface: Function,
    shape: Vector,
    table: Matrix,
    dt: Float,
    lag: Float,
) -> None:
    """Make the accelerations of near points the rates of their velocities relative to curved ground.

    ``lag`` (s) times the difference is subtracted from a velocity, which belongs to an earlier instant than its normal.
    """
    for k in range(ground_slots(points)):
        spin, com = world.cvel[points.body[k]], world.subtree_com[points.root[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            radius, n = points.radius[p], contacts.frame[p, 2]
            centre, velocity = centre_in_motion(spin, com, radius, points.position[p], n)
            rate = rate_ahead(centre, velocity, n, surface, shape, table, dt)
            x, y, z = bending(spin, n, radius, velocity, rate, rolled_by(points, p, *rate))
            more = into_frame(contacts.frame[p], x, y, z)
            for c in range(3):
                contacts.acceleration[p, c] += more[c]
                contacts.velocity[p, c] -= lag * more[c]
