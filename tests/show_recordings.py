"""Recordings that the tests of the show room share: a biped that is pushed while it stands."""

from __future__ import annotations

from functools import cache

from footfall import Push, Recording, Simulation

PUSH = Push("trunk", force=(0.0, 60.0, 0.0), start=0.1, duration=0.1)


@cache
def standing(law: str = "linearizing-penalty", duration: float = 0.5) -> Recording:
    return Simulation("spatial-biped", law=law).run(duration, controller="posture", pushes=[PUSH])
