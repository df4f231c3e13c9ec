"""Inputs and scratch arrays of the derivatives of a step."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.engine.dynamics.tree import Tree, make_tree
from footfall.engine.world import Pushes
from footfall.kinds import IntMatrix, Ints, Matrix, Tensor, Tensor4, Vector, zeros
from footfall.robot.model import BALL, FREE

# Kinds of laws: of single points, or with a contact problem on velocities or accelerations.
OF_POINTS, OF_VELOCITIES, OF_ACCELERATIONS = 0, 1, 2
# Memory of points that is an input of the next step: none, minus the position of the anchor in the tangent plane (m),
# or the bend of bristles (m).
NOTHING, ANCHORS, BENDS = 0, 1, 2


# Why a step that was taken has no exact derivative, by number.
EXACT, FAILED, BETWEEN, UNSOLVED, ROLLS, BOUNCES, BESIDE = range(7)
REASONS = (
    "",
    "the step fails",
    "contacts between bodies act",
    "the law found no exact solution of this step",
    "an ellipsoid rolls on the ground",
    "several points of one body bounce, and how they share their forces jumps as it tilts",
    "a body other than a foot is near the ground, for whose points there is no room on a GPU under this law",
)


class Parameters(NamedTuple):
    """Columns of the parameters that a step is differentiated by, after state and controls; -1 for absent ones."""

    columns: int
    friction: int  # increment of all coefficients
    slope: int  # rad, rotation of the ground
    turn: Vector  # (6,) axis about which it turns with its contact frames, and a point on it, m
    place: int  # first column of the positions of points on feet, m, three each, along the axes of the body
    feet: int  # number of points on feet
    value: Ints  # (V,) the law's numbers
    mass: Ints  # (nbody,) kg, with the inertia in proportion
    body_mass: Vector  # (nbody,) kg


class Taken(NamedTuple):
    """A step that was taken: views of its results in MuJoCo's data, and copies of the state at its beginning."""

    tree: Tree
    dt: float  # s
    kind: int  # OF_POINTS, OF_VELOCITIES or OF_ACCELERATIONS
    carried: int  # NOTHING, ANCHORS or BENDS
    by: Parameters
    soft: Vector  # (2,) compliance that softens contacts, m/N, or 0; the robot's weight, N
    step: Ints  # (1,) its number
    qpos: Vector
    qvel: Vector
    ctrl: Vector
    memory: Matrix  # (P, M)
    anchor: Matrix  # (P, 3) m
    mode: Ints  # (P,)
    qacc: Vector
    actuator_force: Vector
    qfrc_actuator: Vector
    M: Vector  # with the damping that acts on the velocity at the end of the step
    cdof: Matrix
    cdof_dot: Matrix
    cvel: Matrix
    cinert: Matrix
    xipos: Matrix
    xmat: Matrix
    subtree_com: Matrix  # (nbody, 3) of MuJoCo, by body
    body_rootid: Ints
    dof_parentid: Ints
    last_dof: Ints  # (nbody,) that moves each body, or -1
    ball: Ints  # first dofs of all rotations
    group: IntMatrix  # (nv, 2) first and last (exclusive) of the dofs that act at once with each
    pushes: Pushes


class Space(NamedTuple):
    """The derivatives and scratch: C columns of coordinates, velocities, controls, memory of points and parameters.

    Lengths P, K and Q are those of :class:`Sizes`.
    """

    out: Annotated[Matrix, "R", "C"]  # the state after the step and the memory of points, by columns
    right: Annotated[Matrix, "nv", "C"]  # forces, then accelerations, by columns
    kept: Annotated[Matrix, "X", "C"]  # memory of points after the step, by columns
    force: Annotated[Tensor, "P", 3, "C"]  # N, of the near points in their contact frames, by columns
    # motions, by body and by dof
    velocity_end: Annotated[Matrix, "nbody", 6]  # at the end of the step
    acceleration: Annotated[Matrix, "nbody", 6]  # with gravity as an acceleration of the world
    before: Annotated[Matrix, "nv", 6]  # velocity before each dof
    before_end: Annotated[Matrix, "nv", 6]  # the same at the end of the step
    after: Annotated[Matrix, "nv", 6]  # velocity after each dof
    pulled: Annotated[Matrix, "nv", 6]  # acceleration before each dof
    # sums over subtrees, see inverse_dynamics
    load: Annotated[Matrix, "nbody", 6]  # f
    outer: Annotated[Matrix, "nbody", 6]  # wrench of contacts and pushes
    inertia: Annotated[Tensor, "nbody", 6, 6]  # I
    rate: Annotated[Tensor, "nbody", 6, 6]  # B
    moving: Annotated[Tensor, "nbody", 6, 6]  # P
    vectors: Annotated[Tensor, "nv", 7, 6]  # of each dof
    # the inertia that acts, factored
    qLD: Annotated[Vector, "nM"]
    qLDiagInv: Annotated[Vector, "nv"]
    # motions of one body and of one of its points by each dof of the chain and four more, see contact_motions
    axes: Annotated[Matrix, "nv + 4", 6]
    turned: Annotated[Tensor, 4, 6, "nv + 4"]
    moved: Annotated[Tensor, 3, 3, "nv + 4"]
    # laws of points: a point's force (3) and new slip or bend (2), by its numbers, see point_laws
    slope: Annotated[Matrix, 5, "V + 9"]
    trial: Annotated[Matrix, 4, "N + 12"]
    found: Annotated[Vector, 5]
    # contacts on a cone
    missed: Annotated[Tensor4, "Q", 2, 3, "nv + 4"]  # e of each point by q and by v, contact frame
    missed_value: Annotated[Tensor, "V", "Q", 3]  # e by the law's numbers
    values: Annotated[Vector, "V"]  # the law's numbers, one of them varied
    motion: Annotated[Matrix, "Q", 3]  # u of each point, contact frame
    fitted: Annotated[Matrix, "Q", 3]
    column: Annotated[Matrix, "Q", 3]
    rigid: Annotated[Tensor, 6, "Q", 3]  # orthonormal rigid motions of the points of each body
    rank: Annotated[Ints, "K"]  # number of these for each body that sticks as a whole
    share: Annotated[Vector, 6]
    asked: Annotated[Ints, "Q"]  # 1 for points whose motion the law prescribes
    sole: Annotated[Ints, "K"]  # first unknown of each body that sticks as a whole, or -1
    number: Annotated[Ints, 1]  # of unknowns
    who: Annotated[Ints, "U"]  # point of each unknown
    give: Annotated[Vector, "U"]  # C
    pushed: Annotated[Matrix, "U", 3]  # force of each unknown on its point, contact frame
    hold: Annotated[Matrix, "U", "nv"]  # T
    pull_by: Annotated[Matrix, "nv", "U"]  # N, then accelerations
    system: Annotated[Matrix, "U", "U"]
    answer: Annotated[Matrix, "U", "C"]  # e, then dy, by columns
    # scratch
    speeds: Annotated[Matrix, 2, 6]
    pull: Annotated[Vector, 6]
    unit: Annotated[Vector, 6]
    turn: Annotated[Vector, 6]
    moment: Annotated[Vector, 6]
    weighed: Annotated[Vector, 6]
    place: Annotated[Vector, 3]
    centre: Annotated[Vector, 3]
    push: Annotated[Vector, 3]
    turns: Annotated[Tensor4, "B", 2, 3, 3]  # of each rotation: its derivatives by its start and by its rate


class Fixed(NamedTuple):
    """What derivatives need to know of a robot beside its tree, constant."""

    dof_parentid: Ints
    last_dof: Ints
    ball: Ints
    group: IntMatrix


def make_fixed(model: mujoco.MjModel) -> Fixed:
    """The fields of :class:`Taken` of these names."""
    first, last = np.arange(model.nv), 1 + np.arange(model.nv)
    for kind, dof in zip(model.jnt_type, model.jnt_dofadr, strict=True):
        for start in (dof, dof + 3) if kind == FREE else (dof,) if kind == BALL else ():
            first[start : start + 3], last[start : start + 3] = start, start + 3
    last_dof = model.body_dofadr.astype(np.int64) + model.body_dofnum - 1
    for body in np.flatnonzero(model.body_dofnum == 0):  # parents come first
        last_dof[body] = last_dof[model.body_parentid[body]] if body else -1
    ball = np.concatenate([model.jnt_dofadr[model.jnt_type == BALL], model.jnt_dofadr[model.jnt_type == FREE] + 3])
    parents, group = model.dof_parentid.astype(np.int64), np.stack([first, last], axis=1)
    return Fixed(dof_parentid=parents, last_dof=last_dof, ball=ball.astype(np.int64), group=group)


def make_taken(model: mujoco.MjModel, data: mujoco.MjData, points: Any, pushes: Pushes, **kinds: Any) -> Taken:
    """Views of a run's data, and room for copies of the state, which are written before each step."""
    views = {name: getattr(data, name) for name in Taken._fields if hasattr(data, name)}
    copies = {name: views[name].copy() for name in ("qpos", "qvel", "ctrl")}
    copies |= {name: getattr(points, name).copy() for name in ("memory", "anchor", "mode")}
    roots, step = model.body_rootid.astype(np.int64), np.zeros(1, dtype=np.int64)
    parts = views | copies | make_fixed(model)._asdict() | kinds | {"body_rootid": roots}
    return Taken(tree=make_tree(model), step=step, pushes=pushes, **parts)


class Sizes(NamedTuple):
    """How many contact points and bodies the derivatives of a step have room for."""

    points: int  # P, whose forces are differentiated
    slots: int  # K, bodies that carry points
    held: int  # Q, points whose motion a law with a contact problem may prescribe
    memory: int  # M numbers that the law remembers of a point


def make_space(model: mujoco.MjModel, sizes: Sizes, kind: int, carried: int, by: Parameters) -> Space:
    """Room for the derivatives of such steps; see :class:`Taken` for the kinds."""
    nv, values, ball = model.nv, len(by.value), len(make_fixed(model).ball)
    kept = 2 * sizes.points if carried else 0
    lengths = {"nv": nv, "nbody": model.nbody, "nM": len(model.M_colind), "P": sizes.points, "K": sizes.slots}
    lengths |= {
        "V": values,
        "N": sizes.memory + values,
        "B": ball,
        "X": kept,
        "Q": sizes.held,
        "U": 3 * sizes.held if kind else 0,
    }
    lengths |= {"C": 2 * nv + model.nu + kept + by.columns, "R": 2 * nv + kept}
    return zeros(Space, lengths)
