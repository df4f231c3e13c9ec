"""What contact laws and solvers share: the modes of a point, the data of all near points, and Coulomb's cone."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Any, NamedTuple

from footfall.compiled import Reference, inlined, kernel
from footfall.compiled.lanes import lane, lanes, wait
from footfall.kinds import Float, Int, Ints, Matrix, Tensor, Vector

OPEN, STICK, SLIDE = 0, 1, 2
MODES = ("open", "stick", "slide")


class Contacts(NamedTuple):
    """What a coupled law sees: the near points and how forces on them move them.

    P points, K bodies that carry points; contact frames have rows tangent, tangent, normal. Velocities and
    accelerations are those of the body's material point, in its contact frame.
    """

    number: Annotated[Ints, 5]  # near points; earlier calls of the law in the same step; columns of ``response`` in
    # use; on a GPU, the stage of the search; how much of ``mobility`` is known, see :func:`write_mobility`
    points: Annotated[Ints, "P"]  # indices of the near points, in the first `number` entries
    body: Ints  # (P,) contact body of each point
    near: Annotated[Ints, "K + 1"]  # where the near points of each body begin in `points`, and `number`
    position: Matrix  # (P, 3) m, world frame
    anchor: Matrix  # (P, 3) m, world frame, where the point stuck last; the law may move it
    gap: Vector  # (P,) m, negative inside the ground
    frame: Annotated[Tensor, "P", 3, 3]  # world from contact frame, as rows
    velocity: Annotated[Matrix, "P", 3]  # m/s
    acceleration: Annotated[Matrix, "P", 3]  # m/s2, without any contact force
    bias: Annotated[Matrix, "P", 3]  # m/s2, the part Jdot qdot of the acceleration
    arm: Annotated[Matrix, "P", 3]  # m, world frame, from the centroid of the body's near points
    mobility: Annotated[Matrix, "6K", "6K"]  # acceleration (linear, angular) of centroids per unit wrench, world frame;
    # a solver has it written from ``response`` where it needs it
    static_friction: Vector  # (P,)
    dynamic_friction: Vector  # (P,)
    response: Annotated[Tensor, "K", "C", 8]  # columns H of each body: six numbers, padded to eight
    weight: Annotated[Vector, "C"]  # of each column: the mobility between two bodies is the sum of weight times H H^T


@cache
def coupled_signature() -> Any:
    from numba import float64, int64, types

    def array(kind: Any, ndim: int) -> Any:
        return types.Array(kind, ndim, "C")

    kinds = {"number": int64, "points": int64, "body": int64, "near": int64}
    lists = ("number", "points", "body", "near", "gap", "static_friction", "dynamic_friction", "weight")
    dims = {"frame": 3, "response": 3} | dict.fromkeys(lists, 1)
    fields = [array(kinds.get(name, float64), dims.get(name, 2)) for name in Contacts._fields]
    matrix, vector = array(float64, 2), array(float64, 1)
    contacts = Reference(types.NamedTuple(fields, Contacts))
    integers = array(int64, 1)
    scratch = int64  # an address: the loop is compiled once, whatever the arrays of the law are
    return int64(contacts, float64, matrix, matrix, integers, scratch, vector, vector)


@inlined
def coulomb(x: Float, y: Float, limit: Float) -> tuple[Float, Float, Int]:
    """Shorten a tangential force to at most ``limit`` N; returns it, and SLIDE if it was shortened, else STICK.

    Rengifo 2009, (12) and (20); Ott 2011, (2).
    """
    size = math.sqrt(x * x + y * y)
    if size <= limit:  # Rengifo 2009, eq. 12; Ott 2011, eq. 2
        return x, y, STICK
    scale = limit / size
    return x * scale, y * scale, SLIDE


#: Entry of ``Contacts.number`` with the known part of the mobility: none of it, the block of each body, all.
KNOWN = 4
NOTHING, OWN, ALL = 0, 1, 2


@inlined
def write_rows(contacts: Contacts, k: Int, m: Int, r: Int) -> None:
    """Write three rows, from ``r`` on, of the mobility between bodies k and m, and the same numbers as columns."""
    a0, a1, a2, a3, a4, a5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    b0, b1, b2, b3, b4, b5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    c0, c1, c2, c3, c4, c5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(contacts.number[2]):
        h, g, weight = contacts.response[k, j], contacts.response[m, j], contacts.weight[j]
        x, y, z = weight * h[r], weight * h[r + 1], weight * h[r + 2]
        if x == 0.0 and y == 0.0 and z == 0.0:  # as of most joints, which do not move this body
            continue
        g0, g1, g2, g3, g4, g5 = g[0], g[1], g[2], g[3], g[4], g[5]
        a0, a1, a2, a3, a4, a5 = a0 + x * g0, a1 + x * g1, a2 + x * g2, a3 + x * g3, a4 + x * g4, a5 + x * g5
        b0, b1, b2, b3, b4, b5 = b0 + y * g0, b1 + y * g1, b2 + y * g2, b3 + y * g3, b4 + y * g4, b5 + y * g5
        c0, c1, c2, c3, c4, c5 = c0 + z * g0, c1 + z * g1, c2 + z * g2, c3 + z * g3, c4 + z * g4, c5 + z * g5
    out, row, column = contacts.mobility, 6 * k + r, 6 * m
    write_row(out, row, column, (a0, a1, a2, a3, a4, a5))
    write_row(out, row + 1, column, (b0, b1, b2, b3, b4, b5))
    write_row(out, row + 2, column, (c0, c1, c2, c3, c4, c5))


@inlined
def write_row(out: Matrix, row: Int, column: Int, values: tuple[Float, Float, Float, Float, Float, Float]) -> None:
    a0, a1, a2, a3, a4, a5 = values
    out[row, column], out[row, column + 1], out[row, column + 2] = a0, a1, a2
    out[row, column + 3], out[row, column + 4], out[row, column + 5] = a3, a4, a5
    out[column, row], out[column + 1, row], out[column + 2, row] = a0, a1, a2
    out[column + 3, row], out[column + 4, row], out[column + 5, row] = a3, a4, a5


@kernel
def write_mobility(contacts: Contacts, part: Int) -> None:
    """Write the mobility of each body with near points (``OWN``) or also that between bodies (``ALL``), Rengifo 2009
    (15)-(16), unless it is known.

    Where many bodies lie on the ground that between them takes longer than to find their forces without it.
    """
    near, known = contacts.near, contacts.number[KNOWN]
    if known >= part:
        return
    for k in range(near.size - 1):
        if near[k] == near[k + 1]:
            continue
        first = k if part == OWN else 0
        for m in range(first + lane(), k + 1, lanes()):
            if near[m] < near[m + 1] and (m < k or known == NOTHING):
                write_rows(contacts, k, m, 0)  # Rengifo 2009, eq. 15-16
                write_rows(contacts, k, m, 3)
    wait()
    if lane() == 0:
        contacts.number[KNOWN] = part
    wait()


@inlined
def to_contact_frames(contacts: Contacts, force: Matrix) -> None:
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, x, y, z = contacts.frame[p], force[p, 0], force[p, 1], force[p, 2]
        for k in range(3):
            force[p, k] = frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z


@inlined
def to_world_frames(contacts: Contacts, force: Matrix, world: Matrix) -> None:
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, f = contacts.frame[p], force[p]
        for k in range(3):
            world[p, k] = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]
