"""Grounds in other forms: grids, triangles to draw, MuJoCo's geoms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from footfall.errors import GroundError

if TYPE_CHECKING:
    import mujoco

EXTENT = 20.0  # m, side of the square that stands for an endless surface where one must be cut out
SAMPLE_SPACING = 0.05  # m, where a function must become a table

Array = NDArray[np.float64]
Grid = tuple[Array, Array, Array]  # x, y, z (rows, columns), m


def square(extent: float, count: int = 2) -> tuple[Array, Array]:
    """X and y (count, count) of a square of side ``extent`` (m) around the origin."""
    line = np.linspace(-extent / 2, extent / 2, max(count, 2))
    x, y = np.meshgrid(line, line)
    return x, y


def mesh(grid: Grid) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (V, 3) in m and faces (F, 3) of a grid, see ``Ground.mesh``."""
    x, y, z = grid
    rows, columns = z.shape
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1, 1, 1)
    faces = corner + np.array([[0, 1, columns + 1], [0, columns + 1, columns]])
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), faces.reshape(-1, 3)


#: Collision bits of the ground: it collides with every geom that collides at all, as under Footfall's own laws.
EVERYTHING = 2**31 - 1


class Geoms:
    """Adds static geoms with the ground's friction and look to the world body of a model."""

    def __init__(self, spec: mujoco.MjSpec, friction: float) -> None:
        self.spec, self.friction, self.material = spec, friction, _checker(spec)

    def __call__(self, suffix: str, kind: Any, size: list[float], **place: Any) -> mujoco.MjsGeom:
        return self.spec.worldbody.add_geom(
            name=f"footfall_ground{suffix}",
            type=kind,
            size=size,
            contype=EVERYTHING,
            conaffinity=EVERYTHING,
            priority=1,
            friction=[self.friction, 0.005, 0.0001],  # torsion and rolling: MuJoCo's defaults
            material=self.material,
            **place,
        )

    def height_field(self, grid: Grid) -> list[mujoco.MjsGeom]:
        """A grid of heights as one geom."""
        import mujoco

        x, y, z = grid
        low, high = float(z.min()), float(z.max())
        if not math.isfinite(high - low):
            half = float(np.ptp(x)) / 2
            raise GroundError(
                f"the ground is not finite everywhere within {half:g} m of the origin; give a smaller extent"
            )
        # MuJoCo scales the table to [0, 1] and back by the third size, which must not be zero.
        size = [np.ptp(x) / 2, np.ptp(y) / 2, max(high - low, 1e-6), 1.0]
        rows, columns = z.shape
        self.spec.add_hfield(name="footfall_ground", nrow=rows, ncol=columns, size=size, userdata=z.ravel().tolist())
        pos = [(x.min() + x.max()) / 2, (y.min() + y.max()) / 2, low]
        return [self("", mujoco.mjtGeom.mjGEOM_HFIELD, [0, 0, 0], pos=pos, hfieldname="footfall_ground")]

    def plane(self, normal: Array, height: float, extent: float) -> list[mujoco.MjsGeom]:
        """An endless plane through (0, 0, ``height``), drawn as a square of side ``extent`` (m)."""
        import mujoco

        quat = np.empty(4)
        mujoco.mju_quatZ2Vec(quat, normal)
        size = [extent / 2, extent / 2, 0.1]
        return [self("", mujoco.mjtGeom.mjGEOM_PLANE, size, pos=[0.0, 0.0, height], quat=quat)]


def _checker(spec: mujoco.MjSpec) -> str:
    """A grey chequered material with squares of about a metre, made once per spec."""
    import mujoco

    name = "footfall_ground"
    if spec.material(name) is None:
        spec.add_texture(
            name=name,
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
            rgb1=[0.55, 0.57, 0.6],
            rgb2=[0.62, 0.64, 0.67],
            width=256,
            height=256,
        )
        material = spec.add_material(name=name, texrepeat=[0.5, 0.5], texuniform=True)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    return name
