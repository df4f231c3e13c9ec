"""The shape of a ground in other forms: numbers for compiled code, a grid, triangles to draw, MuJoCo's geoms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from footfall.errors import GroundError

if TYPE_CHECKING:
    import mujoco

    from footfall.ground import Ground

EXTENT = 20.0  # m, side of the square that stands for an endless surface where one must be cut out
SAMPLE_SPACING = 0.05  # m, where a function must become a table

Array = NDArray[np.float64]


def surface_arrays(ground: Ground) -> tuple[Array, Array]:
    """Parameters and height table as the compiled surface of that kind takes them, see ``footfall.ground.surface``."""
    option = dict(ground.options)
    # Numba types read-only arrays apart, hence the copy.
    table = np.zeros((1, 1)) if ground.heights is None else ground.heights.copy()
    numbers: tuple[float, ...] = (0.0,)
    if ground.kind == "plane":
        numbers = (option["height"],)
    elif ground.kind == "slope":
        numbers = _slope_normal(option["angle"], option["heading"])
    elif ground.kind == "stairs":
        heading = option["heading"]
        numbers = (
            *(option[name] for name in ("rise", "run", "count", "start")),
            math.cos(heading),
            math.sin(heading),
        )
    elif ground.kind == "heightfield":
        (sx, sy), (cx, cy) = option["size"], option["center"]
        rows, columns = table.shape
        numbers = (cx - sx / 2, cy - sy / 2, sx / (columns - 1), sy / (rows - 1))
    return np.array(numbers, dtype=np.float64), table


def _slope_normal(angle: float, heading: float) -> tuple[float, float, float]:
    return -math.sin(angle) * math.cos(heading), -math.sin(angle) * math.sin(heading), math.cos(angle)


def highest(ground: Ground) -> float:
    """A height (m) that the surface nowhere exceeds, ``inf`` where none is known."""
    option = dict(ground.options)
    if ground.kind == "plane":
        return option["height"]
    if ground.kind == "stairs":
        return max(0.0, option["count"] * option["rise"])
    if ground.heights is not None:
        return float(ground.heights.max())
    return 0.0 if ground.kind == "slope" and option["angle"] == 0.0 else math.inf


def grid(ground: Ground, extent: float) -> tuple[Array, Array, Array]:
    """The surface as x, y, z (rows, columns): its own table, or a square of side ``extent`` (m) cut out."""
    option = dict(ground.options)
    if ground.kind == "stairs":
        edges = np.repeat(option["start"] + option["run"] * np.arange(option["count"]), 2)
        s = np.concatenate([[edges[0] - extent / 2], edges, [edges[-1] + extent / 2]])
        z = np.repeat(option["rise"] * np.arange(option["count"] + 1), 2)
        side = np.array([[-extent / 2], [extent / 2]])
        cos, sin = math.cos(option["heading"]), math.sin(option["heading"])
        return s * cos - side * sin, s * sin + side * cos, np.broadcast_to(z, (2, len(z)))
    if ground.heights is not None:
        (sx, sy), (cx, cy) = option["size"], option["center"]
        rows, columns = ground.heights.shape
        x, y = np.meshgrid(np.linspace(-sx / 2, sx / 2, columns) + cx, np.linspace(-sy / 2, sy / 2, rows) + cy)
        return x, y, ground.heights
    count = round(extent / SAMPLE_SPACING) + 1 if ground.kind == "function" else 2
    line = np.linspace(-extent / 2, extent / 2, max(count, 2))
    x, y = np.meshgrid(line, line)
    return x, y, ground.height(x, y)


def mesh(ground: Ground, extent: float) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (V, 3) in m and faces (F, 3), see ``Ground.mesh``."""
    x, y, z = grid(ground, extent)
    rows, columns = z.shape
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1, 1, 1)
    faces = corner + np.array([[0, 1, columns + 1], [0, columns + 1, columns]])
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), faces.reshape(-1, 3)


def add_geoms(ground: Ground, spec: mujoco.MjSpec, extent: float) -> list[mujoco.MjsGeom]:
    """The surface as static geoms in the world body of ``spec``, see ``Ground.add_to``."""
    import mujoco

    material = _checker(spec)
    half = extent / 2
    option = dict(ground.options)

    def geom(suffix: str, kind: Any, size: list[float], **place: Any) -> mujoco.MjsGeom:
        return spec.worldbody.add_geom(
            name=f"footfall_ground{suffix}",
            type=kind,
            size=size,
            contype=2,
            conaffinity=1,
            priority=1,
            friction=[ground.dynamic_friction, 0.005, 0.0001],  # torsion and rolling: MuJoCo's defaults
            material=material,
            **place,
        )

    if ground.kind in ("plane", "slope"):
        up = np.array(ground.gap(np.zeros(3))[1])
        quat = np.empty(4)
        mujoco.mju_quatZ2Vec(quat, up)
        pos = [0.0, 0.0, option.get("height", 0.0)]
        return [geom("", mujoco.mjtGeom.mjGEOM_PLANE, [half, half, 0.1], pos=pos, quat=quat)]

    if ground.kind == "stairs":
        heading, count, rise = option["heading"], option["count"], option["rise"]
        edges = option["start"] + option["run"] * np.arange(count)
        edges = np.concatenate([[edges[0] - extent], edges, [edges[-1] + extent]])
        bottom = min(0.0, count * rise) - 1.0
        quat = np.array([math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)])
        boxes = []
        for step in range(count + 1):
            s, top = (edges[step] + edges[step + 1]) / 2, step * rise
            size = [(edges[step + 1] - edges[step]) / 2, half, (top - bottom) / 2]
            pos = [s * math.cos(heading), s * math.sin(heading), (top + bottom) / 2]
            boxes.append(geom(f"_{step}", mujoco.mjtGeom.mjGEOM_BOX, size, pos=pos, quat=quat))
        return boxes

    x, y, z = grid(ground, extent)
    low, high = float(z.min()), float(z.max())
    if not math.isfinite(high - low):
        raise GroundError(f"{ground!r} is not finite everywhere within {half:g} m of the origin; give a smaller extent")
    # MuJoCo scales the table to [0, 1] and back by the third size, which must not be zero.
    size = [np.ptp(x) / 2, np.ptp(y) / 2, max(high - low, 1e-6), 1.0]
    rows, columns = z.shape
    spec.add_hfield(name="footfall_ground", nrow=rows, ncol=columns, size=size, userdata=z.ravel().tolist())
    pos = [(x.min() + x.max()) / 2, (y.min() + y.max()) / 2, low]
    return [geom("", mujoco.mjtGeom.mjGEOM_HFIELD, [0, 0, 0], pos=pos, hfieldname="footfall_ground")]


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
