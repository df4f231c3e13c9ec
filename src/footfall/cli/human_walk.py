"""`footfall human-walk`: a recorded walk as a table that HumanWalk follows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from footfall.cli.output import print_facts, print_json, say


@dataclass(frozen=True, kw_only=True)
class Command:
    """Make the table of a walk from a recording: stances and strides are found in the forces.

    footfall human-walk recording/ --out walk.json

    HumanWalk(data="walk.json"), on the command line --controller.data walk.json, walks as the table says.

    The folder holds joints.csv (time_s, and R_hip_x_m, R_hip_z_m, ... of hip, knee, ankle, heel and mt, R and L) and
    grf.csv (time_s, foot, plate, fx_N, fy_N, fz_N, copx_m, one row per sample of each stance); motion.csv with segment
    angles, and subject.json with mass, lengths, source and licence, if there are. Whose data it is travels with it.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")]
    """the recording"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE.json", help_behavior_hint="")] = None
    """write the table here"""
    attribution: Annotated[str | None, tyro.conf.arg(metavar="TEXT", help_behavior_hint="")] = None
    """whose data these are and under which licence, where subject.json does not say it"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.gait.human.data import as_text, derive

        walk = derive(self.folder, self.attribution)
        if self.out is not None:
            self.out.write_text(as_text(walk), encoding="utf-8")
            say(f"wrote {self.out}")
        facts = {
            "mass_kg": walk.mass,
            "speed_m_s": walk.speed,
            "stride_time_s": walk.stride_time,
            "leg_m": walk.leg,
            "step_width_m": walk.step_width,
            "stance_share": walk.stance,
            "attribution": walk.attribution,
        }
        if self.json:
            print_json(facts)
        else:
            print_facts({name: value if isinstance(value, str) else f"{value:.4g}" for name, value in facts.items()})
        return 0
