"""What happened in a run, as values: arrays by name, signals, warnings, pushes and how it ended.

Nothing here reads a record: measures, pictures and files do, above.
"""

from footfall.record.notes import Failure, RunWarning, Signal
from footfall.record.push import Push
from footfall.record.record import COLUMNS, DERIVED, Record, array_shapes

__all__ = ["COLUMNS", "DERIVED", "Failure", "Push", "Record", "RunWarning", "Signal", "array_shapes"]
