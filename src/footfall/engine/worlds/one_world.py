"""One world among many as kernels see it: its arrays, under the names of a single world."""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.engine.constraints.joint_rows import JointRows
from footfall.engine.dynamics.tree import Bodies, Tree
from footfall.engine.other_bodies.points import Points
from footfall.engine.tape import Held
from footfall.engine.worlds.arrays import Given, Space, WorldState
from footfall.kinds import Int, Ints
from footfall.solve.contacts import Contacts
from footfall.solve.gather import gather, tuple_of

#: The fields of :class:`footfall.engine.world.MjWorld` that kernels read, of one world among many.
AsMjWorld = tuple_of(
    "AsMjWorld",
    (
        *("qpos", "qvel", "ctrl", "qacc", "qfrc_smooth", "qfrc_constraint", "cdof", "cdof_dot", "cvel", "subtree_com"),
        *("xpos", "xmat", "dof_M0", "M_rowadr", "M_rownnz", "M_colind", "qLD", "qLDiagInv"),
    ),
    __name__,
)


class Robot(NamedTuple):
    """The constant data shared by all worlds."""

    tree: Any
    soles: Any
    joints: Any  # constraints of single joints
    rest: Any = ()  # bodies other than feet on a GPU, see :class:`footfall.engine.worlds.every_body.Rest`


class Line(NamedTuple):
    """The line search for the active set of joint constraints, as in the engine's ``Constraints``; each (nv,)."""

    acceleration: Any
    needed: Any
    direction: Any


class OneWorld(NamedTuple):
    """All arguments of kernels that belong to one world."""

    tree: Any
    bodies: Any
    world: Any
    points: Any
    contacts: Any
    scratch: Any
    joints: Any
    near: Any  # (1,) number of joint constraints that may act
    line: Line


class Scratch(NamedTuple):
    """The scratch arrays that the engine's kernels use under these names."""

    slip: Any
    centroid: Any
    half: Any
    generalised: Any
    law: Any  # the law's scratch arrays: an address, or on a GPU all numbers of the lane
    signals: Any
    memory: Any
    mode: Any
    held: Any


#: What the dynamics read and write of one world.
bodies_of = gather(Bodies, {"given": Given, "state": WorldState, "space": Space})
#: What the engine's kernels read of one world.
world_of = gather(AsMjWorld, {"tree": Tree, "bodies": Bodies, "space": None}, qfrc_constraint="space.qfrc_constraint")
#: What a coupled law sees of one world; ``owner`` (P,) is the slot of each point.
contacts_of = gather(
    Contacts,
    {"owner": None, "points": None, "space": Space},
    points="space.points",
    body="owner",
    anchor="points.anchor",
    response="space.half",
    weight="space.qLDiagInv",
)
#: What a step holds for the recording.
held_of = gather(Held, {"space": None}, **{name: f"space.held_{name}" for name in Held._fields})
#: The scratch arrays of the engine's kernels.
scratch_of = gather(Scratch, {"space": Space, "held": None}, memory="space.kept", mode="space.kept_mode")
#: Constraints of single joints: ``rows`` are those of all worlds, constant.
joints_of = gather(
    JointRows,
    {"rows": JointRows, "state": None, "space": None},
    state="state.row_state",
    inertia="state.row_inertia",
    diagonal="()",
    **{name: f"space.row_{name}" for name in ("reference", "force", "added", "push")},
)


@inlined
def set_friction(given: Given, space: Space, count: Int) -> None:
    """Coefficients of friction of the first ``count`` points."""
    for p in range(count):
        space.static_friction[p], space.dynamic_friction[p] = given.friction[0], given.friction[1]


@inlined
def one_world(robot: Robot, given: Given, state: WorldState, space: Space, points: Points, owner: Ints) -> OneWorld:
    """What kernels take of one world with these contact points; ``owner`` is the slot of each."""
    bodies = bodies_of(given, state, space)
    return OneWorld(
        robot.tree,
        bodies,
        world_of(robot.tree, bodies, space),
        points,
        contacts_of(owner, points, space),
        scratch_of(space, held_of(space)),
        joints_of(robot.joints, state, space),
        space.row_near,
        Line(space.row_acceleration, space.row_needed, space.row_direction),
    )
