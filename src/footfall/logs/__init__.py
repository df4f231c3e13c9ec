"""A robot's own log (``log``): reading and matching it to the robot (``reading``), and estimating contacts from it
(``estimate``).
"""

from footfall.logs.estimate import Estimate, estimate
from footfall.logs.log import Log
from footfall.logs.reading import load_log

__all__ = ["Estimate", "Log", "estimate", "load_log"]
