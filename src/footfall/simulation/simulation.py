"""Simulations of a robot on a ground under a law, run as a whole or stepped from Python."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from threading import RLock
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.engine import step
from footfall.engine.tape import make_tape
from footfall.errors import SimulationError
from footfall.given_numbers import NotNegative, Positive, Whole
from footfall.record import Failure, Push, Record
from footfall.recording import Recording
from footfall.simulation.controls import Controller
from footfall.simulation.linearization import Linearization
from footfall.simulation.linearize import AlongRun, Probe
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import State, UnderWay
from footfall.simulation.task import Task, check_memory, step_count, vector

#: Initial capacity of a world's recording, samples; it doubles when full.
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
        self._probe: Probe | None = None  # takes and differentiates single steps from this world's states
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
        """(P, 3) m, contact points of the feet at the beginning of the last step, world frame; under an event-driven
        law at its last evaluation.
        """
        return self._run.points.position[: self.simulation.robot.point_count]

    @property
    def gap(self) -> np.ndarray:
        """(P,) m, distance of the contact points of the feet to the ground, negative inside."""
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
        return int(self._run.outcome.end[0])

    @property
    def failure(self) -> Failure | None:
        """Why the world ended, or ``None``."""
        return self._failure

    def step(self, ctrl: ArrayLike | None = None, n: Whole = 1) -> None:
        """Take ``n`` steps with the controls ``ctrl`` (nu,); if left out they stay as they are.

        A world that diverges warns once, has its ``failure`` set and stays where it is. Ctrl-C raises ``Interrupted``
        between two steps, after which the world can go on.
        """
        run, steps = self._run, int(n)
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
                    self._make_room(int(run.outcome.samples[0]) + steps // run.record_every + 2)
                elif run.outcome.samples[0] > 1:  # each start from the first state records one
                    run.outcome.samples[0] = 1
                run.advance_to(run.step + steps)
                if run.interrupts.asked or run.outcome.end[0] != step.DONE:
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
        if not good or not math.isfinite(ctrl.dot(ctrl)):  # 1 us; the full check takes 5 us
            ctrl = vector("ctrl", ctrl, len(own), self.simulation.robot.name)
        own[:] = ctrl

    def state(self) -> State:
        """The whole state of the world now."""
        with self._turn:
            return self._run.state()

    def restore(self, state: State) -> None:
        """Continue from a state of the same simulation, bit for bit; the record is kept."""
        with self._turn:
            self._run.restore(state)
            self._run.go_on()
            self._failure = None

    def linearize(
        self, ctrl: ArrayLike | None = None, *, to: str | Iterable[str] = (), smoothing: float = 0.0
    ) -> Linearization:
        """The derivative of the step that ``step(ctrl)`` would take now; the world is not changed.

        Controls are constants, also those that a controller of this world set last. ``to`` names parameters:
        "friction", "slope", "masses", "law", "points", or single ones, see :class:`Linearization`. ``smoothing`` is a
        compliance (m/N) that softens contacts, see :mod:`footfall.engine.derivatives.cone`.
        """
        with self._turn:
            if self._probe is None or self._probe.to != tuple([to] if isinstance(to, str) else to):
                self._probe = Probe(self.simulation, Task(pushes=self._run.pushes), to=to)
            return self._probe.linearize(self._run.state(), ctrl, smoothing)

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


@public
class Simulation(Setup):
    """A robot on a ground under a contact law, ready to run.

        ground = ff.Ground.slope(0.05, friction=0.7)
        sim = ff.Simulation("spatial-biped", ground=ground, law="time-stepping")
        rec = sim.run(3.0, controller="posture")
        rec.total_force[-1]  # N, of the ground on the robot

    A simulation holds no state: the same one may run many times, in many threads.

    Args:
        robot: a :class:`footfall.Robot`, the name of a built-in one (``footfall.robots()``), a file (MJCF or URDF), an
            ``MjModel`` or an ``MjSpec``.
        ground: a :class:`footfall.Ground`, or the name of a kind whose options all have defaults; a level plane of
            friction 0.7 if left out.
        law: a contact law, ``ff.law("spring-damper", k=2e4)``, or its name (``footfall.laws()``).
        dt: step, s; if left out 1 ms, or less where a spring law with default options needs it for light feet.
        body_contacts: every body can touch the ground, at points of its collision geometry, and other bodies where the
            model lets them collide, under the law (under event-driven laws by MuJoCo's soft constraints); with False
            only the feet touch anything.
    """

    def run(
        self,
        duration: NotNegative,
        *,
        controller: Controller | str | None = "default",
        qpos: Sequence[float] | np.ndarray | None = None,
        qvel: Sequence[float] | np.ndarray | None = None,
        control_dt: Positive | None = None,
        record_dt: Positive | None = None,
        pushes: Push | Iterable[Push] = (),
        progress: Callable[[float], None] | None = None,
        start: State | None = None,
    ) -> Recording:
        """Simulate ``duration`` seconds and return the recording.

        Args:
            duration: s.
            controller: a function ``(t, state) -> controls`` of time (s) and a :class:`footfall.control.Observation`,
                with controls (nu,) in the units of the actuators; one of :mod:`footfall.control`, such as ``Walk()``;
                or the name of one, such as ``"balance"``. Left out, :func:`footfall.control.default_controller`:
                posture control of motors. With None the controls stay at ``robot.home_ctrl``, and most robots fall.
            qpos: (nq,) coordinates to start from, MuJoCo's order; home on the ground if left out.
            qvel: (nv,) velocities to start with; at rest if left out.
            control_dt: s between two calls of the controller, a multiple of ``dt``, equal to it if left out.
            record_dt: s between two samples, likewise; forces of the steps between are recorded as mean and peak.
            pushes: one :class:`footfall.Push` or several.
            progress: called from time to time with the simulated time, s.
            start: a state of this simulation; the run continues from it, and from its time, bit for bit.

        A simulation that diverges ends with a warning; its recording holds everything up to then and says why in
        ``recording.failure``. A controller that fails raises :class:`ControllerError`, an error inside MuJoCo
        :class:`SimulationError`, and Ctrl-C :class:`Interrupted`, which is a ``KeyboardInterrupt``. Each carries the
        recording; at a prompt it is ``sys.last_value.recording``.
        """
        task = Task(controller, qpos, qvel, control_dt, record_dt, pushes, start)
        try:
            run = Run(self, duration, task)
        except mujoco.FatalError as error:
            raise SimulationError(f"MuJoCo gave up before the first step: {' '.join(str(error).split())}") from error
        recording = run.finish(progress)
        run.give_back()
        return recording

    def start(
        self,
        *,
        qpos: Sequence[float] | np.ndarray | None = None,
        qvel: Sequence[float] | np.ndarray | None = None,
        pushes: Push | Iterable[Push] = (),
        record_dt: Positive | None = None,
        recorded: bool = True,
        controller: Controller | str | None = None,
        control_dt: Positive | None = None,
    ) -> World:
        """Start one world that a loop of your own steps from Python.

            world = sim.start()
            while world.time < 1.0:
                world.step(my_controls(world.qpos, world.qvel), n=10)
            rec = world.record()

        Arguments are those of :meth:`run`. Without a ``controller`` you pass the controls to ``step``; with
        ``recorded=False`` nothing is recorded.
        """
        task = Task(controller, qpos, qvel, control_dt, record_dt, pushes)
        return World(Run(self, 0.0, task, endless=True, recorded=recorded), recorded=recorded)

    def linearize(
        self,
        state: State,
        ctrl: ArrayLike | None = None,
        *,
        pushes: Iterable[Push] = (),
        to: str | Iterable[str] = (),
        smoothing: float = 0.0,
    ) -> Linearization:
        """The derivative of the step from ``state`` with the controls ``ctrl`` (nu,), those of the state if left out.

        ``pushes`` are the pushes of the run that the state comes from; see :meth:`World.linearize` for ``to`` and
        ``smoothing``.
        """
        pushes, to = tuple(pushes), to if isinstance(to, str) else tuple(to)
        if pushes or to:
            return Probe(self, Task(pushes=pushes), to=to).linearize(state, ctrl, smoothing)
        try:
            probe = self._probes.pop()
        except IndexError:
            probe = Probe(self)
        try:
            return probe.linearize(state, ctrl, smoothing)
        finally:
            self._probes.append(probe)

    def along(self, recording: Record, *, to: str | Iterable[str] = ()) -> AlongRun:
        """The derivatives along a recording of this simulation: products with vectors, and gradients of losses.

        Controls are constants, also those of a controller. Every step must have been recorded. ``to`` names
        parameters, see :meth:`World.linearize`.
        """
        return AlongRun(self, recording, to=to)

    @cached_property
    def _probes(self) -> deque[Probe]:
        """Idle probes, for any thread to take."""
        return deque()

    def state(self, recording: Record, time: NotNegative) -> State:
        """The state at ``time`` (s) of a recording of this simulation, with the memory of law and joints.

        The recording is simulated again from its start with its controls, so every step must have been recorded.
        """
        steps = step_count(time, self.dt)
        if len(recording.time) < steps + 1 or not np.isclose(recording.time[steps], time, atol=0.5 * self.dt):
            raise SimulationError(f"the recording does not hold every step up to t = {time:g} s")
        world = self.start(qpos=recording.qpos[0], qvel=recording.qvel[0], pushes=recording.pushes, recorded=False)
        for ctrl in recording.ctrl[:steps]:
            world.step(ctrl)
        return world.state()
