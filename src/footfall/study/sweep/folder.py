"""A study on disk: a folder with a journal of what is to be done and what is finished, and, at the end, the table.

The first line of ``cases.jsonl`` describes the study, each further one holds a finished case with its inputs;
``table.parquet`` is the table. The same study continues in its folder; another one is refused. The description is never
run: work comes from whoever calls ``sweep``, and that process alone writes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footfall.errors import StudyError, optional_package
from footfall.files.atomic_write import new_file

FORMAT = 3
CASES, TABLE = "cases.jsonl", "table.parquet"
#: Fields of the row of a case, and their types.
ROW = {"case": int, "inputs": dict, "seed": int, "status": str, "message": str, "outputs": dict, "versions": dict}
#: Programs whose versions a row has.
VERSIONS = ("footfall", "mujoco", "numpy")
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Plan:
    """The definition of a study: its work, the inputs of its cases, and the seed."""

    work: Mapping[str, Any]
    inputs: Mapping[str, Sequence[Any]]
    seed: int

    @property
    def number(self) -> int:
        return len(next(iter(self.inputs.values())))

    def case_inputs(self, case: int) -> dict[str, Any]:
        return {name: values[case] for name, values in self.inputs.items()}

    def about(self) -> dict[str, Any]:
        """What two studies share that are the same one."""
        values = hashlib.sha256(json.dumps(list(self.inputs.values())).encode()).hexdigest()
        said = {"format": FORMAT, "cases": self.number, "inputs": list(self.inputs), "values": values}
        return said | {"seed": self.seed, "work": self.work}


class Cases:
    """The finished cases of a study, ``rows`` by their numbers."""

    def __init__(self, folder: Path, journal: Journal, plan: Plan) -> None:
        self._journal, self.rows = journal, rows_of(folder, journal.lines, plan.number, list(plan.inputs))
        for case, row in self.rows.items():
            if json.dumps(row["inputs"]) != json.dumps(plan.case_inputs(case)):
                raise _damaged(folder, f"case {case} has other inputs than the study")

    def finish(self, rows: Sequence[Row]) -> None:
        """Keep rows on the disk."""
        self._journal.write(rows)
        self.rows |= {row["case"]: row for row in rows}

    def forget_failed(self) -> None:
        """Revoke failed cases, so that they are done again."""
        failed = [case for case, row in self.rows.items() if row["status"] == "failed"]
        self._journal.write({"forget": case} for case in failed)
        for case in failed:
            del self.rows[case]


@contextmanager
def open_study(folder: Path, plan: Plan) -> Iterator[Cases]:
    """Begin a study in a folder, or continue the same one; waits while another process works on it."""
    if folder.exists() and not (folder / CASES).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(f"{folder} is there already and holds no study: choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        opened = Journal(folder / CASES, plan.about())
    except OSError as error:
        raise StudyError(f"cannot write the study to '{folder}': {error.strerror or error}") from error
    except ValueError as error:
        raise _damaged(folder, error) from error
    with closing(opened) as journal:
        if not journal.same:
            what = _difference(journal.about, plan.about())
            raise StudyError(f"{folder} holds another study ({what}): choose another folder, or remove that one")
        yield Cases(folder, journal, plan)


def finished_rows(folder: Path) -> tuple[int, dict[int, Row]]:
    """The number of cases of the study in a folder, and the rows of those that are finished, by number."""
    try:
        about, *lines = whole_lines((folder / CASES).read_bytes())
    except OSError as error:
        raise StudyError(f"cannot read '{folder / CASES}': {error.strerror or error}") from error
    except ValueError as error:
        raise _damaged(folder, error) from error
    if about.get("format") != FORMAT:
        raise StudyError(f"{folder} holds a study of format {about.get('format')}; this version reads {FORMAT}")
    number, inputs = about.get("cases"), about.get("inputs")
    if type(number) is not int or number < 1 or type(inputs) is not list:
        raise _damaged(folder, json.dumps(about)[:60])
    return number, rows_of(folder, lines, number, inputs)


def rows_of(folder: Path, lines: Iterable[Row], number: int, inputs: Sequence[Any]) -> dict[int, Row]:
    """The rows of a journal by the numbers of their cases, if its lines are such as ``Cases`` writes of that study."""
    found: dict[int, Row] = {}
    for line in lines:
        if type(line.get("forget")) is int:
            found.pop(line["forget"], None)
        elif _is_row(line, number, inputs):
            found[line["case"]] = line
        else:
            raise _damaged(folder, json.dumps(line)[:60])
    return found


def _is_row(line: Row, number: int, inputs: Sequence[Any]) -> bool:
    """Whether a line of a journal is the row of a case of a study with that number of cases and these inputs."""
    return (
        all(type(line.get(name)) is of for name, of in ROW.items())
        and 0 <= line["case"] < number
        and list(line["inputs"]) == inputs
        and not any(isinstance(value, dict | list) for value in line["outputs"].values())
        and all(type(line["versions"].get(name)) is str for name in VERSIONS)
        and type(line.get("seconds", 0.0)) is float
    )


def _damaged(folder: Path, what: Any) -> StudyError:
    return StudyError(f"'{folder / CASES}' is damaged ({what}): remove that line, or the file")


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as Parquet."""
    arrow, parquet = optional_package("pyarrow"), optional_package("pyarrow.parquet")
    with new_file(path) as part:
        parquet.write_table(arrow.table({name: _column(values) for name, values in columns.items()}), part)


def _column(values: Sequence[Any]) -> Any:
    """A column as Parquet holds it: numbers, truth values or texts; numbers among texts become texts."""
    arrow = optional_package("pyarrow", "a study")
    try:
        return arrow.array(values)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError):
        return arrow.array([None if value is None else str(value) for value in values])


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    what = next(name for name in new if old.get(name) != new[name])
    if what in ("cases", "inputs"):
        return f"{old.get('cases')} cases of {old.get('inputs')}"
    said = {"values": "the values of its inputs differ", "work": "what its cases do has changed"}
    return said.get(what, f"{what} {old.get(what)}")


CHECK = "crc32"


class Journal:
    """An open journal: a file of JSON lines, of which the first, ``about``, describes its subject, and the others,
    ``lines`` as they were found, are results. Each ends with a checksum of the rest of it.

    One process writes, each line at once, and holds a lock on the file meanwhile. If it dies it leaves at most an
    incomplete last line, which the next one removes. A file that is not there, or has no whole line, begins with what
    is given; ``same`` is whether it does. One that is damaged raises a ``ValueError``.
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
