"""The states of the feet of one world in the memory that the lanes of a warp share.

The names are those of :class:`footfall.solve.selection.soles.Desk` and of :class:`footfall.solve.contacts.Contacts`, so
that what one lane does alone, for a foot or for a vertex, are the functions of :mod:`footfall.solve.selection`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.solve.contacts import Contacts
from footfall.solve.together.desk import ACROSS, DOWN, LANES, wait


class SelectionDesk(NamedTuple):
    """What the lanes share of P points on K feet, N = 6K."""

    # of the contacts
    points: Any  # (P,) integers
    near: Any  # (K + 1,) integers
    gap: Any  # (P,)
    frame: Any  # (P, 3, 3)
    velocity: Any  # (P, 3)
    arm: Any  # (P, 3)
    mobility: Any  # (N, N + 1)
    static_friction: Any  # (P,)
    dynamic_friction: Any  # (P,)
    # of the desk of one lane
    begin: Any  # (K + 1,) integers
    code: Any  # (K,) integers
    fault: Any  # (K,) integers
    worst: Any  # (K,) integers
    row: Any  # (K + 1,) integers
    motion: Any  # (K, 6)
    moved: Any  # (K, 6)
    joint: Any  # (K, 6)
    pressure: Any  # (K, 6)
    shares: Any  # (K, 6)
    braked: Any  # (K, 12)
    ring: Any  # (P + 1,) integers
    place: Any  # (P, 6)
    push: Any  # (P, 6)
    end: Any  # (P, 6)
    basis: Any  # (N, 6)
    mapped: Any  # (N, N + 1)
    matrix: Any  # (N, N + 1)
    system: Any  # (N, N + 1)
    wanted: Any  # (N,)
    rest: Any  # (N,)
    multiplier: Any  # (N,)
    scale: Any  # (N,)
    half: Any  # (N,)
    # for lanes
    pair: Any  # (2, N, N + 2) equations, their right sides last, before and after a turn of their elimination
    reduced: Any  # (N, N + 1) equations without the unknowns that do not depend on sliding friction
    diagonal: Any  # (N,) of the equations before their elimination
    order: Any  # (N,) integers: rows, those without sliding friction first
    owner: Any  # (N,) integers: the foot of each row
    soft: Any  # (N,) integers: 1 for rows with sliding friction
    carrying: Any  # (N,) integers: where in `order` the rows are whose multipliers load feet that slide
    rank: Any  # (K,) integers: of each foot
    dampers: Any  # (P, 3) strength and direction of sliding friction made linear
    missed: Any  # (P,) N, friction that a vertex misses
    whole: Any  # (P,) N, friction that it should have
    first: Any  # (LANES,) integers: what each lane found
    second: Any  # (LANES,) integers


#: Which arrays of it have whole numbers.
SELECTION_WHOLE = (
    *("points", "near", "begin", "code", "fault", "worst", "row", "ring"),
    *("order", "owner", "soft", "carrying", "rank", "first", "second"),
)


def selection_shapes(points: int, feet: int) -> dict[str, tuple[int, ...]]:
    """The shapes of its arrays."""
    n = 6 * feet
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(SelectionDesk._fields, (n,))
    shapes |= dict.fromkeys(("points", "gap", "static_friction", "dynamic_friction", "missed", "whole"), (points,))
    shapes |= dict.fromkeys(("velocity", "arm", "dampers"), (points, 3)) | {
        "frame": (points, 3, 3),
        "ring": (points + 1,),
    }
    shapes |= dict.fromkeys(("place", "push", "end"), (points, 6))
    shapes |= dict.fromkeys(("near", "begin", "row"), (feet + 1,))
    shapes |= dict.fromkeys(("code", "fault", "worst", "rank"), (feet,))
    shapes |= dict.fromkeys(("motion", "moved", "joint", "pressure", "shares"), (feet, 6)) | {"braked": (feet, 12)}
    shapes |= dict.fromkeys(("mobility", "mapped", "matrix", "system", "reduced"), (n, n + 1))
    return shapes | {"basis": (n, 6), "pair": (2, n, n + 2), "first": (LANES,), "second": (LANES,)}


def selection_bytes(points: int, feet: int) -> int:
    """Memory that lanes share for it, bytes."""
    return 8 * sum(math.prod(shape) for shape in selection_shapes(points, feet).values())


@inlined
def fetch_outlines(lane, contacts, own, desk):
    """Bring the outlines of the feet as a lane has described them, in ``own``, to the desk."""
    for b in range(lane, contacts.near.size, LANES):
        desk.begin[b] = own.begin[b]
    for q in range(lane, contacts.gap.size, LANES):
        desk.ring[q] = own.ring[q]
    wait()


@inlined
def fetch_feet(lane, contacts, own, desk):
    """Bring all else that a lane has described of the feet to the desk."""
    feet = contacts.near.size - 1
    for b in range(lane, feet + 1, LANES):
        desk.near[b] = contacts.near[b]
    for b in range(lane, feet, LANES):
        desk.code[b] = own.code[b]
    for i in range(lane, contacts.number[0], LANES):
        desk.points[i] = contacts.points[i]
    for p in range(lane, contacts.gap.size, LANES):
        gap, static, dynamic = contacts.gap[p], contacts.static_friction[p], contacts.dynamic_friction[p]
        desk.gap[p], desk.static_friction[p], desk.dynamic_friction[p] = gap, static, dynamic
    for i in range(lane // ACROSS, 6 * feet, DOWN):
        for j in range(lane % ACROSS, 6 * feet, ACROSS):
            desk.mobility[i, j] = contacts.mobility[i, j]
    for b in range(lane // ACROSS, feet, DOWN):
        for k in range(lane % ACROSS, 6, ACROSS):
            desk.motion[b, k] = own.motion[b, k]
    for p in range(lane // ACROSS, contacts.gap.size, DOWN):
        for k in range(lane % ACROSS, 6, ACROSS):
            desk.place[p, k] = own.place[p, k]
        for k in range(lane % ACROSS, 3, ACROSS):
            x, y, z = contacts.frame[p, k, 0], contacts.frame[p, k, 1], contacts.frame[p, k, 2]
            velocity, arm = contacts.velocity[p, k], contacts.arm[p, k]
            desk.frame[p, k, 0], desk.frame[p, k, 1], desk.frame[p, k, 2] = x, y, z
            desk.velocity[p, k], desk.arm[p, k] = velocity, arm
    wait()


@inlined
def contacts_at(contacts, desk):
    """The contacts with those arrays that the desk has."""
    return Contacts(
        contacts.number,
        desk.points,
        contacts.body,
        desk.near,
        contacts.position,
        contacts.anchor,
        desk.gap,
        desk.frame,
        desk.velocity,
        contacts.acceleration,
        contacts.bias,
        desk.arm,
        desk.mobility,
        desk.static_friction,
        desk.dynamic_friction,
        contacts.effort,
    )
