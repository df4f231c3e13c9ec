"""CSV: one line per sample, a head with names and units, empty cells where a quantity is not defined."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING

from footfall.export.columns import columns

if TYPE_CHECKING:
    from footfall.record import Record


def write(rec: Record, path: Path) -> None:
    """Write numbers with all digits: they are read back to the last bit."""
    table = columns(rec)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([column.title for column in table])
        for row in zip(*(column.values.tolist() for column in table), strict=True):
            out.writerow(["" if isinstance(x, float) and math.isnan(x) else x for x in row])
