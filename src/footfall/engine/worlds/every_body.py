"""Worlds on a GPU in which every body may touch the ground: replacements of the functions that detect contact points.

On a CPU few points of other bodies have a place among the contact points, and these differ from world to world. Here
each point has a place, after those of the feet, and each body a slot. So positions on the bodies are the same for all
worlds, and lanes read them together. A body far from the ground costs one distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.compiled import inlined
from footfall.engine.dynamics.tree import Tree
from footfall.engine.kinematics import locate, release, release_far
from footfall.engine.other_bodies.near import (
    Below,
    free_places,
    insert,
    is_far,
    live,
    locate_all,
    release_all,
    touches_soon,
    touching_place,
)
from footfall.engine.other_bodies.points import FEET, Others, OtherTape, Points
from footfall.engine.tape import Held, Tape, add_others, add_step, add_step_of_all, who_has
from footfall.engine.worlds import every_pair
from footfall.engine.worlds.arrays import Given, Soles, Space, WorldState
from footfall.engine.worlds.every_pair import Between, Block, PairsOfAll, look
from footfall.engine.worlds.one_world import OneWorld, Robot, one_world, set_friction
from footfall.ground.surface import tangent_frame
from footfall.kinds import Float, Function, Int, Matrix, Named, Vector
from footfall.solve.contacts import OPEN, Contacts
from footfall.solve.gather import gather, tuple_of

#: The constant data of bodies other than feet, as in :class:`footfall.engine.other_bodies.points.Others`: ``slot`` (B,)
#: is a foot's for those that are fixed to one, ``root`` (B,) the row of a tree in ``subtree_com``; ``axes`` and
#: ``smooth`` are those of all points.
Rest = tuple_of(
    "Rest",
    (
        *("feet", "first", "dt", "flat", "lipschitz", "highest", "patient", "body", "root", "slot", "begin"),
        *("centre", "half", "size", "axes", "smooth", "pairs"),
    ),
    __name__,
)


#: The same in one world: ``seated`` (B,) counts the points of each body that are near the ground.
RestOfWorld = tuple_of("RestOfWorld", (*Rest._fields, "seated", "tape", "touching"), __name__)
#: The contact points of one world, and what ellipsoids need.
EveryPoint = tuple_of("EveryPoint", (*FEET, "smooth", "roll", "others", "between"), __name__)


def every_sole(points: Points, tree: Tree, pairs: PairsOfAll, places: int) -> tuple[Soles, Any]:
    """The constant part of all points of a robot, each with a place, and of all its bodies, each with a slot; and as
    many places for contacts between bodies.
    """
    others, first, feet = points.others, points.others.first, points.others.feet
    loose = np.flatnonzero(others.foot < 0)
    slot = others.foot.copy()
    slot[loose] = feet + np.arange(len(loose))
    chosen = np.concatenate([np.arange(feet), feet + loose])
    begin = np.full(len(chosen) + 1, first, dtype=np.int64)
    begin[: feet + 1] = points.begin[: feet + 1]
    body = np.concatenate([points.body[:feet], others.body[loose]])
    soles = Soles(
        local=np.concatenate([points.local[:first], others.local]),
        radius=np.concatenate([points.radius[:first], others.radius, np.zeros(places)]),
        begin=begin,
        body=body,
        tree=tree.body_tree[body],
        chain=np.concatenate([points.chain[:feet], others.chain[loose]]),
        chain_length=np.concatenate([points.chain_length[:feet], others.chain_length[loose]]),
        shared=others.shared[np.ix_(chosen, chosen)],
        foot=np.zeros(0, dtype=np.int64),  # a contact between bodies has one of several slots
    )
    same = {name: getattr(others, name) for name in Rest._fields if hasattr(others, name)}
    same |= {"root": tree.body_tree[others.body], "slot": slot, "pairs": pairs}
    same |= {
        name: np.concatenate([getattr(points, name)[:first], getattr(others, name)]) for name in ("axes", "smooth")
    }
    return soles, Rest(**same)


#: The bodies other than feet in one world.
rest_of = gather(
    RestOfWorld, {"rest": Rest, "state": None, "tape": None}, seated="state.seated", touching="state.touching"
)
#: Contacts between bodies in one world.
between_of = gather(Between, {"state": WorldState, "space": None}, own="space.pairs")
#: The contact points of one world, of feet and of all other bodies.
points_of_all = gather(
    EveryPoint,
    {"soles": Soles, "rest": None, "state": WorldState, "space": Space, "others": None, "between": None},
    root="soles.tree",
    smooth="rest.smooth",
)


@inlined
def one_world_on_every_body(robot: Robot, given: Given, state: WorldState, space: Space, tape: OtherTape) -> OneWorld:
    """What kernels take of one world in which every body may touch the ground."""
    others = rest_of(robot.rest, state, tape)
    points = points_of_all(robot.soles, robot.rest, state, space, others, between_of(state, space))
    set_friction(given, space, points.others.first)
    return one_world(robot, given, state, space, points, space.owner)


@inlined
def look_around(robot: Robot, block: Block) -> None:
    """Find the contacts between bodies in the worlds of a block, with all its lanes."""
    look(robot.rest.pairs, block, robot.rest.dt)


@inlined
def look_nowhere(robot: Robot, block: Block) -> None:
    """The same where no two bodies may touch."""


@inlined
def list_own_points(world: Named, points: Points, contacts: Contacts, b: Int, count: Int, below: Below) -> Int:
    """List the near points of a body other than a foot, and open all its others. Gives the new count."""
    others, body, was_near = points.others, points.others.body[b], points.others.seated[b] > 0
    x, r, v, com = world.xpos[body], world.xmat[body], world.cvel[body], world.subtree_com[others.root[b]]
    for p in range(others.first + others.begin[b], others.first + others.begin[b + 1]):
        smooth, radius = points.smooth[p], points.radius[p]
        roll = points.roll[p if smooth == 1 else 0]
        gap, px, py, pz, nx, ny, nz = touching_place(x, r, points.local[p], smooth, others.axes[p], roll, below)
        gap -= radius
        px, py, pz = px - radius * nx, py - radius * ny, pz - radius * nz
        # False also where there is no ground (NaN).
        near = gap <= below.margin and (points.mode[p] != OPEN or touches_soon(gap, (px, py, pz), v, com, others.dt))
        if not near:
            if was_near:
                release(points, p)
            continue
        at = points.position[p]
        at[0], at[1], at[2] = px, py, pz
        contacts.gap[p] = gap
        contacts.static_friction[p], contacts.dynamic_friction[p] = (
            contacts.static_friction[0],
            contacts.dynamic_friction[0],
        )
        tangent_frame(nx, ny, nz, contacts.frame[p])
        contacts.points[count] = p
        count += 1
    return count


@inlined
def locate_every(
    world: Named, points: Points, contacts: Contacts, surface: Function, shape: Vector, table: Matrix, margin: Float
) -> Int:
    """As :func:`footfall.engine.other_bodies.near.locate_all`."""
    bad = locate(world, points, contacts, surface, shape, table, margin)
    if bad >= 0:
        return bad
    others, below, count = points.others, Below(surface, shape, table, margin), contacts.number[0]
    for b in range(others.body.size):  # those that are fixed to a foot come first, and share its slot
        if is_far(world, others, b, surface, shape, table, 0.0):
            if others.seated[b] > 0:
                for q in range(others.begin[b], others.begin[b + 1]):
                    release(points, others.first + q)
                others.seated[b] = 0
            continue
        slot, last = others.slot[b], list_own_points(world, points, contacts, b, count, below)
        others.seated[b] = last - count
        if slot < others.feet:
            for i in range(count, last):
                insert(contacts, slot, i)
        elif last > count:
            for k in range(slot + 1, contacts.near.size):
                contacts.near[k] = last
        count = last
    contacts.number[0] = count
    return -1


@inlined
def add_step_of_every_body(
    world: Named, points: Points, contacts: Contacts, held: Held, tape: Tape, status: Int, outcome: Named
) -> None:
    add_step(points, contacts, held, tape, status, outcome)
    add_others(world, points, contacts, held, tape, outcome.samples[0] - 1, outcome.averaged[0])


@inlined
def who_touches(others: Others, held: Held, s: Int, row: Int) -> Int:
    """The point of a place, once it has touched in a sample, or -1."""
    return s if held.mode[others.first + s] != OPEN or others.tape.who[s, row] > 0 else -1


STAND_INS = every_pair.STAND_INS | {
    locate_all: locate_every,
    # Detection has opened those of other bodies.
    release_all: lambda points, contacts: release_far(points, contacts, points.others.first),
    add_step_of_all: add_step_of_every_body,
    who_has: who_touches,
    # Every point has a place.
    live: lambda points: points.mode.size,
    free_places: lambda points, contacts: None,
}
