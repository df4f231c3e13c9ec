"""The contract of event-driven laws.

Such a law knows two motions: smooth ones, between events, and jumps of the velocity, at events. The engine
(:mod:`footfall.engine.events.integration`) says which points are in contact, finds the instants at which that
changes, and asks

- ``kernel`` for the forces of the points in contact, as any coupled law, except that ``dt`` has no meaning. Its
  ``mode`` says what each point is about to do: 0 leave, 1 stay, 2 slide. It returns 0; 1 if it found no solution and
  the forces are the best it has; or 2 if there is none (Painleve), and then the engine asks
- ``impact``, of the same signature, for impulses (N s): after a touch-down with ``dt`` = 0, and where no forces exist
  with a ``dt`` so short that only impulses count.

The last columns of ``memory`` are the engine's, see below; those before are the law's own.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, ClassVar

from footfall.compiled import inlined
from footfall.contact.base import CoupledLaw, coupled_pointer, parameters_of, scratch_type
from footfall.kinds import Int, Matrix

#: Status: no forces satisfy the law.
INCONSISTENT = 2
#: Speed up to which a point does not leave after an impact, m/s: where accumulating bounces end.
REBOUND = 1e-6
# What the engine keeps in the last columns of a point's memory, counted from the first of them: what the point does
# until the next event (1 rests, 2 slides), the direction of its slip when the step began (3, unit vector, world frame;
# the law writes it where it lets a resting point slide), what must be added to the acceleration of the material point
# to have the rate of its velocity against the ground (3, m/s2, contact frame): the place of contact may roll and bend;
# and 1 while a slip that began at rest has not yet been fast.
DOES, SLIP, TURNING, YOUNG = 0, 1, 4, 7
ENGINE_COLUMNS = 8


@inlined
def engine_columns(memory: Matrix) -> Int:
    """Where the engine's columns begin."""
    return memory.shape[1] - ENGINE_COLUMNS


class EventLaw(CoupledLaw):
    """A law of rigid contact with forces between events and impulses at them."""

    event_driven = True
    #: All points in contact are shown to it, however far from the ground rounding has put them.
    margin = float("inf")
    #: Recorded for each period: events, impacts, normal impulses of impacts, whether it was one time step, the factor
    #: by which the tolerance was loosened, and evaluations of the law.
    signals = MappingProxyType(
        {"events": "", "impacts": "", "impulse": "N s", "time_steps": "", "loosened": "", "evaluations": ""}
    )
    #: Largest error of a step of the integration, relative and in SI units.
    tolerance: float
    impact: ClassVar[Callable[..., Any]]

    def in_steps(self) -> CoupledLaw:
        """The time-stepping law for periods in which contacts change again and again.

        It may use the law's own columns of the memory.
        """
        raise NotImplementedError

    def impact_pointer(self) -> Any:
        """The compiled impact, of the signature the engine calls."""
        return coupled_pointer(self.impact, parameters_of(type(self)), scratch_type(self))
