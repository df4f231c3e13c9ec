"""Options of commands that lay measured forces over simulated ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.shared.output import print_table
from footfall.cli.shared.usage import pairs

if TYPE_CHECKING:
    from footfall.files.measured import Measured
    from footfall.record import Record


@dataclass(frozen=True, kw_only=True)
class MeasuredOptions:
    """Which file of forces, and what is what in it."""

    measured: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """measured ground forces to lay over the simulated ones: .mot, .sto, .c3d or .csv, in the time of the recording"""
    measured_feet: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FOOT=VECTOR...", help_behavior_hint="")] = ()
    """which vector of the file is the force on which foot, where names differ: left=ground_force_v"""

    def measured_forces(self) -> Measured | None:
        """The forces, or None where no file was given."""
        from footfall.files.motion import load_forces

        if self.measured is None:
            return None
        feet = pairs(self.measured_feet, "the vector of a foot", "FOOT=VECTOR, as in left=ground_force_v")
        return load_forces(self.measured, feet or None)


def errors_of(runs: Mapping[str, Record], measured: Measured) -> dict[str, list[dict[str, Any]]]:
    """By recording the errors of each measured force."""
    from footfall.measure.force_errors import forces_against

    return {label: [one._asdict() for one in forces_against(rec, measured)] for label, rec in runs.items()}


def show_errors(found: Mapping[str, list[dict[str, Any]]], source: str) -> None:
    """Print them as a table."""
    columns = ("", "force", "rms N>", "peak N>", "measured>", "impulse N s>", "measured>", "peak later by s>")
    keys = ("rms", "peak", "measured_peak", "impulse", "measured_impulse", "timing")
    rows = [
        [label, f"{one['foot']} {one['axis']}", *(f"{one[key]:.4g}" for key in keys)]
        for label, errors in found.items()
        for one in errors
    ]
    print_table(columns, rows, title=f"against {source}")
