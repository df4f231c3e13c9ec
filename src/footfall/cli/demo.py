"""`footfall demo`: the spatial biped comes down and stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from footfall.cli.output import say
from footfall.cli.result import conclude, simulate

HEIGHT = 0.05  # m
DURATION = 3.0  # s


@dataclass(frozen=True)
class Command:
    """Drop the spatial biped from 5 cm under linearizing-penalty, held by posture control, and let it stand 3 s."""

    out: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("runs/demo")
    """where the recording goes"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.simulation import Simulation

        sim = Simulation("spatial-biped", law="linearizing-penalty")
        qpos = sim.place()
        qpos[2] += HEIGHT
        rec = simulate(sim, DURATION, folder=self.out, controller="posture", qpos=qpos)
        code = conclude(rec, self.out, json=self.json)
        try:
            from footfall.show.report import write_report
        except ImportError as missing:  # an extra that is not installed
            say(f"no report was written: {missing}")
            return code
        say(f"the report is {write_report(rec, self.out / 'report.html')}")
        return code
