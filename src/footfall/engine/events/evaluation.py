"""One evaluation between events, one impact at an event, and their costs."""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.constraints.joint_rows import fold_joint_rows
from footfall.engine.events.contact_set import measure_turning, show, show_near, strike
from footfall.engine.events.flow import INSTEAD, KEPT, SECANT, SOFT, UNSOLVED
from footfall.engine.events.in_step import keep_friction, leave_limits_open, release_friction
from footfall.engine.events.secant import IDLE, READY, begin_as_foretold, end_pair
from footfall.engine.events.tableau import STAGES
from footfall.engine.kinematics import velocities
from footfall.engine.law_step import constrained_step, cost_of_state
from footfall.engine.other_bodies.points import LOOKS
from footfall.engine.stages import add_damping, add_inertia, add_servo_damping, factor_inertia
from footfall.engine.step import DONE, runaway, sense_and_act
from footfall.engine.tape import STATUS
from footfall.solve.effort import EFFORT, bodies_near, impact_cost, kept_for_time_step, look_cost, solving_cost

#: What an impact, or to lead points back to the ground, costs of what it costs to find how bodies answer to forces.
JUMP = 2.5
#: Share of what a period has left that one evaluation may cost, of which a step takes six; and an impact.
SHARE, SHARE_OF_IMPACT = 1.0 / 6.0, 1.0 / 4.0


@cold(types.int64, soon=True)
def find_forces(world, points, contacts, scratch, conditions, laws, effort):
    """Forces and accelerations of the points shown, compiled apart from the loop, at the same time: a law's status."""
    return constrained_step(world, points, contacts, scratch, conditions, laws, effort)


@inlined
def forces_now(loop, flow, step, stage, act, left):
    """Everything that follows from the state and the points in contact, for what is ``left``. Gives how it ended.

    Where ``flow.tally[SOFT]`` says so, forces are those of the law of time steps, for what one may cost then.
    """
    world, points, contacts, scratch = loop.world, loop.points, loop.contacts, loop.scratch
    conditions, outcome, laws = loop.conditions, loop.outcome, loop.laws.between
    joints = conditions.constraints.joints
    end, _ = sense_and_act(world, points, contacts, conditions, step, act, outcome)
    if end != DONE:
        return end
    velocities(world.cvel, world.subtree_com, points, contacts)
    effort = SHARE * left
    if flow.tally[SOFT] == 1:
        laws = loop.laws.in_steps
        show_near(points, contacts, flow.margin)
        effort = solving_cost(EFFORT, min(EFFORT, left), cost_of_state(world, points, contacts, conditions))
        add_damping(world, conditions.plan.dt)
        add_servo_damping(world, conditions.plan.dt)
    else:
        flow.clock[KEPT] = kept_for_time_step(contacts)
        show(points, contacts, flow.touching)
        measure_turning(world, points, contacts, conditions.ground, flow.flat)
        if stage > 0 and stage != STAGES:
            keep_friction(joints)
            if leave_limits_open(joints, flow):
                fold_joint_rows(joints)
        add_inertia(world, flow.added)
    factor_inertia(world, joints)
    outcome[STATUS] = find_forces(world, points, contacts, scratch, conditions, laws, effort)
    if flow.tally[SOFT] == 1:
        flow.clock[INSTEAD] = effort - contacts.effort[0]
    if stage > 0 and stage != STAGES:
        release_friction(joints)
    return runaway(world, outcome)


@inlined
def pay(loop, flow, left):
    """What is ``left`` after an evaluation, and what it cost without solving: a time step instead costs it again."""
    cost = cost_of_state(loop.world, loop.points, loop.contacts, loop.conditions)
    flow.clock[KEPT] += cost if flow.tally[SOFT] == 0 else 0.0
    return left - (SHARE * left - loop.contacts.effort[0]) - cost, cost


@inlined
def accelerations_now(loop, flow, step, stage, act, left):
    """Forces and accelerations of a stage, for what is ``left``: how that ended, what is left then, and what an
    evaluation costs without solving.
    """
    world, points, contacts, plan = loop.world, loop.points, loop.contacts, loop.conditions.plan
    if stage == 0 and flow.tally[SECANT] == READY:
        end, cost = begin_as_foretold(loop, flow), cost_of_state(world, points, contacts, loop.conditions)
        left -= look_cost(world.qvel.size, points.others.counters[LOOKS], plan.price)
        loop.outcome[STATUS] = 0
    else:
        end = forces_now(loop, flow, step, stage, act, left)
        left, cost = pay(loop, flow, left)
        if stage == 0 and end == DONE:
            end_pair(world, points, contacts, flow)
    if stage == 0 and end == DONE:
        flow.tally[SECANT] = IDLE
    return end, left, cost


@inlined
def jump_cost(loop):
    """What an impact costs a period beside solving it; as much as leading points back to the ground."""
    contacts, nv, rows = loop.contacts, loop.world.qvel.size, loop.conditions.constraints.shared.number[0]
    return JUMP * impact_cost(nv, rows, bodies_near(contacts))


@inlined
def collide(loop, flow, flash, left):
    """An impact, or an impulse without a collision over ``flash`` (s), for a share of what is ``left``: the rest."""
    contacts = loop.contacts
    contacts.effort[0] = SHARE_OF_IMPACT * left
    constraints = loop.conditions.constraints
    flow.tally[UNSOLVED] |= strike(loop.world, loop.points, contacts, loop.scratch, constraints, flow, loop.laws, flash)
    return left - (SHARE_OF_IMPACT * left - contacts.effort[0]) - jump_cost(loop)
