"""Put robot, ground, law and controller together, and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import mujoco
import numpy as np

from footfall.errors import SimulationError
from footfall.record import Push
from footfall.recording import Recording
from footfall.simulation.controls import Controller
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup


class Simulation(Setup):
    """A robot on a ground under a contact law, ready to run.

    ``robot``, ``law`` and a ground without options may be names. ``dt`` is the step in s. ``integrator`` is
    ``"euler"``, semi-implicit with implicit joint damping, or ``"rk4"``, Runge-Kutta of fourth order for laws whose
    force is continuous.
    ``body_contacts`` lets bodies that are no foot meet the ground, and each other where the model says so, by MuJoCo's
    own contacts.

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
    ) -> Recording:
        """Simulate ``duration`` seconds and give back what happened.

        Starts from ``qpos`` (nq,) and ``qvel`` (nv,), home on the ground and at rest if left out. ``controller`` is a
        function ``(t, state) -> controls``, a compiled one such as :class:`footfall.control.Posture` (or its name,
        ``"posture"``), or None: then the controls stay at ``robot.home_ctrl``. ``control_dt`` and ``record_dt`` are
        multiples of ``dt``, equal to it if left out; between two samples forces are recorded as their mean and peak.
        ``pushes`` is one or several. ``progress`` is called now and then with the simulated time. ``seed`` is only
        noted in the recording.

        A simulation that diverges ends with a warning and ``recording.failure`` set; what came before is there. A
        controller that fails raises :class:`ControllerError`, an error inside MuJoCo a :class:`SimulationError`, and
        Ctrl-C an :class:`Interrupted`, which is a ``KeyboardInterrupt``: each carries the recording, at a prompt as
        ``sys.last_value.recording``.
        """
        try:
            run = Run(
                self,
                duration,
                controller=controller,
                qpos=qpos,
                qvel=qvel,
                control_dt=control_dt,
                record_dt=record_dt,
                pushes=pushes,
                seed=seed,
            )
        except mujoco.FatalError as error:
            raise SimulationError(f"MuJoCo gave up before the first step: {' '.join(str(error).split())}") from error
        return run.finish(progress)
