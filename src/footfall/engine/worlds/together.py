"""Steps of worlds on a GPU whose law solves a contact problem, in short kernels that take turns.

In the first kernel a lane has a world: it ends a step and begins the next, up to the law, which assembles its problem.
In the others a warp has a world and solves that problem (:mod:`footfall.solve.together`): one guesses the active set,
another runs Newton where guesses have failed, and then the first guesses again; for constraint selection a further one
searches states of the feet after Newton (:mod:`.selection`). A single kernel for all would use every register and
overflow the instruction cache. Each kernel of warps takes only the worlds that wait for it (:mod:`.queues`). A world
whose joint constraints do not agree with the forces asks its law again in the next turn, while others go on; so does
one on which Newton or the search takes long.
"""

from __future__ import annotations

from typing import NamedTuple

from footfall.compiled import inlined
from footfall.compiled.meeting import meet
from footfall.engine.step import DONE, TOO_SMALL, runaway
from footfall.engine.tape import END, STATUS, STEP
from footfall.engine.worlds.joints import factor_with_rows
from footfall.engine.worlds.one_world import contacts_of, points_of
from footfall.engine.worlds.queues import LIE, join, take_slot
from footfall.engine.worlds.selection import find_states_together, settle_states
from footfall.engine.worlds.step import (
    ask_operator,
    begin_operator,
    end_operator,
    finish_step,
    sense_forces,
    sense_place,
)
from footfall.solve.contact_lean import DEFERRED, HARD, LYING, NEAR, NOT_NEAR, SEARCHING, SUGGESTING, deferred_problem
from footfall.solve.together.desk import wait
from footfall.solve.together.newton import STAGES
from footfall.solve.together.selection import Portion
from footfall.solve.together.solution import near_by_newton, solve_by_guesses, tell_unsolved

# Fields of a world's progress: steps taken; times the law was asked in this step; its answer; the stage of that; the
# number of its room plus one (0 if none); and whether it is known to stand in this step.
TAKEN, ASKED, ANSWER, STAGE, ROOM, STANDS = range(6)
# Stages of a search: from the last states, continued, from states that Newton suggests.
NEW, GOING_ON, SUGGESTED = 0, 1, 2
#: The answer of a world that waits for no kernel.
IDLE = -1
#: Most times that a law is asked in one step until joint constraints agree, and if it finds no forces; at the end of a
#: call all others wait for such a world. On a CPU three times sufficed in all but three of 1.2 million restless steps
#: of a humanoid, and for those three a hundred did not.
ASKED_AGAIN, UNSOLVED_AGAIN = 4, 2


class Turn(NamedTuple):
    """What the lanes do in one launch."""

    first: int  # world of lane 0
    lane: int  # the first that takes part
    start: int  # 1 if this is the first turn of a call
    queue: int  # of the kernels that take part, see :mod:`.queues`
    most: int  # most linear problems of a search; Newton may evaluate twice as often


@inlined
def start_call(progress):
    progress[TAKEN], progress[ASKED], progress[ANSWER] = 0, 0, IDLE
    progress[ROOM], progress[STANDS] = 0, 0


@inlined
def end_step(one, state, progress, track, plan, span):
    """Find the acceleration under the law's forces and take the step, unless the law has to be asked again."""
    outcome, turn, answer = state.outcome, progress[ASKED], progress[ANSWER]
    if answer == IDLE:
        return
    agrees = end_operator(one, plan, turn)
    progress[ASKED], progress[ANSWER] = turn + 1, IDLE
    if not agrees and turn + 1 < (ASKED_AGAIN if answer == 0 else UNSOLVED_AGAIN):
        return
    outcome[STATUS] = answer if agrees else 1
    end, taken = runaway(one.world, outcome), progress[TAKEN]
    finish_step(one, state, track, plan, end, span.before + taken, span.steps - taken)
    progress[TAKEN], progress[ASKED], progress[STANDS] = taken + 1, 0, 0


@inlined
def begin_step(one, given, state, progress, track, plan, functions, span):
    """Evaluate everything up to the law, and ask it, unless the world has ended or taken all its steps.

    Worlds that begin a step and those that ask again share one code path where both do the same, so that lanes stay
    together.
    """
    outcome, taken, turn = state.outcome, progress[TAKEN], progress[ASKED]
    progress[ANSWER], progress[STAGE] = IDLE, 0
    goes_on = outcome[END] == DONE and taken < span.steps + span.look
    if goes_on and turn == 0:
        outcome[STEP] = state.step[0]
        end = sense_place(one, given, state, plan, functions, taken == span.steps - 1)
        if end == TOO_SMALL:
            progress[ANSWER] = LYING
        elif end != DONE:
            finish_step(one, state, track, plan, end, span.before + taken, span.steps - taken)
        goes_on = end == DONE
    goes_on = meet(goes_on)
    if goes_on:
        factor_with_rows(one, plan.dt)
    if goes_on and turn == 0:
        sense_forces(one, given, state)
        begin_operator(one)
    if goes_on:
        progress[ANSWER] = ask_operator(one, functions, given, plan, turn)


@inlined
def join_those_that_lie(queues, progress, lane):
    """Put a world into the list of those that lie, if there is a room for it."""
    queues.going[1] = 1
    if progress[ROOM] == 0:
        progress[ROOM] = take_slot(queues)
    if progress[ROOM] > 0:
        join(queues, LIE, lane)


@inlined
def waits(progress):
    """Whether the answer of a world's law is still to be found."""
    return progress[ANSWER] >= DEFERRED


@inlined
def still_going(state, progress, span):
    """Whether a world has steps to take."""
    return state.outcome[END] == DONE and progress[TAKEN] < span.steps + span.look


@inlined
def deferred_in(robot, state, space, law):
    """The contact problem that a law has assembled in its scratch arrays, ``law``."""
    points = points_of(robot.soles, state, space)
    return deferred_problem(points, contacts_of(robot.soles.foot, points, space), law)


@inlined
def guess_forces(lane, robot, state, space, law, turn, desk):
    """Solve a law's contact problem by guesses, before Newton or after it. Gives the law's answer."""
    answer, near = space.progress[ANSWER], space.progress[ANSWER] != DEFERRED
    problem = deferred_in(robot, state, space, law)
    found = solve_by_guesses(lane, problem, near, desk)
    if answer == NOT_NEAR and not found:
        tell_unsolved(lane, problem)
    if lane == 0:
        space.progress[STAGE] = 0
    return 0 if found or answer == NEAR else 1 if near else HARD


@inlined
def find_near_forces(lane, robot, state, space, law, turn, desk):
    """Solve it by Newton after guesses have failed; a long solution continues in the next turn."""
    problem = deferred_in(robot, state, space, law)
    stage, solved, done = near_by_newton(lane, problem, space.progress[STAGE], False, 2 * turn.most, desk)
    if lane == 0:
        space.progress[STAGE] = 0 if done else stage
    return 0 if done else HARD if stage < STAGES else NEAR if solved else NOT_NEAR


@inlined
def suggest_states(lane, robot, state, space, law, turn, desk):
    """Solve it by Newton for states of the feet, which its forces suggest. If the forces are those of the states, they
    are the answer. Softened problems are skipped, for a search can do without.
    """
    suggests, begin = space.progress[ANSWER] == SUGGESTING, space.progress[STAGE]
    problem = deferred_in(robot, state, space, law)
    stage, solved, done = begin, False, False
    for _ in range(2):  # the second time with what the suggested states want
        stage, solved, done = near_by_newton(lane, problem, begin, suggests, 2 * turn.most, desk)
        again = False
        if suggests:
            stage = SUGGESTED if solved else NEW
            if done:
                wait()
                done, again = settle_states(lane, robot, state, space, law, desk)
        if not again:
            break
    if lane == 0:
        space.progress[STAGE] = 0 if done else stage
    if done:
        return 0
    return SEARCHING if suggests else HARD if stage < STAGES else NEAR if solved else NOT_NEAR


@inlined
def search_states(lane, robot, state, space, law, turn, desk):
    """Search the states of the feet; a long search continues in the next turn. Lane 0 gets the law's answer."""
    stage = space.progress[STAGE]
    portion = Portion(stage == GOING_ON, stage == SUGGESTED, turn.most)
    answer = find_states_together(lane, robot, state, space, law, portion, desk)
    if lane == 0:
        space.progress[STAGE] = GOING_ON if answer == SEARCHING else NEW
    return answer


@inlined
def solve_lying(lane, robot, state, space, law, turn, desk):
    """Solve the problem of a world that lies: by guesses, by Newton, which may continue in the next turn, and by
    guesses from its forces; all in one kernel, for few worlds lie. Gives the law's answer.
    """
    progress = space.progress
    stage, near, found, solved = progress[STAGE], progress[ANSWER] == HARD, False, False
    problem = deferred_in(robot, state, space, law)
    while not found:  # one call: what is called twice is compiled twice
        if near:
            stage, solved, found = near_by_newton(lane, problem, stage, False, 2 * turn.most, desk)
            if stage < STAGES or found:
                break
        found = solve_by_guesses(lane, problem, near, desk)
        if near:
            break
        near, stage = True, 0
    goes_on = near and stage < STAGES
    if not (found or solved or goes_on):
        tell_unsolved(lane, problem)
    if lane == 0:
        progress[STAGE] = stage if goes_on else 0
    return HARD if goes_on else 0 if found or solved else 1
