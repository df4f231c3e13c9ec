"""A picture of one moment of a recording, drawn by MuJoCo's own renderer."""

from __future__ import annotations

import os
from pathlib import Path

from footfall.errors import FootfallError, optional_package
from footfall.files.atomic_write import atomic_write
from footfall.record import Record
from footfall.show.frames import make_scene
from footfall.show.video import pictures

#: Colours of a picture: enough for a robot on a ground, and a file of some 20 kB.
COLOURS = 96


def write_picture(
    recording: Record, time: float, path: str | os.PathLike[str], *, size: tuple[int, int] = (400, 400)
) -> Path:
    """Write the robot at a ``time`` (s) with the forces under its feet as a .png, and give back its path.

    ``size`` is width and height in pixels. Needs Pillow, and an OpenGL that works without a screen.
    """
    target = Path(path).expanduser()
    if target.suffix.lower() != ".png":
        raise FootfallError(f"a picture is .png, not '{target.name}'")
    pillow = optional_package("PIL.Image", "a picture needs Pillow: pip install pillow")
    moment = recording.slice(time, time + 2.0 * recording.dt)
    if not len(moment):
        raise FootfallError(f"there is no sample at {time:g} s, the recording lasts {recording.duration:g} s")
    image = next(pictures(make_scene(moment, rate=1e3), size))
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as part:
        pillow.fromarray(image).quantize(COLOURS, dither=pillow.Dither.NONE).save(part, format="PNG", optimize=True)
    return target
