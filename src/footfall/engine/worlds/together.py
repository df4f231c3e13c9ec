"""Steps of worlds on a GPU whose law solves a contact problem: a warp of lanes, which wait for each other.

A lane has its world, as elsewhere. Most worlds are done with a guess or two; the problems of the others are solved by
all lanes together, one after the other. Every lane therefore goes through every part of a step, whether or not its
world takes part in it.
"""

from __future__ import annotations

from typing import Any

from footfall.compiled import inlined
from footfall.engine.active_set import ROUNDS
from footfall.engine.step import DONE, runaway
from footfall.engine.tape import END, STATUS, STEP
from footfall.engine.worlds.one_world import one_world_on_feet
from footfall.engine.worlds.step import ask_operator, begin_operator, end_operator, finish_step, sense
from footfall.solve.contact_lean import (
    DEFERRED,
    GUESSES,
    JOININGS,
    NEAR_GUESSES,
    choose_deferred,
    conclude_deferred,
    deferred_problem,
    guess_deferred,
    guess_from_newton,
    lay_out,
    take_back,
)
from footfall.solve.newton_together import LANES, newton_together

#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


@inlined
def fetch(lane, floats, owner, points, desk):
    """Bring the problem of the lane ``owner`` of the whole grid to the desk."""
    n = 3 * points
    for e in range(lane, n * n, LANES):
        i = e // n
        j = e - i * n
        if j <= i:
            desk.pair[i, j] = floats[e, owner]
    for i in range(lane, n, LANES):
        desk.free[i] = floats[n * n + i, owner]
        desk.impulse[i] = floats[n * n + n + 2 * points + i, owner]
    for p in range(lane, points, LANES):
        desk.target[p] = floats[n * n + n + p, owner]
        desk.friction[p] = floats[n * n + n + points + p, owner]
    cuda.syncthreads()


@inlined
def bring_back(lane, floats, owner, points, desk):
    """The best impulses from the desk to their owner."""
    n = 3 * points
    for i in range(lane, n, LANES):
        floats[n * n + n + 2 * points + i, owner] = desk.best[i]
    cuda.syncthreads()


@inlined
def newton_for_all(lane, owner, floats, problem, asks, desk, flags):
    """Newton for the lanes that ask. Gives whether it solved the problem of this lane."""
    count, solved, joining, most = 0, False, asks, desk.free.size // 3
    if joining:
        count = choose_deferred(problem)
    for turn in range(JOININGS):
        if joining:
            lay_out(problem, min(count, most))
        flags[lane] = min(count, most) if joining else 0
        cuda.syncthreads()
        for other in range(LANES):
            points = flags[other]
            if points > 0:
                at = owner - lane + other
                fetch(lane, floats, at, points, desk)
                found = newton_together(lane, points, desk, turn > 0)
                bring_back(lane, floats, at, points, desk)
                if other == lane:
                    solved = found
        if joining:
            count, more = take_back(problem, min(count, most))
            joining = solved and more
            solved = solved and not more
        if not cuda.syncthreads_or(1 if joining else 0):
            break
    return solved


@inlined
def solve_deferred(lane, owner, floats, one, deferred, desk, flags):
    """Solve the problems that laws have laid out: by guessing, then by Newton and guessing. Gives the law's status."""
    problem = deferred_problem(one.points, one.contacts, one.scratch)
    found, solved = not deferred, False
    for attempt in range(2):
        if attempt == 1:
            if not cuda.syncthreads_or(0 if found else 1):
                break
            solved = newton_for_all(lane, owner, floats, problem, not found, desk, flags)
            if not found:
                guess_from_newton(problem)
        if not found:
            found = guess_deferred(problem, GUESSES if attempt == 0 else NEAR_GUESSES)
    if deferred:
        conclude_deferred(problem, found)
    return 0 if found or solved else 1


@inlined
def advance_together(
    lane, owner, floats, robot, given, state, space, tape, recorded, takes_part, plan, functions, span, desk, flags
):
    """As :func:`footfall.engine.worlds.step.advance_world`; a lane whose world does not take part helps the others."""
    steps, look, before = span.steps, span.look, span.before
    one = one_world_on_feet(robot, given, state, space)
    outcome = state.outcome
    for i in range(steps + look):
        going, end, status = takes_part and outcome[END] == DONE, DONE, 0
        if going:
            outcome[STEP] = state.step[0]
            end = sense(one, given, state, plan, functions, i == steps - 1)
        pending = going and end == DONE
        if pending:
            begin_operator(one)
        for turn in range(ROUNDS):
            status = ask_operator(one, functions, given.values, plan, turn) if pending else status
            deferred = pending and status == DEFERRED
            solved = solve_deferred(lane, owner, floats, one, deferred, desk, flags)
            if deferred:
                status = solved
            if pending:
                pending = not end_operator(one, plan, turn)
            if not cuda.syncthreads_or(1 if pending else 0):
                break
        if going:
            if end == DONE:
                outcome[STATUS] = 1 if pending else status
                end = runaway(one.world, outcome)
            finish_step(one, state, tape, recorded, plan, end, before + i, steps - i)
