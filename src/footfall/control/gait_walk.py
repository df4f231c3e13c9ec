"""Walk by the gait of least torque that the robot has, under computed torque."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footfall.control.computed_torque import ComputedTorque, Follower

if TYPE_CHECKING:
    from footfall.gait.polynomial import PolynomialGait
    from footfall.ground import Ground
    from footfall.robot import Robot


@dataclass(frozen=True, kw_only=True)
class GaitWalk:
    """Walk at ``speed`` (m/s) by an optimised gait, or by that of the file ``gait`` (``footfall gait --out``).

    A gait that is neither shipped nor in the cache is optimised first. ``kp`` (1/s2) and ``kv`` (1/s) are those of
    :class:`~footfall.control.computed_torque.ComputedTorque`. For planar bipeds; a run starts in the middle of a walk.
    """

    speed: float = 0.5
    gait: str | None = None
    kp: float = 400.0
    kv: float = 40.0

    def start(self, robot: Robot, ground: Ground, dt: float) -> Follower:
        return self._tracking(robot).start(robot, ground, dt)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        return self._tracking(robot).initial_state(robot, ground)

    def _tracking(self, robot: Robot) -> ComputedTorque:
        return ComputedTorque(motion=self._motion(robot), kp=self.kp, kv=self.kv)

    def _motion(self, robot: Robot) -> PolynomialGait:
        from footfall.gait.constraints import GaitConstraints
        from footfall.gait.library import find_gait
        from footfall.gait.polynomial import load_gait

        if self.gait is not None:
            return load_gait(self.gait)
        return find_gait(robot, GaitConstraints(speed=self.speed)).gait
