"""A table of heights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from footfall.compiled import kernel
from footfall.errors import GroundError
from footfall.ground.friction import Coefficients, Friction
from footfall.ground.geometry import Grid
from footfall.ground.height_files import read_heights
from footfall.ground.kind import Array, Form, Kind, Option
from footfall.ground.numbers import height_table, pair
from footfall.ground.surface import PLANES, is_near_enough, is_settled, over_height

Heights = ArrayLike | os.PathLike[str]


def heightfield(
    heights: Annotated[Heights, Option("m", "rows along y and columns along x")],
    *,
    size: Annotated[tuple[float, float], Option("m", "along x and y")],
    height: Annotated[float | None, Option("m", "of the white pixels of a picture; black is 0")] = None,
    center: Annotated[tuple[float, float], Option("m")] = (0.0, 0.0),
    friction: Friction = 0.7,
    static_friction: float | None = None,
) -> Form:
    """Bilinear interpolation of ``heights[row, column]`` (m), rows along y and columns along x.

    The table covers ``size`` = (x, y) metres from its first to its last entry, around ``center`` (m). Beyond it the
    heights of the edge continue. The gap is the distance to the nearest point of the surface, for points up to 0.25 m
    away; farther away, at kinks, and in hollows narrower than what touches them it is the distance to a tangent plane.

    ``heights`` may be a file: a table (.npy, .csv, .txt) in m, or a picture (.png, 8 or 16 bits) seen from above, whose
    white is ``height`` (m) and black 0.
    """
    if isinstance(heights, str | os.PathLike):
        heights = read_heights(Path(heights), height)
    elif height is not None:
        raise GroundError("height is for pictures (.png); a table of heights is in m already")
    table = height_table(heights)
    (sx, sy), (cx, cy) = pair("size", size), pair("center", center)
    if min(sx, sy) <= 0.0:
        raise GroundError(f"the size of a height field must be positive, got ({sx:g}, {sy:g}) m")
    options = (("size", (sx, sy)), ("center", (cx, cy)))
    return Form(Coefficients.of(friction, static_friction), options, table)


@kernel
def over_table(x, y, z, u, v, parameters, table):
    """Gap and normal of the point (x, y, z) to the plane that touches the surface over (u, v)."""
    dx, dy = parameters[2], parameters[3]
    last_row, last_column = table.shape[0] - 1, table.shape[1] - 1
    across = (u - parameters[0]) / dx
    along = (v - parameters[1]) / dy
    inside_x = 1.0 if 0.0 <= across <= last_column else 0.0
    inside_y = 1.0 if 0.0 <= along <= last_row else 0.0
    across = min(max(across, 0.0), float(last_column))
    along = min(max(along, 0.0), float(last_row))
    column = min(int(across), last_column - 1)
    row = min(int(along), last_row - 1)
    across -= column
    along -= row
    h00, h01 = table[row, column], table[row, column + 1]
    h10, h11 = table[row + 1, column], table[row + 1, column + 1]
    lower = h00 + across * (h01 - h00)
    upper = h10 + across * (h11 - h10)
    slope_x = inside_x * ((1.0 - along) * (h01 - h00) + along * (h11 - h10)) / dx
    slope_y = inside_y * (upper - lower) / dy
    height = lower + along * (upper - lower) + slope_x * (x - u) + slope_y * (y - v)
    return over_height(z - height, slope_x, slope_y)


def surface(x, y, z, parameters, table):
    """Bilinear interpolation of ``table`` (rows along y, columns along x, m), constant beyond its edges.

    ``parameters``: x and y of entry [0, 0], spacing of the columns and of the rows (m).
    """
    if x != x or y != y:  # or it would be taken for an index
        return x + y, 0.0, 0.0, 1.0
    u, v = x, y
    first = last = (0.0, 0.0, 0.0, 1.0)
    for i in range(PLANES):  # a plane touches the surface over (u, v), and the next where its foot is
        last = over_table(x, y, z, u, v, parameters, table)
        if i == 0:
            first = last
        if is_settled(last[0], last[1], last[2], x - u, y - v):
            return last
        if i < PLANES - 1:
            u, v = x - last[0] * last[1], y - last[0] * last[2]
    return last if is_near_enough(last[0], last[1], last[2], x - u, y - v) else first


def table_of(form: Form) -> Array:
    assert form.heights is not None
    return form.heights


def parameters(form: Form) -> tuple[float, ...]:
    (sx, sy), (cx, cy) = form.option("size"), form.option("center")
    rows, columns = table_of(form).shape
    return cx - sx / 2, cy - sy / 2, sx / (columns - 1), sy / (rows - 1)


def grid(form: Form, extent: float) -> Grid:
    (sx, sy), (cx, cy) = form.option("size"), form.option("center")
    rows, columns = table_of(form).shape
    x, y = np.meshgrid(np.linspace(-sx / 2, sx / 2, columns) + cx, np.linspace(-sy / 2, sy / 2, rows) + cy)
    return x, y, table_of(form)


HEIGHTFIELD = Kind(
    name="heightfield",
    make=heightfield,
    surface=surface,
    parameters=parameters,
    highest=lambda form: float(table_of(form).max()),
    grid=grid,
)
