"""Steps of worlds on a GPU whose law solves contact problems, in two kernels that take turns.

In the first a lane has a world: it ends a step and begins the next, up to its law. Feet that are held are solved there,
in closed form. A problem that needs a search (:func:`footfall.solve.contact_problem.search`) waits for the second
kernel, in which a warp tries to solve one problem at a time: lanes would wait for the slowest of 32 worlds. In the
next turn the law is asked again, and finds the solution; the few worlds that need more than one try do not hold up the
others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.compiled.lanes import lane, lanes, wait
from footfall.compiled.meeting import meet
from footfall.engine.constraints.active_set import ROUNDS
from footfall.engine.other_bodies.near import lacks_room
from footfall.engine.step import DONE
from footfall.engine.tape import END, SAMPLES, STATUS, STEP
from footfall.engine.worlds.joints import factor_with_rows
from footfall.engine.worlds.step import (
    ask_law,
    begin_operator,
    end_operator,
    finish_step,
    judge,
    prepare_operator,
    restore_near,
    sense_forces,
    sense_place,
)
from footfall.solve.contact_problem import TRIES, limit_work, try_once
from footfall.solve.problem import problem_in

# Fields of a world's progress in a call: steps taken; how often its law was asked in this step; what it answered.
TAKEN, ASKED, ANSWER = range(3)
#: Answers: none, as no step is under way; and none yet, as a problem waits for its search.
IDLE, WAITS = -1, 2
# Whether the search of a world's law is to be done in its turn, waits, or has been done: ``contacts.number[SEARCH]``.
SEARCH, NOT_ASKED, WANTED, FOUND = 3, 0, 1, 2
#: Parts of a turn: the end of a step, and the beginning of the next.
PARTS = 2


class Queue(NamedTuple):
    """The worlds that wait for a search, in the memory of the GPU."""

    member: Any  # (lanes,)
    number: Any  # (3,) how many there are; how many warps have taken one more; whether any world goes on


@inlined
def search_later(problem):
    """Replaces :func:`footfall.solve.contact_problem.search` inside a law: asks for a search, or takes its outcome."""
    number, report = problem.contacts.number, problem.report
    if number[SEARCH] == FOUND:
        number[SEARCH] = NOT_ASKED
        return report[1, 0] == 1.0, int(report[1, 1]), report[1, 2]
    number[SEARCH] = WANTED
    for i in range(number[0]):
        p = problem.contacts.points[i]
        problem.friction[p, 0] = problem.contacts.static_friction[p]
        problem.friction[p, 1] = problem.contacts.dynamic_friction[p]
    report[0, 0], report[0, 1], report[0, 2], report[1, 1] = problem.step, problem.still, 0.0, 0.0
    return True, 0, 0.0


@inlined
def was_searched(problem):
    """Replaces :func:`footfall.solve.contact_problem.is_searched` inside a law."""
    return problem.contacts.number[SEARCH] == FOUND


@inlined
def exchange_friction(contacts, friction):
    """Exchange the friction of near points, the ground's, for that of the problem, or back."""
    for i in range(lane(), contacts.number[0], lanes()):
        p = contacts.points[i]
        contacts.static_friction[p], friction[p, 0] = friction[p, 0], contacts.static_friction[p]
        contacts.dynamic_friction[p], friction[p, 1] = friction[p, 1], contacts.dynamic_friction[p]
    wait()


@inlined
def search_now(points, contacts, own, newton):
    """Try once to solve the problem that a law waits for, by all lanes of a warp; a problem that is not solved is tried
    again in the next turn. ``own`` is the law's scratch, ``newton`` the warp's.
    """
    report = own.report
    step, still, tries = report[0, 0], report[0, 1], int(report[0, 2])
    wait()
    problem = problem_in(contacts, step, still, points.memory, points.force, points.mode, own, newton)
    exchange_friction(contacts, own.friction)
    found, iterations, residual = try_once(problem, tries)
    exchange_friction(contacts, own.friction)
    if lane() == 0:
        if not found and tries == TRIES:
            limit_work(problem)
        if found or tries == TRIES:
            contacts.number[SEARCH] = FOUND
        report[0, 2] = tries + 1.0
        report[1, 0], report[1, 1], report[1, 2] = 1.0 if found else 0.0, report[1, 1] + iterations, residual
    wait()


@inlined
def answered(one, status):
    """The answer of a law that was asked: its status, unless a search waits."""
    if one.contacts.number[SEARCH] != WANTED:
        return status
    restore_near(one.points, one.contacts, one.scratch)
    return WAITS


@inlined
def end_step(one, state, progress, track, plan, span):
    """End the step under way, if its law has answered, unless it has to be asked again."""
    outcome, answer, asked = state.outcome, progress[ANSWER], progress[ASKED]
    if answer in (IDLE, WAITS):
        return
    agrees = end_operator(one, asked)
    progress[ASKED], progress[ANSWER] = asked + 1, IDLE
    if not agrees and asked + 1 < ROUNDS:
        return
    outcome[STATUS] = answer if agrees and not lacks_room(one.points) else 1
    end, taken = judge(one, plan, outcome), progress[TAKEN]
    finish_step(one, state, track, plan, end, span.before + taken, span.steps - taken)
    progress[TAKEN], progress[ASKED] = taken + 1, 0


@inlined
def begin_step(one, given, state, progress, track, plan, functions, span):
    """Evaluate everything up to the law; returns whether it is to be asked. Worlds that begin a step and those whose
    law is asked again meet where both do the same.
    """
    taken, asked, end = progress[TAKEN], progress[ASKED], DONE
    if asked == 0:
        state.outcome[STEP] = state.step[0]
        end = sense_place(one, given, state, plan, functions, taken == span.steps - 1)
    if not meet(end == DONE):
        state.outcome[END] = end
        if track.wanted and span.before + taken == 0:
            state.outcome[SAMPLES] = 0
        return False
    factor_with_rows(one, plan.dt)
    if asked == 0:
        sense_forces(one, given, state)
        one.contacts.number[SEARCH] = NOT_ASKED
        begin_operator(one)
    progress[ANSWER] = 0
    return meet(True) and prepare_operator(one, functions, given, plan, asked)


@inlined
def goes_on(state, progress, span):
    """Whether a world has steps to take."""
    return state.outcome[END] == DONE and progress[TAKEN] < span.steps + span.look


@inlined
def take_turn(one, given, state, progress, track, plan, functions, span):
    """End a step and begin the next; returns whether the world has more to do. For both the law is asked, whose code is
    the longest part: in one place, since the compiler copies it to each.
    """
    if not goes_on(state, progress, span):
        return False
    for part in range(PARTS):
        asks = False
        if part == 0:
            asks = progress[ANSWER] == WAITS and one.contacts.number[SEARCH] == FOUND
        elif progress[ANSWER] == IDLE and goes_on(state, progress, span):
            asks = begin_step(one, given, state, progress, track, plan, functions, span)
        if meet(asks):
            progress[ANSWER] = answered(one, ask_law(one, functions, given, plan))
        if part == 0:
            end_step(one, state, progress, track, plan, span)
    return goes_on(state, progress, span)
