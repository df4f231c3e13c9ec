"""Controllers with a memory that run inside the compiled loop.

The loop calls a compiled controller with an array of numbers, its gains. For a controller with a memory that array
holds one number, the address of the tuple of its arrays. So one loop, compiled once, serves all of them.

Conditions that come and go (a torque at its limit, a fall) are written into an :class:`EpisodeLog`, a row for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    the run records), which are set here. ``signals`` is a named tuple of arrays, one for each signal, with their units.
    """

    def __init__(self, tick: Any, memory: Any, robot: Robot) -> None:
        self._tick, self.memory, signals = tick, memory, memory.signals
        self.signals = {
            name: Signal(values, unit)
            for (name, unit), values in zip(units(type(signals)).items(), signals, strict=True)
        }
        self.warnings = LoggedWarnings(memory.log, robot.actuator_names)
        self._gains = np.zeros(1)
        self._control: Any = None

    def join(self, senses: Senses) -> tuple[Any, np.ndarray]:
        """The function that the loop calls, and its gains, for a world with these senses."""
        self._lay_out(senses=senses)
        self._control = _pointer(self._tick, self._place._numba_type_)
        return self._control, self._gains

    def join_apart(self, view: View, data: mujoco.MjData) -> tuple[Any, np.ndarray]:
        """The same, for a world among many that is seen through a view on ``data``, which is kept."""
        self._data = data
        control, gains = self.join(senses_of(data, view.points, view.contacts))
        self._apart = ByReference(Apart(view, control, gains))
        return _pointer_apart(self._apart._numba_type_), np.array([self._apart.address]).view(float)

    def record_into(self, place: np.ndarray) -> None:
        """Write signals there from now on."""
        now = self.memory.signals
        parts = np.split(place, np.cumsum([values.size for values in now])[:-1])
        views = [part.reshape(values.shape) for part, values in zip(parts, now, strict=True)]
        self._lay_out(signals=type(now)(*views))

    def _lay_out(self, **parts: Any) -> None:
        """Replace these parts of the memory."""
        self.memory = self.memory._replace(**parts)
        self._place = ByReference(self.memory)
        self._gains.view(np.int64)[0] = self._place.address

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """All that it keeps from one call to the next, and constants, by name; not what it sees and reports."""
        yield from _arrays(self.memory, "")

    def __call__(self, time: float, state: Observation) -> np.ndarray:
        """The controls (nu,), for whoever calls it from Python."""
        if self._control is None:
            self.join(senses_of(state.data, state._points, state._contacts))
        ctrl = np.zeros(state.robot.model.nu)
        _call(self._control, float(time), ctrl, self._gains)
        return ctrl


#: Parts of a memory that belong to the run, or to the ground.
_NOT_OWN = ("senses", "signals", "clock", "table")


def _arrays(value: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, np.ndarray):
        yield name, value
    for field in getattr(value, "_fields", ()):
        if field not in _NOT_OWN:
            yield from _arrays(getattr(value, field), f"{name}.{field}")


#: Names and sentences of what controllers report, in the order of the numbers below. ``worst`` and ``details`` are
#: those of the episode, ``motor`` is the one whose number its details begin with.
SENTENCES = {
    "unsolved": "the quadratic program has no solution, that of before is kept",
    "fallen": "fell, trunk {details[0]:.2f} rad off, mass {details[1]:.2f} m high",
    "saturated": "motor '{motor}' is asked for {details[1]:.3g} N m and has {details[2]:.3g} N m",
    "infeasible": "the contacts cannot give the desired wrench: {details[0]:.3g} N and {details[1]:.3g} N m short",
    "late": "a foot came down {worst:.2f} s late",
    "out of reach": "a foothold was needed {worst:.2f} m out of reach",
    "stumbled": "a swinging foot met something and was lifted over it",
}
UNSOLVED, FALLEN, SATURATED, INFEASIBLE, LATE, OUT_OF_REACH, STUMBLED = range(7)
#: s before a fall in which what happened may be its cause.
RECENT = 2.5
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


def empty_log(room: int) -> EpisodeLog:
    """A log with room for this many episodes."""
    return zeros(EpisodeLog, {"N": room}, open=np.full(len(SENTENCES), -1, dtype=np.int64))


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
def see_fall(log: EpisodeLog, flag: Ints, time: Float, height: Float, usual: Float, tilt: Float) -> None:
    """Set ``flag`` (1,), and note, that a robot has fallen: its centre of mass is at ``height`` (m), of the ``usual``
    one, and its trunk off upright by ``tilt`` (rad).
    """
    if not flag[0] and fallen(height, usual, tilt):
        flag[0] = 1
        row = note(log, time, FALLEN, 1.0)
        if row >= 0:
            log.details[row, 0], log.details[row, 1] = tilt, height


@inlined
def limit_torques(drives: Drives, torque: Vector, senses: Senses, log: EpisodeLog, time: Float) -> None:
    """Keep torques (nu,) to what actuators can give in this state; note the one that lacks most N m."""
    worst, asked, lack = -1, 0.0, 0.0
    for i in range(torque.size):
        least, most = torque_range(drives, i, senses.qpos, senses.qvel)
        given = min(max(torque[i], least), most)
        if abs(torque[i] - given) > lack:
            worst, asked, lack = i, torque[i], abs(torque[i] - given)
        torque[i] = given
    if worst >= 0:
        row = see_episode(log, time, SATURATED, lack)
        if row >= 0:
            log.details[row, 0], log.details[row, 1], log.details[row, 2] = worst, asked, torque[worst]


class LoggedWarnings:
    """A log read as warnings: a sentence for each episode; that of a fall lists what came shortly before."""

    def __init__(self, log: EpisodeLog, motors: Sequence[str]) -> None:
        self._log, self._motors = log, motors

    def __iter__(self) -> Iterator[RunWarning]:
        columns = [column[: self._log.written[0]].tolist() for column in self._log[:5]]
        before: list[tuple[float, str]] = []
        start = 0.0
        for number, start, last, worst, details in zip(*columns, strict=True):
            kind = tuple(SENTENCES)[number]
            motor = self._motors[int(details[0])] if number == SATURATED else ""
            sentence = SENTENCES[kind].format(worst=worst, details=details, motor=motor)
            causes = [f"{cause} from {begin:.4g} s" for begin, cause in before if start - begin < RECENT]
            if number == FALLEN and causes:
                sentence += f"; before: {', '.join(causes)}"
            when = f"t = {start:.4g} s" + ("" if last == start else f" to {last:.4g} s")
            yield RunWarning(start, kind, f"{sentence} ({when})")
            before.append((start, kind))
        if lost := int(self._log.lost[0]):
            yield RunWarning(start, "more warnings", f"{lost} more after this one are not listed (t = {start:.4g} s)")
