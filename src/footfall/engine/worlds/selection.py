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
from footfall.contact.constraint_selection import (
    leave_states,
    remember_point,
    report,
    write,
    write_clamped,
    write_found,
    write_prediction,
)
from footfall.contact.time_stepping import free_velocities
from footfall.engine.worlds.one_world import contacts_of, points_of
from footfall.solve.contact_lean import NEAR, SEARCHING, STEP, STILL, SUGGESTING, defer
from footfall.solve.contacts import OPEN
from footfall.solve.problem import begin_problem
from footfall.solve.selection.rules import CLAMPED_BITS, GOOD, judge, slides, stand
from footfall.solve.selection.states import assemble, clamped, state_of, vertex
from footfall.solve.together.desk import LANES, wait
from footfall.solve.together.selection import search_together
from footfall.solve.together.selection_desk import contacts_at, fetch_feet, fetch_outlines
from footfall.solve.together.states import begin_with
from footfall.solve.together.vertices import number_before, settle_on_vertices, soles_at, tell_again, tell_newton


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
def put_off(problem, desk, signals, rules):
    """Replaces :func:`footfall.contact.constraint_selection.find_at_once`: a warp will do it.

    A search under the rules of the exact cone waits for the state that Newton's forces suggest, which is nearly always
    right and comes with the friction of its feet.
    """
    if rules.one_step == 0.0:
        free_velocities(problem, 0.0)
        tell_newton(problem, desk)
    defer(problem)
    numbers = problem.local
    numbers[1, 0], numbers[1, 1], numbers[1, 2] = rules.d, rules.a_t, rules.v_t
    numbers[2, 0], numbers[2, 1], numbers[2, 2] = rules.cop_rule, rules.pull, rules.one_step
    return SUGGESTING if rules.cop_rule == 1.0 and rules.one_step == 0.0 else SEARCHING


@inlined
def try_standing(problem, desk, signals, rules):
    """Replaces :func:`footfall.contact.constraint_selection.find_states`."""
    contacts, dt, memory = problem.contacts, problem.step, problem.memory
    for b in range(contacts.near.size - 1):
        desk.fault[b] = GOOD
    if not meet(slides(contacts, desk)):
        stand(contacts, desk, assemble(contacts, dt, desk))
        rank = judge(contacts, dt, memory, desk, rules)
        if rank >> CLAMPED_BITS == 0:
            write(contacts, desk, memory, problem.force, problem.mode)
            report(desk, contacts.near.size - 1, 1, rank, signals)
            return 0
    return put_off(problem, desk, signals, rules)


@inlined
def write_together(lane, contacts, desk, points):
    """Replaces :func:`footfall.contact.constraint_selection.write`, with a lane for each point."""
    memory, force, mode = points.memory, points.force, points.mode
    for i in range(lane, contacts.number[0], LANES):
        p, b = contacts.points[i], 0
        for o in range(1, contacts.near.size - 1):
            if i >= contacts.near[o]:
                b = o
        code, clamps = desk.code[b], False
        for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
            clamps = clamps or vertex(desk, b, code, j) == p
        if clamps:
            write_clamped(contacts, desk, code, p, memory, force, mode)
        else:
            force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
            mode[p] = OPEN
        remember_point(desk, p, memory, force, mode)


@inlined
def settle_states(lane, robot, state, space, law, desk):
    """Write forces and states of a world if Newton's forces settle them. Gives whether they do, and whether Newton is
    now told of other states, with which it may settle them.
    """
    points = points_of(robot.soles, state, space)
    contacts = contacts_of(robot.soles.foot, points, space)
    soles = soles_at(desk, law.desk)
    tried = settle_on_vertices(lane, contacts, points, law.problem, law.desk, soles)
    if tried > 0:
        write_together(lane, contacts, soles, points)
        if lane == 0:
            report(soles, contacts.near.size - 1, tried, 0, space.signals)
    wait()
    return tried > 0, tried == 0 and tell_again(lane, contacts, law.problem, law.desk, soles)


@inlined
def begin_with_suggested(lane, contacts, points, problem, own, desk):
    """Put the states that Newton suggests in the second place of the queue. The search begins with them, or with the
    last ones, and with loads and slip of Newton's solution.
    """
    feet = contacts.near.size - 1
    for b in range(lane, feet, LANES):
        desk.code[b] = state_of(problem.kind, desk, b)
    wait()
    before = number_before(contacts, own, desk)
    wait()
    for b in range(lane, feet, LANES):
        own.queue[feet + b] = desk.code[b]
        if before < 0:
            desk.code[b] = own.code[b]
        begin_with(problem, points.force, desk, b)
    wait()


@inlined
def find_states_together(lane, robot, state, space, law, portion, desk):
    """Search the states of a world, or do a portion of that search, by the lanes of a warp. Gives the law's answer."""
    points = points_of(robot.soles, state, space)
    contacts = contacts_of(robot.soles.foot, points, space)
    numbers, own = law.problem.local, law.desk
    dt, feet = numbers[0, STEP], contacts.near.size - 1
    rules = Rules(numbers[1, 0], numbers[1, 1], numbers[1, 2], numbers[2, 0], numbers[2, 1], numbers[2, 2], feet)
    fetch_outlines(lane, contacts, own, desk)
    fetch_feet(lane, contacts, own, desk)
    near = contacts_at(contacts, desk)
    if portion.suggested:
        begin_with_suggested(lane, near, points, law.problem, own, desk)
    found = search_together(lane, near, dt, points.memory, desk, own, rules, portion)
    answer = SEARCHING
    if found.right and rules.one_step == 0.0:
        write_together(lane, contacts, desk, points)
        if lane == 0:
            report(desk, feet, found.tried, found.rank, space.signals)
        answer = 0
    elif found.ended and lane == 0:
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
