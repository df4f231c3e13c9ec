"""Where to step: the foothold that was planned, moved by what the standing foot cannot put right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from footfall.control.biped import Sole
from footfall.gait.dcm import Point
from footfall.gait.footsteps import Footstep, Pose

#: Share of the sole within which the pressure centre alone leads the divergent component back.
ANKLE_SHARE = 0.6
#: How far a foot steps ahead or behind, and how much farther aside than at the nearest, as a share of the leg's length.
AHEAD, ASIDE = 0.6, 0.35
#: Between the sides of the feet at the nearest, as a share of the leg's length.
APART = 0.04


@dataclass(frozen=True)
class Foothold:
    """Where the foot shall land (m), and how far beyond its reach (m) it should."""

    place: Point
    beyond: float


def find_foothold(
    planned: Pose, step: Footstep, stance: Pose, sole: Sole, error: Point, omega: float, left: float, edge: float
) -> Foothold:
    """The foothold for a divergent component that is ``error`` (m) off its reference, ``left`` (s) before landing.

    The error e grows to e exp(w t) less (exp(w t) - 1) times what the pressure centre is moved, which it can be within
    the sole ``edge`` (m) from its edges. What remains at the landing moves the foothold: with the pressure centre going
    over to the new foot in the time T of double support, by w T / (1 - exp(-w T)) times as much.
    """
    growth = math.exp(omega * left)
    swap = omega * step.double_support
    gain = swap / -math.expm1(-swap)
    c, s = math.cos(stance[2]), math.sin(stance[2])
    moved = []
    for off, half in (
        (c * error[0] + s * error[1], sole.half_length - edge),
        (-s * error[0] + c * error[1], sole.half_width - edge),
    ):
        reach = ANKLE_SHARE * half
        shift = min(max(growth * off / (growth - 1.0), -reach), reach)
        moved.append(gain * (growth * off - (growth - 1.0) * shift))
    dx, dy = planned[0] - stance[0], planned[1] - stance[1]
    ahead, aside = c * dx + s * dy + moved[0], step.side * (-s * dx + c * dy + moved[1])
    nearest, longest = 2.0 * sole.half_width + APART * sole.leg, AHEAD * sole.leg
    near_ahead = min(max(ahead, -longest), longest)
    near_aside = min(max(aside, nearest), nearest + ASIDE * sole.leg)
    beyond = math.hypot(ahead - near_ahead, aside - near_aside)
    near_aside *= step.side
    place = stance[0] + c * near_ahead - s * near_aside, stance[1] + s * near_ahead + c * near_aside
    return Foothold(place, beyond)
