"""When to step where no pressure centre helps: the duration that asks least of foothold, timing and what comes after.

Over a point at p the divergent component is p + (xi - p) exp(w t) after a time t: linear in s = exp(w t). With its plan
for the landing, xi_l = landing + offset, a foothold moved by u and an offset that is missed by v, it obeys

    (xi - p) s + p - xi_l = u / k + v        (k: how much farther a foothold moves than what it corrects)

Khadiv, Herzog, Moosavian and Righetti 2020, "Walking control based on step timing adaptation", IEEE Transactions on
Robotics 36, choose u, v and s by a quadratic program: cost a1 u^2 + a2 (s - s_planned)^2 + a3 v^2 with bounds on u and
s. For a given s, u and v follow in each axis by themselves, so that only s is searched.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from footfall.compiled import inlined

#: Costs of foothold, time and offset, lengths in legs: a missed offset grows with every step and costs most, and the
#: time changes where the foothold alone does not do.
FOOTHOLD, TIME, OFFSET = 1.0, 5.0, 1000.0
#: Halvings of the interval in which s lies.
HALVINGS = 30


class Way(NamedTuple):
    """One axis of a step, lengths in legs: the divergent component is off its plan by rate s + rest at the landing."""

    rate: float
    rest: float
    low: float  # of the foothold's move
    high: float


class Times(NamedTuple):
    """s until the landing: planned, least and most; and 1/s, the pendulum's."""

    planned: float
    least: float
    most: float
    omega: float


@inlined
def missed(way, s, gain):
    """What is left of an axis for the steps after this one, with the best foothold."""
    off = way.rate * s + way.rest
    best = OFFSET * off / gain / (FOOTHOLD + OFFSET / (gain * gain))
    return off - min(max(best, way.low), way.high) / gain


@inlined
def time_to_landing(ahead, aside, times, gain):
    """How long until the foot should land (s), for the two ways of a step."""
    low, high = math.exp(times.omega * times.least), math.exp(times.omega * times.most)
    planned = math.exp(times.omega * times.planned)
    for _ in range(HALVINGS):  # where the slope of the cost, which is convex, changes its sign
        s = 0.5 * (low + high)
        slope = TIME * (s - planned)
        slope += OFFSET * (ahead.rate * missed(ahead, s, gain) + aside.rate * missed(aside, s, gain))
        if slope > 0.0:
            high = s
        else:
            low = s
    return math.log(0.5 * (low + high)) / times.omega
