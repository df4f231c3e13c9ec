"""Robot, ground, law and controller put together, and run."""

from footfall.simulation.simulation import Simulation

__all__ = ["Simulation"]
