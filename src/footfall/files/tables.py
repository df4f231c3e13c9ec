"""Tables of other programs: .csv, .tsv, .txt of spreadsheets, of Vicon, Qualisys, Bertec and AMTI, Cortex' .forces, and
.parquet; their encodings, numbers as their countries write them, units, and times.

In text a table is recognised by its numbers. Its head is the text directly above the first row of numbers: a row of
names, possibly a row of units below it, and a row of groups above it (a marker's or a plate's name over its X, Y, Z).
Everything above the head is a preamble, which is searched for a sampling rate.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from footfall.errors import optional_package
from footfall.files.measured import Measured

#: Texts for a missing number.
MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-", "--", "#n/a", "missing"))
_COMMA = re.compile(r"^[+-]?\d[\d.]*,\d+([eE][+-]?\d+)?$|^[+-]?\d+,\d+$")


def read_text(path: Path) -> str:
    """The text of a file: UTF-8 or UTF-16, with or without a byte order mark, or else Windows' Western encoding."""
    content = path.read_bytes()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    if b"\0" in content[:4096]:
        raise ValueError("it is binary, and not text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _usual(cell: str) -> float | None:
    """The finite number of a cell that Python reads as it is, as nearly all are; ``None`` of any other."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in cell else None


def number(cell: str, comma: bool = False) -> float:
    """A number, NaN if it is missing; with ``comma`` written as 1.234,5. A ``ValueError`` if it is no number."""
    if (value := _usual(cell)) is not None:
        return value
    text = cell.strip().strip('"').strip()
    if text.lower() in MISSING:
        return float("nan")
    if comma and "," in text:
        text = text.replace(".", "").replace(",", ".")
    if "_" in text:  # Python reads 1_000 as a number
        raise ValueError(f"could not convert '{text}' to a number")
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"could not convert '{text}' to a number") from None


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, written with a point or a comma; a missing one is none."""
    if _usual(cell) is not None:
        return True
    text = cell.strip().strip('"').strip()
    if text.lower() in MISSING:
        return False
    try:
        number(text, comma=bool(_COMMA.match(text)))
    except ValueError:
        return False
    return True


def has_commas(cells: Iterable[str]) -> bool:
    """Whether numbers are written with a comma: some are, and none with a point alone."""
    found = False
    for cell in cells:
        text = cell.strip().strip('"').strip()
        if _COMMA.match(text):
            found = True
        elif re.match(r"^[+-]?\d+\.\d+$", text):
            return False
    return found


def unique(names: Iterable[str]) -> list[str]:
    """The names, a second one of the same with its number after it."""
    found: list[str] = []
    for i, name in enumerate(names):
        found.append(name if name not in found else f"{name}#{i + 1}")
    return found


# ---- units ----------------------------------------------------------------------------------------------------------


#: Units of files by their SI unit, with their factors; in lower case, without dots, stars and blanks.
_IN_SI: dict[str, dict[str, float]] = {
    "m": {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "in": 0.0254},
    "rad": {"deg": np.pi / 180.0, "rad": 1.0},
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "m/s": {"m/s": 1.0, "mm/s": 1e-3, "cm/s": 1e-2},
    "m/s2": {"m/s2": 1.0, "mm/s2": 1e-3},
    "rad/s": {"rad/s": 1.0, "deg/s": np.pi / 180.0},
    "N": {"n": 1.0, "kn": 1e3, "mn": 1e-3, "kgf": 9.80665, "lbf": 4.4482216152605},
    "N m": {"nmm": 1e-3, "ncm": 1e-2, "nm": 1.0, "knm": 1e3},
    "": {"": 1.0},
}
#: Factor and SI unit of each.
SCALES = {name: (factor, unit) for unit, names in _IN_SI.items() for name, factor in names.items()}
#: Units that are kept as they are: nothing here computes with them.
KEPT = ("V", "mV", "uV", "W", "J", "kg", "g", "Hz", "%", "N/kg", "Nm/kg", "BW", "1", "-")
#: Other names of units.
_SPELLED = {
    "n": ("newton", "newtons"),
    "kgf": ("kp",),
    "m": ("meter", "meters", "metre", "metres"),
    "mm": ("millimeter", "millimeters", "millimetres"),
    "deg": ("degree", "degrees", "degs", "°"),
    "deg/s": ("°/s",),
    "rad": ("radian", "radians"),
    "s": ("sec", "secs", "second", "seconds"),
    "nm": ("newtonmeters", "newtonmetres"),
    "m/s2": ("m/s^2", "m/s²"),
}
_NAMES = {spelled: name for name, all_ in _SPELLED.items() for spelled in all_}
_KEPT = {name.lower(): name for name in KEPT} | {"µv": "uV", "μv": "uV", "volt": "V", "volts": "V"}


def known_unit(text: str) -> tuple[float, str] | None:
    """Factor and SI unit of a unit as people write it (``N.mm``, ``N mm``, ``Nmm``), None where it is not known."""
    key = re.sub(r"[.·*⋅ _-]", "", text.strip().lower())
    key = _NAMES.get(key, key)
    if key in SCALES and (key or not text.strip()):
        return SCALES[key]
    kept = _KEPT.get(text.strip().lower())
    return None if kept is None else (1.0, kept)


def scale_of(text: str, column: str = "") -> tuple[float, str]:
    """Factor and SI unit; a ``ValueError`` names a unit that is not known, and its column."""
    found = known_unit(text)
    if found is None:
        of = f"of column '{column}' " if column else ""
        known = ", ".join([*(name for name in SCALES if name), *KEPT])
        raise ValueError(f"its unit '{text.strip()}' {of}is not known; known: {known}")
    return found


# ---- times ----------------------------------------------------------------------------------------------------------


TIMES = ("time", "t", "times", "timestamp", "stamp", "elapsed", "seconds", "zeit", "tempo", "temps")
#: Seconds since 1970 are more than this, and those of any measurement less.
SINCE_1970 = 1e8
#: Times since 1970 without a unit: at least so many are in ns, us or ms.
FINER = ((1e17, 1e-9, "ns"), (1e14, 1e-6, "us"), (1e11, 1e-3, "ms"))
#: Step of times without a unit from which they are not in s; and the longest in the unit that they are in, s.
SLOW, COARSE = 1.0, 0.2
NANOSECONDS = re.compile(r"^(.*?)n(?:ano)?(sec(?:ond)?s?)$", re.IGNORECASE)
CLOCK = re.compile(r"^(\d{1,2}):(\d{2}):(\d{2}(?:[.,]\d+)?)$")


def plain(name: str) -> str:
    """The letters of a name, in lower case."""
    return re.sub(r"[^a-z]", "", name.lower())


def time_column(
    columns: dict[str, np.ndarray], units: dict[str, str], texts: dict[str, list[str]], done: list[str]
) -> np.ndarray | None:
    """The times (s), taken out of the other columns; None where there are none."""
    for name in columns:
        if plain(name) in TIMES:
            time, unit = columns.pop(name), units.pop(name)
            if unit not in ("", "s"):
                raise ValueError(f"its column '{name}' is in {unit} and not in seconds")
            return _from_0(time, unit, name, done)
    for name in columns:
        found = NANOSECONDS.match(name)
        if found and (whole := f"{found[1]}{found[2]}") in columns:  # .../stamp/sec and .../stamp/nanosec
            seconds, fractions = columns.pop(whole), columns.pop(name)
            units.pop(whole), units.pop(name)
            done.append(f"times by '{whole}' and '{name}'")
            return _from_0(seconds - seconds[0], "s", whole, done) + 1e-9 * fractions
    for name, cells in texts.items():
        if plain(name) in TIMES:
            done.append(f"times by the clock of '{name}' begin at 0")
            times = np.array([_clock(cell, name) for cell in cells])
            return times - times[0]
    return None


def _from_0(time: np.ndarray, unit: str, name: str, done: list[str]) -> np.ndarray:
    """Times in s, from 0 where they are counted from 1970 or since a machine was started."""
    size = float(np.nanmedian(np.abs(time))) if time.size else 0.0
    step = float(np.nanmedian(np.diff(time))) if time.size > 2 else 0.0
    scale, taken = 1.0, ""
    if not unit and (size >= FINER[-1][0] or step >= SLOW):
        by_step = (one for one in reversed(FINER) if one[1] * step < COARSE)
        _, scale, taken = next((one for one in FINER if size >= one[0]), next(by_step, FINER[0]))
    if size < SINCE_1970:
        if taken:
            done.append(f"times of '{name}' are {step:g} apart: taken to be in {taken}")
        return scale * time
    done.append(f"times of '{name}', counted from 1970{f' in {taken}' if taken else ''}, begin at 0")
    return scale * (time - time[0])


def _clock(cell: str, name: str) -> float:
    """A time of day, or a date and a time, in s."""
    clock = CLOCK.match(cell.strip('" '))
    if clock:
        return 3600.0 * int(clock[1]) + 60.0 * int(clock[2]) + float(clock[3].replace(",", "."))
    try:
        return (datetime.fromisoformat(cell.strip('" ')).replace(tzinfo=None) - datetime(2000, 1, 1)).total_seconds()
    except ValueError:
        raise ValueError(
            f"its column '{name}' holds '{cell}', which is neither a number of seconds nor a time"
        ) from None


#: A column's unit: ``force.x [N]``, ``force.x (N)``, but not ``motor[3]``, one of several.
UNIT = re.compile(r"^(.*?)(?!(?<=\S)\[\d+\])\s*([\[(])([^\])]*)[\])]\s*$")
#: The same as the end of a name: ``fx_N``, ``time_s``. Case counts: R_hip_x_m is in metres, R_M is a name.
ENDING = re.compile(r"^(.+)_(N|kN|Nm|Nmm|m|mm|cm|deg|rad|s|ms|us|ns|m_s|rad_s|deg_s)$")
COUNTS = ("frame", "frames", "sample", "samples", "field", "item", "index", "frameno", "sampleno", "subframe")
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
    parquet, pyarrow = optional_package("pyarrow.parquet", f"'{path.name}'"), optional_package("pyarrow")
    try:
        table = parquet.read_table(path)
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
    # A text in a cell of a row that begins with a number is an error of its row, and not the end of the table.
    ends = (not data[k] and not (len(cells[k]) > 1 and is_number(cells[k][0])) for k in range(start, len(cells)))
    stop = start + next((k for k, end in enumerate(ends) if end), len(cells) - start)
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
