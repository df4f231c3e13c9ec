"""Macro steps: smooth motion over a period, or an equal part of it, by a predictor and corrector with one to four
evaluations.

No point in contact leaves or changes from rest to slip, no other arrives, joints are away from their limits and motors
from those of their force. Accelerations are extrapolated from the history by their backward differences.
The predictor of order k is

    sum of D^m v / m (m = 1 to k + 1) at the end = size times the sum of D^m a (m = 0 to k - 1) at the beginning,

a backward differentiation formula with the acceleration at the end extrapolated, one order below it. That costs hardly
any accuracy and is stable for fast damping c of a joint: c times size up to 2.2, 1.5, 1.1 and 0.89 with orders 2 to 5,
where Adams and Bashforth's method allows 1, 0.5, 0.3 and 0.2. No such formula of higher order is stable: orders 6 and 7
also use six differences of velocities and complete them with accelerations; they allow 0.44 and 0.23. Order 1 is a
constant acceleration. Positions advance by the mean velocity of Adams and Moulton's method. Forces have the same
differences, so that recorded impulses explain the change of momentum.

Where the predictor is not accurate enough, or something may change, the predicted end is evaluated, and corrected by
Adams and Moulton's method,

    v at the end = v + size times the sum of c_m D^m a (m = 0 to k) at the end, c = 1, -1/2, -1/12, -1/24, -19/720 ...,

whose error is a fiftieth of the predictor's, plus a share of the predictor's error, since accelerations depend on
velocities: another evaluation tells how large that share is.

The history is backward differences of accelerations and forces at instants of equal spacing, of which each macro step
adds one: with the value ``a`` at the last instant, D a = a - a before, D^2 a = D a - D a before, and so on. The spacing
is an equal part of a period. After an event the continuous extension of one step of Dormand and Prince's method is the
history: a polynomial, which can be extended backwards beyond the event as well as forwards (Gear 1980, Runge-Kutta
starters for multistep methods).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from footfall.compiled import cold, inlined
from footfall.contact.event_law import DOES, engine_columns
from footfall.engine.clearance import bodies_stay_apart
from footfall.engine.events.contact_events import UNSOUND, find_event, is_sound, keep_forces
from footfall.engine.events.dormand_prince import STAGES, WITHIN, allowed, write_state
from footfall.engine.events.evaluation import FOUND, PREDICTED, STOPS, evaluate
from footfall.engine.events.joint_events import (
    friction_changed,
    friction_may_change,
    motors_may_bend,
    near_limit,
)
from footfall.engine.other_bodies.near import live
from footfall.engine.other_bodies.points import Points
from footfall.engine.stages import integrate_activations, integrate_positions
from footfall.engine.step import Conditions, Loop
from footfall.engine.world import MjWorld
from footfall.kinds import Bool, Float, Int, Matrix, Named, Vector
from footfall.solve.contacts import STICK, Contacts
from footfall.solve.dense import copy

#: Highest order of the predictor, and so the number of differences that are kept of forces and of changes.
ORDER = 7
#: Weights of the differences of a value at the end of a macro step in its integral over it (Adams and Moulton).
INTEGRAL = np.array([1, -1 / 2, -1 / 12, -1 / 24, -19 / 720, -3 / 160, -863 / 60480, -275 / 24192, -33953 / 3628800])
#: Shortest step whose continuous extension is used as the history, relative to the period: differences of a shorter one
#: would be extrapolated to more than ten times their spacing.
SHORTEST_HISTORY = 0.1
#: Differences of accelerations that the extension has, which is a polynomial of fourth degree in velocities.
EXTENDED = 4
#: Most differences of velocities that the predictor uses: with more it is not stable.
OF_VELOCITIES = 6
#: Relative difference between what is left of a period and a multiple of the spacing that is rounding.
ROUNDING = 1e-9
#: Most evaluations of the end of a macro step: with four a step of Dormand and Prince's method is as good.
MOST_TURNS = 3
#: Largest error of a predicted end that is corrected, relative to the tolerance: three corrections reduce it by half
#: each, and mostly by far more.
FAR_OFF = 1000.0
#: Largest ratio of successive corrections: a slower iteration is not continued.
SLOWEST = 0.5
#: Error of an order that is not known, m/s.
UNKNOWN = 1e300
#: Gap that no point crosses in a macro step, m, besides by its own speed.
ASIDE = 1e-5
#: What is expected of the contacts in a macro step: an event, a possible event, or none.
BUSY, UNSURE, QUIET = 0, 1, 2
#: How a correction ends: the macro step is accurate, its end is to be evaluated again, or a step of another method
#: is to be taken instead.
ACCURATE, AGAIN, REJECTED = 0, 1, 2


# ---- the history ---------------------------------------------------------------------------------------------


def extension_weights() -> np.ndarray:
    """(2, ORDER + 1, STAGES) Weights of the stages of a step at its end and at instants before, one step apart: of the
    rate of what it integrates, and of the integral from its beginning.
    """
    part, powers = 1.0 - np.arange(ORDER + 1.0)[:, None], np.arange(1, WITHIN.shape[1] + 1)
    return np.array([(powers * part ** (powers - 1)) @ WITHIN.T, part**powers @ WITHIN.T])


@inlined
def is_spaced(flow: Named, size: Float) -> Bool:
    """Whether the instants of the history are ``size`` seconds apart."""
    return abs(size - flow.spacing[0]) <= ROUNDING * size


@inlined
def differ(values: Vector, count: Int) -> None:
    """Replace this many values, the last first, by their backward differences."""
    for k in range(1, count):
        for m in range(count - 1, k - 1, -1):
            values[m] = values[m - 1] - values[m]


@inlined
def weighted_sum(weights: Vector, last: Float, before: Vector, order: Int) -> Float:
    """The weighted sum of the differences of a ``last`` value; ``before`` are those of the value before it."""
    change, total = last, weights[0] * last
    for k in range(order):
        change -= before[k]
        total += weights[k + 1] * change
    return total


@inlined
def shift(differences: Matrix, value: Vector, count: Int) -> None:
    """Update the first ``count`` backward differences with a new ``value``, which is overwritten."""
    for k in range(count):
        row = differences[k]
        for j in range(value.size):
            last = row[j]
            row[j] = value[j]
            value[j] -= last


@inlined
def add_instant(world: MjWorld, points: Points, contacts: Contacts, flow: Named) -> None:
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
def add_impulses(contacts: Contacts, flow: Named) -> None:
    """Add the impulses of a step to the history and to those of the period."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            change = flow.macro_impulse[p, c]
            flow.impulse[p, c] += change
            for k in range(min(flow.known[0], ORDER)):
                last = flow.impulses[k, p, c]
                flow.impulses[k, p, c] = change
                change -= last


# ---- after an event ------------------------------------------------------------------------------------------


@inlined
def extend_back(flow: Named, what: Int, stages: Vector, first: Int, factor: Float) -> None:
    """Write ``factor`` times what a rate that is known at the ``stages`` of a step was at the instants from ``first``
    on (``what``: 0), or its integral from the beginning of the step (1).
    """
    for m in range(first, ORDER + 1):
        value = 0.0
        for s in range(STAGES):
            value += flow.extension[what, m, s] * stages[s]
        flow.values[m - first] = factor * value


@inlined
def put_differences(values: Vector, out: Vector) -> None:
    """Put the backward differences of values, the last first, where they are kept."""
    differ(values, EXTENDED)
    for k in range(EXTENDED):
        out[k] = values[k]


@inlined
def put_differences_of_changes(values: Vector, count: Int, out: Vector) -> None:
    """The same of how ``count`` values changed from one to the next."""
    for m in range(count - 1):
        values[m] -= values[m + 1]
    put_differences(values, out)


@cold(types.none, soon=True)
def restart(loop: Loop, flow: Named, h: Float) -> None:
    """Let the history be that of a step of ``h`` seconds that is over.

    Accelerations and forces begin with the beginning of the step: its end is added next. Velocity changes likewise end
    there; impulses end with the step.
    """
    world, contacts, values = loop.world, loop.contacts, flow.values
    nq = world.qpos.size
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


def predictor_weights() -> np.ndarray:
    """(ORDER + 1, 2, ORDER) Of each order, weights of the differences of accelerations at the beginning of a macro
    step, times its size, and of those of the velocity change in the one before, in the velocity change.
    """
    weights = np.zeros((ORDER + 1, 2, ORDER))
    for order in range(1, ORDER + 1):
        taken = min(order + 1, OF_VELOCITIES) if order > 1 else 1
        sums = np.cumsum(1.0 / np.arange(1, taken + 1))
        weights[order, 1, : taken - 1] = 1.0 - sums[:-1] / sums[-1]
        bashforth = np.cumsum(INTEGRAL[:ORDER])
        exact = bashforth - np.convolve(weights[order, 1], INTEGRAL[:ORDER])[:ORDER]
        weights[order, 0, :order] = exact[:order]
    return weights


# ---- its size ------------------------------------------------------------------------------------------------


@inlined
def best_predictor(flow: Named, size: Float) -> tuple[Int, Float]:
    """Most accurate order of the predictor for a macro step of ``size`` seconds, and its error (m/s); order 0 if too
    little is known.

    The error is estimated by the first two differences that are left out, since a single one may pass through zero.
    Where an order is unstable for fast damping, these grow, and a lower order is taken.
    """
    order, least, known, before = 0, UNKNOWN, flow.known[0], UNKNOWN
    ratio, power = size / flow.spacing[0], size
    for k in range(1, known):
        power *= ratio
        error = (0.5 if k == 1 else 1.0) * power * flow.largest[k]
        if before + error < least:
            order, least = k - 1, before + error
        before = error
    if known == 2 and before <= allowed(flow):  # for instance because controls always change
        order, least = 1, before
    return order, least


class MacroStep(NamedTuple):
    """What is to be done next."""

    size: float  # s
    order: int  # of the predictor, 0 if no macro step is to be taken
    certain: bool  # whether the end needs no evaluation


#: No macro step.
NONE = MacroStep(0.0, 0, False)


@inlined
def plan_macro_step(loop: Loop, flow: Named, left: Float) -> MacroStep:
    """The macro step to take with ``left`` seconds of the period to go.

    It is as long as the spacing of the history. Where that does not divide what is left, or the motion has become so
    smooth that one macro step would do, a step of Dormand and Prince's method begins a new history.
    """
    world, points, contacts, conditions = loop.world, loop.points, loop.contacts, loop.conditions
    parts = max(1.0, np.rint(left / flow.spacing[0]))
    size = left / parts
    if not is_spaced(flow, size):
        return NONE
    for k in range(flow.known[0]):
        flow.largest[k] = 0.0
        for j in range(world.qvel.size):
            flow.largest[k] = max(flow.largest[k], abs(flow.accelerations[k, j]))
    _, error = best_predictor(flow, left)
    if parts > 1.0 and error <= allowed(flow):
        flow.length[0] = max(flow.length[0], left)
        return NONE
    order, error = best_predictor(flow, size)
    if order == 0 or error > FAR_OFF * allowed(flow) or not is_smooth(world, conditions, flow, size):
        return NONE
    found = contacts_go_on(points, contacts, flow, size)
    if found == BUSY:
        return NONE
    certain = found == QUIET and error <= allowed(flow) and no_force_begins(world, conditions, flow, size)
    return MacroStep(size, order, certain)


# ---- what must not happen in it ------------------------------------------------------------------------------


@inlined
def may_let_go(points: Points, contacts: Contacts, flow: Named) -> Bool:
    """Whether a point at rest may lift off or slip within a period if forces go on changing as they did."""
    slack = 0.0
    for i in range(contacts.number[0]):
        slack = max(slack, UNSOUND * points.force[contacts.points[i], 2])
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, f, change = contacts.frame[p], points.force[p], flow.forces[1, p]
        x = f[0] + 2.0 * (frame[0, 0] * change[0] + frame[0, 1] * change[1] + frame[0, 2] * change[2])
        y = f[1] + 2.0 * (frame[1, 0] * change[0] + frame[1, 1] * change[1] + frame[1, 2] * change[2])
        z = f[2] + 2.0 * (frame[2, 0] * change[0] + frame[2, 1] * change[1] + frame[2, 2] * change[2])
        if z < -slack or x * x + y * y > (contacts.static_friction[p] * max(0.0, z) + slack) ** 2:
            return True
    return False


@inlined
def no_force_begins(world: MjWorld, conditions: Conditions, flow: Named, dt: Float) -> Bool:
    """Whether no bodies come into contact, no motor reaches or leaves its limits, and no joint begins or ceases to
    slip: what else an evaluation of the end would show.
    """
    joints = conditions.constraints.joints
    if motors_may_bend(world, flow) or friction_may_change(world, joints, flow, dt):
        return False
    return bodies_stay_apart(world, conditions.clearance, flow, dt)


@inlined
def is_smooth(world: MjWorld, conditions: Conditions, flow: Named, dt: Float) -> Bool:
    """Whether no limit of a joint is reached or left, and rotations and activations change little."""
    bound = allowed(flow)
    for i in range(flow.turn.shape[0]):  # the error of composing rotations, see add_turns
        spin, change, b = 0.0, 0.0, flow.turn[i, 1]
        for k in range(3):
            spin += abs(world.qvel[b + k])
            change += abs(world.qacc[b + k])
        if dt**4 / 240.0 * spin * spin * change > bound:
            return False
    if near_limit(world, conditions.constraints.joints, dt):
        return False
    for i in range(world.act.size):
        if dt * abs(world.act_dot[i]) > bound:
            return False
    return True


@inlined
def contacts_go_on(points: Points, contacts: Contacts, flow: Named, dt: Float) -> Int:
    """QUIET if points in contact stay at rest and no other arrives, UNSURE if that has to be checked, BUSY if not."""
    first, found = engine_columns(points.memory), QUIET
    for p in range(live(points)):
        if flow.touching[p] == 0 and contacts.gap[p] < ASIDE + 2.0 * dt * abs(contacts.velocity[p, 2]):
            found = UNSURE
        if flow.touching[p] == 1 and points.memory[p, first + DOES] != STICK:
            if flow.flat == 0:
                return BUSY
            found = UNSURE
    return UNSURE if found == QUIET and may_let_go(points, contacts, flow) else found


# ---- predictor and corrector ---------------------------------------------------------------------------------


@inlined
def add(total: Vector, weight: Float, part: Vector) -> None:
    for j in range(total.size):
        total[j] += weight * part[j]


@inlined
def add_turns(flow: Named, mean: Vector, change: Vector, dt: Float) -> None:
    """Correct mean angular velocities over ``dt`` (s) for turns that do not commute: Magnus's series, second term."""
    for i in range(flow.turn.shape[0]):
        a = flow.turn[i, 1]
        b, c, share = a + 1, a + 2, dt / 12.0
        x, y, z = mean[a], mean[b], mean[c]
        mean[a] += share * (y * change[c] - z * change[b])
        mean[b] += share * (z * change[a] - x * change[c])
        mean[c] += share * (x * change[b] - y * change[a])


@inlined
def move(world: MjWorld, flow: Named, order: Int, size: Float) -> None:
    """Go to the end of a macro step in which velocities change by ``flow.change``."""
    change, mean = flow.change, flow.mean
    copy(world.qvel, flow.speed)
    add(world.qvel, 0.5, change)
    copy(mean, change)
    for k in range(1, order):
        add(mean, -1.0, flow.changes[k - 1])
        add(world.qvel, flow.integral[k + 1], mean)
    add_turns(flow, world.qvel, change, size)
    integrate_positions(world, world.qvel, size)
    for j in range(change.size):
        world.qvel[j] = flow.speed[j] + change[j]


@inlined
def predict(world: MjWorld, points: Points, contacts: Contacts, flow: Named, order: Int, size: Float) -> Bool:
    """Impulses and motion of a macro step by the predictor; False, with nothing moved, if impulses are inadmissible."""
    of_rates, of_changes, change = flow.predictor[order, 0], flow.predictor[order, 1], flow.change
    for p in range(live(points)):
        for c in range(3):
            flow.macro_impulse[p, c] = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        flow.loaded[p] = STICK if points.force[p, 2] > 0.0 else flow.loaded[p]
        for c in range(3):
            value = 0.0
            for k in range(order):
                value += size * of_rates[k] * flow.forces[k, p, c] + of_changes[k] * flow.impulses[k, p, c]
            flow.macro_impulse[p, c] = value
    if order > 1 and not is_sound(points, contacts, flow, flow.macro_impulse):
        return False
    integrate_activations(world, size)
    for j in range(change.size):
        change[j] = 0.0
    for k in range(order):
        add(change, size * of_rates[k], flow.accelerations[k])
        add(change, of_changes[k], flow.changes[k])
    move(world, flow, order, size)
    return True


@inlined
def corrector_order(world: MjWorld, flow: Named, size: Float) -> tuple[Int, Float]:
    """With how many differences Adams and Moulton's method is best at the end of a macro step, and its error, m/s."""
    order, least, worst = 0, UNKNOWN, flow.values
    known = min(flow.known[0], ORDER + 1)
    for k in range(known + 1):
        worst[k] = 0.0
    for j in range(world.qvel.size):
        change = world.qacc[j]
        for k in range(known):
            change -= flow.accelerations[k, j]
            worst[k + 1] = max(worst[k + 1], abs(change))
    for k in range(1, known):
        error = -size * flow.integral[k + 1] * worst[k + 1]
        if error < least:
            order, least = k, error
    return order, least


@inlined
def lead_to_end(world: MjWorld, flow: Named, order: Int, size: Float, turn: Int) -> Float:
    """Correct the end of a macro step after so many evaluations: how far off it may still be, m/s."""
    change, off = flow.change, 0.0
    for j in range(change.size):
        gained = size * weighted_sum(flow.integral, world.qacc[j], flow.accelerations[:, j], order)
        off = max(off, abs(gained - change[j]))
        change[j] = gained
    if turn > 1:
        ratio = off / max(flow.correction[0], 1e-300)
        flow.contraction[0] = max(ratio / size, SLOWEST * flow.contraction[0])
    flow.correction[0] = off
    copy(world.qpos, flow.start[: world.qpos.size])
    move(world, flow, order, size)
    share = size * flow.contraction[0]
    return off * share / max(SLOWEST, 1.0 - share)


@cold(types.int64, soon=True)
def correct(loop: Loop, flow: Named, size: Float, turn: Int) -> Int:
    """Correct the end of a macro step, which was evaluated so many times: how that ends."""
    world, points, contacts = loop.world, loop.points, loop.contacts
    happened, _ = find_event(points, contacts, flow, 0, 0.0)
    if happened:
        return REJECTED
    order, error = corrector_order(world, flow, size)
    if error > allowed(flow):
        return REJECTED
    error += lead_to_end(world, flow, order, size, turn)
    if error > allowed(flow):
        slow = turn > 1 and size * flow.contraction[0] > SLOWEST
        return REJECTED if slow or turn == MOST_TURNS else AGAIN
    if friction_changed(world, loop.conditions.constraints.joints, flow, size):
        return REJECTED
    first = engine_columns(points.memory)
    keep_forces(points, contacts, flow.end_force)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if points.force[p, 2] > 0.0:
            flow.loaded[p] = int(points.memory[p, first + DOES])
        for c in range(3):
            last, before = flow.end_force[p, c], flow.forces[:, p, c]
            flow.macro_impulse[p, c] = size * weighted_sum(flow.integral, last, before, order)
    return ACCURATE if is_sound(points, contacts, flow, flow.macro_impulse) else REJECTED


@inlined
def take_macro_step(loop: Loop, flow: Named, step: Int, macro: MacroStep) -> tuple[Int, Float]:
    """Take a macro step whose end is evaluated: how that ends, and its size, s; 0, with nothing moved, if rejected."""
    world, points, contacts, size = loop.world, loop.points, loop.contacts, macro.size
    turn, how = 1, AGAIN
    if not predict(world, points, contacts, flow, macro.order, macro.size):
        return FOUND, 0.0
    while how == AGAIN:
        end = evaluate(loop, flow, step, PREDICTED, 0.0)
        if end == STOPS:
            return STOPS, 0.0
        how = REJECTED
        if end == FOUND and loop.outcome.status[0] == 0:
            how = correct(loop, flow, size, turn)
        turn += 1
    if how == REJECTED:
        write_state(world, flow.start)
        return FOUND, 0.0
    add_impulses(contacts, flow)
    return FOUND, size
