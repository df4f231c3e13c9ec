"""Sweeps: thousands of cases of one function or one simulation, in one table with a row per case.

    table = ff.sweep(
        {"robot": "spatial-biped", "controller": "posture", "push": {"body": "trunk", "duration": 0.1}},
        samples=ff.study.Samples(1000, {"push.size": (20, 200), "push.angle": (0, 360)}),
        grid={"law": ["spring-damper", "time-stepping"]},
        out="pushes",
    )
    table["fell"], table.to_pandas()

Each finished case is written to disk at once: a sweep that was killed continues when it is started again.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.arguments import public
from footfall.errors import StudyError, did_you_mean, optional_package
from footfall.files.atomic_write import write_text
from footfall.frozen_values import made_again
from footfall.given_numbers import Count, Whole
from footfall.measure.audit import text_table
from footfall.process.machine import cores
from footfall.show.style import COLORS, Figure, new_figure
from footfall.show.tables import name_and_unit
from footfall.study.sweep import running
from footfall.study.sweep import work as working
from footfall.study.sweep.cases import Samples, make_cases
from footfall.study.sweep.folder import TABLE, VERSIONS, Plan, Row, finished_rows, open_study, write_columns

if TYPE_CHECKING:
    import pandas

__all__ = ["Samples", "SweepTable", "load_table", "sweep"]


@public
def sweep(
    work: Callable[..., Any] | Mapping[str, Any],
    *,
    grid: Mapping[str, Iterable[Any]] | None = None,
    samples: Samples | None = None,
    table: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | str | os.PathLike[str] | None = None,
    measures: Iterable[str] = working.DEFAULT,
    out: str | os.PathLike[str] | None = None,
    seed: Whole = 0,
    workers: Count | None = None,
    scheduler: str | None = None,
    retry: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SweepTable:
    """Run every case and return the table, one row per case: inputs, outputs, status, message, seed, versions.

    A case that fails is a finished row with status "failed" and a message. The table is the same for any number of
    workers.

    Args:
        work: the settings of a simulation (see :mod:`footfall.study.sweep.settings`), or a function of the inputs that
            returns a mapping of numbers and texts, one number, or a ``Recording``. A function that has an argument
            ``seed`` is given the case's own.
        grid: values of each input by its path ("law.k", "push.size"); every combination is a case.
        samples: inputs between bounds, crossed with the grid.
        table: inputs as columns, as rows, or in a CSV or Parquet file, crossed with the grid.
        measures: names of the measures taken of each recording.
        out: folder of the study: the same call again continues with what is not finished; another study in it is
            refused. If left out, only the returned table is kept.
        seed: of samples and cases.
        workers: processes, one per core if left out; a function that other processes cannot import, or a user's own
            law, runs in as many threads.
        scheduler: address of a Dask scheduler, on whose cluster cases run.
        retry: repeat the cases that failed before.
        progress: called with the cases finished and their number.
    """
    optional_package("pyarrow", "a sweep")  # before hours of work
    cases = Path(table) if isinstance(table, os.PathLike) else table
    inputs = make_cases(grid, samples, cases, seed)
    working.check(work, {name: values[0] for name, values in inputs.items()})
    plan = Plan(working.describe(work, working.check_measures(measures)), inputs, seed)
    travels, told = working.travels(work, inputs), progress or (lambda done, total: None)
    if scheduler is not None and not travels:
        raise StudyError(
            "a cluster knows Footfall's own laws, and functions that it can import: put yours into a module"
        )
    with tempfile.TemporaryDirectory(prefix="footfall-sweep-") as aside:
        folder = Path(aside) / "study" if out is None else Path(out).expanduser().absolute()
        with open_study(folder, plan) as journal:
            if retry:
                journal.forget_failed()
            waiting = [case for case in range(plan.number) if case not in journal.rows]
            if waiting and scheduler is not None:
                running.by_dask(running.parts(work, plan, waiting), journal, plan.number, scheduler, told)
            elif waiting:
                asked = workers or cores()
                tasks, apart = running.parts(work, plan, waiting), travels and asked > 1
                running.by_workers(tasks, journal, plan.number, min(asked, len(waiting)), told, apart=apart)
        told(plan.number, plan.number)
        found = _table([journal.rows[case] for case in range(plan.number)])
        write_columns(folder / TABLE, found.columns)
        write_text(folder / "table.csv", found.to_csv())
    return found


#: Columns of each row besides its inputs and outputs; a seed that is an input is the one that a case has.
OWN = ("case", "status", "message", "seed")
#: Most rows in the text of a table.
FIRST_ROWS = 12


@public
@dataclass(frozen=True, eq=False, repr=False)
class SweepTable:
    """Columns by name, each with one entry per case; ``table["fell"]`` is an array.

    Attributes:
        columns: all of them: case, inputs, outputs, status, message, seed, versions.
        inputs, outputs: which of them are what.
        seconds: computing time of each case, s; not part of the table, which is the same on any machine.
    """

    columns: Mapping[str, Sequence[Any]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    seconds: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    def __reduce__(self) -> Any:
        return made_again(self)

    def __len__(self) -> int:
        return len(self.columns["case"])

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise StudyError(f"the table has no column '{name}': {did_you_mean(name, self.columns)}")
        values = self.columns[name]
        numbers = all(
            value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
        )
        if numbers and any(isinstance(value, float) or value is None for value in values):
            return np.array([np.nan if value is None else value for value in values], dtype=float)
        return np.array(values)

    def rows(self) -> Iterator[dict[str, Any]]:
        for case in range(len(self)):
            yield {name: values[case] for name, values in self.columns.items()}

    @property
    def failed(self) -> int:
        """Cases that failed."""
        return sum(status == "failed" for status in self.columns["status"])

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas table."""
        return optional_package("pandas").DataFrame(dict(self.columns))

    def to_csv(self) -> str:
        """The same as text with a row per case, for spreadsheets."""
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(self.columns)
        rows.writerows(zip(*self.columns.values(), strict=True))
        return out.getvalue()

    def plot(self, output: str, over: str | None = None) -> Figure:
        """One output over one numeric input (the first that varies), a colour for each value of a text input, or of
        another numeric input that has few.
        """
        numeric = [name for name in self.inputs if self[name].dtype.kind in "if" and np.ptp(self[name]) > 0]
        texts = [name for name in self.inputs if self[name].dtype.kind in "UO"]
        if output not in self.outputs:
            raise StudyError(f"the study has no output '{output}': {did_you_mean(output, self.outputs)}")
        along = over if over is not None else next(iter(numeric), None)
        if along not in numeric:
            raise StudyError(f"'{along}' is no input with different numbers; such are: {', '.join(numeric) or 'none'}")
        few = [name for name in numeric if name != along and len(np.unique(self[name])) <= len(COLORS)]
        by = next(iter([*texts, *few]), None)
        alone = not {*numeric, *texts} - {along, by}  # nothing else varies from point to point
        with new_figure(4.2) as figure:
            ax = figure.subplots()
            groups = np.full(len(self), "") if by is None else self[by]
            for g, group in enumerate(np.unique(groups)):
                own = groups == group
                x, y = self[along][own], self[output][own].astype(float)
                order = np.argsort(x)
                line = alone and len(np.unique(x)) == len(x)  # one case each: a curve
                look: Any = {"markersize": 4, "alpha": 0.7, "color": COLORS[g % len(COLORS)], "label": str(group)}
                ax.plot(x[order], y[order], "o-" if line else "o", **look)
            ax.margins(x=0.02)  # marks at the ends are whole
            ax.set(xlabel=titled(along), ylabel=titled(output), title=f"{titled(output)}, {len(self)} cases")
            if by is not None:
                figure.legend(loc="outside lower center", ncols=4, title=titled(by))
        return figure

    def __repr__(self) -> str:
        names = ["case", *self.inputs, *self.outputs, *(["status", "message"] if self.failed else [])]
        shown = range(min(len(self), FIRST_ROWS))
        lines = [[_cell(self.columns[name][i]) for name in names] for i in shown]
        numbers = [k for k, name in enumerate(names) if self[name].dtype.kind in "if"]
        more = len(self) - len(shown)
        below = f"\n... and {more} more: table.to_pandas(), table[name]" if more else ""
        return f"{len(self)} cases, {self.failed} failed\n{text_table(names, lines, right=numbers)}{below}"


#: Units of inputs, by the last part of their names.
INPUT_UNITS = {"angle": "deg", "size": "N", "mass": "kg", "duration": "s", "start": "s", "speed": "m/s", "dt": "s"}


def titled(name: str) -> str:
    """The name of a column for people, with its unit where it is known: "slip distance (m)"."""
    plain, unit = name_and_unit(name)
    last = name.rpartition(".")[2]
    unit = unit or (INPUT_UNITS.get(last, "") if "." in name else "")
    return plain.replace(".", " ") + (f" ({unit})" if unit else "")


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def _table(rows: Sequence[Row]) -> SweepTable:
    """The table of all rows of a study, in the order of the cases."""
    inputs = list(rows[0]["inputs"])
    outputs = list(dict.fromkeys(name for row in rows for name in row["outputs"]))
    titles = {name: f"{name}_out" if name in inputs or name in OWN else name for name in outputs}
    columns: dict[str, Sequence[Any]] = {"case": [row["case"] for row in rows]}
    columns |= {name: [row["inputs"][name] for row in rows] for name in inputs}
    columns |= {titles[name]: [row["outputs"].get(name) for row in rows] for name in outputs}
    for name in OWN[1:]:
        columns[name] = columns[name] if name in inputs else [row[name] for row in rows]
    columns |= {f"version_{name}": [row["versions"][name] for row in rows] for name in VERSIONS}
    seconds = np.array([row.get("seconds", np.nan) for row in rows])
    return SweepTable(columns, tuple(inputs), tuple(titles.values()), seconds)


@public
def load_table(path: str | os.PathLike[str]) -> SweepTable:
    """The table of a finished study, from its folder."""
    folder = Path(path).expanduser()
    if not (folder / TABLE).exists():
        raise StudyError(f"{folder} holds no finished study: there is no {TABLE} in it")
    number, rows = finished_rows(folder)
    if len(rows) < number:
        raise StudyError(f"{folder} holds {len(rows)} of {number} cases: the same sweep goes on with the rest")
    return _table([rows[case] for case in range(number)])
