"""Contact points of bodies other than feet in worlds on a CPU: what a world keeps of them, and what a thread derives.

As in a single run (:mod:`footfall.engine.other_bodies.points`), but all places exist from the start. A world keeps
which points have a place. A thread derives the rest when it turns to a world (where these points are on their bodies,
and which bodies have a slot), so these arrays exist once per thread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.dynamics.tree import Tree
from footfall.engine.other_bodies.near import live
from footfall.engine.other_bodies.points import Others, OtherTape, Points, make_other_tape
from footfall.engine.worlds.arrays import Space, State
from footfall.engine.worlds.gather import gather


class Beside(NamedTuple):
    """The part that is constant and the same for all worlds; see :class:`Points`."""

    others: Others
    begin: np.ndarray
    centre: np.ndarray


class Kept(NamedTuple):
    """What a world keeps of points not on feet from step to step; see :class:`Others`."""

    place: Any  # (Q,)
    who: Any  # (S,)
    counters: Any  # (4,)


class Laid(NamedTuple):
    """What a thread derives for the world that it computes; see :class:`Points`."""

    local: Any  # (P, 3) m
    radius: Any  # (P,) m
    body: Any  # (K,)
    root: Any  # (K,) row of the body's tree in ``subtree_com``
    chain: Any  # (K, nv)
    chain_length: Any  # (K,)
    shared: Any  # (K, K)
    geom: Any  # (K,)
    axes: Any  # (P, 3, 3) m
    smooth: Any  # (P,)
    listed: Any  # (P,)
    owner: Any  # (P,) the slot of each point
    slot: Any  # (A,)


def make_beside(points: Points, tree: Tree) -> Beside:
    """The constant part of a robot's contact points; trees are counted as :mod:`footfall.engine.dynamics` does."""
    return Beside(points.others._replace(root=tree.body_tree[points.others.body]), points.begin, points.centre)


def first_kept(points: Points) -> dict[str, np.ndarray]:
    """What a world keeps at its start: no point has a place."""
    return {name: getattr(points.others, name)[None] for name in Kept._fields}


def lay_out(points: Points, tree: Tree, owner: np.ndarray, threads: int) -> Laid:
    """Room for each thread, with the feet in it."""
    own = {name: getattr(points, name) for name in Laid._fields if name not in ("owner", "slot", "root")}
    own |= {"owner": owner, "slot": points.others.slot, "root": tree.body_tree[points.body]}
    return Laid(**{name: np.repeat(own[name][None], threads, axis=0) for name in Laid._fields})


def make_other_tapes(worlds: int, places: int, samples: int) -> OtherTape:
    """Room for what is recorded of points not on feet, the world first."""
    one = make_other_tape(places, samples)
    return OtherTape(*(np.zeros((worlds, *array.shape), dtype=array.dtype) for array in one))


#: :class:`Others` with what one world keeps, one thread's slots and one world's tape.
others_of = gather(
    Others,
    {"others": Others, "kept": None, "laid": None, "tape": None, "state": None},
    place="kept.place",
    who="kept.who[: others.who.size]",
    counters="kept.counters",
    slot="laid.slot",
    tape="tape",
    seated="state.seated",
)
#: The contact points of one world, of feet and as many others as there are places for.
all_points_of = gather(
    Points,
    {"beside": Beside, "laid": Laid, "state": State, "space": Space, "others": None},
    others="others",
    **{name: f"state.{name}[: laid.radius.size]" for name in ("anchor", "force", "mode", "memory")},
)


@inlined
def turn_to(points):
    """Turn to another world: no body has a slot, and the world's points are back in their places."""
    others = points.others
    for a in range(others.slot.size):
        others.slot[a] = -1
    if live(points) > others.first:
        take_places_again(points)


@cold(types.none)
def take_places_again(points):
    """Write the positions, on their bodies, of the points that have a place."""
    others = points.others
    for s in range(live(points) - others.first):
        q, p = others.who[s], others.first + s
        if q < 0:
            continue
        points.radius[p] = others.radius[q]
        points.smooth[p] = others.smooth[q]
        for c in range(3):
            points.local[p, c] = others.local[q, c]
            for d in range(3):
                points.axes[p, c, d] = others.axes[q, c, d]
