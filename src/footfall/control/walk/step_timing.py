"""When to step: sooner or later, depending on whether the divergent component of motion is ahead of its plan.

Over a standing foot at p the divergent component diverges as xi - p = (xi_0 - p) exp(w t), so its position tells the
phase of the step. The lateral direction is used, in which a foot is narrow and the other leg bounds the next foothold.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from footfall.compiled import inlined

#: m that the divergent component is off before the timing changes, for legs of ``walk_stature.LEG``.
DEADBAND = 0.01
#: 1/s, how much faster the clock goes per s that it should be later, and the most and least that it does.
GAIN, FASTER, SLOWER = 10.0, 1.0, 0.5
#: Part of a step by which it is delayed at most, and part before its end in which nothing changes any more.
LATEST, SETTLED = 0.6, 0.14


class SwingClock(NamedTuple):
    """How far a swing is (s), and the numbers of the pendulum."""

    spent: float  # s since it began
    lasts: float  # s, as planned
    delayed: float  # s, that it was delayed so far
    omega: float  # 1/s
    held: float  # m aside of the middle of the foot from which the pressure centre still leads back
    size: float  # of the robot's legs


@inlined
def clock_rate(now, begun, clock):
    """How much faster than time the step shall go on (negative: slower), for a divergent component that is ``now`` and
    was ``begun`` (m, from the standing foot, across the walk).
    """
    planned = begun * math.exp(clock.omega * clock.spent)
    if abs(now - planned) < DEADBAND * clock.size or clock.lasts - clock.spent < SETTLED * clock.lasts:
        return 0.0
    share = now / begun if begun != 0.0 else 0.0
    if share > 0.0:
        ahead = math.log(share) / clock.omega - clock.spent
    else:
        # On the far side of the foot's middle it comes back, led by the foot's edge; farther off it never does, and the
        # sooner the other foot can step, the better.
        ahead = -clock.lasts if abs(now) < clock.held else clock.lasts
    rate = min(max(GAIN * ahead, -SLOWER), FASTER)
    return 0.0 if rate < 0.0 and clock.delayed > LATEST * clock.lasts else rate
