"""Tables: .csv, .tsv, .txt of spreadsheets, of Vicon, Qualisys, Bertec and AMTI, Cortex' .forces, and .parquet.

In text a table is recognised by its numbers. Its head is the text directly above the first row of numbers: a row of
names, possibly a row of units below it, and a row of groups above it (a marker's or a plate's name over its X, Y, Z).
Everything above the head is a preamble, which is searched for a sampling rate.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from footfall.errors import warn
from footfall.files.measured import Measured
from footfall.files.text import (
    TIMES,
    has_commas,
    is_number,
    known_unit,
    number,
    plain,
    read_text,
    scale_of,
    time_column,
    unique,
)

#: A column's unit: ``force.x [N]``, ``force.x (N)``.
UNIT = re.compile(r"^(.*?)\s*([\[(])([^\])]*)[\])]\s*$")
#: The same as the end of a name: ``fx_N``, ``time_s``. Case counts: R_hip_x_m is in metres, R_M is a name.
ENDING = re.compile(r"^(.+)_(N|kN|Nm|Nmm|m|mm|cm|deg|rad|s|ms|us|ns|m_s|rad_s|deg_s)$")
COUNTS = ("frame", "frames", "sample", "samples", "field", "item", "index", "frameno", "sampleno", "subframe")
#: Samples this far apart, s, are a unit that is not stated.
SLOW = 1.0
_RATE = re.compile(r"(?:rate|frequency|freq|fps|hz)[^0-9\n]{0,24}?([0-9]+(?:[.,][0-9]+)?)", re.IGNORECASE)


class _Table(NamedTuple):
    """Rows of cells: the preamble, the head right above the numbers, and the numbers with the line each stands in."""

    preamble: list[str]
    head: list[list[str]]
    rows: list[list[str]]
    lines: list[int]
    more: int  # the line where text goes on after the numbers, 0 where it does not


class Columns(NamedTuple):
    """Columns of a table by name in SI units, the rate (samples per second) its preamble states, and what was done."""

    values: dict[str, np.ndarray]
    units: dict[str, str]
    rate: float | None
    done: list[str]
    texts: dict[str, list[str]]  # columns that hold no numbers


def read_delimited(path: Path, rate: float | None = None) -> Measured:
    """A table over time; ``rate`` (samples per second) gives the times where the file has none."""
    table = read_columns(path)
    values, units, done = table.values, table.units, table.done
    time = _time(table, rate or table.rate)
    step = float(np.median(np.diff(time))) if len(time) > 2 else 0.0
    if step >= SLOW:
        warn(f"'{path.name}': its samples are {step:g} s apart; if these are milliseconds, call the column time_ms")
    return Measured(time, values, units, "z", path.name, tuple(done))


def read_columns(path: Path) -> Columns:
    """The columns of a table; a ``ValueError`` says what is wrong with it."""
    if path.suffix.lower() == ".parquet":
        return _parquet_columns(path)
    table = _found(read_text(path))
    names, units = _head(table)
    width = len(names)
    for k, row in enumerate(table.rows):
        if len(row) != width:
            line = table.lines[k]
            raise ValueError(f"row {k + 1} has {len(row)} values and not {width}, as its head has (line {line})")
    comma = has_commas(cell for row in table.rows[:200] for cell in row)
    done = ["decimal commas read as points"] if comma else []
    columns: dict[str, np.ndarray] = {}
    of_unit: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    for i, name in enumerate(names):
        cells = [row[i] for row in table.rows]
        if len(cells) > 1 and any(cell.strip() for cell in cells) and not any(map(is_number, cells)):
            texts[name] = [cell.strip() for cell in cells]
            continue
        factor, unit = scale_of(units[i], name) if units[i] else (1.0, "")
        columns[name], of_unit[name] = factor * _numbers(cells, name, table, comma), unit
    if unused := [name for name in texts if plain(name) not in TIMES]:
        done.append(f"left out {', '.join(unused)}, which hold no numbers")
    if table.more:
        done.append(f"read up to line {table.more - 1}, where another table begins")
    return Columns(columns, of_unit, _rate_of(table.preamble), done, texts)


def _parquet_columns(path: Path) -> Columns:
    """The same of a Parquet table: a column's unit is in its name, as in a head, or in its metadata."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except pyarrow.ArrowInvalid:
        raise ValueError("it is not a Parquet table, or was cut off") from None
    columns: dict[str, np.ndarray] = {}
    of_unit: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    for stored in table.schema:
        name, unit = without_unit(stored.name)
        number = pyarrow.types.is_integer(stored.type) or pyarrow.types.is_floating(stored.type)
        if not number:
            texts[name] = [str(one) for one in table[stored.name].to_pylist()]
            continue
        factor, unit = scale_of(unit or (stored.metadata or {}).get(b"unit", b"").decode(), name)
        columns[name] = factor * table[stored.name].to_numpy().astype(float)
        of_unit[name] = unit
    if not columns or not table.num_rows:
        raise ValueError("it holds no samples: no columns of numbers")
    done = [f"left out {', '.join(texts)}, which hold no numbers"] if texts else []
    return Columns(columns, of_unit, None, done, texts)


def _numbers(cells: list[str], name: str, table: _Table, comma: bool) -> np.ndarray:
    try:
        return np.array([number(cell, comma) for cell in cells])
    except ValueError:
        for k, cell in enumerate(cells):
            try:
                number(cell, comma)
            except ValueError as error:
                raise ValueError(
                    f"{error}, in line {table.lines[k]}, column '{name}'; a missing number is left blank or NaN"
                ) from None
        raise


def _time(table: Columns, rate: float | None) -> np.ndarray:
    """The times, or those by the rate."""
    columns, units, done = table.values, table.units, table.done
    time = time_column(columns, units, table.texts, done)
    if time is not None:
        return time
    names = list(columns)
    counts = [name for name in names if plain(name) in COUNTS]
    if rate is None:
        but = f" but '{counts[0]}'" if counts else ""
        raise ValueError(
            f"it has no column 'time'{but}, and does not state its rate: give rate= in samples per second; its columns "
            f"are {', '.join(names)}"
        )
    for name in counts:
        columns.pop(name)
        units.pop(name)
    count = len(next(iter(columns.values()), np.zeros(0)))
    done.append(f"times by {rate:g} samples per second")
    return np.arange(count) / rate


def _rate_of(preamble: list[str]) -> float | None:
    """A sampling rate that the preamble states: ``SampleRate=450``, ``FREQUENCY 200``, or a number alone (Vicon)."""
    for line in preamble:
        found = _RATE.search(line)
        if found:
            return float(found[1].replace(",", "."))
    for line in preamble:
        alone = line.strip(" ,;\t")
        if is_number(alone) and 1.0 <= number(alone) <= 1e5:
            return number(alone)
    return None


# ---- where the table is --------------------------------------------------------------------------------------------


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    return next(csv.reader([line], delimiter=delimiter), [])


def _is_data(cells: list[str]) -> bool:
    """Whether a row holds numbers: half of all that is not blank, or, behind a name, all but that and one."""
    filled = [is_number(cell) or cell.strip().lower() == "nan" for cell in cells if cell.strip()]
    if not filled:
        return False
    return 2 * sum(filled) >= len(filled) if filled[0] else len(filled) > 3 and sum(filled) >= len(filled) - 2


def _delimiter(lines: list[str]) -> str:
    """What separates cells: that which makes the most numbers of the rows that begin with one."""
    best, most = ",", 0.0
    sample = [line for line in lines if is_number(re.split(r"[;\t, ]", line.strip())[0])][-50:]
    for candidate in (";", "\t", ",", " "):
        worth = 0.0
        for line in sample:
            cells = [cell for cell in _split(line, candidate) if cell.strip()]
            good = sum(map(is_number, cells))
            worth += good * good / max(1, len(cells))
        if worth > most:
            best, most = candidate, worth
    if most <= len(sample):  # one number a row at most: the head says how it would go on
        return max(",;\t", key=lines[0].count)
    return best


def _found(text: str) -> _Table:
    lines = [(i + 1, line) for i, line in enumerate(text.splitlines()) if line.strip(" ,;\t\r")]
    plain = [(i, line) for i, line in lines if not line.startswith("#")]
    if not plain:
        raise ValueError("it holds no samples")
    delimiter = _delimiter([line for _, line in plain])
    cells = [_split(line, delimiter) for _, line in plain]
    data = [_is_data(row) for row in cells]
    # A number alone may be a rate: rows of numbers go on.
    start = next((k for k in range(len(cells)) if data[k] and (k + 1 == len(cells) or data[k + 1])), None)
    if start is None:
        raise ValueError("it holds no samples: no rows of numbers below a head")
    stop = next((k for k in range(start, len(cells)) if not data[k] and not _gap(cells[k])), len(cells))
    above = plain[:start]
    comments = [(i, line) for i, line in lines if line.startswith("#") and i < plain[start][0]]
    preamble = [line for _, line in sorted([*above, *comments])]
    if comments and (not above or comments[-1][0] > above[-1][0]):
        above = [(comments[-1][0], comments[-1][1].lstrip("# "))]  # as numpy.savetxt writes a head, and Cortex
    head = [[cell.strip().strip('"').strip() for cell in _split(line, delimiter)] for _, line in above]
    if not head:
        raise ValueError("it has no head: the first row must name the columns, such as time, left.x [N], left.y [N]")
    width = max(len(row) for row in head[-3:])
    rows = [_fitted(row, width) for row in cells[start:stop]]
    head = [_fitted(row, width) + [""] * (width - len(row)) for row in head]
    more = plain[stop][0] if stop < len(cells) else 0
    numbered = [i for i, _ in plain[start:stop]]
    return _Table(preamble, head, rows, numbered, more)


def _gap(row: list[str]) -> bool:
    """Whether a row among numbers has a text in a cell: that is an error of its row, and not the end of the table."""
    return len(row) > 1 and any(is_number(cell) for cell in row[:1])


def _fitted(row: list[str], width: int) -> list[str]:
    """The row without blank cells beyond the head's width."""
    while len(row) > width and not row[-1].strip():
        row = row[:-1]
    return row


def _head(table: _Table) -> tuple[list[str], list[str]]:
    """Names and units of the columns."""
    head = table.head
    units = [""] * len(head[-1])
    filled = [cell.strip("[]() ") for cell in head[-1] if cell]
    if len(head) > 1 and filled and all(known_unit(cell) for cell in filled):
        units = [cell.strip("[]() ") for cell in head[-1]]
        head = head[:-1]
    names = list(head[-1])
    while names and not names[-1] and not any("".join(row[len(names) - 1 :]).strip() for row in table.rows):
        names.pop()  # a delimiter at the end of each line
    for row in table.rows:
        if len(row) == len(names) + 1 and not row[-1].strip():
            row.pop()
    units = units[: len(names)]
    for i, name in enumerate(names):
        names[i], stated = without_unit(name)
        units[i] = stated or units[i]
    if len(head) > 1 and len(set(filter(None, names))) < len([name for name in names if name]):
        names = _grouped(head[-2], names)
    return unique(name or f"column {i + 1}" for i, name in enumerate(names)), units


def without_unit(name: str) -> tuple[str, str]:
    """A column's name without its unit, and the unit, "" where it states none."""
    found, ending = UNIT.match(name), ENDING.match(name)
    if found and (found[2] == "[" or known_unit(found[3])):
        return found[1], found[3]
    if ending and (plain(ending[1]) in TIMES or ending[2] not in ("s", "ms", "us", "ns")):
        return ending[1], ending[2].replace("_", "/")
    return name, ""


def _grouped(groups: list[str], names: list[str]) -> list[str]:
    """Names with that of their group before them; a group's name stands over its first column."""
    found, group = [], ""
    for over, name in zip([*groups, *[""] * len(names)], names, strict=False):
        group = over or group
        found.append(f"{group}.{name}" if group and name and plain(name) not in (*TIMES, *COUNTS) else name)
    return found
