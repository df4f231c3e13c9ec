"""What a command is about: robot, ground, controller, pushes, duration; the same options in every command."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from footfall.cli.shared.options import is_own, is_policy, own_controller
from footfall.cli.shared.usage import Command, JsonOption, UsageError, argument, in_unit, option
from footfall.given_numbers import NotNegative

if TYPE_CHECKING:
    import numpy as np

    from footfall.ground import Ground
    from footfall.record import Push
    from footfall.robot import Robot


GRAMMAR = "FORCE N DIRECTION BODY DURATION s at START s"
EXAMPLE = "70 N y trunk 0.05 s at 1 s' or, a torque, '10 Nm yaw trunk 0.1 s at 1 s"
TURNS = {"roll": "x", "pitch": "y", "yaw": "z"}
ROOT = ("hip", "base")  # names of the root body, valid for every robot

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PUSH = re.compile(
    rf"\s*(?P<size>{_NUMBER})\s*(?P<unit>N\s*m|N)\s+(?P<sign>[-+]?)(?P<axis>[xyz]|roll|pitch|yaw)\s+(?P<body>\S+)"
    rf"\s+(?P<duration>{_NUMBER}\s*(?:s|ms))\s+at\s+(?P<start>{_NUMBER}\s*(?:s|ms))\s*"
)


def parse_push(text: str, robot: Robot) -> Push:
    """The push that ``text`` describes, world frame, at a body's centre of mass."""
    from footfall.record import Push

    match = _PUSH.fullmatch(text)
    if match is None:
        raise UsageError(f"cannot read the push '{text}': write '{GRAMMAR}', for example '{EXAMPLE}'")
    duration, start = (in_unit(match[name], "s") for name in ("duration", "start"))
    if duration <= 0 or start < 0:
        raise UsageError(f"the push '{text}' must last longer than 0 s and must not start before 0 s")
    turns = match["unit"] != "N"
    if match["axis"] in TURNS and not turns:
        raise UsageError(f"the push '{text}' turns: its size is a torque, as in '10 Nm {match['axis']} trunk ...'")
    axis = "xyz".index(TURNS.get(match["axis"], match["axis"]))
    size = float(match["sign"] + "1") * float(match["size"])
    along = (size * (axis == 0), size * (axis == 1), size * (axis == 2))
    still = (0.0, 0.0, 0.0)
    return Push(
        _body(match["body"], robot),
        force=still if turns else along,
        torque=along if turns else still,
        start=start,
        duration=duration,
    )


def _body(name: str, robot: Robot) -> str:
    names = [robot.model.body(i).name for i in range(1, robot.model.nbody)]
    return names[0] if name in ROOT and name not in names else name


class PushOptions(Command):
    """Pushes and turns."""

    push: tuple[str, ...] = option(
        (),
        "'FORCE N DIRECTION BODY DURATION s at START s', as in '70 N y trunk 0.05 s at 1 s': x, y, z, -x, ... in "
        "the world; 'TORQUE Nm roll|pitch|yaw BODY ...' turns; the body may be called hip or base, the root",
        repeats=True,
        metavar="PUSH",
    )

    def chosen_pushes(self, robot: Robot) -> list[Push]:
        return [parse_push(text, robot) for text in self.push]


GRID = re.compile(r"(\d+)\s*[xX]\s*(\d+)")


class RobotOptions(Command):
    """How a robot is loaded, apart from which it is."""

    pose: str | None = option(
        None,
        "the pose to stand in: a keyframe's name, all numbers of qpos (m and rad) as in 0,0,1,..., or joints as in "
        "knee=0.3,hip=-0.1 (left out: the keyframe home or stand, else the first)",
        "KEY|NUMBERS|JOINT=VALUE,...",
    )
    feet: dict[str, str] | None = option(
        None,
        "which bodies are feet, where the collision geometry does not show it",
        repeats=True,
        pair=("the foot", "NAME=BODY, as in left=left_ankle_link"),
    )
    points: str = option(
        "vertices",
        "contact points of each sole: its vertices, a grid as in 4x6, or a number on its outline",
        "vertices|NXxNY|N",
    )
    actuators: Literal["as-is", "motor"] = option("as-is", "motor: servos become torque motors of their force range")
    meshes: Literal["needed", "skip"] = option(
        "needed", "skip: missing meshes are left out, with what they collide and weigh"
    )
    forward: str | None = option(
        None,
        "which way the robot faces in its pose, as in --forward=-x (left out: found by its legs, see footfall robots)",
        "x|-x|y|-y|X,Y",
    )

    robot_options: dict[str, Any] = field(default_factory=dict)

    def loaded(self, robot: str) -> Robot:
        """The robot of that name or file, loaded with these options."""
        from footfall.robot import load_robot

        parameters = dict(self.robot_options)
        if self.actuators != "as-is":
            parameters["actuators"] = self.actuators
        if self.meshes != "needed":
            parameters["meshes"] = self.meshes
        forward = self.forward if self.forward is None or "," not in self.forward else self.forward.split(",")
        points = _points(self.points)
        return load_robot(robot, pose=_pose(self.pose), feet=self.feet, points=points, forward=forward, **parameters)


class RobotChoice(RobotOptions):
    """A robot, and how it is loaded."""

    robot: str = argument("ROBOT", "a built-in name (see footfall robots), or a file: .xml (MJCF) or .urdf")

    def chosen_robot(self) -> Robot:
        return self.loaded(self.robot)


def _points(text: str) -> Any:
    grid = GRID.fullmatch(text.strip())
    if grid is not None and min(int(grid[1]), int(grid[2])) > 0:
        return int(grid[1]), int(grid[2])
    if text.strip().isdecimal() and int(text) > 0:
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
            return {joint: in_unit(value, "m" if value.endswith("m") else "rad") for joint, _, value in pairs}
        return text if len(parts) <= 1 else [float(part) for part in parts]
    except ValueError:
        raise UsageError(
            f"cannot read the pose '{text}': write a keyframe's name, numbers as in 0,0,1,... or joints as in knee=0.3"
        ) from None


class GroundOptions(RobotChoice):
    """A robot on a ground, and a step."""

    ground: str = option("plane", "plane, slope, stairs, heightfield, ...; its options are --ground.OPTION", "KIND")
    dt: float | None = option(
        None, "step, as in 0.5ms; left out 1 ms, or less where the springs of the law need it on light feet", unit="s"
    )

    ground_options: dict[str, Any] = field(default_factory=dict)

    def chosen_ground(self) -> Ground:
        from footfall.ground import Ground

        made: Ground = getattr(Ground, self.ground)(**self.ground_options)
        return made


class SettingOptions(GroundOptions):
    """A robot on a ground, with a controller and a step."""

    controller: str = option(
        "default",
        "posture, balance, walk, gait, ... or none; default is posture control of motors, while servos hold by "
        "themselves; its options are --controller.OPTION; or one of yours, FILE.py or FILE.py:NAME; or a learned "
        "policy, FILE.onnx or FILE.pt",
        "NAME|none",
    )

    controller_options: dict[str, Any] = field(default_factory=dict)

    def chosen_controller(self) -> Any:
        """The controller that was typed, with its options; default and none as they are."""
        from footfall.control import named_controller

        if is_own(self.controller):
            return own_controller(self.controller)
        if self.controller in ("default", "none"):
            return self.controller
        if is_policy(self.controller):
            return named_controller("policy", file=self.controller, **self.controller_options)
        return named_controller(self.controller, **self.controller_options)


class OutOptions(JsonOption):
    """Where a recording is saved, and how the outcome is printed."""

    out: Path | None = option(None, "save what comes of it here", "DIR")
    overwrite: bool = option(False, "replace a recording that is there")

    def check_place(self, folder: Path | None) -> None:
        """Refuse a folder that recordings cannot be saved to, before anything is simulated."""
        from footfall.recording_file import MANIFEST, place_for

        if folder is None:
            return
        place_for(folder)
        if (folder / MANIFEST).exists() and not self.overwrite:
            raise UsageError(f"a recording is in '{folder}' already: give another --out, or --overwrite to replace it")


class TaskOptions(SettingOptions, PushOptions, OutOptions):
    """A setting, what happens in it, and where the recording is saved."""

    #: Duration of a task that is given none, s.
    usual_duration: ClassVar[float] = 5.0

    duration: float | None = option(
        None, "left out, a walk is as long as it takes, another run 5 s and a comparison 3 s", unit="s"
    )
    align: bool = option(False, "start with the soles along the ground, not upright")
    drop: NotNegative = option(0.0, "start this much above the ground", unit="m")

    def chosen_duration(self, controller: Any) -> float:
        """The duration (s) that was typed, or the controller's own, or the default."""
        if self.duration is not None:
            return float(self.duration)
        return float(getattr(controller, "duration", self.usual_duration))

    def start(self, robot: Robot, ground: Ground) -> np.ndarray | None:
        """The pose to start in, None for home on the ground."""
        from footfall.standing import place, unit_rise

        if not (self.align or self.drop):
            return None
        return place(robot, ground, (0.0, 0.0), align=self.align) + self.drop * unit_rise(robot)
