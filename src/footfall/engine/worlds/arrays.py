"""The arrays of many worlds: inputs, state, and the scratch space of a step.

On a CPU the world is the first index, so that a world's numbers lie together; on a GPU it is the last, so that
neighbouring lanes read neighbouring numbers. Kernels see one world and are the same for both.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from footfall.compiled import generated, inlined
from footfall.engine.dynamics.tree import Tree
from footfall.engine.other_bodies.points import Points
from footfall.kinds import IntMatrix, Ints, Matrix, Tensor, Vector, element_types

#: An end of a world that single runs do not have.
FALLEN = 5
#: Values of ``answer`` on a GPU beside those of a law: no step is under way; a problem waits for its search; the bodies
#: are placed, and contacts between them are to be found.
IDLE, WAITS, PLACED = -1, 2, 3


class Given(NamedTuple):
    """The inputs of a world; an array whose world axis has length one is shared by all."""

    body_mass: Any  # (nbody,) kg
    body_inertia: Any  # (nbody, 3) kg m2
    friction: Any  # (2,) static, dynamic
    values: Any  # the law's parameters
    gains: Any  # the controller's
    shape: Any  # the ground's parameters
    table: Any  # (rows, columns) the ground's heights
    push_body: Any  # (N,)
    push_time: Any  # (N, 2) first step, and the step after the last
    push_wrench: Any  # (N, 6) N and N m, world frame, at the body's centre of mass


class Soles(NamedTuple):
    """The contact points of the robot, constant: P points on K feet, grouped by foot. See :class:`Points`."""

    local: Matrix  # (P, 3) m, body frame
    radius: Vector  # (P,) m
    begin: Ints  # (K + 1,)
    body: Ints  # (K,)
    tree: Ints  # (K,) row of the body's tree in ``subtree_com``
    chain: IntMatrix  # (K, nv)
    chain_length: Ints  # (K,)
    shared: IntMatrix  # (K, K)
    foot: Ints  # (P,) the foot of each point


def make_soles(points: Points, tree: Tree) -> Soles:
    """The constant part of the contact points of a robot's feet."""
    feet, count = points.others.feet, points.others.first
    of_feet = {name: getattr(points, name)[:feet] for name in ("body", "chain", "chain_length")}
    begin = points.begin[: feet + 1]
    return Soles(
        **of_feet,
        local=points.local[:count],
        radius=points.radius[:count],
        begin=begin,
        tree=tree.body_tree[of_feet["body"]],
        shared=points.shared[:feet, :feet].copy(),
        foot=np.repeat(np.arange(feet), np.diff(begin)).astype(np.int64),
    )


class WorldState(NamedTuple):
    """The state of a world: P points, F of them on feet, B bodies other than feet, R constraints of single joints; a
    law remembers M numbers of each point.
    """

    qpos: Annotated[Vector, "nq"]
    qvel: Annotated[Vector, "nv"]
    ctrl: Annotated[Vector, "nu"]
    anchor: Annotated[Matrix, "P", 3]  # m
    force: Annotated[Matrix, "P", 3]  # N, contact frame, of the last step
    mode: Annotated[Ints, "P"]  # of the last step
    memory: Annotated[Matrix, "P", "M"]  # the law's
    step: Annotated[Ints, 1]  # steps taken since the start
    end: Annotated[Ints, 1]  # this and the next, see :class:`footfall.engine.tape.Outcome`
    begun: Annotated[Ints, 1]
    concerned: Annotated[Ints, 1]
    status: Annotated[Ints, 1]
    samples: Annotated[Ints, 1]
    averaged: Annotated[Ints, 1]
    unsolved: Annotated[Ints, 1]  # steps in which the law found no solution
    push: Annotated[Matrix, "F", 3]  # N, contact forces of the last step on points of feet, world frame
    beside: Annotated[Vector, 3]  # N, all others together
    row_state: Annotated[Ints, "R"]  # state of each joint constraint, see ``engine/constraints/active_set``
    row_inertia: Annotated[Vector, "R"]  # inertia that it adds to its dof while it holds, kg or kg m2
    seated: Annotated[Ints, "B"]  # points of each body other than a foot that have a place; on a GPU, that are near
    # On a GPU, of contacts between bodies (:mod:`footfall.engine.worlds.every_pair`).
    touching: Annotated[
        Ints, "places"
    ]  # one more than the number of each place's pair; negative when that is open again
    touched: Annotated[Matrix, "places", 3]  # m, world frame, where it touched last
    held: Annotated[Ints, 1]  # places that are not open


class Space(NamedTuple):
    """Scratch arrays of a step: K slots of bodies. If the law needs the Delassus operator, L and ``solved`` are the
    numbers of slots and points, else zero.
    """

    xpos: Annotated[Matrix, "nbody", 3]
    xquat: Annotated[Matrix, "nbody", 4]
    xmat: Annotated[Matrix, "nbody", 9]
    xipos: Annotated[Matrix, "nbody", 3]
    xanchor: Annotated[Matrix, "njnt", 3]
    xaxis: Annotated[Matrix, "njnt", 3]
    subtree_com: Annotated[Matrix, "T", 3]
    cinert: Annotated[Matrix, "nbody", 10]
    cdof: Annotated[Matrix, "nv", 6]
    cdof_dot: Annotated[Matrix, "nv", 6]
    cvel: Annotated[Matrix, "nbody", 6]
    cacc: Annotated[Matrix, "nbody", 6]
    cfrc: Annotated[Matrix, "nbody", 6]
    qLD: Annotated[Vector, "nM"]
    qLDiagInv: Annotated[Vector, "nv"]
    qfrc_smooth: Annotated[Vector, "nv"]
    qfrc_constraint: Annotated[Vector, "nv"]  # of joint constraints
    qacc: Annotated[Vector, "nv"]
    position: Annotated[Matrix, "P", 3]  # m
    number: Annotated[Ints, 5]
    points: Annotated[Ints, "P"]
    near: Annotated[Ints, "K + 1"]
    gap: Annotated[Vector, "P"]  # m
    frame: Annotated[Tensor, "P", 3, 3]
    velocity: Annotated[Matrix, "P", 3]  # m/s
    acceleration: Annotated[Matrix, "solved", 3]  # m/s2
    bias: Annotated[Matrix, "solved", 3]  # m/s2
    arm: Annotated[Matrix, "solved", 3]  # m
    mobility: Annotated[Matrix, "6L", "6L"]
    static_friction: Annotated[Vector, "P"]
    dynamic_friction: Annotated[Vector, "P"]
    slip: Annotated[Matrix, 2, 2]
    centroid: Annotated[Matrix, "L", 3]
    half: Annotated[Tensor, "L", "nv", 8]
    generalised: Annotated[Vector, "nv"]
    law: Any  # the law's scratch arrays: an address, or on a GPU all numbers of the lane
    signals: Annotated[Vector, "S"]
    row_near: Annotated[Ints, 1]
    row_reference: Annotated[Vector, "R"]  # m/s2 or rad/s2, reference acceleration of a joint's constraint
    row_force: Annotated[Vector, "R"]
    row_added: Annotated[Vector, "nv"]
    row_push: Annotated[Vector, "nv"]
    row_acceleration: Annotated[Vector, "nv"]  # as in the engine's Constraints
    row_needed: Annotated[Vector, "nv"]
    row_direction: Annotated[Vector, "nv"]
    kept: Annotated[Matrix, "solved", "M + 3"]  # memory and anchors, saved while an instant is evaluated without a step
    kept_mode: Annotated[Ints, "solved"]
    held_force: Annotated[Matrix, "P", 3]  # N, world frame, of the step under way
    held_mode: Annotated[Ints, "P"]
    held_peak: Annotated[Vector, "K + 1"]  # N, greatest normal force on each foot and the robot since the last sample
    taken: Annotated[Ints, 1]  # steps of a call on a GPU, see :mod:`footfall.engine.worlds.turns`
    asked: Annotated[Ints, 1]  # calls of the law in the step under way
    answer: Annotated[Ints, 1]  # the status that the law returned, or what is under way, see ``IDLE``
    roll: Annotated[Tensor, "rolls", 3, 3]  # m, see :class:`Points`; one alone where nothing is an ellipsoid
    owner: Annotated[Ints, "owners"]  # on a GPU, the slot of each near point
    pairs: Any  # on a GPU, what contacts between bodies are found in, see :mod:`footfall.engine.worlds.every_pair`


#: Names of the arrays of integers.
INTEGERS = {name for kind in (WorldState, Space) for name, one in element_types(kind).items() if one == np.int64}

Shapes = dict[str, tuple[int, ...]]


def room(shapes: Shapes, count: int, *, world_last: bool) -> dict[str, np.ndarray]:
    """Zeros for ``count`` worlds or threads."""
    arrays = {}
    for name, shape in shapes.items():
        whole = (*shape, count) if world_last else (count, *shape)
        arrays[name] = np.zeros(whole, dtype=np.int64 if name in INTEGERS else np.float64)
    return arrays


def bytes_of(shapes: Shapes) -> int:
    """Memory of one world, bytes."""
    return 8 * sum(map(math.prod, shapes.values()))


@cache
def picker(kind: type, *, world_last: bool) -> Any:
    """A kernel ``(arrays, w) -> arrays of world w``; a world axis of length one is shared by all worlds."""
    shared = kind is Given

    def one(field: str) -> str:
        path = f"arrays.{field}"
        axis = f"{path}.ndim - 1" if world_last else "0"
        at = f"min(w, {path}.shape[{axis}] - 1)" if shared else "w"
        return f"{path}[..., {at}]" if world_last else f"{path}[{at}]"

    name = f"pick_{kind.__name__.lower()}_{'last' if world_last else 'first'}"
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    source = f"def {name}(arrays, w):\n    return Kind({', '.join(map(one, fields))})\n"
    return inlined(generated(source, name, {"Kind": kind}, room))  # type: ignore[arg-type]
