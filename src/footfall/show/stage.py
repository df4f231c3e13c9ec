"""Pictures of a robot on its ground, by MuJoCo's own renderer, without a window."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import FootfallError
from footfall.ground import Ground
from footfall.ground.geometry import EXTENT
from footfall.robot import Robot
from footfall.robot.model import centre_of_mass

AROUND = 12.0  # sizes of a robot: side of the square of ground that its picture shows at least
SHOWN = 3  # groups of geoms below this are drawn
FULL = 0.75  # of the diagonal of the box around a robot: what its picture shows is at least this, m
VIEW = {"azimuth": 140.0, "elevation": -14.0}  # degrees, as MuJoCo counts them: from the front and the right


class Box(NamedTuple):
    """The box around a robot in its home pose, m."""

    size: float  # its longest side
    across: float  # the diagonal of its base
    diagonal: float


class Stage:
    """Draws pictures of ``pixels`` (width, height) of a robot on a ground; to be closed.

    The ``box`` around the robot says how far away a picture is taken: a cube needs more room than a humanoid as tall.

    Limitations: needs an OpenGL that works without a screen (EGL or OSMesa on Linux).
    """

    def __init__(self, robot: Robot, ground: Ground, box: Box, pixels: tuple[int, int]) -> None:
        self.size = box.size
        self.model = model = _lit(robot, ground, box.size)
        model.stat.extent, model.stat.center[:] = 4 * box.size, 0.0  # the reach of shadows, too
        width, height = pixels
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        self.data, self.drawn = mujoco.MjData(model), mujoco.MjvScene(model, maxgeom=2000 + model.ngeom)
        self._context, self._renderer = _renderer(model, width, height)
        self._camera, self._options, self._perturb = mujoco.MjvCamera(), mujoco.MjvOption(), mujoco.MjvPerturb()
        if not ((model.geom_group < SHOWN) & (model.geom_bodyid > 0)).any():
            self._options.geomgroup[:] = 1  # no shape but those that collide
        self._camera.azimuth, self._camera.elevation = VIEW["azimuth"], VIEW["elevation"]
        self._camera.distance = 1.75 * max(box.size, FULL * box.diagonal, box.across * height / width)
        self._window = mujoco.MjrRect(0, 0, width, height)
        self._image = np.empty((height, width, 3), dtype=np.uint8)

    def picture(self, qpos: np.ndarray, add: Callable[[mujoco.MjvScene], None] | None = None) -> np.ndarray:
        """(height, width, 3) the robot at coordinates (nq,), its centre of mass in the middle; ``add`` adds to it."""
        self.data.qpos[:] = qpos
        mujoco.mj_forward(self.model, self.data)
        self._camera.lookat[:] = centre_of_mass(self.model, self.data) - [0.0, 0.0, 0.08 * self.size]
        everything = int(mujoco.mjtCatBit.mjCAT_ALL)
        mujoco.mjv_updateScene(
            self.model, self.data, self._options, self._perturb, self._camera, everything, self.drawn
        )
        if add is not None:
            add(self.drawn)
        self._context.make_current()
        mujoco.mjr_render(self._window, self.drawn, self._renderer)
        mujoco.mjr_readPixels(self._image, None, self._window, self._renderer)
        return self._image[::-1].copy()

    def close(self) -> None:
        """Give the renderer back."""
        if self._context is not None:
            self._context.make_current()
            self._renderer.free()
            self._context.free()
            self._context = None


def _lit(robot: Robot, ground: Ground, size: float) -> mujoco.MjModel:
    """The robot on its ground, under a bright sky and a sun; a robot made from an ``MjModel`` as it is.

    The height of the sun suits a scene of that ``size``, m: shadows of a light too far away are coarse.
    """
    if robot.mjcf is None:
        return copy.copy(robot.model)
    spec = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets))
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
