"""Contact forces, constraint forces and the acceleration ``qacc`` from one solution."""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.constraints.active_set import CYCLE, ENOUGH, EXACT, FEW, HALVINGS, LEVEL, ROUNDS, SOME, STALLED
from footfall.engine.constraints.joint_rows import (
    JointRows,
    add_joint_row_forces,
    check_joint_rows,
    fold_joint_rows,
    joint_slope,
    set_joint_states,
)
from footfall.engine.constraints.row_elimination import answer_with, eliminate_rows, write_row_columns
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
    keep_near,
    point_forces,
    restore_near,
    roll_points,
    velocities,
)
from footfall.engine.mobility import (
    add_half_solved_forces,
    finish_solve,
    free_acceleration,
    gather,
    half_solve,
    write_columns,
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
    write_columns(world, points, contacts, scratch.centroid)
    if rows.number[1] > 0:
        write_row_columns(world, points, contacts, rows)
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
def row_forces(joints: JointRows, shared: SharedRows | None, generalised: Vector) -> None:
    """Write the generalised forces of all rows by their states."""
    for j in range(generalised.size):
        generalised[j] = 0.0
    add_joint_row_forces(joints, generalised)
    if shared is not None:
        add_shared_row_forces(shared, generalised)


@inlined
def row_slope(joints: JointRows, shared: SharedRows | None, line: Named, t: Float) -> Float:
    """Work of all rows' forces along the line at its parameter ``t``."""
    work = joint_slope(joints, line.acceleration, line.direction, t)
    if shared is not None:
        work += shared_slope(shared, t)
    return work


@inlined
def least_cost(joints: JointRows, shared: SharedRows | None, line: Named, qacc: Vector, force: Vector) -> Float:
    """Step length, at most 1, of least cost from ``line.acceleration`` to ``qacc``, by the Illinois method.

    Along the line the cost of Newton's method has the slope (needed forces - forces of the rows) . direction, where the
    needed forces, ``M a`` less all other forces, change linearly. The slope is piecewise linear and increases.
    """
    start, direction, begin, change = line.acceleration, line.direction, 0.0, 0.0
    for j in range(qacc.size):
        direction[j] = qacc[j] - start[j]
        begin += direction[j] * line.needed[j]
        change += direction[j] * (force[j] - line.needed[j])
    if shared is not None:
        begin_shared_line(shared, start, direction)
    high, above = 1.0, begin + change - row_slope(joints, shared, line, 1.0)
    if above <= 0.0:
        return 1.0
    low, below, side = 0.0, begin - row_slope(joints, shared, line, 0.0), 0
    if below >= 0.0:
        return 0.0
    nothing = LEVEL * (above - below)
    for _ in range(HALVINGS):
        t = (low * above - high * below) / (above - below)
        slope = begin + t * change - row_slope(joints, shared, line, t)
        if abs(slope) <= nothing:
            return t
        if slope < 0.0:
            above *= 0.5 if side < 0 else 1.0
            low, below, side = t, slope, -1
        else:
            below *= 0.5 if side > 0 else 1.0
            high, above, side = t, slope, 1
    return low


@cold(types.none)
def correct_rows(
    world: Named, joints: JointRows, shared: SharedRows | None, line: Named, turn: Int, alone: Bool
) -> None:
    """Take the states of rows at the acceleration of least cost on the line from the last one to that found.

    For the rows ``alone``, at fixed contact forces, the cost is convex and the line search exact.
    """
    at, needed, force = line.acceleration, line.needed, world.qfrc_constraint
    share = 1.0 if turn == 0 else least_cost(joints, shared, line, world.qacc, force)
    if share < STALLED and not alone:  # the law is not monotone here, and there is no cost to lower
        share = 1.0
    for j in range(at.size):
        if turn == 0:
            at[j], needed[j] = world.qacc[j], force[j]
        else:
            at[j] += share * line.direction[j]
            needed[j] += share * (force[j] - needed[j])
    if shared is not None:
        set_shared_states(shared, at)
    set_joint_states(joints, at)


@inlined
def rows_agree(world: Named, joints: JointRows, shared: SharedRows | None, line: Named, turn: Int, alone: Bool) -> Bool:
    """Whether the states of all rows agree with the acceleration found; if not they are corrected, and the inertia has
    to be factored again. Worlds have no ``shared`` rows.
    """
    tolerance = EXACT if turn < SOME else ENOUGH
    wrong = check_joint_rows(joints, world, tolerance)
    if shared is not None and shared.number[0] > 0:
        wrong += check_shared_rows(shared, world, tolerance)
    row_forces(joints, shared, world.qfrc_constraint)
    if wrong == 0:
        return True
    correct_rows(world, joints, shared, line, turn, alone)
    return False


@cold(types.none)
def factor_again(world: MjWorld, joints: JointRows) -> None:
    """Factor M with the rows that hold now."""
    fold_joint_rows(joints)
    factor_inertia(world, joints)


@inlined
def half_solved_push(world: Named, joints: JointRows, rows: Int) -> None:
    """Write all generalised forces except those of contacts and shared rows, half-solved, to ``qacc``; ``rows`` of
    joints may act.
    """
    copy(world.qacc, world.qfrc_smooth)
    if rows > 0:
        for j in range(world.qacc.size):
            world.qacc[j] += joints.push[j]
    half_solve(world, world.qacc)


@inlined
def solve_rows(world: MjWorld, constraints: Constraints) -> Int:
    """Write the acceleration with contact forces in ``qfrc_smooth``, a convex problem. Returns 1 if it is unsolved."""
    joints, shared = constraints.joints, constraints.shared
    for turn in range(ROUNDS):
        half_solved_push(world, joints, joints.kind.size)
        if shared.number[0] > 0:
            eliminate_rows(world, shared, world.qacc)
        finish_solve(world, world.qacc)
        if joints.kind.size + shared.number[0] == 0 or rows_agree(world, joints, shared, constraints, turn, True):
            return min(1, shared.number[2])
        factor_again(world, joints)
    copy(world.qacc, constraints.acceleration)  # the best iterate
    copy(world.qfrc_constraint, constraints.needed)
    return 1


@cold(types.none)
def solve_in_turn(
    world: MjWorld, points: Points, contacts: Contacts, scratch: Scratch, constraints: Constraints
) -> None:
    """Solve all rows at the last contact forces.

    Where contacts and rows are not found together, since the states of rows repeat in a cycle, they are found in turn:
    contacts with the rows in these states, rows at those forces.
    """
    copy(scratch.generalised, world.qfrc_smooth)
    add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    solve_rows(world, constraints)
    copy(world.qfrc_smooth, scratch.generalised)


@inlined
def begin_operator(world: Named, points: Points, contacts: Contacts, scratch: Named) -> None:
    """Compute the inputs of a law with the Delassus operator that do not change between its calls in a step."""
    release_all(points, contacts)
    contacts.number[1] = 0
    if contacts.number[0] > 0:
        velocities(world.cvel, world.subtree_com, points, contacts)
        gather(points, contacts, scratch.centroid)
        keep_near(points, contacts, scratch)


@inlined
def constrained_step(
    world: MjWorld, points: Points, contacts: Contacts, scratch: Scratch, conditions: Named, laws: Named
) -> Int:
    """Write the forces of a coupled law (if ``plan.operator``), of all constraint rows, and the acceleration.

    Returns the law's status.
    """
    constraints, operator = conditions.constraints, conditions.plan.operator
    joints, shared = constraints.joints, constraints.shared
    if operator:
        begin_operator(world, points, contacts, scratch)
    if not operator or contacts.number[0] == 0:
        return solve_rows(world, constraints)
    for turn in range(ROUNDS):
        half_solved_push(world, joints, joints.kind.size)
        if shared.number[0] > 0:
            eliminate_rows(world, shared, world.qacc)
        if 0 < turn < FEW:  # later the law is warm-started from its last solution, maybe on another branch
            restore_near(points, contacts, scratch)
        contacts.number[1] = turn
        status = coupled_forces(world, points, contacts, scratch, shared, laws, conditions)
        finish_solve(world, world.qacc)
        if joints.kind.size + shared.number[0] == 0 or rows_agree(world, joints, shared, constraints, turn, False):
            return status if shared.number[2] == 0 else 1
        factor_again(world, joints)
        if turn >= CYCLE:
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
