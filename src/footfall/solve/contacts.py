"""What contact laws and solvers share: the modes of a point, the data of all near points, and Coulomb's cone."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Any, NamedTuple

from footfall.compiled import Reference, inlined
from footfall.kinds import Float, Int, Ints, Matrix, Tensor, Vector

OPEN, STICK, SLIDE = 0, 1, 2
MODES = ("open", "stick", "slide")


class Contacts(NamedTuple):
    """What a coupled law sees: the near points and how forces on them move them.

    P points, K bodies that carry points; contact frames have rows tangent, tangent, normal. Velocities and
    accelerations are those of the body's material point, in its contact frame.
    """

    number: Annotated[Ints, 4]  # near points; earlier calls of the law in the same step; columns of ``response`` in
    # use; on a GPU, the stage of the search
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
    mobility: Annotated[Matrix, "6K", "6K"]  # acceleration (linear, angular) of centroids per unit wrench, world frame
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
