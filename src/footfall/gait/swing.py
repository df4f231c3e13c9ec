"""The way of a swinging foot, whose goal may change at any time."""

from __future__ import annotations

from dataclasses import dataclass

#: Part of the swing at which the foot is highest.
HIGHEST = 0.45
#: Part of the swing in which a foot that stumbled is lifted over what it met, and set down.
AGAIN = 0.25
#: Part of the swing before the landing in which the goal stays as it is.
SETTLED = 0.14


@dataclass
class Coordinate:
    """Position, velocity and acceleration of one coordinate of a reference."""

    position: float
    velocity: float = 0.0
    acceleration: float = 0.0

    def head_for(self, goal: float, speed: float, left: float, dt: float) -> None:
        """Go on for ``dt`` (s) on the way of least jerk that reaches ``goal`` with ``speed`` in ``left`` (s)."""
        if left <= dt:
            self.position, self.velocity, self.acceleration = goal + speed * (dt - left), speed, 0.0
            return
        x, v, a, t = self.position, self.velocity, self.acceleration, left
        gap = goal - x
        c3 = (20 * gap - (8 * speed + 12 * v) * t - 3 * a * t * t) / (2 * t**3)
        c4 = (-30 * gap + (14 * speed + 16 * v) * t + 3 * a * t * t) / (2 * t**4)
        c5 = (12 * gap - 6 * (speed + v) * t - a * t * t) / (2 * t**5)
        self.position = x + dt * (v + dt * (a / 2 + dt * (c3 + dt * (c4 + dt * c5))))
        self.velocity = v + dt * (a + dt * (3 * c3 + dt * (4 * c4 + dt * 5 * c5)))
        self.acceleration = a + dt * (6 * c3 + dt * (12 * c4 + dt * 20 * c5))


class SwingFoot:
    """A reference for the sole's middle (m) from where it lies to a goal that may move; it comes down at ``descent``
    (m/s) and goes on so until the ground is met.
    """

    def __init__(self, start: tuple[float, float, float], duration: float, clearance: float, descent: float) -> None:
        self.x, self.y, self.z = (Coordinate(value) for value in start)
        self.start_height = start[2]
        self.duration = duration
        self.clearance = clearance
        self.descent = descent
        self.time = 0.0
        self.top = HIGHEST * duration
        self.goal = start

    @property
    def lifted(self) -> float:
        """How far over where it lay, m."""
        return self.z.position - self.start_height

    def stumble(self, higher: float) -> None:
        """The foot met something in the air: lift it by ``higher`` (m) more, from now on."""
        self.clearance += higher
        self.top = max(self.top, self.time + AGAIN * self.duration)
        self.duration = max(self.duration, self.top + AGAIN * self.duration)

    def advance(self, goal: tuple[float, float, float], dt: float) -> None:
        """Go on for ``dt`` (s) towards ``goal``; in the last moments the goal of before is kept."""
        left = self.duration - self.time
        if left > SETTLED * self.duration or self.time == 0.0:
            self.goal = goal
        self.x.head_for(self.goal[0], 0.0, left, dt)
        self.y.head_for(self.goal[1], 0.0, left, dt)
        top = self.top - self.time
        if top > 0.0:
            highest = max(self.start_height, self.goal[2]) + self.clearance
            self.z.head_for(highest, 0.0, top, dt)
        elif left > dt:
            self.z.head_for(self.goal[2], -self.descent, left, dt)
        else:
            self.z.position -= self.descent * dt
            self.z.velocity, self.z.acceleration = -self.descent, 0.0
        self.time += dt
