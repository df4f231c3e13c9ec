"""Text files of other programs: their encodings, numbers as their countries write them, units, and times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import numpy as np

#: What stands for a missing number.
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


def number(cell: str, comma: bool = False) -> float:
    """A number, NaN where it is missing; with ``comma`` as 1.234,5. A ``ValueError`` where it is none."""
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


#: What a unit of a file is in SI, by its name in lower case without dots, stars, blanks and lines.
SCALES = {
    "mm": (1e-3, "m"),
    "cm": (1e-2, "m"),
    "m": (1.0, "m"),
    "in": (0.0254, "m"),
    "deg": (np.pi / 180.0, "rad"),
    "rad": (1.0, "rad"),
    "s": (1.0, "s"),
    "ms": (1e-3, "s"),
    "us": (1e-6, "s"),
    "ns": (1e-9, "s"),
    "m/s": (1.0, "m/s"),
    "mm/s": (1e-3, "m/s"),
    "cm/s": (1e-2, "m/s"),
    "m/s2": (1.0, "m/s2"),
    "mm/s2": (1e-3, "m/s2"),
    "rad/s": (1.0, "rad/s"),
    "deg/s": (np.pi / 180.0, "rad/s"),
    "n": (1.0, "N"),
    "kn": (1e3, "N"),
    "mn": (1e-3, "N"),
    "kgf": (9.80665, "N"),
    "lbf": (4.4482216152605, "N"),
    "nmm": (1e-3, "N m"),
    "ncm": (1e-2, "N m"),
    "nm": (1.0, "N m"),
    "knm": (1e3, "N m"),
    "": (1.0, ""),
}
#: Units that are kept as they are: nothing here computes with them.
KEPT = ("V", "mV", "uV", "W", "J", "kg", "g", "Hz", "%", "N/kg", "Nm/kg", "BW", "1", "-")
_NAMES = {
    "newton": "n",
    "kp": "kgf",
    "newtons": "n",
    "meter": "m",
    "meters": "m",
    "metre": "m",
    "metres": "m",
    "millimeter": "mm",
    "millimeters": "mm",
    "millimetres": "mm",
    "degree": "deg",
    "degrees": "deg",
    "degs": "deg",
    "°": "deg",
    "°/s": "deg/s",
    "radian": "rad",
    "radians": "rad",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "newtonmeters": "nm",
    "newtonmetres": "nm",
    "m/s^2": "m/s2",
    "m/s²": "m/s2",
}
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
    """Times as they are, or from 0 where they are counted from 1970."""
    size = float(np.nanmedian(np.abs(time))) if time.size else 0.0
    if size < SINCE_1970:
        return time
    scale, taken = 1.0, ""
    if not unit:
        scale, taken = next(((factor, f" in {one}") for least, factor, one in FINER if size >= least), (1.0, ""))
    done.append(f"times of '{name}', counted from 1970{taken}, begin at 0")
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
