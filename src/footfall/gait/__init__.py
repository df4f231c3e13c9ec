"""Reference motions: polynomials and their optimisation, human walking."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footfall.gait.human.data import measured_walk
    from footfall.gait.human.walk import human_walk

# Modules of the public names, imported on first use.
_HOMES = {"human_walk": "human.walk", "measured_walk": "human.data"}

__all__ = ["human_walk", "measured_walk"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"footfall.gait.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'footfall.gait' has no attribute '{name}'")
