"""`footfall export`: a recording for other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from footfall.cli.shared.output import print_json


@dataclass(frozen=True, kw_only=True)
class Command:
    """Write a recording for other tools: .csv, .parquet, .npz, .mot, .sto, .c3d, .mcap or .rrd.

    .mot and .sto are OpenSim's, .c3d has force plates and markers, .mcap is for Foxglove, .rrd for Rerun.
    """

    recording: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORDING")]
    """directory that footfall run --out wrote"""
    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    """its ending chooses the format"""
    what: Annotated[str | None, tyro.conf.arg(metavar="grf|motion", help_behavior_hint="")] = None
    """what an OpenSim file holds (left out: forces for .mot, motion for .sto)"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.cli.shared.usage import UsageError
        from footfall.recording import load_recording

        if self.what is not None and self.file.suffix.lower() not in (".mot", ".sto"):
            raise UsageError(f"--what is for .mot and .sto files, not for '{self.file}'")
        options = {} if self.what is None else {"what": self.what}
        path = load_recording(self.recording).export(self.file, **options)
        if self.json:
            print_json({"file": str(path), "bytes": path.stat().st_size})
        else:
            print(f"Wrote {path} ({path.stat().st_size / 1e6:.3g} MB).")
        return 0
