"""Videos of recordings, drawn by MuJoCo's own renderer."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import mujoco
import numpy as np

from footfall.errors import FootfallError, optional_package
from footfall.files.atomic_write import atomic_write
from footfall.record import Record
from footfall.show.frames import MODE_COLORS, Scene, force_scale, make_scene
from footfall.show.stage import Box, Stage
from footfall.solve.contacts import OPEN

FORMATS = (".gif", ".mp4")


def write_video(
    recording: Record,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    size: tuple[int, int] = (960, 540),
    forces: bool = True,
) -> Path:
    """Write a video (.mp4 or .gif) of a recording and give back its path.

    ``fps`` are pictures per second of the video, ``speed`` simulated seconds per second, ``size`` is width and
    height in pixels. MP4 needs ffmpeg, the program or the package imageio-ffmpeg; GIF needs Pillow.

    Limitations: needs an OpenGL that works without a screen (EGL or OSMesa on Linux).
    """
    target = Path(path).expanduser()
    if target.suffix.lower() not in FORMATS:
        raise FootfallError(f"a video is .mp4 or .gif, not '{target.name}'")
    if not (fps > 0 and speed > 0 and min(size) > 0):
        raise FootfallError(f"fps = {fps:g}, speed = {speed:g} and size = {size} must be positive")
    write = _write_gif if target.suffix.lower() == ".gif" else _write_mp4
    scene = make_scene(recording, rate=fps / speed)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as part:
            write(part, pictures(scene, size, forces), size, fps)
    except OSError as error:
        raise FootfallError(f"cannot write the video to '{target}': {error.strerror or error}") from error
    return target


def pictures(scene: Scene, size: tuple[int, int], forces: bool = True) -> Iterator[np.ndarray]:
    """The frames of a scene as (height, width, 3) pictures."""
    rec = scene.recording
    box = Box(scene.size, 2.0 * scene.reach, math.hypot(scene.height, 2.0 * scene.reach))
    stage, scale = Stage(rec.robot, rec.ground, box, size), force_scale([scene])
    try:
        for k, sample in enumerate(scene.samples):
            arrows = partial(_add_arrows, scene=scene, k=k, scale=scale) if forces else None
            yield stage.picture(rec.qpos[sample], arrows)
    finally:
        stage.close()


def _add_arrows(drawn: mujoco.MjvScene, scene: Scene, k: int, scale: float) -> None:
    frame = scene.frame(k)
    for point, force, mode in zip(frame.point, frame.force, frame.mode, strict=True):
        if mode == OPEN or not force.any() or drawn.ngeom >= drawn.maxgeom:
            continue
        geom = drawn.geoms[drawn.ngeom]
        color = np.array([*MODE_COLORS[mode], 255]) / 255
        nowhere = np.zeros(3), np.zeros(3), np.eye(3).ravel(), color.astype(np.float32)
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_ARROW, *nowhere)
        tip = point + scale * force
        mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_ARROW, 0.008 * scene.size, point, tip)
        drawn.ngeom += 1


def _write_gif(target: Path, images: Iterator[np.ndarray], size: tuple[int, int], fps: float) -> None:
    pillow = optional_package("PIL.Image", "a GIF needs Pillow: pip install pillow")
    frames = [pillow.fromarray(image).quantize(128) for image in images]
    # GIF counts in hundredths of a second.
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=max(20, round(100 / fps) * 10), loop=0)


def _write_mp4(target: Path, images: Iterator[np.ndarray], size: tuple[int, int], fps: float) -> None:
    command = [
        *(_ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"),
        *("-s", f"{size[0]}x{size[1]}", "-r", f"{fps:g}", "-i", "-"),
        # Most players want even sizes and this arrangement of colours.
        *("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", os.fspath(target)),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        try:
            for image in images:
                process.stdin.write(image.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass  # ffmpeg says why below
        output = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
    if process.returncode:
        raise FootfallError(f"ffmpeg could not write '{target}': {output or process.returncode}")


def _ffmpeg() -> str:
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        found = shutil.which("ffmpeg")
    if found is None:
        raise FootfallError("an MP4 needs ffmpeg: pip install imageio-ffmpeg, or write a .gif")
    return found
