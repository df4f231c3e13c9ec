"""The ground: surfaces, one file per kind, and how much friction they offer."""

from footfall.ground.ground import Friction, Ground

__all__ = ["Friction", "Ground"]
