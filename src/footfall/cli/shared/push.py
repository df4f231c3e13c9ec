"""Pushes as people write them: ``70 N y trunk 0.05 s at 1 s``, ``10 Nm yaw trunk 0.1 s at 1 s``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footfall.cli.shared.usage import UsageError

if TYPE_CHECKING:
    from footfall.record import Push
    from footfall.robot import Robot

GRAMMAR = "FORCE N DIRECTION BODY DURATION s at START s"
EXAMPLE = "70 N y trunk 0.05 s at 1 s' or, a torque, '10 Nm yaw trunk 0.1 s at 1 s"
TURNS = {"roll": "x", "pitch": "y", "yaw": "z"}
ROOT = ("hip", "base")  # names of the root body, valid for every robot

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PUSH = re.compile(
    rf"\s*(?P<size>{_NUMBER})\s*(?P<unit>N\s*m|N)\s+(?P<sign>[-+]?)(?P<axis>[xyz]|roll|pitch|yaw)\s+(?P<body>\S+)"
    rf"\s+(?P<duration>{_NUMBER})\s*s\s+at\s+(?P<start>{_NUMBER})\s*s\s*"
)


def parse_push(text: str, robot: Robot) -> Push:
    """The push that ``text`` describes, world frame, at a body's centre of mass."""
    from footfall.record import Push

    match = _PUSH.fullmatch(text)
    if match is None:
        raise UsageError(f"cannot read the push '{text}': write '{GRAMMAR}', for example '{EXAMPLE}'")
    duration, start = float(match["duration"]), float(match["start"])
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
