"""The numbers of a ground, checked and packed for JSON, and its other forms: grids, triangles, geoms."""

from __future__ import annotations

import base64
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from footfall.errors import GroundError

LARGEST_TABLE = 2**25  # entries of a height table: 5792 x 5792, 256 MiB
READABLE_TABLE = 400  # entries up to which a height table is written as plain numbers

EXTENT = 20.0  # m, side of the square that is cut out of an endless surface
SAMPLE_SPACING = 0.05  # m, distance of the samples of a function in a table
#: Collision bits of the ground: it collides with every geom that collides at all, as under Footfall's own laws.
EVERYTHING = 2**31 - 1

Array = NDArray[np.float64]
Grid = tuple[Array, Array, Array]  # x, y, z (rows, columns), m


def pair(value: Sequence[float]) -> tuple[float, float]:
    """Two numbers, of any type, as two floats."""
    one, other = value
    return float(one), float(other)


def height_table(heights: ArrayLike) -> Array:
    """``heights`` as a read-only table of finite floats, at least 2 x 2."""
    check_table_size(np.shape(heights) if isinstance(heights, np.ndarray) else ())
    try:
        table = np.array(heights, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise GroundError(f"heights must be a rectangular table of numbers: {error}") from None
    if table.ndim != 2 or min(table.shape) < 2:
        raise GroundError(f"heights must be a table of at least 2 x 2 numbers (rows along y), got shape {table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise GroundError(f"heights must be finite, got {table[row, column]} at [{row}, {column}]")
    table.setflags(write=False)
    return table


def check_table_size(shape: tuple[int, ...]) -> None:
    """Refuse a height table of more than ``LARGEST_TABLE`` entries, before it is made."""
    if math.prod(shape) > LARGEST_TABLE:
        sides = " x ".join(map(str, shape))
        raise GroundError(f"a height table of {sides} entries is too large: at most {LARGEST_TABLE}; thin it out")


def packed(table: Array) -> Any:
    """A table for JSON: rows of numbers if small, else compressed bytes (float64, little-endian)."""
    if table.size <= READABLE_TABLE:
        return table.tolist()
    data = base64.b64encode(zlib.compress(table.astype("<f8").tobytes())).decode("ascii")
    return {"shape": list(table.shape), "zlib_base64_float64": data}


def unpacked(table: Any) -> Any:
    """The table that ``packed`` wrote, or an unpacked one; a file name is refused, since a description must be
    complete.
    """
    if isinstance(table, str | os.PathLike):
        raise GroundError(f"the height table is a file, '{table}', and a description holds its heights itself")
    if not isinstance(table, Mapping):
        return table
    try:
        rows, columns = (int(n) for n in table["shape"])
        check_table_size((rows, columns))
        unpacking = zlib.decompressobj()
        # At most one byte more than needed is unpacked, which detects small files that unpack to huge ones.
        data = unpacking.decompress(base64.b64decode(table["zlib_base64_float64"]), 8 * rows * columns + 1)
        return np.frombuffer(data, dtype="<f8").reshape(rows, columns)
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
        raise GroundError(f"the height table cannot be read: {error!r}") from None


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
