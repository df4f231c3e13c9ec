"""Constraints that act on several dofs: loops, welds, tendons, mimic joints, contacts between the robot's bodies.

MuJoCo makes their rows; this module reads them, checks them and sets their states. Their forces are eliminated in
:mod:`footfall.engine.constraints.row_elimination`.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import mujoco
import numpy as np
from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.bridge import counter, doubles_at, integers_at
from footfall.engine.constraints.active_set import (
    CANCELLED,
    EQUALITY,
    HOLDS,
    bounded,
    state_for,
    strongest_pull,
    violates,
)
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Named, Vector, zeros
from footfall.solve.dense import dot

#: Capacity for rows of MuJoCo's soft contacts between bodies: 128 contacts with pyramidal cones.
CONTACT_ROWS = 512


class MadeRows(NamedTuple):
    """Addresses of the rows that MuJoCo made, which change from step to step."""

    model: int  # address of the model of these rows, without the constraints that are folded into the inertia
    nefc: Ints  # (1,)
    kind: Ints  # (1,) address of efc_type, and so on
    identity: Ints
    rownnz: Ints
    rowadr: Ints
    colind: Ints
    jacobian: Ints
    inertia: Ints
    reference: Ints
    frictionloss: Ints


class SharedRows(NamedTuple):
    """Up to C rows over several dofs, in the first ``number[0]`` entries."""

    number: Annotated[Ints, 3]  # rows, rows that hold, and rows dropped for lack of room
    kind: Annotated[Ints, "C"]  # MuJoCo's mjtConstraint
    identity: Annotated[Ints, "C"]  # MuJoCo's number of the joint, tendon, equality or contact
    state: Annotated[Ints, "C"]  # see active_set
    jacobian: Annotated[Matrix, "C", "nv"]
    half: Annotated[Matrix, "C", "nv"]  # B, half-solved
    inertia: Annotated[Vector, "C"]  # 1/R
    reference: Annotated[Vector, "C"]  # a_ref
    loss: Annotated[Vector, "C"]  # largest friction
    force: Annotated[Vector, "C"]
    holding: Annotated[Ints, "C"]  # rows that hold, the first number[1] entries
    weighed: Annotated[Vector, "nv"]  # scratch: D^-1 B of one row
    factor: Annotated[Matrix, "C", "C"]  # S, then its Cholesky factor
    residual: Annotated[Vector, "C"]  # scratch
    value: Annotated[Vector, "C"]  # scratch


#: Fields that a step reads before it writes them.
REMEMBERED = ("number", "kind", "identity", "state")


@inlined
def forget_shared_rows(rows: SharedRows) -> None:
    """Remove all rows."""
    rows.number[0], rows.number[1], rows.number[2] = 0, 0, 0


@cold(types.none)
def read_shared_rows(made: MadeRows, rows: SharedRows) -> None:
    """Copy MuJoCo's rows; states are kept if the rows are the same as last time."""
    n = min(int(made.nefc[0]), rows.kind.size)
    rows.number[1], rows.number[2] = 0, made.nefc[0] - n
    if n == 0:
        rows.number[0] = 0
        return
    kind, identity = integers_at(made.kind[0], n), integers_at(made.identity[0], n)
    nonzeros, start = integers_at(made.rownnz[0], n), integers_at(made.rowadr[0], n)
    inertia, reference = doubles_at(made.inertia[0], n), doubles_at(made.reference[0], n)
    loss = doubles_at(made.frictionloss[0], n)
    size = start[n - 1] + nonzeros[n - 1]
    column, value = integers_at(made.colind[0], size), doubles_at(made.jacobian[0], size)
    known = n == rows.number[0]
    for i in range(n):
        known = known and rows.kind[i] == kind[i] and rows.identity[i] == identity[i]
    rows.number[0] = n
    for i in range(n):
        rows.kind[i], rows.identity[i] = kind[i], identity[i]
        rows.inertia[i], rows.reference[i], rows.loss[i] = inertia[i], reference[i], loss[i]
        if not known:
            rows.state[i] = HOLDS
        for j in range(rows.weighed.size):
            rows.jacobian[i, j] = 0.0
        for e in range(start[i], start[i] + nonzeros[i]):
            rows.jacobian[i, column[e]] = value[e]


@inlined
def mobile(world: Named, row: Vector) -> Float:
    """Sum of |J_j| sqrt(1/D_j) of a row; times :func:`strongest_pull` it bounds the row's acceleration."""
    value = 0.0
    for j in range(row.size):
        value += abs(row[j]) * math.sqrt(world.qLDiagInv[j])
    return value


@cold(types.int64)
def check_shared_rows(rows: SharedRows, world: Named, tolerance: Float) -> Int:
    """The number of rows whose states disagree with the acceleration of ``world``."""
    wrong, pull = 0, -1.0
    for i in range(rows.number[0]):
        if rows.kind[i] != EQUALITY:
            kind, state, loss, inertia = rows.kind[i], rows.state[i], rows.loss[i], rows.inertia[i]
            acceleration = dot(rows.jacobian[i], world.qacc, world.qacc.size)
            value = inertia * (rows.reference[i] - acceleration)
            scale = inertia * (abs(rows.reference[i]) + abs(acceleration))
            if violates(kind, state, value, loss, tolerance * scale):
                pull = strongest_pull(world) if pull < 0.0 else pull
                scale += CANCELLED * inertia * mobile(world, rows.jacobian[i]) * pull
                wrong += 1 if violates(kind, state, value, loss, tolerance * scale) else 0
    return wrong


@inlined
def set_shared_forces(rows: SharedRows, qacc: Vector) -> None:
    """Forces of all rows at an acceleration."""
    for i in range(rows.number[0]):
        value = rows.inertia[i] * (rows.reference[i] - dot(rows.jacobian[i], qacc, qacc.size))
        rows.force[i] = bounded(rows.kind[i], value, rows.loss[i])


@inlined
def set_shared_states(rows: SharedRows, qacc: Vector) -> Bool:
    """Write the states of all rows at an acceleration. Returns whether any changed."""
    changed = False
    for i in range(rows.number[0]):
        value = rows.inertia[i] * (rows.reference[i] - dot(rows.jacobian[i], qacc, qacc.size))
        state = state_for(rows.kind[i], value, rows.loss[i])
        changed = changed or state != rows.state[i]
        rows.state[i] = state
    return changed


@inlined
def begin_shared_line(rows: SharedRows, qacc: Vector, direction: Vector) -> None:
    """Write values of all rows at an acceleration and rates along ``direction`` (nv,), for :func:`shared_slope`."""
    for i in range(rows.number[0]):
        rows.value[i] = rows.inertia[i] * (rows.reference[i] - dot(rows.jacobian[i], qacc, qacc.size))
        rows.residual[i] = dot(rows.jacobian[i], direction, direction.size)


@inlined
def shared_slope(rows: SharedRows, t: Float) -> Float:
    """Work of all rows' forces along the line at its parameter ``t``."""
    work = 0.0
    for i in range(rows.number[0]):
        value = rows.value[i] - t * rows.inertia[i] * rows.residual[i]
        work += rows.residual[i] * bounded(rows.kind[i], value, rows.loss[i])
    return work


@inlined
def add_shared_row_forces(rows: SharedRows, generalised: Vector) -> None:
    """Add the generalised forces of all rows."""
    for i in range(rows.number[0]):
        for j in range(generalised.size):
            generalised[j] += rows.jacobian[i, j] * rows.force[i]


def make_made_rows(model: mujoco.MjModel, data: mujoco.MjData) -> MadeRows:
    """Where to read MuJoCo's rows of ``model`` in ``data``; both must outlive the result."""
    names = ("nefc", "efc_type", "efc_id", "efc_J_rownnz", "efc_J_rowadr", "efc_J_colind", "efc_J", "efc_D", "efc_aref")
    return MadeRows(model._address, *(counter(data, name) for name in (*names, "efc_frictionloss")))


def most_shared_rows(model: mujoco.MjModel) -> int:
    """Most rows, without those of contacts, that MuJoCo makes of a model without joint rows."""
    always = 0
    if model.neq or model.dof_frictionloss.any() or model.tendon_frictionloss.any():
        data = mujoco.MjData(model)
        data.eq_active[:] = 1
        mujoco.mj_forward(model, data)
        always = int(np.isin(data.efc_type, (EQUALITY, 1, 2)).sum())
    ball = int((model.jnt_limited.astype(bool) & (model.jnt_type == int(mujoco.mjtJoint.mjJNT_BALL))).sum())
    return always + ball + 2 * model.ntendon


def make_shared_rows(model: mujoco.MjModel, most: int) -> SharedRows:
    """Room for ``most`` rows of a model."""
    return zeros(SharedRows, {"C": most, "nv": model.nv}, state=np.full(most, HOLDS, dtype=np.int64))
