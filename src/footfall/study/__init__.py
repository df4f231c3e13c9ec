"""Studies: many simulations for one answer."""

from __future__ import annotations

from footfall.study.sweep import Samples, SweepTable, load_table, sweep

__all__ = ["Samples", "SweepTable", "load_table", "sweep"]
