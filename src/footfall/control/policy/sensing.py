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
        self.own = [sensors.get(part.part) for part in contract.parts]
        self.late = [0 if one is None else round(one.delay / dt) for one in self.own]
        self.every = [1 if one is None or one.rate <= 0.0 else max(1, round(1.0 / (one.rate * dt))) for one in self.own]
        self.past: deque[Sequence[Any]] = deque(maxlen=1 + max(self.late, default=0))
        self.bias: list[Any] = []
        self.held: list[Any] = [None] * len(self.own)
        self.tick = 0
        #: Whether it must be called in every ``dt``, and not only when the policy decides.
        self.lasting = max(self.late, default=0) > 0 or max(self.every, default=1) > 1

    def measured(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What the sensors show now, where ``parts`` is the truth."""
        if all(one is None for one in self.own):
            return list(parts)
        if not self.bias:
            self.bias = [self._error(one, "bias", values) for one, values in zip(self.own, parts, strict=True)]
        self.past.append([np.array(values) for values in parts])
        shown = []
        for k, sensor in enumerate(self.own):
            if sensor is None:
                shown.append(parts[k])
                continue
            if self.held[k] is None or self.tick % self.every[k] == 0:
                then = self.past[max(0, len(self.past) - 1 - self.late[k])][k]
                self.held[k] = then + self.bias[k] + self._error(sensor, "noise", then)
            shown.append(self.held[k])
        self.tick += 1
        return shown

    def _error(self, sensor: Sensor | None, kind: str, like: np.ndarray) -> np.ndarray | float:
        size = 0.0 if sensor is None else self.level * getattr(sensor, kind)
        return size * self.rng.standard_normal(like.shape) if size else 0.0
