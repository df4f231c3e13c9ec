"""Accelerations of contact points on curved ground, whose normal turns as they move over it.

Let n be the normal, n' its rate along the path of the point's centre, R the point's radius, w the body's angular
velocity and v the velocity of the material point. The rate of v relative to the ground is that on a plane plus n (n' .
v) - R w x n'; for an ellipsoid R is the matrix ``roll``. The normal part is v' H v, with H the curvature of the ground
at the centre.

In semi-implicit Euler a velocity is the mean over a step and so belongs to its middle, half a step before the normals.
With these terms a law that prescribes accelerations keeps points on curved ground.
"""

from __future__ import annotations

from footfall.compiled import inlined

#: Distance per step below which curvature is ignored, m: at 1 cm/s and a curvature of 1 / m it adds 1e-4 m/s2.
STILL = 1e-5


@inlined
def centre_in_motion(spin, com, radius, at, n):
    """The centre of a round point that touches at ``at`` (3), m, and its velocity, m/s."""
    x, y, z = at[0] + radius * n[0], at[1] + radius * n[1], at[2] + radius * n[2]
    rx, ry, rz = x - com[0], y - com[1], z - com[2]
    vx = spin[3] + spin[1] * rz - spin[2] * ry
    vy = spin[4] + spin[2] * rx - spin[0] * rz
    vz = spin[5] + spin[0] * ry - spin[1] * rx
    return (x, y, z), (vx, vy, vz)


@inlined
def bending(spin, n, radius, velocity, rate, rolled):
    """The sum above, world frame, m/s2, from the ``velocity`` of the centre, the ``rate`` n' and ``rolled``, R n'."""
    bx, by, bz = rate
    ex, ey, ez = rolled
    along = (
        bx * (velocity[0] - radius * (spin[1] * n[2] - spin[2] * n[1]))
        + by * (velocity[1] - radius * (spin[2] * n[0] - spin[0] * n[2]))
        + bz * (velocity[2] - radius * (spin[0] * n[1] - spin[1] * n[0]))
    )
    x = along * n[0] - spin[1] * ez + spin[2] * ey
    y = along * n[1] - spin[2] * ex + spin[0] * ez
    z = along * n[2] - spin[0] * ey + spin[1] * ex
    return x, y, z


@inlined
def rate_ahead(centre, velocity, n, surface, shape, table, dt):
    """The rate (1/s) at which the normal will turn in a step of ``dt`` (s).

    A crease that the point crosses in the step turns the normal within that step.
    """
    vx, vy, vz = velocity
    if (vx * vx + vy * vy + vz * vz) * dt * dt < STILL * STILL:
        return 0.0, 0.0, 0.0
    gap, ax, ay, az = surface(centre[0] + dt * vx, centre[1] + dt * vy, centre[2] + dt * vz, shape, table)
    if gap != gap:  # the ground ends there
        return 0.0, 0.0, 0.0
    return (ax - n[0]) / dt, (ay - n[1]) / dt, (az - n[2]) / dt


@inlined
def add_bending(contacts, p, x, y, z, lag):
    """Add that sum to the acceleration of a near point, whose velocity is ``lag`` (s) earlier than its normal."""
    frame = contacts.frame[p]
    for c in range(3):
        more = frame[c, 0] * x + frame[c, 1] * y + frame[c, 2] * z
        contacts.acceleration[p, c] += more
        contacts.velocity[p, c] -= lag * more


@inlined
def rolled_by(points, p, x, y, z):
    """Velocity (m/s) of the contact over the surface of a round point or an ellipsoid, from the rate (1/s) of the
    normal.
    """
    if points.smooth[p] == 1:
        t = points.roll[p]
        return (
            t[0, 0] * x + t[0, 1] * y + t[0, 2] * z,
            t[1, 0] * x + t[1, 1] * y + t[1, 2] * z,
            t[2, 0] * x + t[2, 1] * y + t[2, 2] * z,
        )
    return rolled_by_ball(points, p, x, y, z)


@inlined
def rolled_by_ball(points, p, x, y, z):
    """The same where no point is an ellipsoid."""
    radius = points.radius[p]
    return radius * x, radius * y, radius * z


@inlined
def bend_points(world, points, contacts, surface, shape, table, dt, lag):
    """Make the accelerations of near points the rates of their velocities relative to curved ground."""
    for k in range(points.body.size):
        spin, com = world.cvel[points.body[k]], world.subtree_com[points.root[k]]
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            radius, n = points.radius[p], contacts.frame[p, 2]
            centre, velocity = centre_in_motion(spin, com, radius, points.position[p], n)
            rate = rate_ahead(centre, velocity, n, surface, shape, table, dt)
            x, y, z = bending(spin, n, radius, velocity, rate, rolled_by(points, p, *rate))
            add_bending(contacts, p, x, y, z, lag)
