"""The law of a run as the compiled loop takes it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from footfall.compiled import function_pointer
from footfall.contact.base import CoupledLaw, PointLaw, point_signature
from footfall.contact.event_law import EventLaw
from footfall.contact.trial import is_foreign, try_out
from footfall.engine import step
from footfall.engine.events import integration
from footfall.simulation.setup import Setup
from footfall.solve.contacts import coupled_signature


def compiled_laws(sim: Setup) -> step.Laws | integration.EventLaws:
    """What the loop takes of the law."""
    law, laws = sim.law, idle_laws()
    bends, lag = int(not sim.ground.flat), 0.5 * sim.dt
    if isinstance(law, PointLaw):
        laws = laws._replace(point=law.pointer())
    elif isinstance(law, CoupledLaw):
        laws = laws._replace(coupled=law.pointer())
    if law.native:
        return laws
    resolved = law.resolve(sim.setting)
    laws = laws._replace(values=_numbers(resolved))
    if isinstance(law, PointLaw) and is_foreign(law.kernel):
        try_out(law.kernel, law.name, law.memory_size, resolved)
    if not isinstance(law, EventLaw):
        return laws._replace(bends=bends, lag=lag if sim.integrator == "euler" else 0.0)
    rough = law.in_steps()
    in_steps = idle_laws()._replace(
        coupled=rough.pointer(), values=_numbers(rough.resolve(sim.setting)), bends=bends, lag=lag
    )
    return integration.EventLaws(laws, law.impact_pointer(), in_steps)


def _numbers(resolved: Any) -> np.ndarray:
    return np.array([float(value) for value in resolved])


def idle_laws() -> step.Laws:
    """A law without forces."""
    return step.Laws(idle_point_law(), idle_coupled_law(), np.zeros(1), 0)


@cache
def idle_point_law() -> Any:
    """A point law for runs that have none."""

    def idle(depth, depth_rate, slip, slip_velocity, memory, static, dynamic, values):
        return 0.0, 0.0, 0.0, 0

    return function_pointer(point_signature(), idle)


@cache
def idle_coupled_law() -> Any:
    """A coupled law for runs that have none."""

    def idle(contacts, dt, memory, force, mode, scratch, signals, values):
        return 0

    return function_pointer(coupled_signature(), idle)
