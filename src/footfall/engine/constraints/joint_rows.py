"""Constraints on one dof each: joint friction, joint limits and equalities of one joint, as inertia of that dof.

MuJoCo makes each of them a soft row (its manual, Computation, "Constraint model"): the force is ``f = D (a_ref - a)``
with ``D = 1 / R``, clipped to the row's bounds. A row that *holds* therefore acts as added inertia, ``(M + D) a = tau +
D a_ref``, and D is added to the diagonal of M before M is factored; a row that *slips* is a constant force. So contact
laws act on the constrained robot, and contacts and joints are solved together. The active set is warm-started from the
last step and corrected in :mod:`footfall.engine.constraints.active_set`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.engine.constraints.active_set import (
    CANCELLED,
    EQUALITY,
    FRICTION,
    HOLDS,
    LIMIT,
    OPEN,
    SLIPS_DOWN,
    SLIPS_UP,
    bounded,
    state_for,
    strongest_pull,
    violates,
)
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Named, Vector, zeros

#: MuJoCo's bounds: least number it divides by, least and largest impedance.
TINY, SOFTEST, HARDEST = 1e-15, 1e-4, 0.9999
#: All kinds of rows that act on one dof.
KINDS = (FRICTION, LIMIT, EQUALITY)


class JointRows(NamedTuple):
    """N rows on one dof each; constant down to ``solimp``, written at every evaluation from ``state`` on."""

    kind: Ints  # (N,) FRICTION, LIMIT or EQUALITY
    dof: Ints  # (N,)
    address: Ints  # (N,) of the joint in qpos
    sign: Vector  # (N,) the row's velocity is sign * qvel: 1, or -1 for upper limits
    bound: Vector  # (N,) limit or equality: the joint's position there; friction: the largest force
    margin: Vector  # (N,) distance from which a limit acts
    weight: Vector  # (N,) 1/kg or 1/(kg m2), MuJoCo's dof_invweight0
    gains: Matrix  # (N, 2) stiffness 1/s2 and damping 1/s of the reference acceleration
    solimp: Matrix  # (N, 5) MuJoCo's
    state: Annotated[Ints, "N"]  # see active_set
    inertia: Vector  # (N,) D, kg or kg m2; 0 for a limit that is not near
    reference: Annotated[Vector, "N"]  # a_ref, m/s2 or rad/s2
    force: Annotated[Vector, "N"]  # N or N m, along the row
    diagonal: Annotated[Vector, "nv"]  # scratch: the diagonal of M without rows
    added: Annotated[Vector, "nv"]  # sum of D of the rows that hold
    push: Annotated[Vector, "nv"]  # sum of D a_ref of the rows that hold, and of the forces of rows that slip


@inlined
def impedance(solimp: Vector, distance: Float) -> Float:
    """MuJoCo's impedance d(r) of a row whose position is off by ``distance``."""
    low, high = min(max(solimp[0], SOFTEST), HARDEST), min(max(solimp[1], SOFTEST), HARDEST)
    width, middle, power = max(0.0, solimp[2]), min(max(solimp[3], SOFTEST), HARDEST), max(1.0, solimp[4])
    if low == high or width <= TINY:
        return 0.5 * (low + high)
    x = abs(distance) / width
    if x >= 1.0:
        return high
    if power == 1.0:
        y = x
    elif x <= middle:
        y = x**power / middle ** (power - 1.0)
    else:
        y = 1.0 - (1.0 - x) ** power / (1.0 - middle) ** (power - 1.0)
    return low + y * (high - low)


@inlined
def away_from_limit(rows: JointRows, i: Int, position: Float) -> Float:
    """Distance (m or rad) of a joint at a ``position`` from where its limit begins to act, negative beyond."""
    return rows.sign[i] * (position - rows.bound[i]) - rows.margin[i]


@inlined
def beyond_friction(rows: JointRows, i: Int, speed: Float, acceleration: Float) -> Float:
    """Violation of its state by a joint's friction, N or N m; negative while the state is kept."""
    value, loss = rows.inertia[i] * (-rows.gains[i, 1] * speed - acceleration), rows.bound[i]
    if rows.state[i] == HOLDS:
        return abs(value) - loss
    return loss - value if rows.state[i] == SLIPS_UP else loss + value


@inlined
def evaluate_joint_rows(world: Named, rows: JointRows) -> Int:
    """Write inertia and reference acceleration of every row at the state of ``world``; newly reached limits hold.

    Returns the number of rows that may act.
    """
    near = 0
    for i in range(rows.kind.size):
        speed = rows.sign[i] * world.qvel[rows.dof[i]]
        if rows.kind[i] == FRICTION:  # its inertia is constant
            rows.reference[i] = -rows.gains[i, 1] * speed
            near += 1
            continue
        distance = rows.sign[i] * (world.qpos[rows.address[i]] - rows.bound[i])
        if rows.kind[i] == LIMIT and distance >= rows.margin[i]:
            if rows.inertia[i] != 0.0:  # on a GPU a read is cheaper than a write
                rows.inertia[i] = 0.0
                rows.state[i] = OPEN
            continue
        near += 1
        if rows.inertia[i] == 0.0:
            rows.state[i] = HOLDS
        distance -= rows.margin[i]
        share = impedance(rows.solimp[i], distance)
        rows.inertia[i] = 1.0 / max(TINY, (1.0 - share) * rows.weight[i] / share)
        rows.reference[i] = -rows.gains[i, 1] * speed - rows.gains[i, 0] * share * distance
    return near


@inlined
def fold_joint_rows(rows: JointRows) -> None:
    """Write the additions of the rows, by their states, to the diagonal of M and to the generalised force."""
    for j in range(rows.added.size):
        rows.added[j] = 0.0
        rows.push[j] = 0.0
    for i in range(rows.kind.size):
        inertia, j = rows.inertia[i], rows.dof[i]
        if inertia == 0.0:  # a limit that is not near
            continue
        if rows.state[i] == HOLDS:
            rows.added[j] += inertia
            rows.push[j] += rows.sign[i] * inertia * rows.reference[i]
        elif rows.state[i] == SLIPS_UP:
            rows.push[j] += rows.bound[i]
        elif rows.state[i] == SLIPS_DOWN:
            rows.push[j] -= rows.bound[i]


@inlined
def fold_equalities(rows: JointRows) -> None:
    """Write the additions of equalities alone to the diagonal of M."""
    for j in range(rows.added.size):
        rows.added[j] = 0.0
    for i in range(rows.kind.size):
        if rows.kind[i] == EQUALITY:
            rows.added[rows.dof[i]] += rows.inertia[i]


@inlined
def joint_value(rows: JointRows, i: Int, qacc: Vector) -> Float:
    """The force ``D (a_ref - J a)`` of a row before clipping to its bounds."""
    return rows.inertia[i] * (rows.reference[i] - rows.sign[i] * qacc[rows.dof[i]])


@inlined
def largest_friction(rows: JointRows, i: Int) -> Float:
    return rows.bound[i] if rows.kind[i] == FRICTION else 0.0


@inlined
def check_joint_rows(rows: JointRows, world: Named, tolerance: Float) -> Int:
    """Write the forces of all rows by their states. Returns how many states disagree with the acceleration found."""
    wrong, qacc, pull = 0, world.qacc, -1.0
    for i in range(rows.kind.size):
        rows.force[i] = 0.0
        if rows.inertia[i] == 0.0:
            continue
        kind, value, loss, state = rows.kind[i], joint_value(rows, i, qacc), largest_friction(rows, i), rows.state[i]
        if state == HOLDS:
            rows.force[i] = value
        elif state != OPEN:
            rows.force[i] = loss if state == SLIPS_UP else -loss
        scale = rows.inertia[i] * (abs(rows.reference[i]) + abs(qacc[rows.dof[i]]))
        if violates(kind, state, value, loss, tolerance * scale):
            pull = strongest_pull(world) if pull < 0.0 else pull
            scale += CANCELLED * rows.inertia[i] * math.sqrt(rows.weight[i]) * pull
            wrong += 1 if violates(kind, state, value, loss, tolerance * scale) else 0
    return wrong


@inlined
def set_joint_forces(rows: JointRows, qacc: Vector) -> None:
    """Forces of all rows at an acceleration."""
    for i in range(rows.kind.size):
        rows.force[i] = 0.0
        if rows.inertia[i] > 0.0:
            rows.force[i] = bounded(rows.kind[i], joint_value(rows, i, qacc), largest_friction(rows, i))


@inlined
def set_joint_states(rows: JointRows, qacc: Vector) -> Bool:
    """Write the states of all rows at an acceleration. Returns whether any changed."""
    changed = False
    for i in range(rows.kind.size):
        if rows.inertia[i] > 0.0:
            state = state_for(rows.kind[i], joint_value(rows, i, qacc), largest_friction(rows, i))
            changed = changed or state != rows.state[i]
            rows.state[i] = state
    return changed


@inlined
def joint_slope(rows: JointRows, qacc: Vector, direction: Vector, t: Float) -> Float:
    """Work of all rows' forces along ``direction`` (nv,) at ``qacc + t direction``."""
    work = 0.0
    for i in range(rows.kind.size):
        if rows.inertia[i] > 0.0:
            along = rows.sign[i] * direction[rows.dof[i]]
            value = joint_value(rows, i, qacc) - t * rows.inertia[i] * along
            work += along * bounded(rows.kind[i], value, largest_friction(rows, i))
    return work


@inlined
def add_joint_row_forces(rows: JointRows, generalised: Vector) -> None:
    """Add the generalised forces of all rows."""
    for i in range(rows.kind.size):
        generalised[rows.dof[i]] += rows.sign[i] * rows.force[i]


def make_joint_rows(model: mujoco.MjModel, kinds: Sequence[int] = KINDS) -> JointRows:
    """The rows of a model that act on one dof, of these kinds, with scratch."""
    off, flag = model.opt.disableflags, mujoco.mjtDisableBit
    rows: list[tuple[Any, ...]] = []  # kind, dof, address, sign, bound, margin, solref, solimp
    kinds = kinds if constant_weights(model) else ()
    if FRICTION in kinds and not off & flag.mjDSBL_FRICTIONLOSS:
        for dof in np.flatnonzero(model.dof_frictionloss > 0):
            solver = (model.dof_solref[dof], model.dof_solimp[dof])
            rows.append((FRICTION, dof, 0, 1.0, model.dof_frictionloss[dof], 0.0, *solver))
    if LIMIT in kinds and not off & flag.mjDSBL_LIMIT:
        for joint in np.flatnonzero(model.jnt_limited.astype(bool) & _single(model)):
            at = (model.jnt_dofadr[joint], model.jnt_qposadr[joint])
            solver = (model.jnt_solref[joint], model.jnt_solimp[joint])
            for sign, bound in zip((1.0, -1.0), model.jnt_range[joint], strict=True):
                rows.append((LIMIT, *at, sign, bound, model.jnt_margin[joint], *solver))
    if EQUALITY in kinds and not off & flag.mjDSBL_EQUALITY:
        for equality in _joint_equalities(model):
            joint = model.eq_obj1id[equality]
            dof, address = model.jnt_dofadr[joint], model.jnt_qposadr[joint]
            target = model.qpos0[address] + model.eq_data[equality, 0]
            solver = (model.eq_solref[equality], model.eq_solimp[equality])
            rows.append((EQUALITY, dof, address, 1.0, target, 0.0, *solver))
    columns = list(zip(*rows, strict=True)) or [()] * 8
    kind, dof, address = (np.array(column, dtype=np.int64) for column in columns[:3])
    sign, bound, margin = (np.array(column, dtype=float) for column in columns[3:6])
    solref, solimp = np.array(columns[6], dtype=float).reshape(-1, 2), np.array(columns[7], dtype=float).reshape(-1, 5)
    weight, share = model.dof_invweight0[dof].astype(float), np.array([impedance.py_func(one, 0.0) for one in solimp])
    return zeros(
        JointRows,
        {"N": len(rows), "nv": model.nv},
        kind=kind,
        dof=dof,
        address=address,
        sign=sign,
        bound=bound,
        margin=margin,
        weight=weight,
        gains=reference_gains(model, solref, solimp),
        solimp=solimp,
        state=np.full(len(rows), HOLDS, dtype=np.int64),
        inertia=np.where(kind == FRICTION, 1.0 / np.maximum(TINY, (1.0 - share) * weight / share), 0.0),
    )


def guess_slips(rows: JointRows, qvel: np.ndarray) -> None:
    """Let joints that friction cannot stop within a step slip at the beginning of a run; all other rows hold."""
    force = -rows.inertia * rows.gains[:, 1] * qvel[rows.dof]
    slips = (rows.kind == FRICTION) & (np.abs(force) > rows.bound)
    rows.state[slips] = np.where(force[slips] > 0.0, SLIPS_UP, SLIPS_DOWN)


def leave_to_joint_rows(model: mujoco.MjModel, kinds: Sequence[int] = KINDS) -> None:
    """Remove from a model the constraints that :func:`make_joint_rows` covers, so that MuJoCo leaves them out."""
    if not constant_weights(model):
        return
    if EQUALITY in kinds:
        model.eq_active0[_joint_equalities(model)] = 0
    if FRICTION in kinds:
        model.dof_frictionloss[:] = 0.0
    if LIMIT in kinds:
        model.jnt_limited[_single(model)] = 0


def constant_weights(model: mujoco.MjModel) -> bool:
    """Whether rows have constant weights; with MuJoCo's flag ``diagexact`` they depend on all of M."""
    off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return not off and not model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_DIAGEXACT


def _single(model: mujoco.MjModel) -> np.ndarray:
    """(njnt,) joints of one dof."""
    return np.isin(model.jnt_type, (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)))


def _joint_equalities(model: mujoco.MjModel) -> np.ndarray:
    """Active equalities that fix one joint of one dof."""
    of_joint = (model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)) & (model.eq_obj2id < 0) & model.eq_active0.astype(bool)
    return np.flatnonzero(of_joint)


def reference_gains(model: mujoco.MjModel, solref: np.ndarray, solimp: np.ndarray) -> np.ndarray:
    """(N, 2) stiffness and damping of the reference acceleration (manual, Modeling, "Solver parameters")."""
    hardest = np.clip(solimp[:, 1], SOFTEST, HARDEST)
    time, ratio = solref[:, 0].copy(), solref[:, 1]
    if not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_REFSAFE:
        time = np.where(time > 0, np.maximum(time, 2.0 * model.opt.timestep), time)
    direct = solref[:, 0] <= 0
    stiffness = np.where(
        direct,
        -solref[:, 0] / np.maximum(TINY, hardest**2),
        1.0 / np.maximum(TINY, (hardest * time * ratio) ** 2),
    )
    damping = np.where(direct, -ratio / np.maximum(TINY, hardest), 2.0 / np.maximum(TINY, hardest * time))
    return np.stack([stiffness, damping], axis=1)
