"""The contract of a policy, a small TOML file: what it observes, what its actions mean, and when it is asked.

    control_dt = 0.02                # s between two actions
    parts = ["velocity", "gyro", "gravity", "command", "joints", "joint-speeds", "last-action"]
    action = { scale = 0.5 }         # target of each servo: pose + scale * action

Ready ones, ``footfall/control/policy/contracts/*.toml``, are known by their names. One file may describe several
layouts of the same framework: each ``[[layout]]`` replaces what stands above it, and the size of the policy decides.
Values that joints have may be one number, a list in the order of ``joints``, or a table from parts of joint names to
numbers, of which the longest that fits counts: ``stiffness = { hip = 100, knee = 150 }``.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from footfall.arguments import public
from footfall.errors import ControllerError, did_you_mean
from footfall.given_numbers import Count, NotNegative, Positive

#: What can be observed, and how many numbers it is: a count, or what it is one for.
PARTS: dict[str, int | str] = {
    "velocity": 3,  # m/s, of the frame's origin, in the frame
    "gyro": 3,  # rad/s, in the frame
    "gravity": 3,  # direction of gravity in the frame, (0, 0, -1) when upright
    "orientation": 4,  # quaternion w, x, y, z of the frame in the world
    "height": 1,  # m, of the base over the ground
    "joints": "joint",  # rad or m, less the pose
    "joint-speeds": "joint",  # rad/s or m/s
    "last-action": "action",
    "command": "command",
    "phase-cos": "phase",
    "phase-sin": "phase",
    "contacts": "foot",  # 1 where a foot touches the ground, else 0
    "forces": "foot force",  # N, three for each foot, world frame
    "heights": "height",  # m, of the base over places of the ground around it
}


@public
@dataclass(frozen=True)
class Part:
    """A part of the observation.

    Attributes:
        part: what is observed, one of ``PARTS``.
        scale: what its numbers are multiplied by, one factor or one for each.
        frame: names of sites or bodies of which the first that the model has is meant; "base" is the free body,
            "base-com" its centre of mass.
        take: which of its numbers, in this order; all if left out.
        clip: the largest absolute value of what is observed, after scaling.
        history: how many of the last observations of this part follow one another, the oldest first.
        grid: of heights: length and width (m) of a rectangle around the base, and the distance of its places (m).
        offset: what is subtracted before scaling.
    """

    part: str
    scale: Any = 1.0
    frame: tuple[str, ...] = ("base",)
    take: tuple[int, ...] = ()
    clip: float = math.inf
    history: Count = 1
    grid: tuple[float, ...] = ()
    offset: float = 0.0


@public
@dataclass(frozen=True)
class Sensor:
    """How a part of the observation is measured: nothing of it is the default.

    Attributes:
        noise: standard deviation of what is added to each number, in its unit.
        bias: standard deviation of an error that stays the same during a run.
        delay: age of what is measured, s.
        rate: measurements a second, between which the last one is observed, Hz; 0 for always.
    """

    noise: NotNegative = 0.0
    bias: NotNegative = 0.0
    delay: NotNegative = 0.0
    rate: NotNegative = 0.0


@public
@dataclass(frozen=True)
class Action:
    """What the actions mean.

    Attributes:
        kind: "position": joints are led to ``offset`` + ``scale`` * action; "torque": motors give ``scale`` * action.
        scale: rad or m (N m for torques) of an action of 1, one or one for each joint.
        offset: "pose", or "zero".
        clip: the largest absolute value of an action.
    """

    kind: Literal["position", "torque"] = "position"
    scale: Any = 1.0
    offset: Literal["pose", "zero"] = "pose"
    clip: float = math.inf


@public
@dataclass(frozen=True)
class Servos:
    """Gains of the servos, where they are not those of the model: N m/rad, N m s/rad, and the largest torque, N m."""

    stiffness: Any
    damping: Any
    limit: Any = math.inf


@public
@dataclass(frozen=True)
class Clock:
    """Phases that run with time.

    Attributes:
        frequency: Hz.
        phases: rad, at the start.
        rest: rad, all phases while the command is shorter than ``still``.
        still: length of a command below which the clock rests.
    """

    frequency: float
    phases: tuple[float, ...] = (0.0,)
    rest: float = 0.0
    still: float = 0.0


@public
@dataclass(frozen=True)
class Command:
    """What is asked for: its default and, for sliders and training, its least and largest values."""

    default: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@public
@dataclass(frozen=True)
class Contract:
    """What a policy observes, what its actions mean, and when it is asked.

    Attributes:
        parts: of the observation, in order.
        name: what messages call it.
        control_dt: s between two actions.
        latency: s from an observation to its action.
        joints: "actuators", the joints in the order of the controls; "model", all in the order of qpos;
            "breadth-first", link by link from the base outward, as Isaac Sim orders them; or their names. Actions have
            the same order, but that of the controls under "model".
        pose: of the joints: names of keyframes of which the first that the model has is meant, or values.
        action, servos, clock, command: see these.
        history: how many of the last observations follow one another.
        newest_first: their order.
        by_part: whether histories follow one another part by part, as Isaac Lab and mjlab stack them, the oldest first
            and at the start all alike; then a policy that takes several times as many numbers has such histories.
        sensors: how parts are measured, by their names; a policy uses them only when asked to.
    """

    parts: tuple[Part, ...]
    name: str = ""
    control_dt: Positive = 0.02
    latency: NotNegative = 0.0
    joints: str | tuple[str, ...] = "actuators"
    pose: Any = ()
    action: Action = Action()
    servos: Servos | None = None
    clock: Clock | None = None
    command: Command = Command()
    history: Count = 1
    newest_first: bool = False
    by_part: bool = False
    sensors: Mapping[str, Sensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        def refuse(what: str) -> ControllerError:
            return ControllerError(f"Contract: {what}")

        for part in self.parts:
            if part.part not in PARTS:
                raise refuse(f"nothing is called '{part.part}': {did_you_mean(part.part, PARTS)}")
            if part.part.startswith("phase") and self.clock is None:
                raise refuse("it observes phases, and has no [clock]")
            if part.part == "heights" and len(part.grid) != 3:
                raise refuse("heights need a grid = [length, width, distance] in m")
        if not self.parts:
            raise refuse("it observes nothing: give parts")
        for name in self.sensors:
            if name not in PARTS:
                raise refuse(f"no part of an observation is called '{name}': {did_you_mean(name, PARTS)}")
        if any(part.part == "command" for part in self.parts) and not self.command.default:
            raise refuse("it observes a command: [command] says by default = [...] how many numbers that is")

    def stacked(self, times: int) -> Contract:
        """The contract with a history of each part that is ``times`` as long."""
        return replace(self, parts=tuple(replace(part, history=times * part.history) for part in self.parts))


#: Tables of a contract and what they are read as.
TABLES: dict[str, Any] = {"action": Action, "servos": Servos, "clock": Clock, "command": Command}


def ready() -> dict[str, Path]:
    """The contracts that Footfall brings, by name."""
    return {file.stem: file for file in sorted((Path(__file__).parent / "contracts").glob("*.toml"))}


def as_toml(contract: Contract) -> str:
    """The contract as a file; what it has by default is left out."""

    def text(value: Any) -> str:
        if isinstance(value, Mapping):
            return "{ " + ", ".join(f"{_key(str(key))} = {text(one)}" for key, one in value.items()) + " }"
        if isinstance(value, (list, tuple, np.ndarray)):
            return "[" + ", ".join(text(one) for one in value) + "]"
        if isinstance(value, (bool, str)):
            return json.dumps(value)
        return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)

    def changed(one: Any) -> dict[str, Any]:
        def same(value: Any, default: Any) -> bool:
            return type(value) is type(default) and not isinstance(value, np.ndarray) and value == default

        values = {own.name: (getattr(one, own.name), own.default) for own in fields(one)}
        return {name: value for name, (value, default) in values.items() if not same(value, default)}

    lines = []
    for name, value in changed(contract).items():
        if name == "parts":
            shown = [changed(part) for part in value]
            rows = [f"    {text(one['part'] if set(one) == {'part'} else one)}," for one in shown]
            lines.append("parts = [\n" + "\n".join(rows) + "\n]")
        elif name in TABLES and value is not None:
            lines.append(f"{name} = {text(changed(value))}")
        elif name == "sensors":
            lines += [f"sensors.{_key(key)} = {text(changed(one))}" for key, one in value.items()]
        elif name != "name":
            lines.append(f"{name} = {text(value)}")
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)


def read_layouts(given: str | os.PathLike[str]) -> tuple[Contract, ...]:
    """The layouts of a contract, by the name of a ready one or its file; "NAME:LAYOUT" is one of them."""
    text = os.fspath(given)
    name, _, layout = text.partition(":") if not Path(text).exists() else (text, "", "")
    known = ready()
    path = known.get(name, Path(name).expanduser())
    if not path.is_file():
        raise ControllerError(
            f"no contract is called '{name}', and there is no such file: {did_you_mean(name, known)}; "
            "footfall new policy NAME writes one to start from"
        )
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ControllerError(f"cannot read the contract '{path}': {error}") from error
    layouts = table.pop("layout", [{}])
    if not isinstance(layouts, list) or not all(isinstance(one, dict) for one in layouts):
        raise ControllerError(f"contract '{path}': layouts are written as tables, [[layout]]")
    found = []
    for own in layouts:
        full = {**table, **own}
        full["name"] = f"{path.stem}:{own['name']}" if "name" in own else path.stem
        found.append(as_contract(full))
    names = [one.name.partition(":")[2] for one in found]
    if layout and layout not in names:
        raise ControllerError(f"contract '{path.stem}' has no layout '{layout}': {did_you_mean(layout, names)}")
    return tuple(one for one, name in zip(found, names, strict=True) if not layout or name == layout)


def as_contract(table: Mapping[str, Any]) -> Contract:
    """The contract that a table, as TOML has it, describes."""
    where, full = f"contract '{table.get('name', '')}'", dict(table)
    for name, kind in TABLES.items():
        if name in full:
            full[name] = _made(kind, full[name], f"{where}, [{name}]")
    sensors, parts = full.get("sensors", {}), full.get("parts", ())
    if not isinstance(sensors, Mapping):
        raise ControllerError(f"{where}: [sensors.NAME] describes how a part is measured")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise ControllerError(f"{where}: parts is a list of names, or of tables with a 'part'")
    full["sensors"] = {name: _made(Sensor, one, f"{where}, [sensors.{name}]") for name, one in sensors.items()}
    full["parts"] = [
        _made(Part, {"part": one} if isinstance(one, str) else one, f"{where}, part {k + 1}")
        for k, one in enumerate(parts)
    ]
    return _made(Contract, full, where)


def _made(kind: Any, table: Any, where: str) -> Any:
    """A dataclass from a table, with tuples for lists."""
    if not isinstance(table, Mapping):
        raise ControllerError(f"{where}: a table is wanted, not {table!r}")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    if isinstance(given.get("frame"), str):
        given["frame"] = (given["frame"],)
    try:
        return kind(**given)
    except ControllerError as error:
        raise ControllerError(f"{where}: {str(error).removeprefix(f'{kind.__name__}: ')}") from error


#: Observations by the names that mjlab, Isaac Lab and Unitree give them.
OBSERVED = {
    "base_lin_vel": "velocity",
    "base_ang_vel": "gyro",
    "projected_gravity": "gravity",
    "joint_pos": "joints",
    "joint_pos_rel": "joints",
    "joint_vel": "joint-speeds",
    "joint_vel_rel": "joint-speeds",
    "actions": "last-action",
    "last_action": "last-action",
    "command": "command",
    "velocity_commands": "command",
    "height_scan": "heights",
}


def with_metadata(layouts: Sequence[Contract], metadata: Mapping[str, str]) -> tuple[Contract, ...]:
    """The layouts of a ready contract with what the policy's own file says: joints, pose, scale, gains, observations.

    mjlab and Isaac Lab write these as lists with commas.
    """
    lists = {name: [one.strip("[]'\" ") for one in text.split(",")] for name, text in metadata.items()}
    lists = {name: values for name, values in lists.items() if values != [""]}
    try:
        found = tuple(_filled(one, lists) for one in layouts)
    except ValueError as error:
        raise ControllerError(f"the policy's own metadata cannot be read: {error}") from error
    if "observation_names" not in lists:
        return found
    known = {part.part: part for one in found for part in one.parts}
    for name in lists["observation_names"]:
        if name not in OBSERVED:
            raise ControllerError(
                f"the policy observes '{name}', which no ready contract knows: write a contract of your own"
            )
    names = [OBSERVED[name] for name in lists["observation_names"]]
    return (replace(found[0], parts=tuple(known.get(name, Part(name)) for name in names)),)


def _filled(contract: Contract, lists: Mapping[str, list[str]]) -> Contract:
    said: dict[str, Any] = {}
    names = ("default_joint_pos", "joint_stiffness", "joint_damping", "action_scale")
    pose, stiffness, damping, scale = (tuple(map(float, lists.get(name, ()))) for name in names)
    if "joint_names" in lists:
        said["joints"] = tuple(lists["joint_names"])
    if pose:
        said["pose"] = pose
    if stiffness and damping:
        said["servos"] = Servos(stiffness, damping)
    if scale:
        said["action"] = replace(contract.action, scale=scale[0] if len(scale) == 1 else scale)
    return replace(contract, **said)


def per_joint(value: Any, names: Sequence[str], what: str) -> np.ndarray:
    """(n,) numbers, one for each joint: of one number, a list, or a table from parts of names to numbers."""
    if isinstance(value, Mapping):
        found = []
        for name in names:
            keys = [key for key in value if key in name]
            if not keys:
                raise ControllerError(f"{what} has no number for joint '{name}': its keys are {', '.join(value)}")
            found.append(value[max(keys, key=len)])
        value = found
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ControllerError(f"{what} = {value!r}, but it must be a number, a list or a table of numbers") from None
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != len(names)):
        raise ControllerError(f"{what} has {numbers.size} numbers, and there are {len(names)}: {', '.join(names)}")
    return np.broadcast_to(numbers, len(names)).copy()
