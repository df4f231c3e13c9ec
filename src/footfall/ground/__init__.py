"""The ground: surfaces, one file per kind, and how much friction they offer."""

from footfall.ground.ground import Ground
from footfall.ground.kind import Friction

__all__ = ["Friction", "Ground"]
