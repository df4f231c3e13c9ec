"""The contract of a controller.

A controller may be any function ``controller(t, state) -> controls``: it is called at the control rate with the time
(s) and an :class:`Observation`, and returns one number per actuator (N m for motors on hinges).

A controller with a memory is a frozen value of options with ``start(robot, ground, dt)``, which returns a fresh
function of that kind for one run (``dt`` is the time between two calls, s): so the same controller serves many runs. It
may have ``initial_state(robot, ground)``, the default qpos and qvel from which a run starts (a gait begins in the
middle of a walk); ``control_dt`` (s), the default time between two calls; and ``duration`` (s), after which it is done.
The function that ``start`` returns may have ``signals``, a mapping of names to :class:`Signal`, recorded with every
sample as ``rec.signals``; and ``warnings``, a list of :class:`RunWarning` for conditions that are not errors of the
program (a problem without solution, a torque at its limit), recorded in ``rec.info["warnings"]``. If it is an
:class:`footfall.control.inside.Inside`, it runs in compiled code inside the loop, like that of
:class:`footfall.control.Walk`.

A controller that must be fast is an object with two other methods: ``gains(robot, ground, dt)``, a flat array, and
``pointer()``, a compiled function ``(time, qpos, qvel, ctrl, gains) -> 0`` that writes ``ctrl``, as
:func:`control_pointer` makes one; any other result stops the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Protocol, runtime_checkable

import mujoco
import numpy as np

from footfall.engine.other_bodies.points import Points
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.solve.contacts import Contacts


@runtime_checkable
class CompiledController(Protocol):
    """A controller that runs inside the compiled loop."""

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray: ...
    def pointer(self) -> Any: ...


@runtime_checkable
class StatefulController(Protocol):
    """A controller that is started anew for every run."""

    def start(self, robot: Robot, ground: Ground, dt: float) -> Callable[[float, Observation], Any]: ...


def derived(value: float) -> float:
    """A setting that follows from a robot, in three digits: what is printed of it is all of it, and may be typed."""
    return float(f"{value:.3g}")


def described(options: Any, name: str, always: tuple[str, ...] = ()) -> str:
    """``name(option=value, ...)`` with the options that are not the defaults, and those that are shown ``always``."""
    shown = [
        one.name if callable(value) else f"{one.name}={value}"
        for one in fields(options)
        if (value := getattr(options, one.name)) != one.default or one.name in always
    ]
    return f"{name}({', '.join(shown)})" if shown else name


@cache
def control_pointer(function: Callable[..., int]) -> Any:
    """A plain function ``(time, qpos, qvel, ctrl, gains) -> 0``, compiled as the loop calls it."""
    from numba import float64, int64, types

    from footfall.compiled import function_pointer

    vector = types.Array(float64, 1, "C")
    return function_pointer(int64(float64, vector, vector, vector, vector), function)


@dataclass(frozen=True)
class Observation:
    """The input of a controller. Arrays are live views, read-only: copy values that must outlast the call."""

    robot: Robot
    qpos: np.ndarray  # (nq,)
    qvel: np.ndarray  # (nv,)
    position: np.ndarray  # (P, 3) m, contact points, world frame
    gap: np.ndarray  # (P,) m
    mode: np.ndarray  # (P,) of the step before: 0 open, 1 stick, 2 slide
    _com: Callable[[], np.ndarray]
    _points: Points
    _contacts: Contacts
    _mirror: Any

    @property
    def com(self) -> np.ndarray:
        """(3,) m, centre of mass of all moving bodies, world frame."""
        return self._com()

    @property
    def data(self) -> mujoco.MjData:
        """A copy of MuJoCo's data at this instant, to compute with: changing it does not affect the run.

        It holds positions, velocities, inertia and derived quantities; for contacts see ``force``, ``gap`` and
        ``mode``. After its first use it is updated before every call.
        """
        data: mujoco.MjData = self._mirror.data()
        return data

    @property
    def force(self) -> np.ndarray:
        """(P, 3) N, contact forces of the step before, world frame."""
        return np.einsum("pji,pj->pi", self._contacts.frame, self._points.force)
