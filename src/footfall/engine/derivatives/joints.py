"""Derivatives of the forces in joints: motors and servos, springs and dampers, friction, limits and equalities."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.constraints.active_set import FRICTION, HOLDS
from footfall.engine.constraints.joint_rows import TINY, JointRows, impedance
from footfall.engine.derivatives.space import Space, Taken
from footfall.kinds import Float, Int, Vector

#: Step of differences of an impedance, as a share of its width: errors are of its square, plus rounding over it.
FINE = 1e-6


@inlined
def add_joint_forces(taken: Taken, space: Space) -> None:
    """Add derivatives of springs and dampers, and of motors and servos that are at no limit."""
    tree, nv, out = taken.tree, taken.qvel.size, space.right
    for d in range(nv):
        out[d, nv + d] -= tree.dof_damping[d]
    for j in range(tree.jnt_type.size):  # free and balls have none here
        out[tree.jnt_dofadr[j], tree.jnt_dofadr[j]] -= tree.jnt_stiffness[j]
    for i in range(tree.actuator_dof.size):
        d, gear, limit = tree.actuator_dof[i], tree.actuator_gear[i], tree.actuator_range[i]
        gain, offset, most = tree.actuator_gain[i], tree.actuator_bias[i], tree.dof_force[d]
        inside = limit[2] < taken.actuator_force[i] < limit[3] and most[0] < taken.qfrc_actuator[d] < most[1]
        if not inside:
            continue
        control = min(max(taken.ctrl[i], limit[0]), limit[1])
        length, speed = gear * taken.qpos[tree.actuator_qpos[i]], gear * taken.qvel[d]
        out[d, d] += gear * gear * (gain[1] * control + offset[1])
        out[d, nv + d] += gear * gear * (gain[2] * control + offset[2])
        if limit[0] <= taken.ctrl[i] <= limit[1]:
            out[d, 2 * nv + i] += gear * (gain[0] + gain[1] * length + gain[2] * speed)


@inlined
def row_inertia(solimp: Vector, distance: Float, weight: Float) -> tuple[Float, Float]:
    """Inertia and impedance of a row at a ``distance`` from its reference position, as in its evaluation."""
    share = impedance(solimp, distance)
    return 1.0 / max(TINY, (1.0 - share) * weight / share), share


@inlined
def add_row(taken: Taken, space: Space, rows: JointRows, i: Int) -> None:
    """Add derivatives of one row that holds, whose force is ``D (a_ref - s a)`` along its sign s."""
    d, sign, nv, out = rows.dof[i], rows.sign[i], taken.qvel.size, space.right
    inertia, stiffness, damping = rows.inertia[i], rows.gains[i, 0], rows.gains[i, 1]
    out[d, nv + d] -= inertia * damping
    if rows.kind[i] == FRICTION:
        return
    distance = sign * (taken.qpos[rows.address[i]] - rows.bound[i]) - rows.margin[i]
    step = FINE * rows.solimp[i, 2]
    grown, stiffer = 0.0, 0.0  # slopes of the inertia and of the impedance
    if step > 0.0:
        more, share_more = row_inertia(rows.solimp[i], distance + step, rows.weight[i])
        less, share_less = row_inertia(rows.solimp[i], distance - step, rows.weight[i])
        grown, stiffer = 0.5 * (more - less) / step, 0.5 * (share_more - share_less) / step
    share = impedance(rows.solimp[i], distance)
    missing = rows.reference[i] - sign * taken.qacc[d]
    out[d, d] += grown * missing - inertia * stiffness * (stiffer * distance + share)


@inlined
def add_joint_rows(taken: Taken, space: Space, rows: JointRows) -> None:
    """Add derivatives of all rows that hold, and their inertias."""
    tree = taken.tree
    for i in range(rows.kind.size):
        if rows.inertia[i] > 0.0 and rows.state[i] == HOLDS:
            j = rows.dof[i]
            space.qLD[tree.M_rowadr[j] + tree.M_rownnz[j] - 1] += rows.inertia[i]
            add_row(taken, space, rows, i)
