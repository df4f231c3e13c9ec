"""The recording of a run: the state at every sample, and the forces of the ground until the next one.

The state of a sample is that of its instant. Its force is the mean over the steps until the next sample, so that force
times interval is the impulse that the robot received, however few the samples are; the forces of the single step with
the greatest normal forces are recorded as well. Within one step the force is its mean: semi-implicit Euler holds it
constant, and event-driven integration adds up impulses.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import mujoco
import numpy as np
from numba import types
from numpy.typing import NDArray

from footfall.compiled import cold, inlined
from footfall.engine.kinematics import from_frame, velocity_there
from footfall.engine.other_bodies.near import body_of, free_places, lacks_room, live
from footfall.engine.other_bodies.pairs import is_pair
from footfall.engine.other_bodies.points import LACKING, Others, Points
from footfall.kinds import Float, Int, Ints, Matrix, Named, Tensor, Vector, zeros
from footfall.solve.contacts import OPEN, Contacts
from footfall.solve.dense import copy


class Outcome(NamedTuple):
    """How a run ended, and where it is; of worlds, fields of these names in their state."""

    end: Annotated[Ints, 1]  # DONE, or how it ended, see :mod:`footfall.engine.step`
    begun: Annotated[Ints, 1]  # the step that was last begun
    concerned: Annotated[Ints, 1]  # the dof, point or code that ended it
    status: Annotated[Ints, 1]  # of the law
    samples: Annotated[Ints, 1]  # begun
    averaged: Annotated[Ints, 1]  # steps in the mean of the last sample
    next: Annotated[Ints, 1]  # step to take


class Held(NamedTuple):
    """Forces of the ground in the present step."""

    force: Annotated[Matrix, "P", 3]  # N, world frame, mean over the step
    mode: Annotated[Ints, "P"]
    peak: Annotated[Vector, "K + 1"]  # N, greatest normal force on each foot and on the robot since the last sample


class Tape(NamedTuple):
    """The arrays a run is recorded into, one row per sample."""

    time: Annotated[Vector, "T"]
    qpos: Annotated[Matrix, "T", "nq"]
    qvel: Annotated[Matrix, "T", "nv"]
    ctrl: Annotated[Matrix, "T", "nu"]
    force: Annotated[Tensor, "T", "P", 3]  # N, world frame, mean until the next sample
    peak_force: Annotated[Tensor, "T", "P", 3]  # N, world frame, in the step in which the foot carries most
    peak_total_force: Annotated[Matrix, "T", 3]  # N, world frame, in the step in which the robot is carried most
    position: Annotated[Tensor, "T", "P", 3]  # m, world frame
    velocity: Annotated[Tensor, "T", "P", 3]  # m/s, world frame
    normal: Annotated[Tensor, "T", "P", 3]  # unit vectors, world frame
    gap: Annotated[Matrix, "T", "P"]  # m
    mode: Annotated[NDArray[np.int8], "T", "P"]
    status: Annotated[NDArray[np.int8], "T"]
    signals: Annotated[Matrix, "T", "S"]


def make_tape(model: mujoco.MjModel, samples: int, points: int, signals: int) -> Tape:
    """Room for a recording."""
    sizes = {"T": samples, "P": points, "S": signals, "nq": model.nq, "nv": model.nv, "nu": model.nu}
    return zeros(Tape, sizes)


def sample_bytes(model: mujoco.MjModel, points: int) -> int:
    """Memory that one sample without signals takes, bytes."""
    return sum(array.nbytes for array in make_tape(model, 1, points, 0))


@inlined
def hold_forces(points: Points, contacts: Contacts, held: Held) -> None:
    """Set the forces and modes of the whole step to those of this evaluation."""
    for p in range(points.mode.size):
        held.mode[p], f = points.mode[p], held.force[p]
        f[0], f[1], f[2] = from_frame(contacts.frame[p], points.force[p])


@inlined
def add_step(points: Points, contacts: Contacts, held: Held, tape: Tape, status: Int, outcome: Named) -> None:
    """Add the forces of a step to the present sample: its mean, peaks, modes and status."""
    row = outcome.samples[0] - 1
    outcome.averaged[0] += 1
    count = outcome.averaged[0]
    tape.status[row] = max(tape.status[row] if count > 1 else 0, min(1, status))
    x, y, z, load = 0.0, 0.0, 0.0, 0.0  # on the robot: force, and its part along the normals
    for k in range(points.body.size):
        foot_load = 0.0
        for p in range(points.begin[k], points.begin[k + 1]):
            f, mean, normal = held.force[p], tape.force[row, p], contacts.frame[p, 2]
            x, y, z = x + f[0], y + f[1], z + f[2]
            foot_load += f[0] * normal[0] + f[1] * normal[1] + f[2] * normal[2]
            tape.mode[row, p] = max(tape.mode[row, p] if count > 1 else OPEN, held.mode[p])
            for c in range(3):
                mean[c] = f[c] if count == 1 else mean[c] + (f[c] - mean[c]) / count
        load += foot_load
        if count == 1 or foot_load > held.peak[k]:
            held.peak[k] = foot_load
            for p in range(points.begin[k], points.begin[k + 1]):
                copy(tape.peak_force[row, p], held.force[p])
    last = held.peak.size - 1
    if count == 1 or load > held.peak[last]:
        held.peak[last] = load
        peak = tape.peak_total_force[row]
        peak[0], peak[1], peak[2] = x, y, z


@inlined
def begin_sample(
    world: Named, points: Points, contacts: Contacts, scratch: Named, tape: Tape, time: Float, outcome: Named
) -> None:
    """Write the state of this instant as a new sample, with the forces that act now until its steps add theirs."""
    row = outcome.samples[0]
    outcome.samples[0] = row + 1
    tape.time[row] = time
    copy(tape.qpos[row], world.qpos)
    copy(tape.qvel[row], world.qvel)
    copy(tape.ctrl[row], world.ctrl)
    copy(tape.signals[row], scratch.signals)
    for k in range(points.body.size):
        v, com = world.cvel[points.body[k]], world.subtree_com[points.root[k]]
        for p in range(points.begin[k], points.begin[k + 1]):
            at, u = points.position[p], tape.velocity[row, p]
            u[0], u[1], u[2] = velocity_there(v, at[0] - com[0], at[1] - com[1], at[2] - com[2])
            for c in range(3):
                tape.position[row, p, c] = at[c]
                tape.normal[row, p, c] = contacts.frame[p, 2, c]
            tape.gap[row, p] = contacts.gap[p]
    outcome.averaged[0] = 0
    add_step(points, contacts, scratch.held, tape, outcome.status[0], outcome)
    outcome.averaged[0] = 0


@inlined
def begin_sample_of_all(
    world: Named, points: Points, contacts: Contacts, scratch: Named, tape: Tape, time: Float, outcome: Named
) -> None:
    """Write the state of this instant as a new sample, and free places that are no longer needed."""
    begin_sample(world, points, contacts, scratch, tape, time, outcome)
    if live(points) > points.others.first:
        free_places(points, contacts)
        add_others(world, points, contacts, scratch.held, tape, outcome.samples[0] - 1, 0)


@inlined
def add_step_of_all(
    world: Named, points: Points, contacts: Contacts, held: Held, tape: Tape, status: Int, outcome: Named
) -> None:
    """Add the forces of a step to the present sample, including those on other bodies than feet."""
    add_step(points, contacts, held, tape, status, outcome)
    if lacks_room(points):
        points.others.counters[LACKING] += 1
    if live(points) > points.others.first:
        add_others(world, points, contacts, held, tape, outcome.samples[0] - 1, outcome.averaged[0])


@inlined
def who_has(others: Others, held: Held, s: Int, row: Int) -> Int:
    """The point whose forces are recorded in a place, or -1."""
    return others.who[s]


@inlined
def recorded(others: Others, s: Int, q: Int) -> Int:
    """The record of a place's occupant ``q``: one plus the point's number, plus the pair's for a contact of bodies."""
    return q + 1 + (others.pair[s] if is_pair(others, q) else 0)


@cold(types.none)
def add_others(world: Named, points: Points, contacts: Contacts, held: Held, tape: Tape, row: Int, count: Int) -> None:
    """Add the forces of the ``count``-th step of a sample on points not on feet: means, peaks, modes.

    Number 0 is the instant of the sample itself, at which the state of closed points is written, too. The state of open
    points is filled in after the run; until then their gap is NaN.
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
        own.who[s, row] = recorded(others, s, q)
        if instant and held.mode[p] != OPEN:
            at, u = points.position[p], own.velocity[s, row]
            if is_pair(others, q):
                u[0], u[1], u[2] = from_frame(contacts.frame[p], contacts.velocity[p])
            else:
                b = body_of(others, q)
                v, com = world.cvel[others.body[b]], world.subtree_com[others.root[b]]
                u[0], u[1], u[2] = velocity_there(v, at[0] - com[0], at[1] - com[1], at[2] - com[2])
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
        if p >= others.first and is_pair(others, who_has(others, held, p - others.first, row)):
            continue  # a force between bodies carries no weight
        f, normal = held.force[p], contacts.frame[p, 2]
        x, y, z = x + f[0], y + f[1], z + f[2]
        load += f[0] * normal[0] + f[1] * normal[1] + f[2] * normal[2]
    last = held.peak.size - 1
    if load > held.peak[last]:
        held.peak[last] = load
        total = tape.peak_total_force[row]
        total[0], total[1], total[2] = x, y, z
