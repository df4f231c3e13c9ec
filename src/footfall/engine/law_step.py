"""From the law to the acceleration: one function for each way a law sees the world."""

from __future__ import annotations

from footfall.compiled import cold, engine_part
from footfall.engine.bridge import mj_fwd_constraint
from footfall.engine.kinematics import add_forces, point_forces, release_far, velocities
from footfall.engine.mobility import (
    add_half_solved_forces,
    finish_solve,
    free_acceleration,
    gather,
    half_solve,
    mobility,
)
from footfall.engine.mujoco_solver import ask_mujoco
from footfall.engine.stages import solve
from footfall.solve.dense import copy
from footfall.solve.fixed_point import accelerate

#: Times a coupled law and MuJoCo's constraint solver (joint limits and the like) may alternate in one step.
SWEEPS = 50
#: They agree when the constraint forces change by less than this share.
AGREEMENT = 1e-6


@engine_part
def ask(law, points, contacts, scratch, values, dt):
    """The answer of a coupled law: forces, modes, signals. Gives its status."""
    return law(
        contacts,
        dt,
        points.memory,
        points.force,
        points.mode,
        scratch.work,
        scratch.marks,
        scratch.signals,
        values,
    )


@engine_part
def coupled_step(world, points, contacts, scratch, law, values, dt):
    """Forces of a coupled law and the acceleration they give."""
    release_far(points, contacts)
    copy(world.qacc, world.qfrc_smooth)
    half_solve(world, world.qacc)
    status = 0
    if contacts.number[0] > 0:
        velocities(world.cvel, world.subtree_com, points, contacts)
        gather(points, contacts, scratch.centroid)
        mobility(world, points, contacts, scratch.centroid, scratch.half, scratch.block)
        free_acceleration(world, points, contacts, scratch.centroid, scratch.half, world.qacc)
        status = ask(law, points, contacts, scratch, values, dt)
        add_half_solved_forces(points, contacts, scratch.half, world.qacc)
    finish_solve(world, world.qacc)
    return status


@engine_part
def foot_step(world, points, contacts, scratch, law, values, dt):
    """Forces of a coupled law that looks at the motion alone, added to ``qfrc_smooth``."""
    release_far(points, contacts)
    if contacts.number[0] == 0:
        return 0
    velocities(world.cvel, world.subtree_com, points, contacts)
    status = ask(law, points, contacts, scratch, values, dt)
    add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    return status


@cold
def constrained_coupled_step(world, points, contacts, scratch, law, values, dt):
    """The same where MuJoCo's constraints are at work: law and constraints in turn, until they agree.

    A limit and a foot on the ground can depend so strongly on each other that taking turns alone gets nowhere; what the
    constraints give is therefore fed back to the law through Anderson's acceleration.
    """
    nv = world.qacc.size
    smooth, known = scratch.generalised[0], scratch.generalised[1]
    copy(smooth, world.qfrc_smooth)
    for j in range(nv):
        known[j] = 0.0
    for sweep in range(SWEEPS):
        for j in range(nv):
            world.qfrc_smooth[j] = smooth[j] + known[j]
        status = coupled_step(world, points, contacts, scratch, law, values, dt)
        copy(world.qfrc_smooth, smooth)
        add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
        solve(world, world.qacc_smooth, world.qfrc_smooth)
        mj_fwd_constraint(world.model, world.data)
        error, size = 0.0, 1e-9
        for j in range(nv):
            error = max(error, abs(world.qfrc_constraint[j] - known[j]))
            size = max(size, abs(world.qfrc_constraint[j]))
        if contacts.number[0] == 0 or error <= AGREEMENT * size:
            return status
        accelerate(known, world.qfrc_constraint, sweep, scratch.history, scratch.small)
    return 1


@engine_part
def forces_and_acceleration(world, points, contacts, scratch, plan, native, laws, constrained):
    """The law's forces and ``qacc``, from ``qfrc_smooth``. Gives the law's status."""
    if plan.operator:
        if constrained:
            return constrained_coupled_step(world, points, contacts, scratch, laws.coupled, laws.values, plan.dt)
        return coupled_step(world, points, contacts, scratch, laws.coupled, laws.values, plan.dt)
    status = 0
    if plan.coupled:
        status = foot_step(world, points, contacts, scratch, laws.coupled, laws.values, plan.dt)
    elif not plan.native:
        velocities(world.cvel, world.subtree_com, points, contacts)
        point_forces(points, contacts, laws.point, laws.values, scratch.slip)
        add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    if constrained:
        solve(world, world.qacc_smooth, world.qfrc_smooth)
        mj_fwd_constraint(world.model, world.data)  # limits, equalities, contacts of other bodies
    else:
        solve(world, world.qacc, world.qfrc_smooth)
    if plan.native:
        release_far(points, contacts)
        if constrained:
            ask_mujoco(world, points, contacts, native, scratch.wrench)
    return status
