"""Contacts between bodies in worlds on a GPU: replacements of the functions that ask MuJoCo for them.

A world keeps, for each pair of geoms, how far their bodies may still move before the two can touch. When the joints
have moved any body by half of the least of these, each is less by what the joints between its bodies have moved, times
their longest levers (:func:`footfall.engine.clearance.levers`). Only pairs that have used theirs up are compared: their
balls, then their shapes (:mod:`footfall.engine.other_bodies.convex`).
Contacts take places behind those of all other points, and pairs of bodies slots behind those of all bodies.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.dynamics.tree import Tree
from footfall.engine.kinematics import release
from footfall.engine.other_bodies.convex import SPOTS, Probe, Shapes, apart, find_spots, put
from footfall.engine.other_bodies.near import KEEP, lacks_room
from footfall.engine.other_bodies.near_pairs import (
    Touch,
    find_pairs,
    find_place,
    find_slot,
    lack_room,
    list_touch,
    merge_chains,
    sides,
    way_of,
    way_of_place,
)
from footfall.engine.other_bodies.pairs import bodies_of, dof_count, dof_of, ground_slots, is_pair, sign_of
from footfall.engine.other_bodies.points import FAR, Points
from footfall.engine.other_bodies.solids import Meetings
from footfall.engine.tape import recorded
from footfall.kinds import Float, Int, IntMatrix, Ints, Matrix, Named, Vector, zeros
from footfall.solve.contacts import Contacts

#: Most contacts between bodies, and most pairs of bodies that have some, in a world; a step that lacks one is unsolved.
PLACES, SLOTS = 32, 12


class PairsOfAll(NamedTuple):
    """What contacts between bodies need to know, constant."""

    body: Any  # (ngeom,)
    root: Any  # (nbody,) row of the body's tree in ``subtree_com``
    chain: Any  # (nbody, nv)
    chain_length: Any  # (nbody,)
    first: int  # place of the first
    shapes: Shapes
    meetings: Meetings


class PairSpace(NamedTuple):
    """Scratch arrays for A pairs of bodies."""

    way: Annotated[Vector, "nbody"]  # m, how far joints up to the root have moved each body since pairs were looked at
    lost: Annotated[Ints, 1]  # contacts that found no place or slot
    body: Annotated[Ints, "A"]
    partner: Annotated[Ints, "A"]
    length: Annotated[Ints, "A"]
    chain: Annotated[IntMatrix, "A", "nv"]
    sign: Annotated[Matrix, "A", "nv"]
    probe: Probe


class Between(NamedTuple):
    """Contacts between bodies in one world."""

    room: Any  # (N + 1,) of the state
    seen: Any  # (nq,)
    touching: Any  # (places,)
    touched: Any  # (S, 3)
    own: Any  # :class:`PairSpace`


def pair_lengths(model: mujoco.MjModel, meetings: Meetings) -> dict[str, int]:
    """The lengths of the arrays of these contacts by name."""
    one, other = model.geom_bodyid[meetings.first], model.geom_bodyid[meetings.second]
    count = len(meetings.first)
    bodies = len(np.unique(np.sort([one, other], axis=0), axis=1).T)
    places, seen = min(PLACES, 2 * SPOTS * count), model.nq if count else 0  # some open while others close
    return {"A": min(SLOTS, bodies), "places": places, "N": count, "seen": seen, "nbody": model.nbody, "nv": model.nv}


def pair_space(lengths: dict[str, int]) -> PairSpace:
    """Scratch arrays of one world."""
    return zeros(PairSpace, lengths, probe=zeros(Probe, {}))


def pairs_of_all(points: Points, tree: Tree, shapes: Shapes, meetings: Meetings) -> PairsOfAll:
    """The constant part; places of contacts begin behind those of all points."""
    pairs = points.others.pairs
    root = tree.body_tree[np.arange(len(pairs.root))]
    first = points.others.first + int(points.others.begin[-1])
    return PairsOfAll(pairs.body, root, pairs.chain, pairs.chain_length, first, shapes, meetings)


@inlined
def find_ways(world: Named, meetings: Meetings, between: Between) -> Float:
    """Find how far joints have moved each body since pairs were looked at; returns the most, m."""
    way, most = between.own.way, 0.0
    way[0] = 0.0
    for b in range(1, way.size):
        moved = way[meetings.parent[b]]
        for k in range(meetings.begin[b], meetings.begin[b + 1]):
            moved += meetings.lever[k] * abs(world.qpos[k] - between.seen[k])
        way[b], most = moved, max(most, moved)
    return most


@inlined
def set_room(between: Between, c: Int, room: Float) -> None:
    """Note how far (m) the bodies of a pair may move before it can touch."""
    least = between.room.size - 1
    between.room[c] = room
    between.room[least] = min(between.room[least], room)


@inlined
def next_near(world: Named, points: Named, c: Int) -> Int:
    """The first pair of geoms from number ``c`` on whose balls touch, or their number if there is none."""
    pairs, room, way, probe = points.others.pairs, points.between.room, points.between.own.way, points.between.own.probe
    shapes, meetings = pairs.shapes, pairs.meetings
    while c < meetings.first.size:
        g, h = meetings.first[c], meetings.second[c]
        left = room[c] - (way[shapes.body[g]] + way[shapes.body[h]] - 2.0 * way[meetings.stem[c]])
        if not left > 0.0:
            put(world.xpos, world.xmat, shapes, g, probe, 0)
            put(world.xpos, world.xmat, shapes, h, probe, 1)
            a, b = probe.place[0], probe.place[1]
            size = shapes.size[g] + shapes.size[h] + meetings.reach[c] - meetings.rest[c]
            left = ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2) ** 0.5 - size
            if not left > 0.0:
                return c
            left *= meetings.patience
        set_room(points.between, c, left)
        c += 1
    return c


@inlined
def list_meeting(world: Named, points: Named, contacts: Contacts, c: Int, used: Int) -> Int:
    """List the contacts of two geoms that are put in their places; returns the slots that are ``used`` then."""
    pairs, between, probe = points.others.pairs, points.between, points.between.own.probe
    shapes, meetings = pairs.shapes, pairs.meetings
    g, h, reach, rest = meetings.first[c], meetings.second[c], meetings.reach[c], meetings.rest[c]
    gap, far = apart(shapes, g, h, probe, reach - rest)
    set_room(between, c, meetings.patience * max(0.0, gap + rest - reach))
    if far or gap + rest > reach:
        return used
    count, (body, partner, side) = find_spots(shapes, g, h, probe, gap), sides(pairs, g, h)
    n, pair = probe.normal, g * pairs.body.size + h
    normal = side * n[0], side * n[1], side * n[2]
    for i in range(count):
        at = probe.spot[i]
        if at[3] + rest <= reach:
            touch = Touch(pair, body, partner, at[:3], normal, at[3] + rest, meetings.friction[c])
            used = list_touch(world, points, contacts, touch, used)
    return used


@inlined
def find_every_pair(world: Named, points: Named, contacts: Contacts) -> None:
    """Replaces :func:`footfall.engine.other_bodies.near_pairs.find_pairs`."""
    pairs, between, near, ground = points.others.pairs, points.between, contacts.near, points.body.size
    for k in range(ground):
        for i in range(near[k], near[k + 1]):
            contacts.body[contacts.points[i]] = k
    for k in range(ground + 1, near.size):
        near[k] = near[ground]
    many, used, c = pairs.meetings.first.size, ground, 0
    between.own.lost[0] = 0
    if many == 0 or 2.0 * find_ways(world, pairs.meetings, between) < between.room[many]:
        return
    between.room[many] = FAR
    for s in range(between.touching.size):
        if between.touching[s] > 0:
            contacts.gap[pairs.first + s] = FAR
    while c < many:
        c = next_near(world, points, c)
        if c < many:
            used = list_meeting(world, points, contacts, c, used)
            c += 1
    for k in range(between.seen.size):
        between.seen[k] = world.qpos[k]
    for s in range(between.touching.size):
        if between.touching[s] > 0 and contacts.gap[pairs.first + s] == FAR:
            release(points, pairs.first + s)
            between.touching[s] = -between.touching[s]


@inlined
def find_own_place(points: Named, contacts: Contacts, pair: Int, x: Float, y: Float, z: Float) -> Int:
    """As :func:`footfall.engine.other_bodies.near_pairs.find_place`."""
    first, touching, touched = points.others.pairs.first, points.between.touching, points.between.touched
    found, free, nearest = -1, -1, KEEP * KEEP
    for s in range(touching.size):
        if touching[s] <= 0:
            free = s if free < 0 else free
        elif touching[s] == pair + 1 and contacts.gap[first + s] == FAR:
            at = touched[s]
            square = (at[0] - x) ** 2 + (at[1] - y) ** 2 + (at[2] - z) ** 2
            if square < nearest:
                found, nearest = s, square
    if found < 0 and free >= 0:
        found, at = free, touched[free]
        touching[free], at[0], at[1], at[2] = pair + 1, x, y, z
        release(points, first + free)
    return first + found if found >= 0 else -1


@inlined
def find_own_slot(points: Named, body: Int, partner: Int, used: Int) -> Int:
    """As :func:`footfall.engine.other_bodies.near_pairs.find_slot`."""
    own, ground = points.between.own, points.body.size
    for a in range(used - ground):
        if own.body[a] == body and own.partner[a] == partner:
            return ground + a
    a = used - ground
    if a == own.body.size:
        return -1
    own.body[a], own.partner[a] = body, partner
    own.length[a] = merge_chains(points.others.pairs, body, partner, own.chain[a], own.sign[a])
    return used


@inlined
def bodies_of_all(points: Named, k: Int) -> tuple[Int, Int]:
    own, a = points.between.own, k - points.body.size
    return own.body[a], own.partner[a]


@inlined
def dof_count_of_all(points: Named, k: Int) -> Int:
    ground = points.body.size
    return points.chain_length[k] if k < ground else points.between.own.length[k - ground]


@inlined
def dof_of_all(points: Named, k: Int, i: Int) -> Int:
    ground = points.body.size
    return points.chain[k, i] if k < ground else points.between.own.chain[k - ground, i]


@inlined
def lack_own_room(points: Named) -> None:
    points.between.own.lost[0] += 1


@inlined
def recorded_of_all(others: Named, s: Int, q: Int) -> Int:
    """As :func:`footfall.engine.tape.recorded`."""
    points = others.begin[others.body.size]
    return q + 1 if q < points else points + abs(others.touching[q - points])


#: What replaces which function where kernels are compiled for a GPU.
STAND_INS = {
    find_pairs: find_every_pair,
    find_place: find_own_place,
    find_slot: find_own_slot,
    bodies_of: bodies_of_all,
    dof_count: dof_count_of_all,
    dof_of: dof_of_all,
    sign_of: lambda points, k, i: points.between.own.sign[k - points.body.size, i],
    way_of_place: lambda points, p, at: way_of(points.between.touched[p - points.others.pairs.first], at),
    lack_room: lack_own_room,
    lacks_room: lambda points: points.between.own.lost[0] > 0,
    ground_slots: lambda points: points.body.size,
    is_pair: lambda others, q: q >= others.begin[others.body.size],
    recorded: recorded_of_all,
}
