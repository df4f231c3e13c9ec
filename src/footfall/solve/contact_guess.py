"""An active-set method for the contact problem: the mode of each point is guessed, and the guess corrected.

See :mod:`footfall.solve.contact_problem`; names and shapes are those of :mod:`footfall.solve.problem`.
"""

from __future__ import annotations

import math
from typing import Any

from footfall.compiled import inlined, kernel, separate
from footfall.solve.bound_feet import AS_TOLD, NOT_FOUND, spread_over_held_feet
from footfall.solve.contacts import OPEN, SLIDE, STICK
from footfall.solve.delassus import ANY
from footfall.solve.effort import guess_cost
from footfall.solve.friction_limits import add_friction, spread_with_friction
from footfall.solve.problem import FORCE, MISSED, NO_MORE, TURNED, problem_type
from footfall.solve.steady_feet import resultant

#: Most guesses before Newton takes over, and the share of the step's effort they may take.
GUESSES, GUESSING = 8, 0.15
#: Share of the largest force by which forces may still change.
TOLERANCE = 1e-10
# What a point remembers: what it did, the size and direction of its friction, and whether guesses missed.
MODE, SIZE, DIRECTION, MISSES = 0, 1, 2, 5
MEMORY_SIZE = 6
#: Largest change of a direction's error per turn of it for which a secant step makes sense.
FLAT = -0.05
#: Share of the limit by which friction may miss it where a point slides.
ON_CONE = 1e-6
#: Error that the motion of a held point may have: in units of the speed that counts as rest, and relative to the
#: largest difference between motions wanted of points of its foot. A flat sole that lands tilted misses them by about
#: one per cent, since its points do not stick at one height.
MISSED_BY, OF_UNLIKE = 1e3, 0.1
#: Sine of the largest turn.
WIDEST = 0.3


@inlined
def guess(problem):
    """Guess the mode of each point: that of the last step, unless it was open and would now enter the ground.

    Where guesses have failed in this step and the law is solved again, the modes follow from the forces of its last
    solution.
    """
    contacts, memory, kind, friction = problem.contacts, problem.memory, problem.kind, problem.friction
    free, target = problem.free, problem.target
    if contacts.number[1] > 0 and problem.chosen[0] != NO_MORE:
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            guess_from_force(contacts, p, problem.force[p], kind, friction[p])
        return
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        last = int(memory[p, MODE])
        kind[p] = last
        if last == OPEN and free[p, 2] < target[p]:
            kind[p] = STICK
        elif target[p] == ANY:
            kind[p] = OPEN
        if last == SLIDE:
            size, x, y, z = memory[p, SIZE], memory[p, DIRECTION], memory[p, DIRECTION + 1], memory[p, DIRECTION + 2]
            friction[p, FORCE], friction[p, TURNED] = size, 0.0
            friction[p, 0], friction[p, 1], friction[p, 2] = x, y, z


@inlined
def guess_from_force(contacts, p, force, kind, friction):
    """The mode of a point under a force (contact frame): with one on the cone it slides."""
    size, limit = math.sqrt(force[0] * force[0] + force[1] * force[1]), contacts.dynamic_friction[p] * force[2]
    if force[2] <= 0.0:
        kind[p] = OPEN
    elif abs(size - limit) > ON_CONE * limit:
        kind[p] = STICK
    else:
        kind[p] = SLIDE
        friction[FORCE], friction[TURNED] = size, 0.0
        frame = contacts.frame[p]
        for k in range(3):
            friction[k] = (force[0] * frame[0, k] + force[1] * frame[1, k]) / size if size > 0.0 else 0.0


@inlined
def missing_accelerations(problem):
    """Accelerations that would stop every point: no slip, and the least normal motion allowed, world frame."""
    contacts, step, free, target = problem.contacts, problem.step, problem.free, problem.target
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame = contacts.frame[p]
        x, y, z = -free[p, 0] / step, -free[p, 1] / step, (target[p] - free[p, 2]) / step
        for k in range(3):
            problem.missing[p, k] = frame[0, k] * x + frame[1, k] * y + frame[2, k] * z


@kernel
def end_motions(problem, force):
    """Motions at the end under a ``force`` (P, 3) in the world frame."""
    contacts, step, free, end = problem.contacts, problem.step, problem.free, problem.end
    wrench, moved = problem.other, problem.moved
    feet = contacts.near.size - 1
    for b in range(feet):
        resultant(contacts, b, force, wrench[6 * b : 6 * b + 6])
    for b in range(feet):
        if contacts.near[b + 1] == contacts.near[b]:
            continue
        for k in range(6):
            value, row = 0.0, contacts.mobility[6 * b + k]
            for other in range(feet):
                if contacts.near[other + 1] > contacts.near[other]:
                    theirs, pull = row[6 * other : 6 * other + 6], wrench[6 * other : 6 * other + 6]
                    for c in range(6):
                        value += theirs[c] * pull[c]
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
def turn(x, y, against_x, against_y, last, before):
    """Turn a direction of friction towards the one against the slip; both are unit vectors. Gives the direction, the
    turn, and the error before it; ``last`` and ``before`` are those of the turn before, zero at first.

    The slip turns with the friction, and repeatedly turning one against the other converges slowly where the slip is
    slow. From the second turn on, a secant step in the angle is taken.
    """
    missed = against_y * x - against_x * y
    sine = missed
    if last != 0.0:
        slope = (missed - before) / last
        if slope < FLAT:
            sine = -missed / slope
    sine = max(-WIDEST, min(WIDEST, sine))
    cosine = math.sqrt(1.0 - sine * sine)
    return cosine * x - sine * y, cosine * y + sine * x, sine, missed


@inlined
def turn_against(friction, frame, u, speed):
    """Turn the friction of a sliding point against its slip ``u``."""
    x = friction[0] * frame[0, 0] + friction[1] * frame[0, 1] + friction[2] * frame[0, 2]
    y = friction[0] * frame[1, 0] + friction[1] * frame[1, 1] + friction[2] * frame[1, 2]
    last, before = friction[TURNED], friction[MISSED]
    x, y, friction[TURNED], friction[MISSED] = turn(x, y, -u[0] / speed, -u[1] / speed, last, before)
    for k in range(3):
        friction[k] = x * frame[0, k] + y * frame[1, k]


@inlined
def may_stay_above(problem):
    """How much faster than wanted a held point may move up, m/s: any amount, unless more than three points of a foot
    are to arrive at different speeds, which a rigid sole that is not flat cannot do.
    """
    contacts, target, unlike = problem.contacts, problem.target, 0.0
    for b in range(contacts.near.size - 1):
        first, last = contacts.near[b], contacts.near[b + 1]
        for i in range(first + 1, last if last - first > 3 else first):
            unlike = max(unlike, abs(target[contacts.points[i]] - target[contacts.points[first]]))
    least = MISSED_BY * problem.still
    return max(least, OF_UNLIKE * unlike) if unlike > least else math.inf


@inlined
def mend(problem):
    """Correct a guess, given its forces (world frame, with friction); True if anything was wrong.

    A point that would enter the ground is held; a point that is pulled is released (the worst first); one that needs
    more friction than there is slides; one that would slide in the direction of its friction sticks; and friction turns
    against the slip. Where nothing else is wrong, the point that stays farthest above its wanted motion is released, as
    on a sole that is not flat.
    """
    contacts, still, memory, target = problem.contacts, problem.still, problem.memory, problem.target
    force, end, kind, friction = problem.force, problem.end, problem.kind, problem.friction
    wrong = False
    hardest, pull = -1, 0.0
    highest, above = -1, may_stay_above(problem)
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
        if u[2] - target[p] > above:
            highest, above = p, u[2] - target[p]
        x = frame[0, 0] * f[0] + frame[0, 1] * f[1] + frame[0, 2] * f[2]
        y = frame[1, 0] * f[0] + frame[1, 1] * f[1] + frame[1, 2] * f[2]
        z = frame[2, 0] * f[0] + frame[2, 1] * f[1] + frame[2, 2] * f[2]
        if z < -TOLERANCE * largest:
            if z < pull:
                hardest, pull = p, z
        elif kind[p] == STICK:
            limit = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
            if x * x + y * y > (limit * z + TOLERANCE * largest) ** 2:
                size = math.sqrt(x * x + y * y)
                kind[p] = SLIDE
                wrong = True
                friction[p, FORCE], friction[p, TURNED] = contacts.dynamic_friction[p] * z, 0.0
                for k in range(3):
                    friction[p, k] = (x * frame[0, k] + y * frame[1, k]) / size
        else:
            speed = math.sqrt(u[0] * u[0] + u[1] * u[1])
            if speed <= still:
                continue
            off, along = 0.0, 0.0
            for k in range(3):
                against = -(u[0] * frame[0, k] + u[1] * frame[1, k]) / speed
                along += against * friction[p, k]
                off = max(off, abs(against - friction[p, k]))
            if along < 0.0:
                kind[p] = STICK
                wrong = True
            elif off > 1e-9:
                wrong = True
                turn_against(friction[p], frame, u, speed)
    if hardest < 0 and not wrong:
        hardest = highest
    if hardest >= 0:
        kind[hardest] = OPEN
        wrong = True
    return wrong


@inlined
def all_held(problem):
    for i in range(problem.contacts.number[0]):
        if problem.kind[problem.contacts.points[i]] != STICK:
            return False
    return True


@inlined
def as_told(problem):
    """Set the motions of the points to the wanted ones, unless one stays above that by more than it may."""
    contacts, end, target, above = problem.contacts, problem.end, problem.target, may_stay_above(problem)
    if above < math.inf:
        end_motions(problem, problem.force)
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            if end[p, 2] - target[p] > above:
                return
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        end[p, 0], end[p, 1], end[p, 2] = 0.0, 0.0, target[p]


@inlined
def hold_all(problem):
    """Forces (world frame) of standing feet, with every point held. False, with ``kind`` corrected, if that does not
    hold.

    The common case, kept short: there is no friction to adapt, and points of a flat sole move as wanted.
    """
    contacts, force = problem.contacts, problem.force
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            force[p, k] = problem.missing[p, k]
    found = spread_over_held_feet(contacts, force, problem.least)
    if found == NOT_FOUND:
        return False
    if found == AS_TOLD:
        as_told(problem)
    else:
        end_motions(problem, force)
    return not mend(problem)


def guessing_signature() -> Any:
    """What :func:`solve_by_guessing` takes and gives."""
    from numba import boolean, int64, types

    return types.Tuple([boolean, int64])(problem_type(), int64)


@separate(guessing_signature)
def solve_by_guessing(problem, most):
    """Forces (world frame) for a guess that is right: whether one was found, and how many were tried.

    The cost of each is subtracted from the step's effort.
    """
    for count in range(1, most + 1):
        problem.contacts.effort[0] -= guess_cost(problem)
        if not spread_with_friction(problem):
            return False, count
        add_friction(problem)
        end_motions(problem, problem.force)
        if not mend(problem):
            return True, count
    return False, most
