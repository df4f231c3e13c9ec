"""Pictures and videos of recordings, drawn by MuJoCo's own renderer, without a window."""

from __future__ import annotations

import copy
import math
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError, optional_package
from footfall.files.atomic_write import new_file
from footfall.given_numbers import Count, Positive
from footfall.ground import Ground
from footfall.ground.geometry import EXTENT
from footfall.record import Record
from footfall.robot import Robot
from footfall.robot.model import centre_of_mass
from footfall.show.frames import MODE_COLORS, Scene, Sizes, force_scale, make_scene
from footfall.solve.contacts import OPEN

AROUND = 12.0  # least side of the square of ground in a picture, in sizes of the robot
SHOWN = 3  # groups of geoms below this are drawn
FULL = 0.75  # least extent of a picture, as a share of the diagonal of the box around a robot
VIEW = {"azimuth": 140.0, "elevation": -14.0}  # degrees, as MuJoCo counts them: from the front and the right


def _lit(robot: Robot, ground: Ground, size: float) -> mujoco.MjModel:
    """The robot on its ground, under a bright sky and a sun; a robot made from an ``MjModel`` as it is.

    The height of the sun suits a scene of that ``size``, m: shadows of a light too far away are coarse.
    """
    if robot.mjcf is None:
        return copy.copy(robot.model)
    spec = robot.spec()
    for light in list(spec.lights):  # of its own scene: two suns are too bright
        spec.delete(light)
    ground.add_to(spec, max(EXTENT, AROUND * size) if ground.kind != "function" else EXTENT)
    spec.add_texture(
        name="footfall_sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.93, 0.95, 0.97],
        rgb2=[0.75, 0.80, 0.86],
        width=64,
        height=384,
    )
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[-0.3, 0.6, -1.0], pos=[0, 0, 2.7 * size], diffuse=[0.7] * 3
    )
    model = spec.compile()
    model.vis.headlight.ambient[:], model.vis.headlight.diffuse[:] = 0.5, 0.3
    model.vis.quality.shadowsize = 2048  # where no GPU helps, shadows take most of the time
    return model


def _renderer(model: mujoco.MjModel, width: int, height: int) -> tuple[Any, Any]:
    """An OpenGL context without a window, and MuJoCo's renderer in it: as MUJOCO_GL says, else the first that works."""
    named = os.environ.get("MUJOCO_GL", "").lower().strip()
    ways = [named] if named in ("egl", "osmesa", "glfw", "cgl") else ["cgl", "egl", "osmesa", "glfw"]
    reasons = []
    for way in ways:
        try:
            context = import_module(f"mujoco.{way}").GLContext(width, height)
            context.make_current()
            renderer = mujoco.MjrContext(model, int(mujoco.mjtFontScale.mjFONTSCALE_150))
            mujoco.mjr_setBuffer(int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN), renderer)
            return context, renderer
        except Exception as error:  # each way fails in its own: ImportError, AttributeError, FatalError, ...
            reasons.append(f"{way}: {(str(error).splitlines() or [type(error).__name__])[0]}")
    raise FootfallError(
        "no picture can be drawn: OpenGL does not work here without a screen "
        f"({'; '.join(reasons)}); on Linux install libegl1 and set MUJOCO_GL=egl, or view the report instead"
    )


# ---- videos ---------------------------------------------------------------------------------------------------------

FORMATS = (".gif", ".mp4", ".webp")


@public
def write_video(
    recording: Record | Sequence[Record],
    path: str | os.PathLike[str],
    *,
    fps: Positive = 30.0,
    speed: Positive = 1.0,
    size: tuple[Count, Count] = (960, 540),
    forces: bool = True,
    start: float | None = None,
    stop: float | None = None,
) -> Path:
    """Write a video (.mp4, .gif or .webp) of a recording, or of several side by side, and return its path.

    ``fps`` are pictures per second of the video, ``speed`` simulated seconds per second, ``size`` is width and
    height in pixels, ``start`` and ``stop`` are times (s) of the recording. MP4 needs ffmpeg, the program or the
    package imageio-ffmpeg (the extra "video"); GIF and WebP need Pillow.

    Limitations: needs an OpenGL that works without a screen (EGL or OSMesa on Linux).
    """
    target = Path(path).expanduser()
    if target.suffix.lower() not in FORMATS:
        raise FootfallError(f"a video is .mp4, .gif or .webp, not '{target.name}'")
    write = _write_mp4 if target.suffix.lower() == ".mp4" else _write_images
    given = [recording] if isinstance(recording, Record) else list(recording)
    runs = [rec.slice(rec.time[0] if start is None else start, rec.time[-1] if stop is None else stop) for rec in given]
    if not runs or not all(map(len, runs)):
        raise FootfallError("a video needs recordings with samples between start and stop")
    scenes = [make_scene(rec, rate=fps / speed) for rec in runs]
    with new_file(target, "the video") as part:
        write(part, _side_by_side(scenes, size, forces), size, fps)
    return target


def _side_by_side(scenes: Sequence[Scene], size: tuple[int, int], forces: bool) -> Iterator[np.ndarray]:
    """Pictures of a size in which each scene has a part; one that is over stays as it ended."""
    edges = np.linspace(0, size[0], len(scenes) + 1).astype(int)
    streams = [pictures(one, (int(width), size[1]), forces) for one, width in zip(scenes, np.diff(edges), strict=True)]
    shown: list[np.ndarray] = [np.empty(0)] * len(scenes)
    for several in zip_longest(*streams):
        shown = [old if new is None else new for old, new in zip(shown, several, strict=True)]
        yield np.concatenate(shown, axis=1)


def pictures(scene: Scene, size: tuple[int, int], forces: bool = True) -> Iterator[np.ndarray]:
    """The frames of a scene as (height, width, 3) pictures of the robot, its centre of mass in the middle.

    Limitations: needs an OpenGL that works without a screen (EGL or OSMesa on Linux).
    """
    rec, (width, height), scale = scene.recording, size, force_scale([scene])
    model = _lit(rec.robot, rec.ground, scene.sizes.size)
    model.stat.extent, model.stat.center[:] = 4 * scene.sizes.size, 0.0  # the reach of shadows, too
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    options, perturb, camera = mujoco.MjvOption(), mujoco.MjvPerturb(), _camera(scene.sizes, height / width)
    if not ((model.geom_group < SHOWN) & (model.geom_bodyid > 0)).any():
        options.geomgroup[:] = 1  # no shape but those that collide
    data, drawn = mujoco.MjData(model), mujoco.MjvScene(model, maxgeom=2000 + model.ngeom)
    context, renderer = _renderer(model, width, height)
    window, image = mujoco.MjrRect(0, 0, width, height), np.empty((height, width, 3), dtype=np.uint8)
    try:
        for k, sample in enumerate(scene.samples):
            data.qpos[:] = rec.qpos[sample]
            mujoco.mj_forward(model, data)
            camera.lookat[:] = centre_of_mass(model, data) - [0.0, 0.0, 0.08 * scene.sizes.size]
            everything = int(mujoco.mjtCatBit.mjCAT_ALL)
            mujoco.mjv_updateScene(model, data, options, perturb, camera, everything, drawn)
            if forces:
                _add_arrows(drawn, scene, k, scale)
            context.make_current()
            mujoco.mjr_render(window, drawn, renderer)
            mujoco.mjr_readPixels(image, None, window, renderer)
            yield image[::-1].copy()
    finally:
        context.make_current()
        renderer.free()
        context.free()


def _camera(sizes: Sizes, aspect: float) -> mujoco.MjvCamera:
    """A camera as far away as the robot needs: a cube needs more room than a humanoid as tall."""
    camera, across = mujoco.MjvCamera(), 2.0 * sizes.reach
    camera.azimuth, camera.elevation = VIEW["azimuth"], VIEW["elevation"]
    camera.distance = 1.75 * max(sizes.size, FULL * math.hypot(sizes.height, across), across * aspect)
    return camera


def _add_arrows(drawn: mujoco.MjvScene, scene: Scene, k: int, scale: float) -> None:
    frames = scene.frames
    for point, force, mode in zip(frames.point[k], frames.force[k], frames.mode[k], strict=True):
        if mode == OPEN or not force.any() or drawn.ngeom >= drawn.maxgeom:
            continue
        geom = drawn.geoms[drawn.ngeom]
        color = np.array([*MODE_COLORS[mode], 255]) / 255
        nowhere = np.zeros(3), np.zeros(3), np.eye(3).ravel(), color.astype(np.float32)
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_ARROW, *nowhere)
        tip = point + scale * force
        mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_ARROW, 0.008 * scene.sizes.size, point, tip)
        drawn.ngeom += 1


def _write_images(target: Path, images: Iterator[np.ndarray], size: tuple[int, int], fps: float) -> None:
    pillow = optional_package("PIL.Image", "a GIF or WebP")
    frames = [pillow.fromarray(image) for image in images]
    options: dict[str, Any] = {"save_all": True, "loop": 0, "duration": round(1000 / fps)}
    if target.suffix.lower() == ".gif":  # which counts in hundredths of a second
        frames = [image.quantize(128) for image in frames]
        options["duration"] = max(20, round(100 / fps) * 10)
    frames[0].save(target, append_images=frames[1:], **options)


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
        raise FootfallError('an MP4 needs ffmpeg: pip install "footfall[video]", or write a .gif')
    return found


# ---- one moment -----------------------------------------------------------------------------------------------------


#: Colours of a picture: enough for a robot on a ground, and a file of some 20 kB.
COLOURS = 96


def write_picture(
    recording: Record, time: float, path: str | os.PathLike[str], *, size: tuple[int, int] = (400, 400)
) -> Path:
    """Write the robot at a ``time`` (s) with the forces under its feet as a .png, and return its path.

    ``size`` is width and height in pixels. Needs Pillow, and an OpenGL that works without a screen.
    """
    target = Path(path).expanduser()
    if target.suffix.lower() != ".png":
        raise FootfallError(f"a picture is .png, not '{target.name}'")
    pillow = optional_package("PIL.Image", "a picture")
    moment = recording.slice(time, time + 2.0 * recording.dt)
    if not len(moment):
        raise FootfallError(f"there is no sample at {time:g} s, the recording lasts {recording.duration:g} s")
    image = next(pictures(make_scene(moment, rate=1e3), size))
    with new_file(target, "the picture") as part:
        pillow.fromarray(image).quantize(COLOURS, dither=pillow.Dither.NONE).save(part, format="PNG", optimize=True)
    return target
