"""Contacts between bodies in worlds on a GPU: replacements of the functions that ask MuJoCo for them.

They are found between two parts of a step, by all lanes of the block that steps 32 worlds: the lanes share the pairs
of geoms of these worlds, compare the balls around them, list the pairs whose balls touch, whichever world's, and share
those. If each lane did this for its world, all would wait at each pair for the few whose balls touch, which costs four
times as much as the rest of a step. The lane of a world then lists its contacts in the order of pairs. They take places
behind those of all other points, and pairs of bodies slots behind those of all bodies.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.compiled.gpu_tiles import TILE
from footfall.compiled.lanes import lane, lanes, take, wait
from footfall.engine.dynamics.tree import Tree
from footfall.engine.kinematics import release
from footfall.engine.other_bodies.convex import SPOTS, Probe, Shapes, apart, find_spots, gap_along, put
from footfall.engine.other_bodies.near import KEEP, lacks_room
from footfall.engine.other_bodies.near_pairs import (
    Touch,
    closes_soon,
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
from footfall.engine.other_bodies.pairs import (
    bodies_of,
    dof_count,
    dof_of,
    ground_slots,
    is_pair,
    relative_velocity,
    sign_of,
)
from footfall.engine.other_bodies.points import FAR, Points
from footfall.engine.other_bodies.solids import Meetings
from footfall.engine.tape import recorded
from footfall.engine.worlds.arrays import PLACED
from footfall.kinds import Bool, Float, Int, IntMatrix, Ints, Matrix, Named, Tensor, zeros
from footfall.solve.contacts import Contacts
from footfall.solve.gather import tuple_of

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

    found: Annotated[Ints, 1]  # contacts that are about to touch, in any order:
    which: Annotated[Ints, "places"]  # the pair of geoms of each, times SPOTS, and its number of their spots
    touch: Annotated[Matrix, "places", 7]  # m, world frame, where it is; its normal; m, its gap
    lost: Annotated[Ints, 1]  # contacts that found no place or slot
    body: Annotated[Ints, "A"]
    partner: Annotated[Ints, "A"]
    length: Annotated[Ints, "A"]
    chain: Annotated[IntMatrix, "A", "nv"]
    sign: Annotated[Matrix, "A", "nv"]


#: Contacts between bodies in one world: of its state, and its :class:`PairSpace`.
Between = tuple_of("Between", ("touching", "touched", "held", "own"), __name__)


class Sight(NamedTuple):
    """Scratch of a block that looks for contacts between the bodies of its worlds."""

    middle: Annotated[Tensor, "G", 3, TILE]  # m, world frame, of each geom
    due: Annotated[Ints, "due"]  # pairs of geoms that may touch, times TILE, and the world of each


class Block(NamedTuple):
    """A block and its worlds."""

    spaces: Any  # of all lanes
    space_of: Any  # function that gives that of a lane
    first: Any  # lane
    sight: Any
    count: Any  # (2,) pairs whose balls touch; those of them that may touch
    probe: Any  # the lane's


def pair_lengths(model: mujoco.MjModel, meetings: Meetings) -> dict[str, int]:
    """The lengths of the arrays of these contacts by name."""
    one, other = model.geom_bodyid[meetings.first], model.geom_bodyid[meetings.second]
    count = len(meetings.first)
    bodies = len(np.unique(np.sort([one, other], axis=0), axis=1).T)
    places = min(PLACES, 2 * SPOTS * count)  # some open while others close
    return {"A": min(SLOTS, bodies), "places": places, "nv": model.nv}


def pair_space(lengths: dict[str, int]) -> PairSpace:
    """Scratch arrays of one world."""
    return zeros(PairSpace, lengths)


def sight(pairs: PairsOfAll) -> Sight:
    """Scratch arrays of one block."""
    many = len(pairs.meetings.first)
    return zeros(Sight, {"G": len(pairs.shapes.body) if many else 0, "due": TILE * many})


def pairs_of_all(points: Points, tree: Tree, shapes: Shapes, meetings: Meetings) -> PairsOfAll:
    """The constant part; places of contacts begin behind those of all points."""
    pairs = points.others.pairs
    root = tree.body_tree[np.arange(len(pairs.root))]
    first = points.others.first + int(points.others.begin[-1])
    return PairsOfAll(pairs.body, root, pairs.chain, pairs.chain_length, first, shapes, meetings)


@inlined
def list_near(space: Named, pairs: PairsOfAll, block: Block) -> None:
    """List the pairs of geoms of a world whose balls touch, with the lanes that have this world."""
    shapes, meetings, x, rows = pairs.shapes, pairs.meetings, lane() % TILE, max(1, lanes() // TILE)
    middle, placed = block.sight.middle, space.answer[0] == PLACED
    if placed:
        space.pairs.found[0] = 0
        for g in range(lane() // TILE, shapes.body.size, rows):
            b, u = shapes.body[g], shapes.place[g]
            at, r = space.xpos[b], space.xmat[b]
            for i in range(3):
                middle[g, i, x] = at[i] + r[3 * i] * u[0] + r[3 * i + 1] * u[1] + r[3 * i + 2] * u[2]
    wait()
    if placed:
        for c in range(lane() // TILE, meetings.first.size, rows):
            a, b, size = middle[meetings.first[c]], middle[meetings.second[c]], meetings.near[c]
            if (a[0, x] - b[0, x]) ** 2 + (a[1, x] - b[1, x]) ** 2 + (a[2, x] - b[2, x]) ** 2 <= size * size:
                block.sight.due[take(block.count, 0)] = TILE * c + x
    wait()


@inlined
def put_pair(space: Named, pairs: PairsOfAll, c: Int, probe: Probe) -> None:
    """Put both geoms of a pair in their places."""
    put(space.xpos, space.xmat, pairs.shapes, pairs.meetings.first[c], probe, 0)
    put(space.xpos, space.xmat, pairs.shapes, pairs.meetings.second[c], probe, 1)


@inlined
def parted(space: Named, pairs: PairsOfAll, c: Int, probe: Probe) -> Bool:
    """Whether a plane across the line of their middles parts two geoms."""
    shapes, meetings, at = pairs.shapes, pairs.meetings, probe.place
    put_pair(space, pairs, c, probe)
    g, h = meetings.first[c], meetings.second[c]
    x, y, z = at[1, 0] - at[0, 0], at[1, 1] - at[0, 1], at[1, 2] - at[0, 2]
    beyond = meetings.reach[c] - meetings.rest[c] + shapes.ball[g] + shapes.ball[h]
    return gap_along(shapes, g, h, probe, x, y, z) > beyond * math.sqrt(x * x + y * y + z * z)


@inlined
def compare(space: Named, pairs: PairsOfAll, c: Int, probe: Probe, dt: Float) -> None:
    """Write the spots of two geoms that close soon to the contacts found of their world."""
    shapes, meetings, own = pairs.shapes, pairs.meetings, space.pairs
    put_pair(space, pairs, c, probe)
    g, h, reach, rest = meetings.first[c], meetings.second[c], meetings.reach[c], meetings.rest[c]
    gap, far = apart(shapes, g, h, probe, reach - rest)
    if far or gap + rest > reach:
        return
    count, (body, partner, side) = find_spots(shapes, g, h, probe, gap), sides(pairs, g, h)
    n = probe.normal
    nx, ny, nz = side * n[0], side * n[1], side * n[2]
    for i in range(count):
        at = probe.spot[i]
        u, v, w = relative_velocity(space.cvel, space.subtree_com, pairs, body, partner, at)
        left = at[3] + rest
        if left <= reach and closes_soon(left, u * nx + v * ny + w * nz, dt):
            place = take(own.found, 0)
            if place < own.which.size:
                own.which[place], to = SPOTS * c + i, own.touch[place]
                to[0], to[1], to[2], to[3], to[4], to[5], to[6] = at[0], at[1], at[2], nx, ny, nz, left


@inlined
def look(pairs: PairsOfAll, block: Block, dt: Float) -> None:
    """Find the contacts between bodies that are about to touch, in all worlds of a block whose bodies are placed."""
    due, count, probe = block.sight.due, block.count, block.probe
    if lane() == 0:
        count[0], count[1] = 0, 0
    wait()
    list_near(block.space_of(block.spaces, block.first + lane() % TILE), pairs, block)
    for first in range(0, count[0], lanes()):
        k, left, one = first + lane(), False, 0
        if k < count[0]:
            one = due[k]
            left = not parted(block.space_of(block.spaces, block.first + one % TILE), pairs, one // TILE, probe)
        wait()  # for all to be read in whose places some are written
        if left:
            due[take(count, 1)] = one
    wait()
    for k in range(lane(), count[1], lanes()):
        one = due[k]
        compare(block.space_of(block.spaces, block.first + one % TILE), pairs, one // TILE, probe, dt)
    wait()


@inlined
def next_found(own: PairSpace, many: Int, last: Int) -> Int:
    """The place of the contact that follows the one numbered ``last`` among those found."""
    best = -1
    for i in range(many):
        if own.which[i] > last and (best < 0 or own.which[i] < own.which[best]):
            best = i
    return best


@inlined
def list_found(world: Named, points: Named, contacts: Contacts, i: Int, used: Int) -> Int:
    """List a contact that was found; returns the slots that are ``used`` then."""
    pairs, own = points.others.pairs, points.between.own
    c, at = own.which[i] // SPOTS, own.touch[i]
    g, h = pairs.meetings.first[c], pairs.meetings.second[c]
    body, partner, _ = sides(pairs, g, h)
    normal, friction = (at[3], at[4], at[5]), pairs.meetings.friction[c]
    touch = Touch(g * pairs.body.size + h, body, partner, at[:3], normal, at[6], friction)
    return list_touch(world, points, contacts, touch, used)


@inlined
def list_every_pair(world: Named, points: Named, contacts: Contacts) -> None:
    """Replaces :func:`footfall.engine.other_bodies.near_pairs.find_pairs`: lists what was found."""
    pairs, between, near, ground = points.others.pairs, points.between, contacts.near, points.body.size
    for k in range(ground):
        for i in range(near[k], near[k + 1]):
            contacts.body[contacts.points[i]] = k
    for k in range(ground + 1, near.size):
        near[k] = near[ground]
    own, used, places = between.own, ground, between.touching.size
    own.lost[0] = max(0, own.found[0] - places)
    if own.found[0] == 0 and between.held[0] == 0:
        return
    for s in range(places):
        if between.touching[s] > 0:
            contacts.gap[pairs.first + s] = FAR
    many, last = min(own.found[0], places), -1
    for _ in range(many):
        i = next_found(own, many, last)
        used, last = list_found(world, points, contacts, i, used), own.which[i]
    for s in range(places):
        if between.touching[s] > 0 and contacts.gap[pairs.first + s] == FAR:
            release(points, pairs.first + s)
            between.touching[s] = -between.touching[s]
            between.held[0] -= 1


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
        points.between.held[0] += 1
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
    find_pairs: list_every_pair,
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
