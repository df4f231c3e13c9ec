"""OpenSim's .mot and .sto: a header up to ``endheader``, names of columns, numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from footfall.files.measured import Measured
from footfall.files.text import number, read_text, unique
from footfall.files.units import SCALES


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
    table = _table(rest[1:], names)
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


def _table(lines: list[tuple[int, str]], names: list[str]) -> np.ndarray:
    if not lines:
        raise ValueError("it holds no samples")
    table = np.full((len(lines), len(names)), np.nan)
    for k, (where, line) in enumerate(lines):
        cells = line.split()
        if len(cells) != len(names) and "\t" in line:  # a gap is nothing between two tabs
            cells = line.rstrip("\r\n").split("\t")
            cells += [""] * (len(names) - len(cells)) if line.endswith("\t") or "\t\t" in line else []
            while len(cells) > len(names) and not cells[-1].strip():
                cells.pop()
        if len(cells) != len(names):
            raise ValueError(f"row {k + 1} has {len(cells)} numbers and not {len(names)} (line {where})")
        for i, cell in enumerate(cells):
            try:
                table[k, i] = number(cell)
            except ValueError as error:
                raise ValueError(f"{error}, in line {where}, column '{names[i]}'") from None
    return table
