"""Export: recordings in the formats of other tools, chosen by the ending of the file.

    rec.export("walk.csv")            # a table for spreadsheets and pandas
    rec.export("walk.parquet")        # the same for DuckDB, Polars and pandas
    rec.export("walk.npz")            # arrays for NumPy
    rec.export("walk_grf.mot")        # ground reaction forces for OpenSim
    rec.export("walk.c3d")            # force plates and markers for gait laboratories
    rec.export("walk.mcap")           # for Foxglove, needs the extra "export"
    rec.export("walk.rrd")            # for Rerun, needs rerun-sdk

A file appears only when it is complete. To add a format: write a function ``write(rec, path, **options)`` and add its
line to ``FORMATS``.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from footfall.arguments import public
from footfall.errors import FootfallError, RecordingError, did_you_mean
from footfall.files.atomic_write import new_file
from footfall.record import Record

__all__ = ["FORMATS", "export"]

#: By ending, the module and function of this package that write it, and a description.
FORMATS = {
    ".csv": ("tables.write_csv", "table with named columns and units"),
    ".parquet": ("tables.write_parquet", "the same as a Parquet table, for DuckDB, Polars and pandas"),
    ".npz": ("tables.write_npz", "NumPy arrays"),
    ".mot": ("laboratory.write_opensim", "OpenSim, ground reaction forces"),
    ".c3d": ("laboratory.write_c3d", "C3D, force plates and markers"),
    ".mcap": ("scenes.write_mcap", "MCAP for Foxglove"),
    ".rrd": ("scenes.write_rrd", "Rerun"),
}


@public
def export(rec: Record, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a recording in the format that the ending of ``path`` names, and return the path.

    The formats MCAP and Rerun have an option, ``rate`` (pictures per second of the 3D scene).
    """
    target = Path(path).expanduser()
    ending = target.suffix.lower()
    if ending not in FORMATS:
        raise FootfallError(f"cannot export to '{target}': {did_you_mean(ending, FORMATS)}")
    if not len(rec):
        raise RecordingError("the recording has no samples, so there is nothing to export")
    module, _, function = FORMATS[ending][0].partition(".")
    write = public(getattr(import_module(f"footfall.export.{module}"), function))
    with new_file(target) as part:
        write(rec, part, **options)
    return target
