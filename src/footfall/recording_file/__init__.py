"""Recordings on the disk: the directory of a recording, replaced atomically, and read as untrusted.

``manifest`` says and checks what a recording is, ``samples`` holds its arrays and the files of its robot.

The manifest says by their checksum which samples and which robot files it belongs to, and replacing it is the one step
that replaces a recording. Before it, the new samples are complete under a name of their own, and robot files have names
that are their checksums; after it, the new samples take the place of the old ones and old robot files are removed. So
whatever interrupts a save, and wherever, one whole recording is there. The next save completes or removes what it left.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import RecordingError
from footfall.files.atomic_write import PART, atomic_write, synced
from footfall.record import Record
from footfall.recording_file.manifest import FORMAT, described, parsed, restored, saved_digest, text_of
from footfall.recording_file.samples import (
    FILES,
    digest_of,
    file_digest,
    read_files,
    read_samples,
    write_files,
    write_samples,
)

__all__ = ["place_for", "read", "write"]

MANIFEST, SAMPLES = "manifest.json", "samples.parquet"
#: Samples that the manifest may already belong to, about to be renamed into place.
NEXT = ".samples.parquet.next"
LARGEST_MANIFEST = 2**30  # bytes; recordings of version 1 have the robot's meshes inside
#: How often a reader tries again when a recording is being replaced while it reads.
ATTEMPTS = 5


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
                write_samples(rec, target / NEXT, progress)
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
        write_files(files, part)


def _complete(target: Path) -> None:
    """Put the samples of the manifest in place and remove those of no manifest, as well as robot files of none."""
    manifest = _own_file(target, MANIFEST)
    content = {} if manifest is None else _content(manifest)
    if (target / NEXT).exists():
        if saved_digest(content, "") == file_digest(target / NEXT):
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
    """A lock: one save at a time among all threads and processes. Whatever interrupts a save, it does not stay."""

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
    """The recording of a folder, if the manifest and the other files belong together."""
    manifest = _own_file(folder, MANIFEST)
    if manifest is None:
        left = any(map(_is_ours, folder.iterdir()))
        cut = ", only what a save left that was interrupted" if left else ""
        raise RecordingError(f"'{folder}' is not a recording: it has no {MANIFEST}{cut}")
    content = parsed(_content(manifest), folder)
    found = restored(content, _robot_files(folder, content.get("files")), folder)
    samples, digest = _samples(folder, saved_digest(content, ""))
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


def _samples(folder: Path, digest: str) -> tuple[Path, str]:
    """The samples of that digest, of an interrupted save where they are not in place yet, and the digest they have."""
    following = _own_file(folder, NEXT)
    if following is not None and file_digest(following) == digest:
        return following, digest
    samples = _own_file(folder, SAMPLES)
    if samples is None:
        raise RecordingError(f"the recording '{folder}' has no {SAMPLES}")
    return samples, file_digest(samples)


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
