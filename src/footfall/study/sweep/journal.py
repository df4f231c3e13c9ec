"""The journal of a study, written to disk at once: one file per batch of cases, one line per event.

A line says that a case has begun, gives its row, or revokes it. A worker holds a lock on the file of its batch, so that
no two workers do the same case; a worker that dies leaves at most an incomplete last line, which the next one removes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # not on this system: one worker per batch is then up to the scheduler alone
    fcntl = None  # type: ignore[assignment]


def batch_file(folder: Path, number: int) -> Path:
    """Where the finished cases of a batch are kept."""
    return folder / "cases" / f"{number:07d}.jsonl"


class Batch:
    """A batch that this process works on."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        lines, whole = _whole_lines(file.read())
        if whole < file.tell():  # torn by a process that died
            file.truncate(whole)
        file.seek(whole)
        self.begun, self.rows = _told(lines)

    def begin(self, case: int) -> None:
        self._write({"begins": case})

    def finish(self, row: dict[str, Any]) -> None:
        self.rows[row["case"]] = row
        self._write(row)

    def forget_failed(self) -> None:
        for case in [case for case, row in self.rows.items() if row["status"] == "failed"]:
            self._write({"forget": case})

    def _write(self, line: dict[str, Any]) -> None:
        # One call of write: data that reached the operating system survives the end of this process.
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()


@contextmanager
def open_batch(folder: Path, number: int, *, wait: bool = True) -> Iterator[Batch | None]:
    """The batch, locked; None if another process works on it and ``wait`` is false."""
    path = batch_file(folder, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield None
                return
        file.seek(0)
        yield Batch(file)
        file.flush()
        os.fsync(file.fileno())


def forget_failed(folder: Path) -> None:
    """Revoke failed cases, so that they are done again."""
    for path in sorted((folder / "cases").glob("*.jsonl")):
        with open_batch(folder, int(path.stem)) as batch:
            if batch is not None:
                batch.forget_failed()


def finished_rows(folder: Path) -> dict[int, dict[str, Any]]:
    """All rows that are on disk, by the number of their case."""
    found: dict[int, dict[str, Any]] = {}
    for path in sorted((folder / "cases").glob("*.jsonl")):
        found |= _told(_whole_lines(path.read_bytes())[0])[1]
    return found


def _told(lines: list[dict[str, Any]]) -> tuple[dict[int, int], dict[int, dict[str, Any]]]:
    """How often each case was begun, and the rows of those that are finished, by their numbers."""
    begun: dict[int, int] = {}
    rows: dict[int, dict[str, Any]] = {}
    for line in lines:
        if "begins" in line:
            begun[line["begins"]] = begun.get(line["begins"], 0) + 1
        elif "forget" in line:
            begun.pop(line["forget"], None)
            rows.pop(line["forget"], None)
        else:
            rows[line["case"]] = line
    return begun, rows


def count_finished(folder: Path, known: dict[Path, tuple[int, int]]) -> int:
    """How many rows are on disk; ``known`` keeps sizes and counts of files from call to call."""
    with os.scandir(folder / "cases") as entries:
        for entry in entries:
            size = entry.stat().st_size
            path = Path(entry.path)
            if known.get(path, (-1, 0))[0] != size:
                content = path.read_bytes()
                known[path] = (size, content.count(b'"case": ') - content.count(b'"forget": '))
    return sum(count for _, count in known.values())


def _whole_lines(content: bytes) -> tuple[list[dict[str, Any]], int]:
    """The decoded lines, and where the last whole one ends."""
    found, at = [], 0
    for line in content.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            found.append(json.loads(line))
        except ValueError:
            break
        at += len(line)
    return found, at
