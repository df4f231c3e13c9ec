"""The directory of a recording: replaced atomically, and read as untrusted.

To replace a recording, the new samples are written to another file, and the new manifest, which holds their checksum,
is put beside the old one. Then the samples are renamed into place: that is the atomic step. A reader takes the manifest
whose checksum matches the samples, so a save that is killed before this step has changed nothing, and one killed after
it everything. The next save removes what a killed one left.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import RecordingError
from footfall.files.atomic_write import PART, atomic_write, synced
from footfall.record import Record
from footfall.recording_file.manifest import FORMAT, described, parsed, restored, saved_digest, text_of
from footfall.recording_file.samples import file_digest, read_samples, write_samples

MANIFEST, SAMPLES = "manifest.json", "samples.parquet"
#: The manifest of samples that are about to be renamed into place.
NEXT = ".manifest.json.next"
LARGEST_MANIFEST = 2**30  # bytes; meshes of a robot are inside
#: How often a reader tries again when a recording is being replaced while it reads.
ATTEMPTS = 5


# ---- writing -----------------------------------------------------------------------------------------------


def write(rec: Record, path: str | os.PathLike[str]) -> Path:
    """See ``Recording.save``."""
    target = place_for(path)
    content = described(rec)
    made = not target.exists()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir(exist_ok=True)
        with _alone(target):
            _put_in_place(rec, content, target)
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
    """Where a recording called ``path`` goes; a ``RecordingError`` if something else is there."""
    target = Path(os.path.abspath(Path(path).expanduser()))
    target = target.resolve() if target.is_symlink() else target
    if target.exists() and not target.is_dir():
        raise RecordingError(f"cannot save the recording to '{target}': a file is in the way; give another name")
    try:
        if not target.is_dir() or all(map(_is_ours, target.iterdir())):
            return target
        if (target / MANIFEST).is_file() and _content(target / MANIFEST).get("format") == FORMAT:
            return target
    except RecordingError:
        pass
    except OSError as error:
        raise RecordingError(f"cannot save the recording to '{target}': {error.strerror or error}") from error
    raise RecordingError(
        f"cannot save the recording to '{target}': the directory holds something that is not a recording; "
        "give another name"
    )


def _put_in_place(rec: Record, content: dict[str, Any], target: Path) -> None:
    (target / NEXT).unlink(missing_ok=True)
    try:
        with atomic_write(target / SAMPLES) as samples:
            write_samples(rec, samples)
            with atomic_write(target / NEXT) as manifest:
                manifest.write_text(text_of(content, file_digest(samples)), encoding="utf-8")
        os.replace(target / NEXT, target / MANIFEST)
        synced(target)
    finally:
        (target / NEXT).unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    """Whether a file may have been left in an empty directory by a save that was killed."""
    return path.name in (NEXT, SAMPLES) or (path.name.startswith((f".{SAMPLES}.", f".{NEXT}.")) and PART in path.name)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """A lock: one save at a time among all threads and processes."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # file systems that cannot lock
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# ---- reading -----------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> Record:
    """See ``footfall.load_recording``."""
    folder = Path(path).expanduser()
    if not folder.exists():
        raise RecordingError(f"there is no recording '{folder}'")
    if not folder.is_dir():
        raise RecordingError(f"'{folder}' is a file; a recording is a directory")
    for attempt in range(ATTEMPTS):
        before = _stamp(folder)
        try:
            return _read(folder)
        except RecordingError:
            if attempt + 1 == ATTEMPTS or _stamp(folder) == before:
                raise
    raise AssertionError("every attempt returns or raises")


def _stamp(folder: Path) -> list[tuple[int, int] | None]:
    """What changes when a recording is replaced."""
    stamps: list[tuple[int, int] | None] = []
    for name in (MANIFEST, SAMPLES, NEXT):
        try:
            found = (folder / name).stat()
            stamps.append((found.st_ino, found.st_mtime_ns))
        except OSError:
            stamps.append(None)
    return stamps


def _read(folder: Path) -> Record:
    """The recording of a folder, if manifest and samples belong together."""
    samples = _own_file(folder, SAMPLES)
    digest = file_digest(samples) if samples is not None else ""
    content = _manifest(folder, digest)
    found = restored(content, folder)
    if samples is None:
        raise RecordingError(f"the recording '{folder}' has no {SAMPLES}")
    # A missing column is a clearer error than a wrong checksum, so columns are checked first.
    count = len(found.other_points)
    arrays, signals = read_samples(samples, found.robot, count, found.samples, found.signals)
    if digest != saved_digest(content, digest):
        raise RecordingError(f"the samples '{samples}' are damaged: they are not those that were saved")
    return Record(
        robot=found.robot,
        other_points=np.array(found.other_points, dtype=int),
        ground=found.ground,
        law=found.law,
        dt=found.dt,
        pushes=found.pushes,
        failure=found.failure,
        info=found.info,
        signals=signals,
        **arrays,
    )


def _manifest(folder: Path, digest: str) -> dict[str, Any]:
    """The manifest of the samples with that digest: the one in place, or the one of an interrupted save."""
    following = _own_file(folder, NEXT)
    if following is not None:
        with suppress(RecordingError):
            content = parsed(_content(following), folder)
            if saved_digest(content, "") == digest:
                return content
    manifest = _own_file(folder, MANIFEST)
    if manifest is None:
        left = any(map(_is_ours, folder.iterdir()))
        cut = ", only what a save left that was interrupted" if left else ""
        raise RecordingError(f"'{folder}' is not a recording: it has no {MANIFEST}{cut}")
    return parsed(_content(manifest), folder)


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
