"""The one ladder by which a contact problem is solved, see :mod:`footfall.solve.problem`.

1. Feet that stood in the last step are held: the least-norm forces that stop all points, in closed form
   (:mod:`footfall.solve.held_feet`). Most steps end here.
2. Newton's method on all near points, warm-started from the last forces (:mod:`footfall.solve.newton`).
3. Where Newton does not converge, sweeps of Gauss-Seidel (:mod:`footfall.solve.gauss_seidel`), which approach a
   solution from any start, and Newton again, up to ``TRIES`` times.

A problem that remains unsolved has status 1, and its forces are scaled down so that they add no energy. Laws record
the number of Newton steps and sweeps, and the residual, as the signals ``SIGNALS``.
"""

from __future__ import annotations

import math
from types import MappingProxyType

from numba import types

from footfall.compiled import cold, inlined, kernel
from footfall.compiled.lanes import lane, wait
from footfall.kinds import Bool, Float, Int
from footfall.solve.contacts import ALL, OPEN, SLIDE, STICK, coulomb, to_contact_frames, write_mobility
from footfall.solve.gauss_seidel import find_motions, gauss_seidel
from footfall.solve.held_feet import spread_over_held_feet
from footfall.solve.newton import SOLVED, solve_by_newton
from footfall.solve.problem import ANY, MODE, Problem, known_slip

#: What laws record of the solution: names and units.
SIGNALS = MappingProxyType({"iterations": "", "residual": "of the largest impulse that stops a point alone"})
#: Largest difference between the target normal motions of a foot's points, in units of ``Problem.still``, up to which
#: the closed form is tried: a rigid sole can follow any three targets, but more only if they lie in one plane.
UNEVEN = 1e3
#: Rounding error of a force, as a share of the largest force.
ROUNDING = 1e-10
#: Most turns of Gauss-Seidel followed by Newton, and the sweeps in each turn.
TRIES, SWEEPS = 3, 20
#: Largest relative change of a force in the last sweep at which Gauss-Seidel has converged.
SETTLED = 1e-8


@inlined
def may_hold(problem: Problem) -> Bool:
    """Whether every near point stuck in the last step or enters the ground, and rigid soles can meet the targets."""
    contacts, target = problem.contacts, problem.target
    for b in range(contacts.near.size - 1):
        first, last = contacts.near[b], contacts.near[b + 1]
        for i in range(first, last):
            p = contacts.points[i]
            mode, level = problem.memory[p, MODE], target[contacts.points[first]]
            if target[p] == ANY or mode == SLIDE or (mode == OPEN and problem.free[p, 2] >= target[p]):
                return False
            if last - first > 3 and abs(target[p] - level) > UNEVEN * problem.still:
                return False
    return True


@inlined
def hold(problem: Problem) -> Bool:
    """Write the least-norm forces that hold all points; False, with nothing changed, if they leave the cone."""
    contacts, step, free, target = problem.contacts, problem.step, problem.free, problem.target
    force, end, trial = problem.force, problem.end, problem.wanted
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame = contacts.frame[p]
        x, y, z = -free[p, 0] / step, -free[p, 1] / step, (target[p] - free[p, 2]) / step
        for k in range(3):
            trial[p, k] = frame[0, k] * x + frame[1, k] * y + frame[2, k] * z
    if not spread_over_held_feet(contacts, trial, True, problem.held):
        return False
    to_contact_frames(contacts, trial)
    largest = 0.0
    for i in range(contacts.number[0]):
        f = trial[contacts.points[i]]
        largest = max(largest, abs(f[0]), abs(f[1]), abs(f[2]))
    slack = ROUNDING * largest
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, limit = trial[p], contacts.static_friction[p] * trial[p, 2] + slack
        if f[2] < -slack or f[0] * f[0] + f[1] * f[1] > limit * limit:
            return False
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            force[p, k] = trial[p, k]
        end[p, 0], end[p, 1], end[p, 2] = 0.0, 0.0, target[p]
    return True


@kernel
def limit_work(problem: Problem) -> None:
    """Scale unconverged forces by the factor in [0, 1] that leaves the least motion (Gauss's principle), so that they
    add no energy.
    """
    contacts, free, target = problem.contacts, problem.free, problem.target
    force, end = problem.force, problem.end
    find_motions(problem)
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


@inlined
def conclude(problem: Problem) -> None:
    """Clip rounding errors outside the cone, and remember the mode of each point."""
    contacts, force, end, mode = problem.contacts, problem.force, problem.end, problem.mode
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, u = force[p], end[p]
        f[2] = max(0.0, f[2])
        slides = math.sqrt(u[0] * u[0] + u[1] * u[1]) > problem.still or known_slip(problem, p)
        limit = contacts.dynamic_friction[p] if slides else contacts.static_friction[p]
        f[0], f[1], _ = coulomb(f[0], f[1], limit * f[2])
        mode[p] = OPEN if f[2] == 0.0 else SLIDE if slides else STICK
        problem.memory[p, MODE] = mode[p]


@kernel
def sweep(problem: Problem) -> Float:
    """Run ``SWEEPS`` sweeps of Gauss-Seidel on one lane; returns the relative change in the last sweep."""
    told = problem.newton.block
    write_mobility(problem.contacts, ALL)
    if lane() == 0:
        change, _ = gauss_seidel(problem, SWEEPS, ROUNDING)
        told[0, 0] = change
    wait()
    change = told[0, 0]
    wait()
    return change


@kernel
def try_once(problem: Problem, tries: Int) -> tuple[Bool, Int, Float]:
    """Newton's method, preceded by sweeps of Gauss-Seidel unless this is the first try (``tries`` is 0).

    Returns whether a solution was found, the Newton steps and sweeps taken, and the residual.
    """
    change, sweeps = 1.0, 0
    if tries > 0:
        change, sweeps = sweep(problem), SWEEPS
    residual, steps = solve_by_newton(problem)
    if residual > SOLVED and change <= SETTLED:
        residual = min(change, SOLVED)
        if lane() == 0:
            find_motions(problem)
    return residual <= SOLVED, sweeps + steps, residual


@cold(types.Tuple([types.boolean, types.int64, types.float64]), soon=True)
def search(problem: Problem) -> tuple[Bool, Int, Float]:
    """Newton's method, in turn with Gauss-Seidel where Newton does not converge; returns as :func:`try_once` does."""
    found, iterations, residual = try_once(problem, 0)
    for tries in range(1, TRIES + 1):
        if found:
            break
        found, more, residual = try_once(problem, tries)
        iterations += more
    if not found:
        limit_work(problem)
    return found, iterations, residual


@inlined
def is_searched(problem: Problem) -> Bool:
    """Whether :func:`search` has already run for this step: only on a GPU, where it runs between two calls of a law."""
    return False


@cold(types.Tuple([types.int64, types.int64, types.float64]), soon=True)
def solve_contacts(problem: Problem) -> tuple[Int, Int, Float]:
    """Forces and modes of all near points, for a law that has written the motions of its problem.

    Returns a law's status, the Newton steps and sweeps taken, and the residual (see :mod:`footfall.solve.newton`); the
    last two are zero where the closed form holds all feet.
    """
    found, iterations, residual = False, 0, 0.0
    if not is_searched(problem) and may_hold(problem):
        found = hold(problem)
    if not found:
        found, iterations, residual = search(problem)
    conclude(problem)
    return 0 if found else 1, iterations, residual
