"""The contact problem that laws share (:mod:`footfall.solve.problem`), on a polyhedral friction cone.

The common ladder first finds the forces on Coulomb's exact cone. If no point slides and these forces lie inside the
polyhedral cone, they are the solution. Otherwise Lemke's method solves the problem of the points that they load;
points that would then enter the ground are added, and the problem is solved again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import inlined, kernel, reference_to, separate
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Vector
from footfall.solve.contact_problem import conclude, hold, may_hold, search, solver_signature
from footfall.solve.contacts import SLIDE
from footfall.solve.gauss_seidel import find_motions, push_foot, wrench_row
from footfall.solve.lemke_pivoting import LIMIT, SOLVED
from footfall.solve.newton import SOLVED as ACCURATE
from footfall.solve.problem import ANY, MODE, Problem
from footfall.solve.pyramid import Dense, inside_polygon, pyramid_floats, pyramid_integers, solve_pyramid

#: Most points that Lemke's method takes: its work grows with the third power of their number.
MOST = 32
#: Iteration limits: solutions while points that begin to slide change from static to dynamic friction, and solutions
#: while points that enter the ground are added.
ROUNDS, JOININGS = 4, 12
#: Mobility along a direction, as a share of the point's largest, below which it is a rounding error.
IDLE = 1e-12


class FacetScratch(NamedTuple):
    """Scratch of Lemke's method for at most n = MOST points, whose number changes from step to step."""

    chosen: Ints  # (n,) the points that carry the robot
    floats: Vector
    integers: Ints


def facet_scratch(points: int, facets: int) -> FacetScratch:
    """The arrays of :class:`FacetScratch`."""
    n = min(points, MOST)
    floats = 9 * n * n + 8 * n + pyramid_floats(n, facets)
    integers = pyramid_integers(n, facets)
    return FacetScratch(np.zeros(n, dtype=np.int64), np.zeros(floats), np.zeros(integers, dtype=np.int64))


@inlined
def dense_problem(problem: Problem, scratch: FacetScratch, count: Int) -> Dense:
    """The problem of the first ``count`` chosen points with its explicit Delassus matrix."""
    space, n = scratch.floats, count
    a = 9 * n * n
    b, c, d, e = a + 3 * n, a + 4 * n, a + 5 * n, a + 8 * n
    dense = Dense(
        space[:a].reshape((3 * n, 3 * n)),
        space[a:b].reshape((n, 3)),
        space[b:c],
        space[c:d],
        space[d:e].reshape((n, 3)),
        space[e:],
        scratch.integers,
    )
    write_out(problem, scratch.chosen, dense)
    return dense


@kernel
def write_out(problem: Problem, chosen: Ints, dense: Dense) -> None:
    """Fill a dense problem; points that slid in the last step have dynamic friction."""
    contacts, w, rows, moved = problem.contacts, dense.matrix, problem.rows, problem.moved
    for i in range(dense.target.size):
        p = chosen[i]
        slid = problem.memory[p, MODE] == SLIDE
        dense.friction[i] = contacts.dynamic_friction[p] if slid else contacts.static_friction[p]
        dense.target[i] = problem.target[p]
        for k in range(3):
            dense.free[i, k] = problem.free[p, k]
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
                    w[3 * i + k, 3 * j + m], w[3 * j + m, 3 * i + k] = value, value


@inlined
def within_facets(problem: Problem, facets: Int) -> Bool:
    """Whether no point slides and the friction of every point lies inside the polyhedral cone."""
    contacts, memory, force, end = problem.contacts, problem.memory, problem.force, problem.end
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        slides = (end[p, 0] ** 2 + end[p, 1] ** 2) ** 0.5 > problem.still
        limit = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
        allowed = inside_polygon(force[p, 0], force[p, 1], limit * force[p, 2], facets)
        if force[p, 2] > 0.0 and (slides or not allowed):
            return False
    return True


@inlined
def choose_loaded(problem: Problem, chosen: Ints) -> Int:
    """List the points by falling load, as many as fit into ``chosen``; returns their number."""
    contacts, count = problem.contacts, 0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if problem.force[p, 2] <= 0.0:
            continue
        place = min(count, chosen.size)
        while place > 0 and problem.force[chosen[place - 1], 2] < problem.force[p, 2]:
            if place < chosen.size:
                chosen[place] = chosen[place - 1]
            place -= 1
        if place < chosen.size:
            chosen[place] = p
            count = min(count + 1, chosen.size)
    return count


@inlined
def join(problem: Problem, chosen: Ints, count: Int) -> Int:
    """Add, for each body, the point that enters the ground fastest, if it is new; returns the new number of points."""
    contacts, end, target = problem.contacts, problem.end, problem.target
    largest = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if target[p] != ANY:
            largest = max(largest, abs(problem.free[p, 2]), abs(target[p]))
    for b in range(contacts.near.size - 1):
        worst, miss = -1, problem.still + ACCURATE * largest
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if target[p] - end[p, 2] > miss:
                worst, miss = p, target[p] - end[p, 2]
        for i in range(count):
            if chosen[i] == worst:
                worst = -1
        if worst >= 0 and count < chosen.size:
            chosen[count] = worst
            count += 1
    return count


@inlined
def remove_idle_friction(w: Matrix, impulse: Matrix) -> None:
    """Remove friction along directions without mobility, such as across the plane of a planar robot: any friction there
    is a solution, and zero is the least. ``w`` (3n, 3n) is the Delassus matrix, ``impulse`` (n, 3).
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


@kernel
def pivot(problem: Problem, scratch: FacetScratch, facets: Int, count: Int) -> tuple[Int, Int]:
    """Write Lemke's forces on the first ``count`` chosen points, and all motions; returns the status and the pivots."""
    contacts, chosen, force, end = problem.contacts, scratch.chosen, problem.force, problem.end
    dense = dense_problem(problem, scratch, count)
    status, iterations = SOLVED, 0
    for _ in range(ROUNDS):
        status, pivots = solve_pyramid(dense, facets)
        iterations += pivots
        remove_idle_friction(dense.matrix, dense.impulse)
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
        for i in range(count):
            for k in range(3):
                force[chosen[i], k] = dense.impulse[i, k]
        find_motions(problem)
        again = False
        for i in range(count):
            p = chosen[i]
            slides = force[p, 2] > 0.0 and (end[p, 0] ** 2 + end[p, 1] ** 2) ** 0.5 > problem.still
            if slides and dense.friction[i] != contacts.dynamic_friction[p]:
                dense.friction[i] = contacts.dynamic_friction[p]
                again = True
        if not again:
            break
    return status, iterations


@kernel
def pivot_and_join(problem: Problem, scratch: FacetScratch, facets: Int) -> tuple[Int, Int]:
    """Lemke's forces on the loaded points, repeated with further points until none enters the ground."""
    status, iterations, count = SOLVED, 0, choose_loaded(problem, scratch.chosen)
    for _ in range(JOININGS):
        status, pivots = pivot(problem, scratch, facets, count)
        iterations += pivots
        before, count = count, join(problem, scratch.chosen, count)
        if status != SOLVED or count == before:
            return status, iterations
    return LIMIT, iterations


def faceted_signature() -> Any:
    """What :func:`solve_with_facets` takes and returns."""
    from numba import int64

    common = solver_signature()
    return common.return_type(*common.args, reference_to(facet_scratch(1, 3)), int64)


@separate(faceted_signature, rare=True)
def solve_with_facets(problem: Problem, scratch: FacetScratch, facets: Int) -> tuple[Int, Int, Float]:
    """As :func:`footfall.solve.contact_problem.solve_contacts`, with ``facets`` directions of friction.

    A solution by pivoting is exact up to rounding; its residual is reported as zero.
    """
    status, iterations, residual = SOLVED, 0, 0.0
    if not (may_hold(problem) and hold(problem) and within_facets(problem, facets)):
        found, iterations, residual = search(problem)
        if not (found and within_facets(problem, facets)):
            status, pivots = pivot_and_join(problem, scratch, facets)
            iterations += pivots
            residual = 0.0
            if status != SOLVED:  # fall back on the forces of the exact cone
                _, _, residual = search(problem)
    conclude(problem)
    return 0 if status == SOLVED else 1, iterations, residual


def refuse_facets(problem, scratch, facets):
    """Replacement of :func:`solve_with_facets` on a GPU: pivoting needs more memory than a lane has."""
    return 1, 0, 0.0


solve_with_facets.on_gpu = refuse_facets  # type: ignore[attr-defined]
