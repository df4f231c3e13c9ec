"""Tasks of learning environments: what a robot observes, and its reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from footfall.errors import SimulationError


class Task:
    """The task of the robot: observations and rewards, from arrays whose first axis is the world."""

    #: Size of pushes as a share of the weight.
    push: ClassVar[float] = 0.0
    extra: ClassVar[int] = 0

    def observe(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        return np.concatenate([qpos[:, 2:], qvel], axis=1)

    def reward(self, qvel: np.ndarray, action: np.ndarray) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class Stand(Task):
    """Stay up under random horizontal pushes."""

    push = 0.3

    def reward(self, qvel: np.ndarray, action: np.ndarray) -> np.ndarray:
        return 1.0 - 0.1 * (action**2).mean(axis=1) - 0.1 * (qvel[:, :2] ** 2).sum(axis=1)


@dataclass(frozen=True)
class Walk(Task):
    """Go along x at ``speed`` (m/s)."""

    speed: float = 0.5
    extra = 1

    def __post_init__(self) -> None:
        if not (isinstance(self.speed, (int, float, np.number)) and np.isfinite(self.speed)):
            raise SimulationError(f"speed = {self.speed!r}, but it must be a number of m/s")

    def observe(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        commanded = np.full((len(qpos), 1), self.speed)
        return np.concatenate([super().observe(qpos, qvel), commanded], axis=1)

    def reward(self, qvel: np.ndarray, action: np.ndarray) -> np.ndarray:
        return np.exp(-4.0 * (qvel[:, 0] - self.speed) ** 2) - 0.1 * (action**2).mean(axis=1)
