"""The ground: a surface, and how much friction it offers.

    Ground.plane(friction=0.7)
    Ground.slope(math.radians(10), friction=(0.8, 0.6))          # static, dynamic
    Ground.stairs(rise=0.15, run=0.3, count=5)
    Ground.heightfield(heights, size=(4.0, 4.0))
    Ground.function(lambda x, y: 0.02 * math.sin(5 * x))

Lengths in metres, angles in radians, world frame with z up.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from footfall.errors import GroundError, did_you_mean
from footfall.ground import geometry, surface
from footfall.ground.geometry import EXTENT, SAMPLE_SPACING
from footfall.ground.numbers import friction_pair, height_table, number, packed, pair, unpacked

if TYPE_CHECKING:
    import mujoco

KINDS = ("plane", "slope", "stairs", "heightfield", "function")
UNITS = {"angle": " rad", "heading": " rad", "count": ""}  # every other number is a length

Friction = float | tuple[float, float]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Ground:
    """A surface and its friction coefficients: an immutable value, made by ``Ground.plane`` and its sisters.

    ``kind`` is one of ``KINDS``, ``options`` what that constructor was given, ``heights`` the (rows along y,
    columns along x) table in m of a height field, ``height_function`` the compiled function of a function
    ground. ``description`` is free text and no part of equality.
    """

    kind: str
    static_friction: float
    dynamic_friction: float
    options: tuple[tuple[str, Any], ...] = ()
    heights: Array | None = None
    height_function: surface.HeightFunction | None = None
    description: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise GroundError(f"no ground of kind '{self.kind}'; {did_you_mean(str(self.kind), KINDS)}")
        static = number("the static friction coefficient", self.static_friction)
        dynamic = number("the dynamic friction coefficient", self.dynamic_friction)
        if min(static, dynamic) < 0.0:
            raise GroundError(f"friction coefficients must not be negative, got static {static:g}, dynamic {dynamic:g}")
        if static < dynamic:
            raise GroundError(
                f"static friction {static:g} is below dynamic friction {dynamic:g}: "
                "give friction=(static, dynamic) with static >= dynamic"
            )

    # ---- the kinds -----------------------------------------------------------------------------------------

    @classmethod
    def plane(cls, friction: Friction = 0.7, *, static_friction: float | None = None, height: float = 0.0) -> Ground:
        """Level ground at z = ``height`` (m).

        ``friction`` is the dynamic coefficient, and the static one too unless ``static_friction`` says
        otherwise; a pair is (static, dynamic). So for every kind.
        """
        return cls("plane", *friction_pair(friction, static_friction), (("height", number("height", height)),))

    @classmethod
    def slope(
        cls, angle: float, *, heading: float = 0.0, friction: Friction = 0.7, static_friction: float | None = None
    ) -> Ground:
        """A plane through the origin that rises by ``angle`` (rad) along ``heading`` (rad, in xy, from x)."""
        angle, heading = number("angle", angle), number("heading", heading)
        if abs(angle) >= math.pi / 2:
            raise GroundError(
                f"a slope of {angle:g} rad is a wall or an overhang: |angle| must be below pi/2 radians"
                + (f" (did you mean math.radians({angle:g})?)" if abs(angle) < 90.0 else "")
            )
        return cls("slope", *friction_pair(friction, static_friction), (("angle", angle), ("heading", heading)))

    @classmethod
    def stairs(
        cls,
        rise: float = 0.15,
        run: float = 0.3,
        count: int = 5,
        *,
        start: float = 0.3,
        heading: float = 0.0,
        friction: Friction = 0.7,
        static_friction: float | None = None,
    ) -> Ground:
        """A flight of ``count`` steps of ``rise`` and ``run`` (m) along ``heading`` (rad, in xy, from x).

        The first riser stands at ``start`` (m). The ground is level at 0 before it and at ``count * rise``
        after the last; a negative ``rise`` goes down. The gap is the Euclidean signed distance to the
        profile, so a toe that runs into a riser is pushed back, not up.

        Limitations: one normal per point. A point nearer to a nosing than it is deep leaves by the riser, so
        keep contact points of a standing foot a little (more than the penetration) behind the nosing.
        """
        rise, run = number("rise", rise), number("run", run)
        start, heading = number("start", start), number("heading", heading)
        if run <= 0.0:
            raise GroundError(f"the run of a stair must be positive, got {run:g} m (to go down, give a negative rise)")
        if not float(number("count", count)).is_integer() or count < 1:
            raise GroundError(f"stairs need a whole number of steps, at least one, got count={count!r}")
        options = (("rise", rise), ("run", run), ("count", int(count)), ("start", start), ("heading", heading))
        return cls("stairs", *friction_pair(friction, static_friction), options)

    @classmethod
    def heightfield(
        cls,
        heights: ArrayLike,
        *,
        size: tuple[float, float],
        center: tuple[float, float] = (0.0, 0.0),
        friction: Friction = 0.7,
        static_friction: float | None = None,
    ) -> Ground:
        """Bilinear interpolation of ``heights[row, column]`` (m), rows along y and columns along x.

        The table covers ``size`` = (x, y) metres from its first to its last entry, around ``center`` (m).
        Beyond it the heights of the edge continue. The gap is measured to the tangent plane under the point.
        """
        table = height_table(heights)
        (sx, sy), (cx, cy) = pair("size", size), pair("center", center)
        if min(sx, sy) <= 0.0:
            raise GroundError(f"the size of a height field must be positive, got ({sx:g}, {sy:g}) m")
        options = (("size", (sx, sy)), ("center", (cx, cy)))
        return cls("heightfield", *friction_pair(friction, static_friction), options, table)

    @classmethod
    def function(
        cls, f: Callable[[float, float], float], *, friction: Friction = 0.7, static_friction: float | None = None
    ) -> Ground:
        """The surface z = ``f(x, y)`` (m), where ``f`` is a Python function that Numba can compile.

        It is compiled here, with the globals it uses frozen; its gradient is taken by central differences of
        1e-5 m, so it should be continuous. The gap is measured to the tangent plane under the point. Where
        ``f`` gives NaN there is no ground, and a run that gets there stops.
        """
        ground = cls("function", *friction_pair(friction, static_friction), height_function=surface.compile_height(f))
        x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(-1.0, 1.0, 5), np.linspace(-1.0, 1.0, 5)))
        z = ground.height(x, y)
        if not np.isfinite(z).all():
            i = int(np.argmin(np.isfinite(z)))
            raise GroundError(
                f"the height function '{f.__name__}' gives {z[i]:g} at ({x[i]:g}, {y[i]:g}) m; "
                "it must be finite at least within 1 m of the origin"
            )
        return ground

    # ---- asking --------------------------------------------------------------------------------------------

    def gap(self, points: ArrayLike) -> tuple[Array, Array]:
        """Signed distance (...) in m, negative inside, and unit normal (..., 3) for world points (..., 3)."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        if points.ndim == 0 or points.shape[-1] != 3:
            raise GroundError(f"points need a last axis of 3 (x, y, z), got shape {points.shape}")
        gap, normal = np.empty(points.shape[:-1]), np.empty(points.shape)
        surface.gaps(*self.compiled(), points.reshape(-1, 3), gap.reshape(-1), normal.reshape(-1, 3))
        return gap, normal

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height of the surface (m) at ``x``, ``y`` (m), which broadcast. At a riser: the far tread's."""
        x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        if self.kind == "stairs":
            rise, run, count, start, cos, sin = self._arrays[0]
            return np.clip(np.floor((x * cos + y * sin - start) / run) + 1.0, 0.0, count) * rise
        # Every other surface measures its gap along the normal of a plane under the point.
        gap, normal = self.gap(np.stack([x, y, np.zeros_like(x)], axis=-1))
        return -gap / normal[..., 2] + 0.0  # no -0.0

    def frame(self, point: ArrayLike) -> Array:
        """The contact frame (3, 3) at a world point: rows tangent, tangent, normal.

        The first tangent is world x laid onto the tangent plane, see ``surface.tangent_frame``.
        """
        frame = np.empty((3, 3))
        surface.tangent_frame(*self.gap(point)[1], frame)
        return frame

    @property
    def highest(self) -> float:
        """A height (m) that the surface nowhere exceeds, ``inf`` where none is known."""
        return geometry.highest(self)

    def compiled(self) -> tuple[Any, Array, Array]:
        """What the engine takes: function pointer, parameters and table of the surface (to read only)."""
        if self.height_function is not None:
            return self.height_function.pointer, *self._arrays
        return surface.pointer(self.kind), *self._arrays

    @cached_property
    def _arrays(self) -> tuple[Array, Array]:
        return geometry.surface_arrays(self)

    # ---- the same surface elsewhere ------------------------------------------------------------------------

    def mesh(self, extent: float = 10.0) -> tuple[Array, NDArray[np.int64]]:
        """Triangles for drawing: vertices (V, 3) in m, world frame, and faces (F, 3) that look out of it.

        ``extent`` (m) is the side of the square around the origin that is cut out of an endless surface;
        stairs continue for half of it before and after. A function is sampled every 5 cm, a height field
        shown whole.
        """
        return geometry.mesh(self, extent)

    def add_to(self, spec: mujoco.MjSpec, extent: float = EXTENT) -> list[mujoco.MjsGeom]:
        """Add this surface to the world body of ``spec`` as static geoms named ``footfall_ground...``.

        They collide with geoms of MuJoCo's default contype and conaffinity (1). Their priority is 1, so that
        the dynamic friction of the ground, and not the larger of the two, holds. Planes are endless; stairs
        are boxes that reach ``extent`` (m) before and after and half of it to the sides; a height field ends
        at its edges; a function is sampled every 5 cm over a square of side ``extent`` around the origin.
        """
        return geometry.add_geoms(self, spec, extent)

    # ---- as a value ----------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """A JSON-serialisable description, for ``from_dict``.

        A function ground is written as its source text, to be read by people, and as a table of 20 x 20 m
        around the origin sampled every 5 cm: it comes back as a height field.
        """
        data: dict[str, Any] = {"kind": self.kind}
        data |= {name: list(value) if isinstance(value, tuple) else value for name, value in self.options}
        if self.heights is not None:
            data["heights"] = packed(self.heights)
        if self.height_function is not None:
            sampled = geometry.grid(self, EXTENT)[2]
            rounded = sampled.astype(np.float32).astype(np.float64)  # packs to half; exact to 1e-7
            data |= {"source": self.height_function.source, "size": [EXTENT, EXTENT], "heights": packed(rounded)}
        data |= {"static_friction": self.static_friction, "dynamic_friction": self.dynamic_friction}
        return data | ({"description": self.description} if self.description else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ground:
        """The ground that ``to_dict`` described. What the constructors take and leave out, this does too."""
        data = dict(data)
        kind = data.pop("kind", "plane")
        if kind not in KINDS:
            raise GroundError(f"no ground of kind '{kind}'; {did_you_mean(str(kind), KINDS)}")
        description = data.pop("description", "")
        if kind == "function":
            kind = "heightfield"
            source = data.pop("source", None) or "source unknown"
            description = description or f"sampled every {SAMPLE_SPACING:g} m from a function: {source}"
        if "heights" in data:
            data["heights"] = unpacked(data["heights"])
        if "dynamic_friction" in data:
            data["friction"] = data.pop("dynamic_friction")
        constructor = getattr(cls, kind)
        known = inspect.signature(constructor).parameters
        for name in data:
            if name not in known:
                raise GroundError(f"a ground of kind '{kind}' has no '{name}'; {did_you_mean(name, known)}")
        missing = [name for name, one in known.items() if one.default is one.empty and name not in data]
        if missing:
            raise GroundError(f"a ground of kind '{kind}' needs {' and '.join(missing)}")
        return replace(constructor(**data), description=description)

    def _content(self) -> tuple[Any, ...]:
        heights = None if self.heights is None else (self.heights.shape, self.heights.tobytes())
        friction = self.static_friction, self.dynamic_friction
        return self.kind, friction, self.options, heights, self.height_function

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Ground) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        parts = []
        if self.height_function is not None:
            parts.append(self.height_function.function.__name__)
        if self.heights is not None:
            parts.append("x".join(map(str, self.heights.shape)))
        for name, value in self.options:
            if name in ("height", "heading", "center") and not np.any(value):
                continue
            text = f"({', '.join(f'{one:.3g}' for one in value)})" if isinstance(value, tuple) else f"{value:.3g}"
            parts.append(f"{name}={text}{UNITS.get(name, ' m')}")
        same = self.static_friction == self.dynamic_friction
        both = f"({self.static_friction:.3g}, {self.dynamic_friction:.3g})"
        parts.append(f"friction={self.dynamic_friction:.3g}" if same else f"friction={both}")
        if self.description:
            parts.append(repr(self.description.splitlines()[0]))
        return f"Ground.{self.kind}({', '.join(parts)})"
