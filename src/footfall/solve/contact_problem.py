"""The contact problem that rigid and prescribed-acceleration laws share, on the exact Coulomb cone.

Motions of the points (velocities at the end of a step, or accelerations less those that are wanted) are
``u = free + step G f``. Wanted are forces with ``0 <= u_n - target _|_ f_n >= 0``, friction inside the cone, and, where
``u_t`` is not zero, on the cone and against it.

Most steps look like the one before. So the kind of each point (open, held, sliding, with the direction of its friction)
is guessed from the last step, the linear problem that follows is solved by the least forces, and the answer checked;
what is found wrong is changed, a few times. Where that does not end, the problem of a few points that carry each foot
is solved by other means (:mod:`footfall.solve.contact_search`), within a budget.
"""

from __future__ import annotations

import math
from typing import Any

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
from footfall.solve.contact_search import guesses_missed, search_floats, search_integers, solve_by_few
from footfall.solve.contacts import OPEN, SLIDE, STICK, coulomb, coupled_signature
from footfall.solve.effort import affordable, guess_cost
from footfall.solve.friction_limits import to_contact_frames
from footfall.solve.minimum_norm import BLOCKS, SCRATCH_ROWS


@inlined
def conclude(contacts, still, memory, end, force, mode):
    """Clip what rounding left outside the cone, and remember what each point did."""
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


def problem_signature() -> Any:
    """What :func:`solve_contacts` takes and gives."""
    from numba import float64, int64, types

    contacts, _, matrix, _, integers, *_ = coupled_signature().args
    result = types.UniTuple(int64, 2)
    return result(contacts, float64, float64, matrix, matrix, integers, matrix, integers)


@separate(problem_signature)
def solve_contacts(contacts, step, still, memory, force, mode, work, marks):
    """Forces (P, 3) in contact frames and modes of all near points. ``free`` and ``target`` are in :func:`motions`.

    ``step`` is what a unit of acceleration adds to a motion, ``still`` the size below which a motion is none. Gives a
    law's status, and how many guesses, pivots, steps and sweeps it took.
    """
    _, friction, free, target, _ = rooms(work, contacts.gap.size)
    guess(contacts, memory, free, target, marks, friction)
    return solve_from_guess(contacts, step, still, memory, force, mode, work, marks)


@inlined
def solve_from_guess(contacts, step, still, memory, force, mode, work, marks):
    """The same from a guess: the kind of each point in ``marks``, the friction of those that slide in :func:`rooms`."""
    missing, friction, free, target, end = rooms(work, contacts.gap.size)
    for i in range(contacts.number[0]):  # the last forces, for Newton to begin with
        p = contacts.points[i]
        for k in range(3):
            end[p, 3 + k] = force[p, k]
    missing_accelerations(contacts, step, free, target, missing)
    iterations, found = 0, False
    if not guesses_missed(contacts, memory):
        iterations = 1
        found = all_held(contacts, marks) and hold_all(
            contacts, still, memory, target, missing, marks, friction, force, end, work
        )
        if not found:
            cost = guess_cost(contacts)
            most = max(1, affordable(GUESSING * contacts.effort[0], cost, GUESSES))
            found, iterations = solve_by_guessing(
                contacts, step, still, memory, free, target, missing, friction, marks, force, end, work, most
            )
            contacts.effort[0] -= cost * iterations
        to_contact_frames(contacts, force)
    if not found:
        found, more = solve_by_few(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work
        )
        iterations += more
    conclude(contacts, still, memory, end, force, mode)
    return 0 if found else 1, iterations


@inlined
def motions(work, points):
    """Where a law puts the free motions (P, 3) of the points, in contact frames, and their targets (P,)."""
    _, _, free, target, _ = rooms(work, points)
    return free, target


@inlined
def rooms(work, points):
    """The last rows of the scratch space: missing accelerations (world frame), friction of sliding points (unit vector,
    world frame, and size), free motions, targets, and motions at the end.
    """
    rows = work.shape[0] - 5 * points
    return (
        work[rows : rows + points],
        work[rows + points : rows + 2 * points],
        work[rows + 2 * points : rows + 3 * points],
        work[rows + 3 * points : rows + 4 * points, 0],
        work[rows + 4 * points :],
    )


def work_rows(points: int, bodies: int, facets: int = 0, *, lean: bool = False) -> int:
    """Rows of scratch space that :func:`solve_contacts` needs, or the same on a cone with facets.

    ``lean`` is without pyramids, for GPUs.
    """
    floats = search_floats(points, facets, lean=lean)
    return BLOCKS * 6 * bodies + SCRATCH_ROWS + 5 * points + -(-floats // (6 * bodies))


def marks_size(points: int, facets: int = 0) -> int:
    """Integers of scratch space that :func:`solve_contacts` needs, or the same on a cone with facets."""
    return points + search_integers(points, facets)
