"""A study on disk: a folder with what is to be done, what is finished, and, at the end, the table.

``study.json`` describes the study, ``inputs.parquet`` holds its cases, ``cases.jsonl`` the finished ones, a line each,
``table.parquet`` the table. The same study continues in its folder; another one is refused, and so is one that was
changed by another hand: its key is computed from its content. The description is never run: work comes from whoever
calls ``sweep``.

The process that calls ``sweep`` alone writes the lines, each at once, and holds a lock on their file. If it dies it
leaves at most an incomplete last line, which the next one removes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from footfall.errors import StudyError, optional_package
from footfall.files.atomic_write import atomic_write
from footfall.version import versions

FORMAT = 2
STUDY, INPUTS, CASES, TABLE = "study.json", "inputs.parquet", "cases.jsonl", "table.parquet"
#: What the row of a case has, and as what.
ROW = {"case": int, "seed": int, "status": str, "message": str, "outputs": dict, "versions": dict}
Row = dict[str, Any]


class Journal:
    """The finished cases of a study, ``rows`` by their numbers."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        content = file.read()
        self.rows = _rows(content)
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # torn by a process that died
            file.truncate(whole)

    def finish(self, rows: Sequence[Row]) -> None:
        # One call of write: data that reached the operating system survives the end of this process.
        self._file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        self._file.flush()
        self.rows |= {row["case"]: row for row in rows}

    def forget_failed(self) -> None:
        """Revoke failed cases, so that they are done again."""
        failed = [case for case, row in self.rows.items() if row["status"] == "failed"]
        self._file.write(b"".join(json.dumps({"forget": case}).encode() + b"\n" for case in failed))
        self._file.flush()
        for case in failed:
            del self.rows[case]


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """The journal of a study, locked; waits while another process works on it."""
    with (folder / CASES).open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield Journal(file)
        file.flush()
        os.fsync(file.fileno())


def finished_rows(folder: Path) -> dict[int, Row]:
    """All rows that are on disk, by the number of their case."""
    path = folder / CASES
    return _rows(path.read_bytes()) if path.exists() else {}


def _rows(content: bytes) -> dict[int, Row]:
    """The rows of a journal, if its whole lines are such as ``Journal`` writes."""
    found: dict[int, Row] = {}
    for line in content.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            event = json.loads(line)
            if isinstance(event, dict) and type(event.get("forget")) is int:
                found.pop(event["forget"], None)
                continue
            if all(type(event[name]) is of for name, of in ROW.items()):
                found[event["case"]] = event
                continue
        except (ValueError, TypeError, KeyError):
            pass
        shown = line[:60].decode(errors="replace").strip()
        raise StudyError(f"the journal in the study's folder is damaged at '{shown}': remove that file")
    return found


@dataclass(frozen=True, eq=False)
class Plan:
    """What a study does: its work, the inputs of its cases, and the seed."""

    work: Mapping[str, Any]
    inputs: Mapping[str, Sequence[Any]]
    seed: int

    @property
    def number(self) -> int:
        return len(next(iter(self.inputs.values())))

    def case_inputs(self, case: int) -> dict[str, Any]:
        return {name: values[case] for name, values in self.inputs.items()}

    @property
    def same(self) -> Mapping[str, Any]:
        """The work without its file, which may have moved to another folder."""
        return {name: value for name, value in self.work.items() if name != "file"}

    @property
    def key(self) -> str:
        """What two studies share that are the same one."""
        kept = {name: _column(values).to_pylist() for name, values in self.inputs.items()}
        content = json.dumps([self.same, kept, self.seed], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


def open_folder(folder: Path, plan: Plan) -> None:
    """Make the study's folder, or continue with an existing one of the same study."""
    known = folder / STUDY
    if known.exists():
        old = read_plan(folder)
        if old.key != plan.key:
            what = _difference(old, plan)
            raise StudyError(f"{folder} holds another study ({what}): choose another folder, or remove that one")
        return
    if folder.exists() and not _may_begin(folder):
        raise StudyError(f"{folder} is there already and holds no study: choose another folder")
    about = {"format": FORMAT, "key": plan.key, "work": plan.work, "seed": plan.seed, "cases": plan.number}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_columns(folder / INPUTS, plan.inputs)
        with atomic_write(known) as part:
            part.write_text(json.dumps(about | {"versions": versions()}, indent=1), encoding="utf-8")
    except OSError as error:
        raise StudyError(f"cannot write the study to '{folder}': {error.strerror or error}") from error


def _may_begin(folder: Path) -> bool:
    """Whether a study may begin in a folder: it is empty, or holds only what a study killed at its beginning left."""
    left = (f".{INPUTS}.", f".{STUDY}.")
    return folder.is_dir() and all(path.name == INPUTS or path.name.startswith(left) for path in folder.iterdir())


def read_plan(folder: Path) -> Plan:
    """The plan that a folder holds; its work is a description, and is never run."""
    arrow, parquet = optional_package("pyarrow"), optional_package("pyarrow.parquet")
    path = folder / STUDY
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise StudyError(f"{path} is a study of format {about['format']}; this version reads format {FORMAT}")
        with parquet.ParquetFile(folder / INPUTS) as file:
            plan = Plan(about["work"], file.read().to_pydict(), about["seed"])
        intact = plan.key == about["key"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, arrow.ArrowException) as error:
        raise StudyError(f"{path} cannot be read as a study: {error}") from error
    if not intact:
        raise StudyError(f"the study in {folder} was changed after it was written: choose another folder, or remove it")
    return plan


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as Parquet."""
    arrow, parquet = optional_package("pyarrow"), optional_package("pyarrow.parquet")
    with atomic_write(path) as part:
        parquet.write_table(arrow.table({name: _column(values) for name, values in columns.items()}), part)


def _column(values: Sequence[Any]) -> Any:
    """A column as Parquet holds it: numbers, truth values or texts; numbers among texts become texts."""
    arrow = optional_package("pyarrow", "a study")
    try:
        return arrow.array(values)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        return arrow.array([None if value is None else str(value) for value in values])


def _difference(old: Plan, plan: Plan) -> str:
    if list(old.inputs) != list(plan.inputs) or old.number != plan.number:
        return f"{old.number} cases of {', '.join(old.inputs)}"
    if old.seed != plan.seed:
        return f"seed {old.seed}"
    return "the values of its inputs differ" if old.same == plan.same else "what its cases do has changed"
