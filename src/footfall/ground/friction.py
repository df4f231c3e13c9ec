"""Friction coefficients of a ground: two numbers, or a field of x and y.

Wherever a ground is made, ``friction`` is one of

- a number, the static and the dynamic coefficient;
- a pair (static, dynamic);
- a :class:`FrictionTable` of either, a rectangle of cells;
- a Python function ``f(x, y)`` of either that Numba can compile, as in ``lambda x, y: 0.05 if y > 0.0 else 0.7``.

A field is evaluated at every contact point in every step, under all laws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.compiled import function_pointer, kernel
from footfall.errors import GroundError
from footfall.given_numbers import Finite, Positive
from footfall.ground.geometry import EXTENT, SAMPLE_SPACING, Array, packed, pair, square, unpacked
from footfall.ground.place_function import FRICTION_SIGNATURE, PlaceFunction, compile_place
from footfall.kinds import Float, Function, Matrix, Tensor, Vector


@public
@dataclass(frozen=True, eq=False)
class FrictionTable:
    """Friction coefficients in equal rectangular cells.

    ``values`` (rows along y, columns along x) are the static and dynamic coefficients, or (rows, columns, 2) both in
    this order. The cells cover ``size`` = (x, y) metres around ``center`` (m); beyond them the coefficients of the edge
    continue.
    """

    values: ArrayLike
    size: tuple[Positive, Positive]
    center: tuple[Finite, Finite] = (0.0, 0.0)

    def __post_init__(self) -> None:
        try:
            values = np.array(self.values, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise GroundError(f"a friction table must be a rectangle of numbers: {error}") from None
        if values.ndim == 2:
            values = np.repeat(values[:, :, None], 2, axis=2)
        if values.ndim != 3 or values.shape[2] != 2 or not values.size:
            raise GroundError(f"a friction table has shape (rows, columns) or (rows, columns, 2), not {values.shape}")
        _check(values[..., 0], values[..., 1])
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "size", pair(self.size))
        object.__setattr__(self, "center", pair(self.center))

    @property
    def table(self) -> Array:
        """(rows, columns, 2) static and dynamic coefficients."""
        return np.asarray(self.values)

    def to_dict(self) -> dict[str, Any]:
        flat = self.table.reshape(self.table.shape[0], -1)  # packed as a table of two columns for each
        return {"values": packed(flat), "size": list(self.size), "center": list(self.center)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FrictionTable:
        flat = np.asarray(unpacked(data["values"]), dtype=float)
        return cls(flat.reshape(len(flat), -1, 2), tuple(data["size"]), tuple(data["center"]))

    def content(self) -> tuple[Any, ...]:
        return self.table.shape, self.table.tobytes(), self.size, self.center


#: The rule for coefficients, for error messages.
RULE = "coefficients are finite, not negative, and the static one is not the smaller"
Friction = float | tuple[float, float] | FrictionTable | Callable[[float, float], Any]


def cells(x: Float, y: Float, corner: Vector, table: Tensor) -> tuple[Float, Float]:
    """Coefficients of the cell that contains (x, y); ``corner``: x, y, width and height of the first cell, m."""
    column = min(max((x - corner[0]) / corner[2], 0.0), table.shape[1] - 1.0)
    row = min(max((y - corner[1]) / corner[3], 0.0), table.shape[0] - 1.0)
    return table[int(row), int(column), 0], table[int(row), int(column), 1]


@cache
def _cells_pointer() -> Any:
    return function_pointer(FRICTION_SIGNATURE, cells)


class Compiled(NamedTuple):
    """A field of coefficients in the engine's form."""

    friction: Any  # function pointer
    corner: Array  # (4,)
    table: Array  # (rows, columns, 2)
    varies: int  # 0: uniform, and never evaluated


class Coefficients(NamedTuple):
    """A ground's friction: its two coefficients, which are the largest of its field if it has one, and the field."""

    static: float
    dynamic: float
    field: FrictionTable | PlaceFunction | None = None

    @classmethod
    def of(cls, friction: Any, static: float | None) -> Coefficients:
        """From the arguments of a ground's constructor."""
        alone = not (callable(friction) or isinstance(friction, FrictionTable | tuple | list | np.ndarray))
        if alone:
            return cls(float(friction if static is None else static), float(friction))
        if static is not None:
            raise GroundError("give friction=(static, dynamic) or static_friction, not both")
        if isinstance(friction, FrictionTable):
            largest = friction.table.max(axis=(0, 1))
            return cls(float(largest[0]), float(largest[1]), friction)
        if callable(friction):
            made = compile_place(friction, "friction")
            x, y, both = _sampled(made)
            _check(both[..., 0], both[..., 1], (x, y), made)
            return cls(float(both[..., 0].max()), float(both[..., 1].max()), made)
        return cls(*pair(friction))

    def compiled(self) -> Compiled:
        nothing = np.zeros(4), np.zeros((1, 1, 2))
        if self.field is None:
            return Compiled(_cells_pointer(), *nothing, 0)
        if isinstance(self.field, PlaceFunction):
            return Compiled(self.field.pointer, *nothing, 1)
        (sx, sy), (cx, cy), table = self.field.size, self.field.center, self.field.table
        corner = np.array([cx - sx / 2, cy - sy / 2, sx / table.shape[1], sy / table.shape[0]])
        return Compiled(_cells_pointer(), corner, table.copy(), 1)

    def at(self, points: Array) -> tuple[Array, Array]:
        """Static and dynamic coefficients (...) at points (..., 3) in the world frame."""
        shape = points.shape[:-1]
        if self.field is None:
            return np.full(shape, self.static), np.full(shape, self.dynamic)
        field = self.compiled()
        static, dynamic = np.empty(shape), np.empty(shape)
        flat = np.ascontiguousarray(points, dtype=float).reshape(-1, 3)
        _ask(field.friction, field.corner, field.table, flat, static.reshape(-1), dynamic.reshape(-1))
        return static, dynamic

    def to_dict(self) -> dict[str, Any]:
        """As values for JSON. A function becomes a table of 20 x 20 m, sampled every 5 cm, and its source text."""
        if self.field is None:
            return {"static_friction": self.static, "dynamic_friction": self.dynamic}
        if isinstance(self.field, FrictionTable):
            return {"friction": self.field.to_dict()}
        side = EXTENT + SAMPLE_SPACING  # so that samples are the middles of cells
        table = FrictionTable(_sampled(self.field)[2], (side, side))
        return {"friction": table.to_dict() | {"source": self.field.source}}

    def content(self) -> tuple[Any, ...]:
        field = self.field.content() if isinstance(self.field, FrictionTable) else self.field
        return self.static, self.dynamic, field

    def __str__(self) -> str:
        if isinstance(self.field, FrictionTable):
            return f"table of {' x '.join(map(str, self.field.table.shape[:2]))} cells"
        if self.field is not None:
            return self.field.function.__name__
        same = self.static == self.dynamic
        return f"{self.dynamic:.3g}" if same else f"({self.static:.3g}, {self.dynamic:.3g})"


@kernel
def _ask(friction: Function, corner: Vector, table: Tensor, points: Matrix, static: Vector, dynamic: Vector) -> None:
    for i in range(points.shape[0]):
        static[i], dynamic[i] = friction(points[i, 0], points[i, 1], corner, table)


def _sampled(function: PlaceFunction) -> tuple[Array, Array, Array]:
    """x, y and the coefficients (rows, columns, 2) over the square of ``EXTENT`` around the origin."""
    x, y = square(EXTENT, round(EXTENT / SAMPLE_SPACING) + 1)
    points = np.stack([x, y, np.zeros_like(x)], axis=-1)
    return x, y, np.stack(Coefficients(0.0, 0.0, function).at(points), axis=-1)


def _check(
    static: Array,
    dynamic: Array,
    places: tuple[Array, Array] | None = None,
    function: PlaceFunction | None = None,
) -> None:
    """Refuse coefficients that are negative, not finite, or larger for sliding than for sticking."""
    good = np.isfinite(static) & np.isfinite(dynamic) & (dynamic >= 0.0) & (static >= dynamic)
    if good.all():
        return
    i = tuple(np.argwhere(~good)[0])
    where = f"[{i[0]}, {i[1]}]" if places is None else f"({places[0][i]:g}, {places[1][i]:g}) m"
    raise GroundError(
        f"friction is static {static[i]:g}, dynamic {dynamic[i]:g} at {where}: "
        f"{(function and places and function.fault(*(float(one[i]) for one in places))) or RULE}"
    )
