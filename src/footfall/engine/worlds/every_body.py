"""Worlds on a GPU in which every body may touch the ground: replacements of the functions that detect contact points.

On a CPU few points of other bodies have a place among the contact points, and these differ from world to world. Here
each point has a place, after those of the feet, and each body a slot. So positions on the bodies are the same for all
worlds, and lanes read them together. A body far from the ground costs one distance.

The mobility of bodies reads several numbers before it writes one, to hide the latency of memory: a tenth of the speed
of standing bipeds, and more of fallen robots, of which many bodies are near the ground.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.compiled import inlined
from footfall.engine.dynamics.tree import Tree
from footfall.engine.kinematics import locate, release, release_far
from footfall.engine.mobility import fill_slot, half_solved_jacobian, mobility
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
from footfall.engine.other_bodies.pairs import dof_count, dof_of
from footfall.engine.other_bodies.points import FEET, Others, OtherTape, Points
from footfall.engine.step import DONE
from footfall.engine.tape import Held, Tape, add_others, add_step, add_step_of_all, who_has
from footfall.engine.worlds import every_pair
from footfall.engine.worlds.arrays import IDLE, PLACED, Given, Soles, Space, WorldState
from footfall.engine.worlds.every_pair import Between, Block, PairsOfAll, look
from footfall.engine.worlds.one_world import OneWorld, Robot, one_world, set_friction
from footfall.engine.worlds.step import Functions, Plan, Span, Track, evaluate_placed, finish_step, place_world
from footfall.ground.surface import tangent_frame
from footfall.kinds import Float, Function, Int, Matrix, Named, Tensor, Vector
from footfall.solve.contacts import OPEN, Contacts
from footfall.solve.gather import gather, tuple_of


@inlined
def lean_mobility(
    world: Named, points: Points, contacts: Contacts, centroid: Matrix, half: Tensor, block: Matrix
) -> None:
    """Replaces :func:`footfall.engine.mobility.mobility`; three rows of a block are in registers at a time."""
    near, out = contacts.near, contacts.mobility
    for k in range(near.size - 1):
        if near[k] == near[k + 1]:
            continue
        if k < points.body.size:
            half_solved_jacobian(world, points, k, centroid[k], half[k])
        else:
            fill_slot(world, points, k, centroid[k], half[k])
        for m in range(k + 1):
            if near[m] < near[m + 1]:
                for r in range(0, 6, 3):
                    write_rows(world, points, k, m, r, half, out)


@inlined
def write_rows(world: Named, points: Points, k: Int, m: Int, r: Int, half: Tensor, out: Matrix) -> None:
    """Write three rows, from ``r`` on, of the block of bodies k and m, and the same numbers as columns."""
    a0, a1, a2, a3, a4, a5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    b0, b1, b2, b3, b4, b5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    c0, c1, c2, c3, c4, c5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    length = dof_count(points, k)
    for i in range(length - points.shared[k, m] if k < points.body.size else 0, length):
        j = dof_of(points, k, i)
        h, g, weight = half[k, j], half[m, j], world.qLDiagInv[j]
        x, y, z = weight * h[r], weight * h[r + 1], weight * h[r + 2]
        g0, g1, g2, g3, g4, g5 = g[0], g[1], g[2], g[3], g[4], g[5]
        a0, a1, a2, a3, a4, a5 = a0 + x * g0, a1 + x * g1, a2 + x * g2, a3 + x * g3, a4 + x * g4, a5 + x * g5
        b0, b1, b2, b3, b4, b5 = b0 + y * g0, b1 + y * g1, b2 + y * g2, b3 + y * g3, b4 + y * g4, b5 + y * g5
        c0, c1, c2, c3, c4, c5 = c0 + z * g0, c1 + z * g1, c2 + z * g2, c3 + z * g3, c4 + z * g4, c5 + z * g5
    write_row(out, 6 * k + r, 6 * m, (a0, a1, a2, a3, a4, a5))
    write_row(out, 6 * k + r + 1, 6 * m, (b0, b1, b2, b3, b4, b5))
    write_row(out, 6 * k + r + 2, 6 * m, (c0, c1, c2, c3, c4, c5))


@inlined
def write_row(out: Matrix, row: Int, column: Int, values: tuple[Float, Float, Float, Float, Float, Float]) -> None:
    a0, a1, a2, a3, a4, a5 = values
    out[row, column], out[row, column + 1], out[row, column + 2] = a0, a1, a2
    out[row, column + 3], out[row, column + 4], out[row, column + 5] = a3, a4, a5
    out[column, row], out[column + 1, row], out[column + 2, row] = a0, a1, a2
    out[column + 3, row], out[column + 4, row], out[column + 5, row] = a3, a4, a5


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
def begin_on_every_body(
    one: OneWorld,
    given: Given,
    state: WorldState,
    space: Space,
    track: Track,
    plan: Plan,
    functions: Functions,
    span: Span,
) -> None:
    """Place the bodies of a world for its next step, if it has not ended."""
    space.answer[0] = IDLE
    if state.end[0] == DONE:
        state.begun[0] = state.step[0]
        end = place_world(one, given, state, plan, functions)
        if end == DONE:
            space.answer[0] = PLACED
        else:
            finish_step(one, state, track, plan, end, span.before + space.taken[0], span.steps - space.taken[0])


@inlined
def end_on_every_body(
    one: OneWorld,
    given: Given,
    state: WorldState,
    space: Space,
    track: Track,
    plan: Plan,
    functions: Functions,
    span: Span,
) -> None:
    """End the step, once the contacts between the bodies are found."""
    if space.answer[0] == PLACED:
        taken = space.taken[0]
        space.answer[0], space.taken[0] = IDLE, taken + 1
        end = evaluate_placed(one, given, state, plan, functions)
        finish_step(one, state, track, plan, end, span.before + taken, span.steps - taken)


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
    mobility: lean_mobility,
    locate_all: locate_every,
    # Detection has opened those of other bodies.
    release_all: lambda points, contacts: release_far(points, contacts, points.others.first),
    add_step_of_all: add_step_of_every_body,
    who_has: who_touches,
    # Every point has a place.
    live: lambda points: points.mode.size,
    free_places: lambda points, contacts: None,
}
