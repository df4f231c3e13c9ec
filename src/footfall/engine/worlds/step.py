"""The step of one world among many, on our own dynamics: state -> contact points -> law -> forces -> state."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.constraints.active_set import CYCLE, FEW, ROUNDS
from footfall.engine.constraints.joint_rows import evaluate_joint_rows
from footfall.engine.dynamics.inertia import bias, composite_inertia, push_body, subtract_body_forces
from footfall.engine.dynamics.joint_forces import joint_forces
from footfall.engine.dynamics.kinematics import integrate_positions, kinematics
from footfall.engine.kinematics import (
    add_forces,
    bend_points,
    keep_near,
    point_forces,
    restore_near,
    roll_anchors,
    roll_points,
    velocities,
)
from footfall.engine.law_step import ask, begin_operator, foot_step, half_solved_push
from footfall.engine.mobility import add_half_solved_forces, finish_solve, free_acceleration, write_columns
from footfall.engine.other_bodies.near import free_far_places, lacks_room, locate_all, release_all
from footfall.engine.other_bodies.near_pairs import find_pairs
from footfall.engine.other_bodies.pairs import ground_slots
from footfall.engine.other_bodies.points import Points
from footfall.engine.step import (
    CREATED,
    CREATES,
    DIVERGED,
    DONE,
    NO_GROUND,
    STOPPED,
    creates_energy,
    driven,
    kinetic,
    runaway,
    stored,
)
from footfall.engine.tape import add_step_of_all, begin_sample_of_all, hold_forces
from footfall.engine.worlds.arrays import FALLEN, Given, WorldState
from footfall.engine.worlds.joints import factor_with_rows, joints_agree, solve_in_turn, solve_joints
from footfall.engine.worlds.one_world import OneWorld
from footfall.kinds import Bool, Float, Int, Matrix, Vector
from footfall.solve.contacts import Contacts


@inlined
def show_forces(points: Points, contacts: Contacts, feet: Matrix, beside: Vector) -> None:
    """Write the contact forces of the points of feet (P, 3), and of all others together (3,), in the world frame."""
    for k in range(3):
        beside[k] = 0.0
        for p in range(feet.shape[0]):
            feet[p, k] = 0.0
    for i in range(contacts.near[ground_slots(points)]):
        p = contacts.points[i]
        f, frame = points.force[p], contacts.frame[p]
        for k in range(3):
            force = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]
            if p < feet.shape[0]:
                feet[p, k] = force
            else:
                beside[k] += force


class Plan(NamedTuple):
    """The settings that all worlds and steps share."""

    dt: float  # s
    margin: float  # m
    operator: int  # the law needs the Delassus operator
    bends: int  # the ground is no plane
    coupled: int  # the law sees all points together
    energy: float  # J, weight times size of the robot, and what all pushes give
    fall: float  # m, height of the centre of mass over the ground below which a world is down; 0 never
    control: int  # 1 if a compiled controller sets the controls
    control_every: int  # steps
    record_every: int  # steps


class Span(NamedTuple):
    """The steps that worlds take in one call."""

    steps: int
    look: int  # 1 to evaluate and record the final instant, too
    before: int  # steps of this recording taken in earlier calls


class Track(NamedTuple):
    """The tapes of a world."""

    tape: Any
    others: Any  # of points not on feet
    wanted: bool  # whether it is


class Functions(NamedTuple):
    """The functions that differ between simulations."""

    point: Any
    coupled: Any
    surface: Any
    control: Any


class Run(NamedTuple):
    """One world, and how it is stepped."""

    one: OneWorld
    given: Given
    state: WorldState
    track: Track
    plan: Plan
    functions: Functions
    span: Span
    space: Any  # on a GPU, of the lane


@inlined
def point_step(run: Run) -> Int:
    """Write the forces of a point law, the forces of joint constraints, and the acceleration."""
    one, world, points, contacts = run.one, run.one.world, run.one.points, run.one.contacts
    release_all(points, contacts)
    velocities(world.cvel, world.subtree_com, points, contacts)
    point_forces(points, contacts, run.functions.point, run.given.values, one.scratch.slip)
    add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    return solve_joints(one, run.plan.dt)


@inlined
def motion_step(run: Run) -> Int:
    """As :func:`point_step`, for a coupled law without the Delassus operator."""
    one, law, values, dt = run.one, run.functions.coupled, run.given.values, run.plan.dt
    release_all(one.points, one.contacts)
    own, signals = one.scratch.law, one.scratch.signals
    status = foot_step(one.world, one.points, one.contacts, law, own, signals, values, dt)
    return max(status, solve_joints(one, dt))


@inlined
def operator_step(run: Run) -> Int:
    """As :func:`point_step`, for a law with the Delassus operator, which is called again if the active set of joint
    constraints changes.
    """
    one, dt = run.one, run.plan.dt
    begin_operator(one.world, one.points, one.contacts, one.scratch)
    for turn in range(ROUNDS):
        status = 0
        if prepare_operator(run, turn):
            status = ask_law(run)
        if end_operator(one, turn, dt):
            return status
        factor_with_rows(one, dt)
    return 1


@inlined
def prepare_operator(run: Run, turn: Int) -> Bool:
    """Compute the other inputs of such a law. Returns whether any point is near, so that it is to be called."""
    one, given, plan = run.one, run.given, run.plan
    world, points, contacts, scratch = one.world, one.points, one.contacts, one.scratch
    half_solved_push(world, one.joints, one.near[0])
    if contacts.number[0] == 0:
        return False
    if 0 < turn < FEW:
        restore_near(points, contacts, scratch)
    elif turn >= FEW:  # the law is warm-started from its last solution, maybe on another branch
        keep_near(points, contacts, scratch)
    write_columns(world, points, contacts, scratch.centroid)
    free_acceleration(world, points, contacts, scratch.centroid, scratch.half, world.qacc)
    roll_points(world.cvel, points, contacts)
    if plan.bends:
        lag = 0.5 * plan.dt if turn == 0 else 0.0
        bend_points(world, points, contacts, run.functions.surface, given.shape, given.table, plan.dt, lag)
    return True


@inlined
def ask_law(run: Run) -> Int:
    """Call a coupled law for forces. Returns its status."""
    one, scratch, law, values = run.one, run.one.scratch, run.functions.coupled, run.given.values
    return ask(law, one.points, one.contacts, scratch.law, scratch.signals, values, run.plan.dt)


@inlined
def end_operator(one: OneWorld, turn: Int, dt: Float) -> Bool:
    """Write the acceleration under the law's forces. Returns whether the active set of joint constraints agrees with
    it; otherwise the inertia has to be factored again.
    """
    world, near = one.world, one.contacts.number[0] > 0
    if near:
        add_half_solved_forces(one.points, one.contacts, one.scratch.half, world.qacc)
    finish_solve(world, world.qacc)
    if joints_agree(one, turn, not near):
        return True
    if near and turn >= CYCLE:
        solve_in_turn(one, dt)
    return False


@inlined
def law_step(run: Run) -> Int:
    """The step of the plan's kind of law, compiled once for all laws; on a GPU that step replaces this function."""
    if run.plan.operator:
        return operator_step(run)
    if run.plan.coupled:
        return motion_step(run)
    return point_step(run)


@inlined
def judge(run: Run) -> Int:
    """DONE, or how an evaluation failed: its accelerations or energies exceed their bounds."""
    one, plan, state = run.one, run.plan, run.state
    world, dt = one.world, plan.dt
    end = runaway(world, state)
    if end == DONE and creates_energy(world, dt, plan.energy, state):
        joint_forces(one.tree, one.bodies)  # overwrites the smooth forces, which the step no longer needs
        reasons = plan.energy + driven(world, world.qfrc_smooth, dt) + stored(one.points, one.contacts)
        if kinetic(world, dt) > CREATED * (kinetic(world, 0.0) + reasons):
            return CREATES
    return end


@inlined
def evaluate_placed(run: Run) -> Int:
    """Compute everything from the placed bodies up to ``qacc``. Returns how it ended."""
    end = sense_placed(run)
    if end != DONE:
        return end
    factor_with_rows(run.one, run.plan.dt)
    sense_forces(run)
    status = law_step(run)
    run.state.status[0] = max(1, status) if lacks_room(run.one.points) else status
    return judge(run)


@inlined
def place_world(run: Run) -> Int:
    """Compute what is known before contacts between bodies are found: where the bodies are, and their points."""
    one, given, plan = run.one, run.given, run.plan
    kinematics(one.tree, one.bodies)
    bias(one.tree, one.bodies)
    bad = locate_all(one.world, one.points, one.contacts, run.functions.surface, given.shape, given.table, plan.margin)
    if bad >= 0:
        run.state.concerned[0] = bad
        return NO_GROUND
    return DONE


@inlined
def sense_placed(run: Run) -> Int:
    """The part of :func:`evaluate_placed` before the inertia is factored."""
    one, given, state, plan, functions = run.one, run.given, run.state, run.plan, run.functions
    tree, bodies, points, step = one.tree, one.bodies, one.points, state.step[0]
    find_pairs(one.world, points, one.contacts)
    if plan.fall > 0.0:
        com = bodies.subtree_com[points.root[0]]
        height, _, _, _ = functions.surface(com[0], com[1], com[2], given.shape, given.table)
        if height < plan.fall:
            return FALLEN
    if plan.control == 1 and step % plan.control_every == 0:
        failed = functions.control(step * plan.dt, state.qpos, state.qvel, state.ctrl, given.gains)
        if failed != 0:
            state.concerned[0] = failed
            return STOPPED
    composite_inertia(tree, bodies)
    one.near[0] = evaluate_joint_rows(one.world, one.joints)
    return DONE


@inlined
def sense_forces(run: Run) -> None:
    """The smooth forces, after the inertia is factored."""
    tree, bodies, given, step = run.one.tree, run.one.bodies, run.given, run.state.step[0]
    joint_forces(tree, bodies)
    for i in range(given.push_body.size):
        if given.push_time[i, 0] <= step < given.push_time[i, 1]:
            push_body(tree, bodies, given.push_body[i], given.push_wrench[i])
    subtract_body_forces(tree, bodies)


@cold(types.none)
def advance_world(run: Run) -> None:
    """Take steps with one world, if it has not ended; record it if that is wanted. Compiled apart from its caller, so
    that the tuples are laid out in memory once for a world.

    Evaluating the final instant changes the law's memory, which the caller restores.
    """
    state, span = run.state, run.span
    for i in range(span.steps + span.look):
        if state.end[0] != DONE:
            return
        state.begun[0] = state.step[0]
        end = place_world(run)
        if end == DONE:
            end = evaluate_placed(run)
        finish_step(run, end, i)


@inlined
def finish_step(run: Run, end: Int, taken: Int) -> None:
    """Record the instant, and advance, unless the world has ended or no step is left after those ``taken``."""
    state, track, plan, bodies = run.state, run.track, run.plan, run.one.bodies
    one, points, contacts, sample, left = (
        run.one,
        run.one.points,
        run.one.contacts,
        run.span.before + taken,
        run.span.steps - taken,
    )
    step, dt = state.step[0], plan.dt
    state.end[0] = end
    if track.wanted:
        if sample == 0:
            state.samples[0] = 0
        hold_forces(points, contacts, one.scratch.held)
        if (end == DONE and sample % plan.record_every == 0) or end in (DIVERGED, CREATES):
            begin_sample_of_all(one.world, points, contacts, one.scratch, track.tape, step * dt, state)
    if end != DONE or left == 0:
        return
    if track.wanted:
        add_step_of_all(one.world, points, contacts, one.scratch.held, track.tape, state.status[0], state)
    state.unsolved[0] += state.status[0]
    if left == 1:
        show_forces(points, contacts, state.push, state.beside)
    for j in range(bodies.qvel.size):
        bodies.qvel[j] += dt * bodies.qacc[j]
    integrate_positions(one.tree, bodies.qpos, bodies.qvel, dt)
    roll_anchors(bodies.cvel, points, contacts, dt)
    free_far_places(points, contacts)
    state.step[0] = step + 1
