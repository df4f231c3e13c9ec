"""A kind of ground: how its options are checked, and its surface in every form.

A new kind is a file beside this one that makes a :class:`Kind`, and one line in :class:`footfall.Ground`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NamedTuple, ParamSpec, get_args, get_origin, get_type_hints

import mujoco
import numpy as np

from footfall.ground.friction import Coefficients
from footfall.ground.geometry import Array, Geoms, Grid, packed
from footfall.ground.place_function import PlaceFunction

Given = ParamSpec("Given")


class Option(NamedTuple):
    """Annotation of an option: its unit, and its meaning if the name is not enough."""

    unit: str
    about: str = ""


class Form(NamedTuple):
    """The checked arguments of a kind's constructor."""

    friction: Coefficients
    options: tuple[tuple[str, Any], ...] = ()
    heights: Array | None = None  # (rows along y, columns along x) m
    height_function: PlaceFunction | None = None

    def option(self, name: str) -> Any:
        """The value of an option, by name."""
        return dict(self.options)[name]


def described(form: Form) -> dict[str, Any]:
    """The options and the height table as values for JSON."""
    data = {name: list(value) if isinstance(value, tuple) else value for name, value in form.options}
    return data if form.heights is None else data | {"heights": packed(form.heights)}


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[Given]):
    """A kind of ground."""

    name: str
    #: The constructor that users call as ``Ground.<name>``: it checks its options.
    make: Callable[Given, Form]
    #: The surface, see :mod:`footfall.ground.surface`; None if the form has its own.
    surface: Callable[..., Any] | None
    #: The numbers that the surface takes.
    parameters: Callable[[Form], tuple[float, ...]] = lambda form: (0.0,)
    #: The table that the surface takes.
    table: Callable[[Form], Array] = lambda form: np.zeros((1, 1))
    #: Whether the ground appends a last parameter: the distance up to which the nearest point is global, m.
    seeks: bool = False
    #: An upper bound of the surface's height (m), ``inf`` if none is known.
    highest: Callable[[Form], float]
    #: The surface as x, y, z (rows, columns): its own table, or a square of a given side (m).
    grid: Callable[[Form, float], Grid]
    #: The surface as MuJoCo's geoms; None for a height field of the grid.
    geoms: Callable[[Form, float, Geoms], list[mujoco.MjsGeom]] | None = None
    #: Heights (m) from the parameters, x and y; None to compute them from the gap.
    height: Callable[[Array, Array, Array], Array] | None = None
    #: Whether it is one plane, level or sloped.
    flat: bool = False
    #: Its description besides friction; and the kind and options that a description is read as.
    describe: Callable[[Form], dict[str, Any]] = described
    restore: Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]] | None = None

    def options(self) -> dict[str, tuple[Any, Option]]:
        """The type and the :class:`Option` of every annotated option."""
        hints, types = get_type_hints(self.make, include_extras=True), get_type_hints(self.make)
        return {
            name: (types[name], get_args(hint)[-1]) for name, hint in hints.items() if get_origin(hint) is Annotated
        }
