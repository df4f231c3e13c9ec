"""A journal: a file of JSON lines, the first of which describes its subject, the others results.

One process writes, each line at once, and holds a lock on the file meanwhile. If it dies it leaves at most an
incomplete last line, which the next one removes. Each line ends with a checksum of the rest of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from footfall.errors import StudyError

CHECK = "crc32"


class Journal:
    """An open journal: ``lines`` are those after the first as they were found, ``about`` is the first.

    A file that is not there, or has no whole line, begins with what is given; ``same`` is whether it does. One that is
    damaged raises a ``ValueError``.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)  # waits while another process works on it
            self._read(dict(about))
        except BaseException:  # a journal that is not open must not hold the lock
            self._release()
            raise

    def _read(self, about: dict[str, Any]) -> None:
        self._file.seek(0)
        found, head = self._file.read(), json.loads(json.dumps(about, default=str))
        lines = whole_lines(found)
        if not found.endswith(b"\n"):
            self._file.truncate(found.rfind(b"\n") + 1)
        if not lines:
            self.write([head])
        self.about, *self.lines = lines or [head]
        self.same = self.about == head

    def _release(self) -> None:
        with suppress(OSError):  # of lines that the disk had no room for, which was said before
            self._file.close()

    def write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines in one call: data that reached the operating system survives the end of this process."""
        with self._writing():
            self._file.write(b"".join(json.dumps({**line, CHECK: _sum(line)}).encode() + b"\n" for line in lines))
            self._file.flush()

    def close(self) -> None:
        """Flush all lines to the disk, and release the lock."""
        try:
            with self._writing():
                os.fsync(self._file.fileno())
        finally:
            self._release()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # in most cases the disk is full
            raise StudyError(f"cannot write to '{self._file.name}': {error.strerror or error}") from error


def whole_lines(content: bytes) -> list[dict[str, Any]]:
    """The lines of a journal, without a torn one at its end; a ``ValueError`` where one is not what was written."""
    try:
        lines = [json.loads(line) for line in content.split(b"\n")[:-1]]
    except RecursionError:
        raise ValueError("a line is nested too deeply") from None
    if not all(isinstance(line, dict) for line in lines):
        raise ValueError("a line is no JSON object")
    for number, line in enumerate(lines, 1):
        if line.pop(CHECK, _sum(line)) != _sum(line):  # those of earlier versions have none
            raise ValueError(f"line {number} does not match its checksum")
    return lines


def _sum(line: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(line).encode()):08x}"
