"""The ground: a surface and its friction coefficients.

    Ground.plane(friction=0.7)
    Ground.slope(math.radians(10), friction=(0.8, 0.6))          # static, dynamic
    Ground.stairs(rise=0.15, run=0.3, count=5)
    Ground.heightfield(heights, size=(4.0, 4.0))                 # a table, or a file: .npy, .csv, .txt
    Ground.heightfield("hills.png", size=(20.0, 20.0), height=1.5)
    Ground.function(lambda x, y: 0.02 * math.sin(5 * x))

Lengths in metres, angles in radians, world frame with z up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Annotated, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from footfall.arguments import public
from footfall.errors import GroundError, did_you_mean
from footfall.frozen_values import made_again
from footfall.given_numbers import NotNegative, Shape
from footfall.ground import geometry, surface
from footfall.ground.friction import Coefficients, Compiled, FrictionTable
from footfall.ground.function import FUNCTION
from footfall.ground.geometry import EXTENT, Array, unpacked
from footfall.ground.heightfield import HEIGHTFIELD
from footfall.ground.kind import Form, Given, Kind
from footfall.ground.place_function import PlaceFunction
from footfall.ground.planes import PLANE, SLOPE, STAIRS

#: Every kind of ground by its name: those that :class:`Ground` lists.
KINDS: dict[str, Kind[Any]] = {}


def made_by(kind: Kind[Given]) -> staticmethod[Given, Ground]:
    """The constructor of a kind of ground, as an attribute of :class:`Ground`."""
    KINDS[kind.name] = kind

    @wraps(kind.make)
    def make(*args: Given.args, **options: Given.kwargs) -> Ground:
        form = kind.make(*args, **options)
        static, dynamic, varying = form.friction
        return Ground(kind.name, static, dynamic, form.options, form.heights, form.height_function, varying)

    make.__annotations__ = {**kind.make.__annotations__, "return": "Ground"}
    return staticmethod(make)


@public
@dataclass(frozen=True, eq=False, repr=False)
class Ground:
    """A surface and its friction coefficients: an immutable value, made by ``Ground.plane``, ``Ground.slope`` and so
    on.

    ``kind`` is one of ``KINDS``, ``options`` what that constructor was given, ``heights`` the (rows along y, columns
    along x) table in m of a height field, ``height_function`` the compiled function of a function ground. Varying
    friction is in ``friction_field``, and the two coefficients are then the largest in the square of 20 m around the
    origin, or in the table. ``description`` is free text that equality ignores.
    """

    kind: str
    static_friction: NotNegative
    dynamic_friction: NotNegative
    options: tuple[tuple[str, Any], ...] = ()
    heights: Array | None = None
    height_function: PlaceFunction | None = None
    friction_field: FrictionTable | PlaceFunction | None = None
    description: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.static_friction < self.dynamic_friction:
            raise GroundError(
                f"static friction {self.static_friction:g} is below dynamic friction {self.dynamic_friction:g}: "
                "give friction=(static, dynamic) with static >= dynamic"
            )

    def __reduce__(self) -> Any:
        return made_again(self)

    # ---- the kinds: a new one is a file of its own and a line here --------------------------------------------

    plane = made_by(PLANE)
    slope = made_by(SLOPE)
    stairs = made_by(STAIRS)
    heightfield = made_by(HEIGHTFIELD)
    function = made_by(FUNCTION)

    # ---- asking --------------------------------------------------------------------------------------------

    def gap(self, points: ArrayLike, reach: float = surface.REACH) -> tuple[Array, Array]:
        """Signed distance (...) in m, negative inside, and unit normal (..., 3) for world points (..., 3).

        On uneven ground, up to ``reach`` (m), it is the distance to the nearest point of the whole surface.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        if points.ndim == 0 or points.shape[-1] != 3:
            raise GroundError(f"points need a last axis of 3 (x, y, z), got shape {points.shape}")
        return surface.gaps_at(self.compiled(reach), points)

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height of the surface (m) at ``x``, ``y`` (m), which broadcast; at a riser, of the tread behind it."""
        try:
            x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        except ValueError:
            raise GroundError(f"x has shape {np.shape(x)} and y {np.shape(y)}, which do not broadcast") from None
        own = self._kind.height
        return surface.heights_at(self.compiled(), x, y) if own is None else own(self._arrays[0], x, y)

    def frame(self, point: Annotated[ArrayLike, Shape((3,))]) -> Array:
        """The contact frame (3, 3) at a world point: rows tangent, tangent, normal.

        The first tangent is world x projected onto the tangent plane, see ``surface.tangent_frame``.
        """
        frame = np.empty((3, 3))
        surface.tangent_frame(*self.gap(point)[1], frame)
        return frame

    def friction_at(self, points: ArrayLike) -> tuple[Array, Array]:
        """Static and dynamic friction coefficients (...) at world points (..., 3)."""
        return self._friction.at(np.asarray(points, dtype=float))

    def faults(self, x: float, y: float) -> list[str]:
        """Errors that its functions of height and friction raise at (x, y) in m, run as plain Python."""
        functions = [one for one in (self.height_function, self.friction_field) if isinstance(one, PlaceFunction)]
        return [fault for one in functions if (fault := one.fault(x, y))]

    @cached_property
    def compiled_friction(self) -> Compiled:
        """The friction in the engine's form."""
        return self._friction.compiled()

    @property
    def highest(self) -> float:
        """An upper bound of the surface's height (m), ``inf`` if none is known."""
        return self._kind.highest(self._form)

    @property
    def flat(self) -> bool:
        """Whether the surface is one plane, level or sloped."""
        return self._kind.flat

    def compiled(self, reach: float = surface.REACH) -> tuple[Any, Array, Array]:
        """The surface in the engine's form: function pointer, parameters and table (read only).

        For points up to ``reach`` (m) away the gap is the distance to the nearest point of the whole surface.
        """
        parameters, table = self._arrays
        if self._kind.seeks:
            parameters = np.append(parameters, reach)
        if self.height_function is not None:
            return self.height_function.pointer, parameters, table
        own = self._kind.surface
        assert own is not None
        return surface.pointer(own), parameters, table

    @cached_property
    def _arrays(self) -> tuple[Array, Array]:
        return np.array(self._kind.parameters(self._form), dtype=np.float64), self._kind.table(self._form)

    @property
    def _kind(self) -> Kind[Any]:
        return KINDS[self.kind]

    @property
    def _friction(self) -> Coefficients:
        return Coefficients(self.static_friction, self.dynamic_friction, self.friction_field)

    @property
    def _form(self) -> Form:
        return Form(self._friction, self.options, self.heights, self.height_function)

    # ---- the same surface elsewhere ------------------------------------------------------------------------

    def mesh(self, extent: float = 10.0) -> tuple[Array, NDArray[np.int64]]:
        """Triangles for drawing: vertices (V, 3) in m, world frame, and faces (F, 3) that look out of it.

        ``extent`` (m) is the side of the square around the origin that is cut out of an endless surface;
        stairs continue for half of it before and after. A function is sampled every 5 cm, a height field
        shown whole.
        """
        return geometry.mesh(self._kind.grid(self._form, extent))

    def add_to(self, spec: mujoco.MjSpec, extent: float = EXTENT) -> list[mujoco.MjsGeom]:
        """Add this surface to the world body of ``spec`` as static geoms named ``footfall_ground...``.

        They collide with every geom that has a contype or conaffinity. Their priority is 1, so that MuJoCo uses the
        dynamic friction of the ground and not the larger of two geoms (where friction varies, its largest coefficient:
        MuJoCo's geoms have one). Planes are endless; stairs are boxes that reach ``extent`` (m) before and after and
        half of it to the sides; a height field ends at its edges; a function is sampled every 5 cm over a square of
        side ``extent`` around the origin.
        """
        form, add = self._form, geometry.Geoms(spec, self.dynamic_friction)
        if self._kind.geoms is not None:
            return self._kind.geoms(form, extent, add)
        return add.height_field(self._kind.grid(form, extent))

    # ---- as a value ----------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """A JSON-serialisable description, for ``from_dict``.

        A function ground is written as its source text, to be read by people, and as a table of 20 x 20 m
        around the origin sampled every 5 cm: it comes back as a height field.
        """
        data: dict[str, Any] = {"kind": self.kind, **self._kind.describe(self._form)}
        data |= self._friction.to_dict()
        return data | ({"description": self.description} if self.description else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ground:
        """The ground that ``to_dict`` described, made and checked by its constructor."""
        data = dict(data)
        kind = data.pop("kind", "plane")
        check_kind(kind)
        restore = KINDS[kind].restore
        if restore is not None:
            kind, data = restore(data)
        description = data.pop("description", "")
        if "heights" in data:
            data["heights"] = unpacked(data["heights"])
        if isinstance(data.get("friction"), Mapping):
            data["friction"] = FrictionTable.from_dict(data["friction"])
        if "dynamic_friction" in data:
            data["friction"] = data.pop("dynamic_friction")
        return replace(ground_of_kind(kind, data), description=description)

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        heights = None if self.heights is None else (self.heights.shape, self.heights.tobytes())
        return self.kind, self._friction.content(), self.options, heights, self.height_function

    def __eq__(self, other: object) -> bool:
        return self._content == other._content if isinstance(other, Ground) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content)

    def __repr__(self) -> str:
        parts, units = [], self._kind.options()
        if self.height_function is not None:
            parts.append(self.height_function.function.__name__)
        if self.heights is not None:
            parts.append("x".join(map(str, self.heights.shape)))
        for name, value in self.options:
            if name in ("height", "heading", "center") and not np.any(value):
                continue
            text = f"({', '.join(f'{one:.3g}' for one in value)})" if isinstance(value, tuple) else f"{value:.3g}"
            unit = units[name][1].unit
            parts.append(f"{name}={text}{' ' if unit else ''}{unit}")
        parts.append(f"friction={self._friction}")
        if self.description:
            parts.append(repr(self.description.splitlines()[0]))
        return f"Ground.{self.kind}({', '.join(parts)})"


def as_ground(given: Any) -> Ground:
    """A ground from a ground, from the name of a kind whose options all have defaults, or a plane for None."""
    if given is None or isinstance(given, str):
        return ground_of_kind("plane" if given is None else given, {})
    if not isinstance(given, Ground):
        raise GroundError(f"a ground is a footfall.Ground such as Ground.plane(), not {given!r}")
    return given


def ground_of_kind(kind: str, options: Mapping[str, Any]) -> Ground:
    """A ground from the name of its kind and its options; an error says which option is wrong or missing."""
    check_kind(kind)
    constructor: Callable[..., Ground] = getattr(Ground, kind)
    known = inspect.signature(constructor).parameters
    for name in options:
        if name not in known:
            raise GroundError(f"ground {kind} has no option '{name}': {did_you_mean(name, known)}")
    missing = [name for name, one in known.items() if one.default is one.empty and name not in options]
    if missing:
        raise GroundError(f"ground {kind} needs {' and '.join(missing)}, as in footfall.Ground.{kind}(...)")
    return constructor(**options)


def check_kind(kind: Any) -> None:
    """Refuse an unknown kind of ground."""
    if not (isinstance(kind, str) and kind in KINDS):
        raise GroundError(f"no ground is called '{kind}': {did_you_mean(str(kind), KINDS)}")
