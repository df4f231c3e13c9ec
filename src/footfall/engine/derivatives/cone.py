"""Derivatives of forces that solve a contact problem on Coulomb's cone, by the implicit function theorem.

The motions u of the points (velocities at the end of a step less the least ones, or accelerations less the wanted ones)
are linear in the acceleration. In a solved step each point is open, presses and sticks, or presses and slides. As long
as these states do not change,

    sticks:  du = 0 (3);     slides:  du_n = 0,   df_t = -mu df_n t - mu f_n dt,   dt = (1 - t t^T) du_t / |u_t|.

So a sticking point has three unknown forces dy, and a sliding point two: one along its normal, to which friction is
proportional, and one across its slip. A body whose points all stick has six (``sole``). With N the columns of their
generalised forces, T the motions that they hold, C the compliance of these motions, and r the forces of (1) at fixed a
and f,

    M da = r + N dy,       T (c da) + e + C dy = 0,

e being the change of u at fixed a, and c = du/da: h for velocities, 1 for accelerations. A held row has the compliance
of the solver (:mod:`footfall.solve.newton`), which makes the forces of points that share a body unique.

Softened by a compliance s, a near point has instead ``u_n f_n = s W^2``, W being the robot's weight (the central path
of an interior point method). With ``z = u_n - s f_n`` of the step, its compliance is ``s (R + z) / (R - z)`` along its
normal and, unless it slides, across it, where ``R^2 = z^2 + (2 s W)^2``: s at the kink, less where it presses, and
growing without bound where it is open.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.contact import linearizing_penalty, time_stepping
from footfall.engine.derivatives.contact_motions import (
    BEGIN,
    END,
    PULL,
    PULL_V,
    locate_point,
    move_point,
    place_force,
    pull_column,
    turn_body,
    turn_force,
    ways_to_move,
)
from footfall.engine.derivatives.sole import (
    add_missed_parameters,
    find_rigid_motions,
    fit_sole,
    hold_sole,
    new_unknown,
)
from footfall.engine.derivatives.space import OF_ACCELERATIONS, OF_VELOCITIES, Space, Taken
from footfall.engine.kinematics import into_frame
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Bool, Float, Int, Matrix, Vector
from footfall.solve.contacts import OPEN, SLIDE, STICK, Contacts

#: Places of the numbers of the two laws among their parameters.
RESTITUTION, IMPACT_FRICTION, IMPACT_SPEED, RISE = map(
    time_stepping.Parameters._fields.index, ("restitution", "impact_friction", "impact_speed", "rise")
)
KP, KV, EPS, LEAD_BACK = map(linearizing_penalty.Parameters._fields.index, ("kp", "kv", "eps", "lead_back"))
#: Gap up to which laws count a point as touching, m.
TOUCH = 1e-9
#: Relative step of differences by the law's numbers; motions are linear in each, so errors are rounding over it.
FINE = 1e-4


@inlined
def velocity_gains(taken: Taken, contacts: Contacts, p: Int, values: Vector) -> tuple[Float, Float, Float]:
    """The least normal velocity of a point under time-stepping, and its negative slopes by velocity and gap."""
    gap, v, h = contacts.gap[p], contacts.velocity[p, 2], taken.dt
    restitution, rise = values[RESTITUTION], values[RISE]
    least = 0.0 if restitution == 0.0 else -restitution * min(0.0, v)
    if gap < 0.0 and rise > 0.0 and min(rise, -gap / h) > least:
        return min(rise, -gap / h), 0.0, 1.0 / h if -gap / h < rise else 0.0
    if restitution > 0.0:
        return least, restitution if v < 0.0 else 0.0, 0.0
    return -max(0.0, gap) / h, 0.0, 1.0 / h if gap > TOUCH else 0.0


@inlined
def acceleration_gains(taken: Taken, contacts: Contacts, p: Int, values: Vector) -> tuple[Float, Float, Float]:
    """Negative slopes of a point's prescribed acceleration by its tangential velocity, normal velocity and gap, under
    linearizing-penalty: Rengifo 2009, eq. 17.
    """
    kp, kv, eps, lead_back = values[KP], values[KV], values[EPS], values[LEAD_BACK]
    if contacts.gap[p] <= TOUCH or eps == 0.0 or lead_back == 0.0:
        return kv, kv if contacts.velocity[p, 2] < 0.0 else 0.0, kp
    return kv, 1.0 / taken.dt, 1.0 / (taken.dt * max(10.0 * taken.dt, 4.0 / max(kv, 1.0)))


@inlined
def is_asked(taken: Taken, contacts: Contacts, points: Points, p: Int, values: Vector) -> Bool:
    """Whether the law prescribes a point's motion: it presses; under linearizing-penalty, it touches or is led back."""
    if points.force[p, 2] > 0.0:
        return True
    if taken.kind == OF_VELOCITIES:
        return taken.soft[0] > 0.0 and (values[RESTITUTION] == 0.0 or contacts.gap[p] <= TOUCH)
    led = values[EPS] > 0.0 and values[LEAD_BACK] == 1.0 and taken.memory[p, 0] != OPEN
    return contacts.gap[p] <= TOUCH or led


@inlined
def add_turning(m: Vector, spin: Vector, x: Float, y: Float, z: Float) -> None:
    """Add a cross product of three numbers."""
    m[0] += spin[1] * z - spin[2] * y
    m[1] += spin[2] * x - spin[0] * z
    m[2] += spin[0] * y - spin[1] * x


@inlined
def add_acceleration(taken: Taken, space: Space, points: Points, k: Int, p: Int, frame: Matrix) -> None:
    """Add to ``missed`` the derivatives by q and v of a point's acceleration relative to the ground, after
    :func:`move_point` at BEGIN. For a round point that is the acceleration of the rolling contact.
    """
    b, at, m, push, centre = points.body[k], space.place, space.moved, space.push, space.centre
    w, a, motion, spin, speed = taken.cvel[b], space.acceleration[b], space.pull, space.speeds[0], space.speeds[1]
    for c in range(3):
        speed[c] = w[3 + c]
    add_turning(speed, w, centre[0], centre[1], centre[2])
    for i in range(ways_to_move(taken, points, k)):
        for way in range(2):
            for c in range(6):
                motion[c] = space.turned[PULL if way == 0 else PULL_V, c, i]
                spin[c] = space.turned[BEGIN, c, i] if way == 0 else space.axes[i, c]
            x, y, z = m[0, 0, i], m[0, 1, i], m[0, 2, i]
            for c in range(3):
                push[c] = spin[3 + c]
            add_turning(push, spin, centre[0], centre[1], centre[2])
            if way == 0:
                add_turning(push, w, x, y, z)
            dx, dy, dz = push[0], push[1], push[2]
            for c in range(3):
                push[c] = motion[3 + c]
            add_turning(push, motion, at[0], at[1], at[2])
            if way == 0:
                add_turning(push, a, x, y, z)
            add_turning(push, spin, speed[0], speed[1], speed[2])
            add_turning(push, w, dx, dy, dz)
            for c in range(3):
                space.missed[p, way, c, i] += frame[c, 0] * push[0] + frame[c, 1] * push[1] + frame[c, 2] * push[2]


@inlined
def miss(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, values: Vector) -> None:
    """Write e of a point per coordinate and velocity of each dof to ``missed``, in its contact frame."""
    frame, m, out, velocities = contacts.frame[p], space.moved, space.missed[p], taken.kind == OF_VELOCITIES
    if velocities:
        along, (_, across, by_gap) = 0.0, velocity_gains(taken, contacts, p, values)
    else:
        along, across, by_gap = acceleration_gains(taken, contacts, p, values)
    locate_point(taken, space, points, contacts, k, p)
    move_point(taken, space, points, k, BEGIN)
    for i in range(ways_to_move(taken, points, k)):
        for way in range(2):
            v = into_frame(frame, m[1 + way, 0, i], m[1 + way, 1, i], m[1 + way, 2, i])
            for c in range(3):
                out[way, c, i] = (along if c < 2 else across) * v[c]
        out[0, 2, i] += by_gap * (frame[2, 0] * m[0, 0, i] + frame[2, 1] * m[0, 1, i] + frame[2, 2] * m[0, 2, i])
    if not velocities:
        add_acceleration(taken, space, points, k, p, frame)
        return
    move_point(taken, space, points, k, END)
    for i in range(ways_to_move(taken, points, k)):
        for way in range(2):
            v = into_frame(frame, m[1 + way, 0, i], m[1 + way, 1, i], m[1 + way, 2, i])
            for c in range(3):
                out[way, c, i] += v[c]


@inlined
def find_motion(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, values: Vector) -> None:
    """Write u of a point to ``motion``, m/s or m/s2."""
    b, frame, out, at, centre = points.body[k], contacts.frame[p], space.push, space.place, space.centre
    locate_point(taken, space, points, contacts, k, p)
    w = space.velocity_end[b] if taken.kind == OF_VELOCITIES else taken.cvel[b]
    for c in range(3):
        out[c] = w[3 + c]
    if taken.kind == OF_VELOCITIES:
        add_turning(out, w, at[0], at[1], at[2])
    else:
        add_turning(out, w, centre[0], centre[1], centre[2])
        x, y, z, a = out[0], out[1], out[2], space.acceleration[b]
        for c in range(3):
            out[c] = a[3 + c] + taken.tree.gravity[c]
        add_turning(out, a, at[0], at[1], at[2])
        add_turning(out, w, x, y, z)
    for c in range(3):
        space.motion[p, c] = frame[c, 0] * out[0] + frame[c, 1] * out[1] + frame[c, 2] * out[2]
    if taken.kind == OF_VELOCITIES:
        least, _, _ = velocity_gains(taken, contacts, p, values)
        space.motion[p, 2] -= least
    else:
        v, (along, across, by_gap) = contacts.velocity[p], acceleration_gains(taken, contacts, p, values)
        space.motion[p, 0] += along * v[0]
        space.motion[p, 1] += along * v[1]
        space.motion[p, 2] += across * v[2] + by_gap * (values[EPS] + contacts.gap[p])


@inlined
def add_unknown(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, give: Float) -> None:
    """Add the force of a point along ``space.place`` as an unknown, which holds its motion along ``space.centre``.

    Both are in the contact frame. ``give`` is the compliance, motion per force; 0 if the motion is held.
    """
    u, nv, frame, m = new_unknown(taken, space, p, give), taken.qvel.size, contacts.frame[p], space.moved[2]
    held, pushed = space.centre, space.place
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
            e = space.missed[p, way]
            space.answer[u, way * nv + j] = held[0] * e[0, i] + held[1] * e[1, i] + held[2] * e[2, i]
    if taken.by.columns > 0:
        add_missed_parameters(taken, space, points, k, p, u, held)


@inlined
def softened(taken: Taken, space: Space, points: Points, p: Int) -> Float:
    """The compliance (motion per force) of a point of the softened problem, zero if that is not softened."""
    soft = taken.soft[0] / taken.dt if taken.kind == OF_VELOCITIES else taken.soft[0] / (taken.dt * taken.dt)
    if soft == 0.0:
        return 0.0
    z, width = space.motion[p, 2] - soft * points.force[p, 2], 2.0 * soft * taken.soft[1]
    root = math.sqrt(z * z + width * width)
    # (root + z) / (root - z), without the difference of two large numbers
    return soft * (width / (root - z)) ** 2 if z < 0.0 else soft * ((root + z) / width) ** 2


@inlined
def press_point(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """Add the unknowns of a point that presses, or of any near one if the problem is softened."""
    f, u, held, pushed = points.force[p], space.motion[p], space.centre, space.place
    give = softened(taken, space, points, p)
    locate_point(taken, space, points, contacts, k, p)
    move_point(taken, space, points, k, BEGIN)
    size, slip = math.sqrt(f[0] * f[0] + f[1] * f[1]), math.sqrt(u[0] * u[0] + u[1] * u[1])
    slides = points.mode[p] == SLIDE
    for c in range(3):
        held[c], pushed[c] = 0.0, 0.0
    held[2], pushed[2] = 1.0, 1.0
    if slides:
        pushed[0], pushed[1] = f[0] / f[2], f[1] / f[2]
    add_unknown(taken, space, points, contacts, k, p, give)
    held[2], pushed[2], pushed[0], pushed[1] = 0.0, 0.0, 0.0, 0.0
    if not slides:
        for c in range(2):
            held[c], held[1 - c], pushed[c], pushed[1 - c] = 1.0, 0.0, 1.0, 0.0
            add_unknown(taken, space, points, contacts, k, p, give)
    elif size > 0.0 and slip > 0.0:
        held[0], held[1], pushed[0], pushed[1] = -f[1] / size, f[0] / size, -f[1] / size, f[0] / size
        add_unknown(taken, space, points, contacts, k, p, slip / size)


@inlined
def miss_values(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, values: Vector) -> None:
    """Write e of a point per number of the law to ``missed_value``."""
    for e in range(values.size):
        space.values[e] = values[e]
    for e in range(values.size):
        if taken.by.value[e] >= 0:
            step, out = FINE * abs(values[e]), space.missed_value[e, p]
            for c in range(3):
                out[c] = 0.0
            for sign in (1.0, -1.0):
                space.values[e] = values[e] + sign * step
                find_motion(taken, space, points, contacts, k, p, space.values)
                for c in range(3):
                    out[c] += 0.5 * sign * space.motion[p, c] / step
            space.values[e] = values[e]


@inlined
def follow_friction(
    space: Space, points: Points, contacts: Contacts, k: Int, p: Int, column: Int, x: Float, y: Float
) -> None:
    """Add friction x, y (N, contact frame) per unit of a parameter to the parameter's column."""
    frame = contacts.frame[p]
    px, py = frame[0, 0] * x + frame[1, 0] * y, frame[0, 1] * x + frame[1, 1] * y
    pull_column(space, points, k, column, px, py, frame[0, 2] * x + frame[1, 2] * y)
    space.force[p, 0, column], space.force[p, 1, column] = x, y


@inlined
def press_by_parameters(
    taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, values: Vector
) -> None:
    """Add the direct effect of parameters on the force of a pressing point, at fixed unknowns."""
    f, u, mu, by = points.force[p], space.motion[p], contacts.dynamic_friction[p], taken.by
    locate_point(taken, space, points, contacts, k, p)
    move_point(taken, space, points, k, BEGIN)
    if by.slope >= 0:
        turn_force(taken, space, points, contacts, k, p)
    if by.place >= 0 and p < by.feet:
        place_force(taken, space, points, contacts, k, p)
    if points.mode[p] != SLIDE:
        return
    slip = math.sqrt(u[0] * u[0] + u[1] * u[1])
    if by.friction >= 0 and mu > 0.0:
        follow_friction(space, points, contacts, k, p, by.friction, f[0] / mu, f[1] / mu)
    elif by.friction >= 0 and slip > 0.0:
        follow_friction(space, points, contacts, k, p, by.friction, -f[2] * u[0] / slip, -f[2] * u[1] / slip)
    impact = taken.kind == OF_VELOCITIES and contacts.velocity[p, 2] < -values[IMPACT_SPEED]
    if impact and by.value[IMPACT_FRICTION] >= 0:  # the share of friction that impacts have, see time_stepping
        share = values[IMPACT_FRICTION]
        follow_friction(space, points, contacts, k, p, by.value[IMPACT_FRICTION], f[0] / share, f[1] / share)


@inlined
def hold_contacts(taken: Taken, space: Space, points: Points, contacts: Contacts, values: Vector) -> None:
    """Write all unknowns of the contacts, with the motions that they hold, their forces, and e in ``answer``."""
    space.number[0] = 0
    for k in range(points.body.size):
        first, last, count = contacts.near[k], contacts.near[k + 1], 0
        # A derivative by the position of one point alone is no motion of a rigid sole.
        all_stick = taken.soft[0] == 0.0 and taken.by.place < 0
        space.sole[k] = -1
        if first == last:
            continue
        turn_body(taken, space, points, k)
        for n in range(first, last):
            p = contacts.points[n]
            space.asked[p] = 1 if is_asked(taken, contacts, points, p, values) else 0
            if space.asked[p] == 1:
                if taken.by.columns > 0:
                    miss_values(taken, space, points, contacts, k, p, values)
                find_motion(taken, space, points, contacts, k, p, values)
                miss(taken, space, points, contacts, k, p, values)
                all_stick = all_stick and points.force[p, 2] > 0.0 and points.mode[p] == STICK
                count += 1
        fits = taken.kind == OF_ACCELERATIONS
        rank = find_rigid_motions(space, points, contacts, k) if count > 1 and (all_stick or fits) else 3
        if count > 1 and fits:
            fit_sole(taken, space, points, contacts, k, rank)
        as_one = count > 1 and all_stick
        if as_one:
            hold_sole(taken, space, points, contacts, k, rank)
        for n in range(first, last):
            p = contacts.points[n]
            if space.asked[p] == 1 and (points.force[p, 2] > 0.0 or taken.soft[0] > 0.0):
                if not as_one:
                    press_point(taken, space, points, contacts, k, p)
                if taken.by.columns > 0:
                    press_by_parameters(taken, space, points, contacts, k, p, values)
