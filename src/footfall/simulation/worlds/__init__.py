"""Many worlds of one simulation at once, on the cores of a CPU or on a GPU."""

from footfall.simulation.worlds.worlds import Worlds

__all__ = ["Worlds"]
