"""Recording of a step, including points of bodies other than feet."""

from __future__ import annotations

import numpy as np
from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.other_bodies.near import body_of, free_places, lacks_room, live
from footfall.engine.other_bodies.points import LACKING
from footfall.engine.tape import SAMPLES, STEPS, add_step, begin_sample
from footfall.solve.contacts import OPEN


@inlined
def begin_sample_of_all(world, points, contacts, scratch, tape, time, outcome):
    """Write the state of this instant as a new sample, and take back places that are no longer needed."""
    begin_sample(world, points, contacts, scratch, tape, time, outcome)
    if live(points) > points.others.first:
        free_places(points, contacts)
        add_others(world, points, contacts, scratch.held, tape, outcome[SAMPLES] - 1, 0)


@inlined
def add_step_of_all(world, points, contacts, held, tape, status, outcome):
    """Add the forces of a step to the sample that is under way, those on other bodies than feet included."""
    add_step(points, contacts, held, tape, status, outcome)
    if lacks_room(points):
        points.others.counters[LACKING] += 1
    if live(points) > points.others.first:
        add_others(world, points, contacts, held, tape, outcome[SAMPLES] - 1, outcome[STEPS])


@inlined
def who_has(others, held, s, row):
    """The point whose forces are recorded in a place, or -1."""
    return others.who[s]


@cold(types.none)
def add_others(world, points, contacts, held, tape, row, count):
    """Add the forces of the ``count``-th step of a sample on points not on feet: means, peaks, modes.

    Number 0 is the instant of the sample itself, when the state of closed points is written, too. That of others is
    filled in after the run; until then their gap is NaN.
    """
    others = points.others
    own = others.tape
    instant = count == 0
    count = max(1, count)
    for s in range(live(points) - others.first):
        q, p = who_has(others, held, s, row), others.first + s
        if q < 0:
            continue
        f, mean, peak, normal = held.force[p], own.force[s, row], own.peak_force[s, row], contacts.frame[p, 2]
        if own.who[s, row] == 0:
            own.gap[s, row] = np.nan
        own.who[s, row] = q + 1
        if instant and held.mode[p] != OPEN:
            b = body_of(others, q)
            v, com, at = world.cvel[others.body[b]], world.subtree_com[others.root[b]], points.position[p]
            rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
            own.velocity[s, row, 0] = v[3] + v[1] * rz - v[2] * ry
            own.velocity[s, row, 1] = v[4] + v[2] * rx - v[0] * rz
            own.velocity[s, row, 2] = v[5] + v[0] * ry - v[1] * rx
            own.gap[s, row] = contacts.gap[p]
            for c in range(3):
                own.position[s, row, c] = at[c]
                own.normal[s, row, c] = normal[c]
        own.mode[s, row] = max(own.mode[s, row] if count > 1 else OPEN, held.mode[p])
        size, largest = 0.0, 0.0
        for c in range(3):
            mean[c] = f[c] if count == 1 else mean[c] + (f[c] - mean[c]) / count
            size += f[c] * f[c]
            largest += peak[c] * peak[c]
        if count == 1 or size > largest:
            for c in range(3):
                peak[c] = f[c]
    x, y, z, load = 0.0, 0.0, 0.0, 0.0  # on the robot
    for p in range(live(points)):
        f, normal = held.force[p], contacts.frame[p, 2]
        x, y, z = x + f[0], y + f[1], z + f[2]
        load += f[0] * normal[0] + f[1] * normal[1] + f[2] * normal[2]
    last = held.peak.size - 1
    if load > held.peak[last]:
        held.peak[last] = load
        total = tape.peak_total_force[row]
        total[0], total[1], total[2] = x, y, z
