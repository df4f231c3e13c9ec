"""Pushes as people write them: ``70 N y trunk 0.05 s at 1 s``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footfall.cli.usage import UsageError

if TYPE_CHECKING:
    from footfall.engine.push import Push
    from footfall.robot import Robot

GRAMMAR = "FORCE N DIRECTION BODY DURATION s at START s"
EXAMPLE = "70 N y trunk 0.05 s at 1 s"
ROOT = ("hip", "base")  # names of the root body that hold for every robot

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PUSH = re.compile(
    rf"\s*(?P<force>{_NUMBER})\s*N\s+(?P<sign>[-+]?)(?P<axis>[xyz])\s+(?P<body>\S+)"
    rf"\s+(?P<duration>{_NUMBER})\s*s\s+at\s+(?P<start>{_NUMBER})\s*s\s*"
)


def parse_push(text: str, robot: Robot) -> Push:
    """The push that ``text`` describes, world frame, at a body's centre of mass."""
    from footfall.engine.push import Push

    match = _PUSH.fullmatch(text)
    if match is None:
        raise UsageError(f"cannot read the push '{text}': write '{GRAMMAR}', for example '{EXAMPLE}'")
    duration, start = float(match["duration"]), float(match["start"])
    if duration <= 0 or start < 0:
        raise UsageError(f"the push '{text}' must last longer than 0 s and must not start before 0 s")
    force = [0.0, 0.0, 0.0]
    force["xyz".index(match["axis"])] = float(match["sign"] + "1") * float(match["force"])
    return Push(_body(match["body"], robot), force=(force[0], force[1], force[2]), start=start, duration=duration)


def _body(name: str, robot: Robot) -> str:
    names = [robot.model.body(i).name for i in range(1, robot.model.nbody)]
    return names[0] if name in ROOT and name not in names else name
