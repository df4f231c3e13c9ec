"""The contact problem of :mod:`footfall.solve.contact_problem` solved with little code and space, for GPUs.

The same ways, without pyramids and Gauss-Seidel: a guess from the last step; Newton on the few points that carry a
foot, softened where it stalls; a guess from its forces. Each kernel is called in one place, for what is called in three
is compiled three times.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined, kernel
from footfall.solve.contact_guess import all_held, hold_all, missing_accelerations, solve_by_guessing
from footfall.solve.contact_problem import conclude, rooms
from footfall.solve.contact_search import (
    ENOUGH,
    choose_few,
    join,
    move,
    read_kinds,
    search_marks,
    slowest_motion,
)
from footfall.solve.delassus import dense_problem, hand_back
from footfall.solve.friction_limits import to_contact_frames
from footfall.solve.newton_on_cone import ACCEPTED, EAGER, TOLERANCE, cone_newton

# Neighbouring lanes wait for the slowest of them, so a step may cost less here than on a core.
#: Guesses, times that points may join, and steps of Newton and of each softened problem.
GUESSES, JOININGS, NEAR, SOFT_STEPS = 12, 4, 10, 12
#: Softness of one problem after the other.
SOFT = (1e-4, 1e-5, 1e-6)


@kernel
def newton_lean(w, free, target, friction, impulse, warm, work):
    """Newton, then on softened problems; see :mod:`footfall.solve.newton_on_cone`. Gives whether it is solved."""
    n = 3 * friction.size
    best, room, lowest = work[:n], work[n:], math.inf
    for turn in range(len(SOFT) + 1):
        eager, soft, limit = 1.0, 0.0, NEAR
        if turn > 0:
            eager, soft, limit = EAGER, SOFT[turn - 1], SOFT_STEPS
            if turn == 1 and not warm:
                for i in range(n):
                    impulse[i // 3, i % 3] = 0.0
        error, _ = cone_newton(w, free, target, friction, impulse, eager, soft, TOLERANCE, limit, room)
        easy = error < 0.1 * lowest
        if error < lowest:
            lowest = error
            for i in range(n):
                best[i] = impulse[i // 3, i % 3]
        if lowest <= ACCEPTED or (turn > 0 and lowest <= ENOUGH and not easy):
            break
    for i in range(n):
        impulse[i // 3, i % 3] = best[i] if lowest < math.inf else 0.0
    return lowest <= ENOUGH


@kernel
def solve_few(contacts, step, still, free, target, missing, kind, force, end, work):
    """Forces (contact frames) from those that ``end`` keeps: whether they solve the problem. ``end`` is theirs."""
    chosen, _ = search_marks(contacts, kind)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            force[p, k] = end[p, 3 + k]
    count, slack = choose_few(contacts, free, target, chosen), still + slowest_motion(contacts, free, target)
    for turn in range(JOININGS):
        few = chosen[:count]
        w, dense_free, dense_target, coefficient, impulse, rest = dense_problem(contacts, step, free, target, few, work)
        for i in range(few.size):
            coefficient[i] = contacts.dynamic_friction[few[i]]
            for k in range(3):
                impulse[i, k] = force[few[i], k]
        found = newton_lean(w, dense_free, dense_target, coefficient, impulse, turn > 0, rest)
        hand_back(contacts, few, impulse, force)
        move(contacts, step, free, force, missing, end, work)
        if not found:
            return False
        count, joined = join(contacts, slack, target, force, end, chosen, count)
        if not joined:
            return True
    return False


@inlined
def solve_lean(contacts, step, still, memory, force, mode, work, marks):
    """Stands for :func:`footfall.solve.contact_problem.solve_from_guess`."""
    missing, friction, free, target, end = rooms(work, contacts.gap.size)
    missing_accelerations(contacts, step, free, target, missing)
    for i in range(contacts.number[0]):  # the last forces, for Newton to begin with
        p = contacts.points[i]
        for k in range(3):
            end[p, 3 + k] = force[p, k]
    held = all_held(contacts, marks) and hold_all(
        contacts, still, memory, target, missing, marks, friction, force, end, work
    )
    iterations, found, solved = 1, held, held
    for attempt in range(0 if held else 2):
        if attempt == 1:
            solved = solve_few(contacts, step, still, free, target, missing, marks, force, end, work)
            read_kinds(contacts, still, target, force, end, marks, friction)
            for i in range(contacts.number[0]):  # aside, in case the guess misses
                p = contacts.points[i]
                for k in range(3):
                    end[p, 3 + k] = force[p, k]
            missing_accelerations(contacts, step, free, target, missing)
        found, guesses = solve_by_guessing(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work, GUESSES
        )
        iterations += guesses
        if found:
            break
    if found:
        to_contact_frames(contacts, force)
    else:
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            for k in range(3):
                force[p, k] = end[p, 3 + k]
        move(contacts, step, free, force, missing, end, work)
    conclude(contacts, still, memory, end, force, mode)
    return 0 if found or solved else 1, iterations
