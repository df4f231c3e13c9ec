"""External pushes: forces on bodies over intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footfall.errors import SimulationError
from footfall.given_numbers import is_number

#: More steps than any run takes; steps are counted in 64 bits.
FAR = 2.0**62


@dataclass(frozen=True)
class Push:
    """A force (N) and torque (N m), world frame, at a body's centre of mass, over an interval (s)."""

    body: str
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start: float = 0.0
    duration: float = 0.1

    def __post_init__(self) -> None:
        for name in ("force", "torque"):
            given = getattr(self, name)
            if not _are_numbers(given, 3):
                raise SimulationError(f"push on {self.body}: {name} = {given!r} but it must be three finite numbers")
        if not _are_numbers([self.start, self.duration], 2) or self.duration < 0:
            raise SimulationError(
                f"push on {self.body}: start = {self.start!r} and duration = {self.duration!r} but they must be "
                "finite numbers of seconds, the duration >= 0"
            )

    def to_dict(self) -> dict[str, Any]:
        return {
            "body": self.body,
            "force": list(map(float, self.force)),
            "torque": list(map(float, self.torque)),
            "start": float(self.start),
            "duration": float(self.duration),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Push:
        """The push that ``to_dict`` described; missing values are the defaults of ``Push``."""
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items()}
        return cls(**given)

    def steps(self, dt: float) -> tuple[int, int]:
        """The first step of ``dt`` (s) under the push, and the first after it."""
        first, last = (min(max(time / dt, -FAR), FAR) for time in (self.start, self.start + self.duration))
        return round(first), round(last)


def _are_numbers(values: Any, count: int) -> bool:
    try:
        found = list(values)
    except TypeError:
        return False
    return len(found) == count and all(is_number(one) for one in found)
