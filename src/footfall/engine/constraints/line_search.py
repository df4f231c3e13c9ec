"""The line search of Newton's method on the cost of rows and of MuJoCo's soft contacts, see ``active_set``."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.constraints.active_set import HALVINGS, LEVEL
from footfall.engine.constraints.joint_rows import JointRows, set_joint_forces
from footfall.engine.constraints.shared_rows import SharedRows, set_shared_forces
from footfall.engine.soft_contacts import SoftContacts, contact_slope
from footfall.kinds import Float, Named, Vector
from footfall.solve.contacts import Contacts
from footfall.solve.dense import dot


@inlined
def work_along(
    joints: JointRows,
    shared: SharedRows | None,
    contacts: Contacts | None,
    soft: SoftContacts | None,
    line: Named,
    qacc: Vector,
    t: Float,
) -> Float:
    """Move ``qacc`` along the line to its parameter ``t``: work of the forces of all rows and soft contacts there."""
    start, direction, work = line.acceleration, line.direction, 0.0
    for j in range(qacc.size):
        qacc[j] = start[j] + t * direction[j]
    set_joint_forces(joints, qacc)
    for i in range(joints.kind.size):
        work += joints.sign[i] * direction[joints.dof[i]] * joints.force[i]
    if shared is not None:
        set_shared_forces(shared, qacc)
        for i in range(shared.number[0]):
            work += dot(shared.jacobian[i], direction, direction.size) * shared.force[i]
    if soft is not None:
        work += contact_slope(contacts, soft, t)
    return work


@inlined
def least_cost(
    joints: JointRows,
    shared: SharedRows | None,
    contacts: Contacts | None,
    soft: SoftContacts | None,
    line: Named,
    qacc: Vector,
    force: Vector,
) -> Float:
    """Step length, at most 1, of least cost from ``line.acceleration`` to ``qacc``, by the Illinois method.

    Along the line the cost of Newton's method has the slope (needed forces - forces of rows and contacts) . direction,
    where the needed forces, ``M a`` less all other forces, change linearly. The slope increases. The search moves
    ``qacc``, and overwrites the forces of rows.
    """
    start, direction, begin, change = line.acceleration, line.direction, 0.0, 0.0
    for j in range(qacc.size):
        direction[j] = qacc[j] - start[j]
        begin += direction[j] * line.needed[j]
        change += direction[j] * (force[j] - line.needed[j])
    low, below, side = 0.0, begin - work_along(joints, shared, contacts, soft, line, qacc, 0.0), 0
    high, above = 1.0, begin + change - work_along(joints, shared, contacts, soft, line, qacc, 1.0)
    if above <= 0.0 or below >= 0.0:
        return 1.0 if above <= 0.0 else 0.0
    nothing = LEVEL * (above - below)
    for _ in range(HALVINGS):
        t = (low * above - high * below) / (above - below)
        slope = begin + t * change - work_along(joints, shared, contacts, soft, line, qacc, t)
        if abs(slope) <= nothing:
            return t
        if slope < 0.0:
            above *= 0.5 if side < 0 else 1.0
            low, below, side = t, slope, -1
        else:
            below *= 0.5 if side > 0 else 1.0
            high, above, side = t, slope, 1
    return low
