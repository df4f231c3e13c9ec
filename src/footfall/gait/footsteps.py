"""Footsteps of a biped, schedules of a quadruped's feet, the trajectory of a swinging foot, and the divergent component
of motion, to which the centre of mass converges.

A step is given relative to the stance foot, so that a robot that was pushed continues from its actual place. Poses are
(x, y, yaw) in m and rad.

For a centre of mass c at a constant height over the ground, accelerated by the pressure centre p as an inverted
pendulum, c'' = w^2 (c - p), the point xi = c + c'/w diverges from p: xi' = w (xi - p), while c converges to xi
(Takenaka, Matsumoto and Yoshiike 2009; Englsberger, Ott and Albu-Schaeffer 2015). A pressure centre planned piecewise
linear in time gives xi in closed form, solved backwards from its end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.kinds import Float, Matrix, Vector, zeros

LEFT, RIGHT = 1, -1
#: Most steps of a plan, which lists every step: half a day's walk.
MOST_STEPS = 50_000


class Footstep(NamedTuple):
    """One step: ``side`` is the foot that moves (``LEFT`` or ``RIGHT``).

    The line midway between the feet goes ``length`` (m) forward along an arc that turns by ``turn`` (rad, to the left),
    and ``aside`` (m, to the left);
    the foot lands half of ``width`` (m) beside it. Both feet stand for ``double_support`` (s), then the foot swings for
    ``swing`` (s).
    """

    side: int
    length: float
    turn: float
    width: float
    double_support: float
    swing: float
    aside: float = 0.0


@inlined
def landing(step: Footstep, stance: tuple[Float, Float, Float], stance_width: Float) -> tuple[Float, Float, Float]:
    """Pose of the landing foot, x, y (m) and yaw (rad), if the other stands at ``stance``, half of ``stance_width`` (m)
    beside the middle.
    """
    x, y, yaw = stance
    half = 0.5 * step.side * stance_width
    x, y = x - half * math.sin(yaw), y + half * math.cos(yaw)
    along = yaw + 0.5 * step.turn
    x += step.length * math.cos(along) - step.aside * math.sin(along)
    y += step.length * math.sin(along) + step.aside * math.cos(along)
    half, yaw = 0.5 * step.side * step.width, yaw + step.turn
    return x - half * math.sin(yaw), y + half * math.cos(yaw), yaw


@dataclass(frozen=True)
class FootstepPlan:
    """Steps of alternating feet, from standing to standing."""

    steps: tuple[Footstep, ...]

    @classmethod
    def of_moves(
        cls,
        moves: Sequence[tuple[float, float, float]],
        *,
        duration: float,
        width: float,
        double_support: float = 0.2,
    ) -> FootstepPlan:
        """A step of ``duration`` (s) per move (m forward, m to the left, rad of turn) of the line between the feet."""
        return cls(
            tuple(
                Footstep(
                    side=LEFT if i % 2 == 0 else RIGHT,
                    length=float(ahead),
                    turn=float(turn),
                    width=width,
                    double_support=double_support * duration,
                    swing=(1.0 - double_support) * duration,
                    aside=float(aside),
                )
                for i, (ahead, aside, turn) in enumerate(moves)
            )
        )

    @property
    def longest(self) -> float:
        """Longest step, forward or back, m."""
        return max(abs(step.length) for step in self.steps)

    @property
    def aside(self) -> float:
        """Longest step to either side, m."""
        return max(abs(step.aside) for step in self.steps)


class Schedule(NamedTuple):
    """A gait: ``offset`` is the phase of the cycle (0 .. 1) at which each foot lifts (front left, front right, rear
    left, rear right), ``duty`` the share of the cycle in stance.
    """

    offset: tuple[float, float, float, float]
    duty: float
    steps: int  # successive swings in a cycle


#: Trot: diagonal pairs in turn. Crawl: one foot at a time, the hind foot before the front foot of the same side.
SCHEDULES = {
    "trot": Schedule((0.0, 0.5, 0.5, 0.0), 0.6, 2),
    "crawl": Schedule((0.25, 0.75, 0.0, 0.5), 0.8, 4),
}


class DcmPlan(NamedTuple):
    """Pressure centre and divergent component over successive segments from time 0.

    In each segment the pressure centre moves on a straight line at a constant speed.
    """

    omega: float  # 1/s, the pendulum's sqrt(g / height)
    count: Any  # (1,) segments
    duration: Annotated[Vector, "S"]  # s
    start: Annotated[Matrix, "S", 2]  # m, of the pressure centre
    end: Annotated[Matrix, "S", 2]  # m
    dcm: Annotated[Matrix, "S + 1", 2]  # m, divergent component at the start of each segment, and at the end


def empty_plan(omega: float, most: int) -> DcmPlan:
    """A plan without segments, with memory for ``most`` of them."""
    return zeros(DcmPlan, {"S": most}, omega=float(omega), count=np.zeros(1, dtype=np.int64))


@inlined
def add_segment(plan: DcmPlan, duration: Float, start: tuple[Float, Float], end: tuple[Float, Float]) -> None:
    """Append a segment of the pressure centre from ``start`` to ``end`` (x, y; m) in ``duration`` (s)."""
    k = plan.count[0]
    plan.duration[k] = duration
    plan.start[k, 0], plan.start[k, 1] = start
    plan.end[k, 0], plan.end[k, 1] = end
    plan.count[0] = k + 1


@inlined
def end_at(plan: DcmPlan, end: tuple[Float, Float]) -> None:
    """Compute, backwards, the divergent component that is at ``end`` (x, y; m) after the last segment."""
    last, w = plan.count[0], plan.omega
    plan.dcm[last, 0], plan.dcm[last, 1] = end
    for k in range(last - 1, -1, -1):
        decay = math.exp(-w * plan.duration[k])
        for c in range(2):
            drift = (plan.end[k, c] - plan.start[k, c]) / (w * plan.duration[k])  # m, motion of p in 1/w
            plan.dcm[k, c] = plan.start[k, c] + drift + decay * (plan.dcm[k + 1, c] - plan.end[k, c] - drift)


@inlined
def dcm_at(plan: DcmPlan, time: Float, pressure: Vector, dcm: Vector) -> None:
    """Write pressure centre and divergent component (2,) in m at a time (s).

    The first segment is extrapolated backwards, and the last point is held.
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


#: Phase of the swing at which the foot is highest.
HIGHEST = 0.45
#: Times, as shares of the swing, in which a foot that stumbled is lifted over the obstacle, and then lowered.
AGAIN = 0.25
#: Share of the swing before the landing in which the goal is fixed.
SETTLED = 0.14

POSITION, VELOCITY, ACCELERATION = 0, 1, 2


class Swing(NamedTuple):
    """A reference trajectory of the sole's middle from its place to a goal that may move.

    It descends at ``descent`` until the foot touches the ground.
    """

    motion: np.ndarray  # (3, 3) position, velocity and acceleration of x, y and z; m, m/s, m/s2
    goal: np.ndarray  # (3,) m
    time: np.ndarray  # (1,) s since the foot was lifted
    duration: np.ndarray  # (1,) s
    top: np.ndarray  # (1,) s, time of the highest point
    clearance: np.ndarray  # (1,) m
    start_height: np.ndarray  # (1,) m
    descent: np.ndarray  # (1,) m/s


def empty_swing() -> Swing:
    """A swing that has not begun."""
    return Swing(np.zeros((3, 3)), np.zeros(3), *np.zeros((6, 1)))


@inlined
def begin_swing(swing: Swing, start: Vector, duration: Float, clearance: Float, descent: Float) -> None:
    """Lift the foot from ``start`` (3,) in m."""
    for c in range(3):
        swing.motion[c, POSITION], swing.goal[c] = start[c], start[c]
        swing.motion[c, VELOCITY] = swing.motion[c, ACCELERATION] = 0.0
    swing.time[0], swing.duration[0], swing.top[0] = 0.0, duration, HIGHEST * duration
    swing.clearance[0], swing.start_height[0], swing.descent[0] = clearance, start[2], descent


@inlined
def head_for(one: Vector, goal: Float, speed: Float, left: Float, dt: Float) -> None:
    """Advance a coordinate ``one`` (3,) by ``dt`` (s) along the minimum-jerk trajectory that reaches ``goal`` with
    ``speed`` in ``left`` (s).
    """
    if left <= dt:
        one[POSITION], one[VELOCITY], one[ACCELERATION] = goal + speed * (dt - left), speed, 0.0
        return
    x, v, a, t = one[POSITION], one[VELOCITY], one[ACCELERATION], left
    gap = goal - x
    c3 = (20.0 * gap - (8.0 * speed + 12.0 * v) * t - 3.0 * a * t * t) / (2.0 * t**3)
    c4 = (-30.0 * gap + (14.0 * speed + 16.0 * v) * t + 3.0 * a * t * t) / (2.0 * t**4)
    c5 = (12.0 * gap - 6.0 * (speed + v) * t - a * t * t) / (2.0 * t**5)
    one[POSITION] = x + dt * (v + dt * (a / 2.0 + dt * (c3 + dt * (c4 + dt * c5))))
    one[VELOCITY] = v + dt * (a + dt * (3.0 * c3 + dt * (4.0 * c4 + dt * 5.0 * c5)))
    one[ACCELERATION] = a + dt * (6.0 * c3 + dt * (12.0 * c4 + dt * 20.0 * c5))


@inlined
def stumble(swing: Swing, higher: Float) -> None:
    """Raise the clearance by ``higher`` (m) after the swinging foot hit an obstacle."""
    swing.clearance[0] += higher
    swing.top[0] = max(swing.top[0], swing.time[0] + AGAIN * swing.duration[0])
    swing.duration[0] = max(swing.duration[0], swing.top[0] + AGAIN * swing.duration[0])


@inlined
def advance_swing(swing: Swing, goal: tuple[Float, Float, Float], dt: Float) -> None:
    """Advance by ``dt`` (s) towards ``goal`` (x, y, z; m), which is ignored shortly before the landing."""
    left = swing.duration[0] - swing.time[0]
    if left > SETTLED * swing.duration[0] or swing.time[0] == 0.0:
        swing.goal[0], swing.goal[1], swing.goal[2] = goal
    head_for(swing.motion[0], swing.goal[0], 0.0, left, dt)
    head_for(swing.motion[1], swing.goal[1], 0.0, left, dt)
    top, z = swing.top[0] - swing.time[0], swing.motion[2]
    if top > 0.0:
        head_for(z, max(swing.start_height[0], swing.goal[2]) + swing.clearance[0], 0.0, top, dt)
    elif left > dt:
        head_for(z, swing.goal[2], -swing.descent[0], left, dt)
    else:
        z[POSITION] -= swing.descent[0] * dt
        z[VELOCITY], z[ACCELERATION] = -swing.descent[0], 0.0
    swing.time[0] += dt
