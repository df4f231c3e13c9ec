"""The task of a command: ground, controller, push, duration; the same options in every command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import tyro

from footfall.cli.shared.options import changed
from footfall.cli.shared.own_files import is_own, own_controller
from footfall.cli.shared.push import parse_push
from footfall.cli.shared.robot_choice import RobotChoice
from footfall.cli.shared.usage import UsageError

if TYPE_CHECKING:
    import numpy as np

    from footfall.ground import Ground
    from footfall.record import Push
    from footfall.robot import Robot


@dataclass(frozen=True, kw_only=True)
class GroundOptions(RobotChoice):
    """A robot on a ground, and a step."""

    ground: Annotated[str, tyro.conf.arg(metavar="KIND")] = "plane"
    """plane, slope, stairs, heightfield, ...; its options are --ground.OPTION"""
    dt: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="")] = None
    """step, s; left out 1 ms, or less where the springs of the law need it on light feet"""

    ground_options: tyro.conf.Suppress[Any] = None

    def chosen_ground(self) -> Ground:
        return self.ground_options.make()


@dataclass(frozen=True, kw_only=True)
class SettingOptions(GroundOptions):
    """A robot on a ground, with a controller and a step."""

    controller: Annotated[str | None, tyro.conf.arg(metavar="NAME|none", help_behavior_hint="")] = None
    """posture, balance, walk, gait, ... or none (left out: posture if all actuators are motors); its options are
    --controller.OPTION; or one of yours, FILE.py or FILE.py:NAME"""

    controller_options: tyro.conf.Suppress[Any] = None

    def chosen_controller(self, robot: Robot) -> Any:
        """The controller that was typed, with its options, or posture control for a robot that needs it."""
        from footfall.control import controller_class
        from footfall.errors import ControllerError
        from footfall.robot.motors import drives

        if self.controller_options is not None:
            return controller_class(str(self.controller))(**changed(self.controller_options))
        if self.controller is not None:
            if is_own(self.controller):
                return own_controller(self.controller)
            return None if self.controller == "none" else self.controller
        try:
            servos = drives(robot, "posture").servos
        except ControllerError:  # muscles, tendons: it is not known which control gives a torque
            return None
        return None if servos or not robot.model.nu else "posture"  # servos hold a posture by themselves


@dataclass(frozen=True, kw_only=True)
class TaskOptions(SettingOptions):
    """A setting, what happens in it, and where the recording is saved."""

    #: Duration of a task that is given none, s.
    usual_duration: ClassVar[float] = 5.0

    duration: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="")] = None
    """s; left out, a walk is as long as it takes, another run 5 s and a comparison 3 s"""
    push: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="PUSH")] = ()
    """'FORCE N DIRECTION BODY DURATION s at START s', as in '70 N y trunk 0.05 s at 1 s': x, y, z, -x, ... in the
    world; 'TORQUE Nm roll|pitch|yaw BODY ...' turns; the body may be called hip or base, the root"""
    align: bool = False
    """start with the soles along the ground, not upright"""
    drop: float = 0.0
    """start this much above the ground, m"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    """save what comes of it here"""
    json: bool = False
    """print one JSON object"""

    def chosen_pushes(self, robot: Robot) -> list[Push]:
        return [parse_push(text, robot) for text in self.push]

    def chosen_duration(self, controller: Any) -> float:
        """The duration (s) that was typed, or the controller's own, or the default."""
        if self.duration is not None:
            return float(self.duration)
        return float(getattr(controller, "duration", self.usual_duration))

    def start(self, robot: Robot, ground: Ground) -> np.ndarray | None:
        """The pose to start in, None for home on the ground."""
        from footfall.standing import place, unit_rise

        if not self.drop >= 0.0:
            raise UsageError(f"--drop {self.drop:g}: a robot starts above the ground, at a height >= 0 m")
        if not (self.align or self.drop):
            return None
        return place(robot, ground, (0.0, 0.0), align=self.align) + self.drop * unit_rise(robot)
