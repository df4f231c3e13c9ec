"""The contact problem of :mod:`footfall.solve.contact_problem` solved with little code and space, for GPUs.

The same ways, without pyramids and Gauss-Seidel: a guess from the last step; Newton on the few points that carry a
foot, softened where it stalls, by many lanes together (:mod:`footfall.solve.newton_together`); a guess from its forces.
The law itself only lays the problem out, unless all feet stand: what follows is done where lanes can wait for each
other, and in one place, for what is called in three is compiled three times.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.contact_guess import all_held, hold_all, missing_accelerations, solve_by_guessing
from footfall.solve.contact_problem import conclude, rooms
from footfall.solve.contact_search import choose_few, join, move, read_kinds, search_marks, slowest_motion
from footfall.solve.friction_limits import to_contact_frames
from footfall.solve.gauss_seidel import push_foot, wrench_row
from footfall.solve.minimum_norm import BLOCKS, SCRATCH_ROWS

#: Status of a law whose problem is laid out and not solved yet.
DEFERRED = 2
#: Guesses before Newton, and after it; times that points may join those that Newton solves for.
GUESSES, NEAR_GUESSES, JOININGS = 3, 2, 3
# Where the step and the motion that is none stand in the first row of the missing accelerations, behind these.
STEP, STILL = 3, 4


@inlined
def solve_or_defer(contacts, step, still, memory, force, mode, work, marks):
    """Stands for :func:`footfall.solve.contact_problem.solve_from_guess`."""
    missing, friction, free, target, end = rooms(work, contacts.gap.size)
    missing_accelerations(contacts, step, free, target, missing)
    for i in range(contacts.number[0]):  # the last forces, for Newton to begin with
        p = contacts.points[i]
        for k in range(3):
            end[p, 3 + k] = force[p, k]
    if all_held(contacts, marks) and hold_all(
        contacts, still, memory, target, missing, marks, friction, force, end, work
    ):
        to_contact_frames(contacts, force)
        conclude(contacts, still, memory, end, force, mode)
        return 0, 1
    missing[0, STEP], missing[0, STILL] = step, still
    return DEFERRED, 1


@inlined
def guess_deferred(contacts, memory, force, work, marks, most):
    """Forces (world frame) of a problem that was laid out, from what is guessed in ``marks``: whether there are any."""
    missing, friction, free, target, end = rooms(work, contacts.gap.size)
    step, still = missing[0, STEP], missing[0, STILL]
    found, _ = solve_by_guessing(
        contacts, step, still, memory, free, target, missing, friction, marks, force, end, work, most
    )
    return found


@inlined
def choose_deferred(contacts, force, work, marks):
    """Begin with the forces of the last step, on a few points: how many."""
    _, _, free, target, end = rooms(work, contacts.gap.size)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            force[p, k] = end[p, 3 + k]
    chosen, _ = search_marks(contacts, marks)
    return choose_few(contacts, free, target, chosen)


@inlined
def dense_rows(contacts):
    """Where the dense problem begins in the scratch space."""
    return BLOCKS * contacts.mobility.shape[0] + SCRATCH_ROWS


@inlined
def put(work, first, e, value):
    """Write number ``e`` of the dense problem."""
    work[first + e // work.shape[1], e % work.shape[1]] = value


@inlined
def lay_out(contacts, force, work, marks, count):
    """Write the problem of the n chosen points into the scratch space, one number behind the other: the lower triangle
    of the Delassus matrix in (3n, 3n), free motions (3n), targets (n), friction (n), impulses (3n).
    """
    missing, _, free, target, _ = rooms(work, contacts.gap.size)
    chosen, _ = search_marks(contacts, marks)
    rows, moved, step, first, n = work[:2], work[3], missing[0, STEP], dense_rows(contacts), 3 * count
    for i in range(count):
        p = chosen[i]
        put(work, first, n * n + n + i, target[p])
        put(work, first, n * n + n + count + i, contacts.dynamic_friction[p])
        for k in range(3):
            put(work, first, n * n + 3 * i + k, free[p, k])
            put(work, first, n * n + n + 2 * count + 3 * i + k, force[p, k])
            for c in range(moved.size):
                moved[c] = 0.0
            wrench_row(contacts, p, k, rows[0])
            push_foot(contacts, contacts.body[p], rows[0], step, moved)
            for j in range(i + 1):
                other = chosen[j]
                b = contacts.body[other]
                for m in range(3):
                    wrench_row(contacts, other, m, rows[1])
                    value = 0.0
                    for c in range(6):
                        value += rows[1, c] * moved[6 * b + c]
                    put(work, first, (3 * i + k) * n + 3 * j + m, value)


@inlined
def take_back(contacts, force, work, marks, count):
    """The forces that Newton found, and what moves under them: points that joined, if any, and how many there are."""
    missing, _, free, target, end = rooms(work, contacts.gap.size)
    step, still = missing[0, STEP], missing[0, STILL]
    chosen, _ = search_marks(contacts, marks)
    first, n = dense_rows(contacts), 3 * count
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
    for i in range(n):
        e = n * n + n + 2 * count + i
        force[chosen[i // 3], i % 3] = work[first + e // work.shape[1], e % work.shape[1]]
    move(contacts, step, free, force, missing, end, work)
    slack = still + slowest_motion(contacts, free, target)
    return join(contacts, slack, target, force, end, chosen, count)


@inlined
def guess_from_newton(contacts, force, work, marks):
    """Set what each point does from Newton's forces, which are kept aside."""
    missing, friction, free, target, end = rooms(work, contacts.gap.size)
    read_kinds(contacts, missing[0, STILL], target, force, end, marks, friction)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            end[p, 3 + k] = force[p, k]
    missing_accelerations(contacts, missing[0, STEP], free, target, missing)


@inlined
def conclude_deferred(contacts, memory, force, mode, work, found):
    """Forces in contact frames and what each point did, of a guess that was found or else those kept aside."""
    missing, _, free, _, end = rooms(work, contacts.gap.size)
    step, still = missing[0, STEP], missing[0, STILL]
    if found:
        to_contact_frames(contacts, force)
    else:
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            for k in range(3):
                force[p, k] = end[p, 3 + k]
        move(contacts, step, free, force, missing, end, work)
    conclude(contacts, still, memory, end, force, mode)
