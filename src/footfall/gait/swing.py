"""The path of a swinging foot, whose goal may change at any time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.compiled import inlined

#: Part of the swing at which the foot is highest.
HIGHEST = 0.45
#: Part of the swing in which a foot that stumbled is lifted over what it met, and set down.
AGAIN = 0.25
#: Part of the swing before the landing in which the goal stays as it is.
SETTLED = 0.14

POSITION, VELOCITY, ACCELERATION = 0, 1, 2


class Swing(NamedTuple):
    """A reference for the sole's middle from where it lies to a goal that may move.

    It comes down at ``descent`` until it touches the ground.
    """

    motion: np.ndarray  # (3, 3) position, velocity and acceleration of x, y and z; m, m/s, m/s2
    goal: np.ndarray  # (3,) m
    time: np.ndarray  # (1,) s since the foot was lifted
    duration: np.ndarray  # (1,) s
    top: np.ndarray  # (1,) s, when it is highest
    clearance: np.ndarray  # (1,) m
    start_height: np.ndarray  # (1,) m
    descent: np.ndarray  # (1,) m/s


def empty_swing() -> Swing:
    """A swing that has not begun."""
    return Swing(np.zeros((3, 3)), np.zeros(3), *np.zeros((6, 1)))


@inlined
def begin_swing(swing, start, duration, clearance, descent):
    """Lift the foot from ``start`` (3,) in m."""
    for c in range(3):
        swing.motion[c, POSITION], swing.goal[c] = start[c], start[c]
        swing.motion[c, VELOCITY] = swing.motion[c, ACCELERATION] = 0.0
    swing.time[0], swing.duration[0], swing.top[0] = 0.0, duration, HIGHEST * duration
    swing.clearance[0], swing.start_height[0], swing.descent[0] = clearance, start[2], descent


@inlined
def head_for(one, goal, speed, left, dt):
    """Let a coordinate ``one`` (3,) go on for ``dt`` (s) on the way of least jerk that reaches ``goal`` with ``speed``
    in ``left`` (s).
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
def stumble(swing, higher):
    """The foot met something in the air: lift it by ``higher`` (m) more, from now on."""
    swing.clearance[0] += higher
    swing.top[0] = max(swing.top[0], swing.time[0] + AGAIN * swing.duration[0])
    swing.duration[0] = max(swing.duration[0], swing.top[0] + AGAIN * swing.duration[0])


@inlined
def advance_swing(swing, goal, dt):
    """Go on for ``dt`` (s) towards ``goal`` (x, y, z; m); in the last moments the goal of before is kept."""
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
