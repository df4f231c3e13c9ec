"""What a recording holds beside its manifest.

Its samples are a Parquet table: one row per sample, lists of fixed length for arrays. The files of its robot (meshes,
textures, a compiled model) are one ZIP archive, named by its content: recordings of the same robot that lie side by
side, as of a comparison, share one.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import RecordingError
from footfall.process.machine import machine_memory
from footfall.record import COLUMNS, DERIVED, Record, array_shapes
from footfall.robot import Robot

#: What the columns of signals begin with.
SIGNAL = "signals."
MODES = (0, 2)
#: Bytes of samples that are packed or unpacked at once: what saving and loading need beside the recording itself.
AT_ONCE = 2**26


def write_samples(rec: Record, path: Path, progress: Callable[[float], None] | None = None) -> None:
    """Write the arrays and signals of a recording; ``progress`` is called with the share that is written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, fields = [], []
    arrays = {name: getattr(rec, name) for name in COLUMNS}
    arrays |= {SIGNAL + name: values for name, values in rec.signals.items()}
    for name, array in arrays.items():
        flat = _column(array)
        width = math.prod(array.shape[1:])
        if width:  # Parquet has no lists of length 0: a robot without actuators has no such column
            columns.append(flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, width))
            fields.append(pa.field(name, columns[-1].type, metadata=_meaning(rec, name)))
    table = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    rows = _rows_at_once(arrays)
    # Slowly changing numbers share their leading bytes: splitting values into byte streams is smaller and faster.
    how: dict[str, Any] = {"compression": "zstd", "use_dictionary": False, "use_byte_stream_split": True}
    with path.open("wb") as file, pq.ParquetWriter(file, table.schema, **how, write_page_checksum=True) as writer:
        for start in range(0, max(len(rec), 1), rows):
            writer.write_table(table.slice(start, rows), row_group_size=rows)
            if progress is not None:
                progress(min(1.0, (start + rows) / max(len(rec), 1)))


def _rows_at_once(arrays: Mapping[str, np.ndarray]) -> int:
    """How many samples are packed or unpacked at once."""
    return max(1, AT_ONCE // (8 * sum(math.prod(array.shape[1:]) for array in arrays.values())))


def _column(array: np.ndarray) -> Any:
    """The numbers of an array one after the other; ``pyarrow.array`` would import pandas, which takes half a second."""
    import pyarrow as pa

    flat = np.ascontiguousarray(array).reshape(-1)
    return pa.Array.from_buffers(pa.from_numpy_dtype(flat.dtype), flat.size, [None, pa.py_buffer(flat)])


def _meaning(rec: Record, name: str) -> dict[str, str]:
    """What other programs learn of a column: its unit and axes and, of contact points, their names in order."""
    if name.startswith(SIGNAL):
        return {"unit": str(rec.info.get("signals", {}).get(name.removeprefix(SIGNAL), ""))}
    points = {"points": json.dumps(rec.point_names)} if "point" in COLUMNS[name].axes else {}
    return {"unit": COLUMNS[name].unit, "axes": json.dumps(COLUMNS[name].axes), **points}


def read_samples(
    path: Path, robot: Robot, others: int, samples: int, signals: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The arrays and the signals of a recording; a ``RecordingError`` says what does not fit."""
    shapes = array_shapes(robot, samples, others) | {
        SIGNAL + name: (samples, *shape) for name, shape in signals.items()
    }
    _check_memory(path, shapes)
    arrays = _arrays(path, shapes, samples)
    time, mode = arrays["time"], arrays["mode"]
    if not np.isfinite(time).all() or (np.diff(time) < 0.0).any():
        raise RecordingError(f"the samples '{path}' are damaged: their times do not follow each other")
    if mode.size and not (mode.min() >= MODES[0] and mode.max() <= MODES[1]):
        raise RecordingError(f"the samples '{path}' are damaged: a mode is none of 0, 1, 2")
    measured = {name: arrays.pop(SIGNAL + name) for name in signals}
    return arrays, measured


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_memory(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse samples that exceed the machine's memory before reading them: a small file may unpack to any size."""
    needed = 8 * sum(math.prod(shape) for shape in shapes.values())
    memory = machine_memory()
    if needed > memory:
        raise RecordingError(
            f"the samples '{path}' take {needed / 2**30:.3g} GiB, and this machine has {memory / 2**30:.3g} GiB"
        )


def _arrays(path: Path, shapes: Mapping[str, tuple[int, ...]], samples: int) -> dict[str, np.ndarray]:
    """The columns of a table as arrays of these shapes, filled piece by piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # One file, not a dataset: a directory called "key=value" is no partition.
        with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
            names = file.schema_arrow.names
            arrays = {
                name: np.zeros(shape, COLUMNS[name].dtype if name in COLUMNS else "float64")
                for name, shape in shapes.items()
                if name in names or name not in DERIVED  # which older versions did not write
            }
            for name, array in arrays.items():
                _check_column(path, file.schema_arrow, name, array)
            if file.metadata.num_rows != samples:
                found = file.metadata.num_rows
                raise RecordingError(f"the samples '{path}' do not fit the manifest: there are {found}, not {samples}")
            stored = {name: array for name, array in arrays.items() if name in names}
            start = 0
            for batch in file.iter_batches(_rows_at_once(arrays), columns=list(stored)):
                for name, array in stored.items():
                    part = array[start : start + len(batch)]
                    part.reshape(-1)[:] = _numbers(path, batch.column(name), name, array.dtype)
                start += len(batch)
            return arrays
    except (pa.ArrowException, OSError, MemoryError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RecordingError(f"the samples '{path}' are damaged: {reason}") from error


def _check_column(path: Path, schema: Any, name: str, array: np.ndarray) -> None:
    """Whether the table has a column of the type of an array, which is none where a sample has no values."""
    import pyarrow as pa

    width = math.prod(array.shape[1:])
    if width == 0:
        return
    if schema.names.count(name) != 1:
        raise RecordingError(f"the samples '{path}' have no column '{name}'")
    found, value = schema.field(name).type, pa.from_numpy_dtype(array.dtype)
    if found != (value if array.ndim == 1 else pa.list_(value, width)):
        needed = f"{width} x {value}" if array.ndim > 1 else value
        raise RecordingError(
            f"the samples '{path}' do not fit the manifest: '{name}' holds {found}, and {needed} is needed"
        )


def _numbers(path: Path, column: Any, name: str, dtype: np.dtype) -> np.ndarray:
    """The values of a column without a copy; ``to_numpy`` would import pandas."""
    import pyarrow as pa

    start, count = column.offset, len(column)
    if pa.types.is_fixed_size_list(column.type):
        start, count = start * column.type.list_size, count * column.type.list_size
        column, gaps = column.values, column.null_count
        start += column.offset
    else:
        gaps = 0
    if gaps or column.null_count:
        raise RecordingError(f"the samples '{path}' are damaged: '{name}' has gaps")
    return np.frombuffer(column.buffers()[1] or b"", dtype, count, start * dtype.itemsize)


# ---- files of the robot ------------------------------------------------------------------------------------------

FILES = "robot-{}.zip"
#: The name of MuJoCo's binary model of a robot that has no XML.
BINARY = "model.mjb"


def digest_of(files: Mapping[str, bytes]) -> str:
    """SHA-256 of names and contents."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{len(name)}:{name}:{len(files[name])}:".encode())
        digest.update(files[name])
    return digest.hexdigest()


def write_files(files: Mapping[str, bytes], path: Path) -> None:
    """Write files as an archive, the same bytes whenever it is written."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)


def read_files(path: Path) -> dict[str, bytes]:
    """The files of an archive, unpacked in memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > machine_memory():
                raise RecordingError(f"the robot's files '{path}' are larger than the memory of this machine")
            return {entry.filename: archive.read(entry) for entry in entries}
    except (OSError, ValueError, RuntimeError, NotImplementedError, EOFError, zipfile.BadZipFile) as error:
        raise RecordingError(f"the robot's files '{path}' are damaged: {error}") from error
