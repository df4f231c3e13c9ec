"""Walk with an optimised gait of least torque, by computed torque."""

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
    """Walk with an optimised gait.

    A gait that is neither shipped nor cached is optimised first. For planar bipeds; a run starts in the middle of a
    walk.

    Attributes:
        speed: m/s.
        gait: file of a gait (``footfall gait --out``), in place of the one for this speed.
        kp: 1/s2, gain of positions, as of :class:`ComputedTorque`.
        kv: 1/s, gain of velocities.
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
