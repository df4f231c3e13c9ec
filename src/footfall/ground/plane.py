"""Level ground."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from footfall.ground.friction import Coefficients, Friction
from footfall.ground.geometry import square
from footfall.ground.kind import Form, Kind, Option
from footfall.ground.numbers import number


def plane(
    friction: Friction = 0.7, *, static_friction: float | None = None, height: Annotated[float, Option("m")] = 0.0
) -> Form:
    """Level ground at z = ``height`` (m).

    ``friction`` is the dynamic coefficient, and the static one too unless ``static_friction`` says
    otherwise; a pair is (static, dynamic); a function ``f(x, y)`` or a :class:`FrictionTable` of either is
    asked under every contact point. So for every kind.
    """
    return Form(Coefficients.of(friction, static_friction), (("height", number("height", height)),))


def surface(x, y, z, parameters, table):
    """Level ground. ``parameters``: height (m)."""
    return z - parameters[0], 0.0, 0.0, 1.0


PLANE = Kind(
    name="plane",
    make=plane,
    surface=surface,
    parameters=lambda form: (form.option("height"),),
    highest=lambda form: form.option("height"),
    grid=lambda form, extent: (*square(extent), np.full((2, 2), form.option("height"))),
    geoms=lambda form, extent, add: add.plane(np.array([0.0, 0.0, 1.0]), form.option("height"), extent),
    flat=True,
)
