"""The cache on disk for results that are expensive to compute: compiled code, optimised gaits, fitted walks."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from pathlib import Path


def cache_folder(purpose: str) -> Path | None:
    """A folder that this user can write to, or ``None`` if there is none.

    The first that works of ``FOOTFALL_CACHE``, the system's cache directory, and a folder in the temporary directory.
    """
    return _usable(tuple(path / purpose for path in _candidates()))


def _candidates() -> list[Path]:
    found = []
    if named := os.environ.get("FOOTFALL_CACHE"):
        found.append(Path(named).expanduser())
    elif system := os.environ.get("XDG_CACHE_HOME"):
        found.append(Path(system) / "footfall")
    elif os.environ.get("HOME"):
        home = Path.home()
        found.append((home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache") / "footfall")
    return [*found, Path(tempfile.gettempdir()) / f"footfall-{os.geteuid()}"]


@cache
def _usable(candidates: tuple[Path, ...]) -> Path | None:
    for path in candidates:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            # Whoever may write to the parent folder could replace this one: it must be ours as well.
            if only_ours(path.parent.stat()) and only_ours(path.stat()):
                tempfile.TemporaryFile(dir=path).close()
                return path
        except OSError:
            continue
    return None


def only_ours(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user and nobody else may write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
