"""Where to step: the planned foothold, moved by the error that the standing foot cannot correct."""

from __future__ import annotations

import math
from typing import NamedTuple

from footfall.compiled import inlined

#: Share of the sole within which the pressure centre alone brings the divergent component back.
ANKLE_SHARE = 0.6
#: How far a foot steps ahead or behind, and how much farther aside than at the nearest, as a share of the leg's length.
AHEAD, ASIDE = 0.6, 0.35
#: How much farther aside than planned, as a share of the leg's length: hips may be wider than what is near a foot.
FARTHER = 0.15
#: Between the sides of the feet at the nearest, as a share of the leg's length.
APART = 0.04


class Reach(NamedTuple):
    """What bounds a foothold: the standing sole, and the leg (m)."""

    half_length: float
    half_width: float
    edge: float  # from the sides of the sole, that the pressure centre keeps
    leg: float
    ahead: float  # share of it, that a foot steps ahead or behind


@inlined
def find_foothold(planned, step, stance, reach, error, omega, left):
    """The foothold (x, y) in m of a foot that would land at ``planned``, and by how much (m) it should have been
    farther than the leg reaches.

    The divergent component is ``error`` (x, y; m) off its reference, ``left`` (s) before landing. The error e grows to
    e exp(w t) less (exp(w t) - 1) times what the pressure centre is moved, which it can be within the sole. What
    remains at the landing moves the foothold: with the pressure centre going over to the new foot in the time T of
    double support, by w T / (1 - exp(-w T)) times as much.
    """
    growth = math.exp(omega * left)
    gain = landing_gain(omega, step)
    c, s = math.cos(stance[2]), math.sin(stance[2])
    ahead_off, aside_off = c * error[0] + s * error[1], -s * error[0] + c * error[1]
    move_ahead = gain * left_over(ahead_off, growth, ANKLE_SHARE * (reach.half_length - reach.edge))
    move_aside = gain * left_over(aside_off, growth, ANKLE_SHARE * (reach.half_width - reach.edge))
    dx, dy = planned[0] - stance[0], planned[1] - stance[1]
    ahead, aside = c * dx + s * dy + move_ahead, step.side * (-s * dx + c * dy + move_aside)
    longest, nearest, farthest = within_reach(step, reach)
    near_ahead = min(max(ahead, -longest), longest)
    near_aside = min(max(aside, nearest), farthest)
    beyond = math.hypot(ahead - near_ahead, aside - near_aside)
    near_aside *= step.side
    return stance[0] + c * near_ahead - s * near_aside, stance[1] + s * near_ahead + c * near_aside, beyond


@inlined
def landing_gain(omega, step):
    """How much farther a foothold is moved than what it puts right, see :func:`find_foothold`."""
    swap = omega * step.double_support
    return swap / -math.expm1(-swap)


@inlined
def within_reach(step, reach):
    """How far from the standing foot (m): ahead or behind at most, aside at least and at most."""
    nearest = 2.0 * reach.half_width + APART * reach.leg
    return reach.ahead * reach.leg, nearest, max(nearest + ASIDE * reach.leg, step.width + FARTHER * reach.leg)


@inlined
def left_over(off, growth, reach):
    """What is left at the landing of an error ``off`` (m) if the pressure centre moves by up to ``reach`` (m)."""
    shift = min(max(growth * off / (growth - 1.0), -reach), reach)
    return growth * off - (growth - 1.0) * shift
