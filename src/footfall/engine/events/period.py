"""One period of an event-driven run: forces, impulses, their check, and when it becomes a time step."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.contact.event_law import DOES, engine_columns
from footfall.engine.events.flow import EVENTS, IMPACTS, LOOSENED, SOFT, SORTED, UNSOLVED, VAIN, WARNINGS
from footfall.engine.other_bodies.near import live
from footfall.engine.stages import integrate_activations, integrate_positions
from footfall.engine.tape import SAMPLES, STEPS, add_step_of_all
from footfall.solve.contacts import OPEN, STICK
from footfall.solve.dense import copy

#: Share of the largest impulse by which another may pull or leave the cone: on a plane, and on curved ground.
UNSOUND, UNSOUND_IN_CURVES = 1e-6, 1e-3
#: Most events other than impacts, or impulses without a collision, in a period; beyond it the period becomes a time
#: step.
TIRED = 12
#: After this many periods in a row that became time steps, only one in as many is tried from event to event.
IN_VAIN = 10


@inlined
def note_inconsistent(flow, time):
    """Note when no forces obeyed the law."""
    flow.warning[min(flow.tally[WARNINGS], flow.warning.size - 1)] = time
    flow.tally[WARNINGS] += 1


@inlined
def is_tired(flow, left):
    """Whether a period cannot continue from event to event: without a solution, with too many events, or with nothing
    ``left`` to spend.
    """
    return flow.tally[UNSOLVED] != 0 or flow.tally[EVENTS] - 2 * flow.tally[IMPACTS] > TIRED or left <= 0.0


@inlined
def begins_soft(flow, step, plan):
    """Whether a period is a time step from the outset."""
    # The instant after a time step gets the forces of another one, since it is not known yet which points rest.
    last = step == plan.total and step > 0 and flow.tally[SORTED] == 0
    return last or (flow.tally[VAIN] >= IN_VAIN and flow.tally[VAIN] % IN_VAIN != 0)


@inlined
def keep_forces(points, contacts, kept):
    """Forces of all points, world frame."""
    for p in range(live(points)):
        f, frame = points.force[p], contacts.frame[p]
        for k in range(3):
            kept[p, k] = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]


@inlined
def reuse_stage(points, flow, stage):
    """The stage at which a step ends is the first of the next one."""
    copy(flow.slope[0], flow.slope[stage])
    for p in range(live(points)):
        copy(flow.force[0, p], flow.force[stage, p])


@inlined
def take_time_step(world, points, contacts, flow, dt):
    """Take a whole period as one step of semi-implicit Euler, with the forces of time stepping."""
    keep_forces(points, contacts, flow.force[0])
    for p in range(live(points)):
        flow.worked[p] = points.mode[p]
        flow.touching[p] = 0
        flow.arriving[p] = points.mode[p]  # the next period begins by finding out whether it is in contact
        for k in range(3):
            flow.impulse[p, k] = dt * flow.force[0, p, k]
    flow.tally[SORTED] = 0
    integrate_activations(world, dt)
    for j in range(world.qvel.size):
        world.qvel[j] += dt * world.qacc[j]
    integrate_positions(world, world.qvel, dt)


@inlined
def add_up(points, contacts, flow, stage, h):
    """Add the impulse of a step's forces up to a stage, its end or an instant within it, to what is recorded."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            value = 0.0
            for j in range(stage):
                value += flow.weights[stage, j] * flow.force[j, p, k]
            flow.impulse[p, k] += h * value
        if flow.force[0, p, 0] != 0.0 or flow.force[0, p, 1] != 0.0 or flow.force[0, p, 2] != 0.0:
            flow.worked[p] = int(points.memory[p, engine_columns(points.memory) + DOES])


@inlined
def is_sound(points, contacts, flow, impulse):
    """Whether all forces of a period were found, and no impulse of it, or of a part, pulls or is outside the cone.

    Where the ground can hold a robot in many ways, the stages of a step may have different solutions. Not all weights
    of the stages are positive, so the mean force of a point could pull.
    """
    if flow.tally[UNSOLVED] != 0:
        return False
    largest, share = 0.0, UNSOUND if flow.flat == 1 else UNSOUND_IN_CURVES
    for p in range(live(points)):
        for k in range(3):
            largest = max(largest, abs(impulse[p, k]))
    for p in range(live(points)):
        f, n, square = impulse[p], contacts.frame[p, 2], 0.0
        load = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
        for k in range(3):
            square += (f[k] - load * n[k]) ** 2
        limit = contacts.static_friction[p] * max(0.0, load) + share * largest
        if load < -share * largest or square > limit * limit:
            return False
    return True


@inlined
def start_period(points, flow):
    """Reset what is counted over a period."""
    for p in range(live(points)):
        flow.worked[p] = OPEN
        for k in range(3):
            flow.impulse[p, k] = 0.0
            flow.correction[p, k] = 0.0
    flow.struck[0] = 0.0
    flow.tally[EVENTS] = 0
    flow.tally[IMPACTS] = 0
    flow.tally[UNSOLVED] = 0


@inlined
def record_period(world, points, contacts, flow, held, tape, dt, outcome):
    """Add a period to the current sample; ``held`` has the modes it began with."""
    for p in range(live(points)):
        mode, bears = flow.worked[p], False
        for k in range(3):
            held.force[p, k] = flow.impulse[p, k] / dt
            bears = bears or flow.impulse[p, k] != 0.0
        # In contact without load, or loaded only within a step: where contact forces are not unique.
        if mode == OPEN and (bears or (flow.touching[p] == 1 and held.mode[p] != OPEN)):
            mode = STICK
        held.mode[p] = mode
    add_step_of_all(world, points, contacts, held, tape, flow.tally[UNSOLVED], outcome)
    signals = tape.signals[outcome[SAMPLES] - 1]
    if outcome[STEPS] == 1:
        signals[0], signals[1], signals[2], signals[3], signals[4] = 0.0, 0.0, 0.0, 0.0, 1.0
    signals[0] += flow.tally[EVENTS]
    signals[1] += flow.tally[IMPACTS]
    signals[2] += flow.struck[0]
    signals[3] += flow.tally[SOFT]
    if flow.tally[SOFT] == 0:
        signals[4] = max(signals[4], flow.clock[LOOSENED])
