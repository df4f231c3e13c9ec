"""The contact problem that rigid and prescribed-acceleration laws share, on the exact Coulomb cone.

Motions of the points (velocities at the end of a step, or accelerations less the wanted ones) are ``u = free + step G
f``. Sought are forces with ``0 <= u_n - target _|_ f_n >= 0`` and friction inside the cone; where ``u_t`` is not zero,
friction is on the cone and opposes it.

Most steps look like the one before. So the kind of each point (open, held, sliding with a direction of friction) is
guessed from the last step, the resulting linear problem is solved by the least forces, and the guess is checked and
corrected, a few times. Where that does not converge, the problem of the few points that carry each foot is solved by
other methods (:mod:`footfall.solve.contact_search`), within a budget.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from footfall.compiled import inlined, separate
from footfall.solve.contact_guess import (
    DIRECTION,
    GUESSES,
    GUESSING,
    MODE,
    SIZE,
    all_held,
    guess,
    hold_all,
    missing_accelerations,
    solve_by_guessing,
)
from footfall.solve.contact_search import (
    FEW_GUESSES,
    guesses_missed,
    keep_forces,
    search_floats,
    search_integers,
    solve_by_few,
)
from footfall.solve.contacts import OPEN, SLIDE, STICK, coulomb
from footfall.solve.effort import affordable, guess_cost
from footfall.solve.friction_limits import to_contact_frames
from footfall.solve.problem import NO_MORE, ProblemScratch, problem_scratch, problem_type
from footfall.solve.steady_feet import least_scratch


@inlined
def conclude(problem):
    """Clip rounding errors outside the cone, and remember the mode of each point."""
    contacts, still, memory = problem.contacts, problem.still, problem.memory
    force, end, mode = problem.force, problem.end, problem.mode
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, u, frame = force[p], end[p], contacts.frame[p]
        f[2] = max(0.0, f[2])
        slides = math.sqrt(u[0] * u[0] + u[1] * u[1]) > still
        limit = contacts.dynamic_friction[p] if slides else contacts.static_friction[p]
        f[0], f[1], _ = coulomb(f[0], f[1], limit * f[2])
        mode[p] = OPEN if f[2] == 0.0 else SLIDE if slides else STICK
        memory[p, MODE] = mode[p]
        if mode[p] == SLIDE:
            size = math.sqrt(f[0] * f[0] + f[1] * f[1])
            memory[p, SIZE] = size
            for k in range(3):
                memory[p, DIRECTION + k] = (f[0] * frame[0, k] + f[1] * frame[1, k]) / size if size > 0.0 else 0.0


def solver_signature() -> Any:
    """What :func:`solve_contacts` takes and gives."""
    from numba import int64, types

    return types.UniTuple(int64, 2)(problem_type())


@separate(solver_signature)
def solve_contacts(problem):
    """Forces and modes of all near points, for a law that has written the motions of its problem.

    Gives a law's status, and the number of guesses, pivots, steps and sweeps.
    """
    guess(problem)
    return solve_from_guess(problem)


@inlined
def solve_from_guess(problem):
    """The same from a guess: the kind of each point, and the friction of those that slide."""
    contacts = problem.contacts
    keep_forces(problem)  # the last ones, for Newton to begin with
    missing_accelerations(problem)
    iterations, found = 0, False
    if not guesses_missed(problem):
        iterations = 1
        found = all_held(problem) and hold_all(problem)
        if not found:
            known = contacts.number[1] > 0 and problem.chosen[0] != NO_MORE  # Newton begins with points that do
            most = FEW_GUESSES if known else GUESSES
            most = affordable(GUESSING * contacts.effort[0], guess_cost(problem), most)
            found, iterations = solve_by_guessing(problem, most if known else max(1, most))
        to_contact_frames(contacts, problem.force)
    if not found:
        found, more = solve_by_few(problem)
        iterations += more
    conclude(problem)
    return 0 if found else 1, iterations


class ContactScratch(NamedTuple):
    """Scratch of a law that solves a contact problem and needs no other."""

    problem: ProblemScratch


def contact_scratch(points: int, bodies: int, facets: int = 0, *, lean: bool = False) -> ContactScratch:
    """What :func:`solve_contacts` needs, or the same on a cone with facets; ``lean`` is without pyramids, for GPUs."""
    floats, integers = search_floats(points, facets, lean=lean), search_integers(points, facets, lean=lean)
    return ContactScratch(problem_scratch(points, bodies, floats, integers))


def deferred_scratch(points: int, bodies: int, *, spreads: bool = False) -> ContactScratch:
    """What a problem needs that a law on a GPU lays out and does not solve (:mod:`footfall.solve.contact_lean`); with
    that for the least forces if the law ``spreads`` forces itself.
    """
    problem = problem_scratch(points, bodies, 1, 1)
    return ContactScratch(problem if spreads else problem._replace(least=least_scratch(1)))
