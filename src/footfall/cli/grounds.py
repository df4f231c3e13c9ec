"""Grounds as options of the command line: one dataclass per kind, ``make()`` gives the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from footfall.cli.usage import UsageError

if TYPE_CHECKING:
    import numpy as np

    from footfall.ground import Ground


def _angle(text: str) -> float:
    degrees = text.removesuffix("deg")
    value = float(degrees)
    return value if degrees == text else math.radians(value)


#: An angle in rad, or in degrees when written so: ``0.2``, ``10deg``.
Angle = Annotated[
    float,
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="RAD|DEGdeg",
        instance_from_str=lambda args: _angle(args[0]),
        is_instance=lambda value: isinstance(value, float | int),
        str_from_instance=lambda value: [f"{value:g}"],
    ),
]


@dataclass(frozen=True, kw_only=True)
class _Friction:
    friction: float = 0.7
    """dynamic friction coefficient, and the static one too unless that is given"""
    static_friction: float | None = None
    """static friction coefficient"""


@dataclass(frozen=True, kw_only=True)
class Plane(_Friction):
    height: float = 0.0
    """m"""

    def make(self) -> Ground:
        from footfall.ground import Ground

        return Ground.plane(self.friction, static_friction=self.static_friction, height=self.height)


@dataclass(frozen=True, kw_only=True)
class Slope(_Friction):
    angle: Angle
    """how steeply it rises: rad, or degrees as in 10deg"""
    heading: Angle = 0.0
    """the way up, from the x axis"""

    def make(self) -> Ground:
        from footfall.ground import Ground

        friction, static = self.friction, self.static_friction
        return Ground.slope(self.angle, heading=self.heading, friction=friction, static_friction=static)


@dataclass(frozen=True, kw_only=True)
class Stairs(_Friction):
    rise: float = 0.15
    """m, negative goes down"""
    run: float = 0.3
    """m"""
    count: int = 5
    """number of steps"""
    start: float = 0.3
    """m, where the first riser stands"""
    heading: Angle = 0.0
    """the way up, from the x axis"""

    def make(self) -> Ground:
        from footfall.ground import Ground

        return Ground.stairs(
            self.rise,
            self.run,
            self.count,
            start=self.start,
            heading=self.heading,
            friction=self.friction,
            static_friction=self.static_friction,
        )


@dataclass(frozen=True, kw_only=True)
class Heightfield(_Friction):
    heights: Path
    """file of heights in m, rows along y and columns along x: .npy, or text (.csv, .txt)"""
    size: tuple[float, float]
    """m along x and y"""
    center: tuple[float, float] = (0.0, 0.0)
    """m"""

    def make(self) -> Ground:
        from footfall.ground import Ground

        return Ground.heightfield(
            _read_heights(self.heights),
            size=self.size,
            center=self.center,
            friction=self.friction,
            static_friction=self.static_friction,
        )


KINDS: dict[str, type] = {"plane": Plane, "slope": Slope, "stairs": Stairs, "heightfield": Heightfield}


def _read_heights(path: Path) -> np.ndarray:
    import numpy as np

    try:
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter="," if path.suffix.lower() == ".csv" else None, ndmin=2)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read heights from '{path}': {getattr(error, 'strerror', None) or error}") from error
