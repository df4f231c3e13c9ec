"""Put robot, ground, law and controller together, and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import mujoco
import numpy as np

from footfall.errors import SimulationError
from footfall.record import Push, Record
from footfall.recording import Recording
from footfall.simulation.checks import step_count
from footfall.simulation.controls import Controller
from footfall.simulation.run import Run, Task
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.world import World


class Simulation(Setup):
    """A robot on a ground under a contact law, ready to run.

    ``robot``, ``law`` and a ground without options may be names. ``dt`` is the step in s; left out it is 1 ms,
    or less where the springs of a law with default options need it on light feet. ``integrator`` is ``"euler"``,
    semi-implicit with implicit joint damping, or ``"rk4"``, Runge-Kutta of fourth order for laws whose force is
    continuous.
    Every body meets the ground under the law, by points of its collision geometry; bodies meet each other where the
    model says so, by MuJoCo's own contacts. ``body_contacts=False`` leaves the feet alone.

    A simulation holds no state: the same one may run many times, in many threads.
    """

    def run(
        self,
        duration: float,
        *,
        controller: Controller | str | None = None,
        qpos: Sequence[float] | np.ndarray | None = None,
        qvel: Sequence[float] | np.ndarray | None = None,
        control_dt: float | None = None,
        record_dt: float | None = None,
        pushes: Push | Iterable[Push] = (),
        progress: Callable[[float], None] | None = None,
        seed: int | None = None,
        start: State | None = None,
    ) -> Recording:
        """Simulate ``duration`` seconds and give back what happened.

        Starts from ``qpos`` (nq,) and ``qvel`` (nv,), home on the ground and at rest if left out. ``controller`` is a
        function ``(t, state) -> controls``, a compiled one such as :class:`footfall.control.Posture` (or its name,
        ``"posture"``), or None: then the controls stay at ``robot.home_ctrl``. ``control_dt`` and ``record_dt`` are
        multiples of ``dt``, equal to it if left out; between two samples forces are recorded as their mean and peak.
        ``pushes`` is one or several. ``progress`` is called now and then with the simulated time. ``seed`` is only
        noted in the recording. ``start`` is a state of this simulation to go on from, bit for bit, with its time.

        A simulation that diverges ends with a warning and ``recording.failure`` set; what came before is there. A
        controller that fails raises :class:`ControllerError`, an error inside MuJoCo a :class:`SimulationError`, and
        Ctrl-C an :class:`Interrupted`, which is a ``KeyboardInterrupt``: each carries the recording, at a prompt as
        ``sys.last_value.recording``.
        """
        task = Task(
            controller=controller,
            qpos=qpos,
            qvel=qvel,
            control_dt=control_dt,
            record_dt=record_dt,
            pushes=pushes,
            seed=seed,
            start=start,
        )
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
        record_dt: float | None = None,
        recorded: bool = True,
        seed: int | None = None,
        controller: Controller | str | None = None,
        control_dt: float | None = None,
    ) -> World:
        """One world to be stepped from Python: ``world.step(ctrl, n)``, ``world.state()``, ``world.record()``.

        A ``controller`` sets the controls, every ``control_dt`` (s); without one they are what ``step`` is given.
        ``record_dt`` (s) is the time between samples of the record, every step if left out; with ``recorded=False``
        nothing is kept.
        """
        task = Task(
            controller=controller,
            qpos=qpos,
            qvel=qvel,
            control_dt=control_dt,
            record_dt=record_dt,
            pushes=pushes,
            seed=seed,
        )
        return World(Run(self, 0.0, task, endless=True, recorded=recorded), recorded=recorded)

    def state(self, recording: Record, time: float) -> State:
        """The state at ``time`` (s) of a recording of this simulation, with what law and joints remember.

        It is found by simulating again from the recording's start with its controls, so every step must have been
        recorded.
        """
        steps = step_count(time, self.dt)
        if len(recording.time) < steps + 1 or not np.isclose(recording.time[steps], time, atol=0.5 * self.dt):
            raise SimulationError(f"the recording does not hold every step up to t = {time:g} s")
        world = self.start(qpos=recording.qpos[0], qvel=recording.qvel[0], pushes=recording.pushes, recorded=False)
        for ctrl in recording.ctrl[:steps]:
            world.step(ctrl)
        return world.state()
