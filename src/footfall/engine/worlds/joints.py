"""Constraints of single joints in one world among many: friction and limits, folded into the inertia.

As in :mod:`footfall.engine.law_step`, without the constraints that MuJoCo makes (loops, tendons, contacts between
bodies).
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.active_set import ENOUGH, EXACT, HALVINGS, ROUNDS, SOME, STALLED
from footfall.engine.constraints.joint_rows import (
    JointRows,
    add_joint_row_forces,
    check_joint_rows,
    fold_joint_rows,
    joint_slope,
    set_joint_states,
)
from footfall.engine.dynamics.inertia import add_to_diagonal, factor, joint_inertia
from footfall.engine.dynamics.joint_forces import damp_servos
from footfall.engine.mobility import finish_solve, half_solve
from footfall.engine.worlds.one_world import OneWorld
from footfall.kinds import Bool, Float, Int, Vector
from footfall.solve.dense import copy

#: Rounding error of a slope, as a share of its change along the line.
LEVEL = 1e-12


@inlined
def factor_with_rows(one: OneWorld, dt: Float) -> None:
    """Add the active constraints to the inertia, and factor it."""
    joint_inertia(one.tree, one.bodies, dt)
    damp_servos(one.tree, one.bodies, dt)
    if one.near[0] > 0:
        fold_joint_rows(one.joints)
        add_to_diagonal(one.tree, one.bodies, one.joints.added)
    factor(one.tree, one.bodies)


@inlined
def half_solved_push(one: OneWorld) -> None:
    """Write all generalised forces except those of contacts, half-solved, to ``qacc``; constraints included."""
    world = one.world
    copy(world.qacc, world.qfrc_smooth)
    if one.near[0] > 0:
        for j in range(world.qacc.size):
            world.qacc[j] += one.joints.push[j]
    half_solve(world, world.qacc)


@inlined
def constrained_step(one: OneWorld, dt: Float) -> Int:
    """Write the acceleration at fixed contact forces. Returns 1 if the active set of constraints was not found."""
    for turn in range(ROUNDS):
        half_solved_push(one)
        finish_solve(one.world, one.world.qacc)
        if one.near[0] == 0 or joint_rows_agree(one, turn, True):
            return 0
        factor_with_rows(one, dt)
    return 1


@inlined
def joint_rows_agree(one: OneWorld, turn: Int, alone: Bool) -> Bool:
    """Whether the constraints' active set agrees with the acceleration; if not, it is corrected, and the inertia has to
    be factored again. For constraints ``alone``, with given contact forces, the cost is convex.
    """
    tolerance = EXACT if turn < SOME else ENOUGH
    if check_joint_rows(one.joints, one.world, tolerance) == 0:
        return True
    move_states(one, turn, alone)
    return False


@kernel
def move_states(one: OneWorld, turn: Int, alone: Bool) -> None:
    """Take the active set at the acceleration of least cost on the line from the last one to this."""
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
        share = least_cost(joints, at, direction, begin, change)
        if share < STALLED and not alone:  # the law is not monotone here: there is no cost to lower
            share = 1.0
        for j in range(qacc.size):
            at[j] += share * direction[j]
            needed[j] += share * (force[j] - needed[j])
    set_joint_states(joints, at)


@inlined
def least_cost(joints: JointRows, at: Vector, direction: Vector, begin: Float, change: Float) -> Float:
    """Step length, at most 1, of least cost on the line: the root of the slope, which is piecewise linear and
    increasing, by the Illinois method.
    """
    high, above = 1.0, begin + change - joint_slope(joints, at, direction, 1.0)
    if above <= 0.0:
        return 1.0
    low, below, side = 0.0, begin - joint_slope(joints, at, direction, 0.0), 0
    if below >= 0.0:
        return 0.0
    nothing = LEVEL * (above - below)
    for _ in range(HALVINGS):
        t = (low * above - high * below) / (above - below)
        slope = begin + t * change - joint_slope(joints, at, direction, t)
        if abs(slope) <= nothing:
            return t
        if slope < 0.0:
            above *= 0.5 if side < 0 else 1.0
            low, below, side = t, slope, -1
        else:
            below *= 0.5 if side > 0 else 1.0
            high, above, side = t, slope, 1
    return low
