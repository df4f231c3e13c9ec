"""Derivatives of forces that solve a contact problem on Coulomb's cone, by the implicit function theorem.

Velocities u of the points at the end of a step are linear in the acceleration. When a step is solved, each point is
open, presses and sticks, or presses and slides. While that stays so,

    sticks:  du = 0 (3);     slides:  du_n = 0,   df_t = -mu df_n t - mu f_n dt,   dt = (1 - t t^T) du_t / |u_t|.

So a point that sticks has three unknown forces dy, and one that slides two, along its normal, which friction follows,
and across its slip. With N the columns of their generalised forces, T the motions that they hold, C what these give way
to them, and r the forces of (1) at fixed a and f,

    M da = r + N dy,       h T da + e + C dy = 0,

e being the change of u less its least value at fixed a. A row that is held has the compliance of the solver
(:mod:`footfall.solve.newton`), which makes the forces of points that share a body unique.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.engine.derivatives.contact_motions import BEGIN, END, locate_point, move_point, turn_body
from footfall.engine.derivatives.space import Space, Taken
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Float, Int, Vector
from footfall.solve.contacts import SLIDE, Contacts

#: Gap up to which laws count a point as touching, m.
TOUCH = 1e-9


@inlined
def gains(taken: Taken, contacts: Contacts, p: Int, values: Vector) -> tuple[Float, Float]:
    """How the least normal velocity of a point falls with its normal velocity and its gap, Bravo 2021, (24)."""
    gap, v, h, restitution, rise = contacts.gap[p], contacts.velocity[p, 2], taken.dt, values[0], values[4]
    least = 0.0 if restitution == 0.0 else -restitution * min(0.0, v)
    if gap < 0.0 and rise > 0.0 and min(rise, -gap / h) > least:
        return 0.0, 1.0 / h if -gap / h < rise else 0.0
    if restitution > 0.0:
        return restitution if v < 0.0 else 0.0, 0.0
    return 0.0, 1.0 / h if gap > TOUCH else 0.0


@inlined
def miss(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, values: Vector) -> None:
    """Write e of a point by each dof's coordinate and velocity, to ``missed``, in its contact frame."""
    frame, m, out, (by_speed, by_gap) = contacts.frame[p], space.moved, space.missed, gains(taken, contacts, p, values)
    for moment in (BEGIN, END):
        move_point(taken, space, points, k, moment)
        for i in range(points.chain_length[k]):
            for c in range(3):
                gain = 1.0 if moment == END else by_speed if c == 2 else 0.0
                for way in range(2):
                    v = m[1 + way]
                    moved = frame[c, 0] * v[0, i] + frame[c, 1] * v[1, i] + frame[c, 2] * v[2, i]
                    out[way, c, i] = gain * moved + (out[way, c, i] if moment == END else 0.0)
            rise = frame[2, 0] * m[0, 0, i] + frame[2, 1] * m[0, 1, i] + frame[2, 2] * m[0, 2, i]
            out[0, 2, i] += by_gap * rise if moment == BEGIN else 0.0


@inlined
def add_unknown(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, give: Float) -> None:
    """Add the force of a point along ``space.push`` as an unknown, which holds its motion along ``space.centre``.

    Both are in the contact frame. ``give`` is the motion per force that it gives way, 0 if it holds.
    """
    u, nv, frame, m = space.number[0], taken.qvel.size, contacts.frame[p], space.moved[2]
    held, pushed = space.centre, space.push
    space.number[0] = u + 1
    space.who[u], space.give[u] = p, give
    for c in range(3):
        space.pushed[u, c] = pushed[c]
    for i in range(points.chain_length[k]):
        j, motion, force = points.chain[k, i], 0.0, 0.0
        for c in range(3):
            along = frame[c, 0] * m[0, i] + frame[c, 1] * m[1, i] + frame[c, 2] * m[2, i]
            motion += held[c] * along
            force += pushed[c] * along
        space.hold[u, j], space.pull_by[j, u] = motion, force
        for way in range(2):
            e = space.missed[way]
            space.answer[u, way * nv + j] = held[0] * e[0, i] + held[1] * e[1, i] + held[2] * e[2, i]


@inlined
def press_point(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """Add the unknowns of a point that presses, after :func:`miss`."""
    f, frame, w = points.force[p], contacts.frame[p], space.velocity_end[points.body[k]]
    held, pushed, at = space.centre, space.push, space.place
    x = w[3] + w[1] * at[2] - w[2] * at[1]
    y = w[4] + w[2] * at[0] - w[0] * at[2]
    z = w[5] + w[0] * at[1] - w[1] * at[0]
    ux, uy = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z, frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
    size, slip, slides = math.sqrt(f[0] * f[0] + f[1] * f[1]), math.sqrt(ux * ux + uy * uy), points.mode[p] == SLIDE
    held[0], held[1], held[2] = 0.0, 0.0, 1.0
    pushed[0], pushed[1], pushed[2] = (f[0] / f[2], f[1] / f[2], 1.0) if slides else (0.0, 0.0, 1.0)
    add_unknown(taken, space, points, contacts, k, p, 0.0)
    held[2], pushed[2] = 0.0, 0.0
    if not slides:
        for c in range(2):
            held[c], held[1 - c], pushed[c], pushed[1 - c] = 1.0, 0.0, 1.0, 0.0
            add_unknown(taken, space, points, contacts, k, p, 0.0)
    elif size > 0.0 and slip > 0.0:
        held[0], held[1], pushed[0], pushed[1] = -f[1] / size, f[0] / size, -f[1] / size, f[0] / size
        add_unknown(taken, space, points, contacts, k, p, slip / size)


@inlined
def hold_contacts(taken: Taken, space: Space, points: Points, contacts: Contacts, values: Vector) -> None:
    """All unknowns of the contacts, with the motions they hold, their forces, and e in ``answer``."""
    space.number[0] = 0
    for u in range(space.hold.shape[0]):
        for j in range(taken.qvel.size):
            space.hold[u, j], space.pull_by[j, u] = 0.0, 0.0
        for c in range(space.answer.shape[1]):
            space.answer[u, c] = 0.0
    for k in range(points.body.size):
        turn_body(taken, space, points, k)
        for n in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[n]
            if points.force[p, 2] > 0.0:
                locate_point(taken, space, points, contacts, k, p)
                miss(taken, space, points, contacts, k, p, values)
                press_point(taken, space, points, contacts, k, p)
