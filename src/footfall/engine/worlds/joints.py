"""Constraints of single joints in one world among many: friction and limits, folded into the inertia.

As in :mod:`footfall.engine.law_step`, without the constraints that MuJoCo makes (loops, tendons, contacts between
bodies).
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.active_set import ENOUGH, EXACT, HALVINGS, ROUNDS, SOME
from footfall.engine.constraints.joint_rows import (
    add_joint_row_forces,
    check_joint_rows,
    fold_joint_rows,
    joint_slope,
    set_joint_states,
)
from footfall.engine.dynamics.inertia import add_to_diagonal, factor, joint_inertia
from footfall.engine.dynamics.joint_forces import damp_servos
from footfall.engine.mobility import finish_solve, half_solve
from footfall.solve.dense import copy


@inlined
def factor_with_rows(one, dt):
    """Add the active constraints to the inertia, and factor it."""
    joint_inertia(one.tree, one.bodies, dt)
    damp_servos(one.tree, one.bodies, dt)
    if one.near[0] > 0:
        fold_joint_rows(one.joints)
        add_to_diagonal(one.tree, one.bodies, one.joints.added)
    factor(one.tree, one.bodies)


@inlined
def half_solved_push(one):
    """Put all generalised forces but those of contacts into ``qacc``, with those of the constraints, half solved."""
    world = one.world
    copy(world.qacc, world.qfrc_smooth)
    if one.near[0] > 0:
        for j in range(world.qacc.size):
            world.qacc[j] += one.joints.push[j]
    half_solve(world, world.qacc)


@inlined
def constrained_step(one, dt):
    """The acceleration under given contact forces. Gives 1 if the constraints' active set was not found."""
    for turn in range(ROUNDS):
        half_solved_push(one)
        finish_solve(one.world, one.world.qacc)
        if one.near[0] == 0 or joint_rows_agree(one, turn, dt):
            return 0
    return 1


@inlined
def joint_rows_agree(one, turn, dt):
    """Whether the constraints' active set agrees with the acceleration; if not, it is corrected."""
    tolerance = EXACT if turn < SOME else ENOUGH
    if check_joint_rows(one.joints, one.world, tolerance) == 0:
        return True
    correct_states(one, turn, dt)
    return False


@kernel
def correct_states(one, turn, dt):
    """Take the active set of an acceleration between the last one and this, and factor the inertia again."""
    if move_states(one, turn):
        factor_with_rows(one, dt)


@inlined
def move_states(one, turn):
    """Take the active set of an acceleration between the last one and this: that of least cost on the line. Gives
    whether it changed.
    """
    joints, qacc = one.joints, one.world.qacc
    at, needed, direction, force = one.line.acceleration, one.line.needed, one.line.direction, joints.diagonal
    for j in range(qacc.size):
        force[j] = 0.0
    add_joint_row_forces(joints, force)
    if turn == 0:
        copy(at, qacc)
        copy(needed, force)
    else:
        begin, change = 0.0, 0.0
        for j in range(qacc.size):
            direction[j] = qacc[j] - at[j]
            begin += direction[j] * needed[j]
            change += direction[j] * (force[j] - needed[j])
        low, high, t = 0.0, 1.0, 1.0
        for _ in range(HALVINGS):
            if begin + t * change - joint_slope(joints, at, direction, t) <= 0.0:
                low = t
            else:
                high = t
            if low == 1.0:
                break
            t = 0.5 * (low + high)
        for j in range(qacc.size):
            at[j] += low * direction[j]
            needed[j] += low * (force[j] - needed[j])
    return set_joint_states(joints, at)
