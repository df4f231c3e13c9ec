"""OpenSim's files: .mot and .sto (a header up to ``endheader``, names of columns, numbers), and .trc of markers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from footfall.files.measured import Measured
from footfall.files.text import SCALES, number, read_text, scale_of, unique


def read_storage(path: Path) -> Measured:
    """A file of OpenSim's class Storage; units by the names of columns, which the format does not state."""
    lines = read_text(path).splitlines()
    end = next((i for i, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None:
        raise ValueError("it has no line 'endheader'")
    head = dict(line.lower().replace(" ", "").partition("=")[::2] for line in lines[:end])
    # A blank line after the header is legal.
    rest = [(i + 1, line) for i, line in enumerate(lines) if i > end and line.strip()]
    if not rest:
        raise ValueError("it holds no samples")
    names = unique(_cells(rest[0][1]))
    if names[0].lower() != "time":
        raise ValueError(f"its first column is '{names[0]}' and not time")
    table = _numbers(rest[1:], len(names), lambda i: f"column '{names[i]}'")
    degrees = head.get("indegrees") == "yes"
    columns, units = {}, {}
    for name, values in zip(names[1:], table.T[1:], strict=True):
        scale, unit = SCALES[_unit(name, degrees)]
        columns[name], units[name] = scale * values, unit
    rows = head.get("nrows", head.get("datarows", ""))
    announced = rows.isdigit() and int(rows) != len(table)
    done = (f"its header announces {rows} rows, and {len(table)} were read",) if announced else ()
    return Measured(table[:, 0], columns, units, "y", path.name, done)


def _unit(name: str, degrees: bool) -> str:
    """What a column is in; its name says it, and words in it say more than its last letters."""
    low = name.lower()
    if re.search(r"torque|moment|_m[xyz]$", low):
        return "nm"
    if re.search(r"force.*v[xyz]$|_f[xyz]$|_force$|^grf.*[xyz]$|f[xyz]_?\d*$", low):
        return "n"
    if re.search(r"force.*p[xyz]$|_t[xyz]$|_p[xyz]$|cop.*[xyz]$|length$|_t[xyz]/value$", low):
        return "m"
    if re.search(r"activation$|excitation$|^/?forceset/|reserve", low):
        return ""
    if re.search(r"_u$|/speed$", low):
        return "deg/s" if degrees else "rad/s"
    return "deg" if degrees else "rad"


def _cells(line: str) -> list[str]:
    """Cells between tabs, or between blanks where there are no tabs; a tab at the end is none."""
    if "\t" not in line.strip():
        return line.split()
    cells = [cell.strip() for cell in line.rstrip().split("\t")]
    return cells if all(cells) else line.split()


def _numbers(rows: list[tuple[int, str]], width: int, called: Callable[[int], str], short: bool = False) -> np.ndarray:
    """(T, width) the numbers of rows, which come with their lines; NaN where nothing stands between two tabs.

    ``called`` names a column in messages. A row that ends early is refused, unless ``short``.
    """
    if not rows:
        raise ValueError("it holds no samples")
    table = np.full((len(rows), width), np.nan)
    for k, (where, line) in enumerate(rows):
        cells = line.split()
        if len(cells) != width and "\t" in line:
            cells = line.rstrip("\r\n").split("\t")
            while len(cells) > width and not cells[-1].strip():
                cells.pop()
            if short or line.endswith("\t") or "\t\t" in line:
                cells += [""] * (width - len(cells))
        if len(cells) != width:
            blank = "; cells are separated by tabs where some are blank" if "\t" not in line else ""
            raise ValueError(f"line {where} has {len(cells)} numbers and not {width}{blank}")
        for i, cell in enumerate(cells):
            try:
                table[k, i] = number(cell)
            except ValueError as error:
                raise ValueError(f"{error}, in line {where}, {called(i)}") from None
    return table


# ---- .trc: five lines of header, then frames of markers ------------------------------------------------------------


#: Times are rounded: they are those of the frame rate where none is off by more than this share of a frame.
ROUNDED = 0.2


def read_trc(path: Path) -> Measured:
    """Markers as columns NAME.x, NAME.y, NAME.z; blank ones are NaN, and so are those at exactly 0, 0, 0."""
    lines = read_text(path).splitlines()
    if not lines or not lines[0].lstrip().startswith("PathFileType"):
        raise ValueError("it does not begin with PathFileType")
    top = next((i for i, line in enumerate(lines) if line.strip().lower().startswith("frame#")), None)
    if top is None or top < 3:
        raise ValueError("it has no line that begins with Frame# and names the markers")
    header = dict(zip(_tabs(lines[top - 2]), _tabs(lines[top - 1]), strict=False))
    if "Units" not in header:
        raise ValueError("its third line states no Units: m or mm")
    scale, unit = scale_of(header["Units"])
    names = unique(name for name in _tabs(lines[top])[2:] if name)
    rows = [(i + 1, line) for i, line in enumerate(lines) if i > top and line.strip()]
    if rows and not _tabs(rows[0][1].strip())[0].replace(".", "").isdigit():
        rows = rows[1:]  # X1, Y1, Z1, ...
    table = _numbers(
        rows,
        2 + 3 * len(names),
        lambda i: "its frame or time" if i < 2 else f"marker '{names[(i - 2) // 3]}'",
        short=True,
    )
    places = table[:, 2:].reshape(len(rows), len(names), 3)
    nowhere = (places == 0.0).all(axis=2)
    places[nowhere] = np.nan
    time, note = _times(table, header.get("DataRate", ""))
    done = [note] if note else []
    if nowhere.any():
        done.append(f"{int(nowhere.sum())} places at exactly 0, 0, 0 taken as gaps")
    columns = {
        f"{name}.{axis}": scale * places[:, i, k] for i, name in enumerate(names) for k, axis in enumerate("xyz")
    }
    return Measured(time, columns, dict.fromkeys(columns, unit), "y", path.name, tuple(done))


def _tabs(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _times(table: np.ndarray, stated: str) -> tuple[np.ndarray, str]:
    """Times (s), not rounded where the frame rate gives the same."""
    time = table[:, 1]
    try:
        rate = float(stated)
    except ValueError:
        return time, ""
    if not rate > 0.0:
        return time, ""
    count = table[:, 0] - table[0, 0] if np.isfinite(table[:, 0]).all() else np.arange(len(time))
    if not np.isfinite(time).any():
        return count / rate, f"times by {rate:g} frames per second"
    even = count / rate
    even += np.round(np.nanmedian(time - even) * rate, 2) / rate
    off = np.abs(time - even) * rate
    if np.isfinite(time).all() and off.max() < 1e-6:
        return time, ""
    if np.nanmax(off) > ROUNDED:
        return time, ""
    return even, f"times by {rate:g} frames per second, which the file rounds"
