"""Times of a table: a column of seconds, times counted from 1970, the two columns of a ROS stamp, or clock times."""

from __future__ import annotations

import re
from datetime import datetime

import numpy as np

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
