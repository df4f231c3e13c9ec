"""The history of a smooth motion: backward differences of accelerations and forces at instants of equal spacing.

With the value ``a`` at the last instant, D a = a - a before, D^2 a = D a - D a before, and so on. Macro steps
(``macro_step``) add an instant each. The spacing can be changed, since the polynomial behind the differences stays the
same (Gear 1971, chapter 9). After an event the history is of no use, but the continuous extension of one step of
Dormand and Prince's method is a polynomial, too, which can be extended backwards beyond the event as well as forwards:
it is the history then (Gear 1980, Runge-Kutta starters for multistep methods).
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.events.contact_set import keep_forces
from footfall.engine.events.dormand_prince import STAGES, WITHIN
from footfall.solve.dense import copy

#: Highest order of the predictor, and so the number of differences that are kept of forces and of changes.
ORDER = 7
#: Weights of the differences of a value at the end of a macro step in its integral over it (Adams and Moulton).
INTEGRAL = np.array([1, -1 / 2, -1 / 12, -1 / 24, -19 / 720, -3 / 160, -863 / 60480, -275 / 24192, -33953 / 3628800])
#: Shortest step whose continuous extension is used as the history, relative to the period: differences of a shorter one
#: would be extrapolated to more than ten times their spacing.
SHORTEST = 0.1
#: Differences of accelerations that the extension has, which is a polynomial of fourth degree in velocities.
EXTENDED = 4


def extension_weights() -> np.ndarray:
    """(2, ORDER + 1, STAGES) Weights of the stages of a step at its end and at instants before, one step apart: of the
    rate of what it integrates, and of the integral from its beginning.
    """
    part, powers = 1.0 - np.arange(ORDER + 1.0)[:, None], np.arange(1, WITHIN.shape[1] + 1)
    return np.array([(powers * part ** (powers - 1)) @ WITHIN.T, part**powers @ WITHIN.T])


@inlined
def forget(flow):
    """Drop the history: what was before says nothing of what comes."""
    flow.known[0] = 0


@inlined
def differ(values, count):
    """Replace this many values, the last first, by their backward differences."""
    for k in range(1, count):
        for m in range(count - 1, k - 1, -1):
            values[m] = values[m - 1] - values[m]


@inlined
def weighted_sum(weights, last, before, order):
    """The weighted sum of the differences of a ``last`` value; ``before`` are those of the value before it."""
    change, total = last, weights[0] * last
    for k in range(order):
        change -= before[k]
        total += weights[k + 1] * change
    return total


@inlined
def shift(differences, value, count):
    """Update the first ``count`` backward differences with a new ``value``, which is overwritten."""
    for k in range(count):
        row = differences[k]
        for j in range(value.size):
            last = row[j]
            row[j] = value[j]
            value[j] -= last


@inlined
def add_instant(world, points, contacts, flow):
    """Add the present accelerations, velocities and forces to the history."""
    known, value = flow.known[0], flow.change
    for i in range(world.ctrl.size):
        if world.ctrl[i] != flow.ctrl[i]:
            known = min(known, 1)  # accelerations changed with the controls: only their difference is known
    copy(flow.ctrl, world.ctrl)
    copy(value, world.qacc)
    shift(flow.accelerations, value, min(known, ORDER + 1) + 1)
    for j in range(value.size):
        value[j] = world.qvel[j] - flow.speed[j]
    shift(flow.changes, value, min(known, ORDER))
    copy(flow.speed, world.qvel)
    keep_forces(points, contacts, flow.force[0])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            change = flow.force[0, p, c]
            for k in range(min(known, ORDER - 1) + 1):
                last = flow.forces[k, p, c]
                flow.forces[k, p, c] = change
                change -= last
    flow.known[0] = min(known, ORDER + 1) + 1


@inlined
def add_impulses(contacts, flow):
    """Add the impulses of a macro step to the history and to those of the period."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            change = flow.macro_impulse[p, c]
            flow.impulse[p, c] += change
            for k in range(min(flow.known[0], ORDER)):
                last = flow.impulses[k, p, c]
                flow.impulses[k, p, c] = change
                change -= last


# ---- another spacing -----------------------------------------------------------------------------------------


@inlined
def respace(rows, scaling, count):
    """Replace differences by those at another spacing; each of ``rows`` has all numbers of one difference."""
    for m in range(count):
        for j in range(rows.shape[1]):
            value = 0.0
            for k in range(m, count):
                value += scaling[m, k] * rows[k, j]
            rows[m, j] = value


@inlined
def integrate(rates, count, integral, spacing, out):
    """Differences of the integrals of a rate over each ``spacing`` (s), from those of the rate."""
    for m in range(out.shape[0]):
        for j in range(out.shape[1]):
            value = 0.0
            for k in range(m, count):
                value += integral[k - m] * rates[k, j]
            out[m, j] = spacing * value


@inlined
def reliable(flow, ratio):
    """How many differences are reliable at ``ratio`` times the spacing: those up to the first that is larger than the
    one before.
    """
    before, power = math.inf, 1.0
    for k in range(flow.known[0]):
        worst = 0.0
        for j in range(flow.accelerations.shape[1]):
            worst = max(worst, power * abs(flow.accelerations[k, j]))
        if worst > before:
            return k
        before, power = worst, power * ratio
    return flow.known[0]


@cold(types.none, soon=True)
def change_spacing(flow, spacing):
    """Convert the history to instants ``spacing`` seconds apart, the last of which is now."""
    ratio, scaling = spacing / flow.spacing[0], flow.scaling
    known, size = reliable(flow, ratio), scaling.shape[0]
    for i in range(size):
        value = 1.0
        for k in range(size):
            scaling[i, k] = value  # Newton's interpolation, i macro steps ago
            value *= (k - i * ratio) / (k + 1.0)
    for k in range(size):
        differ(scaling[:, k], size)
    respace(flow.accelerations, scaling, known)
    integrate(flow.accelerations, known, flow.integral, spacing, flow.changes)
    count = min(known, ORDER)
    for p in range(flow.touching.size):
        if flow.touching[p] == 1:
            respace(flow.forces[:, p], scaling, count)
            integrate(flow.forces[:, p], count, flow.integral, spacing, flow.impulses[:, p])
    flow.known[0], flow.spacing[0] = known, spacing


# ---- after an event ------------------------------------------------------------------------------------------


@inlined
def extend_back(flow, what, stages, first, factor):
    """Write ``factor`` times what a rate that is known at the ``stages`` of a step was at the instants from ``first``
    on (``what``: 0), or its integral from the beginning of the step (1).
    """
    for m in range(first, ORDER + 1):
        value = 0.0
        for s in range(STAGES):
            value += flow.extension[what, m, s] * stages[s]
        flow.values[m - first] = factor * value


@inlined
def put_differences(values, out):
    """Put the backward differences of values, the last first, where they are kept."""
    differ(values, EXTENDED)
    for k in range(EXTENDED):
        out[k] = values[k]


@inlined
def put_differences_of_changes(values, count, out):
    """The same of how ``count`` values changed from one to the next."""
    for m in range(count - 1):
        values[m] -= values[m + 1]
    put_differences(values, out)


@cold(types.none, soon=True)
def restart(world, contacts, flow, h):
    """Let the history be that of a step of ``h`` seconds that is over.

    Accelerations and forces begin with the beginning of the step: its end is added next. Velocity changes likewise end
    there; impulses end with the step.
    """
    nq, values = world.qpos.size, flow.values
    for j in range(world.qvel.size):
        rates = flow.slope[:, nq + j]
        extend_back(flow, 0, rates, 1, 1.0)
        put_differences(values, flow.accelerations[:, j])
        extend_back(flow, 1, rates, 1, h)
        flow.speed[j] = flow.start[nq + j] + values[0]
        put_differences_of_changes(values, ORDER, flow.changes[:, j])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            rates = flow.force[:, p, c]
            extend_back(flow, 0, rates, 1, 1.0)
            put_differences(values, flow.forces[:, p, c])
            extend_back(flow, 1, rates, 0, h)
            put_differences_of_changes(values, ORDER + 1, flow.impulses[:, p, c])
    copy(flow.ctrl, world.ctrl)
    flow.known[0], flow.spacing[0] = EXTENDED, h
