"""The contact problem that laws share (:mod:`footfall.solve.contact_problem`), on a friction cone with facets."""

from __future__ import annotations

from typing import Any

from footfall.compiled import inlined, kernel, separate
from footfall.solve.chosen_points import choose_few, join, mark_end
from footfall.solve.contact_guess import (
    MODE,
    all_held,
    guess,
    hold_all,
    missing_accelerations,
    solve_by_guessing,
)
from footfall.solve.contact_problem import conclude, solver_signature
from footfall.solve.contact_search import (
    JOININGS,
    move,
    slowest_motion,
    solve_by_few,
)
from footfall.solve.contacts import SLIDE
from footfall.solve.delassus import dense_problem, hand_back
from footfall.solve.effort import pivot_cost
from footfall.solve.friction_limits import to_contact_frames
from footfall.solve.lemke_pivoting import LIMIT, SOLVED
from footfall.solve.pyramid import inside_polygon, solve_pyramid

#: Share of a step's effort that Lemke's method may take; the rest is for the exact cone, where that fails.
PIVOTING = 0.5
#: How often the problem is solved while points that begin to slide change from static to dynamic friction.
ROUNDS = 4
#: Share of a point's mobility below which a direction has none but rounding.
IDLE = 1e-12


@inlined
def within_facets(problem, facets):
    """Whether the facets allow the friction of every point while it sticks."""
    contacts, memory, force = problem.contacts, problem.memory, problem.force
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        limit = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
        if not inside_polygon(force[p, 0], force[p, 1], limit * force[p, 2], facets):
            return False
    return True


@kernel
def solve_by_pivoting(problem, facets):
    """Lemke's forces, and motions: how it ended, and the pivots.

    The problem is that of a few points, which are joined by points that enter the ground; see
    :mod:`footfall.solve.contact_search`.
    """
    contacts = problem.contacts
    count, slack = choose_few(problem, False), problem.still + slowest_motion(problem)
    left = PIVOTING * contacts.effort[0]
    kept, status, iterations = contacts.effort[0] - left, SOLVED, 0
    for _ in range(JOININGS):
        status, pivots, left = pivot_on_few(problem, facets, count, left)
        contacts.effort[0] = left + kept
        iterations += pivots
        if status != SOLVED:
            return status, iterations
        count, joined = join(problem, slack, count)
        if not joined:
            mark_end(problem, count)
            return SOLVED, iterations
    return LIMIT, iterations


@inlined
def take_off_idle_friction(w, impulse):
    """Remove friction along directions in which no force moves anything, such as those that a planar robot's rails
    bear: it is not determined, and zero is the least. ``w`` (3n, 3n) is the Delassus matrix, ``impulse`` (n, 3).
    """
    for i in range(impulse.shape[0]):
        k = 3 * i
        a, b, c = w[k, k], w[k, k + 1], w[k + 1, k + 1]
        none = IDLE * max(a, c, w[k + 2, k + 2])
        half, root = 0.5 * (a + c), (0.25 * (a - c) ** 2 + b * b) ** 0.5
        least = half - root
        if least > none:
            continue
        if half + root <= none:
            impulse[i, 0], impulse[i, 1] = 0.0, 0.0
            continue
        x, y = b, least - a  # the eigenvector of the least eigenvalue, from the longer of two columns
        if x * x + y * y < b * b + (least - c) ** 2:
            x, y = least - c, b
        share = (x * impulse[i, 0] + y * impulse[i, 1]) / (x * x + y * y)
        impulse[i, 0] -= share * x
        impulse[i, 1] -= share * y


@inlined
def pivot_on_few(problem, facets, count, budget):
    """The same for the first ``count`` chosen points alone, and what is left of the budget."""
    contacts, chosen, force, end = problem.contacts, problem.chosen, problem.force, problem.end
    dense = dense_problem(problem, count)
    for i in range(count):
        p = chosen[i]
        slid = problem.memory[p, MODE] == SLIDE
        dense.friction[i] = contacts.dynamic_friction[p] if slid else contacts.static_friction[p]
    cost = pivot_cost(max(1, count) * (facets + 2))
    status, iterations, left = SOLVED, 0, budget
    for _ in range(ROUNDS):
        most = int(left / cost) + 1
        status, pivots = solve_pyramid(dense, facets, most)
        iterations += pivots
        left = max(0.0, left - cost * pivots)
        take_off_idle_friction(dense.matrix, dense.impulse)
        hand_back(problem, dense.impulse)
        move(problem)
        again = False
        for i in range(count):
            p = chosen[i]
            slides = force[p, 2] > 0.0 and (end[p, 0] ** 2 + end[p, 1] ** 2) ** 0.5 > problem.still
            if slides and dense.friction[i] != contacts.dynamic_friction[p]:
                dense.friction[i] = contacts.dynamic_friction[p]
                again = True
        if not again:
            break
    return status, iterations, left


def faceted_signature() -> Any:
    """What :func:`solve_with_facets` takes and gives."""
    from numba import int64

    common = solver_signature()
    return common.return_type(*common.args, int64)


@separate(faceted_signature, rare=True)
def solve_with_facets(problem, facets):
    """As :func:`footfall.solve.contact_problem.solve_contacts`, with ``facets`` directions of friction.

    Standing feet get the least forces that hold them, if the facets allow these; otherwise Lemke's method solves it.
    """
    guess(problem)
    missing_accelerations(problem)
    iterations = 1
    found = all_held(problem) and hold_all(problem)
    if not found and all_held(problem):  # feet that feel no more than some motions, as in a plane
        found, _ = solve_by_guessing(problem, 1)
    if found:
        to_contact_frames(problem.contacts, problem.force)
        found = within_facets(problem, facets)
    status = SOLVED
    if not found:
        status, iterations = solve_by_pivoting(problem, facets)
        if status != SOLVED:  # the exact cone's forces are the best there are
            for i in range(problem.contacts.number[0]):
                p = problem.contacts.points[i]
                problem.end[p, 3], problem.end[p, 4], problem.end[p, 5] = 0.0, 0.0, 0.0
            solve_by_few(problem)
    conclude(problem)
    return 0 if status == SOLVED else 1, iterations
