"""The contact problem that rigid and prescribed-acceleration laws share, on the exact Coulomb cone.

Motions of the points (velocities at the end of a step, or accelerations less those that are wanted) are
``u = free + step G f``. Wanted are forces with ``0 <= u_n - target _|_ f_n >= 0``, friction inside the cone, and, where
``u_t`` is not zero, on the cone and against it.

Most steps look like the one before. So the kind of each point (open, held, sliding, with the direction of its friction)
is guessed from the last step, the linear problem that follows is solved by the least forces, and the answer checked;
what is found wrong is changed, a few times. Where that does not end, Gauss-Seidel takes over.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.contact.base import OPEN, SLIDE, STICK
from footfall.contact.friction import coulomb
from footfall.solve.cone import gauss_seidel
from footfall.solve.friction import add_friction, spread_with_friction, to_contact_frames, to_world_frames
from footfall.solve.minimum_norm import SCRATCH_ROWS, resultant, spread_over_flat_feet

#: Guesses that may be mended before Gauss-Seidel takes over.
GUESSES = 40
#: Sweeps of Gauss-Seidel between two guesses, and how often.
SWEEPS, ROUNDS = 100, 20
#: Share of the largest force that may still change.
TOLERANCE = 1e-10
#: What is not converged to this is said to be unsolved.
UNSOLVED = 1e-8
#: A least motion for points that may do what they like.
ANY = -1e12
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


@kernel
def solve_by_guessing(contacts, step, still, memory, free, target, missing, friction, kind, force, end, work):
    """Forces (world frame) for a guess that holds; False if none was found."""
    for _ in range(GUESSES):
        if not spread_with_friction(contacts, kind, friction, missing, force, work):
            return False
        add_friction(contacts, kind, friction, force)
        end_motions(contacts, step, free, force, end, work)
        if not mend(contacts, still, memory, target, end, kind, friction, force):
            return True
    return False


@kernel
def keep_in_cone(contacts, force):
    """Make any forces a fair start for Gauss-Seidel."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 2] = max(0.0, force[p, 2])
        force[p, 0], force[p, 1], _ = coulomb(force[p, 0], force[p, 1], contacts.dynamic_friction[p] * force[p, 2])


@kernel
def read_kinds(contacts, force, kind, friction):
    """What each point seems to do, from forces (contact frames) that are nearly right."""
    largest = 0.0
    for i in range(contacts.number[0]):
        largest = max(largest, force[contacts.points[i], 2])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, frame = force[p], contacts.frame[p]
        size = (f[0] * f[0] + f[1] * f[1]) ** 0.5
        if f[2] <= 1e-6 * largest:
            kind[p] = OPEN
        elif size < 0.9999 * contacts.dynamic_friction[p] * f[2]:
            kind[p] = STICK
        else:
            kind[p] = SLIDE
            friction[p, 3] = size
            for k in range(3):
                friction[p, k] = (f[0] * frame[0, k] + f[1] * frame[1, k]) / size if size > 0.0 else 0.0


@kernel
def solve_by_sweeping(contacts, step, still, memory, free, target, missing, friction, kind, force, end, work):
    """Gauss-Seidel, which comes near from anywhere, and guesses from there, which hit. Gives a law's status."""
    keep_in_cone(contacts, force)
    for _ in range(ROUNDS):
        change = gauss_seidel(contacts, free, target, step, force, SWEEPS, TOLERANCE, work)
        to_world_frames(contacts, force, missing)
        end_motions(contacts, step, free, missing, end, work)
        if change <= UNSOLVED:
            return 0
        for i in range(contacts.number[0]):  # aside, in case the guess misses
            p = contacts.points[i]
            for k in range(3):
                end[p, 3 + k] = force[p, k]
        read_kinds(contacts, force, kind, friction)
        missing_accelerations(contacts, step, free, target, missing)
        if solve_by_guessing(contacts, step, still, memory, free, target, missing, friction, kind, force, end, work):
            to_contact_frames(contacts, force)
            return 0
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            for k in range(3):
                force[p, k] = end[p, 3 + k]
    return 1


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


@inlined
def solve_contacts(contacts, step, still, memory, force, mode, work, marks):
    """Forces (P, 3) in contact frames and modes of all near points. ``free`` and ``target`` are in :func:`motions`.

    ``step`` is what a unit of acceleration adds to a motion, ``still`` the size below which a motion is none. Gives a
    law's status.
    """
    points = contacts.gap.size
    rows = work.shape[0] - 5 * points
    missing, friction = work[rows : rows + points], work[rows + points : rows + 2 * points]
    free, target = motions(work, points)
    end = work[rows + 4 * points :]
    guess(contacts, memory, free, target, marks, friction)
    missing_accelerations(contacts, step, free, target, missing)
    found = all_held(contacts, marks) and hold_all(
        contacts, still, memory, target, missing, marks, friction, force, end, work
    )
    if not found:
        found = solve_by_guessing(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work
        )
    to_contact_frames(contacts, force)
    status = 0
    if not found:
        status = solve_by_sweeping(
            contacts, step, still, memory, free, target, missing, friction, marks, force, end, work
        )
    conclude(contacts, still, memory, end, force, mode)
    return status


@inlined
def motions(work, points):
    """Where a law puts the free motions (P, 3) of the points, in contact frames, and their targets (P,)."""
    rows = work.shape[0] - 5 * points
    return work[rows + 2 * points : rows + 3 * points], work[rows + 3 * points : rows + 4 * points, 0]


def work_rows(points: int, bodies: int) -> int:
    """Rows of scratch space that :func:`solve_contacts` needs."""
    return 4 * 6 * bodies + SCRATCH_ROWS + 5 * points
