"""Many worlds on the cores of a CPU: threads in compiled code, each with a space of its own.

A world is computed by one thread from the first to the last step of a call, so that its numbers stay in the cache, and
what comes out does not depend on how many threads there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import numpy as np

from footfall.compiled import kernel
from footfall.engine.step import DONE
from footfall.engine.tape import Tape, make_tape
from footfall.engine.worlds.arrays import Given, Shapes, Space, State, picker, room
from footfall.engine.worlds.one_world import Robot
from footfall.engine.worlds.step import Functions, Plan, advance_world
from footfall.errors import SimulationError

#: World steps that a thread takes at least before it asks for more: some milliseconds.
PORTION = 2000

pick_given = picker(Given, world_last=False)
pick_state = picker(State, world_last=False)
pick_space = picker(Space, world_last=False)
pick_tape = picker(Tape, world_last=False)


@kernel
def advance_worlds(robot, given, state, space, tape, chosen, plan, functions, who, span):
    """Take the steps of some worlds with one thread: ``who`` is (thread, first world, last), ``span`` the steps.

    A last instant to look at is only for worlds that are recorded: those with a row >= 0 in ``chosen`` (W,).
    """
    thread, first, last = who
    own = pick_space(space, thread)
    for w in range(first, last):
        row = chosen[w]
        if row < 0 and span[1] == 1:
            continue
        advance_world(
            robot,
            pick_given(given, w),
            pick_state(state, w),
            own,
            pick_tape(tape, max(row, 0)),
            row >= 0,
            plan,
            functions,
            span,
        )


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Team:
    """Threads that share out worlds among them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.pool = ThreadPoolExecutor(size) if size > 1 else None

    def share(self, worlds: int, steps: int, work: Callable[[int, int, int], Any]) -> None:
        """Call ``work(thread, first, last)`` until all worlds are done, threads taking portions as they are free."""
        portion = min(worlds, max(1, PORTION // max(1, steps)))
        if self.pool is None or worlds <= portion:
            work(0, 0, worlds)
            return
        portion = min(portion, -(-worlds // self.size))
        waiting = iter(range(0, worlds, portion))  # the interpreter's lock lets one thread at a time take from it

        def take(thread: int) -> None:
            for first in waiting:
                work(thread, first, min(first + portion, worlds))

        for future in [self.pool.submit(take, thread) for thread in range(self.size)]:
            future.result()


class Cores:
    """Worlds in the memory of the CPU, the world as the first index of every array."""

    def __init__(
        self,
        robot: Robot,
        shapes: tuple[Shapes, Shapes],
        count: int,
        functions: Functions,
        threads: int | None,
    ) -> None:
        if threads is not None and not (isinstance(threads, int) and threads > 0):
            raise SimulationError(f"threads = {threads!r}, but it must be a whole number > 0")
        self.team = Team(min(count, threads or cores()))
        self.robot, self.count = robot, count
        self.state = State(**room(shapes[0], count, world_last=False))
        self.space = Space(**room(shapes[1], self.team.size, world_last=False))
        self.given: Given | None = None
        self.functions = functions
        self.nobody = np.full(count, -1)

    def give(self, given: Given) -> None:
        """Set what the worlds are given."""
        self.given = given

    def array(self, name: str) -> np.ndarray:
        """An array of the state, live."""
        return getattr(self.state, name)

    host = array  # a copy for reading, elsewhere

    def reset(self, which: np.ndarray, start: dict[str, np.ndarray]) -> None:
        """Set the worlds of ``which`` (W,) to their start."""
        for name, array in self.state._asdict().items():
            array[which] = 0
            if name in start:
                array[which] = np.broadcast_to(start[name], array.shape)[which]

    def set_controls(self, ctrl: Any, count: int, width: int) -> None:
        """Set the controls, (nu,) or (W, nu)."""
        given = np.asarray(ctrl, dtype=float)
        if given.shape not in ((width,), (count, width)):
            raise SimulationError(f"ctrl has shape {given.shape}, but it must be ({width},) or ({count}, {width})")
        self.state.ctrl[:] = given

    def make_tape(self, model: mujoco.MjModel, worlds: int, samples: int, points: int, signals: int) -> Tape:
        """Room for the recordings of ``worlds`` worlds."""
        one = make_tape(model, samples if worlds else 1, points, max(1, signals))
        return Tape(*(np.zeros((max(1, worlds), *array.shape), dtype=array.dtype) for array in one))

    def host_tape(self, tape: Tape) -> Tape:
        return tape

    def advance(self, plan: Plan, controller: Any, steps: int, tape: Tape, recorded: Sequence[int]) -> None:
        """Take ``steps`` steps with all worlds that have not ended."""
        functions, chosen = self.functions, self.nobody
        if controller is not None:
            functions = functions._replace(control=controller.pointer())
        if recorded:
            chosen = chosen.copy()
            chosen[list(recorded)] = np.arange(len(recorded))
        arrays = (self.robot, self.given, self.state, self.space, tape, chosen, plan, functions)

        def work(thread: int, first: int, last: int) -> None:
            advance_worlds(*arrays, (thread, first, last), (steps, 0, 0))

        self.team.share(self.count, steps, work)
        if recorded:
            kept = [array[list(recorded)] for array in self.state]
            going = kept[State._fields.index("outcome")][:, 0] == DONE
            advance_worlds(*arrays, (0, 0, self.count), (0, 1, steps))
            for array, before in zip(self.state, kept, strict=True):
                array[np.asarray(recorded)[going]] = before[going]
