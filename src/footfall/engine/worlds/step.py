"""The step of one world among many, on our own dynamics: state -> contact points -> law -> forces -> state."""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import engine_part
from footfall.engine.dynamics.bias import bias, push_body, subtract_body_forces
from footfall.engine.dynamics.inertia import composite_inertia, factor
from footfall.engine.dynamics.joint_forces import joint_forces
from footfall.engine.dynamics.kinematics import integrate_positions, kinematics
from footfall.engine.dynamics.tree import Bodies
from footfall.engine.kinematics import (
    Points,
    add_forces,
    keep_memory,
    locate,
    point_forces,
    restore_memory,
    roll_anchors,
    velocities,
)
from footfall.engine.law_step import coupled_step, foot_step
from footfall.engine.stages import solve
from footfall.engine.step import DIVERGED, DONE, NO_GROUND, STOPPED, record, runaway
from footfall.engine.worlds.arrays import ENERGY, FALLEN
from footfall.engine.worlds.tally import show_forces, tally_contacts, tally_energy
from footfall.solve.contacts import Contacts


class Plan(NamedTuple):
    """What is the same for all worlds and all steps."""

    dt: float  # s
    margin: float  # m
    operator: int  # the law needs the Delassus operator
    coupled: int  # the law sees all points together
    fall: float  # m, height of the centre of mass over the ground below which a world is down; 0 never
    control: int  # 1 if a compiled controller sets the controls
    control_every: int  # steps
    record_every: int  # steps


class Functions(NamedTuple):
    """What differs from simulation to simulation and is code."""

    point: Any
    coupled: Any
    surface: Any
    control: Any


class World(NamedTuple):
    """What the engine's kernels read of a world. Names and meanings as in a single one."""

    qpos: Any
    qvel: Any
    ctrl: Any
    qacc: Any
    qfrc_smooth: Any
    cdof: Any
    cdof_dot: Any
    cvel: Any
    subtree_com: Any
    M_rowadr: Any
    M_rownnz: Any
    M_colind: Any
    qLD: Any
    qLDiagInv: Any


class Scratch(NamedTuple):
    """The part of the space that the engine's kernels use under these names."""

    slip: Any
    centroid: Any
    half: Any
    block: Any
    work: Any
    marks: Any
    signals: Any
    memory: Any
    mode: Any


@engine_part
def point_step(world, points, contacts, scratch, functions, values, plan):
    """Forces of a law that sees one point at a time, and the acceleration."""
    velocities(world.cvel, world.subtree_com, points, contacts)
    point_forces(points, contacts, functions.point, values, scratch.slip)
    add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    solve(world, world.qacc, world.qfrc_smooth)
    return 0


@engine_part
def motion_step(world, points, contacts, scratch, functions, values, plan):
    """The same of a law that sees the motion of all points."""
    status = foot_step(world, points, contacts, scratch, functions.coupled, values, plan.dt)
    solve(world, world.qacc, world.qfrc_smooth)
    return status


@engine_part
def operator_step(world, points, contacts, scratch, functions, values, plan):
    """The same of a law that needs the Delassus operator."""
    return coupled_step(world, points, contacts, scratch, functions.coupled, values, plan.dt)


@engine_part
def law_step(world, points, contacts, scratch, functions, values, plan):
    """One of these, as the plan says: compiled once for all laws. On a GPU, one of these stands in its place."""
    if plan.operator:
        return operator_step(world, points, contacts, scratch, functions, values, plan)
    if plan.coupled:
        return motion_step(world, points, contacts, scratch, functions, values, plan)
    return point_step(world, points, contacts, scratch, functions, values, plan)


@engine_part
def bodies_of(given, state, space):
    """What the dynamics read and write of one world."""
    return Bodies(
        given.body_mass,
        given.body_inertia,
        state.qpos,
        state.qvel,
        state.ctrl,
        space.xpos,
        space.xquat,
        space.xmat,
        space.xipos,
        space.xanchor,
        space.xaxis,
        space.subtree_com,
        space.cinert,
        space.cdof,
        space.cdof_dot,
        space.cvel,
        space.cacc,
        space.cfrc,
        space.qLD,
        space.qLDiagInv,
        space.qfrc_smooth,
        space.qacc,
    )


@engine_part
def world_of(tree, bodies):
    """What the engine's kernels read of one world."""
    return World(
        bodies.qpos,
        bodies.qvel,
        bodies.ctrl,
        bodies.qacc,
        bodies.qfrc_smooth,
        bodies.cdof,
        bodies.cdof_dot,
        bodies.cvel,
        bodies.subtree_com,
        tree.M_rowadr,
        tree.M_rownnz,
        tree.M_colind,
        bodies.qLD,
        bodies.qLDiagInv,
    )


@engine_part
def points_of(soles, state, space):
    """The contact points of one world: ``soles`` are those of all, constant."""
    return Points(
        soles.local,
        soles.radius,
        soles.begin,
        soles.body,
        soles.tree,
        soles.chain,
        soles.chain_length,
        soles.shared,
        space.position,
        state.anchor,
        state.force,
        state.mode,
        state.memory,
    )


@engine_part
def contacts_of(soles, given, state, space):
    """What a coupled law sees of one world."""
    for p in range(space.gap.size):
        space.static_friction[p], space.dynamic_friction[p] = given.friction[0], given.friction[1]
    return Contacts(
        space.number,
        space.points,
        soles.foot,
        space.near,
        space.position,
        state.anchor,
        space.gap,
        space.frame,
        space.velocity,
        space.acceleration,
        space.bias,
        space.arm,
        space.mobility,
        space.static_friction,
        space.dynamic_friction,
    )


@engine_part
def scratch_of(space):
    return Scratch(
        space.slip,
        space.centroid,
        space.half,
        space.block,
        space.work,
        space.marks,
        space.signals,
        space.kept,
        space.kept_mode,
    )


@engine_part
def evaluate(tree, bodies, world, points, contacts, scratch, given, plan, functions, state):
    """Everything that follows from the state, up to ``qacc``. Gives how it ended."""
    outcome, step = state.outcome, state.step[0]
    kinematics(tree, bodies)
    bad = locate(bodies.xpos, bodies.xmat, points, contacts, functions.surface, given.shape, given.table, plan.margin)
    if bad >= 0:
        outcome[2] = bad
        return NO_GROUND
    if plan.fall > 0.0:
        com = bodies.subtree_com[points.root[0]]
        height, _, _, _ = functions.surface(com[0], com[1], com[2], given.shape, given.table)
        if height < plan.fall:
            return FALLEN
    bias(tree, bodies)
    if plan.control == 1 and step % plan.control_every == 0:
        failed = functions.control(step * plan.dt, state.qpos, state.qvel, state.ctrl, given.gains)
        if failed != 0:
            outcome[2] = failed
            return STOPPED
    tally_energy(tree, bodies, state.tally)
    composite_inertia(tree, bodies, plan.dt)
    factor(tree, bodies)
    joint_forces(tree, bodies)
    for i in range(given.push_body.size):
        if given.push_time[i, 0] <= step < given.push_time[i, 1]:
            push_body(tree, bodies, given.push_body[i], given.push_wrench[i])
    subtract_body_forces(tree, bodies)
    outcome[3] = law_step(world, points, contacts, scratch, functions, given.values, plan)
    return runaway(world, outcome)


@engine_part
def advance_world(tree, soles, given, state, space, tape, recorded, plan, functions, steps, look):
    """Take ``steps`` steps with one world, if it has not ended; record it if ``recorded``.

    With ``look`` the instant after the last step is evaluated and recorded too, and left as it was.
    """
    bodies = bodies_of(given, state, space)
    world = world_of(tree, bodies)
    points = points_of(soles, state, space)
    contacts = contacts_of(soles, given, state, space)
    scratch = scratch_of(space)
    outcome, dt = state.outcome, plan.dt
    for i in range(steps + look):
        if outcome[0] != DONE:
            return
        step = state.step[0]
        outcome[1] = step
        energy = state.tally[ENERGY]
        if i == steps:
            keep_memory(points, scratch)
        end = evaluate(tree, bodies, world, points, contacts, scratch, given, plan, functions, state)
        outcome[0] = end
        if recorded and end in (DONE, DIVERGED) and i % plan.record_every == 0:
            record(world, points, contacts, scratch.signals, tape, i // plan.record_every, step * dt, outcome[3])
        if i == steps:
            restore_memory(points, scratch)
            state.tally[ENERGY] = energy
        if end != DONE or i == steps:
            return
        state.unsolved[0] += outcome[3]
        tally_contacts(points, contacts, dt, state.tally)
        if i == steps - 1:
            show_forces(points, contacts, state.push)
        for j in range(bodies.qvel.size):
            bodies.qvel[j] += dt * bodies.qacc[j]
        integrate_positions(tree, bodies.qpos, bodies.qvel, dt)
        roll_anchors(bodies.cvel, points, contacts, dt)
        state.step[0] = step + 1
