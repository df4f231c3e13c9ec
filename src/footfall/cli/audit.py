"""`footfall audit`: can a ground give the forces of a recording?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from footfall.cli.shared.audits import show_audit, show_notes
from footfall.cli.shared.output import print_json, print_table
from footfall.cli.shared.recordings import loaded


@dataclass(frozen=True, kw_only=True)
class Command:
    """Check whether a ground can give the forces of recordings. Exits with 1 if a row fails."""

    recordings: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RECORDING...")]
    """directories that footfall run --out wrote"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.measure.audit import audit

        recordings = loaded(self.recordings, "audit")
        audits = {str(folder): audit(rec) for folder, rec in zip(self.recordings, recordings, strict=True)}
        if self.json:
            print_json({folder: one.to_dict() for folder, one in audits.items()})
        elif len(audits) == 1:
            show_audit(next(iter(audits.values())))
        else:
            print_table(("recording", "audit"), [[folder, one.verdict] for folder, one in audits.items()])
            show_notes(audits)
        return int(not all(one.passed for one in audits.values()))
