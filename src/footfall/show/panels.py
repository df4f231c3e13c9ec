"""Plots over time as values, for Matplotlib and for the report's page alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from footfall.record import Record

Runs = Mapping[str, "Record"]

#: ``run`` of a curve that belongs to no recording.
NO_RUN = -1
#: The colour of a secondary curve, such as a sum.
GREY = -1
#: Widths in points of two curves that may lie on each other: the first shows beside the second.
BELOW, ABOVE = 2.2, 1.1
#: Widths in points of curves of several recordings, which may lie on each other: from first to last.
WIDEST, THINNEST = 2.6, 1.0
#: Colours of the feet of one recording: those of contact modes and of pressure centres are left out.
FEET = (0, 1, 5, 6)


class Curve(NamedTuple):
    """Values over time, with gaps where they are NaN.

    ``color`` counts through the palette, ``dash`` through the line styles, ``run`` through the recordings.
    ``role`` names a colour of the 3D view in place of it ("com", "cop", "zmp").
    """

    name: str
    time: np.ndarray  # (T,) s
    values: np.ndarray  # (T,)
    color: int = 0
    dash: int = 0
    width: float = 1.2  # points
    role: str = ""
    run: int = 0
    measured: bool = False  # of no recording (``run`` is NO_RUN), with times of its own
    part: str = ""  # of a measured one: what follows a recording's label in the name of the curve that it is held to


class Band(NamedTuple):
    """The area between two curves."""

    name: str
    time: np.ndarray  # (T,) s
    low: np.ndarray  # (T,)
    high: np.ndarray  # (T,)
    run: int = 0  # index of its recording


class ModeRow(NamedTuple):
    """Contact modes over time; ``first`` of a group of rows."""

    name: str
    time: np.ndarray  # (T,) s
    mode: np.ndarray  # (T,)
    first: bool


class Limit(NamedTuple):
    """A horizontal line."""

    value: float
    name: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """One plot over time."""

    title: str  # what it shows, in full
    label: str  # the same in the few words that stand beside an axis
    unit: str  # of the values
    curves: tuple[Curve, ...] = ()
    bands: tuple[Band, ...] = ()
    limits: tuple[Limit, ...] = ()
    rows: tuple[ModeRow, ...] = ()
    heading: str = ""  # what sets it apart from the panels around it
    zero: bool = False  # whether zero stays in sight
    narrow: float = 0.0  # least range of the axis in the unit, so that rounding errors do not look like events
    whole: tuple[float, str] | None = None  # a value in the unit that a second axis counts in, and what that is called


def each_foot(runs: Runs) -> Iterator[tuple[Record, int, Curve]]:
    """A recording, a foot of it, and a curve without values: feet of one recording differ in colour, then in dash."""
    alone, nothing = len(runs) == 1, np.empty(0)
    for r, (label, rec) in enumerate(runs.items()):
        for f, foot in enumerate(rec.robot.feet):
            name = foot.name if alone else label if len(rec.robot.feet) == 1 else f"{label}, {foot.name}"
            own = (FEET[f % len(FEET)], f // len(FEET), BELOW if f == 0 else ABOVE)
            color, dash, width = own if alone else (r, f, 1.2)
            yield rec, f, Curve(name, rec.time, nothing, color, dash, width, run=r)


def each_run(runs: Runs) -> Iterator[tuple[Record, Curve]]:
    """A recording and a curve without values; later ones are thinner and every second dashed, so that all show."""
    for r, (label, rec) in enumerate(runs.items()):
        width = WIDEST + (THINNEST - WIDEST) * r / max(1, len(runs) - 1)
        yield rec, Curve(label, rec.time, np.empty(0), r, r % 2, width, run=r)


def decimated(values: np.ndarray, most: int) -> np.ndarray:
    """Indices of about ``most`` samples that draw the same curve: first, last, least and greatest of each stretch.

    So every peak keeps its height and its time. Where a curve is interrupted by NaN, one NaN is kept.
    """
    count = len(values)
    if count <= most:
        return np.arange(count)
    width = -(-count // max(1, most // 4))
    stretches = -(-count // width)
    padded = np.full(stretches * width, np.nan)
    padded[:count] = values
    table = padded.reshape(stretches, width)
    missing = np.isnan(table)
    first = np.arange(stretches) * width
    last = np.minimum(first + width, count) - 1
    least = first + np.where(missing, np.inf, table).argmin(axis=1)
    greatest = first + np.where(missing, -np.inf, table).argmax(axis=1)
    gap = (first + missing.argmax(axis=1))[missing.any(axis=1)]
    kept = np.unique(np.concatenate([first, least, greatest, gap, last]))
    return kept[kept < count]


def stretches(row: ModeRow, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stretches of constant mode in a row, resolved to ``most`` moments: begin and end (s) and mode of each.

    Of samples in the same moment, slide is shown before stick, and stick before open.
    """
    starts = np.unique(np.linspace(0, len(row.mode), min(most, len(row.mode)), endpoint=False).astype(int))
    mode = np.maximum.reduceat(row.mode, starts)
    change = np.concatenate([[0], np.flatnonzero(np.diff(mode)) + 1])
    begin = row.time[starts][change]
    return begin, np.append(begin[1:], row.time[-1]), mode[change]
