"""Contact forces, constraint forces and the acceleration ``qacc`` from one solution."""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.constraints.active_set import CYCLE, ENOUGH, EXACT, FEW, HALVINGS, ROUNDS, SOME, STALLED
from footfall.engine.constraints.joint_rows import (
    add_joint_row_forces,
    check_joint_rows,
    fold_joint_rows,
    joint_slope,
    set_joint_states,
)
from footfall.engine.constraints.row_elimination import answer_with, eliminate_rows, reduce_mobility
from footfall.engine.constraints.shared_rows import (
    SharedRows,
    add_shared_row_forces,
    begin_shared_line,
    check_shared_rows,
    set_shared_states,
    shared_slope,
)
from footfall.engine.kinematics import (
    add_forces,
    bend_points,
    keep_memory,
    point_forces,
    restore_memory,
    roll_points,
    velocities,
)
from footfall.engine.mobility import (
    add_half_solved_forces,
    finish_solve,
    free_acceleration,
    gather,
    half_solve,
    mobility,
    weigh_columns,
)
from footfall.engine.mujoco_law import native_step
from footfall.engine.other_bodies.near import release_all
from footfall.engine.other_bodies.points import Points
from footfall.engine.stages import factor_inertia
from footfall.engine.world import Constraints, MjWorld, Scratch
from footfall.kinds import Bool, Float, Function, Int, Named, Vector
from footfall.solve.contacts import Contacts
from footfall.solve.dense import copy


@inlined
def ask(
    law: Function, points: Points, contacts: Contacts, scratch: Int, signals: Vector, values: Vector, dt: Float
) -> Int:
    """Call a coupled law, which writes forces, modes and signals. Returns its status."""
    return law(contacts, dt, points.memory, points.force, points.mode, scratch, signals, values)


@inlined
def coupled_forces(
    world: MjWorld,
    points: Points,
    contacts: Contacts,
    scratch: Scratch,
    rows: SharedRows,
    laws: Named,
    conditions: Named,
) -> Int:
    """Write the forces of a coupled law, and add them to the half-solved smooth force, which is in ``qacc``."""
    mobility(world, points, contacts, scratch.centroid, scratch.half, scratch.block)
    weigh_columns(world, contacts)
    if rows.number[1] > 0:
        reduce_mobility(world, points, contacts, scratch.half, rows)
    free_acceleration(world, points, contacts, scratch.centroid, scratch.half, world.qacc)
    roll_points(world.cvel, points, contacts)
    dt, ground = conditions.plan.dt, conditions.ground
    if laws.bends:
        lag = laws.lag if contacts.number[1] == 0 else 0.0  # once in a step
        bend_points(world, points, contacts, ground.surface, ground.shape, ground.table, dt, lag)
    status = ask(laws.coupled, points, contacts, laws.scratch, scratch.signals, laws.values, dt)
    contacts.number[1] = 0
    add_half_solved_forces(points, contacts, scratch.half, world.qacc)
    if rows.number[1] > 0:
        answer_with(world, rows, world.qacc)
    return status


@inlined
def row_forces(constraints: Constraints, generalised: Vector) -> None:
    """Write the generalised forces of all rows by their states."""
    for j in range(generalised.size):
        generalised[j] = 0.0
    add_joint_row_forces(constraints.joints, generalised)
    add_shared_row_forces(constraints.shared, generalised)


@inlined
def least_cost(constraints: Constraints, qacc: Vector, force: Vector) -> Float:
    """Step length, at most 1, of least cost from ``constraints.acceleration`` to ``qacc``.

    Along the line the cost of Newton's method has the slope (needed forces - forces of the rows) . direction, where the
    needed forces, ``M a`` less all other forces, change linearly.
    """
    joints, shared, start = constraints.joints, constraints.shared, constraints.acceleration
    direction, begin, change = constraints.direction, 0.0, 0.0
    for j in range(qacc.size):
        direction[j] = qacc[j] - start[j]
        begin += direction[j] * constraints.needed[j]
        change += direction[j] * (force[j] - constraints.needed[j])
    begin_shared_line(shared, start, direction)
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(HALVINGS):
        slope = begin + t * change - joint_slope(joints, start, direction, t) - shared_slope(shared, t)
        if slope <= 0.0:
            low = t
        else:
            high = t
        if low == 1.0:
            break
        t = 0.5 * (low + high)
    return low


@cold(types.none)
def correct_rows(world: MjWorld, constraints: Constraints, turn: Int, alone: Bool) -> None:
    """Correct the states of rows by the acceleration found, and factor M again.

    For the rows ``alone``, at fixed contact forces, the cost is convex and the line search exact.
    """
    joints, shared, at, needed = constraints.joints, constraints.shared, constraints.acceleration, constraints.needed
    share = 1.0 if turn == 0 else least_cost(constraints, world.qacc, world.qfrc_constraint)
    if share < STALLED and not alone:  # the law is not monotone here, and there is no cost to lower
        share = 1.0
    for j in range(at.size):
        if turn == 0:
            at[j], needed[j] = world.qacc[j], world.qfrc_constraint[j]
        else:
            at[j] += share * constraints.direction[j]
            needed[j] += share * (world.qfrc_constraint[j] - needed[j])
    set_shared_states(shared, at)
    if set_joint_states(joints, at):
        fold_joint_rows(joints)
        factor_inertia(world, joints)


@inlined
def rows_agree(world: MjWorld, constraints: Constraints, turn: Int, alone: Bool) -> Bool:
    """Whether the states of all rows agree with the acceleration found; if not they are corrected."""
    joints, shared = constraints.joints, constraints.shared
    tolerance = EXACT if turn < SOME else ENOUGH
    wrong = check_joint_rows(joints, world, tolerance)
    if shared.number[0] > 0:
        wrong += check_shared_rows(shared, world, tolerance)
    row_forces(constraints, world.qfrc_constraint)
    if wrong == 0:
        return True
    correct_rows(world, constraints, turn, alone)
    return False


@inlined
def keep_solved(points: Points, contacts: Contacts, scratch: Scratch) -> None:
    """Save the law's forces and modes."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        copy(scratch.solved[p], points.force[p])
        scratch.did[p] = points.mode[p]


@inlined
def fetch_solved(points: Points, contacts: Contacts, scratch: Scratch) -> None:
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        copy(points.force[p], scratch.solved[p])
        points.mode[p] = scratch.did[p]


@cold(types.none)
def solve_in_turn(
    world: MjWorld, points: Points, contacts: Contacts, scratch: Scratch, constraints: Constraints
) -> None:
    """Solve all rows at the last contact forces, a convex problem.

    Where contacts and rows are not found together, since the states of rows repeat in a cycle, they are found in turn:
    contacts with the rows in these states, rows at those forces.
    """
    joints, shared, given = constraints.joints, constraints.shared, scratch.generalised
    for j in range(given.size):
        given[j] = 0.0
    add_forces(world.cdof, world.subtree_com, points, contacts, given)
    for turn in range(ROUNDS):
        for j in range(given.size):
            world.qacc[j] = world.qfrc_smooth[j] + given[j] + joints.push[j]
        half_solve(world, world.qacc)
        if shared.number[0] > 0:
            eliminate_rows(world, shared, world.qacc)
            answer_with(world, shared, world.qacc)
        finish_solve(world, world.qacc)
        if rows_agree(world, constraints, turn, True):
            return
    copy(world.qacc, constraints.acceleration)  # the best iterate
    copy(world.qfrc_constraint, constraints.needed)


@inlined
def constrained_step(
    world: MjWorld, points: Points, contacts: Contacts, scratch: Scratch, conditions: Named, laws: Named
) -> Int:
    """Write the forces of a coupled law (if ``plan.operator``), of all constraint rows, and the acceleration.

    Returns the law's status.
    """
    constraints, operator = conditions.constraints, conditions.plan.operator
    joints, shared = constraints.joints, constraints.shared
    asked = operator and contacts.number[0] > 0
    rows = joints.kind.size + shared.number[0]
    if operator:
        release_all(points, contacts)
    if asked:
        velocities(world.cvel, world.subtree_com, points, contacts)
        gather(points, contacts, scratch.centroid)
        if rows > 0:
            keep_memory(points, scratch, points.mode.size)
    status, found = 0, False
    for turn in range(ROUNDS):
        copy(world.qacc, world.qfrc_smooth)
        if joints.kind.size > 0:
            for j in range(world.qacc.size):
                world.qacc[j] += joints.push[j]
        half_solve(world, world.qacc)
        if shared.number[0] > 0:
            eliminate_rows(world, shared, world.qacc)
        if asked:
            if 0 < turn < FEW:  # later the law is warm-started from its last solution, maybe on another branch
                restore_memory(points, scratch, points.mode.size)
            contacts.number[1] = turn
            status = coupled_forces(world, points, contacts, scratch, shared, laws, conditions)
            contacts.number[1] = 0
        finish_solve(world, world.qacc)
        if rows == 0 or rows_agree(world, constraints, turn, not asked):
            return status if shared.number[2] == 0 else 1
        if asked and status == 0:
            found = True
            keep_solved(points, contacts, scratch)
        if asked and turn >= CYCLE:
            solve_in_turn(world, points, contacts, scratch, constraints)
    if asked:
        if found:
            fetch_solved(points, contacts, scratch)
        solve_in_turn(world, points, contacts, scratch, constraints)
    return 1


@inlined
def foot_step(
    world: Named,
    points: Points,
    contacts: Contacts,
    law: Function,
    scratch: Int,
    signals: Vector,
    values: Vector,
    dt: Float,
) -> Int:
    """Add the forces of a coupled law without the Delassus operator to ``qfrc_smooth``; far points are open already."""
    if contacts.number[0] == 0:
        return 0
    velocities(world.cvel, world.subtree_com, points, contacts)
    status = ask(law, points, contacts, scratch, signals, values, dt)
    add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    return status


@inlined
def forces_and_acceleration(
    world: MjWorld,
    points: Points,
    contacts: Contacts,
    scratch: Scratch,
    conditions: Named,
    laws: Named,
    constrained: Bool,
) -> Int:
    """Write the law's forces and ``qacc`` from ``qfrc_smooth``. Returns the law's status."""
    plan = conditions.plan
    if plan.native:
        native_step(world, points, contacts, scratch, conditions, constrained)
        return 0
    status = 0
    if not plan.operator:
        release_all(points, contacts)
        if plan.coupled:
            own, signals = laws.scratch, scratch.signals
            status = foot_step(world, points, contacts, laws.coupled, own, signals, laws.values, plan.dt)
        else:
            velocities(world.cvel, world.subtree_com, points, contacts)
            point_forces(points, contacts, laws.point, laws.values, scratch.slip)
            add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    return max(status, constrained_step(world, points, contacts, scratch, conditions, laws))
