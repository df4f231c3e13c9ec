"""Derivatives of positions, velocities and accelerations of a body's contact points by each dof of its chain.

For contacts, a turn of the ground is an opposite turn of the whole robot: one more dof after those of the chain. The
position of a point on its body is three more, after that.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.derivatives.space import Space, Taken
from footfall.engine.dynamics.inertia import carried
from footfall.engine.kinematics import cross, from_frame, velocity_there
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Float, Int, Vector
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
    s[3], s[4], s[5] = cross(s[0], s[1], s[2], com[0] - turn[3], com[1] - turn[4], com[2] - turn[5])
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
def move_point(taken: Taken, space: Space, points: Points, k: Int, moment: Int) -> None:
    """Write to ``space.moved`` the derivatives by each dof of the point at ``space.place``: of its position by q, and
    of its velocity, at the ``moment`` BEGIN or END of the step, by q and by v.
    """
    b, m, at, centre = points.body[k], space.moved, space.place, space.centre
    w = taken.cvel[b] if moment == BEGIN else space.velocity_end[b]
    for i in range(ways_to_move(taken, points, k)):
        s = space.axes[i]
        x, y, z = velocity_there(s, centre[0], centre[1], centre[2])
        m[0, 0, i], m[0, 1, i], m[0, 2, i] = x, y, z
        m[2, 0, i], m[2, 1, i], m[2, 2, i] = velocity_there(s, at[0], at[1], at[2])
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
def shift_force(space: Space, points: Points, contacts: Contacts, k: Int, p: Int, column: Int, way: Vector) -> None:
    """Add to a column the generalised force of a shift of a point's force on its body by ``way`` (3,)."""
    x, y, z = cross(way[0], way[1], way[2], *from_frame(contacts.frame[p], points.force[p]))
    for i in range(points.chain_length[k]):
        s = space.axes[i]
        space.right[points.chain[k, i], column] += s[0] * x + s[1] * y + s[2] * z


@inlined
def turn_force(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """Add the effect of a force that turns with the ground, after :func:`move_point`; round points shift, too."""
    frame, turn, column, way = contacts.frame[p], taken.by.turn, taken.by.slope, space.push
    x, y, z = cross(turn[0], turn[1], turn[2], *from_frame(frame, points.force[p]))
    pull_column(space, points, k, column, x, y, z)
    n, r = frame[2], -points.radius[p]
    way[0], way[1], way[2] = cross(turn[0], turn[1], turn[2], r * n[0], r * n[1], r * n[2])
    shift_force(space, points, contacts, k, p, column, way)


@inlined
def place_force(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """Add the effect of a point's force moving with the point's position on its body."""
    first = points.chain_length[k] + (1 if taken.by.slope >= 0 else 0)
    for axis in range(3):
        shift_force(space, points, contacts, k, p, taken.by.place + 3 * p + axis, space.axes[first + axis, 3:])
