"""Sensors as robots have them: noise, a constant error, delay and a rate of their own; all drawn from one seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from footfall.control.policy.contract import Contract, Sensor


class Sensing:
    """The parts of an observation as sensors measure them; called once in every ``dt`` (s)."""

    def __init__(self, contract: Contract, sensors: Mapping[str, Sensor], level: float, dt: float, seed: int) -> None:
        self.rng, self.level = np.random.default_rng(seed), level
        self.own = [sensors.get(part.part, Sensor()) for part in contract.parts]
        self.late = [round(one.delay / dt) for one in self.own]
        self.every = [max(1, round(1.0 / (one.rate * dt))) if one.rate > 0.0 else 1 for one in self.own]
        self.past: deque[Sequence[Any]] = deque(maxlen=1 + max(self.late))
        self.bias: list[Any] = []
        self.held: list[Any] = [None] * len(self.own)
        self.tick = 0
        #: Whether it must be called in every ``dt``, and not only when the policy decides.
        self.lasting = max(self.late) > 0 or max(self.every) > 1

    def measured(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What the sensors show now, where ``parts`` is the truth."""
        if not self.bias:
            self.bias = [self._error(one.bias, values) for one, values in zip(self.own, parts, strict=True)]
        self.past.append([np.array(values) for values in parts])
        for k, sensor in enumerate(self.own):
            if self.tick % self.every[k] == 0:
                then = self.past[max(0, len(self.past) - 1 - self.late[k])][k]
                self.held[k] = then + self.bias[k] + self._error(sensor.noise, then)
        self.tick += 1
        return list(self.held)

    def _error(self, deviation: float, like: np.ndarray) -> np.ndarray | float:
        return self.level * deviation * self.rng.standard_normal(like.shape) if self.level * deviation else 0.0
