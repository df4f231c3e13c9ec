"""The samples of a recording as a Parquet table: one row per sample, lists of fixed length for arrays."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
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


def write_samples(rec: Record, path: Path) -> None:
    """Write the arrays and signals of a recording."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, fields = [], []
    arrays = {name: getattr(rec, name) for name in COLUMNS}
    arrays |= {SIGNAL + name: values for name, values in rec.signals.items()}
    for name, array in arrays.items():
        flat = _column(array)
        width = array[:1].size if len(array) else math.prod(array.shape[1:])
        if width:  # Parquet has no lists of length 0: a robot without actuators has no such column
            columns.append(flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, width))
            fields.append(pa.field(name, columns[-1].type, metadata=_meaning(rec, name)))
    # Slowly changing numbers share their leading bytes: splitting values into byte streams is smaller and faster.
    pq.write_table(
        pa.Table.from_arrays(columns, schema=pa.schema(fields)),
        path,
        compression="zstd",
        use_dictionary=False,
        use_byte_stream_split=True,
        write_page_checksum=True,
    )


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
    table = _table(path)
    names = table.column_names
    for name in [name for name in DERIVED if name not in names]:  # written by an older version
        del shapes[name]
    for name, shape in shapes.items():
        if math.prod(shape[1:]) and names.count(name) != 1:
            raise RecordingError(f"the samples '{path}' have no column '{name}'")
    arrays = {name: _array(path, table, name, shape) for name, shape in shapes.items()}
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


def _table(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # One file, not a dataset: a directory called "key=value" is no partition.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read().combine_chunks()
    except (pa.ArrowException, OSError, MemoryError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RecordingError(f"the samples '{path}' are damaged: {reason}") from error


def _array(path: Path, table: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    import pyarrow as pa

    dtype = COLUMNS[name].dtype if name in COLUMNS else "float64"
    if math.prod(shape[1:]) == 0:
        return np.zeros(shape, dtype)
    column = table.column(name).combine_chunks()
    if len(shape) > 1:
        if not pa.types.is_fixed_size_list(column.type):
            raise RecordingError(f"the samples '{path}' do not fit the manifest: '{name}' holds {column.type}")
        gaps = column.null_count or column.offset
        column = column.flatten() if gaps else column.values  # the same, in a tenth of the time
    flat = _numbers(column, dtype)
    if flat.size != math.prod(shape) or flat.dtype != dtype:
        raise RecordingError(
            f"the samples '{path}' do not fit the manifest: "
            f"'{name}' has {flat.size} values of {flat.dtype}, "
            f"and {math.prod(shape)} of {dtype} are needed"
        )
    return flat.reshape(shape)


def _numbers(column: Any, dtype: str) -> np.ndarray:
    """The values of a column without a copy; ``to_numpy``, needed for gaps and other types, imports pandas."""
    import pyarrow as pa

    if column.null_count or column.type != pa.from_numpy_dtype(np.dtype(dtype)):
        converted: np.ndarray = column.to_numpy(zero_copy_only=False)
        return converted
    start = column.offset * np.dtype(dtype).itemsize
    flat = np.frombuffer(column.buffers()[1] or b"", dtype, len(column), start)
    flat.flags.writeable = False
    return flat
