"""Derivatives of positions, velocities and accelerations of a body's contact points by each dof of its chain.

For contacts, a turn of the ground is an opposite turn of the whole robot: one more dof after those of the chain. The
position of a point on its body is three more, after that.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.derivatives.space import Space, Taken
from footfall.engine.dynamics.inertia import carried
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Float, Int, Matrix, Vector
from footfall.solve.contacts import Contacts

# Rows of ``space.turned``: derivatives by a dof's coordinate of the velocity at the beginning of the step, of that at
# its end, and of the acceleration; derivative by a dof's velocity of the acceleration.
BEGIN, END, PULL, PULL_V = 0, 1, 2, 3


@inlined
def ways_to_move(taken: Taken, points: Points, k: Int) -> Int:
    """The number of dofs that move the points of slot k over the ground, including those of parameters."""
    return points.chain_length[k] + (1 if taken.by.slope >= 0 else 0) + (3 if taken.by.place >= 0 else 0)


@inlined
def turn_with_ground(taken: Taken, space: Space, points: Points, k: Int) -> None:
    """As :func:`turn_body`, for the dof by which the ground turns below the robot."""
    i, com, turn, t = points.chain_length[k], taken.subtree_com[points.root[k]], taken.by.turn, space.turned
    s, b = space.axes[i], points.body[k]
    for c in range(3):
        s[c] = -turn[c]
    for c in range(3):
        e, f = (c + 1) % 3, (c + 2) % 3
        s[3 + c] = s[e] * (com[f] - turn[3 + f]) - s[f] * (com[e] - turn[3 + e])
    for c in range(6):
        space.pull[c] = space.acceleration[b, c] - space.acceleration[0, c]
        t[PULL_V, c, i] = 0.0
    for row, motion in ((BEGIN, taken.cvel[b]), (END, space.velocity_end[b]), (PULL, space.pull)):
        found = carried(motion, s[0], s[1], s[2], s[3], s[4], s[5])
        for c in range(6):
            t[row, c, i] = found[c]


@inlined
def place_on_body(taken: Taken, space: Space, points: Points, k: Int) -> None:
    """As :func:`turn_body`, for the last three dofs, by which points move along the axes of their body."""
    for axis in range(3):
        i = points.chain_length[k] + (1 if taken.by.slope >= 0 else 0) + axis
        for c in range(6):
            space.axes[i, c] = taken.xmat[points.body[k], 3 * (c - 3) + axis] if c >= 3 else 0.0
            for row in range(4):
                space.turned[row, c, i] = 0.0


@inlined
def turn_body(taken: Taken, space: Space, points: Points, k: Int) -> None:
    """Write the derivatives of the spatial motions of the body in slot k by each dof of its chain."""
    b, t = points.body[k], space.turned
    if taken.by.slope >= 0:
        turn_with_ground(taken, space, points, k)
    if taken.by.place >= 0:
        place_on_body(taken, space, points, k)
    for i in range(points.chain_length[k]):
        j = points.chain[k, i]
        s, rate = taken.cdof[j], taken.cdof_dot[j]
        v, w, a = taken.cvel[b], space.velocity_end[b], space.acceleration[b]
        for c in range(6):
            space.axes[i, c] = s[c]
            space.speeds[0, c], space.speeds[1, c] = v[c] - space.before[j, c], w[c] - space.before_end[j, c]
            space.pull[c] = a[c] - space.pulled[j, c]
        for row, motion in ((BEGIN, space.speeds[0]), (END, space.speeds[1]), (PULL, space.pull)):
            found = carried(motion, s[0], s[1], s[2], s[3], s[4], s[5])
            for c in range(6):
                t[row, c, i] = found[c]
        found = carried(space.speeds[0], rate[0], rate[1], rate[2], rate[3], rate[4], rate[5])
        for c in range(6):
            t[PULL, c, i] += found[c]
            space.pull[c] = v[c] - space.after[j, c]
        found = carried(space.pull, s[0], s[1], s[2], s[3], s[4], s[5])
        for c in range(6):
            t[PULL_V, c, i] = rate[c] + found[c]


@inlined
def locate_point(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """Write where a point of slot k touches, and the centre of a round point, both from the centre of mass."""
    com, n, r = taken.subtree_com[points.root[k]], contacts.frame[p, 2], points.radius[p]
    for c in range(3):
        space.place[c] = points.position[p, c] - com[c]
        space.centre[c] = space.place[c] + r * n[c]


@inlined
def write_point(m: Matrix, i: Int, s: Vector, at: Vector) -> None:
    """The velocity at a place of a spatial motion, into column i."""
    m[0, i] = s[3] + s[1] * at[2] - s[2] * at[1]
    m[1, i] = s[4] + s[2] * at[0] - s[0] * at[2]
    m[2, i] = s[5] + s[0] * at[1] - s[1] * at[0]


@inlined
def move_point(taken: Taken, space: Space, points: Points, k: Int, moment: Int) -> None:
    """Write to ``space.moved`` the derivatives by each dof of the point at ``space.place``: of its position by q, and
    of its velocity, at the ``moment`` BEGIN or END of the step, by q and by v.
    """
    b, m, at = points.body[k], space.moved, space.place
    w = taken.cvel[b] if moment == BEGIN else space.velocity_end[b]
    for i in range(ways_to_move(taken, points, k)):
        s = space.axes[i]
        write_point(m[0], i, s, space.centre)
        write_point(m[2], i, s, at)
        x, y, z = m[0, 0, i], m[0, 1, i], m[0, 2, i]
        t = space.turned[moment]
        m[1, 0, i] = t[3, i] + t[1, i] * at[2] - t[2, i] * at[1] + w[1] * z - w[2] * y
        m[1, 1, i] = t[4, i] + t[2, i] * at[0] - t[0, i] * at[2] + w[2] * x - w[0] * z
        m[1, 2, i] = t[5, i] + t[0, i] * at[1] - t[1, i] * at[0] + w[0] * y - w[1] * x


@inlined
def pull_column(space: Space, points: Points, k: Int, column: Int, x: Float, y: Float, z: Float) -> None:
    """Add to a column the generalised force of a force (N, world frame) on the point that was moved last."""
    axis = space.moved[2]
    for i in range(points.chain_length[k]):
        space.right[points.chain[k, i], column] += axis[0, i] * x + axis[1, i] * y + axis[2, i] * z


@inlined
def world_force(points: Points, contacts: Contacts, p: Int) -> tuple[Float, Float, Float]:
    """The force of a point, N, world frame."""
    frame, f = contacts.frame[p], points.force[p]
    return (
        frame[0, 0] * f[0] + frame[1, 0] * f[1] + frame[2, 0] * f[2],
        frame[0, 1] * f[0] + frame[1, 1] * f[1] + frame[2, 1] * f[2],
        frame[0, 2] * f[0] + frame[1, 2] * f[1] + frame[2, 2] * f[2],
    )


@inlined
def shift_force(space: Space, points: Points, contacts: Contacts, k: Int, p: Int, column: Int, way: Vector) -> None:
    """Add to a column the generalised force of a shift of a point's force on its body by ``way`` (3,)."""
    x, y, z = world_force(points, contacts, p)
    for i in range(points.chain_length[k]):
        s = space.axes[i]
        torque = s[0] * (way[1] * z - way[2] * y) + s[1] * (way[2] * x - way[0] * z)
        space.right[points.chain[k, i], column] += torque + s[2] * (way[0] * y - way[1] * x)


@inlined
def turn_force(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """Add the effect of a force that turns with the ground, after :func:`move_point`; round points shift, too."""
    frame, turn, column = contacts.frame[p], taken.by.turn, taken.by.slope
    x, y, z = world_force(points, contacts, p)
    pull_column(
        space, points, k, column, turn[1] * z - turn[2] * y, turn[2] * x - turn[0] * z, turn[0] * y - turn[1] * x
    )
    n, r, way = frame[2], -points.radius[p], space.push
    way[0] = r * (turn[1] * n[2] - turn[2] * n[1])
    way[1] = r * (turn[2] * n[0] - turn[0] * n[2])
    way[2] = r * (turn[0] * n[1] - turn[1] * n[0])
    shift_force(space, points, contacts, k, p, column, way)


@inlined
def place_force(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """Add the effect of a point's force moving with the point's position on its body."""
    first = points.chain_length[k] + (1 if taken.by.slope >= 0 else 0)
    for axis in range(3):
        shift_force(space, points, contacts, k, p, taken.by.place + 3 * p + axis, space.axes[first + axis, 3:])
