"""Recordings on the disk: the directory of a recording, replaced atomically, and read as untrusted.

The manifest, ``manifest.json``, describes a recording as JSON, and is checked throughout before it is used. The samples
are a Parquet table: one row per sample, lists for arrays; the manifest says where its pages are. The files of the robot
(meshes, textures, a compiled model) are one ZIP archive, named by its content: recordings of the same robot that lie
side by side, as of a comparison, share one.

The manifest says by their checksum which samples and which robot files it belongs to, and replacing it is the one step
that replaces a recording. Before it, the new samples are complete under a name of their own, and robot files have names
that are their checksums; after it, the new samples take the place of the old ones and old robot files are removed. So
whatever interrupts a save, and wherever, one whole recording is there. The next save completes or removes what it left.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.contact.registry import UnknownLaw
from footfall.errors import FootfallError, LawError, RecordingError
from footfall.files.atomic_write import PART, atomic_write, synced
from footfall.files.parquet import Group, read_page, write_table
from footfall.given_numbers import is_number, is_whole
from footfall.ground import Ground
from footfall.process.machine import machine_memory
from footfall.record import COLUMNS, Failure, Push, Record, array_shapes
from footfall.robot import Robot

#: Prefix of the columns of signals.
SIGNAL = "signals."
MODES = (0, 1, 2)
#: Bytes of samples that are packed or unpacked at once: the memory of saving and loading beside the recording itself.
AT_ONCE = 2**26


def write_samples(rec: Record, path: Path, progress: Callable[[float], None] | None = None) -> list[Group]:
    """Write the arrays and signals of a recording, and return where they are.

    ``progress`` is called with the share that is written.
    """
    arrays = {name: getattr(rec, name) for name in COLUMNS}
    arrays |= {SIGNAL + name: values for name, values in rec.signals.items()}
    about = {"columns": json.dumps({name: _meaning(rec, name) for name in arrays})}
    rows = max(1, AT_ONCE // (8 * sum(math.prod(array.shape[1:]) for array in arrays.values())))
    return write_table(path, arrays, about, rows, progress)


def _meaning(rec: Record, name: str) -> dict[str, Any]:
    """Metadata of a column for other programs: its unit and axes and the names of contact points in order."""
    if name.startswith(SIGNAL):
        return {"unit": str(rec.info.get("signals", {}).get(name.removeprefix(SIGNAL), ""))}
    points = {"points": rec.point_names} if "point" in COLUMNS[name].axes else {}
    return {"unit": COLUMNS[name].unit, "axes": COLUMNS[name].axes, **points}


def read_samples(
    path: Path, groups: Any, robot: Robot, others: int, samples: int, signals: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The arrays and the signals of a recording whose pages are where the manifest says.

    A ``RecordingError`` says what does not fit. Samples that exceed the machine's memory are refused before they are
    read: a small file may unpack to any size.
    """
    shapes = array_shapes(robot, samples, others)
    shapes |= {SIGNAL + name: (samples, *shape) for name, shape in signals.items()}
    needed, memory = 8 * sum(map(math.prod, shapes.values())), machine_memory()
    if needed > memory:
        raise RecordingError(
            f"the samples '{path}' take {needed / 2**30:.3g} GiB, and this machine has {memory / 2**30:.3g} GiB"
        )
    try:
        arrays = _arrays(path, [Group(*group) for group in groups], shapes, samples)
    except (ValueError, TypeError, KeyError, OverflowError, OSError, MemoryError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise RecordingError(f"the samples '{path}' are damaged: {reason}") from error
    if not np.isfinite(arrays["time"]).all() or (np.diff(arrays["time"]) < 0.0).any():
        raise RecordingError(f"the samples '{path}' are damaged: their times do not follow each other")
    if not np.isin(arrays["mode"], MODES).all():
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


def _arrays(
    path: Path, groups: list[Group], shapes: Mapping[str, tuple[int, ...]], samples: int
) -> dict[str, np.ndarray]:
    """The columns of a table as arrays of these shapes, filled piece by piece."""
    found = sum(group.rows for group in groups)
    if found != samples:
        raise RecordingError(f"the samples '{path}' do not fit the manifest: there are {found}, not {samples}")
    arrays = {
        name: np.zeros(shape, COLUMNS[name].dtype if name in COLUMNS else "float64") for name, shape in shapes.items()
    }
    start = 0
    with path.open("rb") as file:
        for group in groups:
            if group.rows < 1:
                raise RecordingError(f"the samples '{path}' do not fit the manifest: it has groups without rows")
            for name, array in arrays.items():
                part = array[start : start + group.rows]
                if not part.size:
                    continue
                if name not in group.pages:
                    raise RecordingError(f"the samples '{path}' have no column '{name}'")
                part[:] = read_page(file, group.pages[name], part)
            start += group.rows
    return arrays


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


FORMAT, VERSION = "footfall-recording", 3
CHECKSUMS = "checksums"


# ---- writing -----------------------------------------------------------------------------------------------


def described(rec: Record) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest of a recording as plain values, and the files of the robot that it refers to.

    A ``RecordingError`` says what JSON cannot hold.
    """
    robot, files = rec.robot.to_dict(), dict(rec.robot.assets)
    del robot["assets"]
    if binary := robot.pop("mjb"):
        files[BINARY] = base64.b64decode(binary)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "samples": len(rec),
        "dt": rec.dt,
        "signals": {name: values.shape[1:] for name, values in rec.signals.items()},
        "other_points": rec.other_points.tolist(),
        "pushes": [push.to_dict() for push in rec.pushes],
        "failure": None if rec.failure is None else asdict(rec.failure),
        "info": dict(rec.info),
        "law": rec.law.to_dict(),
        "ground": rec.ground.to_dict(),
        "robot": robot,
        "files": digest_of(files) if files else None,
    }
    try:
        plain: dict[str, Any] = json.loads(json.dumps(content, default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordingError(f"cannot save the recording: info or the law's options: {error}") from error
    return plain, files


def text_of(content: Mapping[str, Any], samples_digest: str) -> str:
    """The manifest of samples with that digest, as text, with its own checksum."""
    own = {key: value for key, value in content.items() if key != CHECKSUMS}
    checksums = {"samples": samples_digest, "manifest": _digest(own)}
    return json.dumps(own | {CHECKSUMS: checksums}, indent=1)


def _digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of plain values, whatever the order of their keys and the spaces between them."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Plain values for JSON in place of NumPy's numbers and arrays, mappings and paths."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} is not a number, text, list or mapping")


# ---- reading -----------------------------------------------------------------------------------------------


def parsed(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The content itself, if it is a manifest that this version reads and is unchanged since it was saved."""
    if content.get("format") != FORMAT:
        raise RecordingError(f"'{folder}' is not a recording: its manifest.json does not say '{FORMAT}'")
    if content.get("version") != VERSION:
        version = content.get("version")
        raise RecordingError(f"the recording '{folder}' has format version {version}: this Footfall reads {VERSION}")
    own = {key: value for key, value in content.items() if key != CHECKSUMS}
    if _checksum(content, "manifest") != _digest(own):
        raise RecordingError(f"the manifest of the recording '{folder}' was changed after it was saved")
    return content


def _checksum(content: Mapping[str, Any], what: str) -> str:
    """The checksum of the samples, or of the manifest itself, that a manifest has; "" where it has none."""
    checksums = content.get(CHECKSUMS)
    return str(checksums.get(what)) if isinstance(checksums, dict) else ""


def restored(
    content: Mapping[str, Any], files: Mapping[str, bytes]
) -> tuple[dict[str, Any], int, dict[str, tuple[int, ...]]]:
    """Arguments of a ``Record`` that a manifest and the robot's files describe, the number of samples, and the shape
    of a sample of each signal. A manifest may hold anything, so that any error may come of it.
    """
    own: dict[str, Any] = {"assets": dict(files), "mjb": None}
    if _entry(content, "robot", _is_object, "object").get("mjcf") is None:
        own["mjb"] = own["assets"].pop(BINARY, None)
    robot = Robot.from_dict(own | dict(content["robot"]))
    others = content.get("other_points", [])
    if not all(map(_is_count, others)) or sorted(set(others)) != others or max(others, default=-1) >= len(robot.others):
        raise RecordingError(f"its other points are {_shown(others)}, and the robot has {len(robot.others)}")
    described = {
        "robot": robot,
        "other_points": np.array(others, dtype=int),
        "ground": Ground.from_dict(_entry(content, "ground", _is_object, "object")),
        "law": _law(_entry(content, "law", _is_object, "object")),
        "dt": float(_entry(content, "dt", _is_step, "step in s")),
        "pushes": tuple(map(Push.from_dict, content["pushes"])),
        "failure": None if content["failure"] is None else Failure(**content["failure"]),
        "info": dict(_entry(content, "info", _is_object, "object")),
    }
    shapes = _entry(content, "signals", _is_object, "object") if "signals" in content else {}
    signals = {name: tuple(shape) for name, shape in shapes.items()}
    if any(not all(map(_is_count, shape)) for shape in signals.values()):
        raise RecordingError(f"its 'signals' are {_shown(shapes)} and no numbers of things")
    return described, _entry(content, "samples", _is_count, "number of things"), signals


def _entry(content: Mapping[str, Any], key: str, wanted: Callable[[Any], bool], what: str) -> Any:
    """An entry of a manifest, or an error if it is not what is wanted."""
    if not wanted(content[key]):
        raise RecordingError(f"its '{key}' is {_shown(content[key])} and no {what}")
    return content[key]


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_count(value: Any) -> bool:
    return is_whole(value, 0) and value < 2**40


def _is_step(value: Any) -> bool:
    return not isinstance(value, bool) and is_number(value) and value > 0.0


def _law(description: Mapping[str, Any]) -> Law:
    try:
        return make_law(description)
    except LawError:
        name = _entry(description, "name", lambda given: isinstance(given, str), "name of a law")
        # Options are hashable, so what JSON holds as a list was a tuple.
        options = {key: tuple(v) if isinstance(v, list) else v for key, v in description.items() if key != "name"}
        return UnknownLaw(name=name, given=options)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


MANIFEST, SAMPLES = "manifest.json", "samples.parquet"
#: Samples that the manifest may already belong to, about to be renamed into place.
NEXT = ".samples.parquet.next"
LARGEST_MANIFEST = 2**30  # bytes


# ---- writing -----------------------------------------------------------------------------------------------


def write(rec: Record, path: str | os.PathLike[str], progress: Callable[[float], None] | None = None) -> Path:
    """See ``Recording.save``."""
    target = place_for(path)
    content, files = described(rec)
    made = not target.exists()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir(exist_ok=True)
        with _Alone(target):
            _complete(target)
            try:
                content["groups"] = write_samples(rec, target / NEXT, progress)
                synced(target / NEXT)
                _put_files(files, target)
                with atomic_write(target / MANIFEST) as part:
                    part.write_text(text_of(content, file_digest(target / NEXT)), encoding="utf-8")
            finally:
                with suppress(OSError, RecordingError):  # the recording is whole, and the next save tries again
                    _complete(target)
    except OSError as error:
        where = f": '{error.filename}'" if error.filename and Path(error.filename) != target else ""
        reason = os.strerror(error.errno) if error.errno else error
        raise RecordingError(f"cannot save the recording to '{target}': {reason}{where}") from error
    finally:
        if made:
            with suppress(OSError):  # if nothing came of it
                target.rmdir()
    return target


def place_for(path: str | os.PathLike[str]) -> Path:
    """The folder of a recording called ``path``; a ``RecordingError`` if something else is there."""
    target = Path(os.path.abspath(Path(path).expanduser()))
    try:
        target = target.resolve() if target.is_symlink() else target
        if not target.exists() or (target.is_dir() and all(map(_is_ours, target.iterdir()))):
            return target
        if (target / MANIFEST).is_file() and _content(target / MANIFEST).get("format") == FORMAT:
            return target
    except RecordingError:
        pass
    except OSError as error:
        raise RecordingError(f"cannot save the recording to '{target}': {error.strerror or error}") from error
    why = "the directory holds something that is not a recording" if target.is_dir() else "a file is in the way"
    raise RecordingError(f"cannot save the recording to '{target}': {why}; give another name")


def _put_files(files: dict[str, bytes], target: Path) -> None:
    """Write the files of the robot, or link those of a recording beside this one, which has the same."""
    if not files:
        return
    digest = digest_of(files)
    name = FILES.format(digest)
    with atomic_write(target / name) as part:
        with suppress(OSError, RecordingError):  # no such file, one that is damaged, or a disk without links
            other = next(target.parent.glob(f"*/{name}"), None)
            if other and not other.is_symlink() and digest_of(read_files(other)) == digest:
                os.link(other, part)
                return
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for inner in sorted(files):  # the same bytes whenever it is written
                archive.writestr(zipfile.ZipInfo(inner), files[inner], zipfile.ZIP_DEFLATED)


def _complete(target: Path) -> None:
    """Put the samples of the manifest in place and remove those of no manifest, as well as robot files of none."""
    manifest = _own_file(target, MANIFEST)
    content = {} if manifest is None else _content(manifest)
    if (target / NEXT).exists():
        if _checksum(content, "samples") == file_digest(target / NEXT):
            os.replace(target / NEXT, target / SAMPLES)
        else:
            (target / NEXT).unlink()
    for other in filter(_is_ours, target.iterdir()):
        if other.name != FILES.format(content.get("files")):
            other.unlink()
    synced(target)


def _is_ours(path: Path) -> bool:
    """Whether a file may have been left by a save that was killed: none but the manifest tells what it is."""
    part = path.name.startswith((f".{MANIFEST}.", ".robot-")) and PART in path.name
    return path.name == NEXT or path.match(FILES.format("*")) or part


class _Alone:
    """A lock: one save at a time among all threads and processes, and no save while it is read.

    Whatever interrupts its holder, it does not stay.
    """

    descriptor = -1

    def __init__(self, folder: Path) -> None:
        self.descriptor = os.open(folder, os.O_RDONLY)

    def __enter__(self) -> None:
        with suppress(OSError):  # file systems that cannot lock
            fcntl.flock(self.descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self.__del__()

    def __del__(self) -> None:
        if self.descriptor >= 0:
            with suppress(OSError):  # closed already, if an interrupt came just then
                os.close(self.descriptor)
            self.descriptor = -1


# ---- reading -----------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> Record:
    """See ``footfall.load_recording``."""
    folder = Path(path).expanduser()
    if not folder.exists():
        raise RecordingError(f"there is no recording '{folder}'")
    if not folder.is_dir():
        raise RecordingError(f"'{folder}' is a file; a recording is a directory")
    try:
        return _read(folder)
    except (OSError, RecordingError):  # of a damaged recording, or of one that a save was replacing meanwhile
        with _Alone(folder):
            return _read(folder)


def _read(folder: Path) -> Record:
    """The recording of a folder, if the manifest and the other files belong together."""
    manifest = _own_file(folder, MANIFEST)
    if manifest is None:
        left = any(map(_is_ours, folder.iterdir()))
        cut = ", only what a save left that was interrupted" if left else ""
        raise RecordingError(f"'{folder}' is not a recording: it has no {MANIFEST}{cut}")
    content = parsed(_content(manifest), folder)
    files = _robot_files(folder, content.get("files"))
    try:
        described, count, shapes = restored(content, files)
    except Exception as error:  # robots, grounds and laws are made from it
        kind = "" if isinstance(error, FootfallError) else f"{type(error).__name__}: "
        reason = " ".join(f"{kind}{error}".split())
        raise RecordingError(f"the manifest of the recording '{folder}' is damaged: {reason}") from error
    samples, others = _samples(folder, _checksum(content, "samples")), len(described["other_points"])
    arrays, signals = read_samples(samples, content.get("groups"), described["robot"], others, count, shapes)
    return Record(**described, signals=signals, **arrays)


def _samples(folder: Path, digest: str) -> Path:
    """The samples of that digest, which an interrupted save may have left under another name."""
    for found in filter(None, [_own_file(folder, name) for name in (NEXT, SAMPLES)]):
        if file_digest(found) == digest:
            return found
    if not (folder / SAMPLES).exists():
        raise RecordingError(f"the recording '{folder}' has no {SAMPLES}")
    raise RecordingError(f"the samples '{folder / SAMPLES}' are damaged: they are not those that were saved")


def _robot_files(folder: Path, digest: Any) -> dict[str, bytes]:
    """The files of the robot, which are named by their digest."""
    if digest is None:
        return {}
    if not isinstance(digest, str) or not digest.isalnum():
        raise RecordingError(f"the manifest of the recording '{folder}' is damaged: its 'files' is no checksum")
    path = _own_file(folder, FILES.format(digest))
    if path is None:
        raise RecordingError(f"the recording '{folder}' has no {FILES.format(digest)}")
    files = read_files(path)
    if digest_of(files) != digest:
        raise RecordingError(f"the robot's files '{path}' are damaged: they are not those that were saved")
    return files


def _own_file(folder: Path, name: str) -> Path | None:
    """A file of the recording; None if it is not there, an error if it is a link or not a regular file."""
    path = folder / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RecordingError(f"'{path}' is not a regular file, and a recording reads only its own files")
    return path if path.exists() else None


def _content(path: Path) -> dict[str, Any]:
    """The content of a manifest, read as untrusted."""
    try:
        if path.stat().st_size > LARGEST_MANIFEST:
            raise RecordingError(f"the manifest '{path}' is larger than {LARGEST_MANIFEST // 2**20} MiB")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordingError(f"cannot read '{path}': {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"the manifest '{path}' is damaged: {error}") from error
    return content if isinstance(content, dict) else {}
