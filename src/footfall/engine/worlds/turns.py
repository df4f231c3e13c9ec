"""Steps of worlds on a GPU whose law solves contact problems, in two kernels that take turns.

In the first kernel each lane ends a step of its world and begins the next, up to the law. Held feet are solved there,
in closed form. A problem that needs a search (:func:`footfall.solve.contact_problem.search`) is queued for the second
kernel, in which a warp tries to solve one problem at a time: with one problem per lane, lanes would wait for the
slowest of 32. In the next turn the law is called again, and finds the solution; the few worlds that need more than one
try do not delay the others.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.compiled.lanes import lane, lanes, wait
from footfall.engine.constraints.active_set import ROUNDS
from footfall.engine.kinematics import restore_near
from footfall.engine.law_step import begin_operator
from footfall.engine.other_bodies.near import lacks_room
from footfall.engine.step import DONE
from footfall.engine.worlds.arrays import IDLE, PLACED, WAITS, Space, WorldState
from footfall.engine.worlds.joints import factor_with_rows
from footfall.engine.worlds.step import (
    Run,
    ask_law,
    end_operator,
    evaluate_placed,
    finish_step,
    judge,
    place_world,
    prepare_operator,
    sense_forces,
    sense_placed,
)
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Tensor, Vector, zeros
from footfall.solve.contact_problem import TRIES, limit_work, try_once
from footfall.solve.contacts import KNOWN, NOTHING, Contacts
from footfall.solve.gather import gather
from footfall.solve.problem import MODE, NewtonScratch, Problem, ProblemScratch, Size, newton_scratch

# Stages of a search, in ``contacts.number[SEARCH]``: not requested, requested, done.
SEARCH, NOT_ASKED, WANTED, FOUND = 3, 0, 1, 2
#: Parts of a turn: up to the placed bodies of the next step; and, when contacts between them are found, up to its law.
PARTS = 2


class Queue(NamedTuple):
    """The worlds that wait for a search, in the memory of the GPU."""

    member: Any  # (lanes,)
    number: Any  # (3,) how many there are; how many warps have taken one more; whether any world goes on


@inlined
def search_later(problem: Problem) -> tuple[Bool, Int, Float]:
    """Replaces :func:`footfall.solve.contact_problem.search` inside a law: requests a search, or returns its result."""
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
def was_searched(problem: Problem) -> Bool:
    """Replaces :func:`footfall.solve.contact_problem.is_searched` inside a law."""
    return problem.contacts.number[SEARCH] == FOUND


class Gathered(NamedTuple):
    """A queued problem in the memory of the warp that solves it: the N near points and their B bodies, packed into
    arrays for P points on K bodies. See :class:`footfall.solve.problem.Problem`.
    """

    begin: Annotated[Ints, "K + 1"]  # where the near points of each of the K bodies begin
    slot: Annotated[Ints, "K"]  # which of them each of the B bodies is
    number: Annotated[Ints, 5]  # N; 0; columns of ``response``; B; how much of ``mobility`` is known
    points: Annotated[Ints, "P"]  # 0 to N - 1
    body: Annotated[Ints, "P"]
    near: Annotated[Ints, "K + 1"]
    frame: Annotated[Tensor, "P", 3, 3]
    arm: Annotated[Matrix, "P", 3]
    mobility: Annotated[Matrix, "6K", "6K"]
    static_friction: Annotated[Vector, "P"]
    dynamic_friction: Annotated[Vector, "P"]
    response: Annotated[Tensor, "K", "C", 8]
    weight: Annotated[Vector, "C"]
    memory: Annotated[Matrix, "P", 1]  # the mode alone
    force: Annotated[Matrix, "P", 3]
    free: Annotated[Matrix, "P", 3]
    target: Annotated[Vector, "P"]
    slip: Annotated[Matrix, "P", 2]
    end: Annotated[Matrix, "P", 3]
    wanted: Annotated[Matrix, "P", 3]
    kind: Annotated[Ints, "P"]
    moved: Annotated[Vector, "6K"]
    other: Annotated[Vector, "6K"]
    rows: Annotated[Matrix, 3, 6]
    local: Annotated[Matrix, 3, 3]


class Workspace(NamedTuple):
    """Scratch of a warp."""

    problem: Gathered
    newton: NewtonScratch


def workspace(size: Size) -> Workspace:
    """The arrays of one warp; the matrix of Newton's step is elsewhere."""
    sizes = {"P": size.points, "K": size.bodies, "6K": 6 * size.bodies, "C": size.columns}
    return Workspace(zeros(Gathered, sizes), newton_scratch(size)._replace(matrix=np.zeros((0, 0))))


#: What solvers read of gathered contacts; they do not read the other fields, which are any arrays.
contacts_in = gather(
    Contacts,
    {"own": Gathered},
    near="own.near[: own.number[3] + 1]",
    mobility="own.mobility[: 6 * own.number[3]]",
    **dict.fromkeys(("position", "anchor", "velocity", "acceleration", "bias"), "own.wanted"),
    gap="own.target",
)
#: A gathered problem; ``report`` is the world's.
gathered_problem = gather(
    Problem,
    {"contacts": None, "own": Gathered, "report": None, "newton": None},
    step="report[0, 0]",
    still="report[0, 1]",
    mode="own.kind",
    friction="own.slip",
    held="()",
)


@inlined
def gather_bodies(space: Space, to: Gathered) -> None:
    """Write the bodies with near points, the first point of each, and their columns."""
    count, whole, bodies = space.number[0], space.number[2], 0
    for b in range(lane(), space.near.size, lanes()):
        to.begin[b] = space.near[b]
    wait()
    for b in range(space.near.size - 1):
        if to.begin[b + 1] > to.begin[b]:
            if lane() == 0:
                to.slot[bodies], to.near[bodies] = b, to.begin[b]
            bodies += 1
    if lane() == 0:
        to.near[bodies] = count
        to.number[0], to.number[1], to.number[2], to.number[3] = count, 0, whole, bodies
        to.number[KNOWN] = NOTHING
    wait()
    for j in range(lane(), whole, lanes()):
        to.weight[j] = space.qLDiagInv[j]
        for b in range(bodies):
            h, g = space.half[to.slot[b], j], to.response[b, j]
            g[0], g[1], g[2], g[3], g[4], g[5] = h[0], h[1], h[2], h[3], h[4], h[5]
    for b in range(bodies):
        for i in range(to.near[b] + lane(), to.near[b + 1], lanes()):
            to.body[i] = b


@inlined
def gather_points(state: WorldState, space: Space, own: ProblemScratch, to: Gathered) -> None:
    """Write the near points of a problem."""
    for i in range(lane(), space.number[0], lanes()):
        p = space.points[i]
        to.points[i], to.memory[i, 0], to.target[i] = i, state.memory[p, MODE], own.target[p]
        to.static_friction[i], to.dynamic_friction[i] = own.friction[p, 0], own.friction[p, 1]
        to.slip[i, 0], to.slip[i, 1] = own.slip[p, 0], own.slip[p, 1]
        for k in range(3):
            to.free[i, k], to.force[i, k], to.arm[i, k] = own.free[p, k], state.force[p, k], space.arm[p, k]
            for c in range(3):
                to.frame[i, k, c] = space.frame[p, k, c]


@inlined
def search_now(state: WorldState, space: Space, own: ProblemScratch, to: Gathered, newton: NewtonScratch) -> None:
    """Try once, with all lanes of a warp, to solve a queued problem; an unsolved one is tried again in the next turn.
    ``own`` is the law's scratch, ``to`` and ``newton`` are the warp's.
    """
    report, tries = own.report, int(own.report[0, 2])
    gather_bodies(space, to)
    gather_points(state, space, own, to)
    wait()
    problem = gathered_problem(contacts_in(to), to, report, newton)
    found, iterations, residual = try_once(problem, tries)
    if lane() == 0:
        if not found and tries == TRIES:
            limit_work(problem)
        if found or tries == TRIES:
            space.number[SEARCH] = FOUND
        report[0, 2] = tries + 1.0
        report[1, 0], report[1, 1], report[1, 2] = 1.0 if found else 0.0, report[1, 1] + iterations, residual
    wait()
    for i in range(lane(), space.number[0], lanes()):
        p = space.points[i]
        for k in range(3):
            state.force[p, k], own.end[p, k] = to.force[i, k], to.end[i, k]
    wait()


@inlined
def end_step(run: Run) -> None:
    """End the step under way, if its law has a solution and need not be called again."""
    one, space = run.one, run.space
    answer, asked, taken = space.answer[0], space.asked[0], space.taken[0]
    if answer in (IDLE, WAITS):
        return
    agrees = end_operator(one, asked, run.plan.dt)
    space.asked[0], space.answer[0] = asked + 1, IDLE
    if not agrees and asked + 1 < ROUNDS:
        return
    run.state.status[0] = answer if agrees and not lacks_room(one.points) else 1
    finish_step(run, judge(run), taken)
    space.taken[0], space.asked[0] = taken + 1, 0


@inlined
def give_up(run: Run, end: Int) -> None:
    """End a world whose step cannot be computed."""
    run.state.end[0], run.space.answer[0] = end, IDLE
    if run.track.wanted and run.span.before + run.space.taken[0] == 0:
        run.state.samples[0] = 0


@inlined
def place_step(run: Run) -> None:
    """Begin a step: place the bodies of a world."""
    run.state.begun[0], run.space.answer[0] = run.state.step[0], PLACED
    end = place_world(run)
    if end != DONE:
        give_up(run, end)


@inlined
def go_on_with_step(run: Run) -> Bool:
    """Compute everything from the placed bodies up to the law; returns whether to call it. Lanes that begin a step and
    those that call their law again converge where both run the same code.
    """
    one, asked, end = run.one, run.space.asked[0], DONE
    if asked == 0:
        end = sense_placed(run)
    if end != DONE:
        give_up(run, end)
        return False
    factor_with_rows(one, run.plan.dt)
    if asked == 0:
        sense_forces(run)
        one.contacts.number[SEARCH] = NOT_ASKED
        begin_operator(one.world, one.points, one.contacts, one.scratch)
    run.space.answer[0] = 0
    return prepare_operator(run, asked)


@inlined
def goes_on(run: Run) -> Bool:
    """Whether a world has steps to take."""
    return run.state.end[0] == DONE and run.space.taken[0] < run.span.steps + run.span.look


@inlined
def take_step(run: Run, part: Int) -> None:
    """Place the bodies for a step in its first part, and take it in the second, for laws that ask for no search."""
    space = run.space
    if part == 0:
        if goes_on(run):
            place_step(run)
    elif space.answer[0] == PLACED:
        taken = space.taken[0]
        space.answer[0], space.taken[0] = IDLE, taken + 1
        finish_step(run, evaluate_placed(run), taken)


@inlined
def take_part(run: Run, part: Int) -> None:
    """End a step and place the bodies for the next in the first part of a turn; go on with it in the second. Both call
    the law, in one place of the code, since the compiler would copy the law's long code to each.
    """
    one, space, asks = run.one, run.space, False
    if part == 0:
        asks = space.answer[0] == WAITS and one.contacts.number[SEARCH] == FOUND
    elif space.answer[0] in (IDLE, PLACED) and goes_on(run):
        asks = go_on_with_step(run)
    if asks:
        space.answer[0] = ask_law(run)
        if one.contacts.number[SEARCH] == WANTED:
            restore_near(one.points, one.contacts, one.scratch)
            space.answer[0] = WAITS
    if part == 0:
        end_step(run)
        if space.answer[0] == IDLE and space.asked[0] == 0 and goes_on(run):
            place_step(run)
