"""The divergent component of motion: where the centre of mass is going, and how the pressure centre steers it.

For a centre of mass c at a constant height over the ground, accelerated by the pressure centre p as an inverted
pendulum, c'' = w^2 (c - p), the point xi = c + c'/w diverges from p: xi' = w (xi - p), while c converges to xi
(Takenaka, Matsumoto and Yoshiike 2009; Englsberger, Ott and Albu-Schaeffer 2015). A pressure centre planned piecewise
linear in time gives xi in closed form, solved backwards from where it shall end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import inlined


class DcmPlan(NamedTuple):
    """Pressure centre and divergent component over segments, one after the other from time 0.

    In each the pressure centre goes straight on, at a constant speed.
    """

    omega: float  # 1/s, the pendulum's sqrt(g / height)
    count: Any  # (1,) segments
    duration: np.ndarray  # (S,) s
    start: np.ndarray  # (S, 2) m, of the pressure centre
    end: np.ndarray  # (S, 2) m
    dcm: np.ndarray  # (S + 1, 2) m, the divergent component where each segment begins, and where the last ends


def empty_plan(omega: float, most: int) -> DcmPlan:
    """A plan without segments, that has room for ``most`` of them."""
    return DcmPlan(
        omega=float(omega),
        count=np.zeros(1, dtype=np.int64),
        duration=np.zeros(most),
        start=np.zeros((most, 2)),
        end=np.zeros((most, 2)),
        dcm=np.zeros((most + 1, 2)),
    )


@inlined
def add_segment(plan, duration, start, end):
    """Let the pressure centre go on from ``start`` to ``end`` (x, y; m) in ``duration`` (s)."""
    k = plan.count[0]
    plan.duration[k] = duration
    plan.start[k, 0], plan.start[k, 1] = start
    plan.end[k, 0], plan.end[k, 1] = end
    plan.count[0] = k + 1


@inlined
def end_at(plan, end):
    """Find the divergent component that ends at ``end`` (x, y; m) after the segments, backwards."""
    last, w = plan.count[0], plan.omega
    plan.dcm[last, 0], plan.dcm[last, 1] = end
    for k in range(last - 1, -1, -1):
        decay = math.exp(-w * plan.duration[k])
        for c in range(2):
            drift = (plan.end[k, c] - plan.start[k, c]) / (w * plan.duration[k])  # m that p goes in 1/w
            plan.dcm[k, c] = plan.start[k, c] + drift + decay * (plan.dcm[k + 1, c] - plan.end[k, c] - drift)


@inlined
def dcm_at(plan, time, pressure, dcm):
    """Write pressure centre and divergent component (2,) in m at a time (s).

    The first segment is prolonged backwards and the last point held.
    """
    last, w = plan.count[0], plan.omega
    for k in range(last):
        if time < plan.duration[k]:
            growth = math.exp(w * time)
            for c in range(2):
                start, way = plan.start[k, c], plan.end[k, c] - plan.start[k, c]
                drift = way / (w * plan.duration[k])
                pressure[c] = start + time / plan.duration[k] * way
                dcm[c] = pressure[c] + drift + growth * (plan.dcm[k, c] - start - drift)
            return
        time -= plan.duration[k]
    for c in range(2):
        pressure[c] = plan.end[last - 1, c] if last > 0 else plan.dcm[0, c]
        dcm[c] = plan.dcm[last, c]
