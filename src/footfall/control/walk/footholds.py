"""Where to step, and when: the planned foothold, moved by the error that the standing foot cannot correct.

On one point foot the three components of the force can control either the centre of mass or the attitude of the trunk.
They hold the attitude; the mass moves like an inverted pendulum over the point, and its divergent component is
controlled only by where and when the next foot lands (Englsberger, Ott and Albu-Schaeffer 2015). A foothold that
corrects the measured error does not correct the errors that recur in every step: from a swinging leg, an impact, or
soft ground that takes up load late. Amplified by exp(w T) they would cause a drift, so they are learnt from step to
step (``trim``). A point bears no moment about the vertical: the heading is held while both feet stand.

The duration of a step. Over a point at p the divergent component is p + (xi - p) exp(w t) after a
time t: linear in s = exp(w t). With its plan for the landing, xi_l = landing + offset, a foothold moved by u and an
offset that is missed by v, it obeys

    (xi - p) s + p - xi_l = u / k + v        (k: how much farther a foothold moves than what it corrects)

Khadiv, Herzog, Moosavian and Righetti 2020, "Walking control based on step timing adaptation", IEEE Transactions on
Robotics 36, choose u, v and s by a quadratic program: cost a1 u^2 + a2 (s - s_planned)^2 + a3 v^2 with bounds on u and
s. For a given s, u and v follow in each axis by themselves, so that only s is searched.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from footfall.compiled import inlined
from footfall.control.walk.ground import STEEPEST
from footfall.control.walk.state import Walker
from footfall.control.walk.stature import AHEAD, APART, ASIDE, FARTHER
from footfall.control.whole_body import TURN
from footfall.gait.footsteps import Footstep
from footfall.kinds import Float, Int

#: Share of the sole within which the pressure centre alone brings the divergent component back.
ANKLE_SHARE = 0.6


@inlined
def from_stance(walk: Walker, stance: Int, side: Float, x: Float, y: Float) -> tuple[Float, Float]:
    """A vector (x, y; m) as ahead along the foot that stands, and outward on the side of the other."""
    c, s = math.cos(walk.now.headings[stance]), math.sin(walk.now.headings[stance])
    return c * x + s * y, side * (c * y - s * x)


@inlined
def find_foothold(walk: Walker, step: Footstep, stance: Int, left: Float) -> tuple[Float, Float, Float]:
    """The foothold (x, y) in m of a foot that lands in ``left`` (s), and by how much (m) it should have been farther
    than the leg reaches.

    An error e of the divergent component grows to e exp(w t) less (exp(w t) - 1) times what the pressure centre is
    moved, which it can be within the sole. What remains at the landing moves the foothold: with the pressure centre
    going over to the new foot in the time T of double support, by w T / (1 - exp(-w T)) times as much.
    """
    now, soles, at, side = walk.now, walk.body.soles, walk.body.place[stance], step.side
    growth, gain = math.exp(now.dcm_plan.omega * left), landing_gain(now.dcm_plan.omega, step)
    x, y = walk.signals.dcm[0] - walk.signals.dcm_reference[0], walk.signals.dcm[1] - walk.signals.dcm_reference[1]
    off_ahead, off_aside = from_stance(walk, stance, side, x, y)
    x, y = trimmed_landing(walk, step)
    ahead, aside = from_stance(walk, stance, side, x - at[0], y - at[1])
    ahead += gain * left_over(off_ahead, growth, ANKLE_SHARE * (soles.half_length[stance] - walk.gait.edge))
    aside += gain * left_over(off_aside, growth, ANKLE_SHARE * (soles.half_width[stance] - walk.gait.edge))
    longest, nearest, farthest = within_reach(walk, step, stance)
    near_ahead, near_aside = min(max(ahead, -longest), longest), min(max(aside, nearest), farthest)
    beyond = math.hypot(ahead - near_ahead, aside - near_aside)
    near_aside *= side
    c, s = math.cos(now.headings[stance]), math.sin(now.headings[stance])
    return at[0] + c * near_ahead - s * near_aside, at[1] + s * near_ahead + c * near_aside, beyond


@inlined
def landing_gain(omega: Float, step: Footstep) -> Float:
    """How much farther a foothold is moved than what it puts right, see :func:`find_foothold`."""
    swap = omega * step.double_support
    return swap / -math.expm1(-swap)


@inlined
def within_reach(walk: Walker, step: Footstep, stance: Int) -> tuple[Float, Float, Float]:
    """How far from the standing foot (m): ahead or behind at most, aside at least and at most."""
    leg = walk.body.soles.leg[stance]
    nearest = 2.0 * walk.body.soles.half_width[stance] + APART * leg
    return AHEAD * leg, nearest, max(nearest + ASIDE * leg, step.width + FARTHER * leg)


@inlined
def left_over(off: Float, growth: Float, reach: Float) -> Float:
    """What is left at the landing of an error ``off`` (m) if the pressure centre moves by up to ``reach`` (m)."""
    shift = min(max(growth * off / (growth - 1.0), -reach), reach)
    return growth * off - (growth - 1.0) * shift


#: Weights a1, a2 and a3 of foothold, time and offset, lengths in legs: a missed offset grows with every step and costs
#: most; the time changes only where a change of the foothold does not suffice.
FOOTHOLD, TIME, OFFSET = 1.0, 5.0, 1000.0
#: Bisections of the interval of s.
HALVINGS = 30


class Way(NamedTuple):
    """One axis of a step, lengths in legs: the divergent component is off its plan by rate s + rest at the landing."""

    rate: float
    rest: float
    low: float  # of the foothold's move
    high: float
    reach: float  # that the pressure centre moves within the sole


class Times(NamedTuple):
    """s until the landing: planned, least and most; and 1/s, the pendulum's."""

    planned: float
    least: float
    most: float
    omega: float


@inlined
def pull(way: Way, s: Float, gain: Float) -> Float:
    """Half the derivative by s of the square of what is left of an axis for the steps after this one, with the best
    foothold and pressure centre.
    """
    off = way.rate * s + way.rest
    shift = min(max(off / (s - 1.0), -way.reach), way.reach)
    off -= shift * (s - 1.0)
    best = OFFSET * off / gain / (FOOTHOLD + OFFSET / (gain * gain))
    return (way.rate - shift) * (off - min(max(best, way.low), way.high) / gain)


@inlined
def time_to_landing(ahead: Way, aside: Way, times: Times, gain: Float) -> Float:
    """How long until the foot should land (s), for the two ways of a step."""
    low, high = math.exp(times.omega * times.least), math.exp(times.omega * times.most)
    planned = math.exp(times.omega * times.planned)
    for _ in range(HALVINGS):  # where the slope of the cost, which is convex, changes its sign
        s = 0.5 * (low + high)
        slope = TIME * (s - planned) + OFFSET * (pull(ahead, s, gain) + pull(aside, s, gain))
        if slope > 0.0:
            high = s
        else:
            low = s
    return math.log(0.5 * (low + high)) / times.omega


#: Share of a recurring error by which the next footholds are moved, and the largest sum of these shifts, in legs.
LEARNT, MOST_TRIM = 0.3, 0.08
#: Gain of the slope learnt from the rise between two footholds; and distance of the feet, in legs, below which it is
#: reduced.
FELT, NEAR = 1.0, 0.1
#: Shortest and longest swing, and time before the landing in which it no longer changes, as shares of the planned one.
QUICKEST, SLOWEST, SETTLED = 0.7, 1.4, 0.14


@inlined
def keep_to_points(walk: Walker, standing: Int) -> None:
    """Move the pressure centre that is wanted to where points can be pressed: that of the one foot that stands, or the
    nearest place on the line between both (``standing`` -1).
    """
    place, wanted = walk.body.place, walk.signals.cop_reference
    at, x, y = max(standing, 0), 0.0, 0.0
    if standing < 0:
        x, y = place[1, 0] - place[0, 0], place[1, 1] - place[0, 1]
        part = (x * (wanted[0] - place[0, 0]) + y * (wanted[1] - place[0, 1])) / max(x * x + y * y, 1e-12)
        part = min(max(part, 0.0), 1.0)
        x, y = part * x, part * y
    wanted[0], wanted[1] = place[at, 0] + x, place[at, 1] + y
    walk.body.problem.weight[TURN + 2] = walk.body.heading_weight if standing < 0 else 0.0


@inlined
def learn_trim(walk: Walker, foot: Int, step: Footstep) -> None:
    """Learn from where a foot landed: what moved it off its plan grew by exp(w t) since the foot before landed.

    That one should have gone farther ahead, or less far out: it stood on the other side.
    """
    now, at, leg = walk.now, walk.body.place[foot], walk.body.soles.leg
    c, s = math.cos(now.landing[2]), math.sin(now.landing[2])
    x, y = at[0] - now.landing[0], at[1] - now.landing[1]
    share = LEARNT * math.exp(-now.dcm_plan.omega * step.swing)
    most = MOST_TRIM * min(leg[0], leg[1])
    now.trim[0] = min(max(now.trim[0] + share * (c * x + s * y), -most), most)
    now.trim[1] = min(max(now.trim[1] - share * step.side * (c * y - s * x), -most), most)


@inlined
def learn_slope(walk: Walker, foot: Int) -> None:
    """Learn the slope of the ground from how much higher a foot landed than the other stands (Kaczmarz's step)."""
    slope, place = walk.now.slope, walk.body.place
    x, y = place[foot, 0] - place[1 - foot, 0], place[foot, 1] - place[1 - foot, 1]
    rise = place[foot, 2] - place[1 - foot, 2] - slope[0] * x - slope[1] * y
    near = NEAR * walk.body.soles.leg[foot]
    for c in range(2):
        along = x if c == 0 else y
        felt = slope[c] + FELT * rise * along / (x * x + y * y + near * near)
        slope[c] = min(max(felt, -STEEPEST), STEEPEST)


@inlined
def trimmed_landing(walk: Walker, step: Footstep) -> tuple[Float, Float]:
    """Where the moving foot shall land (x, y; m) with what was learnt."""
    trim, landing = walk.now.trim, walk.now.landing
    c, s, aside = math.cos(landing[2]), math.sin(landing[2]), step.side * trim[1]
    return landing[0] + c * trim[0] - s * aside, landing[1] + s * trim[0] + c * aside


@inlined
def time_step(walk: Walker, time: Float, step: Footstep, stance: Int) -> None:
    """Let the swing last as long as asks least of foothold, timing and the steps after; ``stance`` stands."""
    now, plan, soles, swing = walk.now, walk.now.dcm_plan, walk.body.soles, walk.now.swing
    planned = step.swing - swing.time[0]
    if now.stumbled[0] or now.lasts[0] - (time - now.since[0]) < SETTLED * step.swing:
        return
    x, y = trimmed_landing(walk, step)
    at, leg, lands, side = walk.body.place[stance], soles.leg[stance], plan.dcm[now.lands_after[0]], step.side
    longest, nearest, farthest = within_reach(walk, step, stance)
    landing = from_stance(walk, stance, side, x - at[0], y - at[1])
    rate = from_stance(walk, stance, side, walk.signals.dcm[0] - at[0], walk.signals.dcm[1] - at[1])
    rest = from_stance(walk, stance, side, at[0] - lands[0], at[1] - lands[1])
    # Along the foot the pressure centre moves, and tells the time only where that does not suffice.
    reach = ANKLE_SHARE * max(soles.half_length[stance] - walk.gait.edge, 0.0) / leg
    ahead = Way(rate[0] / leg, rest[0] / leg, (-longest - landing[0]) / leg, (longest - landing[0]) / leg, reach)
    aside = Way(rate[1] / leg, rest[1] / leg, (nearest - landing[1]) / leg, (farthest - landing[1]) / leg, 0.0)
    least = max(planned - (1.0 - QUICKEST) * step.swing, SETTLED * step.swing)
    times = Times(max(planned, least), least, max(planned + (SLOWEST - 1.0) * step.swing, least), plan.omega)
    left = time_to_landing(ahead, aside, times, landing_gain(plan.omega, step))
    now.since[0] = time + left - now.lasts[0]
    swing.duration[0] = swing.time[0] + left
