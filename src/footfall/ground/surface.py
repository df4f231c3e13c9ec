"""The gap between a point and the ground: one small compiled function per kind of ground.

All surfaces have the same signature, so that one compiled engine serves them all:

    surface(x, y, z, parameters, table) -> (gap, nx, ny, nz)

``x, y, z`` is a point in the world frame (m, z up), ``gap`` its signed distance to the surface (m, negative inside the
ground) and ``n`` the unit normal that points out of the ground. The surfaces are plain Python: they are compiled to
function pointers, can be run in a debugger, and use only what a GPU thread supports. A NaN in a coordinate that matters
gives a NaN gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from footfall.compiled import function_pointer, kernel
from footfall.ground.geometry import Array
from footfall.kinds import Float, Function, Matrix, Vector

SURFACE_SIGNATURE = types.UniTuple(types.float64, 4)(
    types.float64, types.float64, types.float64, types.float64[::1], types.float64[:, ::1]
)

#: Gap to the tangent plane below a point, m, beyond which that gap is used, unless a larger reach was asked for.
REACH = 0.25
NEARLY_ALONG_X = 0.9  # |nx| beyond which the first tangent is world y instead of x, projected

#: Height above any ground, m, from which heights are found.
FAR_ABOVE = 1e4


@kernel
def over_height(clearance: Float, slope_x: Float, slope_y: Float) -> tuple[Float, Float, Float, Float]:
    """Gap and normal of a point ``clearance`` (m) straight above a surface of the given gradient.

    The gap is the distance to the tangent plane under the point: exact on planes, first order elsewhere.
    """
    nz = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    return clearance * nz, -slope_x * nz, -slope_y * nz, nz


@cache
def pointer(surface: Callable[..., Any]) -> Any:
    """A compiled surface, as an argument for compiled loops."""
    return function_pointer(SURFACE_SIGNATURE, surface)


@kernel
def tangent_frame(nx: Float, ny: Float, nz: Float, out: Matrix) -> None:
    """Write the contact frame of a unit normal to ``out`` (3, 3): rows tangent 1, tangent 2, normal (world).

    Tangent 1 is world x projected onto the tangent plane, or world y if the normal is nearly along x; tangent 2 is
    normal x tangent 1. On level ground the frame is the world's.
    """
    tx, ty, tz = 1.0 - nx * nx, -nx * ny, -nx * nz
    if abs(nx) > NEARLY_ALONG_X:
        tx, ty, tz = -ny * nx, 1.0 - ny * ny, -ny * nz
    scale = 1.0 / math.sqrt(tx * tx + ty * ty + tz * tz)
    tx, ty, tz = tx * scale, ty * scale, tz * scale
    out[0, 0], out[0, 1], out[0, 2] = tx, ty, tz
    out[1, 0], out[1, 1], out[1, 2] = ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx
    out[2, 0], out[2, 1], out[2, 2] = nx, ny, nz


@kernel
def gaps(surface: Function, parameters: Vector, table: Matrix, points: Matrix, gap: Vector, normal: Matrix) -> None:
    """Fill ``gap`` (N,) and ``normal`` (N, 3) for ``points`` (N, 3)."""
    for i in range(points.shape[0]):
        gap[i], normal[i, 0], normal[i, 1], normal[i, 2] = surface(
            points[i, 0], points[i, 1], points[i, 2], parameters, table
        )


def gaps_at(compiled: tuple[Any, Array, Array], points: Array) -> tuple[Array, Array]:
    """Gaps (...) in m and unit normals (..., 3) at ``points`` (..., 3), contiguous, of a compiled surface."""
    gap, normal = np.empty(points.shape[:-1]), np.empty(points.shape)
    gaps(*compiled, points.reshape(-1, 3), gap.reshape(-1), normal.reshape(-1, 3))
    return gap, normal


def heights_at(compiled: tuple[Any, Array, Array], x: Array, y: Array) -> Array:
    """Heights (m) of a surface at ``x``, ``y`` (m, of one shape).

    From far above, the gap is that to the tangent plane below; a second pass from there removes rounding errors.
    """
    height = np.full(np.shape(x), FAR_ABOVE)
    for _ in range(2):
        gap, normal = gaps_at(compiled, np.stack([x, y, height], axis=-1))
        height = height - gap / normal[..., 2] + 0.0  # no -0.0
    return height
