"""Backward differences after an event: taken from the step that followed it, extended backwards.

Where joint friction begins to slip, a point touches down or a motor reaches its limit, accelerations have a kink or
jump, and their history is of no use. But the continuous extension of one step of Dormand and Prince's method shows how
they changed since: a polynomial, which can be extended backwards beyond the event as well as forwards. So after a
single Runge-Kutta step, periods of one evaluation begin again (Gear 1980, Runge-Kutta starters for multistep methods).
"""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.events.flow import KNOWN, MISSED, ORDER, PAIRS, STRIDE, UNKNOWN
from footfall.engine.events.strides import differ
from footfall.engine.events.tableau import STAGES

#: Shortest step that tells of others, of a period.
TELLING = 0.1
#: Instants that it tells of, as far apart as it is long, its end the first; and differences of accelerations that it
#: knows then.
INSTANTS, TOLD = ORDER + 1, 4
#: Error that Dormand and Prince's method finds of itself over h^5 times the fourth derivative of an acceleration that
#: follows from velocities as damping does; and how many times as much more may be left out.
ERRS, SAFE = 97.0 / 120000.0, 2.0
#: Share of the error that periods before leave with which a step tells more: they know of more differences.
MORE = 0.1


@inlined
def left_out(world, flow, j):
    """The fourth difference of an acceleration, which the extension of a step has none of."""
    error = 0.0
    for s in range(STAGES):
        error += flow.error[s] * flow.slope[s, world.qpos.size + j]
    return SAFE / ERRS * error


@inlined
def forget(flow):
    """What was before says nothing of what comes."""
    flow.tally[KNOWN], flow.tally[PAIRS], flow.clock[MISSED] = 0, 0, UNKNOWN


@inlined
def tells_more(world, flow, plan, h, last):
    """Whether a step of ``h`` seconds, the ``last`` of a period or another, says more of what comes than what was known
    before.
    """
    worst, dt = 0.0, plan.dt
    if h < TELLING * dt or (last and plan.control > 0 and plan.control_every == 1):
        return False  # controls that change with every period change accelerations
    for j in range(world.qvel.size):
        worst = max(worst, abs(left_out(world, flow, j)))
    return dt * worst * (dt / h) ** 4 < MORE * flow.clock[MISSED]


@inlined
def recall(flow, what, stages, first, times):
    """Write what a rate that is known at the ``stages`` of a step was at the instants from ``first`` on (``what``: 0),
    or its integral from the beginning of the step (1), so many ``times``.
    """
    for m in range(first, INSTANTS):
        value = 0.0
        for s in range(STAGES):
            value += flow.told[what, m, s] * stages[s]
        flow.values[m - first] = times * value


@inlined
def put_differences(values, out):
    """Put the backward differences of values, the last first, where they are kept."""
    differ(values, TOLD)
    for k in range(TOLD):
        out[k] = values[k]


@inlined
def put_differences_of_changes(values, count, out):
    """The same of how ``count`` values changed from one to the next."""
    for m in range(count - 1):
        values[m] -= values[m + 1]
    put_differences(values, out)


@cold(types.none, soon=True)
def begin_anew(world, contacts, flow, h):
    """Let differences be those of a step of ``h`` seconds that is over.

    What is kept of a period's beginning begins with the instant before the last, what is kept of its end with the last.
    """
    nq, values = world.qpos.size, flow.values
    for j in range(world.qvel.size):
        rates = flow.slope[:, nq + j]
        recall(flow, 0, rates, 1, 1.0)
        put_differences(values, flow.pace[:, j])
        recall(flow, 1, rates, 1, h)
        flow.speed[j] = flow.start[nq + j] + values[0]
        put_differences_of_changes(values, INSTANTS - 1, flow.gained[:, j])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            forces = flow.force[:, p, c]
            recall(flow, 0, forces, 1, 1.0)
            put_differences(values, flow.began[:, p, c])
            recall(flow, 1, forces, 0, h)
            put_differences_of_changes(values, INSTANTS, flow.given[:, p, c])
    flow.tally[KNOWN], flow.clock[STRIDE] = TOLD, h
