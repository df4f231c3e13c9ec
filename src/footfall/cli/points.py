"""`footfall points`: how many testing points a sole needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.output import given, keep_plot, sentences_bar, tell
from footfall.cli.shared.task import RobotChoice
from footfall.cli.shared.usage import JsonOption, unit


@dataclass(frozen=True, kw_only=True)
class Points(RobotChoice, JsonOption):
    """Find how many testing points are enough for a robot's soles on rough ground.

    The robot's weight presses the sole onto random waves; grids of points are compared with a very fine one, in the
    same pose, by force, centre of pressure and tilt stiffness.
    """

    roughness: tuple[float, float]
    """amplitude and wavelength of the ground, m"""
    law: Annotated[str, tyro.conf.arg(metavar="NAME")] = "distributed"
    """spring-damper, hunt-crossley or distributed"""
    tolerance: float = 0.02
    """of force, centre of pressure and tilt stiffness, relative"""
    load: Annotated[float | None, unit("N")] = None
    """on one foot; the weight shared by all feet if left out"""
    layout: Literal["even", "edges"] = "even"
    """points spread evenly, or edges of the sole included"""
    plot: Path | None = None
    """write the convergence plot to this file: .png, .svg or .pdf"""

    def run(self) -> int:
        from footfall.study.testing_points import enough_points

        with sentences_bar("pressing soles on waves"):
            others = given(self, "roughness", "law", "tolerance", "load", "layout")
            enough = enough_points(self.chosen_robot(), **others)
        keep_plot(enough.plot, self.plot)
        points = {name: one.tolist() for name, one in enough.points.items()}
        return tell(self.json, asdict(enough) | {"points": points}, str(enough))
