"""A study on disk: a folder with what is to be done, what is finished, and, at the end, the table.

``study.json`` describes the study, ``inputs.parquet`` holds its cases, ``cases/`` the finished ones, ``table.parquet``
the table. The same study continues in its folder; another one is refused, and so is one that was changed by another
hand: its key is computed from its content. The description is never run: work comes from whoever calls ``sweep``.

The journal, one file per batch of cases, is written to disk at once, one line per event. A line says that a case has
begun, gives its row, or revokes it. A process holds a lock on the file of its batch, so that no two do the same case; a
process that dies leaves at most an incomplete last line, which the next one removes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from footfall.errors import StudyError
from footfall.files.atomic_write import atomic_write
from footfall.given_numbers import check_seed, is_whole
from footfall.study.sweep import work as working
from footfall.version import versions

try:
    import fcntl
except ImportError:  # not on this system: one worker per batch is then up to the scheduler alone
    fcntl = None  # type: ignore[assignment]


def batch_file(folder: Path, number: int) -> Path:
    """Where the finished cases of a batch are kept."""
    return folder / "cases" / f"{number:07d}.jsonl"


#: What the row of a case has, and as what.
ROW = {"seed": int, "status": str, "message": str, "outputs": dict, "versions": dict}


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
def open_batch(folder: Path, number: int) -> Iterator[Batch]:
    """The batch, locked; waits while another process works on it."""
    path = batch_file(folder, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield Batch(file)
        file.flush()
        os.fsync(file.fileno())


def forget_failed(folder: Path) -> None:
    """Revoke failed cases, so that they are done again."""
    for path in sorted((folder / "cases").glob("*.jsonl")):
        with open_batch(folder, int(path.stem)) as batch:
            batch.forget_failed()


def finished_rows(folder: Path) -> dict[int, dict[str, Any]]:
    """All rows that are on disk, by the number of their case."""
    found: dict[int, dict[str, Any]] = {}
    for path in sorted((folder / "cases").glob("*.jsonl")):
        found |= _told(_whole_lines(path.read_bytes())[0])[1]
    return found


def finished_in(folder: Path, number: int) -> int:
    """How many cases of a batch are finished."""
    path = batch_file(folder, number)
    return len(_told(_whole_lines(path.read_bytes())[0])[1]) if path.exists() else 0


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
        found.append(_event(line))
        at += len(line)
    return found, at


def _event(line: bytes) -> dict[str, Any]:
    """An event of the journal, if it is one that ``Batch`` writes."""
    try:
        event: dict[str, Any] = json.loads(line)
        case = event.get("begins", event.get("forget", event.get("case")))
        if type(case) is int and ("case" not in event or all(isinstance(event[name], of) for name, of in ROW.items())):
            return event
    except (ValueError, AttributeError, KeyError):
        pass
    shown = line[:60].decode(errors="replace").strip()
    raise StudyError(f"a journal in the study's folder is damaged at '{shown}': remove that file")


FORMAT = 1
STUDY, INPUTS, CASES, TABLE = "study.json", "inputs.parquet", "cases", "table.parquet"
#: Least number of cases for which worlds are worth the minute that their loop takes to compile.
MANY = 100
#: Most cases of a batch, and fewest batches of a study.
LARGEST_BATCH, FEWEST_BATCHES = 50, 64
#: Cases of a batch that runs as worlds, which takes as long to set up as one case, if each worker still has so many
#: batches.
COMPANY, EACH = 8, 4


@dataclass(frozen=True, eq=False)
class Plan:
    """What a study does: its work, the inputs of its cases, the seed, the size of a batch, and whether cases run as
    worlds where they can.
    """

    work: Mapping[str, Any]
    inputs: Mapping[str, Sequence[Any]]
    seed: int
    batch: int
    key: str
    worlds: bool = False

    @property
    def number(self) -> int:
        return len(next(iter(self.inputs.values())))

    @property
    def batches(self) -> int:
        return -(-self.number // self.batch)

    def part(self, number: int) -> Part:
        """The batch of this number."""
        cases = range(number * self.batch, min((number + 1) * self.batch, self.number))
        return Part(number, self.work, {case: self.case_inputs(case) for case in cases}, self.seed, self.worlds)

    def case_inputs(self, case: int) -> dict[str, Any]:
        return {name: values[case] for name, values in self.inputs.items()}


class Part(NamedTuple):
    """A batch of a study, as another process needs it."""

    number: int
    work: Mapping[str, Any]
    inputs: Mapping[int, dict[str, Any]]  # of each case, by its number
    seed: int  # of the study
    worlds: bool

    def case_seed(self, case: int) -> int:
        """The seed of each case, which depends only on the study's seed and the case's number."""
        return int(np.random.SeedSequence(self.seed, spawn_key=(case,)).generate_state(1)[0])


def make_plan(
    work: Callable[..., Any] | Mapping[str, Any],
    measures: tuple[str, ...],
    inputs: Mapping[str, Sequence[Any]],
    seed: int,
    *,
    worlds: bool | None = None,
    workers: int = 1,
) -> Plan:
    """The cases to be done, in batches for this many workers."""
    check_seed(seed)
    described = working.describe(work, measures)
    number = len(next(iter(inputs.values())))
    batch = min(LARGEST_BATCH, max(1, number // FEWEST_BATCHES))
    batched = (number >= MANY if worlds is None else worlds) and isinstance(work, Mapping)
    if batched:
        batch = max(batch, min(COMPANY, number // (EACH * workers)))
    return Plan(described, inputs, seed, batch, _key(described, inputs, seed), batched)


def _key(work: Mapping[str, Any], inputs: Mapping[str, Sequence[Any]], seed: int) -> str:
    """What two studies share that are the same one; their files may have moved to another folder."""
    same = {name: value for name, value in work.items() if name != "file"}
    kept = {name: _column(values).to_pylist() for name, values in inputs.items()}
    content = json.dumps([same, kept, seed], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def open_folder(folder: Path, plan: Plan) -> Plan:
    """Make the study's folder, or continue with an existing one of the same study, in batches of its size."""
    known = folder / STUDY
    if known.exists():
        old = read_plan(folder)
        if old.key != plan.key:
            what = _difference(old, plan)
            raise StudyError(f"{folder} holds another study ({what}): choose another folder, or remove that one")
        return replace(plan, batch=old.batch)
    if folder.exists() and not _may_begin(folder):
        raise StudyError(f"{folder} is there already and holds no study: choose another folder")
    try:
        (folder / CASES).mkdir(parents=True, exist_ok=True)
        write_columns(folder / INPUTS, plan.inputs)
        about = {
            "format": FORMAT,
            "key": plan.key,
            "work": plan.work,
            "inputs": list(plan.inputs),
            "cases": plan.number,
            "seed": plan.seed,
            "batch": plan.batch,
            "worlds": plan.worlds,
            "versions": versions(),
        }
        with atomic_write(known) as part:
            part.write_text(json.dumps(about, indent=1), encoding="utf-8")
    except OSError as error:
        raise StudyError(f"cannot write the study to '{folder}': {error.strerror or error}") from error
    return plan


def _may_begin(folder: Path) -> bool:
    """Whether a study may begin in a folder: it is empty, or holds only what a study killed at its beginning left."""
    if not folder.is_dir():
        return False
    names = [path.name for path in folder.iterdir()]
    begun = all(name in (CASES, INPUTS) or name.startswith((f".{INPUTS}.", f".{STUDY}.")) for name in names)
    return begun and not any((folder / CASES).glob("*"))


def read_plan(folder: Path) -> Plan:
    """The plan that a folder holds; its work is a description, and is never run."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    path = folder / STUDY
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise StudyError(f"{path} is a study of format {about['format']}; this version reads format {FORMAT}")
        with parquet.ParquetFile(folder / INPUTS) as file:
            inputs = file.read().to_pydict()
        plan = Plan(about["work"], inputs, about["seed"], about["batch"], about["key"], about.get("worlds", False))
        intact = plan.key == _key(plan.work, inputs, plan.seed) and is_whole(plan.batch, 1)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, arrow.ArrowException) as error:
        raise StudyError(f"{path} cannot be read as a study: {error}") from error
    if not intact:
        raise StudyError(f"the study in {folder} was changed after it was written: choose another folder, or remove it")
    return plan


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as Parquet."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    with atomic_write(path) as part:
        parquet.write_table(arrow.table({name: _column(values) for name, values in columns.items()}), part)


def _column(values: Sequence[Any]) -> Any:
    """A column as Parquet holds it: numbers, truth values or texts; numbers among texts become texts."""
    import pyarrow as arrow

    try:
        return arrow.array(values)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        return arrow.array([None if value is None else str(value) for value in values])


def _difference(old: Plan, plan: Plan) -> str:
    if list(old.inputs) != list(plan.inputs) or old.number != plan.number:
        return f"{old.number} cases of {', '.join(old.inputs)}"
    if old.seed != plan.seed:
        return f"seed {old.seed}"
    was, now = ({name: value for name, value in one.work.items() if name != "file"} for one in (old, plan))
    return "the values of its inputs differ" if was == now else "what its cases do has changed"
