"""Detection of contacts between bodies by MuJoCo (``mj_collision``), and their places and slots.

The material point in contact changes as bodies roll and slide on each other. A contact keeps its place, and the law's
memory of it, while a contact of the same geoms is found near it; its anchor follows the relative velocity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.bridge import CONTACT, doubles_at, integers_at, mj_collision, mj_kinematics, words_at
from footfall.engine.clearance import SERVED, bodies_are_apart, way
from footfall.engine.kinematics import release
from footfall.engine.other_bodies.near import AHEAD, KEEP, SLACK, insert
from footfall.engine.other_bodies.pairs import is_pair, relative_velocity
from footfall.engine.other_bodies.points import FAR, LIVE, LOST, ON_GROUND, Points
from footfall.ground.surface import tangent_frame
from footfall.kinds import Bool, Float, Int, Ints, Named, Vector
from footfall.solve.contacts import Contacts
from footfall.solve.gather import tuple_of

_FIELDS = CONTACT.fields
assert _FIELDS is not None
#: Size of MuJoCo's contact, and offsets of its fields, in numbers of eight and of four bytes.
_NUMBERS, _INTEGERS = CONTACT.itemsize // 8, CONTACT.itemsize // 4
_DIST, _POS, _FRAME, _FRICTION = (_FIELDS[name][1] // 8 for name in ("dist", "pos", "frame", "friction"))
_GEOM = _FIELDS["geom"][1] // 4


@inlined
def merge_chains(pairs: Named, body: Int, partner: Int, out: Ints, sign: Vector) -> Int:
    """Write the dofs that move a body or its partner, children before their parents; returns their number."""
    a, b = pairs.chain[body], pairs.chain[partner]
    n, m = pairs.chain_length[body], pairs.chain_length[partner]
    i, j, count = 0, 0, 0
    while i < n or j < m:
        first, second = a[i] if i < n else -1, b[j] if j < m else -1
        out[count] = max(first, second)
        sign[count] = 1.0 if first > second else -1.0 if second > first else 0.0
        i += 1 if first >= second else 0
        j += 1 if second >= first else 0
        count += 1
    return count


@inlined
def find_slot(points: Points, body: Int, partner: Int, used: Int) -> Int:
    """The slot of two bodies among the ``used`` ones of this step, or the next, which they take; -1 if none is left."""
    others = points.others
    who = others.body.size + body * others.pairs.root.size + partner
    for k in range(others.counters[ON_GROUND], used):
        if others.slot[k - others.feet] == who:
            return k
    k = used
    if k == points.body.size:
        return -1
    if others.slot[k - others.feet] != who:
        others.slot[k - others.feet] = who
        points.body[k], points.root[k], points.partner[k] = body, others.pairs.root[body], partner
        points.chain_length[k] = merge_chains(others.pairs, body, partner, points.chain[k], points.sign[k])
    for m in range(k + 1):  # the product of its columns with any others' goes over all of them
        points.shared[k, m] = points.chain_length[k]
    return k


@inlined
def find_place(points: Points, contacts: Contacts, pair: Int, x: Float, y: Float, z: Float) -> Int:
    """The place of the nearest last contact of the same geoms, or a new place; -1 if none is free."""
    others, found, nearest = points.others, -1, KEEP * KEEP
    for s in range(others.counters[LIVE] - others.first):
        p = others.first + s
        if is_pair(others, others.who[s]) and others.pair[s] == pair and contacts.gap[p] == FAR:
            at = others.spot[s]
            square = (at[0] - x) ** 2 + (at[1] - y) ** 2 + (at[2] - z) ** 2
            if square < nearest:
                found, nearest = p, square
    if found >= 0:
        return found
    for s in range(others.who.size):
        if others.who[s] < 0:
            p = others.first + s
            others.who[s], others.pair[s] = others.local.shape[0], pair
            points.radius[p], points.smooth[p] = 0.0, 0
            release(points, p)
            others.spot[s, 0], others.spot[s, 1], others.spot[s, 2] = x, y, z
            others.counters[LIVE] = max(others.counters[LIVE], p + 1)
            return p
    return -1


@inlined
def rest_depth(points: Points, pair: Int) -> Float:
    """Overlap of two geoms at home, m."""
    pairs = points.others.pairs
    for i in range(pairs.rest.size):
        if pairs.rest[i] == pair:
            return pairs.depth[i]
    return 0.0


@inlined
def forget_pairs(points: Points, contacts: Contacts) -> None:
    """Set the gaps of all contacts between bodies to ``FAR``, before detection."""
    others = points.others
    for s in range(others.counters[LIVE] - others.first):
        if is_pair(others, others.who[s]):
            contacts.gap[others.first + s] = FAR


class Touch(NamedTuple):
    """One contact, or near contact, of two geoms."""

    pair: Int  # of geoms
    body: Int
    partner: Int
    at: Vector  # (3,) m, world frame
    normal: tuple[Float, Float, Float]  # from the partner to the body
    gap: Float  # m
    friction: Float


@inlined
def sides(pairs: Named, first: Int, second: Int) -> tuple[Int, Int, Float]:
    """The body that the law pushes, its partner, and the sign of a normal from the first geom to the second."""
    body, partner = pairs.body[second], pairs.body[first]
    if pairs.chain_length[body] == 0:  # held in the world
        return partner, body, -1.0
    return body, partner, 1.0


@inlined
def way_of(spot: Vector, at: Vector) -> tuple[Float, Float, Float]:
    """The displacement of a contact from its last ``spot``, m; updates the spot."""
    x, y, z = at[0] - spot[0], at[1] - spot[1], at[2] - spot[2]
    spot[0], spot[1], spot[2] = at[0], at[1], at[2]
    return x, y, z


@inlined
def way_of_place(points: Points, p: Int, at: Vector) -> tuple[Float, Float, Float]:
    """The displacement of the contact of a place since the last step, m, world frame."""
    return way_of(points.others.spot[p - points.others.first], at)


@inlined
def lack_room(points: Points) -> None:
    """Note that there is no place or slot for a contact."""
    points.others.counters[LOST] += 1


@inlined
def closes_soon(gap: Float, speed: Float, dt: Float) -> Bool:
    """Whether a gap (m) that grows at this speed (m/s) closes within some steps."""
    return gap <= SLACK + AHEAD * dt * max(0.0, -speed)


@inlined
def list_touch(world: Named, points: Points, contacts: Contacts, touch: Touch, used: Int) -> Int:
    """List one contact, if it is about to touch; returns the slots that are ``used`` then."""
    dt, at, (nx, ny, nz) = points.others.dt, touch.at, touch.normal
    pairs = points.others.pairs
    vx, vy, vz = relative_velocity(world.cvel, world.subtree_com, pairs, touch.body, touch.partner, at)
    if not closes_soon(touch.gap, vx * nx + vy * ny + vz * nz, dt):
        return used
    p, k = find_place(points, contacts, touch.pair, at[0], at[1], at[2]), -1
    if p >= 0:
        k = find_slot(points, touch.body, touch.partner, used)
    if k < 0:
        lack_room(points)
        return used
    (x, y, z), anchor, count = way_of_place(points, p, at), points.anchor[p], contacts.number[0]
    anchor[0], anchor[1], anchor[2] = anchor[0] + x - dt * vx, anchor[1] + y - dt * vy, anchor[2] + z - dt * vz
    for c in range(3):
        points.position[p, c] = at[c]
    contacts.gap[p], contacts.body[p] = touch.gap, k
    contacts.static_friction[p], contacts.dynamic_friction[p] = touch.friction, touch.friction
    tangent_frame(nx, ny, nz, contacts.frame[p])
    contacts.points[count] = p
    insert(contacts, k, count)
    contacts.number[0] = count + 1
    return max(used, k + 1)


@cold(types.none)
def list_pairs(world: Named, points: Points, contacts: Contacts, many: Int, address: Int) -> None:
    """List the contacts between bodies that MuJoCo found, ``many`` at an address, after those with the ground.

    Velocities of the bodies must be known.
    """
    others, pairs = points.others, points.others.pairs
    numbers, integers = doubles_at(address, _NUMBERS * many), integers_at(address, _INTEGERS * many)
    used = others.counters[ON_GROUND]
    for i in range(many):
        own, geoms = numbers[_NUMBERS * i :], integers[_INTEGERS * i + _GEOM :]
        first, second = np.int64(geoms[0]), np.int64(geoms[1])
        if first < 0 or second < 0:  # of a flex, whose contacts are MuJoCo's
            continue
        pair, (body, partner, side) = first * pairs.body.size + second, sides(pairs, first, second)
        normal = side * own[_FRAME], side * own[_FRAME + 1], side * own[_FRAME + 2]
        gap = own[_DIST] + rest_depth(points, pair)
        touch = Touch(int(pair), body, partner, own[_POS : _POS + 3], normal, gap, own[_FRICTION])
        used = list_touch(world, points, contacts, touch, used)


# ---- in one of many worlds -------------------------------------------------------------------------------------


#: A ``MjData`` in which MuJoCo finds contacts, under the names that :mod:`footfall.engine.clearance` reads.
Found = tuple_of("Found", ("model", "data", "qpos", "ncon", "contact"), __name__)


@inlined
def find_pairs(world: Named, points: Named, contacts: Contacts) -> None:
    """List the contacts between bodies of a world, after those with the ground; velocities must be known."""
    pairs = points.others.pairs
    if pairs.model == 0:
        return
    forget_pairs(points, contacts)
    clearance = pairs.clearance
    if clearance.wide != 0 and way(world, clearance) < clearance.room[0]:
        clearance.looks[SERVED] += 1
        return
    ask_mujoco(world, points, contacts)


@cold(types.none)
def ask_mujoco(world: Named, points: Named, contacts: Contacts) -> None:
    """The part of :func:`find_pairs` where bodies may touch."""
    pairs, clearance, at = points.others.pairs, points.others.pairs.clearance, points.others.pairs.mujoco
    nq = world.qpos.size
    found = Found(pairs.model, at[0], doubles_at(at[1], nq), integers_at(at[2], 1), words_at(at[3], 1))
    for i in range(nq):
        found.qpos[i] = world.qpos[i]
    mj_kinematics(pairs.model, found.data)
    if bodies_are_apart(found, clearance):
        return
    mj_collision(pairs.model, found.data)
    if found.ncon[0] > 0:
        list_pairs(world, points, contacts, found.ncon[0], found.contact[0])
