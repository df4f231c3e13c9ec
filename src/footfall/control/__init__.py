"""Controllers: what sets the controls while a robot runs."""

from __future__ import annotations

from footfall.control.base import CompiledController, State
from footfall.control.posture import Posture
from footfall.errors import ControllerError, did_you_mean

__all__ = ["CompiledController", "Posture", "State", "controllers", "named_controller"]

_NAMED = {"posture": Posture}


def controllers() -> tuple[str, ...]:
    """Names of the controllers that need no argument."""
    return tuple(sorted(_NAMED))


def named_controller(name: str) -> CompiledController:
    """A controller with its defaults, by name."""
    if name not in _NAMED:
        raise ControllerError(f"no controller is called '{name}': {did_you_mean(name, _NAMED)}")
    return _NAMED[name]()
