"""Repeat the recorded walk of a man with robot ``hanavan``, kept upright by motors on the pelvis whose help is
recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.contact.base import Law
from footfall.control.tracking import Tracking
from footfall.errors import ControllerError
from footfall.gait.human.data import MeasuredWalk, load_walk
from footfall.gait.human.walk import human_walk
from footfall.gait.periodic import PeriodicMotion
from footfall.ground import Ground
from footfall.robot import Robot


@dataclass(frozen=True)
class HumanWalk:
    """The measured human walk, on a robot ``hanavan`` with ``assist``, in space or in the plane.

    :func:`footfall.measure.assistance` measures how much the motors on the pelvis helped.

    Limitations: made for level ground; on stones of a centimetre or so it stays up.

    Attributes:
        law: a spring law, into which the feet sink under their load; if left out, hard ground.
        dt: s, step of the simulation, for defaults of the law.
        kp: N m/rad, stiffness of the joints.
        upright: N m/rad, of the moment on the pelvis.
        upright_damping: N m s/rad.
        push_damping: N s/m, of the push on the pelvis against wrong speed.
        forces: fit the motion to the measured ground forces too, or to the markers alone.
        data: another person's walk: a table of ``footfall human-walk``, or a recording's folder.
    """

    law: Law | None = None
    dt: float = 1e-4
    kp: float = 1000.0
    upright: float = 1000.0
    upright_damping: float = 100.0
    push_damping: float = 200.0
    forces: bool = True
    data: str | None = None

    @staticmethod
    def pointer() -> Any:
        return Tracking.pointer()

    def motion(self, robot: Robot) -> PeriodicMotion:
        """What this robot follows."""
        return human_walk(robot, self.law, self.dt, forces=self.forces, data=self._data())

    def _data(self) -> MeasuredWalk | None:
        return None if self.data is None else load_walk(self.data)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """Heel strike of the left foot."""
        return self._tracking(robot).initial_state(robot, ground)

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The numbers the compiled controller needs, flat."""
        return self._tracking(robot).gains(robot, ground, dt)

    def _tracking(self, robot: Robot) -> Tracking:
        motion = self.motion(robot)
        if not robot.root_motors.any():
            raise ControllerError(
                "human-walk does not balance by itself: load the robot with assist=True, on the command line "
                "--robot.assist"
            )
        return Tracking(
            motion,
            kp=self.kp,
            assist=(0.0, self.push_damping),
            assist_turn=(self.upright, self.upright_damping),
        )
