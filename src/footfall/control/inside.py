"""Controllers with a memory that run inside the compiled loop.

The loop calls a compiled controller with an array of numbers, its gains. For a controller with a memory that array
holds one number, the address of the tuple of its arrays. So one loop, compiled once, serves all of them.

Conditions that come and go (a torque at its limit, a fall) are written into an :class:`EpisodeLog`, a row for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, overload

import mujoco
import numpy as np

from footfall.compiled import ByReference, Reference, inlined, named_at
from footfall.control.base import State, control_pointer
from footfall.control.senses import Senses, senses_of
from footfall.engine.worlds.view import View, look
from footfall.record import RunWarning, Signal
from footfall.robot import Robot
from footfall.robot.motors import torque_range


@cache
def _pointer(tick: Any, reference: Reference) -> Any:
    """A controller of the loop that calls ``tick(memory, time, ctrl)``."""
    memory = named_at(reference)

    def control(time, qpos, qvel, ctrl, gains):
        return tick(memory(gains), time, ctrl)

    return control_pointer(control)


@cache
def _pointer_apart(tick: Any, reference: Reference) -> Any:
    """The same, which first computes what it sees."""
    memory = named_at(reference)

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


#: Two episodes of a kind are one if less than this (s) lies between them.
CALM = 0.1
#: Columns of a row: the kind, its first and last moment (s), its worst extent, and what else is to be said of it.
KIND, START, LAST, WORST, MORE = 0, 1, 2, 3, 4
DETAILS = 6


class EpisodeLog(NamedTuple):
    """What happened, in order."""

    rows: np.ndarray  # (N, 10)
    count: Any  # (2,) rows written, and those for which there was no room
    open: np.ndarray  # (kinds,) row of the last episode of each kind, or -1


def empty_log(kinds: int, room: int) -> EpisodeLog:
    """A log for this many kinds of episodes, with room for this many episodes."""
    return EpisodeLog(np.zeros((room, MORE + DETAILS)), np.zeros(2, dtype=np.int64), np.full(kinds, -1, dtype=np.int64))


@inlined
def note(log, time, kind, size):
    """Note that something of a kind happened at ``time`` (s), to the extent of ``size``; returns its row, or -1."""
    row = log.count[0]
    if row >= log.rows.shape[0]:
        log.count[1] += 1
        return -1
    log.rows[row, KIND], log.rows[row, START], log.rows[row, LAST], log.rows[row, WORST] = kind, time, time, size
    log.count[0] = row + 1
    return row


@inlined
def see_episode(log, time, kind, size):
    """The condition ``kind`` holds at ``time`` (s), to the extent of ``size``.

    Returns the row of its episode where that is at its worst now, to add details; otherwise -1.
    """
    row = log.open[kind]
    if row < 0 or time - log.rows[row, LAST] > CALM:
        log.open[kind] = note(log, time, kind, size)
        return log.open[kind]
    log.rows[row, LAST] = time
    if size <= log.rows[row, WORST]:
        return -1
    log.rows[row, WORST] = size
    return row


@inlined
def limit_torques(drives, torque, senses, log, time, kind):
    """Keep torques (nu,) to what actuators can give in this state; note as ``kind`` the one that lacks most N m."""
    worst, asked, lack = -1, 0.0, 0.0
    for i in range(torque.size):
        least, most = torque_range(drives, i, senses.qpos, senses.qvel)
        given = min(max(torque[i], least), most)
        if abs(torque[i] - given) > lack:
            worst, asked, lack = i, torque[i], abs(torque[i] - given)
        torque[i] = given
    if worst >= 0:
        row = see_episode(log, time, kind, lack)
        if row >= 0:
            log.rows[row, MORE], log.rows[row, MORE + 1], log.rows[row, MORE + 2] = worst, asked, torque[worst]


def saturation(robot: Robot, details: Sequence[float]) -> tuple[str, str]:
    """Kind and sentence of an episode of :func:`limit_torques`, from its details."""
    name = robot.model.actuator(int(details[0])).name
    return "saturated", f"motor '{name}' is asked for {details[1]:.3g} N m and has {details[2]:.3g} N m"


class LoggedWarnings(Sequence[RunWarning]):
    """A log read as warnings; ``describe`` returns kind and sentence of a row, and may look at the rows before it."""

    def __init__(self, log: EpisodeLog, describe: Callable[[np.ndarray, np.ndarray], tuple[str, str]]) -> None:
        self._log, self._describe = log, describe

    def __len__(self) -> int:
        return int(self._log.count[0]) + int(self._log.count[1] > 0)

    @overload
    def __getitem__(self, index: int) -> RunWarning: ...
    @overload
    def __getitem__(self, index: slice) -> list[RunWarning]: ...
    def __getitem__(self, index: int | slice) -> RunWarning | list[RunWarning]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        written, lost = self._log.count.tolist()
        rows = self._log.rows
        if index == written:
            last = float(rows[written - 1, START])
            return RunWarning(last, "more warnings", f"{lost} more after this one are not listed (t = {last:.4g} s)")
        row = rows[index]
        kind, sentence = self._describe(row, rows[:index])
        start, end = float(row[START]), float(row[LAST])
        when = f"t = {start:.4g} s" if end == start else f"t = {start:.4g} s to {end:.4g} s"
        return RunWarning(start, kind, f"{sentence} ({when})")
