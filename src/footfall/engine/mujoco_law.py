"""A step of law mujoco: MuJoCo's soft contacts and all constraint rows from one solution, and the acceleration.

Newton's method on MuJoCo's cost, as in its own solver (its manual, Computation, "Newton"). Contacts and constraints of
single joints are folded into the inertia (``soft_contacts``, ``constraints/joint_rows``), rows over several dofs are
eliminated (``constraints/row_elimination``): with this inertia, H, the next acceleration is ``a + H^-1 g``, with the
residual force ``g = tau + J^T f(a) - M a`` at a. It is warm-started from the last step's acceleration: while the active
set does not change, one iteration suffices. MuJoCo's own solver takes over where iterations do not converge, where
bodies of the robot touch each other with elliptic cones, whose rows have no separate bounds, and where there are more
rows to eliminate than dofs to solve for.
"""

from __future__ import annotations

import math

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.bridge import (
    address_of,
    mj_add_contact,
    mj_contact_force,
    mj_factor_m,
    mj_fwd_actuation,
    mj_fwd_constraint,
    mj_island,
    mj_make_constraint,
    mj_project_constraint,
    mj_reference_constraint,
    mj_transmission,
    pointer_to,
)
from footfall.engine.constraints.active_set import HALVINGS
from footfall.engine.constraints.joint_rows import (
    TINY,
    add_joint_row_forces,
    evaluate_joint_rows,
    fold_joint_rows,
    joint_slope,
    set_joint_forces,
    set_joint_states,
)
from footfall.engine.constraints.row_elimination import answer_change, hold_rows
from footfall.engine.constraints.shared_rows import (
    add_shared_row_forces,
    begin_shared_line,
    set_shared_forces,
    set_shared_states,
    shared_slope,
)
from footfall.engine.kinematics import add_forces, velocities
from footfall.engine.mobility import finish_solve, half_solve
from footfall.engine.other_bodies.near import release_all
from footfall.engine.other_bodies.points import Points
from footfall.engine.soft_contacts import (
    SoftContacts,
    contact_slope,
    evaluate_contacts,
    fold_contacts,
    friction,
    set_accelerations,
    set_contact_forces,
    set_stiffness,
)
from footfall.engine.stages import add_damping, add_inertia, add_servo_damping, multiply_inertia, solve
from footfall.engine.world import Constraints, MjWorld, Native, Scratch
from footfall.kinds import Bool, Float, Int, Named, Vector
from footfall.solve.contacts import OPEN, SLIDE, STICK, Contacts
from footfall.solve.dense import copy

#: Iteration limit, after which MuJoCo's own solver takes over; two iterations usually suffice.
ROUNDS = 100
#: Tolerances of the residual force, as a share of all forces, and of the last change of the acceleration, relative to
#: it. Norms are weighted by the diagonal of M, so that all dofs have one unit. On slippery ground the rounding error of
#: a force grows with the stiffness of a pyramid's edges; a small enough change then suffices if the residual is below
#: ``LITTLE_FORCE``, which an audit of the momentum calls a wrong force.
NO_FORCE, NO_CHANGE, LITTLE_FORCE = 1e-12, 1e-10, 1e-3
#: Relative change whose square, the change of the cost, is below rounding, so that a line search is useless. After
#: ``SOME`` iterations it counts as converged, since rounding may make a point press in every other iteration.
SMALL, SOME = 1e-6, 16
#: Tolerance of the line search, as a share of the step.
FINE = 1e-8


@inlined
def evaluate(
    world: MjWorld, points: Points, contacts: Contacts, constraints: Constraints, soft: SoftContacts, needed: Vector
) -> None:
    """Write the forces of all rows and contacts at ``qacc``, and to ``needed`` (nv,) M a less all other forces."""
    total = world.qfrc_constraint
    set_accelerations(world, points, contacts, soft)
    set_contact_forces(points, contacts, soft)
    set_joint_forces(constraints.joints, world.qacc)
    set_shared_forces(constraints.shared, world.qacc)
    multiply_inertia(world, world.qacc, needed)
    for j in range(total.size):
        total[j] = 0.0
        needed[j] -= world.qfrc_smooth[j]
    add_joint_row_forces(constraints.joints, total)
    add_shared_row_forces(constraints.shared, total)
    add_forces(world.cdof, world.subtree_com, points, contacts, total)


@inlined
def factor_folded(
    world: MjWorld, points: Points, contacts: Contacts, constraints: Constraints, soft: SoftContacts
) -> None:
    """Factor the inertia plus the inertias of rows and contacts; M itself is not changed."""
    joints, shared = constraints.joints, constraints.shared
    fold_joint_rows(joints)
    copy(soft.kept, world.M)
    add_inertia(world, joints.added)
    fold_contacts(world, points, contacts, soft)
    mj_factor_m(world.model, world.data)
    copy(world.M, soft.kept)
    if shared.number[0] > 0:
        hold_rows(world, shared, False)


@cold(types.float64)
def least_cost(
    world: MjWorld, contacts: Contacts, constraints: Constraints, soft: SoftContacts, needed: Vector
) -> Float:
    """Step length, below 1, of least cost along ``constraints.direction``.

    The cost has the slope (needed forces - forces of rows and contacts) . direction, and the needed forces change
    linearly from ``constraints.needed`` to ``needed``.
    """
    joints, shared, at, direction = (
        constraints.joints,
        constraints.shared,
        constraints.acceleration,
        constraints.direction,
    )
    begin, change, low, high = 0.0, 0.0, 0.0, 1.0
    for j in range(at.size):
        begin += direction[j] * constraints.needed[j]
        change += direction[j] * (needed[j] - constraints.needed[j])
    begin_shared_line(shared, at, direction)
    for _ in range(HALVINGS):
        t = 0.5 * (low + high)
        slope = begin + t * change - joint_slope(joints, at, direction, t)
        slope -= shared_slope(shared, t) + contact_slope(contacts, soft, t)
        if slope <= 0.0:
            low = t
        else:
            high = t
        if high - low <= FINE * low:
            break
    return low


@inlined
def last_change(world: MjWorld, constraints: Constraints) -> Float:
    """The last change of the acceleration, relative to the acceleration."""
    change, motion = 0.0, 0.0
    for j in range(world.qacc.size):
        inertia = world.M[world.M_rowadr[j] + world.M_rownnz[j] - 1]
        change += constraints.direction[j] ** 2 * inertia
        motion += world.qacc[j] ** 2 * inertia
    return math.sqrt(change / max(TINY, motion))


@inlined
def force_left(world: MjWorld, needed: Vector) -> Float:
    """The residual force, relative to all forces."""
    left, forces = 0.0, 0.0
    for j in range(needed.size):
        inertia = world.M[world.M_rowadr[j] + world.M_rownnz[j] - 1]
        left += (world.qfrc_constraint[j] - needed[j]) ** 2 / inertia
        forces += (abs(world.qfrc_constraint[j]) + abs(world.qfrc_smooth[j])) ** 2 / inertia
    return math.sqrt(left / max(TINY, forces))


@inlined
def newton_step(
    world: MjWorld, contacts: Contacts, constraints: Constraints, soft: SoftContacts, needed: Vector
) -> None:
    """Add H^-1 g to ``qacc``; its last value goes to ``constraints.acceleration``."""
    qacc, direction = world.qacc, constraints.direction
    for j in range(qacc.size):
        direction[j] = world.qfrc_constraint[j] - needed[j]
    half_solve(world, direction)
    if constraints.shared.number[1] > 0:
        answer_change(world, constraints.shared, direction)
    finish_solve(world, direction)
    for i in range(contacts.number[0]):
        copy(soft.before[contacts.points[i]], soft.found[contacts.points[i]])
    for j in range(qacc.size):
        constraints.acceleration[j], constraints.needed[j] = qacc[j], needed[j]
        qacc[j] += direction[j]


@inlined
def led_too_far(world: MjWorld, constraints: Constraints, needed: Vector) -> Bool:
    """Whether the cost rises at the end of the last step: the residual force points back."""
    ahead = 0.0
    for j in range(needed.size):
        ahead += constraints.direction[j] * (world.qfrc_constraint[j] - needed[j])
    return ahead < 0.0


@inlined
def solve_folded(
    world: MjWorld, points: Points, contacts: Contacts, constraints: Constraints, soft: SoftContacts, needed: Vector
) -> Bool:
    """Write forces of contacts and rows, and ``qacc``; ``needed`` (nv,) is scratch. Returns whether it converged."""
    to_middle(points, contacts, 0.5)
    velocities(world.cvel, world.subtree_com, points, contacts)
    evaluate_contacts(points, contacts, soft)
    evaluate_joint_rows(world, constraints.joints)
    copy(world.qacc, world.qacc_warmstart)
    stepped, factored, change = False, False, 0.0
    for turn in range(ROUNDS):
        evaluate(world, points, contacts, constraints, soft, needed)
        if stepped:
            change = last_change(world, constraints)
            enough = NO_CHANGE if turn < SOME else SMALL
            if not force_left(world, needed) > (LITTLE_FORCE if change <= enough else NO_FORCE):  # NaN ends it too
                return True
        changed = set_stiffness(contacts, soft)  # the states of rows and contacts set their inertias
        changed = set_joint_states(constraints.joints, world.qacc) or changed
        if set_shared_states(constraints.shared, world.qacc) or changed:
            factored = False
            if stepped and change > SMALL and led_too_far(world, constraints, needed):
                share = least_cost(world, contacts, constraints, soft, needed)
                for j in range(world.qacc.size):
                    world.qacc[j] = constraints.acceleration[j] + share * constraints.direction[j]
                stepped = False
                continue
        if not factored:
            factor_folded(world, points, contacts, constraints, soft)
        newton_step(world, contacts, constraints, soft, needed)
        stepped = factored = True
    to_middle(points, contacts, -0.5)
    return False


@cold(types.none)
def solve_by_mujoco(world: MjWorld, points: Points, contacts: Contacts, scratch: Scratch, native: Native) -> None:
    """As :func:`solve_folded`, by MuJoCo's own solver with its own rows of all constraints."""
    mj_factor_m(world.model, world.data)
    tell_mujoco(world, points, contacts, native)
    mj_make_constraint(world.model, world.data)
    mj_island(world.model, world.data)
    mj_project_constraint(world.model, world.data)
    mj_reference_constraint(world.model, world.data)
    before = scratch.generalised  # actuators of adhesion act on MuJoCo's contacts, which are known now
    copy(before, world.qfrc_actuator)
    mj_transmission(world.model, world.data)
    mj_fwd_actuation(world.model, world.data)
    for j in range(before.size):
        world.qfrc_smooth[j] += world.qfrc_actuator[j] - before[j]
    solve(world, world.qacc_smooth, world.qfrc_smooth)
    mj_fwd_constraint(world.model, world.data)
    ask_mujoco(world, points, contacts, native, scratch.wrench)


@cold(types.none)
def native_step(
    world: MjWorld, points: Points, contacts: Contacts, scratch: Scratch, conditions: Named, constrained: Bool
) -> None:
    """Write contact forces and ``qacc``. As in MuJoCo's step, constraints are solved without damping."""
    native, constraints, soft = conditions.native, conditions.constraints, conditions.native.soft
    release_all(points, contacts)
    if not constrained:
        world.ncon[0] = 0
    round_pairs = soft.elliptic == 1 and world.ncon[0] > 0
    many = constraints.shared.number[0] + constraints.shared.number[2] > world.qvel.size
    alone = soft.folded == 1 and not (round_pairs or many)
    if alone and solve_folded(world, points, contacts, constraints, soft, scratch.generalised):
        for i in range(contacts.number[0]):
            set_mode(points, contacts, contacts.points[i])
    else:
        solve_by_mujoco(world, points, contacts, scratch, native)
    copy(world.qacc_warmstart, world.qacc)
    if conditions.plan.damped:
        add_damping(world, conditions.plan.dt)
        add_servo_damping(world, conditions.plan.dt)
        mj_factor_m(world.model, world.data)
        for j in range(world.qacc.size):
            world.qacc[j] = world.qfrc_smooth[j] + world.qfrc_constraint[j]
        half_solve(world, world.qacc)
        finish_solve(world, world.qacc)


@inlined
def to_middle(points: Points, contacts: Contacts, share: Float) -> None:
    """Move near points by a share of their gap; half of it leads between the surfaces, where MuJoCo's forces act."""
    for i in range(contacts.number[0]):
        move_to_middle(points, contacts, contacts.points[i], share)


@inlined
def move_to_middle(points: Points, contacts: Contacts, p: Int, share: Float) -> None:
    for j in range(3):
        points.position[p, j] -= share * contacts.gap[p] * contacts.frame[p, 2, j]


@inlined
def tell_mujoco(world: MjWorld, points: Points, contacts: Contacts, native: Native) -> None:
    """Add one native contact for every near point."""
    contact = native.contact
    for k in range(points.body.size):
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            frame, at, gap = contacts.frame[p], points.position[p], contacts.gap[p]
            contact[0].dist = gap
            for j in range(3):
                contact[0].pos[j] = at[j] - 0.5 * gap * frame[2, j]
                contact[0].frame[j] = frame[2, j]
                contact[0].frame[3 + j] = frame[0, j]
                contact[0].frame[6 + j] = frame[1, j]
            for j in range(2):
                contact[0].friction[j] = friction(contacts, p)
            contact[0].geom1 = native.ground_geom
            contact[0].geom2 = points.geom[k]
            contact[0].geom[0] = native.ground_geom
            contact[0].geom[1] = points.geom[k]
            native.contact_id[p] = world.ncon[0]
            if mj_add_contact(world.model, world.data, address_of(contact)) != 0:
                native.contact_id[p] = -1


@inlined
def ask_mujoco(world: MjWorld, points: Points, contacts: Contacts, native: Native, wrench: Vector) -> None:
    """Read the forces of the contacts that were added."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if native.contact_id[p] < 0:
            continue
        mj_contact_force(world.model, world.data, native.contact_id[p], pointer_to(wrench))
        force = points.force[p]
        force[0], force[1], force[2] = wrench[1], wrench[2], wrench[0]
        move_to_middle(points, contacts, p, 0.5)
        set_mode(points, contacts, p)


@inlined
def set_mode(points: Points, contacts: Contacts, p: Int) -> None:
    """Set the mode of a point: it sticks if friction is below its limit; an open point is moved back to its surface."""
    force = points.force[p]
    limit = contacts.dynamic_friction[p] * force[2]
    if force[2] <= 0.0:
        points.mode[p] = OPEN
        move_to_middle(points, contacts, p, -0.5)
    elif force[0] ** 2 + force[1] ** 2 >= (0.999 * limit) ** 2:
        points.mode[p] = SLIDE
    else:
        points.mode[p] = STICK
