"""Heights given as a Python function of x and y."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import GroundError
from footfall.ground.friction import Coefficients, Friction
from footfall.ground.geometry import EXTENT, SAMPLE_SPACING, Array, Grid, packed, square
from footfall.ground.kind import Form, Kind
from footfall.ground.place_function import PlaceFunction, compile_place
from footfall.ground.surface import heights_at


@public
def function(
    f: Callable[[float, float], float], *, friction: Friction = 0.7, static_friction: float | None = None
) -> Form:
    """The surface z = ``f(x, y)`` (m), where ``f`` is a Python function that Numba can compile.

    It is compiled here, with the globals it uses frozen; its gradient is taken by central differences of 1e-5 m, so it
    should be continuous. The gap is the distance to the nearest point of the surface, by a local search from below the
    point, for points up to 0.25 m away and balls of any radius that touch; farther away it is the distance to the
    tangent plane below the point. Where ``f`` returns NaN there is no ground, and a run that gets there stops.
    """
    form = Form(Coefficients.of(friction, static_friction), height_function=compile_place(f, "height"))
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(-1.0, 1.0, 5), np.linspace(-1.0, 1.0, 5)))
    z = _heights(form, x, y)
    if not np.isfinite(z).all():
        i = int(np.argmin(np.isfinite(z)))
        raise GroundError(
            f"the height function '{f.__name__}' returns {z[i]:g} at ({x[i]:g}, {y[i]:g}) m; "
            f"{_function_of(form).fault(x[i], y[i]) or 'it must be finite at least within 1 m of the origin'}"
        )
    return form


def _function_of(form: Form) -> PlaceFunction:
    assert form.height_function is not None
    return form.height_function


def _heights(form: Form, x: Array, y: Array) -> Array:
    return heights_at((_function_of(form).pointer, np.zeros(1), np.zeros((1, 1))), x, y)


def grid(form: Form, extent: float) -> Grid:
    x, y = square(extent, round(extent / SAMPLE_SPACING) + 1)
    return x, y, _heights(form, x, y)


def describe(form: Form) -> dict[str, Any]:
    """The source text, to be read by people, and a table of 20 x 20 m around the origin."""
    rounded = grid(form, EXTENT)[2].astype(np.float32).astype(np.float64)  # packs to half; exact to 1e-7
    return {"source": _function_of(form).source, "size": [EXTENT, EXTENT], "heights": packed(rounded)}


def restore(data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A function comes back as the height field that was sampled from it."""
    source = data.get("source") or "source unknown"
    description = data.get("description") or f"sampled every {SAMPLE_SPACING:g} m from a function: {source}"
    kept = {name: value for name, value in data.items() if name != "source"}
    return "heightfield", kept | {"description": description}


FUNCTION = Kind(
    name="function",
    make=function,
    surface=None,
    seeks=True,
    highest=lambda form: math.inf,
    grid=grid,
    describe=describe,
    restore=restore,
)
