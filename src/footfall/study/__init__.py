"""Studies, each of many simulations."""

from __future__ import annotations

from footfall.study.autopsy import Autopsy, autopsy
from footfall.study.compare import Comparison, compare
from footfall.study.design import Design, design
from footfall.study.fit import fit
from footfall.study.identify import FrictionFit, identify_friction
from footfall.study.largest_push import PushLimit, largest_pushes
from footfall.study.sweep import Samples, SweepTable, load_table, sweep

__all__ = [
    "Autopsy",
    "Comparison",
    "Design",
    "FrictionFit",
    "PushLimit",
    "Samples",
    "SweepTable",
    "autopsy",
    "compare",
    "design",
    "fit",
    "identify_friction",
    "largest_pushes",
    "load_table",
    "sweep",
]
