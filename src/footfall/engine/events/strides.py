"""Strides: a period, or the rest of one, in equal parts that are predicted from those before.

The history of the motion is kept at instants one stride apart, as backward differences. Where a whole period is too
long to be predicted, half of it may not be: differences at a spacing ``ratio`` times as large are sums of the known
ones, since the polynomial behind them is the same (Gear 1971, chapter 9).
"""

from __future__ import annotations

import math

from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.events.flow import KNOWN, ORDER, SHARE, STRIDE, UNKNOWN

#: Most strides of a period.
MOST_STRIDES = 24
#: Largest error of the predicted end of a stride, relative to the tolerance; and largest estimated error with which a
#: whole period is still tried, since right after an event the estimate is too large.
FAR_OFF, HOPEFUL = 1000.0, 3.0
#: Most evaluations of the end of a stride.
MOST_TURNS = 3


@inlined
def differ(values, count):
    """Replace this many values, the last first, by their backward differences."""
    for k in range(1, count):
        for m in range(count - 1, k - 1, -1):
            values[m] = values[m - 1] - values[m]


@inlined
def largest_differences(world, flow):
    """Put the largest of each known difference of accelerations, m/s2, into ``flow.values``. Gives their number."""
    known = flow.tally[KNOWN]
    for k in range(known):
        worst = 0.0
        for j in range(world.qvel.size):
            worst = max(worst, abs(flow.pace[k, j]))
        flow.values[k] = worst
    return known


@inlined
def errors_of(flow, known, stride):
    """Least errors of a stride of this many seconds, m/s: of Adams and Moulton's method, and of the prediction."""
    ratio = stride / flow.clock[STRIDE]
    corrected, foretold, power, before = UNKNOWN, UNKNOWN, stride, UNKNOWN
    for k in range(1, known):
        power *= ratio
        worst = power * flow.values[k]
        foretold = min(foretold, before + flow.differences[k, 1] * worst)
        before = flow.differences[k, 1] * worst
        if k > 1:
            after = ratio * power * flow.values[k + 1] if k + 1 < known else 0.0
            # The first difference left out may pass through zero.
            corrected = min(corrected, flow.differences[k - 1, 0] * (worst + after))
    return corrected, foretold


@inlined
def turns_to(flow, stride, off):
    """How many evaluations the end of a stride with this error, m/s, is likely to need."""
    turns, share = 1, stride * flow.clock[SHARE]
    while turns < MOST_TURNS and off * share > flow.tolerance:
        off *= share
        turns += 1
    return turns


@inlined
def divide(world, flow, left):
    """The stride (s) in which the ``left`` seconds of a period are predicted with the fewest evaluations; 0 if none is
    accurate enough.
    """
    known, allowed = largest_differences(world, flow), flow.tolerance
    best, least = 0.0, (1 + MOST_TURNS) * MOST_STRIDES + 1
    for parts in range(1, MOST_STRIDES + 1):
        if 2 * parts >= least:
            break
        stride = left / parts
        corrected, foretold = errors_of(flow, known, stride)
        if foretold <= allowed:
            return stride
        hope = HOPEFUL if parts == 1 else 1.0
        if corrected <= hope * allowed and foretold <= FAR_OFF * allowed:
            count = parts * (1 + turns_to(flow, stride, foretold))
            if count < least:
                best, least = stride, count
    return best


@inlined
def respace(rows, scaling, count):
    """Replace differences by those at a larger spacing; each of ``rows`` has all numbers of one difference."""
    for m in range(count):
        for j in range(rows.shape[1]):
            value = 0.0
            for k in range(m, count):
                value += scaling[m, k] * rows[k, j]
            rows[m, j] = value


@inlined
def integrate(rates, count, part, stride, out):
    """Differences of the integrals of a rate over strides, from those of the rate."""
    for m in range(out.shape[0]):
        for j in range(out.shape[1]):
            value = 0.0
            for k in range(m, count):
                value += part[k - m] * rates[k, j]
            out[m, j] = stride * value


@inlined
def trusted(flow, ratio):
    """How many differences are reliable at ``ratio`` times the spacing: those up to the first that is larger than the
    one before.
    """
    before, power = math.inf, 1.0
    for k in range(flow.tally[KNOWN]):
        worst = 0.0
        for j in range(flow.pace.shape[1]):
            worst = max(worst, power * abs(flow.pace[k, j]))
        if worst > before:
            return k
        before, power = worst, power * ratio
    return flow.tally[KNOWN]


@cold(types.none, soon=True)
def change_stride(flow, stride):
    """Convert the history to instants ``stride`` seconds apart, the last of which is now."""
    ratio, scaling = stride / flow.clock[STRIDE], flow.scaling
    known, size = trusted(flow, ratio), scaling.shape[0]
    flow.tally[KNOWN] = known
    for i in range(size):
        value = 1.0
        for k in range(size):
            scaling[i, k] = value  # Newton's interpolation, i strides ago
            value *= (k - i * ratio) / (k + 1.0)
    for k in range(size):
        differ(scaling[:, k], size)
    respace(flow.pace, scaling, known)
    integrate(flow.pace, known, flow.part, stride, flow.gained)
    count = min(known, ORDER)
    for p in range(flow.touching.size):
        if flow.touching[p] == 1:
            respace(flow.began[:, p], scaling, count)
            integrate(flow.began[:, p], count, flow.part, stride, flow.given[:, p])
    flow.clock[STRIDE] = stride
