"""The arguments of a run, checked before anything is computed: durations, starts, pushes, perturbed starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.engine.world import Pushes
from footfall.errors import SimulationError, did_you_mean, warn
from footfall.given_numbers import is_number
from footfall.process.machine import machine_memory
from footfall.record import Push
from footfall.simulation.controls import Controller

#: Most steps of a run: they are counted in 64 bits.
MOST_STEPS = 2**62


class Task(NamedTuple):
    """The arguments of a run, see :meth:`footfall.Simulation.run`."""

    controller: Controller | str | None = None
    qpos: Sequence[float] | np.ndarray | None = None
    qvel: Sequence[float] | np.ndarray | None = None
    control_dt: float | None = None  # s
    record_dt: float | None = None  # s
    pushes: Push | Iterable[Push] = ()
    start: Any = None  # a :class:`footfall.simulation.state.State`, if any


def step_count(duration: float, dt: float, what: str = "a run of") -> int:
    """Steps of ``dt`` (s) in a ``duration`` (s)."""
    if duration / dt > MOST_STEPS:
        raise SimulationError(f"{what} {duration:g} s takes more steps of {dt:g} s than can be counted")
    return round(duration / dt)


def multiple(name: str, value: float | None, dt: float) -> int:
    """The number of steps of ``dt`` (s) in a period of ``value`` (s); one if it is left out."""
    if value is None:
        return 1
    every = step_count(value, dt, f"{name} =")
    if every < 1 or abs(every * dt - value) > 1e-9 + 1e-6 * value:
        raise SimulationError(f"{name} = {value:g} s is not a multiple of dt = {dt:g} s")
    return every


def control_steps(controller: Any, control_dt: float | None, dt: float) -> int:
    """Steps of ``dt`` (s) from one call of a controller to the next: as asked, else in its own period, else one."""
    if control_dt is not None:
        return multiple("control_dt", control_dt, dt)
    return max(1, round(getattr(controller, "control_dt", dt) / dt))


def numbers(name: str, value: Any, needed: str = "it must be numbers, or an array of them") -> np.ndarray:
    """An array of numbers of any shape; ``needed`` says what to give instead."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{name} = {value!r} but {needed}") from error


def vector(name: str, value: Any, size: int, robot: str) -> np.ndarray:
    """A state of a robot, (size,)."""
    found = numbers(name, value, f"{robot} needs ({size},) numbers")
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
    found = tuple(pushes)
    for push in found:  # of a generator, say
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


def make_pushes(model: mujoco.MjModel, pushes: Sequence[Push], dt: float, total: int | None = None) -> Pushes:
    """The pushes of a run in steps of ``dt`` (s); warns of those after its ``total`` steps, if that is given."""
    if not pushes:
        return no_pushes()
    known = [model.body(i).name for i in range(1, model.nbody)]
    for push in pushes:
        if push.body not in known:
            raise SimulationError(f"push: no body is called '{push.body}': {did_you_mean(str(push.body), known)}")
        if total and push.start / dt >= total + 0.5:
            message = f"the push on {push.body} at {push.start:g} s does not act: the run ends at {total * dt:g} s"
            warn(message)
    return Pushes(
        body=np.array([model.body(push.body).id for push in pushes], dtype=np.int64),
        start=np.array([push.steps(dt)[0] for push in pushes], dtype=np.int64),
        stop=np.array([push.steps(dt)[1] for push in pushes], dtype=np.int64),
        wrench=np.array([[*push.force, *push.torque] for push in pushes], dtype=float).reshape(-1, 6),
    )


@cache
def no_pushes() -> Pushes:
    """The pushes of a run without any."""
    body, start, stop = np.zeros((3, 0), dtype=np.int64)
    return Pushes(body, start, stop, np.zeros((0, 6)))


_noise: ContextVar[tuple[int, float] | None] = ContextVar("noise", default=None)  # seed and size


@contextmanager
def perturbed_starts(seed: int, size: float = 1e-9) -> Iterator[None]:
    """Perturb the start of every run in this context, each coordinate and speed by up to ``size`` (m, rad, m/s, rad/s).

    All runs of one robot get the same perturbation, drawn with ``seed``, so that compared runs start alike. A run that
    continues from another's state is not perturbed. The context holds for the current thread.
    """
    if not (is_number(size) and size > 0.0):
        raise SimulationError(f"size = {size!r} but starts must be off by a positive number")
    token = _noise.set((seed, size))
    try:
        yield
    finally:
        _noise.reset(token)


def perturb(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Perturb the start in ``data`` if the context asks for it."""
    noise = _noise.get()
    if noise is None:
        return
    seed, size = noise
    off = np.random.default_rng(seed).uniform(-size, size, size=(2, model.nv))
    mujoco.mj_integratePos(model, data.qpos, off[0], 1.0)
    data.qvel += off[1]
