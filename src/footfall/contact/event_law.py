"""The contract of event-driven laws.

Under such a law the motion is smooth between events, and velocities jump at events. The engine
(:mod:`footfall.engine.events.integration`) determines which points are in contact, locates the instants at which that
changes, and calls

- ``kernel`` for the forces of the points in contact, as any coupled law, except that ``dt`` has no meaning. Its
  ``mode`` predicts the motion of each point: 0 leaves, 1 stays, 2 slides. It returns 0; 1 if no solution was found and
  the forces are only the best approximation; or 2 if no solution exists (Painleve), and then the engine calls
- ``impact``, of the same signature, for impulses (N s): after a touch-down with ``dt`` = 0, and where no forces exist
  with a ``dt`` so short that only impulses matter.

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
#: Rebound speed, m/s, below which a point stays on the ground after an impact, so that accumulating bounces end.
REBOUND = 1e-6
# The engine's columns of a point's memory, counted from the first of them: the motion of the point until the next event
# (1 rests, 2 slides); the direction of its slip at the beginning of the step (3, unit vector, world frame; the law
# writes it where it lets a resting point slide); the difference between the rate of the point's velocity against the
# ground and the acceleration of its material (3, m/s2, contact frame), since the contact may roll and the ground bend;
# and 1 while a slip that began at rest has not yet been fast.
DOES, SLIP, TURNING, YOUNG = 0, 1, 4, 7
ENGINE_COLUMNS = 8


@inlined
def engine_columns(memory: Matrix) -> Int:
    """The first of the engine's columns."""
    return memory.shape[1] - ENGINE_COLUMNS


class EventLaw(CoupledLaw):
    """A law of rigid contact with forces between events and impulses at them."""

    event_driven = True
    #: The law is given all points in contact, whatever gap rounding has left them.
    margin = float("inf")
    #: Signals of each period: events, impacts, normal impulses of impacts, whether it was one time step, the factor by
    #: which the tolerance was loosened, and evaluations of the law.
    signals = MappingProxyType(
        {"events": "", "impacts": "", "impulse": "N s", "time_steps": "", "loosened": "", "evaluations": ""}
    )
    #: Largest error of a step of the integration, relative and in SI units.
    tolerance: float
    impact: ClassVar[Callable[..., Any]]

    def in_steps(self) -> CoupledLaw:
        """The time-stepping law for periods in which contacts change too often.

        It may use the law's own columns of the memory.
        """
        raise NotImplementedError

    def impact_pointer(self) -> Any:
        """The compiled impact, of the signature the engine calls."""
        return coupled_pointer(self.impact, parameters_of(type(self)), scratch_type(self), self.operator)
