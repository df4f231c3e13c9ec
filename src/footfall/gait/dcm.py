"""The divergent component of motion: where a centre of mass is going, and how pressure under the feet steers it.

For a centre of mass c at a constant height over the ground, accelerated by the pressure centre p as an inverted
pendulum, c'' = w^2 (c - p), the point xi = c + c'/w runs away from p: xi' = w (xi - p), while c follows xi by itself
(Takenaka, Matsumoto and Yoshiike 2009; Englsberger, Ott and Albu-Schaeffer 2015). A pressure centre planned piecewise
linear in time gives xi in closed form, solved backwards from where it shall end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Segment:
    """The pressure centre goes from ``start`` to ``end`` (m) in ``duration`` (s)."""

    duration: float
    start: Point
    end: Point


@dataclass(frozen=True)
class DcmPlan:
    """Pressure centre and divergent component over the segments, one after the other from time 0.

    ``omega`` is the pendulum's sqrt(g / height), 1/s; ``dcm`` the divergent component where each segment begins, and
    where the last ends.
    """

    omega: float
    segments: tuple[Segment, ...]
    dcm: tuple[Point, ...]

    @classmethod
    def ending_at(cls, end: Point, segments: Sequence[Segment], omega: float) -> DcmPlan:
        """The plan whose divergent component ends at ``end``."""
        found = [end]
        for one in reversed(segments):
            decay = math.exp(-omega * one.duration)
            x, y = found[-1]
            dx, dy = _drift(one, omega)
            found.append(
                (
                    one.start[0] + dx + decay * (x - one.end[0] - dx),
                    one.start[1] + dy + decay * (y - one.end[1] - dy),
                )
            )
        return cls(omega, tuple(segments), tuple(reversed(found)))

    def at(self, time: float) -> tuple[Point, Point]:
        """Pressure centre and divergent component at a time (s); the first segment is prolonged backwards and the last
        point held.
        """
        for one, begin in zip(self.segments, self.dcm, strict=False):
            if time < one.duration:
                return self._within(one, begin, time)
            time -= one.duration
        last = self.segments[-1].end if self.segments else self.dcm[-1]
        return last, self.dcm[-1]

    def _within(self, one: Segment, begin: Point, time: float) -> tuple[Point, Point]:
        part = time / one.duration
        dx, dy = _drift(one, self.omega)
        px = one.start[0] + part * (one.end[0] - one.start[0])
        py = one.start[1] + part * (one.end[1] - one.start[1])
        growth = math.exp(self.omega * time)
        x = px + dx + growth * (begin[0] - one.start[0] - dx)
        y = py + dy + growth * (begin[1] - one.start[1] - dy)
        return (px, py), (x, y)


def _drift(one: Segment, omega: float) -> Point:
    """How far the pressure centre goes in 1/w, m."""
    scale = 1.0 / (omega * one.duration)
    return scale * (one.end[0] - one.start[0]), scale * (one.end[1] - one.start[1])
