"""Schedules of feet: which foot of a quadruped stands when, periodic in time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """A gait: ``offset`` is the part of the cycle at which each foot lifts (front left, front right, rear left, rear
    right), ``duty`` the part of it that a foot stands.
    """

    name: str
    offset: tuple[float, float, float, float]
    duty: float
    #: Swings one after the other in a cycle.
    steps: int

    def swing(self, foot: int, cycles: float) -> float:
        """Fraction (0 .. 1) of a foot's swing that is over after this many cycles; -1 while it stands."""
        part = (cycles - self.offset[foot]) % 1.0
        lasts = 1.0 - self.duty
        return part / lasts if part < lasts else -1.0


#: Diagonal pairs in turn; one foot at a time, the hind one before the front one of its side.
SCHEDULES = {
    "trot": Schedule("trot", (0.0, 0.5, 0.5, 0.0), 0.6, 2),
    "crawl": Schedule("crawl", (0.25, 0.75, 0.0, 0.5), 0.8, 4),
}
