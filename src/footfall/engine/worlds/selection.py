"""Constraint selection on a GPU: a lane evaluates the last state of its feet if none slides; otherwise a warp searches,
guided by Newton's forces on the exact cone.

For most worlds that stand the first is enough. In a search, all lanes of a warp would wait for the longest one: of
restless bipeds' steps one in 40 evaluates more than three states, one in 1,000 more than 32, and the friction of a
sliding state takes eight rounds.
"""

from __future__ import annotations

from typing import NamedTuple

from footfall.compiled import inlined
from footfall.compiled.meeting import meet
from footfall.contact.constraint_selection import leave_states, report, write, write_found, write_prediction
from footfall.contact.time_stepping import free_velocities
from footfall.engine.worlds.one_world import contacts_of, points_of
from footfall.solve.contact_lean import NEAR, SEARCHING, STEP, STILL, SUGGESTING, defer
from footfall.solve.problem import begin_problem
from footfall.solve.selection.rules import CLAMPED_BITS, judge, slides, stand
from footfall.solve.selection.states import assemble, state_of
from footfall.solve.together.desk import LANES, wait
from footfall.solve.together.selection import Found, search_together
from footfall.solve.together.selection_desk import contacts_at, fetch_feet, fetch_outlines
from footfall.solve.together.states import begin_with
from footfall.solve.together.vertices import on_vertices, stands_on_vertex


class Rules(NamedTuple):
    """The parameters of the law that a search needs."""

    d: float  # m
    a_t: float  # m/s2
    v_t: float  # m/s
    cop_rule: float
    pull: float  # N
    one_step: float
    feet: int


@inlined
def velocities_of_states(problem, desk):
    """Give Newton the velocities that states want of vertices: along the normal, the velocity of a clamped vertex is
    the least; tangential ones are relative to that of a static vertex, if the foot stood on one. So for feet that stand
    on vertices, Newton finds the forces of their states. Edges are excluded: their two wanted velocities may differ,
    which no forces can give a rigid sole.
    """
    contacts = problem.contacts
    free_velocities(problem, 0.0)
    for b in range(contacts.near.size - 1):
        across = 1.0 if stands_on_vertex(desk.code[b]) else 0.0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            place = desk.place[p]
            problem.target[p] = place[3]
            problem.free[p, 0] -= across * place[4]
            problem.free[p, 1] -= across * place[5]


@inlined
def put_off(problem, desk, signals, rules):
    """Replaces :func:`footfall.contact.constraint_selection.find_at_once`: a warp will do it.

    A search under the rules of the exact cone waits for the state that Newton's forces suggest, which is nearly always
    right and comes with the friction of its feet.
    """
    if rules.one_step == 0.0:
        velocities_of_states(problem, desk)
    defer(problem)
    numbers = problem.local
    numbers[1, 0], numbers[1, 1], numbers[1, 2] = rules.d, rules.a_t, rules.v_t
    numbers[2, 0], numbers[2, 1], numbers[2, 2] = rules.cop_rule, rules.pull, rules.one_step
    return SUGGESTING if rules.cop_rule == 1.0 and rules.one_step == 0.0 else SEARCHING


@inlined
def try_standing(problem, desk, signals, rules):
    """Replaces :func:`footfall.contact.constraint_selection.find_states`."""
    contacts, dt, memory = problem.contacts, problem.step, problem.memory
    if not meet(slides(contacts, desk)):
        stand(contacts, desk, assemble(contacts, dt, desk))
        rank = judge(contacts, dt, memory, desk, rules)
        if rank >> CLAMPED_BITS == 0:
            write(contacts, desk, memory, problem.force, problem.mode)
            report(desk, contacts.near.size - 1, 1, rank, signals)
            return 0
    return put_off(problem, desk, signals, rules)


@inlined
def find_states_together(lane, robot, state, space, law, portion, desk):
    """Search the states of a world, or do a portion of that search, by the lanes of a warp. Gives the law's answer."""
    points = points_of(robot.soles, state, space)
    contacts = contacts_of(robot.soles.foot, points, space)
    numbers, own = law.problem.local, law.desk
    dt, feet = numbers[0, STEP], contacts.near.size - 1
    rules = Rules(numbers[1, 0], numbers[1, 1], numbers[1, 2], numbers[2, 0], numbers[2, 1], numbers[2, 2], feet)
    fetch_outlines(lane, contacts, own, desk)
    if portion.suggested:
        for b in range(lane, feet, LANES):
            own.queue[feet + b] = state_of(law.problem.kind, desk, b)
        wait()
    known = on_vertices(lane, contacts, points, law.problem, own, desk) if portion.sure else 0
    if known > 0:
        found = Found(True, 0, known, True)
    else:
        fetch_feet(lane, contacts, own, desk)
        near = contacts_at(contacts, desk)
        if portion.suggested:
            tried = not slides(near, desk)  # by a lane
            wait()
            for b in range(lane, feet, LANES):
                if tried:
                    desk.code[b] = own.queue[feet + b]
                begin_with(law.problem, points.force, desk, b)
            wait()
        found = search_together(lane, near, dt, points.memory, desk, own, rules, portion)
    answer = SEARCHING
    if found.ended and lane == 0:
        problem = begin_problem(contacts, dt, numbers[0, STILL], points.memory, points.force, points.mode, law)
        if rules.one_step == 1.0:
            write_prediction(problem, desk, space.signals, rules, found.rank)
            answer = 0
        elif portion.suggested and not found.right:  # Newton's forces are those of the points one by one
            space.signals[0] = found.tried
            free_velocities(problem, 0.0)
            leave_states(problem, feet, space.signals)
            answer = NEAR
        else:
            answer = write_found(problem, desk, space.signals, rules, found.rank, found.tried, found.right)
    wait()
    return answer
