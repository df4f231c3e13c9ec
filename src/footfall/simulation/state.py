"""Everything that a world remembers at one instant: a run continues from it bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import mujoco
import numpy as np

from footfall.compiled import kernel
from footfall.engine.bridge import words_at
from footfall.errors import SimulationError
from footfall.simulation.setup import Setup

#: What MuJoCo needs to continue: time, coordinates, activations, controls, applied forces, warm starts.
MUJOCO = int(mujoco.mjtState.mjSTATE_INTEGRATION)

#: How the names of a controller's arrays begin.
CONTROLLER = "controller"

#: Of each array its name, shape and type.
Layout = tuple[tuple[str, tuple[int, ...], str], ...]

#: A :class:`footfall.simulation.run.Run`, which cannot be imported from here.
Run = Any


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The state of a world between two steps: coordinates, activations and controls, what the law and the constraints
    remember of their contacts, and a compiled controller of its past. Made by ``world.state()`` and
    :meth:`footfall.Simulation.state`.

    Limitations: a controller that is a Python function keeps its own memory, which is not part of it.
    """

    robot: str
    law: str
    step: int  # steps taken since the start
    dt: float  # s
    mujoco: np.ndarray
    layout: Layout
    values: Values

    @property
    def time(self) -> float:
        """Time since the start, s."""
        return self.step * self.dt

    def __repr__(self) -> str:
        return f"State({self.robot}, {self.law}, t = {self.time:g} s)"

    def arrays(self) -> dict[str, np.ndarray]:
        """Copies of all arrays of the run, by name."""
        made = {name: np.zeros(shape, kind) for name, shape, kind in self.layout}
        Blocks(made.values()).write(self.values)
        return made


def live_arrays(run: Run) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays of a run that one step leaves to the next, and a few more."""
    rooms = {
        "points": run.points,
        "others": run.points.others,
        "contacts": run.contacts,
        "joints": run.conditions.constraints.joints,
        "shared": run.conditions.constraints.shared,
        "held": run.scratch.held,
    }
    if run.simulation.law.event_driven:
        rooms["flow"] = run.flow
    for room, values in rooms.items():
        for name, value in values._asdict().items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                yield f"{room}.{name}", value
    clearance = run.conditions.clearance
    for name in ("place", "room", "looks"):  # by which a period from event to event may be taken in one piece
        yield f"clearance.{name}", getattr(clearance, name)
    yield "signals", run.scratch.signals
    if run.controls.inside is not None:
        for name, array in run.controls.inside.arrays():
            yield f"{CONTROLLER}{name}", array


class Live(NamedTuple):
    """The arrays of a run, as long as it is laid out as it is."""

    rooms: tuple[Any, ...]
    layout: Layout
    blocks: Blocks
    law: str


def _live(run: Run) -> Live:
    """Known from the last time, unless the run was laid out anew: to look at all arrays takes as long as ten steps."""
    rooms = (run.points, run.contacts, run.conditions, run.scratch, run.flow, run.controls.inside)
    known: Live | None = run.live
    if known is None or any(one is not other for one, other in zip(known.rooms, rooms, strict=True)):
        arrays = dict(live_arrays(run))
        layout = tuple((name, array.shape, array.dtype.str) for name, array in arrays.items())
        known = run.live = Live(rooms, layout, Blocks(arrays.values()), str(run.simulation.law))
    return known


def state_of(run: Run) -> State:
    """The state of a run between two steps."""
    setup: Setup = run.simulation
    numbers = np.zeros(mujoco.mj_stateSize(run.model, MUJOCO))
    mujoco.mj_getState(run.model, run.data, numbers, MUJOCO)
    live = _live(run)
    return State(setup.robot.name, live.law, run.step, setup.dt, numbers, live.layout, live.blocks.read())


def check_start(state: Any, qpos: Any = None, qvel: Any = None) -> None:
    """Refuse what is no state, or a state beside coordinates or velocities that it has itself."""
    if not isinstance(state, State):
        raise SimulationError(f"a state is what world.state() or rec.state(time) gives, not {state!r}")
    if qpos is not None or qvel is not None:
        raise SimulationError(
            "start has coordinates and velocities of its own: give it without qpos and qvel, or write those of a world "
            "that was restored to it"
        )


def check_fit(state: State, setup: Setup, law: str | None = None) -> None:
    """Refuse a state of another robot, under another ``law`` (that of the setup, in words) or with another step."""
    own = (setup.robot.name, str(setup.law) if law is None else law, setup.dt)
    if own != (state.robot, state.law, state.dt):
        raise SimulationError(
            f"a state of {state.robot} under {state.law}, dt = {state.dt:g} s, does not fit {own[0]} under {own[1]}, "
            f"dt = {own[2]:g} s: start from its qpos and qvel instead"
        )


def set_state(run: Run, state: State) -> None:
    """Put a run into a state of the same robot, under the same law with the same step.

    A compiled controller goes on where that of the state was, if it is of the same kind and size; any other begins.
    """
    check_start(state)
    live = _live(run)
    check_fit(state, run.simulation, live.law)
    if live.layout != state.layout:
        _make_room(run, state)
        live = _live(run)
    if live.layout == state.layout:
        live.blocks.write(state.values)
    else:
        _set_without_controller(run, state)
    mujoco.mj_setState(run.model, run.data, state.mujoco, MUJOCO)
    run.step = state.step


def _make_room(run: Run, state: State) -> None:
    """Give a run as many places for points not on feet as that of the state had."""
    sizes = run.workspace.sizes()
    places = next((shape[0] for name, shape, _ in state.layout if name == "others.who"), 0)
    if places in sizes and places != sizes[run.workspace.size]:
        run.resize(sizes.index(places))


def _set_without_controller(run: Run, state: State) -> None:
    """Set all arrays but those of the controller and its signals, which begin; an error where others differ."""
    live, kept = (
        {name: array for name, array in arrays.items() if name != "signals" and not name.startswith(CONTROLLER)}
        for arrays in (dict(live_arrays(run)), state.arrays())
    )
    if {name: array.shape for name, array in live.items()} != {name: array.shape for name, array in kept.items()}:
        raise SimulationError(
            f"the state of {state.robot} has other contact points or constraints than this simulation"
        )
    for name, array in live.items():
        array[...] = kept[name]


WORD = 8  # bytes


class Values(NamedTuple):
    """What the arrays of some ``Blocks`` held."""

    zero: np.ndarray  # of each block, 1 where all of it is zero
    words: np.ndarray  # the others, one after the other
    rest: tuple[np.ndarray, ...]  # the arrays that are no blocks


class Blocks:
    """Arrays that are read and written all at once: those of whole words, and one by one the rest of them."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._arrays: list[np.ndarray] = []  # whose memory is read and written to
        self._rest: list[np.ndarray] = []
        for array in arrays:
            if array.size:
                whole = array.nbytes % WORD == 0 and array.flags.c_contiguous
                (self._arrays if whole else self._rest).append(array)
        self._places = np.array([array.ctypes.data for array in self._arrays], dtype=np.int64)
        self._words = np.array([array.nbytes // WORD for array in self._arrays], dtype=np.int64)
        self._total = int(self._words.sum())

    def read(self) -> Values:
        """What the arrays hold now."""
        zero, values = np.empty_like(self._words), np.empty(self._total, dtype=np.int64)
        used = read_blocks(self._places, self._words, zero, values)
        return Values(zero, values[:used].copy(), tuple(array.copy() for array in self._rest))

    def write(self, values: Values) -> None:
        """Let them hold what arrays of the same sizes, in the same order, held."""
        write_blocks(self._places, self._words, values.zero, values.words)
        for array, value in zip(self._rest, values.rest, strict=True):
            array[...] = value


class FirstValues:
    """What arrays hold now, to be put back later."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._blocks = Blocks(arrays)
        self._values = self._blocks.read()

    def put_back(self) -> None:
        """Write all values again."""
        self._blocks.write(self._values)


@kernel
def read_blocks(places, words, zero, values):
    """Note which blocks are zeros, and write the others to ``values``, one after the other; gives their words."""
    first = 0
    for b in range(words.size):
        block = words_at(places[b], words[b])
        k = 0
        while k < words[b] and block[k] == 0:
            k += 1
        zero[b] = k == words[b]
        if not zero[b]:
            for k in range(words[b]):
                values[first + k] = block[k]
            first += words[b]
    return first


@kernel
def write_blocks(places, words, zero, values):
    """Write blocks of these sizes, in words, to their addresses: zeros, or the ``values``, one after the other."""
    first = 0
    for b in range(words.size):
        block = words_at(places[b], words[b])
        if zero[b]:
            for k in range(words[b]):
                block[k] = 0
        else:
            for k in range(words[b]):
                block[k] = values[first + k]
            first += words[b]


class UnderWay:
    """An object whose memory compiled code works in."""

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is under way, and cannot be pickled or copied: send its simulation, and of a World "
            "its state(), which another restores"
        )
