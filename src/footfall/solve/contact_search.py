"""Solving the contact problem where guessing does not end: Newton from a pyramid, then Gauss-Seidel.

See :mod:`footfall.solve.contact_problem`, whose names and shapes these are.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel, separate
from footfall.solve.cone_newton import solve_cone
from footfall.solve.contact_guess import (
    TOLERANCE,
    end_motions,
    missing_accelerations,
    solve_by_guessing,
    solver_signature,
)
from footfall.solve.contacts import OPEN, SLIDE, STICK, coulomb
from footfall.solve.delassus import dense_problem, hand_back
from footfall.solve.friction_limits import to_contact_frames, to_world_frames
from footfall.solve.gauss_seidel import gauss_seidel
from footfall.solve.minimum_norm import SCRATCH_ROWS

#: Sweeps of Gauss-Seidel between two guesses, and how often.
SWEEPS, ROUNDS = 100, 5
#: What is not converged to this is said to be unsolved.
UNSOLVED = 1e-8


@inlined
def dense_rows(contacts, work):
    """The rows of the scratch space in which the problem may be written out."""
    return 4 * contacts.mobility.shape[0] + SCRATCH_ROWS, work.shape[0] - 5 * contacts.gap.size


@kernel
def keep_in_cone(contacts, force):
    """Make any forces a fair start for Gauss-Seidel."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 2] = max(0.0, force[p, 2])
        force[p, 0], force[p, 1], _ = coulomb(force[p, 0], force[p, 1], contacts.dynamic_friction[p] * force[p, 2])


@kernel
def read_kinds(contacts, still, target, force, end, kind, friction):
    """What each point seems to do, from forces and motions (contact frames) that are nearly right.

    A point that touches without a force is held too: other forces may do the same and load it.
    """
    largest = 0.0
    for i in range(contacts.number[0]):
        largest = max(largest, force[contacts.points[i], 2])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, u, frame = force[p], end[p], contacts.frame[p]
        size = (f[0] * f[0] + f[1] * f[1]) ** 0.5
        speed = (u[0] * u[0] + u[1] * u[1]) ** 0.5
        if f[2] <= 1e-6 * largest:
            kind[p] = STICK if u[2] - target[p] <= still and speed <= still else OPEN
        elif size < 0.9999 * contacts.dynamic_friction[p] * f[2]:
            kind[p] = STICK
        else:
            kind[p] = SLIDE
            friction[p, 3] = size
            for k in range(3):
                friction[p, k] = (f[0] * frame[0, k] + f[1] * frame[1, k]) / size if size > 0.0 else 0.0


@kernel
def guess_from_forces(contacts, step, still, memory, free, target, missing, friction, kind, force, end, work):
    """Replace forces that are nearly right (contact frames) by those of a guess that they suggest and that holds.

    Gives whether there is one, and how many were tried; if there is none, nothing has changed but ``end``, which is
    that of the forces either way.
    """
    to_world_frames(contacts, force, missing)
    end_motions(contacts, step, free, missing, end, work)
    read_kinds(contacts, still, target, force, end, kind, friction)
    for i in range(contacts.number[0]):  # aside, in case the guess misses
        p = contacts.points[i]
        for k in range(3):
            end[p, 3 + k] = force[p, k]
    missing_accelerations(contacts, step, free, target, missing)
    found, guesses = solve_by_guessing(
        contacts, step, still, memory, free, target, missing, friction, kind, force, end, work
    )
    if found:
        to_contact_frames(contacts, force)
    else:
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            for k in range(3):
                force[p, k] = end[p, 3 + k]
        to_world_frames(contacts, force, missing)
        end_motions(contacts, step, free, missing, end, work)
    return found, guesses


@separate(solver_signature)
def solve_by_newton(contacts, step, still, memory, free, target, missing, friction, kind, force, end, work):
    """Newton from a pyramid, and a guess from there, which spreads the forces. Gives whether it is solved, and pivots,
    steps and guesses.
    """
    room = dense_rows(contacts, work)
    who, w, dense_free, dense_target, coefficient, impulse, rest = dense_problem(
        contacts, step, free, target, room, work
    )
    for i in range(coefficient.size):
        p = int(who[i])
        coefficient[i] = contacts.dynamic_friction[p]
        for k in range(3):
            impulse[i, k] = end[p, 3 + k]
    marks = kind[contacts.gap.size :]
    found, iterations = solve_cone(w, dense_free, dense_target, coefficient, impulse, rest, marks)
    hand_back(contacts, who, impulse, force)
    if found:
        _, guesses = guess_from_forces(
            contacts, step, still, memory, free, target, missing, friction, kind, force, end, work
        )
        iterations += guesses
    return found, iterations


@separate(solver_signature)
def solve_by_sweeping(contacts, step, still, memory, free, target, missing, friction, kind, force, end, work):
    """Gauss-Seidel, which comes near from anywhere, and guesses from there, which hit. Gives whether it is solved, and
    sweeps and guesses.
    """
    keep_in_cone(contacts, force)
    iterations = 0
    for _ in range(ROUNDS):
        change, sweeps = gauss_seidel(contacts, free, target, step, force, SWEEPS, TOLERANCE, end, work)
        found, guesses = guess_from_forces(
            contacts, step, still, memory, free, target, missing, friction, kind, force, end, work
        )
        iterations += sweeps + guesses
        if found or change <= UNSOLVED:
            return True, iterations
    return False, iterations
