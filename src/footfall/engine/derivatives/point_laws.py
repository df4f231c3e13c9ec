"""Derivatives of forces that are functions of each point's own motion.

A point's law is a function of its gap, slip (2), velocity (3) and the bend of its bristles (2), and of parameters: an
increment of both friction coefficients, and the law's own numbers. Its kernel is differenced: steps are a millionth of
the numbers' sizes, and errors are rounding over that. Where the mode on one side of a number differs from that of the
step, a one-sided difference is taken on the other side.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.contact.springs.friction import BEND
from footfall.engine.derivatives.contact_motions import (
    BEGIN,
    locate_point,
    move_point,
    place_force,
    pull_column,
    turn_body,
    turn_force,
    ways_to_move,
)
from footfall.engine.derivatives.space import ANCHORS, BENDS, Space, Taken
from footfall.engine.kinematics import cross, from_frame, into_frame, velocity_there
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Float, Function, Int, Vector
from footfall.solve.contacts import OPEN, Contacts

#: Step of a difference, relative to the size of the number.
FINE = 1e-6
# Indices of the numbers of a point: its gap, slip, velocity, bend, friction increment and the law's numbers.
GAP, SLIP, SPEED, BENT, FRICTION, VALUES = 0, 1, 3, 6, 8, 9


@inlined
def ask_point(taken: Taken, space: Space, contacts: Contacts, p: Int, law: Function, out: Vector) -> Int:
    """Write the force (3) of a point at the numbers in ``space.trial`` and its new slip or bend (2); gives the mode."""
    x, memory, size = space.trial[0], space.trial[3], taken.memory.shape[1]
    for c in range(size):
        memory[c] = 0.0 if taken.mode[p] == OPEN else taken.memory[p, c]
    if taken.carried == BENDS:
        memory[BEND], memory[BEND + 1] = x[BENT], x[BENT + 1]
    slip, velocity, remembered = memory[size : size + 2], memory[size + 2 : size + 4], memory[:size]
    slip[0], slip[1], velocity[0], velocity[1] = x[SLIP], x[SLIP + 1], x[SPEED], x[SPEED + 1]
    static, dynamic = contacts.static_friction[p] + x[FRICTION], contacts.dynamic_friction[p] + x[FRICTION]
    own = x[VALUES : space.slope.shape[1]]
    normal, fx, fy, mode = law(max(0.0, -x[GAP]), -x[SPEED + 2], slip, velocity, remembered, static, dynamic, own)
    kept = remembered[BEND : BEND + 2] if taken.carried == BENDS else slip
    out[0], out[1], out[2], out[3], out[4] = fx, fy, normal, kept[0], kept[1]
    return mode


@inlined
def difference(
    taken: Taken, space: Space, contacts: Contacts, p: Int, law: Function, mode: Int, e: Int, step: Float
) -> None:
    """Write to ``slope`` the derivatives of force and new slip or bend by the e-th number of a point in a ``mode``."""
    numbers, here, more = space.trial[0], space.trial[1], space.trial[2]
    value, total = numbers[e], 0.0
    for c in range(5):
        space.slope[c, e] = 0.0
    for sign in (1.0, -1.0):
        numbers[e] = value + sign * step
        same = ask_point(taken, space, contacts, p, law, more) == mode
        if step > 0.0 and same and not (e == GAP and numbers[e] > 0.0):
            total += step
            for c in range(5):
                space.slope[c, e] += sign * (more[c] - here[c])
    numbers[e] = value
    for c in range(5):
        space.slope[c, e] *= 1.0 / total if total > 0.0 else 0.0


@inlined
def differentiate_point(taken: Taken, space: Space, contacts: Contacts, p: Int, law: Function) -> None:
    """Write ``slope`` of a point whose numbers are in the first row of ``space.trial``."""
    x, g = space.trial[0], taken.tree.gravity
    fall = taken.dt * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    mode = ask_point(taken, space, contacts, p, law, space.trial[1])
    for e in range(BENT + 2 if taken.carried == BENDS else BENT):
        # Gravity's effect in a step is the scale of a velocity or slip that may be zero.
        size = abs(x[e]) if e == GAP else abs(x[e]) + (fall if SPEED <= e < BENT else taken.dt * fall)
        difference(taken, space, contacts, p, law, mode, e, FINE * size)
    if taken.by.friction >= 0:  # coefficients are of the order of 1
        difference(taken, space, contacts, p, law, mode, FRICTION, FINE)
    for e in range(taken.by.value.size):
        if taken.by.value[e] >= 0:
            difference(taken, space, contacts, p, law, mode, VALUES + e, FINE * abs(x[VALUES + e]))
    for e in range(2 if taken.mode[p] == OPEN else 0):  # a point that lands sets its anchor, and has no slip
        for c in range(5):
            space.slope[c, SLIP + e], space.slope[c, BENT + e] = 0.0, 0.0


@inlined
def read_point(taken: Taken, space: Space, points: Points, contacts: Contacts, p: Int, values: Vector) -> None:
    """The numbers of a point as its law saw them, into the first row of ``space.trial``."""
    x, frame, r = space.trial[0], contacts.frame[p], points.radius[p]
    x[GAP], x[SLIP], x[SLIP + 1], x[BENT], x[BENT + 1] = contacts.gap[p], 0.0, 0.0, 0.0, 0.0
    if taken.mode[p] != OPEN:
        for c in range(3):
            away = points.position[p, c] + r * frame[2, c] - taken.anchor[p, c]
            x[SLIP] += frame[0, c] * away
            x[SLIP + 1] += frame[1, c] * away
        if taken.carried == BENDS:
            x[BENT], x[BENT + 1] = taken.memory[p, BEND], taken.memory[p, BEND + 1]
    for c in range(3):
        x[SPEED + c] = contacts.velocity[p, c]
    x[FRICTION] = 0.0
    for c in range(values.size):
        x[VALUES + c] = values[c]


@inlined
def keep_force(space: Space, p: Int, column: Int) -> None:
    """Write the derivative of a point's force in ``space.found`` to that of all points."""
    for c in range(3):
        space.force[p, c, column] = space.found[c]


@inlined
def write_column(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, column: Int) -> None:
    """Add the force in ``space.found`` to a column: J^T df, and the new slip or bend."""
    f = space.found
    x, y, z = from_frame(contacts.frame[p], f)
    keep_force(space, p, column)
    pull_column(space, points, k, column, x, y, z)
    if taken.carried:
        space.kept[2 * p, column], space.kept[2 * p + 1, column] = f[3], f[4]


@inlined
def by_dof(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int, i: Int, way: Int) -> None:
    """Write to ``space.found`` the derivatives of a point's force and new slip or bend by the i-th dof of its chain.

    ``way`` is 0 for the dof's coordinate and 1 for its velocity, which does not move the point.
    """
    frame, slope, found, at = contacts.frame[p], space.slope, space.found, space.place
    m, still = space.moved, 1.0 - way
    at[0], at[1], at[2] = into_frame(frame, still * m[0, 0, i], still * m[0, 1, i], still * m[0, 2, i])
    for c in range(5):
        found[c] = slope[c, GAP] * at[2] + slope[c, SLIP] * at[0] + slope[c, SLIP + 1] * at[1]
    speed = into_frame(frame, m[1 + way, 0, i], m[1 + way, 1, i], m[1 + way, 2, i])
    for e in range(3):
        for c in range(5):
            found[c] += slope[c, SPEED + e] * speed[e]
    if taken.carried == ANCHORS:
        s, n, roll = space.axes[i], frame[2], taken.dt * points.radius[p]
        spin = space.speeds[0]
        for c in range(3):
            spin[c] = space.turned[BEGIN, c, i] if way == 0 else s[c]
        rolled = into_frame(frame, *cross(spin[0], spin[1], spin[2], n[0], n[1], n[2]))
        for c in range(2):  # minus the anchor is the new slip less the position, and the anchor rolls on
            found[3 + c] -= at[c] + roll * rolled[c]


@inlined
def by_slope(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, p: Int) -> None:
    """As :func:`by_dof`, by the ground's slope, at fixed positions of the robot and of anchors in the world."""
    i, frame, com, found = points.chain_length[k], contacts.frame[p], taken.subtree_com[points.root[k]], space.found
    by_dof(taken, space, points, contacts, k, p, i, 0)
    s, at = space.axes[i], space.place
    for after in range(2 if taken.carried == ANCHORS else 1):
        for c in range(3):
            at[c] = (taken.anchor[p, c] if after == 0 else points.anchor[p, c]) - com[c]
        along = into_frame(frame, *velocity_there(s, at[0], at[1], at[2]))
        for e in range(2):
            if after == 1:
                found[3 + e] += along[e]
            else:
                for c in range(5):
                    found[c] -= space.slope[c, SLIP + e] * along[e]


@inlined
def add_point_forces(
    taken: Taken, space: Space, points: Points, contacts: Contacts, law: Function, values: Vector
) -> None:
    """Add J^T df of all near points under a law of points."""
    nv, first = taken.qvel.size, SLIP if taken.carried == ANCHORS else BENT
    asked, by = space.right.shape[1] - taken.by.columns, taken.by  # columns of parameters are the last ones
    for k in range(points.body.size):
        if contacts.near[k] == contacts.near[k + 1]:
            continue
        turn_body(taken, space, points, k)
        for n in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[n]
            read_point(taken, space, points, contacts, p, values)
            differentiate_point(taken, space, contacts, p, law)
            locate_point(taken, space, points, contacts, k, p)
            move_point(taken, space, points, k, BEGIN)
            for i in range(points.chain_length[k]):
                for way in range(2):
                    by_dof(taken, space, points, contacts, k, p, i, way)
                    write_column(taken, space, points, contacts, k, p, way * nv + points.chain[k, i])
            for e in range(2 if taken.carried else 0):
                for c in range(5):
                    space.found[c] = space.slope[c, first + e]
                write_column(taken, space, points, contacts, k, p, asked - 2 * points.mode.size + 2 * p + e)
            for e in range(by.value.size + 1):
                column = by.friction if e == by.value.size else by.value[e]
                if column >= 0:
                    for c in range(5):
                        space.found[c] = space.slope[c, FRICTION if e == by.value.size else VALUES + e]
                    write_column(taken, space, points, contacts, k, p, column)
            if by.slope >= 0:
                by_slope(taken, space, points, contacts, k, p)
                write_column(taken, space, points, contacts, k, p, by.slope)
                turn_force(taken, space, points, contacts, k, p)
            for axis in range(3 if by.place >= 0 and p < by.feet else 0):
                by_dof(taken, space, points, contacts, k, p, ways_to_move(taken, points, k) - 3 + axis, 0)
                write_column(taken, space, points, contacts, k, p, by.place + 3 * p + axis)
            if by.place >= 0 and p < by.feet:
                place_force(taken, space, points, contacts, k, p)
