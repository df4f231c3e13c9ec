"""A robot's own log (``log``): read and matched to the robot (``reading``), and what it tells of contacts
(``estimate``).
"""

from footfall.logs.estimate import Estimate, estimate
from footfall.logs.log import Log
from footfall.logs.reading import load_log

__all__ = ["Estimate", "Log", "estimate", "load_log"]
