"""The cases of a study: every combination of a grid, random or Sobol samples, or the rows of a table.

A case is one value for each input. Cases are columns with one entry per case, in an order that depends only on the
arguments.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import StudyError, optional_package
from footfall.given_numbers import Whole

#: Most cases of a study; larger numbers are refused as typing errors.
MOST = 10_000_000
Scalar = float | int | bool | str
METHODS = ("random", "sobol")


@public
@dataclass(frozen=True)
class Samples:
    """Inputs drawn between bounds: ``Samples(1000, {"push.size": (20.0, 200.0)})``.

    Attributes:
        number: how many cases.
        bounds: lower and upper bound of each input.
        method: "random" (independent, uniform) or "sobol" (a scrambled Sobol sequence, which fills the box evenly).
    """

    number: int
    bounds: Mapping[str, tuple[float, float]]
    method: str = "sobol"

    def columns(self, seed: Whole) -> dict[str, list[Scalar]]:
        if self.method not in METHODS:
            raise StudyError(f"samples are drawn by {' or '.join(METHODS)}, not '{self.method}'")
        if not 0 < self.number <= MOST:
            raise StudyError(f"{self.number} samples were asked for; between 1 and {MOST:.0e} are possible")
        lows, highs = [], []
        for name, pair in self.bounds.items():
            low, high = _bounds(name, pair)
            lows.append(low)
            highs.append(high)
        unit = unit_samples(len(lows), self.number, self.method, seed)
        values = np.array(lows) + unit * (np.array(highs) - np.array(lows))
        return {name: values[:, i].tolist() for i, name in enumerate(self.bounds)}


def unit_samples(dimensions: int, number: int, method: str, seed: int) -> np.ndarray:
    """(number, dimensions) samples of the unit cube."""
    if dimensions == 0:
        raise StudyError("samples need at least one input with bounds")
    if method == "random":
        return np.random.default_rng(seed).random((number, dimensions))
    import warnings

    qmc = optional_package("scipy.stats").qmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a number of samples that is no power of two is the user's choice
        return qmc.Sobol(dimensions, rng=np.random.default_rng(seed)).random(number)


def make_cases(
    grid: Mapping[str, Iterable[Scalar]] | None = None,
    samples: Samples | None = None,
    table: Mapping[str, Sequence[Scalar]] | Sequence[Mapping[str, Scalar]] | str | Path | None = None,
    seed: int = 0,
) -> dict[str, list[Scalar]]:
    """Columns of inputs. A grid is crossed with samples or a table: every row with every combination."""
    if samples is not None and table is not None:
        raise StudyError("a study draws its samples or reads them from a table, not both")
    rows = {} if samples is None and table is None else _read(table) if samples is None else samples.columns(seed)
    axes = {name: _axis(name, values) for name, values in (grid or {}).items()}
    twice = sorted(rows.keys() & axes.keys())
    if twice:
        raise StudyError(f"'{twice[0]}' is given twice, in the grid and outside it")
    if not rows and not axes:
        raise StudyError("a study needs inputs: a grid, samples or a table")
    taken = [name for name in (*axes, *rows) if name in ("case", "status", "message")]
    if taken:
        raise StudyError(f"an input cannot be called '{taken[0]}': every table has a column of that name")
    number = len(next(iter(rows.values()))) if rows else 1
    total = number * math.prod(len(values) for values in axes.values())
    if total > MOST:
        raise StudyError(f"the study has {total:.3g} cases, more than {MOST:.0e}: take samples instead of a grid")
    columns: dict[str, list[Scalar]] = {name: [] for name in (*axes, *rows)}
    for combination in itertools.product(*axes.values()):
        for name, value in zip(axes, combination, strict=True):
            columns[name] += [value] * number
        for name, values in rows.items():
            columns[name] += values
    return columns


def _axis(name: str, values: Iterable[Scalar]) -> list[Scalar]:
    if isinstance(values, str | int | float):
        values = [values]
    found = [_scalar(name, value) for value in values]
    if not found:
        raise StudyError(f"the grid has no value for '{name}'")
    return found


def _scalar(name: str, value: Any) -> Scalar:
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float | str):
        raise StudyError(f"'{name}' = {value!r}: an input of a case is a number, a text, true or false")
    if isinstance(value, float) and not math.isfinite(value):
        raise StudyError(f"'{name}' holds {value}, which is not a finite number")
    return value


def _bounds(name: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in pair)
    except (TypeError, ValueError):
        raise StudyError(f"'{name}' = {pair!r}: samples need a lower and an upper bound") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise StudyError(f"'{name}': the bounds {low:g} and {high:g} do not make an interval")
    return low, high


def _read(table: Any) -> dict[str, list[Scalar]]:
    """Columns of a mapping of columns, of a list of rows, or of a CSV or Parquet file."""
    if isinstance(table, str | Path):
        table = _read_file(Path(table).expanduser())
    if not isinstance(table, Mapping):
        rows = list(table)
        names = list(rows[0]) if rows else []
        for k, row in enumerate(rows):
            if set(row) != set(names):
                raise StudyError(f"row {k} of the table has the inputs {', '.join(row)}, and row 0 {', '.join(names)}")
        table = {name: [row[name] for row in rows] for name in names}
    columns = {str(name): [_scalar(str(name), value) for value in values] for name, values in table.items()}
    if not columns or len({len(values) for values in columns.values()}) != 1 or not len(next(iter(columns.values()))):
        raise StudyError("the table of cases needs columns of one length, with at least one case")
    return columns


def _read_file(path: Path) -> dict[str, list[Any]]:
    arrow = optional_package("pyarrow")
    try:
        if path.suffix.lower() == ".parquet":
            read = optional_package("pyarrow.parquet").read_table
        else:
            read = optional_package("pyarrow.csv").read_csv
        return read(path).to_pydict()
    except (OSError, arrow.ArrowException) as error:
        raise StudyError(f"cannot read the cases of '{path}': {getattr(error, 'strerror', None) or error}") from error
