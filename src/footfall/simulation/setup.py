"""A robot on a ground under a contact law: checked, compiled to one model, and not yet run."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import mujoco
import numpy as np

from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.contact.setting import Setting, make_setting
from footfall.contact.springs.stable_step import usual_step
from footfall.errors import SimulationError, did_you_mean, warn
from footfall.given_numbers import is_number
from footfall.ground import Ground
from footfall.ground.ground import as_ground
from footfall.robot import Robot
from footfall.robot.load import AnyRobot, as_robot
from footfall.simulation.scene import RunModel, compose
from footfall.standing import place

#: Longest step, s.
LONGEST_STEP = 1.0
#: Longest period of an event-driven law, s.
LONGEST_PERIOD = 0.1


class Setup:
    """What a run is made in; :class:`footfall.Simulation` describes the options."""

    def __init__(
        self,
        robot: AnyRobot,
        *,
        ground: Ground | str | None = None,
        law: Law | str = "linearizing-penalty",
        dt: float | None = None,
        integrator: Literal["euler", "rk4"] = "euler",
        body_contacts: bool = True,
    ) -> None:
        self.robot = as_robot(robot)
        self.ground = as_ground(ground)
        self.law = make_law(law)
        if not self.robot.mass > mujoco.mjMINVAL:
            raise SimulationError(
                f"{self.robot.name} weighs {self.robot.mass:g} kg, next to nothing for MuJoCo: give its bodies masses"
            )
        if not self.robot.has_inertia:
            raise SimulationError(
                f"the inertia matrix of {self.robot.name} is singular in its home pose: masses or lengths of its "
                "bodies are too far apart"
            )
        if dt is not None and not (is_number(dt) and 0 < dt <= LONGEST_STEP):
            raise SimulationError(f"dt = {dt} but it must be a positive number of seconds, at most {LONGEST_STEP:g}")
        self.dt = usual_step(self.law, self.robot, self.ground) if dt is None else float(dt)
        if integrator not in ("euler", "rk4"):
            raise SimulationError(
                f"no integrator is called '{integrator}': {did_you_mean(str(integrator), ('euler', 'rk4'))}"
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
        self.scene: RunModel = compose(self.robot, self.law, self.dt, body_contacts=body_contacts)
        self._check_model()
        for feature, count in (("plugins", self.scene.model.nplugin), ("delayed actuators", self.scene.model.nhistory)):
            if count:
                raise SimulationError(f"{self.robot.name} uses MuJoCo's {feature}, which Footfall's step does not run")

    def _check_model(self) -> None:
        """Refuse settings under which forces would vanish silently; warn of those that no other law has."""
        options, name = self.scene.model.opt, self.robot.name
        if not self.law.native:
            if (self.robot.model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any():
                warn(f"actuators of {name} adhere to MuJoCo's own contacts alone, and do nothing under {self.law.name}")
            return
        for flag in ("constraint", "contact"):
            if options.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}")):
                raise SimulationError(
                    f'{name} says <flag {flag}="disable"/>, and so MuJoCo would give no contact forces under law mujoco'
                )

    def __reduce__(self) -> Any:
        return _again, (type(self), self.robot, self.ground, self.law, (self.dt, self.integrator, self.body_contacts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.robot.name}, {self.ground}, {self.law}, dt={self.dt:g})"

    @cached_property
    def setting(self) -> Setting:
        """What the law's defaults are derived from."""
        return make_setting(self.robot, self.ground, self.dt)

    @cached_property
    def home_on_ground(self) -> np.ndarray:
        """(nq,) the home pose set down at the origin: where runs start, unless they are given another place."""
        return self.place()

    def place(self, at: tuple[float, float] = (0.0, 0.0), *, align: bool = False) -> np.ndarray:
        """The home pose (nq,) set down on the ground at ``at`` (m): no point inside it, the first one touching.

        ``align`` turns a free base so that its up is the ground's normal there: a brick flat on a ramp.
        """
        return place(self.robot, self.ground, at, align=align)


def _again(kind: type[Setup], robot: Robot, ground: Ground, law: Law, others: tuple[float, Any, bool]) -> Setup:
    """A copy, perhaps in another process: built again from what it was made of."""
    dt, integrator, body_contacts = others
    return kind(robot, ground=ground, law=law, dt=dt, integrator=integrator, body_contacts=body_contacts)
