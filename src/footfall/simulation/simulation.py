"""Put robot, ground, law and controller together, and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import SimulationError
from footfall.record import Push, Record
from footfall.recording import Recording
from footfall.simulation.controls import Controller
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.task import Task, step_count
from footfall.simulation.world import World


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
        integrator: ``"euler"``, semi-implicit with implicit joint damping, or ``"rk4"``, Runge-Kutta of fourth order
            for laws whose force is continuous.
        body_contacts: every body can touch the ground, under the law, at points of its collision geometry, and other
            bodies where the model says so, by MuJoCo's own contacts; with False only the feet touch anything.
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
        """Simulate ``duration`` seconds and return the recording.

        Args:
            duration: s.
            controller: a function ``(t, state) -> controls`` of time (s) and :class:`footfall.control.State`, with
                controls (nu,) in the units of the actuators; one of :mod:`footfall.control`, such as ``Walk()``; or the
                name of one, such as ``"posture"``. Left out, the controls stay at ``robot.home_ctrl``.
            qpos: (nq,) coordinates to start from, MuJoCo's order; home on the ground if left out.
            qvel: (nv,) velocities to start with; at rest if left out.
            control_dt: s between two calls of the controller, a multiple of ``dt``, equal to it if left out.
            record_dt: s between two samples, likewise; forces of the steps between are recorded as mean and peak.
            pushes: one :class:`footfall.Push` or several.
            progress: called now and then with the simulated time, s.
            seed: noted in the recording, and used for nothing else.
            start: a state of this simulation; the run continues from it, and from its time, bit for bit.

        A simulation that diverges ends with a warning; its recording holds everything up to then and says why in
        ``recording.failure``. A controller that fails raises :class:`ControllerError`, an error inside MuJoCo
        :class:`SimulationError`, and Ctrl-C :class:`Interrupted`, which is a ``KeyboardInterrupt``. Each carries the
        recording; at a prompt it is ``sys.last_value.recording``.
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
        """Start one world that a loop of your own steps from Python.

            world = sim.start()
            while world.time < 1.0:
                world.step(my_controls(world.qpos, world.qvel), n=10)
            rec = world.record()

        Arguments are those of :meth:`run`. Without a ``controller`` you pass the controls to ``step``; with
        ``recorded=False`` nothing is recorded.
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
        """The state at ``time`` (s) of a recording of this simulation, with the memory of law and joints.

        It is found by simulating again from the recording's start with the recorded controls, so every step must have
        been recorded.
        """
        steps = step_count(time, self.dt)
        if len(recording.time) < steps + 1 or not np.isclose(recording.time[steps], time, atol=0.5 * self.dt):
            raise SimulationError(f"the recording does not hold every step up to t = {time:g} s")
        world = self.start(qpos=recording.qpos[0], qvel=recording.qvel[0], pushes=recording.pushes, recorded=False)
        for ctrl in recording.ctrl[:steps]:
            world.step(ctrl)
        return world.state()
