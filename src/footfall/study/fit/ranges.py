"""Where a parameter may lie."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from footfall.errors import StudyError


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
