"""The contact problem that rigid and prescribed-acceleration laws share, on the exact Coulomb cone.

Motions of the points (velocities at the end of a step, or accelerations less those that are wanted) are
``u = free + step G f``. Wanted are forces with ``0 <= u_n - target _|_ f_n >= 0``, friction inside the cone, and, where
``u_t`` is not zero, on the cone and against it.

Most steps look like the one before. So the kind of each point (open, held, sliding, with the direction of its friction)
is guessed from the last step, the linear problem that follows is solved by the least forces, and the answer checked;
what is found wrong is changed, a few times. Where that does not end, Newton's method takes over from the solution on a
pyramid (:mod:`footfall.solve.alart_curnier`), and where that does not either, Gauss-Seidel.
"""

from __future__ import annotations

from typing import Any

from footfall.compiled import apart, inlined, kernel
from footfall.contact.base import OPEN, SLIDE, STICK, coupled_signature
from footfall.contact.friction import coulomb
from footfall.solve.alart_curnier import cone_floats, cone_marks, solve_cone
from footfall.solve.cone import gauss_seidel
from footfall.solve.delassus import ANY, dense_floats, dense_problem, hand_back
from footfall.solve.friction import add_friction, spread_with_friction, to_contact_frames, to_world_frames
from footfall.solve.minimum_norm import SCRATCH_ROWS, resultant, spread_over_flat_feet

#: Guesses that may be mended before Newton takes over.
GUESSES = 40
#: Sweeps of Gauss-Seidel between two guesses, and how often.
SWEEPS, ROUNDS = 100, 5
#: Share of the largest force that may still change.
TOLERANCE = 1e-10
#: What is not converged to this is said to be unsolved.
UNSOLVED = 1e-8
# What a point remembers: what it did, and the size and direction of its friction.
MODE, SIZE, DIRECTION = 0, 1, 2
MEMORY_SIZE = 5


@inlined
def guess(contacts, memory, free, target, kind, friction):
    """What each point will do: what it did, unless it was open and would now go into the ground."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        last = int(memory[p, MODE])
        kind[p] = last
        if last == OPEN and free[p, 2] < target[p]:
            kind[p] = STICK
        elif target[p] == ANY:
            kind[p] = OPEN
        if last == SLIDE:
            friction[p, 3] = memory[p, SIZE]
            for k in range(3):
                friction[p, k] = memory[p, DIRECTION + k]


@inlined
def missing_accelerations(contacts, step, free, target, missing):
    """What would stop every point: no slip, and the least normal motion allowed, world frame."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame = contacts.frame[p]
        x, y, z = -free[p, 0] / step, -free[p, 1] / step, (target[p] - free[p, 2]) / step
        for k in range(3):
            missing[p, k] = frame[0, k] * x + frame[1, k] * y + frame[2, k] * z


@kernel
def end_motions(contacts, step, free, force, end, work):
    """Motions (P, 3) under forces in the world frame, in contact frames."""
    wrench, moved = work[0], work[1]
    feet = contacts.near.size - 1
    for b in range(feet):
        resultant(contacts, b, force, wrench[6 * b : 6 * b + 6])
    for b in range(feet):
        if contacts.near[b + 1] == contacts.near[b]:
            continue
        for k in range(6):
            value = 0.0
            for c in range(6 * feet):
                if wrench[c] != 0.0:
                    value += contacts.mobility[6 * b + k, c] * wrench[c]
            moved[k] = value
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            r, frame = contacts.arm[p], contacts.frame[p]
            x = moved[0] + moved[4] * r[2] - moved[5] * r[1]
            y = moved[1] + moved[5] * r[0] - moved[3] * r[2]
            z = moved[2] + moved[3] * r[1] - moved[4] * r[0]
            for k in range(3):
                end[p, k] = free[p, k] + step * (frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z)


@inlined
def mend(contacts, still, memory, target, end, kind, friction, force):
    """Change what is wrong with a guess, given its forces (world frame, with friction); True if anything was.

    A point that would go in is held, one that is pulled is let go (the worst first), one that would need more friction
    than there is slides, one that would slide the way its friction pushes sticks, and friction turns against the slip.
    """
    wrong = False
    hardest, pull = -1, 0.0
    largest = 0.0
    for i in range(contacts.number[0]):
        f = force[contacts.points[i]]
        largest = max(largest, abs(f[0]), abs(f[1]), abs(f[2]))
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, f, u = contacts.frame[p], force[p], end[p]
        if kind[p] == OPEN:
            if u[2] < target[p] - still:
                kind[p] = STICK
                wrong = True
            continue
        x = frame[0, 0] * f[0] + frame[0, 1] * f[1] + frame[0, 2] * f[2]
        y = frame[1, 0] * f[0] + frame[1, 1] * f[1] + frame[1, 2] * f[2]
        z = frame[2, 0] * f[0] + frame[2, 1] * f[1] + frame[2, 2] * f[2]
        if z < -TOLERANCE * largest:
            if z < pull:
                hardest, pull = p, z
        elif kind[p] == STICK:
            limit = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
            if x * x + y * y > (limit * z + TOLERANCE * largest) ** 2:
                size = (x * x + y * y) ** 0.5
                kind[p] = SLIDE
                wrong = True
                friction[p, 3] = contacts.dynamic_friction[p] * z
                for k in range(3):
                    friction[p, k] = (x * frame[0, k] + y * frame[1, k]) / size
        else:
            speed = (u[0] * u[0] + u[1] * u[1]) ** 0.5
            if speed <= still:
                continue
            turn, along = 0.0, 0.0
            for k in range(3):
                against = -(u[0] * frame[0, k] + u[1] * frame[1, k]) / speed
                along += against * friction[p, k]
                turn = max(turn, abs(against - friction[p, k]))
            if along < 0.0:
                kind[p] = STICK
                wrong = True
            elif turn > 1e-9:
                wrong = True
                for k in range(3):
                    friction[p, k] = -(u[0] * frame[0, k] + u[1] * frame[1, k]) / speed
    if hardest >= 0:
        kind[hardest] = OPEN
        wrong = True
    return wrong


@inlined
def all_held(contacts, kind):
    for i in range(contacts.number[0]):
        if kind[contacts.points[i]] != STICK:
            return False
    return True


@inlined
def hold_all(contacts, still, memory, target, missing, kind, friction, force, end, work):
    """Forces (world frame) of flat feet that stand: every point is held. If that is not so, False, and ``kind`` mended.

    The common case, kept short: there is no friction to adapt, and the points move as they are told to.
    """
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            force[p, k] = missing[p, k]
        end[p, 0], end[p, 1], end[p, 2] = 0.0, 0.0, target[p]
    if not spread_over_flat_feet(contacts, force, work):
        return False
    return not mend(contacts, still, memory, target, end, kind, friction, force)


def solver_signature() -> Any:
    """The common signature of the ways to solve."""
    from numba import boolean, float64, int64, types

    contacts, _, matrix, _, integers, *_ = coupled_signature().args
    target = types.Array(float64, 1, "A")
    result = types.Tuple([boolean, int64])
    return result(
        contacts,
        float64,
        float64,
        matrix,
        matrix,
        target,
        matrix,
        matrix,
        integers,
        matrix,
        matrix,
        matrix,
    )


@apart(solver_signature)
def solve_by_guessing(contacts, step, still, memory, free, target, missing, friction, kind, force, end, work):
    """Forces (world frame) for a guess that holds: whether one was found, and how many were tried."""
    for count in range(1, GUESSES + 1):
        if not spread_with_friction(contacts, kind, friction, missing, force, work):
            return False, count
        add_friction(contacts, kind, friction, force)
        end_motions(contacts, step, free, force, end, work)
        if not mend(contacts, still, memory, target, end, kind, friction, force):
            return True, count
    return False, GUESSES


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


@apart(solver_signature)
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


@apart(solver_signature)
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


@inlined
def conclude(contacts, still, memory, end, force, mode):
    """Clip what rounding left outside the cone, and remember what each point did."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, u, frame = force[p], end[p], contacts.frame[p]
        f[2] = max(0.0, f[2])
        slides = (u[0] * u[0] + u[1] * u[1]) ** 0.5 > still
        limit = contacts.dynamic_friction[p] if slides else contacts.static_friction[p]
        f[0], f[1], _ = coulomb(f[0], f[1], limit * f[2])
        mode[p] = OPEN if f[2] == 0.0 else SLIDE if slides else STICK
        memory[p, MODE] = mode[p]
        if mode[p] == SLIDE:
            size = (f[0] * f[0] + f[1] * f[1]) ** 0.5
            memory[p, SIZE] = size
            for k in range(3):
                memory[p, DIRECTION + k] = (f[0] * frame[0, k] + f[1] * frame[1, k]) / size if size > 0.0 else 0.0


def problem_signature() -> Any:
    """What :func:`solve_contacts` takes and gives."""
    from numba import float64, int64, types

    contacts, _, matrix, _, integers, *_ = coupled_signature().args
    result = types.UniTuple(int64, 2)
    return result(contacts, float64, float64, matrix, matrix, integers, matrix, integers)


@apart(problem_signature)
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
    iterations = 1
    found = all_held(contacts, marks) and hold_all(
        contacts, still, memory, target, missing, marks, friction, force, end, work
    )
    if not found:
        found, iterations = solve_by_guessing(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work
        )
    to_contact_frames(contacts, force)
    if not found:
        found, more = solve_by_newton(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work
        )
        iterations += more
    if not found:
        found, more = solve_by_sweeping(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work
        )
        iterations += more
    conclude(contacts, still, memory, end, force, mode)
    return 0 if found else 1, iterations


@inlined
def dense_rows(contacts, work):
    """The rows of the scratch space in which the problem may be written out."""
    return 4 * contacts.mobility.shape[0] + SCRATCH_ROWS, work.shape[0] - 5 * contacts.gap.size


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


def work_rows(points: int, bodies: int, solver: int = 0) -> int:
    """Rows of scratch space that :func:`solve_contacts` needs, or another solver that takes ``solver`` floats."""
    dense = dense_floats(points) + max(solver, cone_floats(points))
    return 4 * 6 * bodies + SCRATCH_ROWS + 5 * points + -(-dense // (6 * bodies))


def marks_size(points: int) -> int:
    """Integers of scratch space that :func:`solve_contacts` needs."""
    return points + cone_marks(points)
