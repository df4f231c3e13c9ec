"""`footfall report`: recordings as one HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from footfall.cli.shared.measured import MeasuredOptions, errors_of, show_errors
from footfall.cli.shared.output import print_json
from footfall.cli.shared.recordings import loaded


@dataclass(frozen=True, kw_only=True)
class Command(MeasuredOptions):
    """Write one HTML file about a recording, or about several compared: tables, plots, a 3D replay. Opens offline."""

    recordings: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RECORDING...")]
    """directories that footfall run --out wrote"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """where to write it (left out: report.html in the first recording's directory)"""
    title: Annotated[str | None, tyro.conf.arg(metavar="TEXT", help_behavior_hint="")] = None
    """heading of the page"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.show.frames import labels_of
        from footfall.show.report import write_report

        recordings = loaded(self.recordings, "report")
        path = self.out or self.recordings[0] / "report.html"
        measured = self.measured_forces()
        write_report(recordings, path, title=self.title, measured=measured)
        errors = (
            {} if measured is None else errors_of(dict(zip(labels_of(recordings), recordings, strict=True)), measured)
        )
        if self.json:
            print_json({"report": str(path), **({"against_measured": errors} if errors else {})})
            return 0
        if measured is not None:
            show_errors(errors, measured.source)
        print(f"The report is {path} ({path.stat().st_size / 2**20:.2f} MiB).")
        return 0
