"""One evaluation of the law: forces and accelerations in a state of the robot, and the limit on their number."""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined, kernel
from footfall.contact.event_law import INCONSISTENT
from footfall.engine.constraints.joint_rows import fold_joint_rows
from footfall.engine.events.contact_events import measure_turning, show, show_near
from footfall.engine.events.dormand_prince import SHORTEST, STAGES
from footfall.engine.events.joint_events import keep_friction, leave_limits_open, release_friction
from footfall.engine.kinematics import velocities
from footfall.engine.law_step import constrained_step
from footfall.engine.other_bodies.points import MAY_GROW
from footfall.engine.stages import add_damping, add_inertia, add_servo_damping, factor_inertia
from footfall.engine.step import DIVERGED, DONE, Laws, Loop, runaway, sense_and_act
from footfall.engine.tape import begin_sample_of_all, hold_forces
from footfall.kinds import Bool, Float, Int, Named, Number

#: Most evaluations of a period, per millisecond or for a shorter one: forty steps of Dormand and Prince's method, which
#: resolve what takes longer than 25 us. A period in which none is left becomes a time step.
MOST_EVALUATIONS = 240
#: Evaluations that a run earns in each period: a step, its beginning and one more. What is not spent is kept for later
#: ones, up to the second number: a tenth of a second in which every period takes 32.
EARNED, KEPT = 8, 2400
#: With fewer left than the first number at the beginning of a period the tolerance is loosened; with fewer than the
#: second, which a few events and the steps between them take, it is the loosest, and no period is tried.
SCARCE, FEWEST = 64, 32
#: Evaluations that a bounce takes and adds to those of its period, and most bounces that do: those that accumulate
#: within a millisecond at a restitution of 0.9 are followed to the last, of 1 um/s.
OF_BOUNCE, MOST_BOUNCES = 8, 60
#: Loosest tolerance, m/s or rad/s: what gravity adds to a velocity in a millisecond, by which a time step errs too.
LOOSEST = 1e-2
#: Where an evaluation is made: at an instant with known contacts, or at the predicted end of a macro step. The stages
#: of a step are 1 to STAGES - 1, and STAGES is at an event within it.
INSTANT, PREDICTED = 0, STAGES + 1
#: How an evaluation or a part of a period ends: with forces; with none, so that the period becomes a time step; with
#: accelerations beyond bounds, which a shorter step may avoid; or with the end of the run.
FOUND, LOST, DIVERGES, STOPS = 0, 1, 2, 3


@cold(types.int64, soon=True)
def find_forces(loop: Loop, laws: Laws) -> Int:
    """Forces and accelerations of the points shown, compiled apart from the loop, at the same time: a law's status."""
    return constrained_step(loop.world, loop.points, loop.contacts, loop.scratch, loop.conditions, laws)


@inlined
def forces_now(loop: Loop, flow: Named, step: Int, stage: Int) -> Int:
    """All that follows from state and contacts, by the law between events or that of time steps: how it ended."""
    world, points, contacts, conditions = loop.world, loop.points, loop.contacts, loop.conditions
    outcome, laws, joints = loop.outcome, loop.laws.between, conditions.constraints.joints
    within = stage != INSTANT and stage != STAGES
    end, _ = sense_and_act(world, points, contacts, conditions, step, flow.acts[0] == 1, outcome)
    flow.acts[0] = 0
    if end != DONE:
        return end
    velocities(world.cvel, world.subtree_com, points, contacts)
    if flow.time_step[0] == 1:
        laws = loop.laws.in_steps
        show_near(points, contacts, flow.margin)
        add_damping(world, conditions.plan.dt)
        add_servo_damping(world, conditions.plan.dt)
    else:
        show(points, contacts, flow.touching)
        measure_turning(world, points, contacts, conditions.ground, flow.flat)
        if within:  # joint friction and open limits stay as they were
            keep_friction(joints)
            if leave_limits_open(joints, flow):
                fold_joint_rows(joints)
        add_inertia(world, flow.added)
    factor_inertia(world, joints)
    outcome.status[0] = find_forces(loop, laws)
    if within:
        release_friction(joints)
    return runaway(world, outcome)


@inlined
def per_period(loop: Loop, count: Number) -> Float:
    """Evaluations for a period, of those for a millisecond."""
    return count * max(1.0, 1e3 * loop.conditions.plan.dt)


@inlined
def evaluations_left(loop: Loop, flow: Named) -> Float:
    """Evaluations that a period may still take."""
    most = min(flow.saved[0], per_period(loop, MOST_EVALUATIONS))
    return most + per_period(loop, OF_BOUNCE * min(flow.bounces[0], MOST_BOUNCES)) - flow.evaluations[0]


@inlined
def earn(loop: Loop, flow: Named) -> Bool:
    """Earn evaluations for a period: whether there are enough to go from event to event."""
    flow.saved[0] = min(flow.saved[0] + per_period(loop, EARNED), per_period(loop, KEPT))
    return flow.saved[0] >= per_period(loop, flow.needed[0])


@inlined
def settle(loop: Loop, flow: Named, found: Bool) -> None:
    """Pay for a period; each in a row that was not ``found`` from event to event needs twice as much to be saved, and
    all but the first forfeit what is left.
    """
    if not found and flow.needed[0] > FEWEST:
        flow.saved[0], flow.needed[0] = 0.0, min(2.0 * flow.needed[0], 0.5 * MOST_EVALUATIONS)
        return
    unpaid = max(0.0, flow.evaluations[0] - per_period(loop, OF_BOUNCE * min(flow.bounces[0], MOST_BOUNCES)))
    flow.saved[0], flow.needed[0] = max(0.0, flow.saved[0] - unpaid), FEWEST if found else 2.0 * FEWEST


@inlined
def spend(loop: Loop, flow: Named) -> None:
    """Spend an evaluation, and loosen the tolerance as few are left."""
    flow.evaluations[0] += 1
    ample = per_period(loop, (SCARCE - FEWEST) * flow.ahead[0])
    share = min(1.0, max(0.0, 1.0 - (evaluations_left(loop, flow) - per_period(loop, FEWEST)) / max(1.0, ample)))
    flow.loosened[0] = max(flow.loosened[0], (LOOSEST / flow.tolerance) ** share)


@kernel
def evaluate(loop: Loop, flow: Named, step: Int, stage: Int, h: Float) -> Int:
    """Forces and accelerations at a stage of a step of ``h`` seconds: how that ends."""
    outcome, first, in_steps = loop.outcome, flow.fresh[0] == 1, flow.time_step[0] == 1
    if not in_steps and evaluations_left(loop, flow) <= 0:
        return LOST
    spend(loop, flow)
    loop.points.others.counters[MAY_GROW] = 1 if first else 0
    end = forces_now(loop, flow, step, stage)
    scarce = flow.loosened[0] > 1.0 or flow.needed[0] > FEWEST  # too scarce for impulses without a collision
    unsolved = end == DONE and (outcome.status[0] == 1 or (outcome.status[0] == INCONSISTENT and scarce))
    if not in_steps and (unsolved or (end == DIVERGED and h <= SHORTEST)):
        return LOST
    if first:
        plan = loop.conditions.plan
        flow.fresh[0] = 0
        hold_forces(loop.points, loop.contacts, loop.scratch.held)
        if (end == DONE and step % plan.record_every == 0) or end == DIVERGED:
            begin_sample_of_all(
                loop.world, loop.points, loop.contacts, loop.scratch, loop.tape, step * plan.dt, outcome
            )
    if end == DIVERGED and not in_steps:
        return DIVERGES
    if end != DONE:
        outcome.end[0] = end
        return STOPS
    if first and step == loop.conditions.plan.total:
        outcome.next[0] = step + 1
        return STOPS
    return FOUND
