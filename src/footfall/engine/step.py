"""The step: joint state -> contact points -> law -> forces -> acceleration -> state, as one compiled loop."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from footfall.compiled import inlined, kernel
from footfall.engine.bridge import (
    address_of,
    mj_collision,
    mj_com_vel,
    mj_fwd_actuation,
    mj_make_constraint,
    mj_transmission,
    overdue,
)
from footfall.engine.clearance import bodies_are_apart
from footfall.engine.constraints.joint_rows import evaluate_joint_rows, fold_joint_rows
from footfall.engine.constraints.shared_rows import forget_shared_rows, read_shared_rows
from footfall.engine.kinematics import find_friction, roll_anchors
from footfall.engine.law_step import coupled_forces, forces_and_acceleration
from footfall.engine.mujoco_law import native_step
from footfall.engine.other_bodies.near import lacks_room, locate_all, too_small
from footfall.engine.other_bodies.near_pairs import forget_pairs, list_pairs
from footfall.engine.other_bodies.points import MAY_GROW, Points
from footfall.engine.recovery import mark_return, pthread_getspecific, pthread_setspecific
from footfall.engine.stages import (
    add_damping,
    add_servo_damping,
    factor_inertia,
    integrate_activations,
    integrate_positions,
    position_stage,
    smooth_force,
    velocity_stage,
)
from footfall.engine.tape import add_step_of_all, begin_sample_of_all, hold_forces
from footfall.engine.world import MjWorld
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Named, Vector
from footfall.solve.contacts import Contacts

# How a run of the loop ends.
DONE, DIVERGED, NO_GROUND, STOPPED, CREATES, MUJOCO_ERROR = 0, 1, 2, 3, 4, 5
#: The run pauses: more points are near the ground than it has places for.
TOO_SMALL = 6
#: Acceleration (m/s2 or rad/s2) beyond which a run has diverged.
RUNAWAY = 1e8
#: Largest ratio of a robot's energy to the energy available to it; above it, energy has been created. Errors of laws
#: and integrators by the length of their steps are a share of that energy, not a multiple.
CREATED = 10.0
#: Steps between two readings of the clock, which cost 25 ns each.
LOOK_EVERY = 8


class Plan(NamedTuple):
    """The constant settings of a run; integers are flags unless a unit is given."""

    dt: float  # s
    margin: float  # m, largest gap of points that the law is given
    coupled: int
    operator: int  # the coupled law needs the Delassus operator
    native: int  # the law is MuJoCo's
    folded: int  # constraints and contacts are solved here, not by MuJoCo's own solver
    constrained: int  # MuJoCo has constraints to make beside contacts
    pairs: int  # contacts between bodies are the law's
    rich: int  # tendons, flexes: let MuJoCo do all of its velocity stage
    damped: int  # joints have damping, which acts on the velocity at the end of the step
    energy: float  # J, weight times size of the robot, plus the energy of all pushes
    total: int  # steps
    control: int  # 0 nothing, 1 a Python function, 2 a compiled one
    control_every: int  # steps
    record_every: int  # steps


class Laws(NamedTuple):
    """The law of a run: one of the two functions is called, the other is idle."""

    point: Any
    coupled: Any
    values: Any  # its parameters
    scratch: int  # address of its scratch arrays, see :meth:`footfall.contact.base.CoupledLaw.scratch`
    bends: int = 0  # 1 in time steps on ground that is not a plane, see :mod:`footfall.engine.kinematics`
    lag: float = 0.0  # s, by which velocities are earlier than positions there


class Surface(NamedTuple):
    """The ground of a run, see :mod:`footfall.ground.surface`."""

    surface: Any
    shape: Any
    table: Any
    friction: Any  # :class:`footfall.ground.friction.Compiled`


class Control(NamedTuple):
    """The sources of controls: a Python function of time, or a compiled function of the state."""

    python: Any
    compiled: Any
    gains: Any


class Conditions(NamedTuple):
    """The parts that do not change during a run: the ground, the controller, pushes, and the settings of the loop."""

    plan: Plan
    clearance: Any  # :class:`footfall.engine.clearance.Clearance` of the robot's bodies
    constraints: Any  # of single joints, and those that MuJoCo makes
    native: Any  # the contacts that MuJoCo is given
    pushes: Any
    ground: Surface
    control: Control


class Loop(NamedTuple):
    """All that the loop of a run reads and writes; each part by reference."""

    world: Any  # :class:`footfall.engine.world.MjWorld`
    points: Any  # :class:`footfall.engine.other_bodies.points.Points`
    contacts: Any  # :class:`footfall.solve.contacts.Contacts`
    scratch: Any  # :class:`footfall.engine.world.Scratch`
    conditions: Any
    laws: Any  # :class:`Laws`, or :class:`footfall.engine.events.integration.EventLaws`
    tape: Any  # :class:`footfall.engine.tape.Tape`
    outcome: Any  # :class:`footfall.engine.tape.Outcome`


def idle_point(
    depth: Float,
    depth_rate: Float,
    slip: Vector,
    slip_velocity: Vector,
    memory: Vector,
    static: Float,
    dynamic: Float,
    values: Vector,
) -> tuple[Float, Float, Float, Int]:
    """The point law of runs that have none."""
    return 0.0, 0.0, 0.0, 0


def idle_coupled(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: Int,
    signals: Vector,
    values: Vector,
) -> Int:
    """The coupled law of runs that have none."""
    return 0


def idle_control(time: Float, qpos: Vector, qvel: Vector, ctrl: Vector, gains: Vector) -> Int:
    """The compiled controller of runs that have none."""
    return 0


@inlined
def sense_and_act(
    world: MjWorld, points: Points, contacts: Contacts, conditions: Conditions, step: Int, act: Bool, outcome: Named
) -> tuple[Int, Bool]:
    """Compute everything before the forces: contact points, controls (if ``act``), ``qfrc_smooth``.

    The inertia is not factored yet. Returns how the evaluation ended, and whether MuJoCo has made constraints.
    """
    plan, ground, control = conditions.plan, conditions.ground, conditions.control
    joints, shared = conditions.constraints.joints, conditions.constraints.shared
    position_stage(world, plan.rich)
    if plan.damped and not plan.native:
        add_damping(world, plan.dt)
    bad = locate_all(world, points, contacts, ground.surface, ground.shape, ground.table, plan.margin)
    if bad < 0 and ground.friction.varies:
        bad = find_friction(points, contacts, ground.friction.friction, ground.friction.corner, ground.friction.table)
    if bad >= 0:
        outcome.concerned[0] = bad
        return NO_GROUND, False
    if too_small(points):
        return TOO_SMALL, False
    if bodies_are_apart(world, conditions.clearance):
        world.ncon[0] = 0
    else:
        mj_collision(world.model, world.data)
    if plan.pairs:
        forget_pairs(points, contacts)
        if world.ncon[0] > 0:
            mj_com_vel(world.model, world.data)
            list_pairs(world, points, contacts, world.ncon[0], world.contact[0])
            world.ncon[0] = 0
        if too_small(points):
            return TOO_SMALL, False
    constrained = plan.constrained == 1 or world.ncon[0] > 0
    if constrained:
        if plan.folded:  # else MuJoCo's solver makes them, with those of contacts
            mj_make_constraint(conditions.constraints.made.model, world.data)
    mj_transmission(world.model, world.data)
    velocity_stage(world, plan.rich, constrained and plan.folded)
    if constrained and plan.folded:
        read_shared_rows(conditions.constraints.made, shared)
    else:
        forget_shared_rows(shared)
    if act:
        failed = 0
        if plan.control == 1:
            failed = control.python(step * plan.dt)
        elif plan.control == 2:
            failed = control.compiled(step * plan.dt, world.qpos, world.qvel, world.ctrl, control.gains)
        if failed != 0:
            outcome.concerned[0] = failed
            return STOPPED, constrained
    mj_fwd_actuation(world.model, world.data)
    smooth_force(world, conditions.pushes, step)
    if not plan.native:
        if plan.damped:
            add_servo_damping(world, plan.dt)
        evaluate_joint_rows(world, joints)
        fold_joint_rows(joints)
    return DONE, constrained


@inlined
def runaway(world: Named, outcome: Named) -> Int:
    """DONE, or DIVERGED if an acceleration exceeds ``RUNAWAY``."""
    for j in range(world.qacc.size):
        if not abs(world.qacc[j]) < RUNAWAY:
            outcome.concerned[0] = j
            return DIVERGED
    return DONE


@inlined
def creates_energy(world: Named, dt: Float, reasons: Float, outcome: Named) -> Bool:
    """Whether a step of ``dt`` (s) ends with more than ``CREATED`` times the energy before it plus ``reasons`` (J).

    Energies are estimated from the diagonal of the inertia at home. The dof with the largest is the one concerned.
    """
    before, after, most = 0.0, 0.0, 0.0
    for j in range(world.qvel.size):
        end = world.qvel[j] + dt * world.qacc[j]
        own = 0.5 * world.dof_M0[j] * end * end
        before += 0.5 * world.dof_M0[j] * world.qvel[j] * world.qvel[j]
        after += own
        if own > most:
            most, outcome.concerned[0] = own, j
    return after > CREATED * (before + reasons)


@inlined
def kinetic(world: Named, dt: Float) -> Float:
    """J, kinetic energy at the velocities ``dt`` (s) from now, by the factors of the inertia that acts, L^T D L."""
    energy = 0.0
    for j in range(world.qvel.size):
        value, address = world.qvel[j] + dt * world.qacc[j], world.M_rowadr[j]
        for e in range(address, address + world.M_rownnz[j] - 1):
            k = world.M_colind[e]
            value += world.qLD[e] * (world.qvel[k] + dt * world.qacc[k])
        energy += 0.5 * value * value / world.qLDiagInv[j]
    return energy


@inlined
def driven(world: Named, force: Vector, dt: Float) -> Float:
    """J, work in a step of joint forces on the velocities at its end, taken as positive."""
    work = 0.0
    for j in range(force.size):
        work += abs(dt * force[j] * (world.qvel[j] + dt * world.qacc[j]))
    return work


@inlined
def stored(points: Points, contacts: Contacts) -> Float:
    """J, largest energy that the ground may have stored: a hardening spring stores at most force times depth."""
    energy = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        energy += max(0.0, points.force[p, 2]) * max(0.0, -contacts.gap[p])
    return energy


@inlined
def judge(world: MjWorld, points: Points, contacts: Contacts, plan: Plan, outcome: Named) -> Int:
    """DONE, or how an evaluation failed: its accelerations or energies exceed their bounds."""
    end, dt = runaway(world, outcome), plan.dt
    if end == DONE and creates_energy(world, dt, plan.energy, outcome):
        motors = driven(world, world.qfrc_actuator, dt) + driven(world, world.qfrc_passive, dt)
        reasons = plan.energy + motors + stored(points, contacts)
        if kinetic(world, dt) > CREATED * (kinetic(world, 0.0) + reasons):
            return CREATES
    return end


@inlined
def evaluate(loop: Loop, step: Int, act: Bool) -> Int:
    """Compute everything from the state: contacts, controls (if ``act``), forces, ``qacc``. Returns how it ended."""
    world, points, contacts, scratch = loop.world, loop.points, loop.contacts, loop.scratch
    conditions, outcome = loop.conditions, loop.outcome
    end, constrained = sense_and_act(world, points, contacts, conditions, step, act, outcome)
    if end != DONE:
        return end
    if not conditions.plan.native:
        factor_inertia(world, conditions.constraints.joints)
    outcome.status[0] = forces_and_acceleration(world, points, contacts, scratch, conditions, loop.laws, constrained)
    if lacks_room(points):
        outcome.status[0] = max(1, outcome.status[0])
    return judge(world, points, contacts, conditions.plan, outcome)


def late_parts(loop: Any, laws: Any = None) -> dict[Any, tuple[Any, ...]]:
    """Parts that the compiler reaches late, with their types, for another process to compile first."""
    conditions = loop.field("conditions")
    shared, laws = conditions.field("constraints").field("shared"), laws or loop.field("laws")
    return {coupled_forces: (*map(loop.field, Loop._fields[:4]), shared, laws, conditions)}


def cold_parts(loop: Any) -> dict[Any, tuple[Any, ...]]:
    """Cold kernels that the first step of law mujoco calls, with their types; other laws call none."""
    return {native_step: (*map(loop.field, Loop._fields[:5]), types.boolean)}


@kernel
def take_steps(loop: Loop, first: Int, last: Int) -> None:
    """The loop of ``advance``."""
    world, points, contacts, scratch = loop.world, loop.points, loop.contacts, loop.scratch
    plan, tape, outcome = loop.conditions.plan, loop.tape, loop.outcome
    dt, held = plan.dt, scratch.held
    points.others.counters[MAY_GROW] = 1
    for step in range(first, last):
        time = step * dt
        world.time[0] = time
        outcome.next[0] = step
        if step % LOOK_EVERY == 0 and step > first and overdue(scratch.clock):
            return
        outcome.begun[0] = step
        end = evaluate(loop, step, plan.control > 0 and step % plan.control_every == 0)
        hold_forces(points, contacts, held)
        if (end == DONE and step % plan.record_every == 0) or end in (DIVERGED, CREATES):
            begin_sample_of_all(world, points, contacts, scratch, tape, time, outcome)
        if end != DONE:
            outcome.end[0] = end
            return
        if step == plan.total:
            outcome.next[0] = step + 1
            return
        integrate_activations(world, dt)
        for j in range(world.qvel.size):
            world.qvel[j] += dt * world.qacc[j]
        integrate_positions(world, world.qvel, dt)
        add_step_of_all(world, points, contacts, held, tape, outcome.status[0], outcome)
        roll_anchors(world.cvel, points, contacts, dt)
        outcome.next[0] = step + 1


@kernel
def advance(loop: Loop, first: Int, last: Int) -> None:
    """Take the steps ``first`` to ``last`` (exclusive), or as many as ``scratch.clock`` allows.

    Step number ``plan.total`` is only evaluated, not taken.
    """
    back = loop.scratch.back
    key = back.key[0]
    before = pthread_getspecific(key)
    pthread_setspecific(key, address_of(back.place))
    if mark_return(back.place) == 0:
        take_steps(loop, first, last)
    else:
        loop.outcome.end[0] = MUJOCO_ERROR
    pthread_setspecific(key, before)
