"""A table of heights, given or from a file: .npy, .csv or .txt in m, or a picture (.png) with the height of white.

The engine's table holds the heights with a border that repeats those at the edges, so that the ground beyond an edge is
an endless cell. The point of the surface nearest to a contact point is sought in all cells that may contain one, so the
global minimum is found.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.compiled import inlined, kernel
from footfall.errors import GroundError
from footfall.files.png import read_grey
from footfall.given_numbers import Finite, Positive
from footfall.ground.friction import Coefficients, Friction
from footfall.ground.geometry import LARGEST_TABLE, Array, Grid, height_table, pair
from footfall.ground.kind import Form, Kind, Option
from footfall.ground.surface import over_height
from footfall.kinds import Bool, Float, Int, Matrix, Vector

#: Indices of the surface's ``parameters``: x and y of the first height (m), spacing of columns and of rows (m), the
#: inverse of both (1/m), numbers of rows and of columns of cells, the highest height (m), and the distance up to which
#: the nearest point is global (m).
X, Y, WIDTH, DEPTH, PER_WIDTH, PER_DEPTH, ROWS, COLUMNS, HIGHEST, SURE = range(10)
#: Tolerance of Newton's method, m, and its iteration limit. The remaining error is about the square of a step times the
#: twist of the cell.
FOUND, STEPS = 1e-9, 12
#: Excess of the square of the distance to the place straight below, as a share: so that it is found on a ridge, too.
ROUNDING = 1e-9
#: Distance to an edge, m, below which the normal is that of the cell.
ON_THE_EDGE = 1e-9
#: Size of the cells beyond an edge, m.
ENDLESS = 1e9


class Query(NamedTuple):
    """A point, m, and its side of the surface: above (``up`` = 1) or below (-1)."""

    x: float
    y: float
    z: float
    up: float


@inlined
def in_cell(
    x: Float, y: Float, i: Int, j: Int, parameters: Vector, table: Matrix
) -> tuple[Float, Float, Float, Float, Float, Float]:
    """Position (x, y) from the corner of a cell (m), and a, b, c and t of its heights a + b x + c y + t x y."""
    width, depth = parameters[WIDTH], parameters[DEPTH]
    per_width, per_depth = parameters[PER_WIDTH], parameters[PER_DEPTH]
    a = table[i, j]
    b, c = (table[i, j + 1] - a) * per_width, (table[i + 1, j] - a) * per_depth
    t = ((table[i + 1, j + 1] - table[i + 1, j]) * per_width - b) * per_depth
    return x - parameters[X] - (j - 1) * width, y - parameters[Y] - (i - 1) * depth, a, b, c, t


class Patch(NamedTuple):
    """A point from the corner of a cell (m), the slopes and the twist of its heights, and the ends of the cell (m)."""

    x: float
    y: float
    z: float
    b: float  # slope along x, at y = 0
    c: float  # slope along y, at x = 0
    t: float  # twist, 1/m
    left: float
    right: float
    near: float
    far: float


@inlined
def place_at(patch: Patch, u: Float, v: Float) -> tuple[Float, Float, Float, Float, Float]:
    """Square of the distance (m2), gap and normal of the point at the place (u, v) of a cell."""
    slope_x, slope_y = patch.b + patch.t * v, patch.c + patch.t * u
    clearance = patch.z - patch.b * u - slope_y * v
    square = (patch.x - u) ** 2 + (patch.y - v) ** 2 + clearance * clearance
    over = clearance - slope_x * (patch.x - u) - slope_y * (patch.y - v)
    gap, nx, ny, nz = over_height(over, slope_x, slope_y)
    return square, gap, nx, ny, nz


@inlined
def on_edge(patch: Patch, edge: Int) -> tuple[Float, Float]:
    """The place nearest to the point on an edge of a cell, which is straight."""
    if edge < 2:
        u = patch.left if edge == 0 else patch.right
        slope = patch.c + patch.t * u
        v = (patch.y + slope * (patch.z - patch.b * u)) / (1.0 + slope * slope)
        return u, min(max(v, patch.near), patch.far)
    v = patch.near if edge == 2 else patch.far
    slope = patch.b + patch.t * v
    u = (patch.x + slope * (patch.z - patch.c * v)) / (1.0 + slope * slope)
    return min(max(u, patch.left), patch.right), v


@inlined
def foot_in_cell(patch: Patch) -> tuple[Float, Float, Bool]:
    """The foot (u, v) of the point in a cell, by Newton's method, and whether it is in the cell."""
    x, y, z, b, c, t, left, right, near, far = patch
    u, v, strayed, inside = min(max(x, left), right), min(max(y, near), far), False, False
    for _ in range(STEPS):
        slope_x, slope_y = b + t * v, c + t * u
        over = b * u + slope_y * v - z
        du, dv = x - u - over * slope_x, y - v - over * slope_y
        p, q, r = 1.0 + slope_x * slope_x, 1.0 + slope_y * slope_y, slope_x * slope_y + over * t
        if r * r > 0.9 * p * q:  # not convex here: leave curvature out
            r = slope_x * slope_y
        scale = 1.0 / (p * q - r * r)
        du, dv = (q * du - r * dv) * scale, (p * dv - r * du) * scale
        u, v = u + du, v + dv
        if u < left or u > right or v < near or v > far:
            inside = False
            if strayed:
                break
            u, v, strayed = min(max(u, left), right), min(max(v, near), far), True
        else:
            inside = True
            if abs(t) * (du * du + dv * dv) < FOUND:
                break
    return u, v, inside


@kernel
def nearest_in_cell(
    point: Query, i: Int, j: Int, parameters: Vector, table: Matrix
) -> tuple[Float, Float, Float, Float, Float]:
    """The nearest place of a cell (row i, column j) to a point: the square of its distance (m2), gap and normal."""
    rows, columns = int(parameters[ROWS]), int(parameters[COLUMNS])
    x, y, a, b, c, t = in_cell(point.x, point.y, i, j, parameters, table)
    z, width, depth = point.z - a, parameters[WIDTH], parameters[DEPTH]
    left, right = (0.0 if j > 0 else -ENDLESS), (width if j < columns - 1 else ENDLESS)
    near, far = (0.0 if i > 0 else -ENDLESS), (depth if i < rows - 1 else ENDLESS)
    patch = Patch(x, y, z, b, c, t, left, right, near, far)
    highest = max(abs(z), abs(z - b * width), abs(z - c * depth), abs(z - (b + t * depth) * width - c * depth))
    convex = 1.0 - abs(t) * highest  # a lower bound over the whole cell
    u, v, inside = foot_in_cell(patch)
    best, gap, nx, ny, nz = math.inf, 0.0, 0.0, 0.0, 1.0
    if inside:
        best, gap, nx, ny, nz = place_at(patch, u, v)
        if convex > 0.0:
            return best, gap, nx, ny, nz
    for edge in range(4):
        u, v = on_edge(patch, edge)
        other = place_at(patch, u, v)
        if other[0] < best:
            best, gap, nx, ny, nz = other
            if best > ON_THE_EDGE * ON_THE_EDGE:
                gap = point.up * math.sqrt(best)
                clearance = z - b * u - (c + t * u) * v
                nx, ny, nz = (x - u) / gap, (y - v) / gap, clearance / gap
    return best, gap, nx, ny, nz


@inlined
def away(x: Float, lowest: Float, spacing: Float, cell: Int, count: Int) -> Float:
    """Distance (m) of x from a cell, of ``count``; the first and last are endless."""
    if cell > 0 and x < lowest + (cell - 1) * spacing:
        return lowest + (cell - 1) * spacing - x
    if cell < count - 1 and x > lowest + cell * spacing:
        return x - lowest - cell * spacing
    return 0.0


@inlined
def can_be_nearer(point: Query, i: Int, j: Int, limit: Float, parameters: Vector, table: Matrix) -> Bool:
    """Whether a cell may contain a place nearer than the square root of ``limit`` (m2)."""
    ax = away(point.x, parameters[X], parameters[WIDTH], j, int(parameters[COLUMNS]))
    ay = away(point.y, parameters[Y], parameters[DEPTH], i, int(parameters[ROWS]))
    limit -= ax * ax + ay * ay
    if limit <= 0.0:
        return False
    one, two, three, four = table[i, j], table[i, j + 1], table[i + 1, j], table[i + 1, j + 1]
    above = point.z - max(max(one, two), max(three, four))
    below = min(min(one, two), min(three, four)) - point.z
    az = max(0.0, above if point.up > 0.0 else below)
    return az * az < limit


@inlined
def cell_of(across: Float, count: Int) -> Int:
    """Index of the cell, of ``count``, at a distance ``across`` in cells; the last edge belongs to the cell before
    it.
    """
    across = min(max(across, 0.0), float(count))
    return min(int(across), count - 2 if across <= count - 1.0 else count - 1)


@inlined
def column_of(x: Float, parameters: Vector) -> Int:
    """The column of cells over x (m)."""
    return cell_of((x - parameters[X]) * parameters[PER_WIDTH] + 1.0, int(parameters[COLUMNS]))


@inlined
def row_of(y: Float, parameters: Vector) -> Int:
    """The row of cells over y (m)."""
    return cell_of((y - parameters[Y]) * parameters[PER_DEPTH] + 1.0, int(parameters[ROWS]))


@kernel
def nearest_place(
    point: Query, limit: Float, parameters: Vector, table: Matrix
) -> tuple[Float, Float, Float, Float, Float]:
    """The nearest place in all cells, if it is nearer than the square root of ``limit`` (m2)."""
    found = (limit, 0.0, 0.0, 0.0, 1.0)
    over = max(0.0, point.z - parameters[HIGHEST])
    reach = math.sqrt(max(0.0, limit - over * over))
    for i in range(row_of(point.y - reach, parameters), row_of(point.y + reach, parameters) + 1):
        for j in range(column_of(point.x - reach, parameters), column_of(point.x + reach, parameters) + 1):
            if can_be_nearer(point, i, j, found[0], parameters, table):
                other = nearest_in_cell(point, i, j, parameters, table)
                if other[0] < found[0]:
                    found = other
    return found


def surface(x: Float, y: Float, z: Float, parameters: Vector, table: Matrix) -> tuple[Float, Float, Float, Float]:
    """Gap and normal of a point: to the nearest place of a height field or, from afar, to the tangent plane below
    it.
    """
    if x != x or y != y or z != z:  # NaN has no index
        return x + y + z, 0.0, 0.0, 1.0
    reach, i, j = parameters[SURE], row_of(y, parameters), column_of(x, parameters)
    u, v, a, b, c, t = in_cell(x, y, i, j, parameters, table)
    slope_x, slope_y = b + t * v, c + t * u
    clearance = z - a - b * u - slope_y * v
    under = over_height(clearance, slope_x, slope_y)
    if z > parameters[HIGHEST] + reach:
        return under
    limit = min((1.0 + ROUNDING) * clearance * clearance, reach * reach)
    square, gap, nx, ny, nz = nearest_place(Query(x, y, z, 1.0 if clearance >= 0.0 else -1.0), limit, parameters, table)
    return (gap, nx, ny, nz) if square < limit else under


def read_heights(path: Path, height: float | None) -> np.ndarray:
    """(rows along y, columns along x) m; a picture is seen from above, its top row at the largest y."""
    path = path.expanduser()
    picture = path.suffix.lower() == ".png"
    if picture and height is None:
        raise GroundError(f"'{path}' is a picture: give height, the m of its white pixels (black is 0)")
    if height is not None and not picture:
        raise GroundError(f"height is for pictures (.png); the numbers in '{path}' are heights in m already")
    try:
        if picture:
            return read_grey(path, LARGEST_TABLE)[::-1] * height
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
    size: Annotated[tuple[Positive, Positive], Option("m", "along x and y")],
    height: Annotated[Finite | None, Option("m", "of the white pixels of a picture; black is 0")] = None,
    center: Annotated[tuple[Finite, Finite], Option("m")] = (0.0, 0.0),
    friction: Friction = 0.7,
    static_friction: float | None = None,
) -> Form:
    """Bilinear interpolation of ``heights[row, column]`` (m), rows along y and columns along x.

    The table covers ``size`` = (x, y) metres from its first to its last entry, around ``center`` (m). Beyond it the
    heights of the edge continue. The gap is the distance to the nearest point of the surface, for points up to 0.25 m
    away and balls of any radius that touch; farther away it is the distance to the tangent plane under the point.

    ``heights`` may be a file: a table (.npy, .csv, .txt) in m, or a picture (.png, by Pillow) seen from above, whose
    white is ``height`` (m) and black 0.
    """
    if isinstance(heights, str | os.PathLike):
        heights = read_heights(Path(heights), height)
    elif height is not None:
        raise GroundError("height is for pictures (.png); a table of heights is in m already")
    table = height_table(heights)
    options = (("size", pair(size)), ("center", pair(center)))
    return Form(Coefficients.of(friction, static_friction), options, table)


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
    table=lambda form: np.pad(table_of(form), 1, mode="edge"),
    seeks=True,
    highest=lambda form: float(table_of(form).max()),
    grid=grid,
)
