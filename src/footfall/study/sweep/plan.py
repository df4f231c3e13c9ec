"""A study on disk: a folder with what is to be done, what is finished, and, at the end, the table.

``study.json`` describes the study, ``inputs.parquet`` holds its cases, ``cases/`` the finished ones, ``table.parquet``
the table. The same study continues in its folder; another one is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import StudyError
from footfall.files.atomic_write import atomic_write
from footfall.given_numbers import check_seed
from footfall.study.sweep import work as working
from footfall.study.sweep.in_worlds import MANY
from footfall.version import versions

FORMAT = 1
STUDY, INPUTS, CASES, TABLE = "study.json", "inputs.parquet", "cases", "table.parquet"
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

    def cases(self, batch: int) -> range:
        return range(batch * self.batch, min((batch + 1) * self.batch, self.number))

    def case_inputs(self, case: int) -> dict[str, Any]:
        return {name: values[case] for name, values in self.inputs.items()}

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
    same = {name: value for name, value in described.items() if name != "file"}  # a study may move to another folder
    content = json.dumps([same, {name: list(values) for name, values in inputs.items()}, seed], sort_keys=True)
    together = (number >= MANY if worlds is None else worlds) and isinstance(work, Mapping)
    if together:
        batch = max(batch, min(COMPANY, number // (EACH * workers)))
    key = hashlib.sha256(content.encode()).hexdigest()
    return Plan(described, inputs, seed, batch, key, together)


def open_folder(folder: Path, plan: Plan) -> Plan:
    """Make the study's folder, or continue with an existing one of the same study, in batches of its size."""
    known = folder / STUDY
    if known.exists():
        old = _read_study(known)
        if old["key"] != plan.key:
            what = _difference(old, plan)
            raise StudyError(f"{folder} holds another study ({what}): choose another folder, or remove that one")
        return replace(plan, batch=old["batch"])
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
    """The plan that a folder holds."""
    about = _read_study(folder / STUDY)
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(folder / INPUTS) as file:
        inputs = file.read().to_pydict()
    return Plan(about["work"], inputs, about["seed"], about["batch"], about["key"], about.get("worlds", False))


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as Parquet."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    made = {}
    for name, values in columns.items():
        try:
            made[name] = arrow.array(values)
        except (arrow.ArrowInvalid, arrow.ArrowTypeError):  # a column of numbers and texts
            made[name] = arrow.array([None if value is None else str(value) for value in values])
    with atomic_write(path) as part:
        parquet.write_table(arrow.table(made), part)


def _read_study(path: Path) -> dict[str, Any]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise StudyError(f"{path} is a study of format {about['format']}; this version reads format {FORMAT}")
        return about
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StudyError(f"{path} cannot be read as a study: {error}") from error


def _difference(old: Mapping[str, Any], plan: Plan) -> str:
    if old["inputs"] != list(plan.inputs) or old["cases"] != plan.number:
        return f"{old['cases']} cases of {', '.join(old['inputs'])}"
    if old["seed"] != plan.seed:
        return f"seed {old['seed']}"
    now = {name: value for name, value in plan.work.items() if name != "file"}
    was = {name: value for name, value in old["work"].items() if name != "file"}
    return "the values of its inputs differ" if was == now else "what its cases do has changed"
