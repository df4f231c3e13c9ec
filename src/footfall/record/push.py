"""External pushes: forces on bodies over intervals."""

from __future__ import annotations

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
