"""The point of a height field that is nearest to a given point.

The engine's table has the heights with a border that repeats those at the edges, so that the ground beyond an edge is
an endless cell, too; then, row by row, the highest and lowest heights of blocks of 4 x 4 cells, of 4 x 4 such blocks,
and so on. Blocks and cells that cannot be nearer than the best place so far are skipped (branch and bound), so the
place is the nearest of all, at a cost that hardly grows as cells become smaller than what touches them.

``parameters``: x and y of the first height, spacing of columns and of rows (m) and the inverse of both (1/m), numbers
of rows and of columns of cells, the highest height (m), and up to which distance the place is the nearest of all (m).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from footfall.compiled import inlined, kernel
from footfall.ground.surface import REACH, over_height

#: Tolerance of Newton's method, m: the square of its step times the twist of the cell, which estimates the remaining
#: error; and its most steps.
FOUND, STEPS = 1e-9, 12
#: The place straight under a point is the nearest if its tangent plane moves it by less than this, m.
UNDER = 1e-7
#: Most cells through which tangent planes are followed.
WALK = 6
#: Nearer than this, m, the direction to an edge is that of the cell's normal.
ON_THE_EDGE = 1e-9
#: Cells and blocks that are looked at first, along each side, at most; and cells within which a place is sought at all.
ACROSS, MOST_CELLS = 6, 512
#: How often they are made fewer by the heights of blocks around before that, unless they are fewer along each side.
SHRINK, FEW = 2, 3
#: Beyond every edge, m.
ENDLESS = 1e9
#: Blocks are 4 x 4.
FOUR = 2

Array = NDArray[np.float64]


def with_tree(heights: Array) -> Array:
    """The table for the engine: heights with a border, and the highest and lowest of ever larger blocks."""
    padded = np.pad(heights, 1, mode="edge")
    corners = [padded[i : i + padded.shape[0] - 1, j : j + padded.shape[1] - 1] for i in (0, 1) for j in (0, 1)]
    high, low = np.maximum.reduce(corners), np.minimum.reduce(corners)
    rows = [padded]
    while max(high.shape) > 1:
        high, low = _blocks(high, np.maximum), _blocks(low, np.minimum)
        level = np.zeros((len(high), padded.shape[1]))
        level[:, : high.shape[1]], level[:, high.shape[1] : 2 * high.shape[1]] = high, low
        rows.append(level)
    return np.ascontiguousarray(np.concatenate(rows))


def _blocks(values: Array, most: np.ufunc) -> Array:
    side = 1 << FOUR
    for axis in (0, 1):
        values = most.reduceat(values, np.arange(0, values.shape[axis], side), axis=axis)
    return values


@inlined
def in_cell(x, y, i, j, parameters, table):
    """X and y from the corner of a cell (m), and the a, b, c and t of its heights a + b x + c y + t x y."""
    width, depth, per_width, per_depth = parameters[2], parameters[3], parameters[4], parameters[5]
    a = table[i, j]
    b, c = (table[i, j + 1] - a) * per_width, (table[i + 1, j] - a) * per_depth
    t = ((table[i + 1, j + 1] - table[i + 1, j]) * per_width - b) * per_depth
    return x - parameters[0] - (j - 1) * width, y - parameters[1] - (i - 1) * depth, a, b, c, t


@kernel
def nearest_in_cell(x, y, z, up, i, j, limit, parameters, table):
    """The place of a cell (row i, column j) that is nearest to a point above the ground (``up`` = 1) or in it (-1).

    Gives the square of its distance (m2), gap and normal; a larger square than ``limit`` (m2) is infinite. Inside the
    cell the place is found by Newton's method; along an edge, which is straight, it is known.
    """
    rows, columns = int(parameters[6]), int(parameters[7])
    x, y, a, b, c, t = in_cell(x, y, i, j, parameters, table)
    z, width, depth = z - a, parameters[2], parameters[3]
    left, right = (0.0 if j > 0 else -ENDLESS), (width if j < columns - 1 else ENDLESS)
    near, far = (0.0 if i > 0 else -ENDLESS), (depth if i < rows - 1 else ENDLESS)
    highest = max(abs(z), abs(z - b * width), abs(z - c * depth), abs(z - (b + t * depth) * width - c * depth))
    convex = 1.0 - abs(t) * highest  # at least that, over the whole cell
    u, v, strayed, inside = min(max(x, left), right), min(max(y, near), far), False, False
    for k in range(STEPS):
        slope_x, slope_y = b + t * v, c + t * u
        over = b * u + slope_y * v - z
        du, dv = x - u - over * slope_x, y - v - over * slope_y
        if k == 0 and convex > 0.0:
            along_x = 0.0 if (u == left and du < 0.0) or (u == right and du > 0.0) else du
            along_y = 0.0 if (v == near and dv < 0.0) or (v == far and dv > 0.0) else dv
            square = (x - u) ** 2 + (y - v) ** 2 + over * over
            if (square - limit) * convex > along_x * along_x + along_y * along_y:
                return math.inf, 0.0, 0.0, 0.0, 1.0
        p, q, r = 1.0 + slope_x * slope_x, 1.0 + slope_y * slope_y, slope_x * slope_y + over * t
        if r * r > 0.9 * p * q:  # not convex here: the plane alone
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
    best, gap, nx, ny, nz = math.inf, 0.0, 0.0, 0.0, 1.0
    if inside:
        slope_x, slope_y = b + t * v, c + t * u
        clearance = z - b * u - slope_y * v
        best = (x - u) ** 2 + (y - v) ** 2 + clearance * clearance
        gap, nx, ny, nz = over_height(clearance - slope_x * (x - u) - slope_y * (y - v), slope_x, slope_y)
        if convex > 0.0:
            return best, gap, nx, ny, nz
    for edge in range(4):
        if edge < 2:
            u = left if edge == 0 else right
            slope = c + t * u
            v = min(max((y + slope * (z - b * u)) / (1.0 + slope * slope), near), far)
        else:
            v = near if edge == 2 else far
            slope = b + t * v
            u = min(max((x + slope * (z - c * v)) / (1.0 + slope * slope), left), right)
        slope_x, slope_y = b + t * v, c + t * u
        clearance = z - b * u - slope_y * v
        square = (x - u) ** 2 + (y - v) ** 2 + clearance * clearance
        if square < best:
            best = square
            gap, nx, ny, nz = over_height(clearance - slope_x * (x - u) - slope_y * (y - v), slope_x, slope_y)
            if square > ON_THE_EDGE * ON_THE_EDGE:
                gap = up * math.sqrt(square)
                nx, ny, nz = (x - u) / gap, (y - v) / gap, clearance / gap
    return best, gap, nx, ny, nz


@inlined
def away(x, lowest, spacing, first, last, count):
    """How far (m) a coordinate is from cells ``first`` to ``last`` (exclusive) of ``count``, the outer without end."""
    if first > 0 and x < lowest + (first - 1) * spacing:
        return lowest + (first - 1) * spacing - x
    if last < count and x > lowest + (last - 1) * spacing:
        return x - lowest - (last - 1) * spacing
    return 0.0


@inlined
def extreme(up, level, i, j, parameters, table):
    """The highest (``up`` = 1) or lowest (-1) height of a block; level 0: of a cell."""
    if level == 0:
        one, two, three, four = table[i, j], table[i, j + 1], table[i + 1, j], table[i + 1, j + 1]
        return max(max(one, two), max(three, four)) if up > 0.0 else min(min(one, two), min(three, four))
    rows, columns = int(parameters[6]), int(parameters[7])
    row = rows + 1 + i
    for k in range(1, level):
        row += blocks(rows, k)
    return table[row, j if up > 0.0 else j + blocks(columns, level)]


@inlined
def can_be_nearer(x, y, z, up, level, i, j, limit, parameters, table):
    """Whether a block may have a place nearer than ``limit`` (m2, squared)."""
    rows, columns = int(parameters[6]), int(parameters[7])
    shift = FOUR * level
    ax = away(x, parameters[0], parameters[2], j << shift, (j + 1) << shift, columns)
    ay = away(y, parameters[1], parameters[3], i << shift, (i + 1) << shift, rows)
    limit -= ax * ax + ay * ay
    if limit <= 0.0:
        return False
    az = max(0.0, up * (z - extreme(up, level, i, j, parameters, table)))
    return az * az < limit


@inlined
def blocks(count, level):
    """The number of blocks of so many cells."""
    return (count + (1 << FOUR * level) - 1) >> FOUR * level


@inlined
def cell_of(across, count):
    """The number of a cell so many cells ``across``, of ``count``; the last edge belongs to the cell before it."""
    across = min(max(across, 0.0), float(count))
    return min(int(across), count - 2 if across <= count - 1.0 else count - 1)


@inlined
def column_of(x, parameters):
    """The column of cells over x (m)."""
    return cell_of((x - parameters[0]) * parameters[4] + 1.0, int(parameters[7]))


@inlined
def row_of(y, parameters):
    """The row of cells over y (m)."""
    return cell_of((y - parameters[1]) * parameters[5] + 1.0, int(parameters[6]))


@kernel
def nearest_elsewhere(x, y, z, up, limit, known_i, known_j, parameters, table):
    """The nearest place of cells, but for one that is known, that may have one nearer than ``limit`` (m2)."""
    rows, columns = int(parameters[6]), int(parameters[7])
    found = (limit, 0.0, 0.0, 0.0, 1.0)
    i = j = last_i = last_j = top = 0
    within, widest = limit, 1
    for turn in range(SHRINK + 1):
        if within <= 0.0:
            return found
        reach, top = math.sqrt(within), 0
        j, last_j = column_of(x - reach, parameters), column_of(x + reach, parameters)
        i, last_i = row_of(y - reach, parameters), row_of(y + reach, parameters)
        few = max(last_i - i, last_j - j) < FEW
        if few or turn == SHRINK:
            widest = ACROSS - 1
        while max(last_i - i, last_j - j) > widest:
            i, j, last_i, last_j, top = i >> FOUR, j >> FOUR, last_i >> FOUR, last_j >> FOUR, top + 1
        if few:
            break
        if turn < SHRINK:  # no height within reach is beyond those of the few blocks around: what they reach is less
            most = -math.inf
            for k in range(i, last_i + 1):
                for m in range(j, last_j + 1):
                    most = max(most, up * extreme(up, top, k, m, parameters, table))
            within = limit - max(0.0, up * z - most) ** 2
    sought, first_j, block = 0, j, (1 << FOUR) - 1
    level = top
    while True:
        known = level == 0 and i == known_i and j == known_j
        if not known and can_be_nearer(x, y, z, up, level, i, j, found[0], parameters, table):
            if level > 0:
                i, j, level = i << FOUR, j << FOUR, level - 1
                continue
            other = nearest_in_cell(x, y, z, up, i, j, found[0], parameters, table)
            if other[0] < found[0]:
                found = other
            sought += 1
            if sought == MOST_CELLS:
                return found
        while True:  # the next block or cell beside this one, or beside the block that it is in
            if level == top:
                j += 1
                if j > last_j:
                    i, j = i + 1, first_j
                if i > last_i:
                    return found
                break
            j += 1
            if j & block and j < blocks(columns, level):
                break
            j = (j - 1) & ~block
            i += 1
            if i & block and i < blocks(rows, level):
                break
            i, j, level = (i - 1) >> FOUR, j >> FOUR, level + 1


@kernel
def nearest_place(x, y, z, parameters, table):
    """Gap and normal of a point: to the nearest place of a height field, or from afar to the plane under the point."""
    if x != x or y != y or z != z:  # or it would be taken for an index
        return x + y + z, 0.0, 0.0, 1.0
    rows, columns, reach = int(parameters[6]), int(parameters[7]), parameters[9]
    i, j = row_of(y, parameters), column_of(x, parameters)
    u, v, a, b, c, t = in_cell(x, y, i, j, parameters, table)
    slope_x, slope_y = b + t * v, c + t * u
    clearance = z - a - b * u - slope_y * v
    under = over_height(clearance, slope_x, slope_y)
    low, far = z <= parameters[8] + reach, not abs(under[0]) < max(reach, REACH)
    if far and not low:
        return under
    inner_x = min(u if j > 0 else ENDLESS, parameters[2] - u if j < columns - 1 else ENDLESS)
    inner_y = min(v if i > 0 else ENDLESS, parameters[3] - v if i < rows - 1 else ENDLESS)
    border = max(0.0, min(inner_x, inner_y))
    beside = under[0] * under[0] * (1.0 - under[3] * under[3])
    up = 1.0 if clearance >= 0.0 else -1.0
    limit, place, known_i, known_j = math.inf, under, -1, -1
    if beside < UNDER * UNDER:
        limit = clearance * clearance
    elif not far:
        plane, to_x, to_y, from_x, from_y, rest, same = under, x, y, x, y, clearance, False
        for _ in range(WALK):  # to the cell where a plane that touches in it has the foot of the point
            known_i, known_j, from_x, from_y = i, j, to_x, to_y
            to_x, to_y = x - plane[0] * plane[1], y - plane[0] * plane[2]
            i, j = row_of(to_y, parameters), column_of(to_x, parameters)
            same = i == known_i and j == known_j
            u, v, a, b, c, t = in_cell(to_x, to_y, i, j, parameters, table)
            slope_x, slope_y = b + t * v, c + t * u
            rest = z - a - b * u - slope_y * v
            plane = over_height(rest - slope_x * (x - to_x) - slope_y * (y - to_y), slope_x, slope_y)
            if same:
                break
        known_i, known_j, place = -1, -1, plane
        if abs(plane[0]) < reach:
            known_i, known_j = i, j
            moved = (to_x - from_x) ** 2 + (to_y - from_y) ** 2
            if same and abs(t) * moved < FOUND:
                limit = (x - to_x) ** 2 + (y - to_y) ** 2 + rest * rest
            else:
                limit, gap, nx, ny, nz = nearest_in_cell(x, y, z, up, i, j, math.inf, parameters, table)
                place = (gap, nx, ny, nz)
    if limit <= border * border or not low:
        return place
    limit = min(limit, reach * reach)
    other = nearest_elsewhere(x, y, z, up, limit, known_i, known_j, parameters, table)
    return (other[1], other[2], other[3], other[4]) if other[0] < limit else place
