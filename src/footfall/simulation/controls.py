"""The source of a run's controls: none, a compiled controller, or a Python function called from compiled code."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard

import mujoco
import numpy as np
from numba import types

from footfall.control import chosen_controller, default_controller
from footfall.control.base import CompiledController, Observation, StatefulController, control_pointer
from footfall.control.inside import Inside
from footfall.control.senses import senses_of
from footfall.engine import step
from footfall.engine.other_bodies.points import Points
from footfall.errors import ControllerError, FootfallError
from footfall.ground import Ground
from footfall.process.interrupts import Interrupts
from footfall.record import RunWarning, Signal
from footfall.robot import Robot
from footfall.robot.model import centre_of_mass, moving_bodies
from footfall.solve.contacts import Contacts

Controller = Callable[[float, Observation], Any] | StatefulController | CompiledController


#: Sources of controls, as numbers in :class:`footfall.engine.step.Plan`.
NOTHING, PYTHON, COMPILED = 0, 1, 2


class Controls(NamedTuple):
    """A controller made ready for the compiled loop."""

    name: str
    kind: int  # NOTHING, PYTHON or COMPILED
    control: step.Control
    callback: Callback
    signals: Mapping[str, Signal] = MappingProxyType({})
    warnings: Iterable[RunWarning] = ()
    inside: Inside | None = None  # a compiled one with a memory

    def write_signals(self, place: np.ndarray) -> None:
        """Copy the controller's signals to ``place``, one after the other, after each of its calls."""
        if self.inside is not None:
            self.inside.record_into(place)
        elif self.signals:
            self.callback.after = lambda: np.concatenate([s.values.ravel() for s in self.signals.values()], out=place)


class Callback(types.WrapperAddressProtocol):
    """A Python function of time that compiled code can call; its errors are stored and, as Ctrl-C, stop the loop."""

    def __init__(self, function: Callable[[float], None], interrupts: Interrupts) -> None:
        self.error: BaseException | None = None
        self.after: Callable[[], Any] = lambda: None

        def guarded(time: float) -> int:
            if interrupts.asked:
                return 1
            try:
                interrupts.inside = True
                function(time)
                interrupts.inside = False
                self.after()
            except BaseException as error:
                interrupts.inside = False
                self.error = error
                return 1
            return int(interrupts.asked)

        self.c_function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double)(guarded)

    def __wrapper_address__(self) -> int:
        return ctypes.cast(self.c_function, ctypes.c_void_p).value or 0

    def signature(self) -> Any:
        return _callback_type().signature

    @property
    def _numba_type_(self) -> Any:
        return _callback_type()


@cache
def _callback_type() -> Any:
    return types.FunctionType(types.int64(types.float64))


@cache
def no_control() -> Controls:
    """Nothing sets the controls."""
    silent = Callback(lambda time: None, Interrupts())
    control = step.Control(silent, control_pointer(step.idle_control), np.zeros(1))
    return Controls("none", NOTHING, control, silent)


def find_controller(given: Controller | str | None, robot: Robot) -> tuple[str, Controller | None]:
    """The name and the controller that a user's argument (a controller, its name, or None) stands for."""
    controller = chosen_controller(given, robot)
    if controller is None:
        return "none", None
    if isinstance(given, str):
        return str(default_controller(robot)) if given == "default" else given, controller
    if isinstance(controller, type):
        name = controller.__name__
        raise ControllerError(f"controller={name} is the class: write {name}() or give its options, {name}(...)")
    if _is_compiled(controller):
        return str(controller), controller
    told = isinstance(controller, StatefulController) and type(controller).__repr__ is not object.__repr__
    own = str(controller) if told else type(controller).__name__
    return getattr(controller, "__name__", own), controller


def _is_compiled(controller: Any) -> TypeGuard[CompiledController]:
    """As ``isinstance``, which is slow for protocols and would be called in every run."""
    return hasattr(controller, "gains") and hasattr(controller, "pointer")


def initial_state(
    controller: Controller | None, robot: Robot, ground: Ground
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The qpos and qvel from which a controller starts; None for both if it does not say."""
    start = getattr(controller, "initial_state", None)
    return (None, None) if start is None else start(robot, ground)


def _started(controller: StatefulController, name: str, robot: Robot, ground: Ground, dt: float) -> Any:
    """The result of a controller's ``start``; any exception becomes a ``ControllerError``."""
    try:
        return controller.start(robot, ground, dt)
    except FootfallError:
        raise
    except Exception as error:
        message = f"controller {name} cannot start: {type(error).__name__}: {error}"
        raise ControllerError(message) from error


def _centre(data: mujoco.MjData) -> Callable[[], np.ndarray]:
    """A function that returns the centre of mass of all moving bodies: MuJoCo's own if no fixed body has a mass."""
    model, whole = data.model, _read_only(data.subtree_com[0])
    if model.body_mass[~moving_bodies(model)].any():
        return lambda: centre_of_mass(model, data)
    return lambda: whole


class Seen(NamedTuple):
    """The parts of the engine that a controller may see."""

    data: mujoco.MjData
    points: Points
    contacts: Contacts


def make_controls(
    name: str,
    controller: Controller,
    robot: Robot,
    ground: Ground,
    dt: float,
    seen: Seen,
    interrupts: Interrupts,
) -> Controls:
    """Prepare a controller: a function, or one of the objects of :mod:`footfall.control.base`."""
    none = no_control()
    if _is_compiled(controller):
        gains = np.ascontiguousarray(controller.gains(robot, ground, dt), dtype=float)
        control = none.control._replace(compiled=controller.pointer(), gains=gains)
        return none._replace(name=name, kind=COMPILED, control=control)
    if isinstance(controller, StatefulController):
        controller = _started(controller, name, robot, ground, dt)
    if isinstance(controller, Inside):
        pointer, gains = controller.join(senses_of(*seen))
        control, told = none.control._replace(compiled=pointer, gains=gains), (controller.signals, controller.warnings)
        return Controls(name, COMPILED, control, none.callback, *told, controller)
    if not callable(controller):
        raise ControllerError(f"a controller is a function (t, state) -> controls, not {controller!r}")
    data, points, contacts = seen
    mirror = Mirror(data)
    state = Observation(
        robot=robot,
        qpos=_read_only(data.qpos),
        qvel=_read_only(data.qvel),
        position=_read_only(points.position),
        gap=_read_only(contacts.gap),
        mode=_read_only(points.mode),
        _com=_centre(data),
        _points=points,
        _contacts=contacts,
        _mirror=mirror,
    )
    callback = Callback(_checked(controller, name, state, data.ctrl), interrupts)
    signals, warnings = getattr(controller, "signals", {}), getattr(controller, "warnings", ())
    return Controls(name, PYTHON, none.control._replace(python=callback), callback, signals, warnings)


def _checked(
    controller: Callable[[float, Observation], Any], name: str, state: Observation, ctrl: np.ndarray
) -> Callable[[float], None]:
    """A function of time that calls the controller, checks its answer, and sets the controls."""
    shape, robot = ctrl.shape, state.robot

    def control(time: float) -> None:
        state._mirror.renew()
        answer = controller(time, state)
        try:
            controls = np.asarray(answer, dtype=float) if answer is not None else None
        except (TypeError, ValueError) as error:
            raise ControllerError(
                f"controller {name} returned {answer!r} at t = {time:.6g} s, which is not an array of numbers"
            ) from error
        if controls is None or controls.shape != shape:
            got = "None" if controls is None else f"shape {controls.shape}"
            raise ControllerError(
                f"controller {name} returned {got} at t = {time:.6g} s; "
                f"{robot.name} has {shape[0]} actuators, so it must return ({shape[0]},) numbers"
            )
        if np.count_nonzero(np.isfinite(controls)) < controls.size:
            first = int(np.flatnonzero(~np.isfinite(controls))[0])
            raise ControllerError(
                f"controller {name} returned {controls[first]} "
                f"for actuator {robot.actuator_names[first]} at t = {time:.6g} s"
            )
        ctrl[:] = controls

    return control


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.setflags(write=False)
    return view


class Mirror:
    """A copy of an ``MjData``, made on first use and kept up to date from then on.

    It has a model of its own, since all simulations of a robot share the engine's.
    """

    def __init__(self, source: mujoco.MjData) -> None:
        self._source = source
        self._copy: mujoco.MjData | None = None

    def renew(self) -> None:
        """Bring the copy, if there is one, up to date with the original."""
        if self._copy is not None:
            mujoco.mj_copyData(self._copy, self._source.model, self._source)

    def data(self) -> mujoco.MjData:
        """The copy."""
        if self._copy is None:
            self._copy = mujoco.MjData(copy.copy(self._source.model))
            self.renew()
        return self._copy
