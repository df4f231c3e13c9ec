"""The arrays of many worlds: inputs, state, and the scratch space of a step.

On a CPU the world is the first index, so that a world's numbers lie together; on a GPU it is the last, so that
neighbouring lanes read neighbouring numbers. Kernels see one world and are the same for both.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import generated, inlined
from footfall.engine.dynamics.tree import Tree, bodies_shapes, tree_count
from footfall.engine.other_bodies.points import Points
from footfall.engine.tape import OUTCOME_SIZE

#: Tallies of a world, see :mod:`footfall.engine.worlds.step`.
PEAK, IMPULSE, SLIP, COP, WORK, ENERGY, TALLIES = 0, 1, 4, 5, 8, 9, 10
#: How a world ended (see ``outcome``), beside the ends of a single run.
FALLEN = 5


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

    local: np.ndarray  # (P, 3) m, body frame
    radius: np.ndarray  # (P,) m
    begin: np.ndarray  # (K + 1,)
    body: np.ndarray  # (K,)
    tree: np.ndarray  # (K,) row of the body's tree in ``subtree_com``
    chain: np.ndarray  # (K, nv)
    chain_length: np.ndarray  # (K,)
    shared: np.ndarray  # (K, K)
    foot: np.ndarray  # (P,) the foot of each point


def make_soles(points: Points, tree: Tree) -> Soles:
    """The constant part of a robot's contact points."""
    constant = {name: getattr(points, name) for name in Soles._fields if name not in ("tree", "foot")}
    foot = np.repeat(np.arange(len(points.body)), np.diff(points.begin)).astype(np.int64)
    return Soles(tree=tree.body_tree[points.body], foot=foot, **constant)


class State(NamedTuple):
    """What a world keeps from step to step."""

    qpos: Any  # (nq,)
    qvel: Any  # (nv,)
    ctrl: Any  # (nu,)
    anchor: Any  # (P, 3) m
    force: Any  # (P, 3) N, contact frame, of the last step
    mode: Any  # (P,) of the last step
    memory: Any  # (P, M) the law's
    step: Any  # (1,) steps taken since the start
    outcome: Any  # (4,) how it ended; at which step; dof, point or code; the law's status in the last step
    unsolved: Any  # (1,) steps in which the law found no solution
    tally: Any  # (TALLIES,) measures, see above
    push: Any  # (P, 3) N, contact forces of the last step on points of feet, world frame
    beside: Any  # (3,) N, all others together
    row_state: Any  # (R,) whether each constraint of a joint holds, see :mod:`footfall.engine.constraints.active_set`
    row_inertia: Any  # (R,) inertia that it adds to its dof while it holds, kg or kg m2
    seated: Any  # (B,) points of each body other than a foot that have a place; on a GPU, that are near the ground


#: What of a world's state its law and its other bodies remember, and the steps it has taken: zero at a start at rest.
REMEMBERED = ("anchor", "force", "mode", "memory", "step", "seated")


class Space(NamedTuple):
    """Scratch arrays of a step; nothing in them outlasts it."""

    xpos: Any
    xquat: Any
    xmat: Any
    xipos: Any
    xanchor: Any
    xaxis: Any
    subtree_com: Any
    cinert: Any
    cdof: Any
    cdof_dot: Any
    cvel: Any
    cacc: Any
    cfrc: Any
    qLD: Any
    qLDiagInv: Any
    qfrc_smooth: Any
    qacc: Any
    position: Any  # (P, 3) m
    number: Any  # (1,)
    points: Any  # (P,)
    near: Any  # (K + 1,)
    gap: Any  # (P,) m
    frame: Any  # (P, 3, 3)
    velocity: Any  # (P, 3) m/s
    acceleration: Any  # (P, 3) m/s2
    bias: Any  # (P, 3) m/s2
    arm: Any  # (P, 3) m
    mobility: Any  # (6K, 6K)
    static_friction: Any  # (P,)
    dynamic_friction: Any  # (P,)
    slip: Any  # (2, 2)
    centroid: Any  # (K, 3)
    half: Any  # (K, nv, 8)
    block: Any  # (6, 8)
    law: Any  # the law's scratch arrays: an address, or on a GPU all numbers of the lane
    signals: Any
    row_near: Any  # (1,)
    row_reference: Any  # (R,) m/s2 or rad/s2, reference acceleration of a joint's constraint
    row_force: Any  # (R,)
    row_diagonal: Any  # (nv,)
    row_added: Any  # (nv,)
    row_push: Any  # (nv,)
    row_acceleration: Any  # (nv,) as in the engine's Constraints
    row_needed: Any  # (nv,)
    row_direction: Any  # (nv,)
    kept: Any  # (P, M + 3) memory and anchors, saved while an instant is evaluated without a step
    kept_mode: Any  # (P,)
    held_force: Any  # (P, 3) N, world frame, of the step under way
    held_mode: Any  # (P,)
    held_peak: Any  # (K + 1,) N, greatest normal force on each foot and on the robot since the last sample
    progress: Any  # (3,) of a call on a GPU, see :mod:`footfall.engine.worlds.turns`
    roll: Any  # (P + 1, 3, 3) m, see :class:`Points`; one alone where nothing is an ellipsoid


INTEGERS = {"push_body", "push_time", "mode", "step", "outcome", "unsolved", "number", "points", "near"}
INTEGERS |= {"held_mode", "kept_mode", "row_state", "row_near", "progress", "seated"}

Shapes = dict[str, tuple[int, ...]]


class Counts(NamedTuple):
    """Sizes of the arrays that a world keeps."""

    points: int
    of_feet: int  # the first of them
    bodies: int  # other than feet
    memory: int  # of each point
    joint_rows: int  # constraints of single joints


def state_shapes(model: mujoco.MjModel, counts: Counts) -> Shapes:
    """The shapes of the arrays of :class:`State`, of one world."""
    points, rows = counts.points, counts.joint_rows
    return dict(
        qpos=(model.nq,),
        qvel=(model.nv,),
        ctrl=(model.nu,),
        anchor=(points, 3),
        force=(points, 3),
        mode=(points,),
        memory=(points, max(1, counts.memory)),
        step=(1,),
        outcome=(OUTCOME_SIZE,),
        unsolved=(1,),
        tally=(TALLIES,),
        push=(counts.of_feet, 3),
        beside=(3,),
        row_state=(rows,),
        row_inertia=(rows,),
        seated=(counts.bodies,),
    )


class Needs(NamedTuple):
    """What the scratch arrays of a step depend on, without those of the law."""

    points: int
    slots: int  # of bodies
    curved: bool  # whether any point is an ellipsoid
    operator: bool  # whether the law needs accelerations and the Delassus operator
    signals: int
    memory: int
    joint_rows: int  # constraints of single joints


def space_shapes(model: mujoco.MjModel, tree: Tree, needs: Needs) -> Shapes:
    """The shapes of the arrays of :class:`Space`, of one thread, without those of the law."""
    count, slots, nv = needs.points, needs.slots, model.nv
    solved, solved_slots = (count, slots) if needs.operator else (0, 0)
    bodies = bodies_shapes(model, tree_count(tree))
    own: Shapes = dict.fromkeys(("position", "velocity"), (count, 3))
    own |= dict.fromkeys(("acceleration", "bias", "arm"), (solved, 3))
    own |= dict.fromkeys(("points", "gap", "static_friction", "dynamic_friction", "held_mode"), (count,))
    own |= {"row_near": (1,)}
    own |= dict.fromkeys(("row_reference", "row_force"), (needs.joint_rows,))
    own |= {name: (nv,) for name in Space._fields if name.startswith("row_") and name not in own}
    own |= dict(
        number=(4,),
        progress=(3,),
        near=(slots + 1,),
        frame=(count, 3, 3),
        mobility=(6 * solved_slots, 6 * solved_slots),
        slip=(2, 2),
        centroid=(solved_slots, 3),
        half=(solved_slots, nv, 8),
        block=(6, 8),
        signals=(max(1, needs.signals),),
        kept=(solved, max(1, needs.memory) + 3),
        kept_mode=(solved,),
        held_force=(count, 3),
        held_peak=(slots + 1,),
        roll=(count + 1 if needs.curved else 1, 3, 3),
    )
    return {name: own[name] if name in own else bodies[name] for name in Space._fields if name != "law"}


def room(shapes: Shapes, count: int, *, world_last: bool, real: Any = np.float64) -> dict[str, np.ndarray]:
    """Zeros for ``count`` worlds or threads."""
    arrays = {}
    for name, shape in shapes.items():
        whole = (*shape, count) if world_last else (count, *shape)
        arrays[name] = np.zeros(whole, dtype=np.int64 if name in INTEGERS else real)
    return arrays


def bytes_of(shapes: Shapes, real: Any = np.float64) -> int:
    """Memory of one world's or thread's share, bytes."""
    sizes = {name: 8 if name in INTEGERS else np.dtype(real).itemsize for name in shapes}
    return sum(int(np.prod(shape)) * sizes[name] for name, shape in shapes.items())


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
