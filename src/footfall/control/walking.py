"""Walk: footsteps, a divergent component of motion that leads from one to the next, and torques that follow it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from footfall.control.biped import Biped
from footfall.control.walk_controller import Walking
from footfall.errors import ControllerError
from footfall.gait.footsteps import MOST_STEPS, FootstepPlan

if TYPE_CHECKING:
    from footfall.ground import Ground
    from footfall.robot import Robot


@dataclass(frozen=True)
class Walk:
    """Walk from standing to standing.

    A step goes ``speed`` times ``step_duration`` far, or ``step_length`` if that is given: then the duration follows.

    For robots with a free base and two flat feet on legs of six torque motors or more; the defaults are for one of
    human size. The ground is felt with the soles and not seen: a foot comes down until it touches, and the next is set
    as the one before lies.

    Records ``com``, ``dcm`` and ``dcm_reference`` (divergent component of motion), ``cop_reference``,
    ``swing_reference`` and ``phase`` (steps taken, and a half while a foot swings). Warnings: ``late`` where the ground
    was not met in time, ``out of reach`` where no foothold could stop the fall, ``unsolved``, and ``fallen``, after
    which the motors only brake.
    """

    speed: float = 0.4  # m/s
    steps: int = 5  # of both feet together; the last closes
    turn: float = 0.0  # rad/s, to the left
    step_duration: float = 0.5  # s
    step_length: float | None = None  # m
    step_height: float = 0.05  # m, that a foot is lifted
    step_width: float | None = None  # m, between the feet's middles, as at home if left out
    double_support: float = 0.15  # share of a step with both feet on the ground
    start_time: float = 0.8  # s, on both feet before the first step
    stop_time: float = 1.0  # s, on both feet after the last

    #: s between two calls, where a run does not say otherwise.
    control_dt = 0.002

    def __post_init__(self) -> None:
        for name in ("speed", "turn"):
            if not math.isfinite(getattr(self, name)):
                raise ControllerError(f"walk: {name} = {getattr(self, name)} is no number")
        for name in ("step_duration", "step_length", "step_height", "step_width", "start_time", "stop_time"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise ControllerError(f"walk: {name} = {value} but it must be positive")
        if self.step_length is not None and self.speed == 0.0:
            raise ControllerError(f"walk: steps of {self.step_length} m need a speed that is not zero")
        if not (isinstance(self.steps, int) and self.steps >= 1):
            raise ControllerError(f"walk: steps = {self.steps} but it must be a whole number, at least 1")
        if self.steps > MOST_STEPS:
            raise ControllerError(f"walk: steps = {self.steps} but a walk has at most {MOST_STEPS}")
        if not 0.02 <= self.double_support <= 0.8:
            raise ControllerError(f"walk: double_support = {self.double_support} but it must lie in 0.02 .. 0.8")

    def __str__(self) -> str:
        given = [f"{one.name}={getattr(self, one.name):g}" for one in fields(self) if self._is_given(one.name)]
        return f"walk({', '.join(given)})"

    def _is_given(self, name: str) -> bool:
        return name in ("speed", "steps") or getattr(self, name) != getattr(Walk, name)

    @property
    def period(self) -> float:
        """s, of one step."""
        return self.step_duration if self.step_length is None else self.step_length / abs(self.speed)

    @property
    def duration(self) -> float:
        """s, until the robot stands again; landings that come late make it longer."""
        return self.start_time + self.steps * self.period + self.stop_time

    def plan(self, width: float) -> FootstepPlan:
        """The footsteps, with the feet ``width`` (m) apart if nothing else was asked for."""
        return FootstepPlan.walk(
            steps=self.steps,
            length=self.speed * self.period,
            duration=self.period,
            width=width if self.step_width is None else self.step_width,
            turn=self.turn * self.period,
            double_support=self.double_support,
        )

    def start(self, robot: Robot, ground: Ground, dt: float) -> Walking:
        biped = Biped.of(robot, "walk")
        return Walking(
            self.plan(biped.step_width), biped, self.start_time, self.step_height, ground.dynamic_friction, dt
        )
