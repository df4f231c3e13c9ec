"""What contact laws and solvers share: the modes of a point, the data of all near points, and Coulomb's cone."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import Reference, inlined

OPEN, STICK, SLIDE = 0, 1, 2
MODES = ("open", "stick", "slide")


class Contacts(NamedTuple):
    """What a coupled law sees: the near points and how forces on them move them.

    P points, K bodies that carry points; contact frames have rows tangent, tangent, normal. Velocities and
    accelerations are those of the body's material point, in its contact frame.
    """

    number: np.ndarray  # (2,) number of near points; how often the law was asked before in the same step
    points: np.ndarray  # (P,) which points these are, first `number` entries
    body: np.ndarray  # (P,) contact body of each point
    near: np.ndarray  # (K + 1,) where the near points of each body begin in `points`, and `number`
    position: np.ndarray  # (P, 3) m, world frame
    anchor: np.ndarray  # (P, 3) m, world frame, where the point stuck last; the law may move it
    gap: np.ndarray  # (P,) m, negative inside the ground
    frame: np.ndarray  # (P, 3, 3) world from contact frame, as rows
    velocity: np.ndarray  # (P, 3) m/s
    acceleration: np.ndarray  # (P, 3) m/s2, without any contact force
    bias: np.ndarray  # (P, 3) m/s2, the part of it that is Jdot qdot
    arm: np.ndarray  # (P, 3) m, world frame, from the centroid of the body's near points
    mobility: np.ndarray  # (6K, 6K) acceleration (linear, angular) of the centroids per unit wrench, world frame
    static_friction: np.ndarray  # (P,)
    dynamic_friction: np.ndarray  # (P,)
    effort: np.ndarray  # (1,) what solving may still cost in this step, see :mod:`footfall.solve.effort`


@cache
def coupled_signature() -> Any:
    from numba import float64, int64, types

    def array(kind: Any, ndim: int) -> Any:
        return types.Array(kind, ndim, "C")

    kinds = {"number": int64, "points": int64, "body": int64, "near": int64}
    lists = ("number", "points", "body", "near", "gap", "static_friction", "dynamic_friction", "effort")
    dims = {"frame": 3} | dict.fromkeys(lists, 1)
    fields = [array(kinds.get(name, float64), dims.get(name, 2)) for name in Contacts._fields]
    matrix, vector = array(float64, 2), array(float64, 1)
    contacts = Reference(types.NamedTuple(fields, Contacts))
    integers = array(int64, 1)
    scratch = int64  # an address: the loop is compiled once, whatever the arrays of the law are
    return int64(contacts, float64, matrix, matrix, integers, scratch, vector, vector)


@inlined
def coulomb(x, y, limit):
    """Limit a tangential force to ``limit`` N in its direction: the limited force, and whether the point slides.

    Rengifo 2009, (12) and (20); Ott 2011, (2).
    """
    size = math.sqrt(x * x + y * y)
    if size <= limit:
        return x, y, STICK
    scale = limit / size
    return x * scale, y * scale, SLIDE
