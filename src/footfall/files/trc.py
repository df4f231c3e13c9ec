"""Markers as .trc files hold them: five lines of header, then frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from footfall.files.measured import Measured
from footfall.files.text import number, read_text, unique
from footfall.files.units import scale_of

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
    header = dict(zip(_cells(lines[top - 2]), _cells(lines[top - 1]), strict=False))
    if "Units" not in header:
        raise ValueError("its third line states no Units: m or mm")
    scale, unit = scale_of(header["Units"])
    names = unique(name for name in _cells(lines[top])[2:] if name)
    rows = [(i + 1, line) for i, line in enumerate(lines) if i > top and line.strip()]
    if rows and not _cells(rows[0][1].strip())[0].replace(".", "").isdigit():
        rows = rows[1:]  # X1, Y1, Z1, ...
    if not rows:
        raise ValueError("it holds no samples")
    table = _table(rows, names)
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


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _table(rows: list[tuple[int, str]], names: list[str]) -> np.ndarray:
    """(T, 2 + 3 N) frame, time and places; markers that a row does not reach are NaN."""
    width = 2 + 3 * len(names)
    table = np.full((len(rows), width), np.nan)
    for k, (where, line) in enumerate(rows):
        cells = line.split("\t") if "\t" in line else line.split()
        if "\t" not in line and len(cells) != width:
            raise ValueError(
                f"line {where} has {len(cells)} numbers and not {width}: frame, time and three of each of {len(names)} "
                "markers; cells are separated by tabs where some are blank"
            )
        if any(cell.strip() for cell in cells[width:]):
            raise ValueError(f"line {where} has more numbers than its {len(names)} markers have")
        for i, cell in enumerate(cells[:width]):
            try:
                table[k, i] = number(cell)
            except ValueError as error:
                of = "its frame or time" if i < 2 else f"marker '{names[(i - 2) // 3]}'"
                raise ValueError(f"{error}, in line {where}, {of}") from None
    return table


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
