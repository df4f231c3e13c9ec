"""How the contact points of a body move with each dof of its chain: places, velocities and accelerations."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.derivatives.space import Space, Taken
from footfall.engine.dynamics.inertia import carried
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Int, Matrix, Vector
from footfall.solve.contacts import Contacts

# Rows of ``space.turned``: by a dof's coordinate the velocity at the beginning of the step, that at its end, and the
# acceleration; by a dof's velocity the acceleration.
BEGIN, END, PULL, PULL_V = 0, 1, 2, 3


@inlined
def turn_body(taken: Taken, space: Space, points: Points, k: Int) -> None:
    """Of the body in slot k, how its spatial motions change with each dof of its chain."""
    b, t = points.body[k], space.turned
    for i in range(points.chain_length[k]):
        j = points.chain[k, i]
        s, rate = taken.cdof[j], taken.cdof_dot[j]
        v, w, a = taken.cvel[b], space.velocity_end[b], space.acceleration[b]
        for c in range(6):
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
    """Where a point of slot k touches, and the point of its body that it moves with, both from the centre of mass."""
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
    """Of the point at ``space.place``, by each dof: its place, its velocity by q and by v, into ``space.moved``.

    The velocity is that at the ``moment`` BEGIN or END of the step.
    """
    b, m, at = points.body[k], space.moved, space.place
    w = taken.cvel[b] if moment == BEGIN else space.velocity_end[b]
    for i in range(points.chain_length[k]):
        s = taken.cdof[points.chain[k, i]]
        write_point(m[0], i, s, space.centre)
        write_point(m[2], i, s, at)
        x, y, z = m[0, 0, i], m[0, 1, i], m[0, 2, i]
        t = space.turned[moment]
        m[1, 0, i] = t[3, i] + t[1, i] * at[2] - t[2, i] * at[1] + w[1] * z - w[2] * y
        m[1, 1, i] = t[4, i] + t[2, i] * at[0] - t[0, i] * at[2] + w[2] * x - w[0] * z
        m[1, 2, i] = t[5, i] + t[0, i] * at[1] - t[1, i] * at[0] + w[0] * y - w[1] * x
