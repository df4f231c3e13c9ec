"""Footsteps of a biped, one after the other, and schedules of a quadruped's feet.

A step is given relative to the foot that stands, not to a place in the world: so a robot that was pushed goes on from
where it is. Poses are (x, y, yaw) in m and rad.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from footfall.compiled import inlined
from footfall.errors import GaitError

LEFT, RIGHT = 1, -1
#: Half a day's walk; a plan lists every step.
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
def landing(step, stance, stance_width):
    """Where the foot of a step lands, x, y (m) and yaw (rad), when the other stands at ``stance``, half of
    ``stance_width`` (m) beside the middle.
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
        first: int = LEFT,
    ) -> FootstepPlan:
        """A step of ``duration`` (s) per move (m forward, m to the left, rad of turn) of the line between the feet."""
        if not 0.0 < double_support < 1.0:
            raise GaitError(f"both feet stand for a share of the step between 0 and 1, not {double_support:g}")
        if not (math.isfinite(duration) and duration > 0.0):
            raise GaitError(f"a step cannot take {duration:g} s")
        if not (math.isfinite(width) and width > 0.0):
            raise GaitError(f"the feet cannot stand {width:g} m apart")
        return cls(
            tuple(
                Footstep(
                    side=first if i % 2 == 0 else -first,
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
    def duration(self) -> float:
        """From the first shift of weight to the last landing, s."""
        return sum(step.double_support + step.swing for step in self.steps)


#: rad, that one step turns at most on the way to a waypoint.
SHARPEST = 0.25


def moves_through(waypoints: Sequence[tuple[float, float]], length: float) -> list[tuple[float, float, float]]:
    """Moves (forward m, to the left m, turn rad) of at most ``length`` (m) through points (m) seen from the start.

    The line between the feet turns towards the next point, and goes on ahead as far as it faces it. The first step is
    half of one, the last closes.
    """
    x, y, yaw = 0.0, 0.0, 0.0
    moves: list[tuple[float, float, float]] = []
    for goal_x, goal_y in waypoints:
        while (left := math.hypot(goal_x - x, goal_y - y)) > 0.3 * length:
            off = math.remainder(math.atan2(goal_y - y, goal_x - x) - yaw, 2.0 * math.pi)
            turn = min(max(off, -SHARPEST), SHARPEST)
            ahead = min(left, length if moves else 0.5 * length) * max(0.0, math.cos(off)) ** 2
            x, y = x + ahead * math.cos(yaw + 0.5 * turn), y + ahead * math.sin(yaw + 0.5 * turn)
            yaw += turn
            moves.append((ahead, 0.0, turn))
            if len(moves) > MOST_STEPS:
                raise GaitError(f"a way of more than {MOST_STEPS} steps of {length:g} m")
    return [*moves, (0.0, 0.0, 0.0)]


@dataclass(frozen=True)
class Schedule:
    """A gait: ``offset`` is the part of the cycle at which each foot lifts (front left, front right, rear left, rear
    right), ``duty`` the part of it that a foot stands.
    """

    name: str
    offset: tuple[float, float, float, float]
    duty: float
    #: Swings one after the other in a cycle.
    steps: int

    def swing(self, foot: int, cycles: float) -> float:
        """Fraction (0 .. 1) of a foot's swing that is over after this many cycles; -1 while it stands."""
        part = (cycles - self.offset[foot]) % 1.0
        lasts = 1.0 - self.duty
        return part / lasts if part < lasts else -1.0


#: Diagonal pairs in turn; one foot at a time, the hind one before the front one of its side.
SCHEDULES = {
    "trot": Schedule("trot", (0.0, 0.5, 0.5, 0.0), 0.6, 2),
    "crawl": Schedule("crawl", (0.25, 0.75, 0.0, 0.5), 0.8, 4),
}
