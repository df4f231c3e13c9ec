"""Derivatives of forces that are functions of each point's own motion.

A point's law is a function of six numbers, its gap, slip (2) and velocity (3), which is
differenced in its kernel: the steps are a millionth of the numbers' sizes, so that errors are of rounding over that.
Where the mode differs on one side of a number, the difference is taken on the side that has the mode of the step.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.engine.derivatives.contact_motions import BEGIN, locate_point, move_point, turn_body
from footfall.engine.derivatives.space import Space, Taken
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Float, Function, Int, Vector
from footfall.solve.contacts import OPEN, Contacts

#: Step of a difference, relative to the size of the number.
FINE = 1e-6
# Where the numbers of a point stand: its gap, slip and velocity.
GAP, SLIP, SPEED, ALL = 0, 1, 3, 6


@inlined
def ask_point(
    taken: Taken, space: Space, contacts: Contacts, p: Int, law: Function, values: Vector, out: Vector
) -> Int:
    """Force (3) of a point at the numbers in ``space.trial``; gives its mode."""
    x, memory, size = space.trial[0], space.trial[3], taken.memory.shape[1]
    for c in range(size):
        memory[c] = 0.0 if taken.mode[p] == OPEN else taken.memory[p, c]
    slip, velocity, remembered = memory[size : size + 2], memory[size + 2 : size + 4], memory[:size]
    slip[0], slip[1], velocity[0], velocity[1] = x[SLIP], x[SLIP + 1], x[SPEED], x[SPEED + 1]
    static, dynamic = contacts.static_friction[p], contacts.dynamic_friction[p]
    normal, fx, fy, mode = law(max(0.0, -x[GAP]), -x[SPEED + 2], slip, velocity, remembered, static, dynamic, values)
    out[0], out[1], out[2] = fx, fy, normal
    return mode


@inlined
def difference(
    taken: Taken, space: Space, contacts: Contacts, p: Int, law: Function, values: Vector, e: Int, step: Float
) -> None:
    """Write to ``slope`` how the force changes with the e-th number of a point."""
    numbers, here, more = space.trial[0], space.trial[1], space.trial[2]
    mode, value, total = ask_point(taken, space, contacts, p, law, values, here), numbers[e], 0.0
    for c in range(3):
        space.slope[c, e] = 0.0
    for sign in (1.0, -1.0):
        numbers[e] = value + sign * step
        same = ask_point(taken, space, contacts, p, law, values, more) == mode
        if step > 0.0 and same and not (e == GAP and numbers[e] > 0.0):
            total += step
            for c in range(3):
                space.slope[c, e] += sign * (more[c] - here[c])
    numbers[e] = value
    for c in range(3):
        space.slope[c, e] *= 1.0 / total if total > 0.0 else 0.0


@inlined
def differentiate_point(taken: Taken, space: Space, contacts: Contacts, p: Int, law: Function, values: Vector) -> None:
    """Write ``slope`` of a point whose numbers are in the first row of ``space.trial``."""
    x, g = space.trial[0], taken.tree.gravity
    fall = taken.dt * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    for e in range(ALL):
        # What gravity does in a step is the size of a speed or a way that happens to be zero.
        size = abs(x[e]) if e == GAP else abs(x[e]) + (fall if e >= SPEED else taken.dt * fall)
        difference(taken, space, contacts, p, law, values, e, FINE * size)
    for e in range(2 if taken.mode[p] == OPEN else 0):  # the anchor is where it touches, wherever that is
        for c in range(3):
            space.slope[c, SLIP + e] = 0.0


@inlined
def read_point(taken: Taken, space: Space, points: Points, contacts: Contacts, p: Int) -> None:
    """The numbers of a point as its law saw them, into the first row of ``space.trial``."""
    x, frame, r = space.trial[0], contacts.frame[p], points.radius[p]
    x[GAP], x[SLIP], x[SLIP + 1] = contacts.gap[p], 0.0, 0.0
    if taken.mode[p] != OPEN:
        for c in range(3):
            away = points.position[p, c] + r * frame[2, c] - taken.anchor[p, c]
            x[SLIP] += frame[0, c] * away
            x[SLIP + 1] += frame[1, c] * away
    for c in range(3):
        x[SPEED + c] = contacts.velocity[p, c]


@inlined
def add_column(space: Space, points: Points, contacts: Contacts, k: Int, p: Int, i: Int, way: Int, column: Int) -> None:
    """Add J^T df of a point by the i-th dof of its chain: by its coordinate (``way`` 0) or its velocity (1)."""
    frame, slope, m, f, at = contacts.frame[p], space.slope, space.moved, space.push, space.place
    for c in range(3):
        along = frame[c, 0] * m[0, 0, i] + frame[c, 1] * m[0, 1, i] + frame[c, 2] * m[0, 2, i]
        at[c], f[c] = along * (1.0 - way), 0.0
    for c in range(3):
        f[c] = slope[c, GAP] * at[2] + slope[c, SLIP] * at[0] + slope[c, SLIP + 1] * at[1]
        for e in range(3):
            v = frame[e, 0] * m[1 + way, 0, i] + frame[e, 1] * m[1 + way, 1, i] + frame[e, 2] * m[1 + way, 2, i]
            f[c] += slope[c, SPEED + e] * v
        space.force[p, c, column] = f[c]
    for c in range(3):
        at[c] = frame[0, c] * f[0] + frame[1, c] * f[1] + frame[2, c] * f[2]
    for e in range(points.chain_length[k]):
        space.right[points.chain[k, e], column] += m[2, 0, e] * at[0] + m[2, 1, e] * at[1] + m[2, 2, e] * at[2]


@inlined
def add_point_forces(
    taken: Taken, space: Space, points: Points, contacts: Contacts, law: Function, values: Vector
) -> None:
    """Add J^T df of all near points under a law of points."""
    nv = taken.qvel.size
    for k in range(points.body.size):
        turn_body(taken, space, points, k)
        for n in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[n]
            read_point(taken, space, points, contacts, p)
            differentiate_point(taken, space, contacts, p, law, values)
            locate_point(taken, space, points, contacts, k, p)
            move_point(taken, space, points, k, BEGIN)
            for i in range(points.chain_length[k]):
                for way in range(2):
                    add_column(space, points, contacts, k, p, i, way, way * nv + points.chain[k, i])
