"""The files of a robot in a recording (meshes, textures, a compiled model): one ZIP archive, named by its content.

Recordings of the same robot have the same archive, so that those that lie side by side, as of a comparison, share one.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

from footfall.errors import RecordingError
from footfall.process.machine import machine_memory

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
