"""What derivatives of a step are computed from, and in: tuples of arrays."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.engine.dynamics.tree import Tree, make_tree
from footfall.engine.world import Pushes
from footfall.kinds import IntMatrix, Ints, Matrix, Tensor, Tensor4, Vector, zeros
from footfall.robot.model import BALL, FREE

# How a law's forces come about, see :mod:`footfall.engine.derivatives`.
OF_POINTS, OF_VELOCITIES, OF_ACCELERATIONS = 0, 1, 2
# What points carry from step to step: nothing, minus the place of their anchor in the tangent plane (m), or the bend of
# bristles (m).
NOTHING, ANCHORS, BENDS = 0, 1, 2


class Taken(NamedTuple):
    """A step that was taken: views of what MuJoCo's data hold of it, and copies of the state at its beginning."""

    tree: Tree
    dt: float  # s
    kind: int  # OF_POINTS, OF_VELOCITIES or OF_ACCELERATIONS
    carried: int  # NOTHING, ANCHORS or BENDS
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
    subtree_com: Matrix  # (nbody, 3) of MuJoCo, by body
    body_rootid: Ints
    dof_parentid: Ints
    ball: Ints  # first dofs of all rotations
    group: IntMatrix  # (nv, 2) first and last (exclusive) of the dofs that act at once with each
    pushes: Pushes


class Space(NamedTuple):
    """The derivatives, and all that they are computed in: C columns of coordinates, velocities, controls and more."""

    out: Annotated[Matrix, "R", "C"]  # the state after the step and what points carry, by columns
    right: Annotated[Matrix, "nv", "C"]  # forces, then accelerations, by columns
    kept: Annotated[Matrix, "X", "C"]  # what points carry after the step, by columns
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
    # motions of one body and of one of its points by each dof of the chain, see contact_motions
    turned: Annotated[Tensor, 4, 6, "nv"]
    moved: Annotated[Tensor, 3, 3, "nv"]
    # laws of points: a point's force (3) and what it carries (2), by its eight numbers
    slope: Annotated[Matrix, 5, 8]
    trial: Annotated[Matrix, 4, "M + 12"]
    found: Annotated[Vector, 5]
    # contacts on a cone
    missed: Annotated[Tensor4, "P", 2, 3, "nv"]  # e of each point by q and by v, contact frame
    motion: Annotated[Matrix, "P", 3]  # u of each point, contact frame
    fitted: Annotated[Matrix, "P", 3]
    column: Annotated[Matrix, "P", 3]
    asked: Annotated[Ints, "P"]  # 1 for points of which the law wants a motion
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
    matrix: Annotated[Matrix, 3, 3]
    turns: Annotated[Tensor4, "B", 2, 3, 3]  # of each rotation: how it turns what was before, and follows its rate


def make_taken(model: mujoco.MjModel, data: mujoco.MjData, points: Any, pushes: Pushes, **kinds: Any) -> Taken:
    """Views of a run's data; copies of the state at the beginning of a step are written before it is taken."""
    first, last = np.arange(model.nv), 1 + np.arange(model.nv)
    for kind, dof in zip(model.jnt_type, model.jnt_dofadr, strict=True):
        for start in (dof, dof + 3) if kind == FREE else (dof,) if kind == BALL else ():
            first[start : start + 3], last[start : start + 3] = start, start + 3
    ball = np.concatenate([model.jnt_dofadr[model.jnt_type == BALL], model.jnt_dofadr[model.jnt_type == FREE] + 3])
    views = {name: getattr(data, name) for name in Taken._fields if hasattr(data, name)}
    copies = {name: views[name].copy() for name in ("qpos", "qvel", "ctrl")}
    copies |= {name: getattr(points, name).copy() for name in ("memory", "anchor", "mode")}
    constant = {name: getattr(model, name).astype(np.int64) for name in ("body_rootid", "dof_parentid")}
    group, step = np.stack([first, last], axis=1), np.zeros(1, dtype=np.int64)
    parts = views | copies | constant | kinds | {"ball": ball.astype(np.int64)}
    return Taken(tree=make_tree(model), step=step, group=group, pushes=pushes, **parts)


def make_space(model: mujoco.MjModel, points: Any, taken: Taken) -> Space:
    """Room for the derivatives of such steps."""
    count, nv = len(points.local), model.nv
    carried = 2 * count if taken.carried else 0
    sizes = {"nv": nv, "nbody": model.nbody, "nM": len(model.M_colind), "P": count, "M": points.memory.shape[1]}
    sizes |= {"B": len(taken.ball), "X": carried, "R": 2 * nv + carried}
    sizes |= {"C": 2 * nv + model.nu + carried, "U": 3 * count if taken.kind else 0}
    return zeros(Space, sizes)
