"""Rigid soles: the rigid motion nearest to wanted motions of points, and a sole whose points all stick."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.engine.derivatives.contact_motions import BEGIN, locate_point, move_point, ways_to_move
from footfall.engine.derivatives.space import Space, Taken
from footfall.engine.kinematics import cross, from_frame, into_frame
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Float, Int, Matrix, Vector
from footfall.solve.contacts import Contacts

#: Squared share of a motion below which it depends linearly on the others, as the rotation of collinear points about
#: their line.
NONE_LEFT = 1e-12


@inlined
def scalar_product(space: Space, contacts: Contacts, k: Int, x: Matrix, y: Matrix) -> Float:
    """The scalar product of two motions (P, 3) of the points of slot k with a prescribed motion (``asked``)."""
    found = 0.0
    for n in range(contacts.near[k], contacts.near[k + 1]):
        p = contacts.points[n]
        if space.asked[p] == 1:
            found += x[p, 0] * y[p, 0] + x[p, 1] * y[p, 1] + x[p, 2] * y[p, 2]
    return found


@inlined
def add_motion(space: Space, contacts: Contacts, k: Int, out: Matrix, share: Float, x: Matrix) -> None:
    """Add ``share`` of a motion (P, 3) to another."""
    for n in range(contacts.near[k], contacts.near[k + 1]):
        p = contacts.points[n]
        if space.asked[p] == 1:
            for c in range(3):
                out[p, c] += share * x[p, c]


@inlined
def find_rigid_motions(space: Space, points: Points, contacts: Contacts, k: Int) -> Int:
    """Write the rigid motions of the asked points of slot k, orthonormal, to ``rigid`` (6, P, 3), contact frames.

    Returns how many there are: fewer than six if the points are on one line.
    """
    first, last, rank = contacts.near[k], contacts.near[k + 1], 0
    for axis in range(6):
        new = space.rigid[rank]
        for n in range(first, last):
            p = contacts.points[n]
            for c in range(3):
                frame, m = contacts.frame[p, c], axis % 3
                i, j = (m + 1) % 3, (m + 2) % 3
                y = points.position[p, i] - points.position[contacts.points[first], i]
                z = points.position[p, j] - points.position[contacts.points[first], j]
                new[p, c] = frame[m] if axis < 3 else frame[j] * y - frame[i] * z
        size = scalar_product(space, contacts, k, new, new)
        for other in range(2 * rank):  # orthogonalised twice, against rounding
            known = space.rigid[other % rank]
            add_motion(space, contacts, k, new, -scalar_product(space, contacts, k, new, known), known)
        left = scalar_product(space, contacts, k, new, new)
        if left > NONE_LEFT * size:
            add_motion(space, contacts, k, new, 1.0 / math.sqrt(left) - 1.0, new)
            rank += 1
    return rank


@inlined
def make_rigid(space: Space, contacts: Contacts, k: Int, rank: Int, motion: Matrix) -> None:
    """Replace a motion (P, 3) of the asked points by the nearest rigid one."""
    for e in range(rank):
        space.share[e] = scalar_product(space, contacts, k, space.rigid[e], motion)
    add_motion(space, contacts, k, motion, -1.0, motion)
    for e in range(rank):
        add_motion(space, contacts, k, motion, space.share[e], space.rigid[e])


@inlined
def add_turned(share: Float, frame: Matrix, u: Vector, s: Vector, out: Vector) -> None:
    """Add ``share`` times the rate s x u of a motion u that turns with the axis s, in the contact frame."""
    turned = into_frame(frame, *cross(s[0], s[1], s[2], *from_frame(frame, u)))
    for c in range(3):
        out[c] += share * turned[c]


@inlined
def fit_sole(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, rank: Int) -> None:
    """Replace motions u of the asked points, and their changes e, by the nearest rigid ones, as the law does.

    The fit turns with the body: it is applied to the change e without that turn.
    """
    first, last, column = contacts.near[k], contacts.near[k + 1], space.column
    for n in range(first, last):
        p = contacts.points[n]
        for c in range(3):
            space.fitted[p, c] = space.motion[p, c]
    make_rigid(space, contacts, k, rank, space.fitted)
    for e in range(taken.by.value.size):
        if taken.by.value[e] >= 0:
            make_rigid(space, contacts, k, rank, space.missed_value[e])
    for i in range(ways_to_move(taken, points, k)):
        s = space.axes[i]
        for way in range(2):
            turn = 1.0 - way
            for n in range(first, last):
                p = contacts.points[n]
                for c in range(3):
                    column[p, c] = space.missed[p, way, c, i]
                add_turned(-turn, contacts.frame[p], space.motion[p], s, column[p])
            make_rigid(space, contacts, k, rank, column)
            for n in range(first, last):
                p = contacts.points[n]
                add_turned(turn, contacts.frame[p], space.fitted[p], s, column[p])
                for c in range(3):
                    space.missed[p, way, c, i] = column[p, c]
    for n in range(first, last):
        p = contacts.points[n]
        for c in range(3):
            space.motion[p, c] = space.fitted[p, c]


@inlined
def new_unknown(taken: Taken, space: Space, who: Int, give: Float) -> Int:
    """Make room for an unknown force of the point ``who``, or of a whole body (-1); returns its number."""
    u = space.number[0]
    space.number[0], space.who[u], space.give[u] = u + 1, who, give
    for j in range(taken.qvel.size):
        space.hold[u, j], space.pull_by[j, u] = 0.0, 0.0
    for c in range(space.answer.shape[1]):
        space.answer[u, c] = 0.0
    return u


@inlined
def add_missed_parameters(taken: Taken, space: Space, points: Points, k: Int, p: Int, u: Int, held: Vector) -> None:
    """Add e of a point by parameters, along ``held`` (3,) in its contact frame, to those of an unknown."""
    by, line, last = taken.by, space.answer[u], points.chain_length[k]
    for c in range(3):
        if by.slope >= 0:
            line[by.slope] += held[c] * space.missed[p, 0, c, last]
        for axis in range(3 if by.place >= 0 and p < by.feet else 0):
            line[by.place + 3 * p + axis] += held[c] * space.missed[p, 0, c, ways_to_move(taken, points, k) - 3 + axis]
        for e in range(by.value.size):
            if by.value[e] >= 0:
                line[by.value[e]] += held[c] * space.missed_value[e, p, c]


@inlined
def hold_sole(taken: Taken, space: Space, points: Points, contacts: Contacts, k: Int, rank: Int) -> None:
    """Add the unknowns of a body whose points all stick: the least-norm forces of its points for each rigid motion."""
    u, nv, axis = space.number[0], taken.qvel.size, space.moved[2]
    space.sole[k], space.rank[k] = u, rank
    for _ in range(rank):
        new_unknown(taken, space, -1, 0.0)
    for n in range(contacts.near[k], contacts.near[k + 1]):
        p = contacts.points[n]
        if space.asked[p] == 0:
            continue
        frame, e = contacts.frame[p], space.missed[p]
        locate_point(taken, space, points, contacts, k, p)
        move_point(taken, space, points, k, BEGIN)
        for i in range(points.chain_length[k]):
            j = points.chain[k, i]
            for c in range(3):
                along = frame[c, 0] * axis[0, i] + frame[c, 1] * axis[1, i] + frame[c, 2] * axis[2, i]
                for r in range(rank):
                    share = space.rigid[r, p, c]
                    space.hold[u + r, j] += share * along
                    space.pull_by[j, u + r] += share * along
                    space.answer[u + r, j] += share * e[0, c, i]
                    space.answer[u + r, nv + j] += share * e[1, c, i]
        for r in range(rank if taken.by.columns > 0 else 0):
            add_missed_parameters(taken, space, points, k, p, u + r, space.rigid[r, p])


@inlined
def mobility_of_sole(space: Space, contacts: Contacts, k: Int) -> Float:
    """The largest mobility of a point of a body that sticks as a whole, from that of its rigid motions."""
    u, rank, largest = space.sole[k], space.rank[k], 0.0
    for n in range(contacts.near[k], contacts.near[k + 1]):
        p = contacts.points[n]
        for c in range(3 if space.asked[p] == 1 else 0):
            found = 0.0
            for r in range(rank):
                for s in range(rank):
                    found += space.rigid[r, p, c] * space.system[u + r, u + s] * space.rigid[s, p, c]
            largest = max(largest, found)
    return largest


@inlined
def write_sole_forces(space: Space, contacts: Contacts, k: Int) -> None:
    """Write the forces of the points of a body that sticks as a whole, by columns, from the solved unknowns."""
    rank, columns = space.rank[k], space.answer.shape[1]
    for n in range(contacts.near[k], contacts.near[k + 1]):
        p = contacts.points[n]
        for c in range(3 if space.asked[p] == 1 else 0):
            for r in range(rank):
                share, answer = space.rigid[r, p, c], space.answer[space.sole[k] + r]
                for column in range(columns):
                    space.force[p, c, column] += share * answer[column]
