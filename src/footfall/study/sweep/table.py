"""The table of a sweep: a row per case."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.arguments import public
from footfall.errors import StudyError, did_you_mean, optional_package
from footfall.frozen_values import made_again
from footfall.measure.audit import text_table
from footfall.show.style import COLORS, new_figure
from footfall.study.sweep.folder import TABLE, Plan, finished_rows, read_plan

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

#: Columns of each row besides its inputs and outputs.
OWN = ("case", "status", "message", "seed")
#: As many are shown where the whole table is asked for as text.
FIRST_ROWS = 12


@dataclass(frozen=True, eq=False, repr=False)
class SweepTable:
    """Columns by name, each with one entry per case; ``table["fell"]`` is an array.

    Attributes:
        columns: all of them: case, inputs, outputs, status, message, seed, versions.
        inputs, outputs: which of them are what.
        seconds: computing time of each case, s; not part of the table, which is the same on any machine.
        in_worlds: how many cases were computed as worlds side by side; the others ran one by one.
        alone: reasons why cases ran one by one although worlds were asked for, each with the number of cases.
    """

    columns: Mapping[str, Sequence[Any]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    seconds: np.ndarray
    in_worlds: int = 0
    alone: Mapping[str, int] = field(default_factory=dict)

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
        return optional_package("pandas", "this needs pandas: pip install pandas").DataFrame(dict(self.columns))

    def plot(self, output: str, over: str | None = None) -> Figure:
        """One output over one input, a colour for each value of an input that is a text."""
        return _scatter(self, output, over)

    def __repr__(self) -> str:
        names = ["case", *self.inputs, *self.outputs, *(["status", "message"] if self.failed else [])]
        shown = range(min(len(self), FIRST_ROWS))
        lines = [[_cell(self.columns[name][i]) for name in names] for i in shown]
        numbers = [k for k, name in enumerate(names) if self[name].dtype.kind in "if"]
        more = len(self) - len(shown)
        below = f"\n... and {more} more: table.to_pandas(), table[name]" if more else ""
        return f"{len(self)} cases, {self.failed} failed\n{text_table(names, lines, right=numbers)}{below}"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def _scatter(table: SweepTable, output: str, over: str | None) -> Figure:
    """One output over one numeric input (the first that varies), a colour for each value of a text input."""
    numeric = [name for name in table.inputs if table[name].dtype.kind in "if" and np.ptp(table[name]) > 0]
    texts = [name for name in table.inputs if table[name].dtype.kind in "UO"]
    if output not in table.outputs:
        raise StudyError(f"the study has no output '{output}': {did_you_mean(output, table.outputs)}")
    along = over if over is not None else next(iter(numeric), None)
    if along not in numeric:
        raise StudyError(f"'{along}' is no input with different numbers; such are: {', '.join(numeric) or 'none'}")
    with new_figure(4.2) as figure:
        ax = figure.subplots()
        groups = np.array(["" for _ in range(len(table))]) if not texts else table[texts[0]]
        for g, group in enumerate(np.unique(groups)):
            own = groups == group
            look: Any = {"s": 14, "alpha": 0.7, "color": COLORS[g % len(COLORS)]}
            ax.scatter(table[along][own], table[output][own].astype(float), label=str(group), **look)
        ax.set_xlabel(along)
        ax.set_ylabel(output)
        ax.set_title(f"{output} of {len(table)} cases")
        if texts:
            figure.legend(loc="outside lower center", ncols=4)
    return figure


def from_rows(plan: Plan, rows: Sequence[Mapping[str, Any]]) -> SweepTable:
    """The table of all rows of a plan, in the order of the cases."""
    outputs = list(dict.fromkeys(name for row in rows for name in row["outputs"]))
    titles = {name: f"{name}_out" if name in plan.inputs or name in OWN else name for name in outputs}
    columns: dict[str, Sequence[Any]] = {"case": [row["case"] for row in rows]}
    columns |= {name: list(values) for name, values in plan.inputs.items()}
    columns |= {titles[name]: [row["outputs"].get(name) for row in rows] for name in outputs}
    for name in OWN[1:]:
        columns[name] = [row[name] for row in rows]
    columns |= {f"version_{name}": [row["versions"][name] for row in rows] for name in ("footfall", "mujoco", "numpy")}
    seconds = np.array([row.get("seconds", np.nan) for row in rows])
    batched = sum(bool(row.get("worlds")) for row in rows)
    alone = Counter(row["alone"] for row in rows if row.get("alone"))
    return SweepTable(columns, tuple(plan.inputs), tuple(titles.values()), seconds, batched, dict(alone))


@public
def load_table(path: str | os.PathLike[str]) -> SweepTable:
    """The table of a finished study, from its folder."""
    folder = Path(path).expanduser()
    if not (folder / TABLE).exists():
        raise StudyError(f"{folder} holds no finished study: there is no {TABLE} in it")
    plan = read_plan(folder)
    rows = finished_rows(folder)
    if len(rows) < plan.number:
        raise StudyError(f"{folder} holds {len(rows)} of {plan.number} cases: the same sweep goes on with the rest")
    return from_rows(plan, [rows[case] for case in range(plan.number)])
