"""One world, stepped from Python, for loops of the user's own."""

from __future__ import annotations

import math
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.engine import step
from footfall.engine.tape import END, SAMPLES, make_tape
from footfall.errors import SimulationError
from footfall.given_numbers import is_whole
from footfall.record import Failure
from footfall.recording import Recording
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import State, UnderWay
from footfall.simulation.task import check_memory, vector

#: Samples that a new world has room for; the room doubles when it is full.
SAMPLES_AT_FIRST = 64


@public
class World(UnderWay):
    """A running simulation, advanced by ``step``; made by :meth:`footfall.Simulation.start`.

    Threads that step the same world wait for each other: to compute in parallel, start a world in each.
    """

    def __init__(self, run: Run, *, recorded: bool) -> None:
        self._run = run
        self.simulation: Setup = run.simulation
        self._recorded = recorded
        self._failure: Failure | None = None
        self._turn = RLock()
        self._stepping = False
        self._make_room(SAMPLES_AT_FIRST)

    def __repr__(self) -> str:
        return f"World({self.simulation!r}, t = {self.time:g} s)"

    @property
    def time(self) -> float:
        """Simulated time since the start, s."""
        return self._run.step * self.simulation.dt

    @property
    def qpos(self) -> np.ndarray:
        """(nq,) coordinates, live."""
        return self._run.data.qpos

    @property
    def qvel(self) -> np.ndarray:
        """(nv,) velocities, live."""
        return self._run.data.qvel

    @property
    def ctrl(self) -> np.ndarray:
        """(nu,) controls, live."""
        return self._run.data.ctrl

    @property
    def force(self) -> np.ndarray:
        """(P, 3) N, contact forces of the last step on the points of the feet, world frame."""
        return self._run.scratch.held.force[: self.simulation.robot.point_count]

    @property
    def position(self) -> np.ndarray:
        """(P, 3) m, contact points of the feet in the last step, world frame: at its beginning, or where a law of
        events looked last.
        """
        return self._run.points.position[: self.simulation.robot.point_count]

    @property
    def gap(self) -> np.ndarray:
        """(P,) m, their distance to the ground, negative inside."""
        return self._run.contacts.gap[: self.simulation.robot.point_count]

    @property
    def mode(self) -> np.ndarray:
        """(P,) of the last step: 0 open, 1 stick, 2 slide."""
        return self._run.points.mode[: self.simulation.robot.point_count]

    @property
    def status(self) -> int:
        """0 going on, 1 diverged, 2 no ground, 3 stopped by its controller, 4 energy from nowhere, 5 an error in
        MuJoCo; see ``failure``.
        """
        return int(self._run.outcome[END])

    @property
    def failure(self) -> Failure | None:
        """Why the world ended, or ``None``."""
        return self._failure

    def step(self, ctrl: ArrayLike | None = None, n: int = 1) -> None:
        """Take ``n`` steps with the controls ``ctrl`` (nu,); if left out they stay as they are.

        A world that diverges warns once, has its ``failure`` set and stays where it is. Ctrl-C raises ``Interrupted``
        between two steps, after which the world can go on.
        """
        steps = n if type(n) is int and n >= 0 else _whole(n)
        run = self._run
        with self._turn:
            if self._stepping:
                raise SimulationError("a step of this world is under way: its controller cannot step it, too")
            self._stepping = True
            try:
                if ctrl is not None:
                    self._set_controls(ctrl)
                if self._failure is not None:
                    return
                if self._recorded:
                    self._make_room(int(run.outcome[SAMPLES]) + steps // run.record_every + 2)
                elif run.outcome[SAMPLES] > 1:  # each start from the first state has one
                    run.outcome[SAMPLES] = 1
                run.advance_to(run.step + steps)
                if run.interrupts.asked or run.outcome[END] != step.DONE:
                    self._failure = run.conclude().failure
            except KeyboardInterrupt:
                run.go_on()
                raise
            finally:
                self._stepping = False

    def _set_controls(self, ctrl: Any) -> None:
        run = self._run
        if run.controls.kind:
            raise SimulationError(f"the controls of this world are set by its controller, {run.controls.name}")
        own = run.data.ctrl
        good = type(ctrl) is np.ndarray and ctrl.dtype == own.dtype and ctrl.shape == own.shape
        if not good or not math.isfinite(ctrl.dot(ctrl)):  # this takes 1 us, the full check 5 us
            ctrl = vector("ctrl", ctrl, len(own), self.simulation.robot.name)
        own[:] = ctrl

    def state(self) -> State:
        """Everything the world remembers now."""
        with self._turn:
            return self._run.state()

    def restore(self, state: State) -> None:
        """Continue from a state of the same simulation, bit for bit; the record is kept."""
        with self._turn:
            self._run.restore(state)
            self._run.go_on()
            self._failure = None

    def record(self) -> Recording:
        """The recording so far; its last sample is the beginning of the last step."""
        if not self._recorded:
            raise SimulationError("this world was started with recorded=False")
        with self._turn:
            return self._run.recording(self._failure)

    def _make_room(self, samples: int) -> None:
        run = self._run
        have = len(run.tape.time)
        if have >= samples:
            return
        check_memory(samples, sum(column[:1].nbytes for column in run.tape), run.record_every * self.simulation.dt)
        signals = run.tape.signals.shape[1]
        bigger: Any = make_tape(run.model, max(samples, 2 * have), self.simulation.robot.point_count, signals)
        for new, old in zip(bigger, run.tape, strict=True):
            new[:have] = old
        run.set_tape(bigger)


def _whole(steps: Any) -> int:
    if not is_whole(steps, 0):
        raise SimulationError(f"n = {steps!r}, but it must be a whole number of steps >= 0")
    return int(steps)
