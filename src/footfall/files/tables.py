"""Tables of other programs: .csv, .tsv and .txt of spreadsheets and loggers, and .parquet; their
numbers, with a point or a comma, their units, and their times.

In text a table is recognised by its numbers. Its head is the row of names right above the first row of numbers, or
above a row of units; above it may be a row of groups (a marker's or a plate's name over its X, Y, Z). What stands above
the head is searched for a sampling rate.
"""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from footfall.errors import FootfallError, optional_package
from footfall.files.measured import Measured

Content = TypeVar("Content")


def read_by_ending(path: Path, readers: Mapping[str, Callable[[Path], Content]], kind: str, hint: str = "") -> Content:
    """What the reader of the ending of a file returns; an error names a file that it cannot read as that kind."""
    ending = path.suffix.lower()
    if ending not in readers:
        raise FootfallError(f"'{path}' is not {kind} that can be read: known are {', '.join(sorted(readers))}{hint}")
    if not path.is_file():
        raise FootfallError(f"cannot read '{path}': there is no such file")
    try:
        return readers[ending](path)
    except (OSError, UnicodeDecodeError, ValueError, IndexError, KeyError, zipfile.BadZipFile) as error:
        raise FootfallError(f"'{path}' cannot be read as {kind} ({ending}): {error}") from error


#: Texts for a missing number.
MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-", "--", "#n/a", "missing"))


def number(cell: str) -> float:
    """A number, with a point or a comma before its decimals, NaN if it is missing; a ``ValueError`` if it is none."""
    text = cell.strip().strip('"').strip()
    if text.lower() in MISSING:
        return float("nan")
    try:
        return float(text.replace(",", ".").replace("_", "?"))  # Python reads 1_000 as a number
    except ValueError:
        raise ValueError(f"could not convert '{text}' to a number") from None


def numbers(cells: Sequence[str], lines: Sequence[int], column: str) -> np.ndarray:
    """(T,) the numbers of a column, whose cells come from these lines of the file."""
    found = np.empty(len(cells))
    for k, (cell, line) in enumerate(zip(cells, lines, strict=True)):
        try:
            found[k] = number(cell)
        except ValueError as error:
            raise ValueError(f"{error}, in line {line}, {column}") from None
    return found


def is_number(cell: str) -> bool:
    """Whether a cell holds a number; a missing one is none."""
    try:
        return number(cell) == number(cell)
    except ValueError:
        return False


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


TIMES = (
    "time",
    "t",
    "times",
    "timestamp",
    "timestamps",
    "stamp",
    "stamps",
    "elapsed",
    "seconds",
    "zeit",
    "tempo",
    "temps",
)
#: Seconds since 1970 are more than this, and those of any measurement less.
SINCE_1970 = 1e8
#: Times since 1970 without a unit: at least so many are in ns, us or ms.
FINER = ((1e17, 1e-9, "ns"), (1e14, 1e-6, "us"), (1e11, 1e-3, "ms"))
#: Step of times without a unit from which they are not in s; and the longest in the unit that they are in, s.
SLOW, COARSE = 1.0, 0.2
NANOSECONDS = re.compile(r"^(.*?)n(?:ano)?(sec(?:ond)?s?)$", re.IGNORECASE)


def plain(name: str) -> str:
    """The letters of a name, in lower case."""
    return re.sub(r"[^a-z]", "", name.lower())


def time_column(columns: dict[str, np.ndarray], units: dict[str, str], done: list[str]) -> np.ndarray | None:
    """The times (s), taken out of the other columns; None where there are none."""
    dates = (name for name in columns if units[name] == "s" and float(np.nanmedian(columns[name])) > SINCE_1970)
    for name in [*(name for name in columns if plain(name) in TIMES), *dates]:
        if name in columns:
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


#: A column's unit: ``force.x [N]``, ``force.x (N)``, but not ``motor[3]``, one of several.
UNIT = re.compile(r"^(.*?)(?!(?<=\S)\[\d+\])\s*([\[(])([^\])]*)[\])]\s*$")
#: The same as the end of a name: ``fx_N``, ``time_s``. Case counts: R_hip_x_m is in metres, R_M is a name.
ENDING = re.compile(r"^(.+)_(N|kN|Nm|Nmm|m|mm|cm|deg|rad|s|ms|us|ns|m_s|rad_s|deg_s)$")
COUNTS = ("frame", "frames", "sample", "samples", "field", "item", "index", "frameno", "sampleno", "subframe")
_RATE = re.compile(r"(?:rate|frequency|freq|fps|hz)[^0-9\n]{0,24}?([0-9]+(?:[.,][0-9]+)?)", re.IGNORECASE)


class Columns(NamedTuple):
    """Columns of a table by name in SI units, the rate (samples per second) that it states, and what was done."""

    values: dict[str, np.ndarray]
    units: dict[str, str]
    rate: float | None
    done: list[str]
    texts: dict[str, list[str]]  # columns that hold no numbers


def read_delimited(path: Path, rate: float | None = None) -> Measured:
    """A table over time; ``rate`` (samples per second) gives the times where the file has none."""
    values, units, stated, done, _ = read_columns(path)
    time = time_column(values, units, done)
    if time is None:
        counts = [name for name in values if plain(name) in COUNTS]
        lacking = f"column 'time'{f' but {counts[0]!r}' if counts else ''}"
        time = times_by_rate(len(next(iter(values.values()), np.zeros(0))), rate or stated, lacking, values)
        for name in counts:
            del values[name], units[name]
        done.append(f"times by {rate or stated:g} samples per second")
    return Measured(time, values, units, "z", path.name, tuple(done))


def times_by_rate(count: int, rate: float | None, lacking: str, names: Iterable[str]) -> np.ndarray:
    """(T,) s, the times of so many samples at a rate; an error where there is none tells what else is lacking."""
    if rate is None:
        shown = ", ".join(list(names)[:12])
        raise ValueError(f"it has no {lacking}, and states no rate: give rate= in samples per second; it has {shown}")
    return np.arange(count) / rate


def read_columns(path: Path, *, lenient: bool = False) -> Columns:
    """The columns of a table; a ``ValueError`` says what is wrong with it. ``lenient`` leaves out columns in unknown
    units of a text.
    """
    found = Columns({}, {}, None, [], {})
    if path.suffix.lower() == ".parquet":
        _add_parquet(found, path)
    else:
        found = found._replace(rate=_add_text(found, path.read_text(encoding="utf-8-sig"), lenient))
    if found.texts:
        found.done.append(f"left out {', '.join(found.texts)}, which hold no numbers")
    return found


def _add_parquet(found: Columns, path: Path) -> None:
    """A column's unit is in its name, as in a head, or in its metadata."""
    parquet, pyarrow = optional_package("pyarrow.parquet", f"'{path.name}'"), optional_package("pyarrow")
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowInvalid:
        raise ValueError("it is not a Parquet table, or was cut off") from None
    for stored in table.schema:
        name, unit = without_unit(stored.name)
        if pyarrow.types.is_timestamp(stored.type):
            found.values[name], found.units[name] = _dated(table[stored.name].to_numpy()), "s"
            continue
        if pyarrow.types.is_integer(stored.type) or pyarrow.types.is_floating(stored.type):
            factor, unit = scale_of(unit or (stored.metadata or {}).get(b"unit", b"").decode(), name)
            found.values[name], found.units[name] = factor * table[stored.name].to_numpy().astype(float), unit
        else:
            found.texts[name] = [str(one) for one in table[stored.name].to_pylist()]
    if not found.values or not table.num_rows:
        raise ValueError("it holds no samples: no columns of numbers")


def _add_text(found: Columns, text: str, lenient: bool) -> float | None:
    """Read the columns of a text; returns the rate that is stated above the head."""
    lines = [(i + 1, line.lstrip("# ")) for i, line in enumerate(text.splitlines()) if line.strip(" ,;\t\r")]
    if not lines:
        raise ValueError("it holds no samples")
    sample = [line for _, line in lines[-50:]]
    worth = {one: sum(_worth(_split(line, one)) for line in sample) for one in ";\t, "}
    delimiter = max(worth, key=lambda one: (worth[one], lines[0][1].count(one)))
    rows = [_split(line, delimiter) for _, line in lines]
    # A number alone may be a rate: rows of numbers go on.
    start = next((k for k in range(len(rows)) if _is_data(rows[k]) and all(map(_is_data, rows[k + 1 : k + 2]))), None)
    if start is None:
        raise ValueError("it holds no samples: no rows of numbers below a head")
    if not start:
        raise ValueError("it has no head: the first row must name the columns, such as time, left.x [N], left.y [N]")
    head = [[cell.strip().strip('"').strip() for cell in row] for row in rows[:start]]
    names, units = head[-1], [""] * len(head[-1])
    filled = [cell.strip("[]() ") for cell in names if cell]
    if len(head) > 1 and filled and all(known_unit(cell) for cell in filled):
        units = [cell.strip("[]() ") for cell in head.pop()]
        names = head[-1]
    while names and not names[-1]:  # a delimiter at the end of each line
        names.pop()
    columns = [(*without_unit(name), unit) for name, unit in zip(names, units, strict=False)]
    for k, row in enumerate(rows[start:]):
        while len(row) > len(columns) and not row[-1].strip():
            row.pop()
        if len(row) != len(columns):
            line = lines[start + k][0]
            raise ValueError(f"row {k + 1} has {len(row)} values and not {len(columns)}, as its head has (line {line})")
    names = [name for name, _, _ in columns]
    if len(head) > 1 and len(set(filter(None, names))) < len(list(filter(None, names))):
        names = _grouped(head[-2], names)
    called = unique(name or f"column {i + 1}" for i, name in enumerate(names))
    for i, (name, (_, stated, below)) in enumerate(zip(called, columns, strict=True)):
        cells = [row[i] for row in rows[start:]]
        if len(cells) > 1 and any(cell.strip() for cell in cells) and not any(map(is_number, cells)):
            texts = [cell.strip().strip('"') for cell in cells]
            try:
                found.values[name], found.units[name] = _dated(np.array(texts, dtype="datetime64[ns]")), "s"
            except ValueError:
                found.texts[name] = texts
            continue
        if lenient and not known_unit(stated or below):
            continue
        factor, found.units[name] = scale_of(stated or below, name) if stated or below else (1.0, "")
        where = [line for line, _ in lines[start:]]
        found.values[name] = factor * numbers(cells, where, f"column '{name}'; a missing number is left blank or NaN")
    stated_rate = next((one for _, line in lines[: start - 1] if (one := _RATE.search(line))), None)
    return None if stated_rate is None else number(stated_rate[1])


def _dated(times: np.ndarray) -> np.ndarray:
    """Seconds since 1970 of dates with times, NaN where there are none."""
    whole = times.astype("datetime64[ns]")
    return np.where(np.isnat(whole), np.nan, 1e-9 * whole.astype(np.int64))


def _grouped(groups: list[str], names: list[str]) -> list[str]:
    """Names with that of their group before them; a group's name stands over its first column."""
    found, group = [], ""
    for over, name in zip([*groups, *[""] * len(names)], names, strict=False):
        group = over or group
        found.append(f"{group}.{name}" if group and name and plain(name) not in (*TIMES, *COUNTS) else name)
    return found


def _split(line: str, delimiter: str) -> list[str]:
    return line.split() if delimiter == " " else next(csv.reader([line], delimiter=delimiter), [])


def _worth(cells: list[str]) -> float:
    """How well a row is split: the more and the larger the share of its cells that are numbers, the better."""
    filled = [is_number(cell) for cell in cells if cell.strip()]
    return sum(filled) ** 2 / max(1, len(filled))


def _is_data(cells: list[str]) -> bool:
    """Whether a row holds numbers: more than half of all that is not blank, or half if it begins with one."""
    filled = [is_number(cell) or cell.strip().lower() == "nan" for cell in cells if cell.strip()]
    return 2 * sum(filled) > len(filled) or (bool(filled) and filled[0] and 2 * sum(filled) == len(filled))


def without_unit(name: str) -> tuple[str, str]:
    """A column's name without its unit, and the unit, "" where it states none."""
    found, ending = UNIT.match(name), ENDING.match(name)
    if found and (found[2] == "[" or known_unit(found[3])):
        return found[1], found[3]
    if ending and (plain(ending[1]) in TIMES or ending[2] not in ("s", "ms", "us", "ns")):
        return ending[1], ending[2].replace("_", "/")
    return name, ""
