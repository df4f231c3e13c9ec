"""`footfall human-walk`: a recorded walk as a table that HumanWalk follows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.output import print_facts, print_json, say
from footfall.cli.shared.usage import pairs


@dataclass(frozen=True, kw_only=True)
class Command:
    """Make the table of a walk from a recording: stances and strides are found in the forces.

    footfall human-walk walk.trc --forces walk_grf.mot --out walk.json

    The controller HumanWalk(data="walk.json") follows the table; on the command line, --controller.data walk.json.

    The recording is a .c3d file with markers and force plates; a .trc file with a file of forces (.mot, .forces or
    .csv, each plate with its pressure centre); or a folder that holds one of these, or tables. Markers are known by the
    names of Plug-in Gait, OpenSim, Cortex and ISB; --marker names others. Which foot stands on which plate, the
    direction of walking and a treadmill's speed are found in the data.

    Tables are joints.csv (time_s, and R_hip_x_m, R_hip_z_m, ... of hip, knee, ankle, heel and mt, R and L) and grf.csv
    (time_s, foot, plate, fx_N, fy_N, fz_N, copx_m, one row per sample of each stance); motion.csv with segment angles,
    and subject.json with mass, lengths, source and licence, if there are. Whose data it is travels with it.
    """

    recording: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORDING")]
    """a .c3d or .trc file, or a folder"""
    forces: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """the forces of a .trc file, where they have another name"""
    marker: Annotated[tuple[str, ...], tyro.conf.arg(metavar="R_knee=NAME...", help_behavior_hint="")] = ()
    """markers that are not known by their names: of R and L, hip, knee, ankle, heel, mt; NAME+NAME is their middle"""
    up: Annotated[Literal["y", "z"] | None, tyro.conf.arg(metavar="y|z", help_behavior_hint="")] = None
    """the axis that is up, where markers and forces do not show it"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE.json", help_behavior_hint="")] = None
    """write the table here"""
    attribution: Annotated[str | None, tyro.conf.arg(metavar="TEXT", help_behavior_hint="")] = None
    """whose data these are and under which licence, where subject.json does not say it"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.gait.human.data import as_text, derive

        names = pairs(self.marker, "the marker", "R_knee=NAME")
        walk = derive(self.recording, self.attribution, forces=self.forces, markers=names, up=self.up)
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
