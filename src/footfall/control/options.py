"""Checks of a controller's options when it is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from footfall.errors import ControllerError
from footfall.given_numbers import is_whole


def check_numbers(name: str, options: Any, **rules: Iterable[str]) -> None:
    """Refuse options that are no finite numbers, or not as their rule says: ``finite``, ``positive``, ``not_negative``.

    ``name`` is the controller's. What is None was left out, and passes.
    """
    for rule, fields in rules.items():
        allowed, must = RULES[rule]
        for field in fields:
            value = getattr(options, field)
            try:
                fine = value is None or (math.isfinite(value) and allowed(value))
            except TypeError:
                fine = False
            if not fine:
                raise ControllerError(f"{name}: {field} = {value} {must}")


#: What numbers may be, and how that is said.
RULES: dict[str, tuple[Callable[[float], bool], str]] = {
    "finite": (lambda value: True, "is no number"),
    "positive": (lambda value: value > 0.0, "but it must be positive"),
    "not_negative": (lambda value: value >= 0.0, "but it must be a number >= 0"),
}


def check_steps(name: str, steps: Any) -> None:
    """Refuse an invalid number of steps."""
    if not is_whole(steps, 1):
        raise ControllerError(f"{name}: steps = {steps} but it must be a whole number, at least 1")
