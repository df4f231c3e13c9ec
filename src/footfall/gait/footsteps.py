"""Footsteps: where the feet of a biped go, one after the other.

A step is given relative to the foot that stands, not to a place in the world: so a robot that was pushed goes on from
where it is. Poses are (x, y, yaw) in m and rad.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from footfall.errors import GaitError

Pose = tuple[float, float, float]
LEFT, RIGHT = 1, -1
#: Half a day's walk; a plan lists every step.
MOST_STEPS = 50_000


@dataclass(frozen=True)
class Footstep:
    """One step: ``side`` is the foot that moves (``LEFT`` or ``RIGHT``).

    The line midway between the feet goes ``length`` (m) forward along an arc that turns by ``turn`` (rad, to the left);
    the foot lands half of ``width`` (m) beside it. Both feet stand for ``double_support`` (s), then the foot swings for
    ``swing`` (s).
    """

    side: int
    length: float
    turn: float
    width: float
    double_support: float
    swing: float

    def landing(self, stance: Pose, stance_width: float) -> Pose:
        """Where the foot lands when the other stands at ``stance``, half of ``stance_width`` beside the middle."""
        x, y, yaw = stance
        half = 0.5 * self.side * stance_width
        x, y = x - half * math.sin(yaw), y + half * math.cos(yaw)
        along = yaw + 0.5 * self.turn
        x, y = x + self.length * math.cos(along), y + self.length * math.sin(along)
        half, yaw = 0.5 * self.side * self.width, yaw + self.turn
        return x - half * math.sin(yaw), y + half * math.cos(yaw), yaw


@dataclass(frozen=True)
class FootstepPlan:
    """Steps of alternating feet, from standing to standing."""

    steps: tuple[Footstep, ...]

    @classmethod
    def walk(
        cls,
        *,
        steps: int,
        length: float,
        duration: float,
        width: float,
        turn: float = 0.0,
        double_support: float = 0.2,
        first: int = LEFT,
    ) -> FootstepPlan:
        """Start, ``steps`` steps, stop: the first goes half of ``length`` (m), the last closes beside the other foot.

        Each takes ``duration`` (s), the share ``double_support`` of it on both feet, and turns by ``turn`` (rad). The
        feet stand ``width`` (m) apart.
        """
        if steps < 1:
            raise GaitError(f"a walk of {steps} steps is none: steps must be at least 1")
        if steps > MOST_STEPS:
            raise GaitError(f"a walk has at most {MOST_STEPS} steps, not {steps}")
        if not 0.0 < double_support < 1.0:
            raise GaitError(f"both feet stand for a share of the step between 0 and 1, not {double_support:g}")
        if not (math.isfinite(duration) and duration > 0.0):
            raise GaitError(f"a step cannot take {duration:g} s")
        if not (math.isfinite(width) and width > 0.0):
            raise GaitError(f"the feet cannot stand {width:g} m apart")
        made = []
        for i in range(steps):
            last = i == steps - 1
            share = 0.0 if last else 0.5 if i == 0 else 1.0
            made.append(
                Footstep(
                    side=first if i % 2 == 0 else -first,
                    length=share * length,
                    turn=0.0 if last else share * turn,
                    width=width,
                    double_support=double_support * duration,
                    swing=(1.0 - double_support) * duration,
                )
            )
        return cls(tuple(made))

    @property
    def duration(self) -> float:
        """From the first shift of weight to the last landing, s."""
        return sum(step.double_support + step.swing for step in self.steps)

    def footprints(self, left: Pose, right: Pose) -> Iterator[Pose]:
        """Where each step lands, from where the feet stand."""
        stand = {LEFT: left, RIGHT: right}
        width = math.dist(left[:2], right[:2])
        for step in self.steps:
            stand[step.side] = step.landing(stand[-step.side], width)
            width = step.width
            yield stand[step.side]
