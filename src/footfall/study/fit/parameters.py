"""Where a parameter may lie, and which parameters of each law are worth fitting.

Bounds are wide: a decade or more for stiffness and damping, the whole possible range for restitution and friction. For
a law that is not listed here, parameters must be named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from footfall.errors import StudyError, did_you_mean


@dataclass(frozen=True)
class Range:
    """A parameter between two bounds, searched on a linear or a logarithmic scale; ``start`` is the first guess."""

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    start: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise StudyError(f"the bounds {self.low} and {self.high} do not make an interval")
        if self.scale not in ("linear", "log"):
            raise StudyError(f"a parameter is searched on a 'linear' or a 'log' scale, not '{self.scale}'")
        if self.scale == "log" and self.low <= 0.0:
            raise StudyError(f"a logarithmic scale needs a positive lower bound, not {self.low:g}")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise StudyError(f"the first guess {self.start:g} is not between {self.low:g} and {self.high:g}")

    def value(self, share: float) -> float:
        """The parameter at a share of the range, 0 to 1."""
        share = min(1.0, max(0.0, float(share)))
        if self.scale == "log":
            return self.low * (self.high / self.low) ** share
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """Where a value lies in the range, 0 to 1."""
        value = min(self.high, max(self.low, value))
        if self.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def first(self) -> float:
        """The share at which the search starts."""
        return 0.5 if self.start is None else self.share(self.start)


def as_ranges(parameters: Mapping[str, Any]) -> dict[str, Range]:
    """Ranges from ``Range`` values or tuples (low, high), (low, high, "log"), (low, high, "log", start)."""
    found = {}
    for name, given in parameters.items():
        try:
            found[name] = given if isinstance(given, Range) else Range(*given)
        except TypeError:
            raise StudyError(f"'{name}' = {given!r}: a range is (low, high) or (low, high, 'log')") from None
        except StudyError as error:
            raise StudyError(f"'{name}': {error}") from None
    if not found:
        raise StudyError("there is nothing to fit: no parameter was given")
    return found


def _springs(damping: float) -> dict[str, Range]:
    """Of laws of springs: how deep the robot rests, m, and the damping ratio up to this one; 1 mm and 1 by default."""
    return {
        "law.rest_penetration": Range(2e-5, 5e-3, "log", 1e-3),
        "law.damping_ratio": Range(0.02, damping, "log", 1.0),
    }


#: Options a law is given beside what is fitted, and the parameters.
PRESETS: dict[str, tuple[dict[str, Any], dict[str, Range]]] = {
    "spring-damper": ({}, _springs(2.0)),
    "hunt-crossley": ({}, _springs(4.0)),
    "distributed": ({}, _springs(4.0)),
    "linearizing-penalty": (
        {},
        {"law.kp": Range(50.0, 1e5, "log", 500.0), "law.kv": Range(20.0, 2000.0, "log", 250.0)},
    ),
    "constraint-selection": ({"rules": "paper"}, {"law.v_t": Range(1e-3, 1.0, "log", 0.1)}),
    "time-stepping": (
        {},
        {
            "law.restitution": Range(0.0, 0.8, "linear", 0.0),
            "law.impact_friction": Range(0.5, 1.0, "linear", 1.0),
        },
    ),
    # Errors of 0.1 um a step are far below what cameras see, and take two thirds of the time.
    "acceleration-complementarity": (
        {"tolerance": 1e-7},
        {"law.restitution": Range(0.0, 0.8, "linear", 0.0)},
    ),
    "mujoco": (
        {"cone": "elliptic", "solref": [0.02, 1.0]},
        {
            "law.solref.0": Range(2e-3, 5e-2, "log", 0.02),
            "law.solref.1": Range(0.1, 2.0, "log", 1.0),
            "law.impratio": Range(1.0, 100.0, "log", 1.0),
        },
    ),
}
#: Of a level ground.
GROUND = {"ground.friction": Range(0.03, 1.0, "log", 0.2), "ground.height": Range(-5e-3, 5e-3, "linear", 0.0)}


def of_cube(side: float, mass: float, inertia: float) -> dict[str, Range]:
    """Of a tossed cube of about this side (m), mass (kg) and inertia (kg m2).

    The side may be smaller than measured: rounded corners touch like those of a smaller cube on a ground that is higher
    by the radius, at most 4 % of the side here. The inertia lies between that of a heavy core and that of masses in the
    eight corners.
    """
    square = mass * side**2
    return {
        "robot.side": Range(0.92 * side, 1.01 * side, "linear", side),
        "robot.inertia": Range(square / 12.0, square / 2.0, "log", inertia),
    }


def of_box(sides: Sequence[float]) -> dict[str, Range]:
    """Of a tossed box of these sides (m): how far its corners are rounded, and its inertia relative to that stated."""
    return {
        "robot.rounding": Range(0.0, 0.04 * min(sides), "linear", 0.0),
        "robot.inertia_scale": Range(0.5, 2.0, "log", 1.0),
    }


def preset(law: str) -> tuple[dict[str, Any], dict[str, Range]]:
    """Options and parameters of a law by name, those of the ground after them."""
    if law not in PRESETS:
        known = did_you_mean(law, PRESETS)
        raise StudyError(f"which parameters of '{law}' shall be fitted? Give parameters=; by themselves, {known}")
    options, own = PRESETS[law]
    return dict(options), {**own, **GROUND}
