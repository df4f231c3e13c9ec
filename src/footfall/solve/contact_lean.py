"""The contact problem of :mod:`footfall.solve.contact_problem` solved with little code and space, for GPUs.

The same ways, without pyramids and Gauss-Seidel: a guess from the last step; Newton on the few points that carry a
foot, softened where it stalls, by many lanes together (:mod:`footfall.solve.newton_together`); a guess from its forces.
The law itself only lays the problem out, unless all feet stand: what follows is done where lanes can wait for each
other, and in one place, for what is called in three is compiled three times.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.contact_guess import all_held, hold_all, missing_accelerations, solve_by_guessing
from footfall.solve.contact_problem import conclude
from footfall.solve.contact_search import (
    choose_few,
    fetch_forces,
    join,
    keep_forces,
    move,
    read_kinds,
    slowest_motion,
)
from footfall.solve.friction_limits import to_contact_frames
from footfall.solve.gauss_seidel import push_foot, wrench_row
from footfall.solve.problem import begin_problem

#: Status of a law whose problem is laid out and not solved yet.
DEFERRED = 2
#: Guesses before Newton, and after it; times that points may join those that Newton solves for.
GUESSES, NEAR_GUESSES, JOININGS = 3, 2, 3
# Where the step and the motion that is none stand in the first row of ``local`` while a problem waits.
STEP, STILL = 0, 1


@inlined
def solve_or_defer(problem):
    """Stands for :func:`footfall.solve.contact_problem.solve_from_guess`."""
    missing_accelerations(problem)
    keep_forces(problem)  # the last ones, for Newton to begin with
    if all_held(problem) and hold_all(problem):
        to_contact_frames(problem.contacts, problem.force)
        conclude(problem)
        return 0, 1
    problem.local[0, STEP], problem.local[0, STILL] = problem.step, problem.still
    return DEFERRED, 1


@inlined
def deferred_problem(points, contacts, scratch):
    """A problem that was laid out."""
    kept = scratch.law.problem.local[0]
    return begin_problem(contacts, kept[STEP], kept[STILL], points.memory, points.force, points.mode, scratch.law)


@inlined
def guess_deferred(problem, most):
    """Forces (world frame) of a problem that was laid out, from what is guessed: whether there are any."""
    found, _ = solve_by_guessing(problem, most)
    return found


@inlined
def choose_deferred(problem):
    """Begin with the forces of the last step, on a few points: how many."""
    fetch_forces(problem)
    return choose_few(problem)


@inlined
def lay_out(problem, count):
    """Write the problem of the n chosen points to ``problem.floats``, one number behind the other: the lower triangle
    of the Delassus matrix in (3n, 3n), free motions (3n), targets (n), friction (n), impulses (3n).
    """
    contacts, chosen, floats = problem.contacts, problem.chosen, problem.floats
    rows, moved, n = problem.rows, problem.moved, 3 * count
    for i in range(count):
        p = chosen[i]
        floats[n * n + n + i] = problem.target[p]
        floats[n * n + n + count + i] = contacts.dynamic_friction[p]
        for k in range(3):
            floats[n * n + 3 * i + k] = problem.free[p, k]
            floats[n * n + n + 2 * count + 3 * i + k] = problem.force[p, k]
            for c in range(moved.size):
                moved[c] = 0.0
            wrench_row(contacts, p, k, rows[0])
            push_foot(contacts, contacts.body[p], rows[0], problem.step, moved)
            for j in range(i + 1):
                other = chosen[j]
                b = contacts.body[other]
                for m in range(3):
                    wrench_row(contacts, other, m, rows[1])
                    value = 0.0
                    for c in range(6):
                        value += rows[1, c] * moved[6 * b + c]
                    floats[(3 * i + k) * n + 3 * j + m] = value


@inlined
def take_back(problem, count):
    """The forces that Newton found, and what moves under them: points that joined, if any, and how many there are."""
    contacts, force, n = problem.contacts, problem.force, 3 * count
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
    for i in range(n):
        force[problem.chosen[i // 3], i % 3] = problem.floats[n * n + n + 2 * count + i]
    move(problem)
    return join(problem, problem.still + slowest_motion(problem), count)


@inlined
def guess_from_newton(problem):
    """Set what each point does from Newton's forces, which are kept aside."""
    read_kinds(problem)
    keep_forces(problem)
    missing_accelerations(problem)


@inlined
def conclude_deferred(problem, found):
    """Forces in contact frames and what each point did, of a guess that was found or else those kept aside."""
    if found:
        to_contact_frames(problem.contacts, problem.force)
    else:
        fetch_forces(problem)
        move(problem)
    conclude(problem)
