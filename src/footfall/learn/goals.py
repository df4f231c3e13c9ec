"""Goals of training: the terms of the reward, from the motion of many worlds at once.

Lengths are measured by the height ``h`` (m) of the base in the home pose, speeds by the speed ``u = sqrt(g h)`` at
which a mass on legs of that length leaves the ground, times by ``h / u``: so the same numbers serve a small robot and a
large one, on two legs or four.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from footfall.errors import ControllerError, did_you_mean


class Moved(NamedTuple):
    """The result of a control period, a row for each world (PyTorch)."""

    velocity: Any  # (N, 3) m/s, base frame
    gyro: Any  # (N, 3) rad/s, base frame
    gravity: Any  # (N, 3) direction, base frame
    height: Any  # (N,) m, of the base over level ground
    joints: Any  # (N, joints) rad, less the pose
    action: Any  # (N, actions)
    before: Any  # (N, actions) the action before
    command: Any  # (N, 3)
    landed: Any  # (N, feet) s, time in the air of feet that have just touched down, else 0


@dataclass(frozen=True)
class Goal:
    """A task of training.

    Attributes:
        name: by which it is chosen.
        command: largest forward and sideways speed, in ``u``, and turn, in ``u / h``.
        kick: largest velocity that a push adds to the base, in ``u``.
        lying: whether episodes begin in the air in a random attitude, and a fall does not end them.
    """

    name: str
    command: tuple[float, float, float] = (0.0, 0.0, 0.0)
    kick: float = 0.0
    lying: bool = False

    def terms(self, moved: Moved, height: float, gravity: float) -> dict[str, Any]:
        """The terms of the reward, (N,) each."""
        u = math.sqrt(gravity * height)
        rate = u / height
        change = ((moved.action - moved.before) ** 2).mean(-1)
        tilt = (moved.gravity[:, :2] ** 2).sum(-1)
        found = {
            "upright": -1.0 * tilt,
            "pose": -0.3 * (moved.joints**2).mean(-1),
            "action change": -0.02 * change,
            "action size": -0.01 * (moved.action**2).mean(-1),
        }
        if self.lying:
            risen = (moved.height / height).clip(0.0, 1.0)
            up = 0.5 * (1.0 - moved.gravity[:, 2])
            return {**found, "upright": up, "risen": risen * up, "pose": found["pose"] * up}
        found["alive"] = 0.5 + 0.0 * change
        found["bobbing"] = -0.5 * (moved.velocity[:, 2] / u) ** 2
        found["rolling"] = -0.1 * ((moved.gyro[:, :2] / rate) ** 2).sum(-1)
        missed = ((moved.velocity[:, :2] - moved.command[:, :2]) ** 2).sum(-1) / u**2
        turned = ((moved.gyro[:, 2] - moved.command[:, 2]) / rate) ** 2
        found["velocity"] = 1.5 * (-missed / 0.15**2).exp()
        found["turn"] = 0.5 * (-turned / 0.15**2).exp()
        if any(self.command):
            asked = (moved.command[:, :2].norm(dim=-1) > 0.05 * u).to(change.dtype)
            swing = height / u  # s, about what a leg of that length takes to swing by itself
            found["stepping"] = asked * ((moved.landed - swing).clip(-swing, swing) * (moved.landed > 0.0)).sum(-1)
        return found


GOALS = {
    goal.name: goal
    for goal in (
        Goal("stand", kick=0.2),
        Goal("velocity", command=(0.35, 0.15, 0.25), kick=0.1),
        Goal("get-up", lying=True),
    )
}


def goal_named(name: str) -> Goal:
    """The task of that name."""
    if name not in GOALS:
        raise ControllerError(f"no task is called '{name}': {did_you_mean(name, GOALS)}")
    return GOALS[name]
