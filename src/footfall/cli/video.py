"""`footfall video`: a recording as MP4 or GIF."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from footfall.cli.shared.output import print_json, say


@dataclass(frozen=True, kw_only=True)
class Command:
    """Write a video of a recording, with the forces of the ground as arrows.

    footfall video runs/walk --out walk.mp4

    MP4 needs ffmpeg, the program or the package imageio-ffmpeg; GIF needs Pillow.
    """

    recording: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORDING")]
    """folder of the recording"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="(default: RECORDING.mp4)")] = None
    """.mp4 or .gif"""
    fps: float = 30.0
    """pictures per second of the video"""
    speed: float = 1.0
    """simulated seconds per second"""
    size: tuple[int, int] = (960, 540)
    """width and height in pixels"""
    no_forces: bool = False
    """leave the arrows of the forces out"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.recording import load_recording
        from footfall.show.video import write_video

        rec = load_recording(self.recording)
        target = self.out or self.recording.with_suffix(".mp4")
        made = write_video(rec, target, fps=self.fps, speed=self.speed, size=self.size, forces=not self.no_forces)
        if self.json:
            print_json({"video": str(made)})
        else:
            say(f"wrote {made}")
        return 0
