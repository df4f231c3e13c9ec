"""Put robot, ground, law and controller together, and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from footfall.contact import law as make_law
from footfall.contact.base import Law, Setting
from footfall.engine.controls import Controller
from footfall.engine.push import Push
from footfall.engine.run import Run
from footfall.engine.scene import Scene, compose
from footfall.engine.setting import make_setting, place
from footfall.errors import SimulationError, did_you_mean
from footfall.ground import Ground
from footfall.recording import Recording
from footfall.robot import Robot, load_robot

#: Longest period of an event-driven law, s.
LONGEST_PERIOD = 0.1


class Simulation:
    """A robot on a ground under a contact law, ready to run.

    ``robot`` and ``law`` may be names. ``dt`` is the step in s. ``integrator`` is ``"euler"``, semi-implicit with
    implicit joint damping, or ``"rk4"``, Runge-Kutta of fourth order for laws whose force is continuous.
    ``body_contacts`` lets bodies that are no foot meet the ground, and each other where the model says so, by MuJoCo's
    own contacts.

    A simulation holds no state: the same one may run many times, in many threads.
    """

    def __init__(
        self,
        robot: Robot | str,
        *,
        ground: Ground | None = None,
        law: Law | str = "linearizing-penalty",
        dt: float = 1e-3,
        integrator: Literal["euler", "rk4"] = "euler",
        body_contacts: bool = True,
    ) -> None:
        self.robot = load_robot(robot) if isinstance(robot, str) else robot
        self.ground = Ground.plane() if ground is None else ground
        self.law = make_law(law)
        if not (isinstance(dt, int | float) and np.isfinite(dt) and dt > 0):
            raise SimulationError(f"dt = {dt} but it must be a positive number of seconds")
        self.dt = float(dt)
        if integrator not in ("euler", "rk4"):
            raise SimulationError(
                f"no integrator is called '{integrator}': {did_you_mean(integrator, ('euler', 'rk4'))}"
            )
        if integrator == "rk4" and not self.law.smooth:
            raise SimulationError(
                f"integrator rk4 needs a law whose force is continuous; {self.law.name} is not: use 'euler'"
            )
        if self.law.event_driven and self.dt > LONGEST_PERIOD:
            raise SimulationError(
                f"dt = {self.dt:g} s, but {self.law.name} looks for events within a period of controls and records, "
                f"which may last {LONGEST_PERIOD:g} s at most: use a smaller dt"
            )
        self.integrator = integrator
        self.body_contacts = body_contacts
        self.scene: Scene = compose(self.robot, self.ground, self.law, self.dt, body_contacts=body_contacts)
        for feature, count in (("plugins", self.scene.model.nplugin), ("delayed actuators", self.scene.model.nhistory)):
            if count:
                raise SimulationError(f"{self.robot.name} uses MuJoCo's {feature}, which Footfall's step does not run")

    def __repr__(self) -> str:
        return f"Simulation({self.robot.name}, {self.ground}, {self.law}, dt={self.dt:g})"

    @cached_property
    def setting(self) -> Setting:
        """What the law's defaults are derived from."""
        return make_setting(self.robot, self.ground, self.dt)

    def place(self, at: tuple[float, float] = (0.0, 0.0), *, align: bool = False) -> np.ndarray:
        """The home pose (nq,) set down on the ground at ``at`` (m): no point inside it, the first one touching.

        ``align`` turns a free base so that its up is the ground's normal there: a brick flat on a ramp.
        """
        return place(self.robot, self.ground, at, align=align)

    def run(
        self,
        duration: float,
        *,
        controller: Controller | str | None = None,
        qpos: Sequence[float] | np.ndarray | None = None,
        qvel: Sequence[float] | np.ndarray | None = None,
        control_dt: float | None = None,
        record_dt: float | None = None,
        pushes: Iterable[Push] = (),
        progress: Callable[[float], None] | None = None,
        seed: int | None = None,
    ) -> Recording:
        """Simulate ``duration`` seconds and give back what happened.

        Starts from ``qpos`` (nq,) and ``qvel`` (nv,), home on the ground and at rest if left out. ``controller`` is a
        function ``(t, state) -> controls``, a compiled one such as :class:`footfall.control.Posture` (or its name,
        ``"posture"``), or nobody: then the controls stay at ``robot.home_ctrl``. ``control_dt`` and ``record_dt`` are
        multiples of ``dt``, equal to it if left out. ``progress`` is called now and then with the simulated time.
        ``seed`` is only noted in the recording.

        A simulation that diverges ends with a warning and ``recording.failure`` set; what came before is there. A
        controller that fails raises :class:`ControllerError`, which carries the recording.
        """
        return Run(
            self,
            duration,
            controller=controller,
            qpos=qpos,
            qvel=qvel,
            control_dt=control_dt,
            record_dt=record_dt,
            pushes=tuple(pushes),
            seed=seed,
        ).finish(progress)
