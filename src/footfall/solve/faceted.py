"""The contact problem that laws share (:mod:`footfall.solve.contact_problem`), on a friction cone with facets."""

from __future__ import annotations

from typing import Any

from footfall.compiled import inlined, kernel, separate
from footfall.solve.contact_guess import (
    MODE,
    all_held,
    end_motions,
    guess,
    hold_all,
    missing_accelerations,
    solve_by_guessing,
)
from footfall.solve.contact_problem import conclude, problem_signature, rooms
from footfall.solve.contact_search import (
    JOININGS,
    choose_few,
    join,
    search_marks,
    slowest_motion,
    solve_by_few,
)
from footfall.solve.contacts import SLIDE
from footfall.solve.delassus import dense_problem, hand_back
from footfall.solve.effort import pivot_cost
from footfall.solve.friction_limits import to_contact_frames, to_world_frames
from footfall.solve.lemke_pivoting import LIMIT, SOLVED
from footfall.solve.pyramid import inside_polygon, solve_pyramid

#: Share of a step's effort that Lemke may take; the rest is for the exact cone, where it does not end.
PIVOTING = 0.5
#: Times the problem is solved while points that begin to slide change from static to dynamic friction.
ROUNDS = 4
#: Part of a point's mobility below which a direction has none: rounding.
IDLE = 1e-12


@inlined
def within_facets(contacts, memory, force, facets):
    """Whether every point's friction (contact frames) is one that the facets allow while it sticks."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        limit = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
        if not inside_polygon(force[p, 0], force[p, 1], limit * force[p, 2], facets):
            return False
    return True


@kernel
def solve_by_pivoting(contacts, step, still, memory, free, target, missing, force, end, facets, work, marks):
    """Lemke's forces (contact frames), and motions: how it ended, and the pivots.

    The problem is that of a few points, to which join those that go in; see :mod:`footfall.solve.contact_search`.
    """
    room, integers = search_marks(contacts, marks)
    count, slack = choose_few(contacts, free, target, room), still + slowest_motion(contacts, free, target)
    left = PIVOTING * contacts.effort[0]
    kept, status, iterations = contacts.effort[0] - left, SOLVED, 0
    for _ in range(JOININGS):
        status, pivots, left = pivot_on_few(
            contacts, step, still, memory, free, target, missing, force, end, facets, room[:count], left, work, integers
        )
        contacts.effort[0] = left + kept
        iterations += pivots
        if status != SOLVED:
            return status, iterations
        count, joined = join(contacts, slack, target, force, end, room, count)
        if not joined:
            return SOLVED, iterations
    return LIMIT, iterations


@inlined
def take_off_idle_friction(w, impulse):
    """Leave out friction along directions in which no force moves anything, as those that a planar robot's rails bear:
    it is not determined, and none is the least. ``w`` (3n, 3n) is the Delassus matrix, ``impulse`` (n, 3).
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
def pivot_on_few(contacts, step, still, memory, free, target, missing, force, end, facets, chosen, budget, work, marks):
    """The same for the chosen points alone, and what is left of the budget."""
    w, dense_free, dense_target, coefficient, impulse, rest = dense_problem(contacts, step, free, target, chosen, work)
    for i in range(chosen.size):
        p = chosen[i]
        slid = memory[p, MODE] == SLIDE
        coefficient[i] = contacts.dynamic_friction[p] if slid else contacts.static_friction[p]
    cost = pivot_cost(max(1, chosen.size) * (facets + 2))
    status, iterations, left = SOLVED, 0, budget
    for _ in range(ROUNDS):
        most = int(left / cost) + 1
        status, pivots = solve_pyramid(w, dense_free, dense_target, coefficient, facets, most, impulse, rest, marks)
        iterations += pivots
        left = max(0.0, left - cost * pivots)
        take_off_idle_friction(w, impulse)
        hand_back(contacts, chosen, impulse, force)
        to_world_frames(contacts, force, missing)
        end_motions(contacts, step, free, missing, end, work)
        again = False
        for i in range(chosen.size):
            p = chosen[i]
            slides = force[p, 2] > 0.0 and (end[p, 0] ** 2 + end[p, 1] ** 2) ** 0.5 > still
            if slides and coefficient[i] != contacts.dynamic_friction[p]:
                coefficient[i] = contacts.dynamic_friction[p]
                again = True
        if not again:
            break
    return status, iterations, left


def faceted_signature() -> Any:
    """What :func:`solve_with_facets` takes and gives."""
    from numba import int64

    contacts, step, still, memory, force, mode, work, marks = problem_signature().args
    return problem_signature().return_type(contacts, step, still, memory, force, mode, int64, work, marks)


@separate(faceted_signature, rare=True)
def solve_with_facets(contacts, step, still, memory, force, mode, facets, work, marks):
    """As :func:`footfall.solve.contact_problem.solve_contacts`, with ``facets`` directions of friction.

    Feet that stand get the least forces that hold them, if the facets allow these; else Lemke pivots.
    """
    missing, friction, free, target, end = rooms(work, contacts.gap.size)
    guess(contacts, memory, free, target, marks, friction)
    missing_accelerations(contacts, step, free, target, missing)
    iterations = 1
    found = all_held(contacts, marks) and hold_all(
        contacts, still, memory, target, missing, marks, friction, force, end, work
    )
    if not found and all_held(contacts, marks):  # feet that feel no more than some motions, as in a plane
        found, _ = solve_by_guessing(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work, 1
        )
    if found:
        to_contact_frames(contacts, force)
        found = within_facets(contacts, memory, force, facets)
    status = SOLVED
    if not found:
        status, iterations = solve_by_pivoting(
            contacts, step, still, memory, free, target, missing, force, end, facets, work, marks
        )
        if status != SOLVED:  # the exact cone's forces are the best there are
            for i in range(contacts.number[0]):
                p = contacts.points[i]
                end[p, 3], end[p, 4], end[p, 5] = 0.0, 0.0, 0.0
            solve_by_few(contacts, step, still, memory, free, target, missing, friction, marks, force, end, work)
    conclude(contacts, still, memory, end, force, mode)
    return 0 if status == SOLVED else 1, iterations
