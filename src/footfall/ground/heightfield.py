"""A table of heights, given or from a file: .npy, .csv or .txt in m, or a picture (.png) with the height of white."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.errors import GroundError
from footfall.files.png import read_grey
from footfall.ground.cells import nearest_place, with_tree
from footfall.ground.friction import Coefficients, Friction
from footfall.ground.geometry import LARGEST_TABLE, Array, Grid, height_table, number, pair
from footfall.ground.kind import Form, Kind, Option

PICTURES = (".png",)


def read_heights(path: Path, height: float | None) -> np.ndarray:
    """(rows along y, columns along x) m; a picture is seen from above, its top row at the largest y."""
    path = path.expanduser()
    picture = path.suffix.lower() in PICTURES
    if picture and height is None:
        raise GroundError(f"'{path}' is a picture: give height, the m of its white pixels (black is 0)")
    if height is not None and not picture:
        raise GroundError(f"height is for pictures (.png); the numbers in '{path}' are heights in m already")
    try:
        if picture:
            return read_grey(path, LARGEST_TABLE)[::-1] * number("height", height)
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter="," if path.suffix.lower() == ".csv" else None, ndmin=2)
    except (OSError, ValueError) as error:
        raise GroundError(f"cannot read heights from '{path}': {getattr(error, 'strerror', None) or error}") from error


Heights = ArrayLike | os.PathLike[str]


@public
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
    away and balls of any radius that touch; farther away it is the distance to the tangent plane under the point.

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


def surface(x, y, z, parameters, table):
    """Bilinear interpolation of a table of heights, constant beyond its edges; see ``cells`` for both arguments."""
    return nearest_place(x, y, z, parameters, table)


def table_of(form: Form) -> Array:
    assert form.heights is not None
    return form.heights


def parameters(form: Form) -> tuple[float, ...]:
    heights = table_of(form)
    (sx, sy), (cx, cy) = form.option("size"), form.option("center")
    rows, columns = heights.shape
    spacing = sx / (columns - 1), sy / (rows - 1)
    return (
        cx - sx / 2,
        cy - sy / 2,
        *spacing,
        1.0 / spacing[0],
        1.0 / spacing[1],
        rows + 1.0,
        columns + 1.0,
        float(heights.max()),
    )


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
    table=lambda form: with_tree(table_of(form)),
    seeks=True,
    highest=lambda form: float(table_of(form).max()),
    grid=grid,
)
