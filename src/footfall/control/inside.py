"""Controllers with a memory that run inside the compiled loop.

The loop calls a compiled controller with an array of numbers, its gains. For a controller with a memory that array
holds one number, the address of the tuple of its arrays. So one loop, compiled once, serves all of them.

Conditions that come and go (a torque at its limit, a fall) are written into an :class:`EpisodeLog`, a row for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import ByReference, Reference, inlined, kernel, named_at
from footfall.control.base import Observation, control_pointer
from footfall.control.senses import Senses, senses_of
from footfall.engine.worlds.view import View, look
from footfall.kinds import Float, Function, Int, Ints, Matrix, Vector, units, zeros
from footfall.record import RunWarning, Signal
from footfall.robot import Robot
from footfall.robot.motors import Drives, torque_range
from footfall.standing import fallen


@cache
def _pointer(tick: Any, reference: Reference) -> Any:
    """A controller of the loop that calls ``tick(memory, time, ctrl)``."""
    memory = named_at(reference)

    def control(time: Float, qpos: Vector, qvel: Vector, ctrl: Vector, gains: Vector) -> Int:
        return tick(memory(gains), time, ctrl)

    return control_pointer(control)


@cache
def _pointer_apart(reference: Reference) -> Any:
    """A controller of the loop that computes its view of the world, and then calls one that :func:`_pointer` made."""
    memory = named_at(reference)

    def control(time, qpos, qvel, ctrl, gains):
        apart = memory(gains)
        look(apart.seen, qpos, qvel)
        return apart.control(time, qpos, qvel, ctrl, apart.gains)

    return control_pointer(control)


@kernel
def _call(control: Function, time: Float, ctrl: Vector, gains: Vector) -> Int:
    """Call a controller of the loop from Python: it sees the state through its memory, not through its arguments."""
    return control(time, gains, gains, ctrl, gains)


class Apart(NamedTuple):
    """A controller, with its gains, beside its view of the world."""

    seen: View
    control: Function
    gains: Vector


class Inside:
    """A running compiled controller: the loop calls ``tick(memory, time, ctrl)``.

    ``memory`` is a named tuple of arrays with a ``log``, and with ``senses`` (its inputs) and ``signals`` (arrays that
    the run records), which are set here. ``signals`` is a named tuple of arrays, one for each signal, with their units;
    a signal of ``scalars`` is one number.
    """

    def __init__(self, tick: Any, memory: Any, scalars: Sequence[str] = ()) -> None:
        self._tick, self._memory, signals = tick, memory, memory.signals
        self.signals = {
            name: Signal(values.reshape(()) if name in scalars else values, unit)
            for (name, unit), values in zip(units(type(signals)).items(), signals, strict=True)
        }
        self.warnings = LoggedWarnings(memory.log, self.describe)
        self._gains = np.zeros(1)
        self._place: ByReference | None = None

    def describe(self, one: Episode, before: list[Episode]) -> tuple[str, str]:
        """Kind and sentence of an episode, of which those ``before`` it may be causes."""
        raise NotImplementedError

    def join(self, senses: Senses) -> tuple[Any, np.ndarray]:
        """The function that the loop calls, and its gains, for a world with these senses."""
        self._memory = self._memory._replace(senses=senses)
        self._lay_out()
        assert self._place is not None
        return _pointer(self._tick, self._place._numba_type_), self._gains

    def join_apart(self, view: View, data: mujoco.MjData) -> tuple[Any, np.ndarray]:
        """The same, for a world among many that is seen through a view on ``data``, which is kept."""
        self._data = data
        control, gains = self.join(senses_of(data, view.points, view.contacts))
        self._apart = ByReference(Apart(view, control, gains))
        return _pointer_apart(self._apart._numba_type_), np.array([self._apart.address]).view(float)

    def record_into(self, place: np.ndarray) -> None:
        """Write signals there from now on."""
        now = self._memory.signals
        parts = np.split(place, np.cumsum([values.size for values in now])[:-1])
        views = [part.reshape(values.shape) for part, values in zip(parts, now, strict=True)]
        self._memory = self._memory._replace(signals=type(now)(*views))
        self._lay_out()

    def _lay_out(self) -> None:
        self._place = ByReference(self._memory)
        self._gains.view(np.int64)[0] = self._place.address

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """All that it keeps from one call to the next, and constants, by name; not what it sees and reports."""
        yield from _arrays(self._memory, "")

    def see(self, state: Observation) -> ByReference:
        """The memory, laid out for what a controller in Python sees."""
        if self._place is None:
            self.join(senses_of(state.data, state._points, state._contacts))
        assert self._place is not None
        return self._place

    def __call__(self, time: float, state: Observation) -> np.ndarray:
        """The controls (nu,), for whoever calls it from Python."""
        ctrl = np.zeros(state.robot.model.nu)
        place = self.see(state)
        _call(_pointer(self._tick, place._numba_type_), float(time), ctrl, self._gains)
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


#: Shortest interval (s) between two episodes of a kind; closer ones are merged.
CALM = 0.1


class EpisodeLog(NamedTuple):
    """What happened, in order, with room for N episodes."""

    kind: Annotated[Ints, "N"]
    start: Annotated[Vector, "N"]  # s
    last: Annotated[Vector, "N"]  # s
    worst: Annotated[Vector, "N"]  # its largest extent
    details: Annotated[Matrix, "N", 6]  # what else is to be said of it, as it was then
    written: Annotated[Ints, 1]  # episodes
    lost: Annotated[Ints, 1]  # those for which there was no room
    open: Ints  # (kinds,) the last episode of each kind, or -1


class Episode(NamedTuple):
    """One of them."""

    kind: int
    start: float
    last: float
    worst: float
    details: list[float]


def empty_log(kinds: int, room: int) -> EpisodeLog:
    """A log for this many kinds of episodes, with room for this many episodes."""
    return zeros(EpisodeLog, {"N": room}, open=np.full(kinds, -1, dtype=np.int64))


@inlined
def note(log: EpisodeLog, time: Float, kind: Int, size: Float) -> Int:
    """Note that something of a kind happened at ``time`` (s), to the extent of ``size``; returns its row, or -1."""
    row = log.written[0]
    if row >= log.kind.size:
        log.lost[0] += 1
        return -1
    log.kind[row], log.start[row], log.last[row], log.worst[row] = kind, time, time, size
    log.written[0] = row + 1
    return row


@inlined
def see_episode(log: EpisodeLog, time: Float, kind: Int, size: Float) -> Int:
    """The condition ``kind`` holds at ``time`` (s), to the extent of ``size``.

    Returns the row of its episode where that is at its worst now, to add details; otherwise -1.
    """
    row = log.open[kind]
    if row < 0 or time - log.last[row] > CALM:
        log.open[kind] = note(log, time, kind, size)
        return log.open[kind]
    log.last[row] = time
    if size <= log.worst[row]:
        return -1
    log.worst[row] = size
    return row


@inlined
def see_fall(log: EpisodeLog, flag: Ints, time: Float, kind: Int, height: Float, usual: Float, tilt: Float) -> None:
    """Set ``flag`` (1,), and note as ``kind``, that a robot has fallen: its centre of mass is at ``height`` (m), of the
    ``usual`` one, and its trunk off upright by ``tilt`` (rad).
    """
    if not flag[0] and fallen(height, usual, tilt):
        flag[0] = 1
        row = note(log, time, kind, 1.0)
        if row >= 0:
            log.details[row, 0], log.details[row, 1] = tilt, height


@inlined
def limit_torques(drives: Drives, torque: Vector, senses: Senses, log: EpisodeLog, time: Float, kind: Int) -> None:
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
            log.details[row, 0], log.details[row, 1], log.details[row, 2] = worst, asked, torque[worst]


def saturation(robot: Robot, details: Sequence[float]) -> tuple[str, str]:
    """Kind and sentence of an episode of :func:`limit_torques`, from its details."""
    name = robot.actuator_names[int(details[0])]
    return "saturated", f"motor '{name}' is asked for {details[1]:.3g} N m and has {details[2]:.3g} N m"


class LoggedWarnings:
    """A log read as warnings; ``describe`` returns kind and sentence of an episode, and may look at those before it."""

    def __init__(self, log: EpisodeLog, describe: Callable[[Episode, list[Episode]], tuple[str, str]]) -> None:
        self._log, self._describe = log, describe

    def __iter__(self) -> Iterator[RunWarning]:
        columns = [column.tolist() for column in self._log[:5]]
        episodes = [Episode(*row) for row in zip(*columns, strict=True)][: int(self._log.written[0])]
        for i, one in enumerate(episodes):
            kind, sentence = self._describe(one, episodes[:i])
            when = f"t = {one.start:.4g} s" + ("" if one.last == one.start else f" to {one.last:.4g} s")
            yield RunWarning(one.start, kind, f"{sentence} ({when})")
        if lost := int(self._log.lost[0]):
            last = episodes[-1].start
            yield RunWarning(last, "more warnings", f"{lost} more after this one are not listed (t = {last:.4g} s)")
