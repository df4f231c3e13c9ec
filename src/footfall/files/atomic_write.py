"""Atomic writing: a file or a whole folder is written under another name, forced to the disk, then renamed.

A reader finds either what was there or what is new, complete, whenever the process is interrupted or killed. What a
killed process left behind is removed at the next write to the same place.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from platform import node

from footfall.errors import FootfallError

PART = ".part"
STALE = 86400.0  # s, age from which files of another machine count as litter


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A path to write to, with the ending of ``path``; when the block ends well, what is there is renamed to ``path``.

    The block writes a file, or makes a folder and fills it. A folder takes the place of none or of an empty one only:
    no file system replaces a full folder in one step. A device or a pipe is written to directly. Litter of earlier
    attempts is removed.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    if not path.name:
        raise FootfallError(f"cannot write to '{path}': it is a folder")
    target = path.resolve() if path.is_symlink() else path
    remove_litter(target)
    part = target.with_name(f".{target.name}.{_here()}-{os.getpid()}-{uuid.uuid4().hex[:8]}{PART}{target.suffix}")
    try:
        yield part
        for inner in part.rglob("*"):
            synced(inner)
        synced(part)
        os.replace(part, target)
        synced(target.parent)
    except OSError as error:
        if error.filename == str(part):
            error.filename = str(path)  # as it was asked for
        raise
    finally:
        with suppress(OSError):  # a disk that cannot be written says so on both
            _remove(part)


@contextmanager
def new_file(path: Path, what: str = "") -> Iterator[Path]:
    """As :func:`atomic_write`, for a file of the user: makes its folders; an error names it, or ``what``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as part:
            yield part
    except OSError as error:
        raise FootfallError(f"cannot write {what and f'{what} to '}'{path}': {error.strerror or error}") from error


def write_text(path: Path, text: str, what: str = "") -> Path:
    """Write a text as :func:`new_file`; returns its path."""
    with new_file(path, what) as part:
        part.write_text(text, encoding="utf-8")
    return path


def remove_litter(target: Path) -> None:
    """Remove what processes that no longer run left beside ``target``."""
    begin = f".{target.name}."
    with suppress(OSError):
        for other in target.parent.iterdir():
            if other.name.startswith(begin) and other.name.endswith(PART + target.suffix) and _is_litter(other, begin):
                with suppress(OSError):
                    _remove(other)


def _remove(part: Path) -> None:
    """Remove a file or a folder with all that is in it, if it is there."""
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part)
    else:
        part.unlink(missing_ok=True)


def synced(path: Path) -> None:
    """Force a file or the entries of a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():  # some file systems cannot sync a directory, and need not
            raise
    finally:
        os.close(descriptor)


def _is_litter(part: Path, begin: str) -> bool:
    machine, _, rest = part.name.removeprefix(begin).partition("-")
    number = rest.partition("-")[0]
    if machine == _here() and number.isdecimal():
        return not _runs(int(number))
    with suppress(OSError):
        return time.time() - part.stat().st_mtime > STALE
    return False


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is another user's
    return True


def _here() -> str:
    """This machine, for folders that several share."""
    return f"{zlib.crc32(node().encode()):08x}"
