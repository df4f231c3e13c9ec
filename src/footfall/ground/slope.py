"""A plane that rises."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from footfall.errors import GroundError
from footfall.ground.friction import Coefficients, Friction
from footfall.ground.geometry import Grid, square
from footfall.ground.kind import Form, Kind, Option
from footfall.ground.numbers import number
from footfall.ground.surface import heights_at, pointer


def slope(
    angle: Annotated[float, Option("rad", "how steeply it rises")],
    *,
    heading: Annotated[float, Option("rad", "the way up, from the x axis")] = 0.0,
    friction: Friction = 0.7,
    static_friction: float | None = None,
) -> Form:
    """A plane through the origin that rises by ``angle`` (rad) along ``heading`` (rad, in xy, from x)."""
    angle, heading = number("angle", angle), number("heading", heading)
    if abs(angle) >= math.pi / 2:
        raise GroundError(
            f"a slope of {angle:g} rad is a wall or an overhang: |angle| must be below pi/2 radians"
            + (f" (did you mean math.radians({angle:g})?)" if abs(angle) < 90.0 else "")
        )
    return Form(Coefficients.of(friction, static_friction), (("angle", angle), ("heading", heading)))


def surface(x, y, z, parameters, table):
    """A tilted plane through the origin. ``parameters``: its unit normal."""
    nx, ny, nz = parameters[0], parameters[1], parameters[2]
    return nx * x + ny * y + nz * z, nx, ny, nz


def normal(form: Form) -> tuple[float, float, float]:
    """The unit normal that points out of the ground."""
    angle, heading = form.option("angle"), form.option("heading")
    return -math.sin(angle) * math.cos(heading), -math.sin(angle) * math.sin(heading), math.cos(angle)


def grid(form: Form, extent: float) -> Grid:
    x, y = square(extent)
    return x, y, heights_at((pointer(surface), np.array(normal(form)), np.zeros((1, 1))), x, y)


SLOPE = Kind(
    name="slope",
    make=slope,
    surface=surface,
    parameters=normal,
    highest=lambda form: 0.0 if form.option("angle") == 0.0 else math.inf,
    grid=grid,
    geoms=lambda form, extent, add: add.plane(np.array(normal(form)), 0.0, extent),
    flat=True,
)
