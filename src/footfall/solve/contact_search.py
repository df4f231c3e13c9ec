"""Solving the contact problem where guessing does not end: on the few points that carry a foot.

The points of a foot move together. If no point of it goes into the ground under forces on some of them, those forces
solve the whole problem, and under a flat face the corners are enough. So a few points are chosen, the farthest from one
another; their problem is solved by Newton from a pyramid (:mod:`footfall.solve.newton_on_cone`), and if that does not
end, by Gauss-Seidel; points that go in join them. All of it takes from the step's effort
(:mod:`footfall.solve.effort`): a state that costs more is called unsolved.

See :mod:`footfall.solve.contact_problem`; names and shapes are those of :mod:`footfall.solve.problem`.
"""

from __future__ import annotations

import math
from typing import Any

from footfall.compiled import inlined, kernel, separate
from footfall.solve.contact_guess import (
    MISSES,
    TOLERANCE,
    end_motions,
    missing_accelerations,
    solve_by_guessing,
)
from footfall.solve.contacts import OPEN, SLIDE, STICK, coulomb
from footfall.solve.delassus import ANY, dense_floats, dense_problem, hand_back
from footfall.solve.effort import bodies_near, guess_cost, sweep_cost
from footfall.solve.friction_limits import to_contact_frames, to_world_frames
from footfall.solve.gauss_seidel import gauss_seidel
from footfall.solve.newton_on_cone import cone_floats, cone_integers, solve_cone
from footfall.solve.problem import FORCE, MOST, NO_MORE, TURNED, problem_type
from footfall.solve.pyramid import pyramid_floats, pyramid_integers

#: Points that are chosen of one foot at the beginning, and bodies up to which they are; of more of them it is one each,
#: since few of their points carry a heap, and those that are missing join.
OF_A_FOOT, FEW_BODIES = 4, 3
#: Times that points may join them.
JOININGS = 12
#: Share of the step's effort that is left to Gauss-Seidel, and the most times it may solve a point.
LEFT, POINT_SOLUTIONS = 0.2, 800
#: Sweeps of Gauss-Seidel between two guesses.
SWEEPS = 40
#: Sweeps over all points of what is not solved otherwise, whatever they cost.
LAST_SWEEPS = 5
#: Guesses that nearly right forces are worth, and fewer where guesses missed in the last step.
NEAR_GUESSES, FEW_GUESSES = 6, 2
#: A point that carries no more than this share of what the largest one does is open or about to be; one with less than
#: this share of the friction that it could have sticks.
IDLE, HOLDS = 1e-6, 0.9999
#: What is not solved to this, of the largest impulse that would stop a point alone, is said to be unsolved.
ENOUGH = 1e-6
#: What Gauss-Seidel has not converged to this is, too.
UNSOLVED = 1e-8


def search_floats(points: int, facets: int = 0, *, lean: bool = False) -> int:
    """Floats of scratch space for the problem of the points that are chosen, and for its solution."""
    few = min(points, MOST)
    if lean:
        return dense_floats(few)
    return dense_floats(few) + max(cone_floats(few), pyramid_floats(few, facets) if facets else 0)


def search_integers(points: int, facets: int = 0, *, lean: bool = False) -> int:
    """Integers of scratch space for the solution."""
    few = min(points, MOST)
    return 1 if lean else max(cone_integers(few), pyramid_integers(few, facets) if facets else 0)


@inlined
def is_chosen(chosen, count, p):
    for i in range(count):
        if chosen[i] == p:
            return True
    return False


@inlined
def farthest(problem, b, first, count):
    """The point of a foot that the ground may have to stop and that is farthest from those chosen of it; -1 if all are
    chosen, or lie at the same places.
    """
    contacts, target, chosen = problem.contacts, problem.target, problem.chosen
    best, distance = -1, 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        if target[p] == ANY:
            continue
        nearest = 1e300
        for j in range(first, count):
            r, q = contacts.arm[p], contacts.arm[chosen[j]]
            nearest = min(nearest, (r[0] - q[0]) ** 2 + (r[1] - q[1]) ** 2 + (r[2] - q[2]) ** 2)
        if nearest > distance:
            best, distance = p, nearest
    return best


@kernel
def choose_few(problem):
    """Choose points of every foot: the one that goes in fastest, and others far from it. Gives how many.

    Where the law is asked again in the same step, those that carried the feet under its last answer are.
    """
    contacts, free, target = problem.contacts, problem.free, problem.target
    count, bodies = 0, 0
    while contacts.number[1] > 0 and count < MOST and problem.chosen[count] != NO_MORE:
        count += 1
    if count > 0:
        return count
    for b in range(contacts.near.size - 1):
        bodies += 1 if contacts.near[b + 1] > contacts.near[b] else 0
    most = OF_A_FOOT if bodies <= FEW_BODIES else 1
    for b in range(contacts.near.size - 1):
        first, worst, fastest = count, -1, 0.0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if target[p] != ANY and (worst < 0 or free[p, 2] - target[p] < fastest):
                worst, fastest = p, free[p, 2] - target[p]
        while worst >= 0 and count < MOST and count - first < most:
            problem.chosen[count] = worst
            count += 1
            worst = farthest(problem, b, first, count)
    return count


@inlined
def mark_end(problem, count):
    """End the list of points that are chosen."""
    if count < MOST:
        problem.chosen[count] = NO_MORE


@inlined
def slowest_motion(problem):
    """The motion that is as good as none, by the accuracy of the forces: a share of the largest there is."""
    contacts, free, target = problem.contacts, problem.free, problem.target
    largest = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if target[p] != ANY:
            largest = max(largest, abs(free[p, 0]), abs(free[p, 1]), abs(free[p, 2]), abs(target[p]))
    return ENOUGH * largest


@kernel
def join(problem, slack, count):
    """Let the point of each foot join that goes in fastest, and those go that carry nothing. Gives how many are chosen
    now, and whether any joined: if none, nothing has changed.
    """
    contacts, target, force, end = problem.contacts, problem.target, problem.force, problem.end
    chosen, before, joined = problem.chosen, count, False
    for b in range(contacts.near.size - 1):
        worst, deepest = -1, -slack
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if end[p, 2] - target[p] < deepest and not is_chosen(chosen, before, p):
                worst, deepest = p, end[p, 2] - target[p]
        if worst < 0:
            continue
        if not joined:
            joined, count = True, 0
            for i in range(before):
                if force[chosen[i], 2] > 0.0:
                    chosen[count] = chosen[i]
                    count += 1
            before = count
        if count < MOST:
            chosen[count] = worst
            count += 1
    return count, joined


@kernel
def keep_in_cone(problem):
    """Make any forces a fair start for Gauss-Seidel."""
    contacts, force = problem.contacts, problem.force
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 2] = max(0.0, force[p, 2])
        force[p, 0], force[p, 1], _ = coulomb(force[p, 0], force[p, 1], contacts.dynamic_friction[p] * force[p, 2])


@kernel
def read_kinds(problem):
    """What each point seems to do, from forces and motions that are nearly right.

    A point that touches without a force is held too: other forces may do the same and load it.
    """
    contacts, still, target = problem.contacts, problem.still, problem.target
    force, end, kind, friction = problem.force, problem.end, problem.kind, problem.friction
    largest = 0.0
    for i in range(contacts.number[0]):
        largest = max(largest, force[contacts.points[i], 2])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, u, frame = force[p], end[p], contacts.frame[p]
        size = math.sqrt(f[0] * f[0] + f[1] * f[1])
        speed = math.sqrt(u[0] * u[0] + u[1] * u[1])
        if f[2] <= IDLE * largest:
            kind[p] = STICK if u[2] - target[p] <= still and speed <= still else OPEN
        elif size < HOLDS * contacts.dynamic_friction[p] * f[2]:
            kind[p] = STICK
        else:
            kind[p] = SLIDE
            friction[p, FORCE], friction[p, TURNED] = size, 0.0
            for k in range(3):
                friction[p, k] = (f[0] * frame[0, k] + f[1] * frame[1, k]) / size if size > 0.0 else 0.0


@kernel
def move(problem):
    """Motions under the forces; ``missing`` is scratch."""
    to_world_frames(problem.contacts, problem.force, problem.missing)
    end_motions(problem, problem.missing)


@inlined
def keep_forces(problem):
    """Put the forces aside."""
    for i in range(problem.contacts.number[0]):
        p = problem.contacts.points[i]
        for k in range(3):
            problem.end[p, 3 + k] = problem.force[p, k]


@inlined
def fetch_forces(problem):
    """Take the forces that were put aside."""
    for i in range(problem.contacts.number[0]):
        p = problem.contacts.points[i]
        for k in range(3):
            problem.force[p, k] = problem.end[p, 3 + k]


@kernel
def tame(problem):
    """Shrink forces that solve nothing to those along their ray that leave the least motion, by Gauss's principle.

    So they take energy, or none, however far from a solution they are.
    """
    contacts, free, target = problem.contacts, problem.free, problem.target
    force, end = problem.force, problem.end
    move(problem)
    linear, square = 0.0, 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        linear -= force[p, 2] * target[p] if target[p] != ANY else 0.0
        for k in range(3):
            linear += force[p, k] * free[p, k]
            square += force[p, k] * (end[p, k] - free[p, k])
    share = 1.0
    if linear + square > 0.0:
        share = min(1.0, max(0.0, -linear / square)) if square > 0.0 else 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            force[p, k] *= share
            end[p, k] = free[p, k] + share * (end[p, k] - free[p, k])


@kernel
def guess_from_forces(problem, most):
    """Replace forces that are nearly right by those of a guess that they suggest and that holds.

    Gives whether there is one, and how many were tried; if there is none, nothing has changed but ``end``, which is
    that of the forces either way.
    """
    contacts = problem.contacts
    move(problem)
    read_kinds(problem)
    keep_forces(problem)  # in case the guess misses
    missing_accelerations(problem)
    cost = guess_cost(problem)
    found, guesses = solve_by_guessing(problem, most)
    contacts.effort[0] -= cost * guesses
    if found:
        to_contact_frames(contacts, problem.force)
    else:
        fetch_forces(problem)
        move(problem)
    return found, guesses


@kernel
def newton_on_few(problem, count, warm, budget):
    """Forces of the first ``count`` chosen points, the others without any: whether they are solved, the steps and
    pivots, and what is left of the budget. Begins with the forces there are, which if ``warm`` are nearly right.
    """
    dense = dense_problem(problem, count)
    for i in range(count):
        p = problem.chosen[i]
        dense.friction[i] = problem.contacts.dynamic_friction[p]
        for k in range(3):
            dense.impulse[i, k] = problem.force[p, k]
    found, iterations, left = solve_cone(dense, warm, ENOUGH, budget)
    hand_back(problem, dense.impulse)
    return found, iterations, left


@inlined
def guesses_missed(problem):
    """Whether guesses from what each point did missed in the last step: they will in this one, which is like it.

    So it is where a robot lies at rest and the ground could hold it in many ways. Some points are on the cone without
    slipping then, which is not remembered of them, or the forces are not the least ones.
    """
    contacts = problem.contacts
    for i in range(contacts.number[0]):
        if problem.memory[contacts.points[i], MISSES] == 1.0:
            return True
    return False


@kernel
def remember(problem, hit):
    """Remember of all points whether guesses will miss: not if one has hit, and all points that it lets slide do."""
    contacts, still, end = problem.contacts, problem.still, problem.end
    misses = 0.0 if hit else 1.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if problem.kind[p] == SLIDE and end[p, 0] * end[p, 0] + end[p, 1] * end[p, 1] <= still * still:
            misses = 1.0
    for i in range(contacts.number[0]):
        problem.memory[contacts.points[i], MISSES] = misses


def few_signature() -> Any:
    """What :func:`solve_by_few` takes and gives."""
    from numba import boolean, int64, types

    return types.Tuple([boolean, int64])(problem_type())


@separate(few_signature, rare=True)
def solve_by_few(problem):
    """Forces from those that were put aside. Gives whether they solve the problem, and how many steps, pivots, sweeps
    and guesses it took.
    """
    contacts = problem.contacts
    missed = guesses_missed(problem)
    near = missed or contacts.number[1] > 0
    most, iterations = NEAR_GUESSES, 0
    fetch_forces(problem)
    if missed:  # the last forces say more than what each point did
        most = FEW_GUESSES
        hit, iterations = guess_from_forces(problem, most)
        if hit:
            remember(problem, True)
            return True, iterations
    count, slack = choose_few(problem), problem.still + slowest_motion(problem)
    kept = LEFT * contacts.effort[0]
    left, found, complete = contacts.effort[0] - kept, True, False
    for turn in range(JOININGS):
        found, steps, left = newton_on_few(problem, count, near or turn > 0, left)
        iterations += steps
        move(problem)
        if not found:
            break
        count, joined = join(problem, slack, count)
        if not joined:
            complete = True
            break
    contacts.effort[0] = left + kept
    mark_end(problem, count if complete else 0)
    if complete:
        hit, guesses = guess_from_forces(problem, most)
        remember(problem, hit)
        return True, iterations + guesses
    remember(problem, False)
    # Gauss-Seidel comes near from anywhere, and guesses from there hit.
    keep_in_cone(problem)
    cost = sweep_cost(count, bodies_near(contacts))
    for _ in range(max(1, POINT_SOLUTIONS // (SWEEPS * max(1, count)))):
        if contacts.effort[0] < SWEEPS * cost:
            break
        change, sweeps_taken = gauss_seidel(problem, problem.chosen[:count], SWEEPS, TOLERANCE)
        hit, guesses = guess_from_forces(problem, NEAR_GUESSES)
        contacts.effort[0] -= cost * sweeps_taken
        iterations += sweeps_taken + guesses
        if hit:
            return True, iterations
        count, joined = join(problem, slack, count)
        if change <= UNSOLVED and not joined:
            return True, iterations
    # Whatever has been tried, the ground pushes back: on all points, those that were not chosen too.
    change, sweeps_taken = gauss_seidel(problem, contacts.points[: contacts.number[0]], LAST_SWEEPS, TOLERANCE)
    iterations += sweeps_taken
    if change <= UNSOLVED:
        return True, iterations
    tame(problem)
    return False, iterations
