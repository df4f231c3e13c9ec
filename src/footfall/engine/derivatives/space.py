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
    """The derivatives and scratch: C columns of coordinates, velocities, controls, memory of points and parameters."""

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
    missed: Annotated[Tensor4, "P", 2, 3, "nv + 4"]  # e of each point by q and by v, contact frame
    missed_value: Annotated[Tensor, "V", "P", 3]  # e by the law's numbers
    values: Annotated[Vector, "V"]  # the law's numbers, one of them varied
    motion: Annotated[Matrix, "P", 3]  # u of each point, contact frame
    fitted: Annotated[Matrix, "P", 3]
    column: Annotated[Matrix, "P", 3]
    rigid: Annotated[Tensor, 6, "P", 3]  # orthonormal rigid motions of the points of each body
    rank: Annotated[Ints, "K"]  # number of these for each body that sticks as a whole
    share: Annotated[Vector, 6]
    asked: Annotated[Ints, "P"]  # 1 for points whose motion the law prescribes
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


def make_taken(model: mujoco.MjModel, data: mujoco.MjData, points: Any, pushes: Pushes, **kinds: Any) -> Taken:
    """Views of a run's data, and room for copies of the state, which are written before each step."""
    first, last = np.arange(model.nv), 1 + np.arange(model.nv)
    for kind, dof in zip(model.jnt_type, model.jnt_dofadr, strict=True):
        for start in (dof, dof + 3) if kind == FREE else (dof,) if kind == BALL else ():
            first[start : start + 3], last[start : start + 3] = start, start + 3
    last_dof = model.body_dofadr.astype(np.int64) + model.body_dofnum - 1
    for body in np.flatnonzero(model.body_dofnum == 0):  # parents come first
        last_dof[body] = last_dof[model.body_parentid[body]] if body else -1
    ball = np.concatenate([model.jnt_dofadr[model.jnt_type == BALL], model.jnt_dofadr[model.jnt_type == FREE] + 3])
    views = {name: getattr(data, name) for name in Taken._fields if hasattr(data, name)}
    copies = {name: views[name].copy() for name in ("qpos", "qvel", "ctrl")}
    copies |= {name: getattr(points, name).copy() for name in ("memory", "anchor", "mode")}
    constant = {name: getattr(model, name).astype(np.int64) for name in ("body_rootid", "dof_parentid")}
    group, step = np.stack([first, last], axis=1), np.zeros(1, dtype=np.int64)
    parts = views | copies | constant | kinds | {"last_dof": last_dof, "ball": ball.astype(np.int64)}
    return Taken(tree=make_tree(model), step=step, group=group, pushes=pushes, **parts)


def make_space(model: mujoco.MjModel, points: Any, taken: Taken) -> Space:
    """Room for the derivatives of such steps."""
    count, nv, values = len(points.local), model.nv, len(taken.by.value)
    carried = 2 * count if taken.carried else 0
    sizes = {"nv": nv, "nbody": model.nbody, "nM": len(model.M_colind), "P": count, "K": len(points.body)}
    sizes |= {"V": values, "N": points.memory.shape[1] + values, "B": len(taken.ball), "X": carried}
    sizes |= {"C": 2 * nv + model.nu + carried + taken.by.columns, "R": 2 * nv + carried}
    sizes |= {"U": 3 * count if taken.kind else 0}
    return zeros(Space, sizes)
