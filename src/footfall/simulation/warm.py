"""Compile ahead: the engine, the laws, and the solvers that they call, each a job that any process can do.

As a program it does the jobs named on its command line.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from footfall.compiled import compile_cold, separate_kernels
from footfall.contact import law_class, laws
from footfall.contact.base import CoupledLaw, PointLaw
from footfall.contact.event_law import EventLaw
from footfall.contact.setting import Setting
from footfall.control import controllers
from footfall.simulation.first_start import spawn
from footfall.simulation.simulation import Simulation
from footfall.simulation.worlds import Worlds


class _Nothing(NamedTuple):
    none: float


def _idle(contacts, dt, memory, force, mode, work, marks, signals, parameters):
    return 0


@dataclass(frozen=True, kw_only=True)
class _IdleInSteps(CoupledLaw):
    """A law of time steps without forces."""

    name = "idle-in-steps"
    citation = "none"
    kernel = staticmethod(_idle)

    def resolve(self, setting: Setting) -> _Nothing:
        return _Nothing(0.0)


@dataclass(frozen=True, kw_only=True)
class _IdleEvents(EventLaw):
    """An event-driven law without forces: the loop is compiled for it, and for all others, without a law."""

    name = "idle-events"
    citation = "none"
    kernel = staticmethod(_idle)
    impact = staticmethod(_idle)
    memory_size = 16
    tolerance: float = 1e-6

    def in_steps(self) -> CoupledLaw:
        return _IdleInSteps()

    def resolve(self, setting: Setting) -> _Nothing:
        return _Nothing(0.0)


def compile_loop() -> None:
    """The loop of time steps; its types are the same for all laws, so that one without forces will do."""
    Simulation("ball", law=_IdleInSteps()).run(0.0)


def compile_events() -> None:
    """The loop from event to event."""
    Simulation("ball", law=_IdleEvents()).run(0.0)


def compile_seldom() -> None:
    """What loops and laws call seldom."""
    compile_loop()
    compile_events()
    for name in own_laws():
        list(law_pointers(name))
    for solver in own_solvers():
        solver.link()
    compile_cold()


def compile_worlds() -> None:
    """The loop of many worlds on a CPU, which is the same for all laws that they have."""
    Worlds(Simulation("ball", law="spring-damper"), 1).step()


def compile_controllers() -> None:
    """The compiled controllers, and the kernels of those in Python."""
    for name, robot in (("posture", "ball"), ("balance", "spatial-biped"), ("walk", "spatial-biped")):
        if name in controllers():
            Simulation(robot, law="mujoco").run(0.0, controller=name)


def law_pointers(name: str) -> Iterator[Any]:
    """The compiled functions of a law."""
    law = law_class(name)
    if issubclass(law, PointLaw | CoupledLaw):
        yield law.pointer()
    if issubclass(law, EventLaw):
        yield law.impact_pointer()


def own_laws() -> list[str]:
    """The laws of this package, without those that a user has registered."""
    return [name for name in laws() if law_class(name).__module__.startswith("footfall.")]


def own_solvers() -> list[Any]:
    """The kernels put apart that these laws call."""
    return [one for name in own_laws() for source in law_class(name).kernels() for one in separate_kernels(source)]


def jobs() -> list[str]:
    """All that can be compiled ahead, the longest first."""
    own, solvers = own_laws(), {one.symbol for one in own_solvers()}
    return ["events", "worlds", "step", *sorted(solvers), *(f"law:{name}" for name in own), "controllers", "seldom"]


def do(job: str) -> None:
    """Compile what a job names."""
    fixed = {
        "step": compile_loop,
        "events": compile_events,
        "worlds": compile_worlds,
        "controllers": compile_controllers,
        "seldom": compile_seldom,
    }
    if job in fixed:
        fixed[job]()
    elif job.startswith("law:"):
        for pointer in law_pointers(job.removeprefix("law:")):
            assert pointer.address
    else:
        module, _, name = job.rpartition(".")
        getattr(import_module(module), name).link()


def warm(say: Callable[[str], None], processes: int | None = None) -> None:
    """Compile everything, in as many processes as there are cores; ``say`` hears how far it has come."""
    waiting = jobs()
    total, done = len(waiting), 0
    room = processes or os.cpu_count() or 1
    running: dict[str, Any] = {}
    while waiting or running:
        while waiting and len(running) < room:
            job = waiting.pop(0)
            helper = spawn([job]) if room > 1 else None
            if helper is None:
                do(job)
                done += 1
                say(f"{done} of {total}: {job}")
            else:
                running[job] = helper
        for job in [job for job, helper in running.items() if helper.poll() is not None]:
            if running.pop(job).returncode:
                do(job)  # once more here, where errors are seen
            done += 1
            say(f"{done} of {total}: {job}")
        if running:
            try:
                next(iter(running.values())).wait(0.05)
            except subprocess.TimeoutExpired:
                continue


if __name__ == "__main__":
    for job in sys.argv[1:]:
        do(job)
