"""Forces of least norm together with friction at its limit.

Points are held, slide or are open. The friction of a sliding point has a known direction, and its size is a share of a
normal force that depends on all forces, friction among them: both are found together, by one linear system.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.solve.contacts import SLIDE
from footfall.solve.minimum_norm import spread, spread_over_rows
from footfall.solve.problem import FORCE


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
def spread_with_friction(problem):
    """Forces (world frame, without friction) that give the missing accelerations while friction brakes sliding points;
    its size is written. False if there are none.
    """
    contacts, kind, friction, force = problem.contacts, problem.kind, problem.friction, problem.force
    slides = False
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        slides = slides or kind[p] == SLIDE
        for k in range(3):
            force[p, k] = problem.missing[p, k]
    if not slides:
        spread(contacts, kind, force, problem.least)
        return True
    if not spread_over_rows(contacts, kind, friction, True, force, problem.least):
        return False
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if kind[p] == SLIDE:
            n, f = contacts.frame[p, 2], force[p]
            friction[p, FORCE] = contacts.dynamic_friction[p] * max(0.0, n[0] * f[0] + n[1] * f[1] + n[2] * f[2])
    return True


@kernel
def add_friction(problem):
    """Add the friction of sliding points to the forces, world frame."""
    contacts, kind, friction, force = problem.contacts, problem.kind, problem.friction, problem.force
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if kind[p] == SLIDE:
            size = friction[p, FORCE] * (1.0 + 1e-12)  # beyond the cone, so that the point counts as sliding
            for k in range(3):
                force[p, k] += size * friction[p, k]
