"""Constraints of single joints in one world among many: friction and limits, folded into the inertia.

As in :mod:`footfall.engine.law_step`, without the constraints that MuJoCo makes (loops, tendons, contacts between
bodies), and with our own inertia, which is factored in place.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.active_set import ROUNDS
from footfall.engine.constraints.joint_rows import fold_joint_rows
from footfall.engine.dynamics.inertia import factor, joint_inertia
from footfall.engine.dynamics.joint_forces import damp_servos
from footfall.engine.kinematics import add_forces
from footfall.engine.law_step import half_solved_push, rows_agree
from footfall.engine.mobility import finish_solve
from footfall.engine.worlds.one_world import OneWorld
from footfall.kinds import Bool, Float, Int
from footfall.solve.dense import copy


@inlined
def factor_with_rows(one: OneWorld, dt: Float) -> None:
    """Add the active constraints to the inertia, and factor it."""
    joint_inertia(one.tree, one.bodies, dt)
    damp_servos(one.tree, one.bodies, dt)
    if one.near[0] > 0:
        fold_joint_rows(one.joints)
        for j in range(one.joints.added.size):  # on the diagonal
            one.bodies.qLD[one.tree.M_rowadr[j] + one.tree.M_rownnz[j] - 1] += one.joints.added[j]
    factor(one.tree, one.bodies)


@inlined
def joints_agree(one: OneWorld, turn: Int, alone: Bool) -> Bool:
    """See :func:`footfall.engine.law_step.rows_agree`."""
    return one.near[0] == 0 or rows_agree(one.world, one.joints, None, one.line, turn, alone)


@inlined
def solve_joints(one: OneWorld, dt: Float) -> Int:
    """See :func:`footfall.engine.law_step.solve_rows`."""
    for turn in range(ROUNDS):
        half_solved_push(one.world, one.joints, one.near[0])
        finish_solve(one.world, one.world.qacc)
        if joints_agree(one, turn, True):
            return 0
        factor_with_rows(one, dt)
    copy(one.world.qacc, one.line.acceleration)
    return 1


@kernel
def solve_in_turn(one: OneWorld, dt: Float) -> None:
    """See :func:`footfall.engine.law_step.solve_in_turn`."""
    copy(one.scratch.generalised, one.world.qfrc_smooth)
    add_forces(one.world.cdof, one.world.subtree_com, one.points, one.contacts, one.world.qfrc_smooth)
    factor_with_rows(one, dt)
    solve_joints(one, dt)
    copy(one.world.qfrc_smooth, one.scratch.generalised)
