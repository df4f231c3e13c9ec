"""The report's plots: which curves there are, and as many of their samples as a screen can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from footfall.measure import energy, momentum, overall_cop, zmp
from footfall.measure.common import normal_force, tangential, threshold
from footfall.record import Record
from footfall.show.replay import pack
from footfall.solve.contacts import OPEN

#: Samples of a curve that are kept, of all recordings together, and of each at least.
SAMPLES, FEWEST = 3200, 800
#: A friction ratio needs a normal force of this part of the robot's weight to mean something.
PRESSED = 1e-3

#: A plot: title, unit, curves; "zero" keeps zero in sight, "narrow" is the least height in the unit that it spans.
Panel = dict[str, Any]


def panels(recordings: Sequence[Record], labels: Sequence[str]) -> list[Panel]:
    """The plots of a report, each with a curve for every recording, foot or quantity.

    A single recording gets all its quantities; of several only those worth an overlay.
    """
    most = max(FEWEST, SAMPLES // len(recordings))
    one = len(recordings) == 1
    return [
        _vertical_force(recordings, labels, most),
        _horizontal_force(recordings, labels, most),
        *(_pressure(recordings, labels, axis, most) for axis in (0, 1)),
        _clearance(recordings, labels, most),
        _friction(recordings, labels, most),
        _energy(recordings[0], most) if one else _mechanical(recordings, labels, most),
        _modes(recordings, labels),
    ]


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


def _curve(name: str, rec: Record, values: np.ndarray, most: int, color: int, dash: int = 0, **more: Any) -> Panel:
    """One curve: ``color`` counts through the page's palette (-1: grey), ``dash`` through its line styles."""
    kept = decimated(values, most)
    x, y = pack(rec.time[kept]), pack(values[kept])
    return {"name": name, "color": color, "dash": dash, "x": x, "y": y, **more}


def _each_foot(recordings: Sequence[Record], labels: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """(name, recording, index of foot, colour, dash) for each foot of each recording."""
    for r, (rec, label) in enumerate(zip(recordings, labels, strict=True)):
        for f, foot in enumerate(rec.robot.feet):
            if len(recordings) == 1:
                yield foot.name, rec, f, f, 0
            else:
                name = f"{label} {foot.name}" if len(rec.robot.feet) > 1 else label
                yield name, rec, f, r, f


def _vertical_force(recordings: Sequence[Record], labels: Sequence[str], most: int) -> Panel:
    curves = [
        _curve(name, rec, rec.foot_force[:, f, 2], most, color, dash)
        for name, rec, f, color, dash in _each_foot(recordings, labels)
    ]
    if len(recordings) == 1 and len(recordings[0].robot.feet) > 1:
        curves.append(_curve("total", recordings[0], recordings[0].total_force[:, 2], most, -1))
    weight = recordings[0].robot.weight
    lines = [{"y": weight, "label": "weight"}] if weight else []
    return {
        "title": "Vertical ground reaction force",
        "unit": "N",
        "curves": curves,
        "lines": lines,
        "zero": True,
    }


def _horizontal_force(recordings: Sequence[Record], labels: Sequence[str], most: int) -> Panel:
    curves = []
    if len(recordings) == 1:
        rec = recordings[0]
        for f, foot in enumerate(rec.robot.feet):
            for axis in (0, 1):
                values = rec.foot_force[:, f, axis]
                curves.append(_curve(f"{foot.name} {'xy'[axis]}", rec, values, most, f, axis))
    else:
        for r, (rec, label) in enumerate(zip(recordings, labels, strict=True)):
            for axis in (0, 1):
                curves.append(_curve(f"{label} {'xy'[axis]}", rec, rec.total_force[:, axis], most, r, axis))
    weight = recordings[0].robot.weight
    return {"title": "Horizontal ground reaction force", "unit": "N", "curves": curves, "narrow": 0.02 * weight}


def _pressure(recordings: Sequence[Record], labels: Sequence[str], axis: int, most: int) -> Panel:
    curves, bands = [], []
    for r, (rec, label) in enumerate(zip(recordings, labels, strict=True)):
        centre = overall_cop(rec)[:, axis]
        if len(recordings) > 1:
            curves.append(_curve(label, rec, centre, most, r))
            continue
        curves.append(_curve("CoP", rec, centre, most, 0))
        curves.append(_curve("ZMP", rec, zmp(rec)[:, axis], most, 1, 1))
        curves.append(_curve("centre of mass", rec, momentum(rec).com[:, axis], most, 2))
        closed = rec.mode != OPEN
        standing = closed.any(axis=1)
        at = rec.position[..., axis]
        low = np.where(standing, np.where(closed, at, np.inf).min(axis=1, initial=np.inf), np.nan)
        high = np.where(standing, np.where(closed, at, -np.inf).max(axis=1, initial=-np.inf), np.nan)
        kept = np.union1d(decimated(low, most // 2), decimated(high, most // 2))
        bands.append({"name": "support", "x": pack(rec.time[kept]), "low": pack(low[kept]), "high": pack(high[kept])})
    title = "Centre of pressure" if len(recordings) > 1 else "Centre of pressure and zero moment point"
    return {"title": f"{title}, {'xy'[axis]}", "unit": "m", "curves": curves, "bands": bands, "narrow": 0.01}


def _clearance(recordings: Sequence[Record], labels: Sequence[str], most: int) -> Panel:
    curves = []
    for name, rec, f, color, dash in _each_foot(recordings, labels):
        gap = rec.gap[:, rec.foot(rec.robot.feet[f].name)].min(axis=1)
        curves.append(_curve(name, rec, 1000 * gap, most, color, dash))
    title = "Height of the lowest point of each foot over the ground"
    return {"title": title, "unit": "mm", "curves": curves, "narrow": 0.01}


def _friction(recordings: Sequence[Record], labels: Sequence[str], most: int) -> Panel:
    curves = []
    for name, rec, f, color, dash in _each_foot(recordings, labels):
        points = rec.foot(rec.robot.feet[f].name)
        load = normal_force(rec)[:, points]
        pull = np.linalg.norm(tangential(rec, rec.force)[:, points], axis=-1)
        pressed = load > max(PRESSED * rec.robot.weight, threshold(rec))
        # The point that comes nearest to sliding tells; a mean would hide it.
        ratio = np.where(pressed, pull / np.where(pressed, load, 1.0), -np.inf).max(axis=1)
        curves.append(_curve(name, rec, np.where(ratio >= 0.0, ratio, np.nan), most, color, dash))
    ground = recordings[0].ground
    lines = [{"y": ground.static_friction, "label": "static friction"}]
    if ground.dynamic_friction != ground.static_friction:
        lines.append({"y": ground.dynamic_friction, "label": "dynamic friction"})
    title = "Friction used: tangential over normal force, largest of each foot"
    return {"title": title, "unit": "", "curves": curves, "lines": lines, "zero": True}


def _energy(rec: Record, most: int) -> Panel:
    own = energy(rec)
    quantities = (
        ("kinetic", own.kinetic),
        ("potential", own.potential - own.potential[:1]),
        ("work of actuators", own.actuator_work),
        ("work of the ground", own.contact_work),
    )
    curves = [_curve(name, rec, values, most, i) for i, (name, values) in enumerate(quantities)]
    return {"title": "Energy since the start", "unit": "J", "curves": curves, "narrow": 1e-3}


def _mechanical(recordings: Sequence[Record], labels: Sequence[str], most: int) -> Panel:
    curves = []
    for r, (rec, label) in enumerate(zip(recordings, labels, strict=True)):
        curves.append(_curve(label, rec, energy(rec).contact_work, most, r))
    return {"title": "Work of the ground on the robot since the start", "unit": "J", "curves": curves, "narrow": 1e-3}


def _modes(recordings: Sequence[Record], labels: Sequence[str], most: int = 2000) -> Panel:
    """Modes as a timeline: a row for each point of one recording, for each foot of several."""
    rows = []
    for rec, label in zip(recordings, labels, strict=True):
        for foot in rec.robot.feet:
            mode = rec.mode[:, rec.foot(foot.name)]
            if len(recordings) == 1:
                rows += [(f"{_short(foot.name)} {p + 1}", rec, mode[:, p]) for p in range(mode.shape[1])]
            else:
                name = f"{label}, {foot.name}" if len(rec.robot.feet) > 1 else label
                rows.append((name, rec, mode.max(axis=1)))
    return {"title": "Contact modes", "unit": "", "rows": [_row(*row, most) for row in rows], "curves": []}


def _row(name: str, rec: Record, mode: np.ndarray, most: int) -> Panel:
    time = rec.time
    if len(mode) > most:  # of samples that share a pixel the one that slides shows, then the one that sticks
        starts = np.linspace(0, len(mode), most, endpoint=False).astype(int)
        mode, time = np.maximum.reduceat(mode, starts), time[starts]
    change = np.concatenate([[0], np.flatnonzero(np.diff(mode)) + 1])
    ends = np.concatenate([time[change[1:]], rec.time[-1:]])
    return {"name": name, "start": pack(time[change]), "end": pack(ends), "mode": pack(mode[change], "|u1")}


def _short(name: str) -> str:
    """A foot's name that fits beside its row."""
    initials = "".join(part[0] for part in name.replace("-", "_").split("_") if part).upper()
    return name if len(name) <= 6 or not initials else initials
