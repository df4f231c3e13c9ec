"""Solving the contact problem where guessing fails: on the few points that carry a foot.

The points of a foot move together. If forces on some of them keep all its points out of the ground, those forces solve
the whole problem; under a flat face the corners are enough. So a few points are chosen, far from one another. Their
problem is solved by Newton's or an interior-point method (:mod:`footfall.solve.exact_cone`), and if these do not
converge, by Gauss-Seidel; points that enter the ground join them. All of it is counted against the step's effort
(:mod:`footfall.solve.effort`): a state that costs more is marked as unsolved.

See :mod:`footfall.solve.contact_problem`; names and shapes are those of :mod:`footfall.solve.problem`.
"""

from __future__ import annotations

import math
from typing import Any

from footfall.compiled import inlined, kernel, separate
from footfall.solve.chosen_points import FEW_BODIES, choose_few, join, mark_end
from footfall.solve.contact_guess import (
    MISSES,
    TOLERANCE,
    end_motions,
    missing_accelerations,
    solve_by_guessing,
)
from footfall.solve.contacts import OPEN, SLIDE, STICK, coulomb
from footfall.solve.delassus import ANY, dense_floats, dense_problem, hand_back
from footfall.solve.effort import affordable, bodies_near, dense_cost, guess_cost, sweep_cost
from footfall.solve.exact_cone import cone_floats, cone_integers, solve_cone
from footfall.solve.friction_limits import to_contact_frames, to_world_frames
from footfall.solve.gauss_seidel import gauss_seidel
from footfall.solve.newton_on_cone import NEAR
from footfall.solve.problem import FORCE, MOST, TURNED, problem_type
from footfall.solve.pyramid import pyramid_floats, pyramid_integers

#: How often points may join the chosen ones.
JOININGS = 12
#: Share of the step's effort that is reserved for Gauss-Seidel, and the most times it may solve a point.
LEFT, POINT_SOLUTIONS = 0.05, 800
#: Sweeps of Gauss-Seidel between two guesses.
SWEEPS = 40
#: Sweeps over all points where nothing else has solved the problem, whatever they cost.
LAST_SWEEPS = 3
# What a point remembers of guesses that missed.
MISS = 1.0
#: Most guesses from nearly right forces, where guesses failed in the last step, and in a heap of many bodies, where one
#: costs as much as some steps of Newton.
NEAR_GUESSES, FEW_GUESSES, HEAP_GUESSES = 6, 2, 1
#: A point whose load is no more than this share of the largest is open or about to be; one with less than this share of
#: its friction limit sticks.
IDLE, HOLDS = 1e-6, 0.9999
#: Residual beyond which a problem is unsolved, relative to the largest impulse that would stop a point alone.
ENOUGH = 1e-6
#: The same for the last relative change in Gauss-Seidel.
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
def slowest_motion(problem):
    """The motion that counts as none at the accuracy of the forces: a share of the largest."""
    contacts, free, target = problem.contacts, problem.free, problem.target
    largest = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if target[p] != ANY:
            largest = max(largest, abs(free[p, 0]), abs(free[p, 1]), abs(free[p, 2]), abs(target[p]))
    return ENOUGH * largest


@kernel
def keep_in_cone(problem):
    """Project forces onto the cone, as a start for Gauss-Seidel."""
    contacts, force = problem.contacts, problem.force
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 2] = max(0.0, force[p, 2])
        force[p, 0], force[p, 1], _ = coulomb(force[p, 0], force[p, 1], contacts.dynamic_friction[p] * force[p, 2])


@kernel
def read_kinds(problem):
    """The mode of each point, from forces and motions that are nearly right.

    A point that touches without a force is held too: another solution may load it.
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
    """Save the forces."""
    for i in range(problem.contacts.number[0]):
        p = problem.contacts.points[i]
        for k in range(3):
            problem.end[p, 3 + k] = problem.force[p, k]


@inlined
def fetch_forces(problem):
    """Restore the saved forces."""
    for i in range(problem.contacts.number[0]):
        p = problem.contacts.points[i]
        for k in range(3):
            problem.force[p, k] = problem.end[p, 3 + k]


@kernel
def tame(problem):
    """Scale forces that are not a solution so that they leave the least motion (Gauss's principle).

    So they never add energy, however far from a solution they are.
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
    """Replace nearly right forces by those of a guess that they suggest, if it is right.

    Gives whether there is one, and how many were tried, up to ``most`` or until the step's effort is used up. If there
    is none, only ``end`` has changed: it always belongs to the forces.
    """
    contacts = problem.contacts
    move(problem)
    read_kinds(problem)
    keep_forces(problem)  # in case the guess misses
    missing_accelerations(problem)
    if bodies_near(contacts) > FEW_BODIES:
        most = min(most, HEAP_GUESSES)
    most = affordable(contacts.effort[0], guess_cost(problem), most)
    found, guesses = solve_by_guessing(problem, most)
    if found:
        to_contact_frames(contacts, problem.force)
    else:
        fetch_forces(problem)
        move(problem)
    return found, guesses


@kernel
def solve_few(problem, count, near, budget):
    """Solve for the forces of the first ``count`` chosen points, with no forces on the others, from the present ones,
    which may be ``near`` a solution. Gives whether they are solved, the steps and pivots, and the rest of the budget.
    """
    dense = dense_problem(problem, count)
    for i in range(count):
        p = problem.chosen[i]
        dense.friction[i] = problem.contacts.dynamic_friction[p]
        for k in range(3):
            dense.impulse[i, k] = problem.force[p, k]
    budget -= dense_cost(float(count), bodies_near(problem.contacts))
    found, iterations, left = solve_cone(dense, near, ENOUGH, budget)
    hand_back(problem, dense.impulse)
    return found, iterations, left


@inlined
def guesses_missed(problem):
    """Whether guesses failed in the last step: the same is expected of this step.

    It happens where a robot lies at rest and the ground can hold it in many ways. Then some points are on the cone
    without slipping, which the memory of a point does not say, or the forces are not the least ones.
    """
    contacts = problem.contacts
    for i in range(contacts.number[0]):
        if problem.memory[contacts.points[i], MISSES] == MISS:
            return True
    return False


@kernel
def remember(problem, hit):
    """Remember for all points whether guesses will fail: not if one was right and all points that it lets slide do
    slide.
    """
    contacts, still, end = problem.contacts, problem.still, problem.end
    misses = 0.0 if hit else MISS
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if problem.kind[p] == SLIDE and end[p, 0] * end[p, 0] + end[p, 1] * end[p, 1] <= still * still:
            misses = MISS
    for i in range(contacts.number[0]):
        problem.memory[contacts.points[i], MISSES] = misses


def few_signature() -> Any:
    """What :func:`solve_by_few` takes and gives."""
    from numba import boolean, int64, types

    return types.Tuple([boolean, int64])(problem_type())


@separate(few_signature, rare=True)
def solve_by_few(problem):
    """Solve for the forces, starting from the saved ones. Gives whether they solve the problem, and the number of
    steps, pivots, sweeps and guesses.
    """
    contacts = problem.contacts
    missed, most, iterations = guesses_missed(problem), NEAR_GUESSES, 0
    fetch_forces(problem)
    if missed:  # the last forces are more informative than the last modes
        most = FEW_GUESSES
        hit, iterations = guess_from_forces(problem, most)
        if hit:
            remember(problem, True)
            return True, iterations
    count, slack = choose_few(problem, missed), problem.still + slowest_motion(problem)
    kept = LEFT * contacts.effort[0]
    left, complete, near = contacts.effort[0] - kept, False, not missed
    for _ in range(JOININGS):
        found, steps, left = solve_few(problem, count, near, left)
        iterations += steps
        near = steps <= NEAR
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
    # Gauss-Seidel comes near a solution from any start, and guesses from there are right.
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
    # As a last resort there are forces on all points, also on those that were not chosen.
    change, sweeps_taken = gauss_seidel(problem, contacts.points[: contacts.number[0]], LAST_SWEEPS, TOLERANCE)
    iterations += sweeps_taken
    if change <= UNSOLVED:
        return True, iterations
    tame(problem)
    return False, iterations
