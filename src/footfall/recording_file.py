"""Recordings on the disk: a directory of a JSON manifest and a Parquet table."""

from __future__ import annotations

import json
import math
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.contact.unknown import UnknownLaw
from footfall.errors import FootfallError, LawError, RecordingError
from footfall.ground import Ground
from footfall.record import COLUMNS, Failure, Push, Record, array_shapes
from footfall.robot import Robot

FORMAT, VERSION = "footfall-recording", 1
MANIFEST, SAMPLES = "manifest.json", "samples.parquet"
#: What the columns of signals begin with.
SIGNAL = "signals."


def write(rec: Record, path: str | os.PathLike[str]) -> Path:
    """See ``Recording.save``."""
    target = place_for(path)
    text = _manifest(rec)
    new = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new.mkdir()
        _write_samples(rec, new / SAMPLES)
        (new / MANIFEST).write_text(text, encoding="utf-8")
        _put_in_place(new, target)
    except OSError as error:
        where = f": '{error.filename}'" if error.filename and Path(error.filename) != target else ""
        raise RecordingError(f"cannot save the recording to '{target}': {error.strerror or error}{where}") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return target


def place_for(path: str | os.PathLike[str]) -> Path:
    """Where a recording called ``path`` goes; a ``RecordingError`` if something else is there."""
    target = Path(os.path.abspath(Path(path).expanduser()))
    target = target.resolve() if target.is_symlink() else target
    _refuse_what_is_in_the_way(target)
    return target


def read(path: str | os.PathLike[str]) -> Record:
    """See ``footfall.load_recording``."""
    folder = Path(path).expanduser()
    manifest = _read_manifest(folder)
    try:
        robot = Robot.from_dict(manifest["robot"])
        ground = Ground.from_dict(manifest["ground"])
        law = _law(manifest["law"])
        failure = None if manifest["failure"] is None else Failure(**manifest["failure"])
        samples, dt, info = int(manifest["samples"]), float(manifest["dt"]), dict(manifest["info"])
        kept = info.pop("pushes", ())  # where recordings of version 0.1.0 have them
        pushes = tuple(map(Push.from_dict, manifest.get("pushes") or kept))
        told = {SIGNAL + name: (samples, *shape) for name, shape in manifest.get("signals", {}).items()}
    except (FootfallError, LookupError, TypeError, ValueError, RuntimeError) as error:
        kind = f"{type(error).__name__}: " if not isinstance(error, FootfallError) else ""
        raise RecordingError(f"the manifest of the recording '{folder}' is damaged: {kind}{error}") from error
    arrays: dict[str, Any] = _read_samples(folder, array_shapes(robot, samples) | told)
    signals = {name.removeprefix(SIGNAL): arrays.pop(name) for name in told}
    about: dict[str, Any] = {"pushes": pushes, "failure": failure, "info": info, "signals": signals}
    return Record(robot=robot, ground=ground, law=law, dt=dt, **about, **arrays)


def _law(description: Mapping[str, Any]) -> Law:
    # Options are hashable, so what JSON holds as a list was a tuple.
    options = {key: tuple(v) if isinstance(v, list) else v for key, v in description.items() if key != "name"}
    try:
        return make_law(description["name"], **options)
    except LawError:
        return UnknownLaw(name=description["name"], given=options)


# ---- writing -----------------------------------------------------------------------------------------------


def _manifest(rec: Record) -> str:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "samples": len(rec),
        "dt": rec.dt,
        "columns": {
            name: {
                "shape": getattr(rec, name).shape,
                "axes": ["time", *c.axes],
                "dtype": c.dtype,
                "unit": c.unit,
            }
            for name, c in COLUMNS.items()
        },
        "signals": {name: values.shape[1:] for name, values in rec.signals.items()},
        "pushes": [push.to_dict() for push in rec.pushes],
        "failure": None if rec.failure is None else asdict(rec.failure),
        "info": dict(rec.info),
        "law": rec.law.to_dict(),
        "ground": rec.ground.to_dict(),
        "robot": rec.robot.to_dict(),
    }
    try:
        return json.dumps(content, indent=1, default=_plain)
    except (TypeError, ValueError) as error:
        raise RecordingError(f"cannot save the recording: info or the law's options: {error}") from error


def _plain(value: Any) -> Any:
    """What JSON holds in place of NumPy's numbers and arrays, mappings and paths."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} is no number, text, list or mapping")


def _write_samples(rec: Record, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {}
    arrays = {name: getattr(rec, name) for name in COLUMNS}
    arrays |= {SIGNAL + name: values for name, values in rec.signals.items()}
    for name, array in arrays.items():
        flat = pa.array(array.reshape(-1))
        width = array[:1].size if len(array) else math.prod(array.shape[1:])
        if width:  # Parquet has no lists of length 0: a robot without actuators has no such column
            columns[name] = flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, width)
    # Numbers that change slowly share their leading bytes: a stream per byte is smaller and faster than
    # values.
    pq.write_table(
        pa.table(columns),
        path,
        compression="zstd",
        use_dictionary=False,
        use_byte_stream_split=True,
        write_page_checksum=True,
    )


def _refuse_what_is_in_the_way(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise RecordingError(f"cannot save the recording to '{target}': a file is in the way; give another name")
    try:
        if not target.is_dir() or not any(target.iterdir()) or _content(target).get("format") == FORMAT:
            return
    except RecordingError:
        pass
    except OSError as error:
        raise RecordingError(f"cannot save the recording to '{target}': {error.strerror or error}") from error
    raise RecordingError(
        f"cannot save the recording to '{target}': the directory holds something that is no recording; "
        "give another name"
    )


def _put_in_place(new: Path, target: Path) -> None:
    """Rename ``new`` to ``target``; what was there is removed afterwards, other files are carried over."""
    if not target.exists():
        new.rename(target)
        return
    old = new.with_suffix(".old")
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise
    for other in old.iterdir():
        if other.name not in (MANIFEST, SAMPLES):
            other.rename(target / other.name)
    shutil.rmtree(old, ignore_errors=True)


# ---- reading -----------------------------------------------------------------------------------------------


def _content(folder: Path) -> dict[str, Any]:
    """What the manifest in a directory says, whoever wrote it."""
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RecordingError(f"'{folder}' is no recording: it has no {MANIFEST}") from error
    except OSError as error:
        raise RecordingError(f"cannot read '{path}': {error.strerror or error}") from error
    except ValueError as error:
        raise RecordingError(f"the manifest '{path}' is damaged: {error}") from error
    return content if isinstance(content, dict) else {}


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        raise RecordingError(f"there is no recording '{folder}'")
    if not folder.is_dir():
        raise RecordingError(f"'{folder}' is a file; a recording is a directory")
    content = _content(folder)
    if content.get("format") != FORMAT:
        raise RecordingError(f"'{folder}' is no recording: its {MANIFEST} does not say '{FORMAT}'")
    if content.get("version") != VERSION:
        raise RecordingError(
            f"the recording '{folder}' has format version {content.get('version')}, and this Footfall reads {VERSION}"
        )
    return content


def _read_samples(folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / SAMPLES
    try:
        # One file, not a dataset: a directory called "key=value" is no partition.
        table = pq.read_table(path, page_checksum_verification=True, partitioning=None).combine_chunks()
    except FileNotFoundError as error:
        raise RecordingError(f"the recording '{folder}' has no {SAMPLES}") from error
    except (pa.ArrowException, OSError) as error:
        raise RecordingError(f"the samples '{path}' are damaged: {str(error).splitlines()[0]}") from error
    arrays = {}
    for name, shape in shapes.items():
        dtype = COLUMNS[name].dtype if name in COLUMNS else "float64"
        if math.prod(shape[1:]) == 0:
            arrays[name] = np.zeros(shape, dtype)
            continue
        if name not in table.column_names:
            raise RecordingError(f"the samples '{path}' have no column '{name}'")
        column = table.column(name).combine_chunks()
        flat = (column if len(shape) == 1 else column.flatten()).to_numpy(zero_copy_only=False)
        if flat.size != math.prod(shape) or flat.dtype != dtype:
            raise RecordingError(
                f"the samples '{path}' do not fit the manifest: "
                f"'{name}' has {flat.size} values of {flat.dtype}, "
                f"and {math.prod(shape)} of {dtype} are needed"
            )
        arrays[name] = flat.reshape(shape)
    return arrays
