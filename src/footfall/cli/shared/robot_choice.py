"""The robot of a command: its name, pose, feet, contact points and actuators; the same options in every command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from footfall.cli.shared.options import changed
from footfall.cli.shared.usage import UsageError, pairs

if TYPE_CHECKING:
    from footfall.robot import Robot

GRID = re.compile(r"(\d+)\s*[xX]\s*(\d+)")


@dataclass(frozen=True, kw_only=True)
class RobotOptions:
    """How a robot is loaded, apart from which it is."""

    pose: Annotated[str | None, tyro.conf.arg(metavar="KEY|NUMBERS|JOINT=VALUE,...", help_behavior_hint="")] = None
    """the pose to stand in: a keyframe's name, all numbers of qpos (m and rad) as in 0,0,1,..., or joints as in
    knee=0.3,hip=-0.1 (left out: the keyframe home or stand, else the first)"""
    feet: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME=BODY")] = ()
    """which bodies are feet, where the collision geometry does not show it"""
    points: Annotated[str, tyro.conf.arg(metavar="vertices|NXxNY|N")] = "vertices"
    """contact points of each sole: its vertices, a grid as in 4x6, or a number on its outline"""
    actuators: Literal["as-is", "motor"] = "as-is"
    """motor: servos become torque motors of their force range"""
    forward: Annotated[str | None, tyro.conf.arg(metavar="x|-x|y|-y|X,Y", help_behavior_hint="")] = None
    """which way the robot faces in its pose, as in --forward=-x (left out: found by its legs, see footfall robots)"""

    robot_options: tyro.conf.Suppress[Any] = None

    def loaded(self, robot: str) -> Robot:
        """The robot of that name or file, loaded with these options."""
        from footfall.robot import load_robot

        parameters = changed(self.robot_options)
        if self.actuators != "as-is":
            parameters["actuators"] = self.actuators
        feet = pairs(self.feet, "the foot", "NAME=BODY, as in left=left_ankle_link") or None
        forward = self.forward if self.forward is None or "," not in self.forward else self.forward.split(",")
        points = _points(self.points)
        return load_robot(robot, pose=_pose(self.pose), feet=feet, points=points, forward=forward, **parameters)


@dataclass(frozen=True, kw_only=True)
class RobotChoice(RobotOptions):
    """A robot, and how it is loaded."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ROBOT")]
    """a built-in name (see footfall robots), or a file: .xml (MJCF) or .urdf"""

    def chosen_robot(self) -> Robot:
        return self.loaded(self.robot)


def _points(text: str) -> Any:
    grid = GRID.fullmatch(text.strip())
    if grid is not None:
        return int(grid[1]), int(grid[2])
    if text.strip().isdecimal():
        return int(text)
    if text != "vertices":
        raise UsageError(f"cannot read the points '{text}': write vertices, a grid such as 4x6, or a number")
    return text


def _pose(text: str | None) -> Any:
    """A keyframe's name, a list of numbers, or joints with their values."""
    if text is None:
        return None
    parts = [part for part in re.split(r"[,\s]+", text.strip()) if part]
    try:
        if any("=" in part for part in parts):
            pairs = [part.partition("=") for part in parts]
            return {joint: float(value) for joint, _, value in pairs}
        return text if len(parts) <= 1 else [float(part) for part in parts]
    except ValueError:
        raise UsageError(
            f"cannot read the pose '{text}': write a keyframe's name, numbers as in 0,0,1,... or joints as in knee=0.3"
        ) from None
