"""A policy that runs inside the compiled loop: servo targets are a linear function of the trunk's motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.control.base import control_pointer
from footfall.errors import ControllerError
from footfall.ground import Ground
from footfall.robot import Robot

#: Features of a robot on a free joint: place and velocity of its base in x and y (m, m/s), x and y of the base's upward
#: unit vector, and its angular velocity about its own x and y (rad/s).
FEATURES = ("x", "y", "speed x", "speed y", "lean x", "lean y", "rate x", "rate y")


def _linear(time, qpos, qvel, ctrl, gains):
    """``gains``: the targets at rest (nu), then a row of weights for each actuator."""
    w, x, y, z = qpos[3], qpos[4], qpos[5], qpos[6]
    lean_x, lean_y = 2.0 * (x * z + w * y), 2.0 * (y * z - w * x)
    nu = ctrl.size
    for i in range(nu):
        k = nu + 8 * i
        value = gains[i] + gains[k] * qpos[0] + gains[k + 1] * qpos[1] + gains[k + 2] * qvel[0]
        value += gains[k + 3] * qvel[1] + gains[k + 4] * lean_x + gains[k + 5] * lean_y
        ctrl[i] = value + gains[k + 6] * qvel[3] + gains[k + 7] * qvel[4]
    return 0


@public
@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """Controls of the home pose plus ``weights`` (nu, 8) times :data:`FEATURES`; weights are zero if left out.

    Many policies at once: ``worlds.run(..., controller=policy, gains=policy.rows(robot, weights))``.
    """

    weights: np.ndarray | None = None

    @staticmethod
    def pointer() -> Any:
        return control_pointer(_linear)

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The parameters of the compiled policy."""
        size = (robot.model.nu, len(FEATURES))
        weights = np.zeros(size) if self.weights is None else np.asarray(self.weights, dtype=float)
        if weights.shape != size:
            raise ControllerError(f"the weights of {robot.name} are {size}, not {weights.shape}")
        return self.rows(robot, weights[None])[0]

    @staticmethod
    def rows(robot: Robot, weights: np.ndarray) -> np.ndarray:
        """(W, nu + 8 nu) the numbers of many policies, from their ``weights`` (W, nu, 8)."""
        home = np.broadcast_to(robot.home_ctrl, (len(weights), robot.model.nu))
        return np.concatenate([home, np.reshape(weights, (len(weights), -1))], axis=1)
