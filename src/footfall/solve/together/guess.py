"""Guesses of the active set and their correction, by the lanes of a warp.

The method is that of :mod:`footfall.solve.contact_guess`, with the forces of least norm of
:mod:`footfall.solve.minimum_norm`, where the equations are derived.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.contact_guess import MISSED_BY, OF_UNLIKE, TOLERANCE, turn
from footfall.solve.contacts import OPEN, SLIDE, STICK
from footfall.solve.steady_feet import TOLERANCE as SINGULAR
from footfall.solve.together.algebra import eliminate_together, inverse_of_feet, pivoted_feet
from footfall.solve.together.desk import ACROSS, DOWN, LANES, wait

# Columns of a desk's data of sliding points.
SIZE, TURNED, MISSED = 2, 3, 4
#: m/s above the least normal velocity up to which a point without load still touches: far above Newton's error.
TOUCHES = 1e-6


@inlined
def matrices_of_feet(lane, feet, desk):
    """``W^T W`` of each foot, to ``gram``; the same with friction at its limit, to ``acting``; and ``W^T a`` of the
    missing accelerations, times the step, to ``moved``.
    """
    rows, kind = desk.rows, desk.kind
    for t in range(lane // ACROSS, 6 * feet, DOWN):
        b = desk.owner[t]
        k = t - 6 * b
        for j in range(lane % ACROSS, 6, ACROSS):
            value, more = 0.0, 0.0
            for i in range(desk.begin[b], desk.begin[b + 1]):
                if kind[i] == OPEN:
                    continue
                normal = rows[3 * i + 2]
                value += normal[k] * normal[j]
                if kind[i] == STICK:
                    value += rows[3 * i, k] * rows[3 * i, j] + rows[3 * i + 1, k] * rows[3 * i + 1, j]
                else:
                    along = desk.slip[i, 0] * rows[3 * i, k] + desk.slip[i, 1] * rows[3 * i + 1, k]
                    more += desk.dynamic[i] * along * normal[j]
            desk.gram[0, t, j] = value
            desk.acting[t, j] = value + more
    for t in range(lane, 6 * feet, LANES):
        b = desk.owner[t]
        k, value = t - 6 * b, 0.0
        for i in range(desk.begin[b], desk.begin[b + 1]):
            if kind[i] != OPEN:
                value += rows[3 * i + 2, k] * (desk.target[i] - desk.free[3 * i + 2])
            if kind[i] == STICK:
                value -= rows[3 * i, k] * desk.free[3 * i] + rows[3 * i + 1, k] * desk.free[3 * i + 1]
        desk.moved[t] = value
    wait()


@inlined
def bases_of_feet(lane, feet, desk):
    """T of each foot, to ``bases``, from C in ``felt``: C (C^T C)^-1, zero beyond the rank."""
    felt, gram = desk.felt, desk.gram[0]
    for t in range(lane // ACROSS, 6 * feet, DOWN):
        b = desk.owner[t]
        first, k = 6 * b, t - 6 * b
        for j in range(lane % ACROSS, 6, ACROSS):
            value = 1.0 if k == j and k >= desk.rank[b] else 0.0
            for m in range(6):
                value += felt[first + m, k] * felt[first + m, j]
            gram[t, j] = value
    wait()
    inverse_of_feet(lane, feet, desk)
    for t in range(lane // ACROSS, 6 * feet, DOWN):
        first = 6 * desk.owner[t]
        for j in range(lane % ACROSS, 6, ACROSS):
            value = 0.0
            for m in range(6):
                value += felt[t, m] * gram[first + m, j]
            desk.bases[t, j] = value
    wait()


@inlined
def reduced_system(lane, feet, desk):
    """``C^T L A`` with ``A = (W^T W + friction) T``, and ``T^T W^T a``, to ``system``; ones beyond the ranks."""
    n = 6 * feet
    for t in range(lane // ACROSS, n, DOWN):  # A
        first = 6 * desk.owner[t]
        for j in range(lane % ACROSS, 6, ACROSS):
            value = 0.0
            for m in range(6):
                value += desk.acting[t, m] * desk.bases[first + m, j]
            desk.gram[0, t, j] = value
    wait()
    for i in range(lane // ACROSS, n, DOWN):  # L A
        for j in range(lane % ACROSS, n, ACROSS):
            first = 6 * desk.owner[j]
            value = 0.0
            for m in range(6):
                value += desk.mobility[i, first + m] * desk.gram[0, first + m, j - first]
            desk.system[1, i, j] = value
    wait()
    for i in range(lane // ACROSS, n, DOWN):
        b = desk.owner[i]
        first, k = 6 * b, i - 6 * b
        beyond = k >= desk.rank[b]
        for j in range(lane % ACROSS, n, ACROSS):
            value = 1.0 if beyond and i == j else 0.0
            for m in range(6):
                value += desk.felt[first + m, k] * desk.system[1, first + m, j]
            desk.system[0, i, j] = value
    for i in range(lane, n, LANES):
        first = 6 * desk.owner[i]
        value = 0.0
        for m in range(6):
            value += desk.bases[first + m, i - first] * desk.moved[first + m]
        desk.system[0, i, n] = value
    wait()


@inlined
def solve_reduced(lane, feet, desk):
    """Replace ``moved`` by y of the reduced system; False if there is none, or more than one."""
    return eliminate_together(lane, 6 * feet, SINGULAR, desk)


@inlined
def least_forces(lane, count, feet, desk):
    """The forces of least norm for the guessed active set, friction included. False if there are none."""
    n = 6 * feet
    matrices_of_feet(lane, feet, desk)
    pivoted_feet(lane, feet, SINGULAR, desk)
    bases_of_feet(lane, feet, desk)
    reduced_system(lane, feet, desk)
    if not solve_reduced(lane, feet, desk):
        return False
    for t in range(lane, n, LANES):
        first = 6 * desk.owner[t]
        value = 0.0
        for k in range(6):
            value += desk.bases[t, k] * desk.moved[first + k]
        desk.wrench[t] = value
    wait()
    for i in range(lane, count, LANES):
        first, kind = 6 * desk.foot[3 * i], desk.kind[i]
        x, y, normal = 0.0, 0.0, 0.0
        if kind != OPEN:
            for k in range(6):
                normal += desk.rows[3 * i + 2, k] * desk.wrench[first + k]
        if kind == STICK:
            for k in range(6):
                x += desk.rows[3 * i, k] * desk.wrench[first + k]
                y += desk.rows[3 * i + 1, k] * desk.wrench[first + k]
        elif kind == SLIDE:
            size = desk.dynamic[i] * max(0.0, normal)
            desk.slip[i, SIZE] = size
            size *= 1.0 + 1e-12  # slightly outside the cone: clipped to it, it counts as sliding
            x, y = size * desk.slip[i, 0], size * desk.slip[i, 1]
        desk.force[3 * i], desk.force[3 * i + 1], desk.force[3 * i + 2] = x, y, normal
    wait()
    return True


@inlined
def largest_force(lane, count, desk):
    """The largest component of all forces, to every lane."""
    for i in range(lane, count, LANES):
        f = desk.force
        desk.share[i] = max(abs(f[3 * i]), abs(f[3 * i + 1]), abs(f[3 * i + 2]))
    wait()
    largest = 0.0
    for i in range(count):
        largest = max(largest, desk.share[i])
    wait()
    return largest


@inlined
def mend_point(i, largest, still, desk):
    """Correct the guess of one point. Gives whether it changed, and by how much the point is pulled."""
    x, y, z = desk.force[3 * i], desk.force[3 * i + 1], desk.force[3 * i + 2]
    u, v, w = desk.end[3 * i], desk.end[3 * i + 1], desk.end[3 * i + 2]
    kind = desk.kind[i]
    if kind == OPEN:
        if w < desk.target[i] - still:
            desk.kind[i] = STICK
            return 1, 0.0
        return 0, 0.0
    if z < -TOLERANCE * largest:
        return 1, z
    if kind == STICK:
        limit = desk.dynamic[i] if desk.last[i] == SLIDE else desk.static[i]
        if x * x + y * y > (limit * z + TOLERANCE * largest) ** 2:
            size = math.sqrt(x * x + y * y)
            desk.kind[i] = SLIDE
            desk.slip[i, 0], desk.slip[i, 1] = x / size, y / size
            desk.slip[i, SIZE], desk.slip[i, TURNED] = desk.dynamic[i] * z, 0.0
            return 1, 0.0
        return 0, 0.0
    speed = math.sqrt(u * u + v * v)
    if speed <= still:
        return 0, 0.0
    ax, ay = -u / speed, -v / speed
    if ax * desk.slip[i, 0] + ay * desk.slip[i, 1] < 0.0:
        desk.kind[i] = STICK
        return 1, 0.0
    if max(abs(ax - desk.slip[i, 0]), abs(ay - desk.slip[i, 1])) > 1e-9:
        slip = desk.slip[i]
        slip[0], slip[1], slip[TURNED], slip[MISSED] = turn(slip[0], slip[1], ax, ay, slip[TURNED], slip[MISSED])
        return 1, 0.0
    return 0, 0.0


@inlined
def unlike_first(i, desk):
    """Difference of a point's wanted normal speed from that of its foot's first point, if the foot has more than three;
    see :func:`footfall.solve.contact_guess.may_stay_above`.
    """
    b = desk.foot[3 * i]
    first = desk.begin[b]
    return abs(desk.target[i] - desk.target[first]) if desk.begin[b + 1] - first > 3 else 0.0


@inlined
def highest_held(count, above, desk):
    """The point that stays farthest above its target, by more than ``above``; -1 if none does."""
    highest = -1
    for i in range(count):
        height = desk.end[3 * i + 2] - desk.target[i]
        if desk.kind[i] != OPEN and height > above:
            highest, above = i, height
    return highest


@inlined
def mend_together(lane, count, still, desk):
    """Correct the guess, as ``mend`` does. Gives whether it changed."""
    largest = largest_force(lane, count, desk)
    for i in range(lane, count, LANES):
        desk.wrong[i], desk.share[i] = mend_point(i, largest, still, desk)
        desk.phi[i] = unlike_first(i, desk)
    wait()
    wrong, hardest, pull, unlike, least = False, -1, 0.0, 0.0, MISSED_BY * still
    for i in range(count):
        wrong, unlike = wrong or desk.wrong[i] == 1, max(unlike, desk.phi[i])
        if desk.share[i] < pull:
            hardest, pull = i, desk.share[i]
    if unlike > least and not wrong:
        hardest = highest_held(count, max(least, OF_UNLIKE * unlike), desk)
        wrong = hardest >= 0
        wait()
    if hardest >= 0 and lane == 0:
        desk.kind[hardest] = OPEN
    wait()
    return wrong


@inlined
def read_kinds_together(lane, count, still, desk):
    """The active set suggested by nearly correct forces and motions."""
    largest = largest_force(lane, count, desk)
    for i in range(lane, count, LANES):
        x, y, normal = desk.force[3 * i], desk.force[3 * i + 1], desk.force[3 * i + 2]
        u, v = desk.end[3 * i], desk.end[3 * i + 1]
        size, speed = math.sqrt(x * x + y * y), math.sqrt(u * u + v * v)
        if normal <= 1e-6 * largest:
            rests = desk.end[3 * i + 2] - desk.target[i] <= still and speed <= still
            desk.kind[i] = STICK if rests else OPEN
        elif size < 0.9999 * desk.dynamic[i] * normal:
            desk.kind[i] = STICK
        else:
            desk.kind[i] = SLIDE
            desk.slip[i, SIZE], desk.slip[i, TURNED] = size, 0.0
            desk.slip[i, 0], desk.slip[i, 1] = (x / size, y / size) if size > 0.0 else (0.0, 0.0)
    wait()


@inlined
def hold_touching(lane, count, still, desk):
    """Let open points that touch the ground stick or slide: a face may carry its load at a few of its points."""
    for i in range(lane, count, LANES):
        if desk.kind[i] == OPEN and desk.end[3 * i + 2] - desk.target[i] <= TOUCHES:
            u, v = desk.end[3 * i], desk.end[3 * i + 1]
            desk.kind[i] = SLIDE if math.sqrt(u * u + v * v) > still else STICK
            desk.slip[i, 0], desk.slip[i, 1] = 0.0, 0.0
    wait()
