"""Controllers with a memory that run inside the compiled loop.

The loop calls a compiled controller with an array of numbers, its gains. For a controller with a memory that array
holds one number, the address of the tuple of its arrays. So one loop, compiled once, serves all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np
from llvmlite import ir
from numba.core.extending import _Intrinsic

from footfall.compiled import ByReference, Reference
from footfall.control.base import State, control_pointer
from footfall.control.senses import Senses, senses_of
from footfall.engine.worlds.view import View, look
from footfall.record import RunWarning, Signal


class _Memory(_Intrinsic):  # type: ignore[misc]
    """Reads the tuple whose address an array begins with."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference

        def memory(context: Any, gains: Any) -> Any:
            return reference(gains), _read

        super().__init__("memory", memory)

    def linkage(self) -> str:
        """What its callers are compiled against: the layout of the tuple."""
        return f"{self._reference} {self._reference.tuple_type}"


def _read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    gains = context.make_array(signature.args[0])(context, builder, arguments[0])
    address = builder.load(builder.bitcast(gains.data, ir.IntType(64).as_pointer()))
    return builder.inttoptr(address, context.get_value_type(signature.return_type))


@cache
def _pointer(tick: Any, reference: Reference) -> Any:
    """A controller of the loop that calls ``tick(memory, time, ctrl)``."""
    memory: Any = _Memory(reference)
    memory._register()

    def control(time, qpos, qvel, ctrl, gains):
        return tick(memory(gains), time, ctrl)

    return control_pointer(control)


@cache
def _pointer_apart(tick: Any, reference: Reference) -> Any:
    """The same, which first computes what it sees."""
    memory: Any = _Memory(reference)
    memory._register()

    def control(time, qpos, qvel, ctrl, gains):
        apart = memory(gains)
        look(apart.seen, qpos, qvel)
        return tick(apart.own, time, ctrl)

    return control_pointer(control)


class Apart(NamedTuple):
    """The memory of a controller beside its view of the world."""

    seen: View
    own: Any


class Inside:
    """A running compiled controller: the loop calls ``tick(memory, time, ctrl)``.

    ``memory`` is a named tuple of arrays with fields ``senses`` and ``signals``; these are set here, to what it sees
    and to where the run records.
    """

    signals: Mapping[str, Signal]
    warnings: Sequence[RunWarning]

    def __init__(self, tick: Any, memory: Any) -> None:
        self._tick, self._memory = tick, memory
        self._gains = np.zeros(1)
        self._place: ByReference | None = None

    def join(self, senses: Senses) -> tuple[Any, np.ndarray]:
        """The function that the loop calls, and its gains, for a world with these senses."""
        self._memory = self._memory._replace(senses=senses)
        self._lay_out()
        assert self._place is not None
        return _pointer(self._tick, self._place._numba_type_), self._gains

    def join_apart(self, view: View, data: mujoco.MjData) -> tuple[Any, np.ndarray]:
        """The same, for a world among many that is seen through a view on ``data``, which is kept."""
        self._data = data
        self._memory = self._memory._replace(senses=senses_of(data, view.points, view.contacts))
        self._place = ByReference(Apart(view, self._memory))
        self._gains.view(np.int64)[0] = self._place.address
        return _pointer_apart(self._tick, self._place._numba_type_), self._gains

    def record_into(self, place: np.ndarray) -> None:
        """Write signals there from now on."""
        self._memory = self._memory._replace(signals=place)
        self._lay_out()

    def _lay_out(self) -> None:
        self._place = ByReference(self._memory)
        self._gains.view(np.int64)[0] = self._place.address

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """All that it keeps from one call to the next, and constants, by name; not what it sees and reports."""
        yield from _arrays(self._memory, "")

    def see(self, state: State) -> ByReference:
        """The memory, laid out for what a controller in Python sees."""
        if self._place is None:
            self.join(senses_of(state.data, state._points, state._contacts))
        assert self._place is not None
        return self._place

    def __call__(self, time: float, state: State) -> np.ndarray:
        """The controls (nu,), for whoever calls it from Python."""
        ctrl = np.zeros(state.robot.model.nu)
        self._tick(self.see(state), float(time), ctrl)
        return ctrl


#: Parts of a memory that belong to the run, or to the ground.
_NOT_OWN = ("senses", "signals", "clock", "table")


def _arrays(value: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, np.ndarray):
        yield name, value
    elif hasattr(value, "_fields"):
        for field in value._fields:
            if field not in _NOT_OWN:
                yield from _arrays(getattr(value, field), f"{name}.{field}")


def signals_in(values: np.ndarray, shapes: Mapping[str, tuple[tuple[int, ...], str]]) -> dict[str, Signal]:
    """Signals of these shapes and units, one after the other in a flat array."""
    signals, first = {}, 0
    for name, (shape, unit) in shapes.items():
        size = math.prod(shape)
        signals[name] = Signal(values[first : first + size].reshape(shape), unit)
        first += size
    return signals
