"""External pushes: forces on bodies over intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Push:
    """A force (N) and torque (N m), world frame, at a body's centre of mass, over an interval (s)."""

    body: str
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start: float = 0.0
    duration: float = 0.1

    def to_dict(self) -> dict[str, Any]:
        return {
            "body": self.body,
            "force": list(map(float, self.force)),
            "torque": list(map(float, self.torque)),
            "start": self.start,
            "duration": self.duration,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Push:
        """The push that ``to_dict`` described; what is left out is as in ``Push``."""
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items()}
        return cls(**given)

    def steps(self, dt: float) -> tuple[int, int]:
        """The first step of ``dt`` (s) under the push, and the first after it."""
        return round(self.start / dt), round((self.start + self.duration) / dt)
