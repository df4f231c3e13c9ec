"""A recording as a Parquet table of named columns with units, for DuckDB, Polars and pandas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from footfall.export.columns import columns

if TYPE_CHECKING:
    from footfall.record import Record


def write(rec: Record, path: Path) -> None:
    """One row per sample; a column is called as in CSV files, ``left.force.z [N]``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = columns(rec)
    arrays = [pa.array(one.values) for one in found]
    fields = [
        pa.field(one.title, array.type, metadata={"unit": one.unit}) for one, array in zip(found, arrays, strict=True)
    ]
    said = {"robot": rec.robot.name, "law": rec.law.name, "ground": rec.ground.kind, "dt_s": repr(rec.dt)}
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=said)), path, compression="zstd")
