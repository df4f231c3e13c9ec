"""Checks of what a run is asked for, before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.errors import SimulationError
from footfall.given_numbers import is_number
from footfall.process.machine import machine_memory
from footfall.record import Push

#: Steps are counted in 64 bits.
MOST_STEPS = 2**62


def step_count(duration: float, dt: float) -> int:
    """Steps of ``dt`` (s) in a run of ``duration`` (s)."""
    if not (is_number(duration) and duration >= 0):
        raise SimulationError(f"duration = {duration!r} but it must be a number of seconds >= 0")
    if duration / dt > MOST_STEPS:
        raise SimulationError(f"a run of {duration:g} s takes more steps of {dt:g} s than can be counted")
    return round(duration / dt)


def multiple(name: str, value: float | None, dt: float) -> int:
    """The number of steps of ``dt`` (s) in a period of ``value`` (s); one if it is left out."""
    if value is None:
        return 1
    if not (is_number(value) and value > 0):
        raise SimulationError(f"{name} = {value!r} but it must be a positive number of seconds")
    if value / dt > MOST_STEPS:
        raise SimulationError(f"{name} = {value:g} s has more steps of {dt:g} s than can be counted")
    every = round(value / dt)
    if every < 1 or abs(every * dt - value) > 1e-9 + 1e-6 * value:
        raise SimulationError(f"{name} = {value:g} s is not a multiple of dt = {dt:g} s")
    return every


def vector(name: str, value: Any, size: int, robot: str) -> np.ndarray:
    """A state of a robot, (size,)."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{name} = {value!r} but {robot} needs ({size},) numbers") from error
    if found.shape != (size,):
        raise SimulationError(f"{name} has shape {found.shape}, but {robot} needs ({size},)")
    if not np.isfinite(found).all():
        k = int(np.argmin(np.isfinite(found)))
        raise SimulationError(f"{name}[{k}] is {found[k]}, but {robot} needs finite numbers")
    return found


def push_list(pushes: Any) -> tuple[Push, ...]:
    """One push, or several, as a tuple."""
    if isinstance(pushes, Push):
        return (pushes,)
    try:
        found = tuple(pushes)
    except TypeError as error:
        raise SimulationError(f"pushes are a footfall.Push or a list of them, not {pushes!r}") from error
    for push in found:
        if not isinstance(push, Push):
            raise SimulationError(f"pushes are a footfall.Push or a list of them, and {push!r} is not a Push")
    return found


def check_memory(samples: int, each: int, record_dt: float) -> None:
    """Refuse a recording of ``samples`` times ``each`` bytes that this machine cannot hold."""
    needed, there = samples * each, machine_memory()
    if needed > there:
        raise SimulationError(
            f"a sample every {record_dt:g} s makes {samples:.3g} samples of {each} bytes, {needed / 2**30:.3g} GiB, "
            f"and this machine has {there / 2**30:.3g} GiB: use a larger record_dt or a shorter run"
        )
