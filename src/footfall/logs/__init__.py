"""A robot's own log: read and matched to the robot (``log``), and what it tells of contacts (``estimate``)."""

from footfall.logs.estimate import Estimate, estimate
from footfall.logs.log import Log, load_log

__all__ = ["Estimate", "Log", "estimate", "load_log"]
