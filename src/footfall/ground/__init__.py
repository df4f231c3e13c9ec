"""The ground: surfaces, one file per kind, and their friction coefficients."""

from footfall.ground.friction import Friction, FrictionTable
from footfall.ground.ground import Ground

__all__ = ["Friction", "FrictionTable", "Ground"]
