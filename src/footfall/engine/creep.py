"""Periods of a robot that hardly moves, which one evaluation is enough for.

All points in contact rest where they belong and no other is about to arrive. Accelerations are then taken as constant
over the period or, where controls are what they were, as going on as they did (Adams and Bashforth's method of second
order), whichever is accurate enough by what is known from the periods before. Limits of joints and other bodies that it
comes upon so slowly are noticed when the period is over.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.contact.event_law import DOES, engine_columns
from footfall.engine.contact_set import off_course
from footfall.engine.near_bodies import live
from footfall.engine.period import is_sound, keep_forces
from footfall.engine.stages import integrate_activations, integrate_positions
from footfall.solve.contacts import STICK
from footfall.solve.dense import copy

#: Velocities up to which a robot creeps, m/s or rad/s: those it has and those it would gain in one period; and the gap
#: that no point crosses so slowly in a period, m, beside its own speed.
CREEPS, ASIDE = 1e-2, 1e-5
#: Share of the tolerance that the step of a robot that creeps may use: its error is foreseen, not measured.
FORESEEN = 0.1


@inlined
def note_beginning(world, points, contacts, flow):
    """Keep accelerations, forces and controls of the beginning of a period, for the periods that follow."""
    copy(flow.pace[1], flow.pace[0])
    copy(flow.pace[0], world.qacc)
    copy(flow.ctrl, world.ctrl)
    keep_forces(points, contacts, flow.began)


@inlined
def creeping_order(world, points, contacts, flow, dt):
    """Order of the method that is accurate enough with one evaluation: 1, 2, or 0 if neither is."""
    first, allowed = engine_columns(points.memory), FORESEEN * flow.tolerance
    constant, linear = 0.0, 0.0  # errors of velocities, m/s or rad/s
    for j in range(world.qvel.size):
        a, change = world.qacc[j], world.qacc[j] - flow.pace[0, j]
        if max(abs(world.qvel[j]), dt * abs(a)) > CREEPS:
            return 0
        constant = max(constant, 0.5 * dt * abs(change))
        linear = max(linear, 5.0 / 12.0 * dt * abs(change - (flow.pace[0, j] - flow.pace[1, j])))
    if constant > allowed:
        for i in range(world.ctrl.size):
            if world.ctrl[i] != flow.ctrl[i]:
                return 0  # accelerations changed with controls, which now stay as they are
        if linear > allowed:
            return 0
    for i in range(world.act.size):
        if dt * abs(world.act_dot[i]) > allowed:
            return 0
    for p in range(live(points)):
        if flow.touching[p] == 0 and contacts.gap[p] < ASIDE + 2.0 * dt * abs(contacts.velocity[p, 2]):
            return 0
        if flow.touching[p] == 1 and points.memory[p, first + DOES] != STICK:
            return 0
    if off_course(points, contacts, flow) > allowed:
        return 0
    return 1 if constant <= allowed else 2


@inlined
def creep(world, points, contacts, flow, dt, order):
    """Forces and motion of a period by a method of this order; False, and nothing moved, if the forces cannot be."""
    keep_forces(points, contacts, flow.force[0])
    ahead = 0.5 if order == 2 else 0.0  # of a change from period to period, in the mean over the next one
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        now, before = flow.force[0, p], flow.began[p]
        flow.worked[p] = STICK if points.force[p, 2] > 0.0 else flow.worked[p]
        for k in range(3):
            flow.impulse[p, k] = dt * (now[k] + ahead * (now[k] - before[k]))
    if order == 2 and not is_sound(points, contacts, flow):
        return False
    integrate_activations(world, dt)
    for half in range(2):
        part = ahead / 3.0 if half == 0 else 2.0 * ahead / 3.0
        for j in range(world.qvel.size):
            world.qvel[j] += dt * (0.5 * world.qacc[j] + part * (world.qacc[j] - flow.pace[0, j]))
        if half == 0:
            integrate_positions(world, world.qvel, dt)
    return True
