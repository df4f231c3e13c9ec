"""Contact modes as a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footfall.show import style
from footfall.show.plots.common import Runs, point_names
from footfall.solve.contacts import MODES, OPEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Moments that a row can show.
COLUMNS = 1500


def modes(figure: Figure, runs: Runs) -> None:
    """Open, stick or slide: a row for each point of one recording, for each foot of several."""
    from matplotlib.patches import Patch

    rows: list[tuple[str, np.ndarray, np.ndarray]] = []
    groups = []
    for label, rec in runs.items():
        for f, foot in enumerate(rec.robot.feet):
            mode = rec.mode[:, rec.foot(foot.name)]
            groups.append(len(rows))
            if len(runs) == 1:
                names = [n if len(rec.robot.feet) == 1 else f"{foot.name}, {n}" for n in point_names(rec, f)]
                rows += [(name, rec.time, mode[:, p]) for p, name in enumerate(names)]
            else:
                name = f"{label}, {foot.name}" if len(rec.robot.feet) > 1 else label
                rows.append((name, rec.time, mode.max(axis=1)))
        groups = groups if len(runs) == 1 else groups[: -len(rec.robot.feet) + 1 or None]
    figure.set_size_inches(style.WIDTH, 0.95 + max(0.9, 0.24 * len(rows)))
    ax = figure.subplots()
    for y, (_, time, mode) in enumerate(rows):
        _bars(ax, y, time, mode)
    for y in groups[1:]:
        ax.axhline(y - 0.5, color="#777777", linewidth=0.6)
    ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(min(time[0] for _, time, _ in rows), max(time[-1] for _, time, _ in rows) or 1.0)
    ax.set_xlabel("time (s)")
    ax.grid(visible=False)
    ax.tick_params(axis="y", length=0)
    patches = [Patch(color=_color(m), label=name) for m, name in enumerate(MODES)]
    figure.legend(handles=patches, loc="outside lower center", ncols=3)


def _bars(ax: Axes, y: int, time: np.ndarray, mode: np.ndarray) -> None:
    starts = np.unique(np.linspace(0, len(mode), min(COLUMNS, len(mode)), endpoint=False).astype(int))
    # Of samples that share a pixel the one that slides shows, then the one that sticks.
    mode, end = np.maximum.reduceat(mode, starts), time[-1]
    change = np.concatenate([[0], np.flatnonzero(np.diff(mode)) + 1])
    begin = time[starts][change]
    width = np.diff(np.append(begin, end))
    for kind in range(len(MODES)):
        own = mode[change] == kind
        spans = list(zip(begin[own].tolist(), width[own].tolist(), strict=True))
        ax.broken_barh(spans, (y - 0.38, 0.76), facecolors=_color(kind), linewidth=0)


def _color(mode: int) -> str:
    return "#DDDDDD" if mode == OPEN else style.MODES[mode]
