"""Studies, each of many simulations."""

from __future__ import annotations

from footfall.study.autopsy import Autopsy, autopsy
from footfall.study.compare import Comparison, compare
from footfall.study.design import Design, design
from footfall.study.fit import fit
from footfall.study.identify import FrictionFit, identify_friction
from footfall.study.largest_push import PushBasin, PushLimit, largest_pushes, push_basin
from footfall.study.sensitivity import Sensitivity, sensitivity
from footfall.study.sweep import Samples, SweepTable, load_table, sweep
from footfall.study.testing_points import enough_points

__all__ = [
    "Autopsy",
    "Comparison",
    "Design",
    "FrictionFit",
    "PushBasin",
    "PushLimit",
    "Samples",
    "Sensitivity",
    "SweepTable",
    "autopsy",
    "compare",
    "design",
    "enough_points",
    "fit",
    "identify_friction",
    "largest_pushes",
    "load_table",
    "push_basin",
    "sensitivity",
    "sweep",
]
