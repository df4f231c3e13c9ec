"""Panels drawn by Matplotlib: curves keep their peaks, legends cover no curve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from footfall.show import style
from footfall.show.panels import GREY, Curve, Limit, Panel, Runs, decimated, stretches
from footfall.show.style import Axes, Figure
from footfall.solve.contacts import MODES, OPEN

#: Samples of a line that are drawn; peaks keep their height.
SAMPLES = 4000
#: Moments that a row of modes can show.
MOMENTS = 1500
#: Panels side by side, of six or fewer that form a grid and of more.
FEW, MANY = 3, 4
ROLES = {"com": style.COM, "cop": style.COP, "zmp": style.ZMP, "aim": style.BLACK}

#: Rows of a legend that figures have room for.
USUAL_ROWS = 2
#: Shading of the area between two limits.
BAND: dict[str, Any] = {"color": "#999999", "alpha": 0.25, "linewidth": 0}


def draw_panels(figure: Figure, runs: Runs, panels: Sequence[Panel], *, grid: bool = False) -> None:
    """Panels over a common time, one above the other or in a grid."""
    if panels[0].rows:
        _draw_rows(figure, runs, panels[0])
        return
    columns = min(FEW if len(panels) <= 2 * FEW else MANY, len(panels)) if grid else 1
    rows = -(-len(panels) // columns)
    height = 1.9 if rows < 3 and not grid else 1.5
    figure.set_size_inches(style.WIDTH, (0.9 if grid else 0.75) + height * rows)
    axes = list(figure.subplots(rows, columns, sharex=True, squeeze=False).ravel())
    show_all_time(axes[0], runs)
    for i, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        draw_panel(ax, panel, labelled=i % columns == 0)
        draw_pushes(ax, runs)
        if i + columns >= len(panels):  # the lowest of its column has the times
            ax.set_xlabel("time (s)")
            ax.tick_params(labelbottom=True)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    legend(figure, axes[: len(panels)])


def draw_panel(ax: Axes, panel: Panel, *, labelled: bool = True) -> None:
    """One panel over time."""
    for band in panel.bands:  # of several recordings each is paler: where all agree they look like one
        pale = BAND["alpha"] / len(panel.bands)
        ax.fill_between(band.time, band.low, band.high, **BAND | {"alpha": pale})
    for name in dict.fromkeys(band.name for band in panel.bands):
        ax.fill_between([], [], [], label=name, **BAND)
    for curve in panel.curves:
        line(ax, curve.time, curve.values, label=curve.name or "_", **line_style(curve))
    if panel.heading:
        ax.set_title(panel.heading)
    if labelled:
        ax.set_ylabel(f"{panel.label} ({panel.unit})" if panel.unit else panel.label)
    for i, limit in enumerate(panel.limits):
        mark(ax, limit, i)
    low, high = ax.get_ylim()
    if panel.zero:
        top = max([high, *(1.1 * limit.value for limit in panel.limits)])
        ax.set_ylim(min(0.0, low), top + 0.05 * (top - min(0.0, low)))
    at_least(ax, panel.narrow)
    if panel.whole:
        whole, name = panel.whole
        functions = (partial(np.multiply, 1.0 / whole), partial(np.multiply, whole))
        ax.secondary_yaxis("right", functions=functions).set_ylabel(name)


def draw_pushes(ax: Axes, runs: Runs) -> None:
    """Bands where something pushes the robot, each once."""
    low, high = ax.get_xlim()
    for start, end in dict.fromkeys((p.start, p.start + p.duration) for rec in runs.values() for p in rec.pushes):
        if start < high and end > low:
            ax.axvspan(start, end, color=style.PUSH, alpha=0.13, linewidth=0, zorder=0.5, label="push")
    ax.set_xlim(low, high)


def line(ax: Axes, time: np.ndarray, values: np.ndarray, **look: Any) -> None:
    """Draw (T,) values over time, with no more samples than show."""
    kept = decimated(np.asarray(values), SAMPLES)
    drawn = ax.plot(time[kept], values[kept], **look)[0]
    known = np.pad(np.isfinite(values[kept]), 1)
    alone = known[1:-1] & ~known[:-2] & ~known[2:]  # between gaps, or the only one: a line through it has no length
    if alone.any():
        ax.plot(time[kept][alone], values[kept][alone], ".", color=drawn.get_color(), markersize=5, clip_on=False)


def line_style(curve: Curve) -> dict[str, Any]:
    """How Matplotlib draws a curve."""
    color = style.BLACK if curve.color == GREY else style.COLORS[curve.color % len(style.COLORS)]
    look = {"color": ROLES.get(curve.role, color), "linestyle": style.DASHES[curve.dash % len(style.DASHES)]}
    return look | {"linewidth": curve.width} | ({"alpha": 0.6} if curve.color == GREY else {})


def _draw_rows(figure: Figure, runs: Runs, panel: Panel) -> None:
    from matplotlib.patches import Patch

    rows = panel.rows
    figure.set_size_inches(style.WIDTH, 0.95 + max(0.9, 0.24 * len(rows)))
    ax = figure.subplots()
    for y, row in enumerate(rows):
        begin, end, mode = stretches(row, MOMENTS)
        for kind in range(len(MODES)):
            own = mode == kind
            spans = list(zip(begin[own].tolist(), (end - begin)[own].tolist(), strict=True))
            ax.broken_barh(spans, (y - 0.38, 0.76), facecolors=_mode_color(kind), linewidth=0)
        if row.first and y:
            ax.axhline(y - 0.5, color="#777777", linewidth=0.6)
    ax.set_yticks(range(len(rows)), [row.name for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(min(row.time[0] for row in rows), max(row.time[-1] for row in rows) or 1.0)
    ax.set_xlabel("time (s)")
    draw_pushes(ax, runs)
    ax.grid(visible=False)
    ax.tick_params(axis="y", length=0)
    patches = [Patch(color=_mode_color(m), label=name) for m, name in enumerate(MODES)]
    if any(rec.pushes for rec in runs.values()):
        patches.append(Patch(color=style.PUSH, alpha=0.13, label="push"))
    figure.legend(handles=patches, loc="outside lower center", ncols=len(patches))


def _mode_color(mode: int) -> str:
    return "#DDDDDD" if mode == OPEN else style.MODES[mode]


def show_all_time(ax: Axes, runs: Runs) -> None:
    """From the first sample to the last, where curves have gaps too."""
    begin, end = min(rec.time[0] for rec in runs.values()), max(rec.time[-1] for rec in runs.values())
    ax.set_xlim(begin, end if end > begin else begin + 1e-3)


def legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend for all panels, below them; a name that several panels use stands once."""
    known: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            known.setdefault(name, handle)
    if len(known) > 1:
        widest = max(map(len, known)) * 0.065 + 0.55  # inches of a name of 8 points with its line
        wide, tall = figure.get_size_inches()
        columns = min(len(known), max(1, int(wide / widest)))
        more = max(0, -(-len(known) // columns) - USUAL_ROWS)
        figure.set_size_inches(wide, tall + 0.17 * more)  # inches of a row
        figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=columns)


def at_least(ax: Axes, span: float) -> None:
    """Widen the range of a panel with a flat curve, so that rounding errors do not look like events."""
    low, high = ax.get_ylim()
    if high - low < span:
        middle = 0.5 * (low + high)
        ax.set_ylim(middle - 0.5 * span, middle + 0.5 * span)


def mark(ax: Axes, limit: Limit, dash: int) -> None:
    """A horizontal line, named in the legend and not on it, where it would cover curves."""
    dashes = ((0, (6, 3)), (0, (2, 2)))
    look = dashes[dash % len(dashes)] if limit.name else "-"
    ax.axhline(limit.value, color="#555555", linewidth=0.8, linestyle=look, zorder=1.5, label=limit.name or "_")
