"""Pulls: the normal and tangential force on something that is dragged until it slides, from files and recordings.

A CSV file has a head and one line per sample, separated by commas, semicolons or tabs: the time in s, the normal
force in N (pressing is positive), the tangential force in N (one column, or two for its components), and, if there
are, the sliding speed in m/s and the number of the pull, where one file holds several.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.errors import FootfallError, did_you_mean
from footfall.measure.common import normal_force, tangential, threshold
from footfall.solve.contacts import OPEN, SLIDE

if TYPE_CHECKING:
    from footfall.recording import Recording

# What a column may be called, apart from its unit: the first that is there is taken.
KNOWN = {
    "time": ("time", "t"),
    "normal": ("normal", "normal_force", "fn", "f_n", "fz", "f_z", "load"),
    "tangential": ("tangential", "tangential_force", "ft", "f_t", "friction", "pull", "pull_force"),
    "speed": ("speed", "slip_speed", "velocity", "v"),
    "pull": ("trial", "run", "pull_number"),
}
COMPONENTS = (("fx", "fy"), ("f_x", "f_y"), ("tangential_x", "tangential_y"))
UNIT = re.compile(r"\s*[\[(].*[\])]\s*$|_(n|s|m_s|m_per_s)$")
SLIP_SPEED = 1e-3  # m/s, above which a measured speed is sliding
NEGATIVE = 0.02  # of the largest normal force: what noise may make negative


@dataclass(frozen=True, eq=False)
class Pull:
    """One pull: time (s), normal and tangential force (N), (N,) each; where it slides, if that was seen."""

    name: str
    time: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    sliding: np.ndarray | None = None


def read_pulls(path: Path, names: Mapping[str, str | None]) -> list[Pull]:
    """The pulls of a CSV file; ``names`` says what columns are called where it is not one of ``KNOWN``."""
    head, table = _read_table(path)
    plain = [UNIT.sub("", title.strip().lower()).strip().replace(" ", "_") for title in head]

    def column(what: str) -> np.ndarray | None:
        wanted = names.get(what)
        if wanted is not None:
            if wanted not in head:
                raise FootfallError(f"{path} has no column '{wanted}': {did_you_mean(wanted, head)}")
            return table[:, head.index(wanted)]
        return next((table[:, plain.index(name)] for name in KNOWN[what] if name in plain), None)

    columns = {what: column(what) for what in KNOWN}
    if columns["tangential"] is None:
        pair = next((pair for pair in COMPONENTS if pair[0] in plain and pair[1] in plain), None)
        if pair is not None:
            columns["tangential"] = np.hypot(*(table[:, plain.index(name)] for name in pair))
    for what, unit in (("time", "s"), ("normal", "N"), ("tangential", "N")):
        if columns[what] is None:
            raise FootfallError(
                f"{path} has no column '{what}' ({unit}) that is recognised; its columns are {', '.join(head)}: "
                f"name one with {what}=, on the command line --{what} NAME"
            )
    return pulls_of(path.name, columns)


def pulls_of(name: str, columns: Mapping[str, Any]) -> list[Pull]:
    """Pulls from arrays called time, normal, tangential and, if there are, speed and pull."""
    for what in ("time", "normal", "tangential"):
        if columns.get(what) is None:
            raise FootfallError(f"{name}: '{what}' is missing; pulls need time (s), normal and tangential force (N)")
    arrays = {what: np.asarray(values, dtype=float).ravel() for what, values in columns.items() if values is not None}
    if len({array.size for array in arrays.values()}) != 1:
        sizes = ", ".join(f"{what} {array.size}" for what, array in arrays.items())
        raise FootfallError(f"{name}: columns differ in length: {sizes}")
    for what, array in arrays.items():
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise FootfallError(f"{name}: {what} is no number in sample {bad[0]}, and in {bad.size} in all")
    number = arrays.pop("pull", np.zeros(arrays["time"].size))
    found = []
    for value in np.unique(number):
        chosen = number == value
        one = {what: array[chosen] for what, array in arrays.items()}
        label = name if np.all(chosen) else f"{name}, pull {value:g}"
        _check(label, one)
        sliding = np.abs(one["speed"]) > SLIP_SPEED if "speed" in one else None
        found.append(Pull(label, one["time"], one["normal"], np.abs(one["tangential"]), sliding))
    return found


def pull_of_recording(rec: Recording, foot: str | None) -> Pull:
    """What a foot, or the only one, was dragged with: sliding where every point that touches slides."""
    if foot is None and len(rec.robot.feet) > 1:
        known = ", ".join(one.name for one in rec.robot.feet)
        raise FootfallError(f"{rec.robot.name} has several feet ({known}): say which, foot=")
    points = rec.foot(foot or rec.robot.feet[0].name)
    along = tangential(rec, rec.force)[:, points].sum(axis=1)
    normal = normal_force(rec)[:, points].sum(axis=1)
    mode = rec.mode[:, points]
    sliding = ((mode == SLIDE) | (mode == OPEN)).all(axis=1) & (normal > threshold(rec))
    name = f"{rec.robot.name} under {rec.law.name}"
    return Pull(name, rec.time, normal, np.linalg.norm(along, axis=1), sliding)


def _check(name: str, one: Mapping[str, np.ndarray]) -> None:
    if np.any(np.diff(one["time"]) <= 0):
        at = int(np.flatnonzero(np.diff(one["time"]) <= 0)[0]) + 1
        raise FootfallError(
            f"{name}: time does not increase in sample {at}; several pulls in one file need a column 'trial'"
        )
    normal = one["normal"]
    low = np.flatnonzero(normal < -NEGATIVE * np.abs(normal).max())
    if low.size:
        raise FootfallError(
            f"{name}: the normal force is negative in {low.size} of {normal.size} samples ({normal[low[0]]:.4g} N at "
            f"t = {one['time'][low[0]]:.4g} s); ground only presses: turn the column's sign, or take out its offset"
        )


def _read_table(path: Path) -> tuple[list[str], np.ndarray]:
    """Head and (N, columns) numbers; empty cells and lines that begin with # are left out."""
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise FootfallError(f"cannot read '{path}': {reason}") from error
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        raise FootfallError(f"{path} holds no samples: a line of column names and one line per sample are needed")
    delimiter = max(",;\t", key=lines[0][1].count)
    head = [title.strip() for title in next(csv.reader([lines[0][1]], delimiter=delimiter))]
    rows: list[Sequence[float]] = []
    for number, line in lines[1:]:
        cells = next(csv.reader([line], delimiter=delimiter))
        if len(cells) != len(head):
            raise FootfallError(f"{path}, line {number}: {len(cells)} values under {len(head)} column names")
        try:
            rows.append([float(cell) if cell.strip() else np.nan for cell in cells])
        except ValueError as error:
            raise FootfallError(f"{path}, line {number}: {str(error).split(': ')[-1]} is no number") from None
    return head, np.array(rows)
