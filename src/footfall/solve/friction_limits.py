"""Forces of least norm together with friction at its limit.

Points are held, slide or are open. The friction of a sliding point has a known direction, and its size is a share of a
normal force that depends on all forces, friction among them: one is adapted to the other until they agree.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined, kernel
from footfall.solve.contacts import SLIDE
from footfall.solve.minimum_norm import resultant, spread

#: Rounds in which friction and normal forces may be adapted to one another.
ROUNDS = 100
#: They agree when no friction limit changes by more than this share of the largest.
AGREEMENT = 1e-10
#: Growth beyond which they never will.
RUNAWAY = 1e3
#: Shortest and longest of the steps that Aitken may take.
SHORTEST, LONGEST = 0.1, 4.0


@inlined
def to_contact_frames(contacts, force):
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, x, y, z = contacts.frame[p], force[p, 0], force[p, 1], force[p, 2]
        for k in range(3):
            force[p, k] = frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z


@inlined
def to_world_frames(contacts, force, world):
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, f = contacts.frame[p], force[p]
        for k in range(3):
            world[p, k] = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]


@kernel
def take_friction_off(contacts, kind, friction, missing, force, work):
    """``force`` = the missing accelerations once the ``friction`` (P, 4: x, y, z unit, N) of sliding points acts."""
    n = contacts.mobility.shape[0]
    wrench, moved = work[0], work[1]
    for b in range(contacts.near.size - 1):
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            size = friction[p, 3] if kind[p] == SLIDE else 0.0
            for k in range(3):
                force[p, k] = size * friction[p, k]
        if contacts.near[b + 1] > contacts.near[b]:
            resultant(contacts, b, force, wrench[6 * b : 6 * b + 6])
        else:
            for k in range(6):
                wrench[6 * b + k] = 0.0
    for b in range(contacts.near.size - 1):
        if contacts.near[b + 1] == contacts.near[b]:
            continue
        for k in range(6):
            value = 0.0
            for c in range(n):
                if wrench[c] != 0.0:
                    value += contacts.mobility[6 * b + k, c] * wrench[c]
            moved[k] = value
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            r = contacts.arm[p]
            force[p, 0] = missing[p, 0] - moved[0] - moved[4] * r[2] + moved[5] * r[1]
            force[p, 1] = missing[p, 1] - moved[1] - moved[5] * r[0] + moved[3] * r[2]
            force[p, 2] = missing[p, 2] - moved[2] - moved[3] * r[1] + moved[4] * r[0]


@kernel
def miss_friction(contacts, kind, force, friction):
    """By how much the friction of sliding points misses the limit their normal force sets, kept beside it.

    Gives the largest miss and limit, and Aitken's relaxation: how the last misses would have been avoided best.
    """
    worst, largest, along, change = 0.0, 0.0, 0.0, 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if kind[p] != SLIDE:
            continue
        n, f = contacts.frame[p, 2], force[p]
        limit = contacts.dynamic_friction[p] * max(0.0, n[0] * f[0] + n[1] * f[1] + n[2] * f[2])
        miss = limit - friction[p, 3]
        worst, largest = max(worst, abs(miss)), max(largest, limit)
        along += friction[p, 4] * (miss - friction[p, 4])
        change += (miss - friction[p, 4]) ** 2
        friction[p, 4] = miss
    return worst, largest, -along / change if change > 0.0 else 1.0


@kernel
def adapt_friction(contacts, kind, friction, relaxation):
    """Move the friction of sliding points by its miss."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if kind[p] == SLIDE:
            friction[p, 3] += relaxation * friction[p, 4]


@kernel
def spread_with_friction(contacts, kind, friction, missing, force, work):
    """Forces (world frame, friction not included) that give the ``missing`` accelerations while sliding points are
    braked by ``friction`` (P, 4: unit vector, size in N), whose size is found. True if they agree.
    """
    relaxation, bound = 1.0, math.inf
    for turn in range(ROUNDS):
        take_friction_off(contacts, kind, friction, missing, force, work)
        spread(contacts, kind, force, work)
        worst, largest, better = miss_friction(contacts, kind, force, friction)
        if turn == 0:
            bound = RUNAWAY * (largest + worst)
        else:
            relaxation = min(LONGEST, max(SHORTEST, relaxation * better))
        if largest > bound:  # they drive each other up without end
            return False
        adapt_friction(contacts, kind, friction, relaxation)
        if worst <= AGREEMENT * largest:
            return True
    return False


@kernel
def add_friction(contacts, kind, friction, force):
    """Add the friction of sliding points to the forces, world frame."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if kind[p] == SLIDE:
            size = friction[p, 3] * (1.0 + 1e-12)  # a trace beyond the cone, so that who clips it sees that it slides
            for k in range(3):
                force[p, k] += size * friction[p, k]
