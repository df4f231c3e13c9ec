"""Where the pressure is: on each sole, and against the limits of the support."""

from __future__ import annotations

import numpy as np

from footfall.measure import momentum, overall_cop
from footfall.measure import zmp as moment_point
from footfall.measure.common import normal_force, threshold
from footfall.record import Record
from footfall.robot.facing import axis_words
from footfall.show import style
from footfall.show.panels import Band, Curve, Panel, Runs, each_run
from footfall.show.plots.drawing import legend, line_style
from footfall.show.plots.over_time import sole_frame
from footfall.show.style import Axes, Figure
from footfall.solve.contacts import OPEN

#: Soles that are drawn side by side, and letters over all of them.
BESIDE, LETTERS = 6, 84


def cop(figure: Figure, runs: Runs) -> None:
    """Path of the centre of pressure on each sole, seen from above with the toes up."""
    first = next(iter(runs.values()))
    feet = first.robot.feet
    outlines = [1e3 * sole_frame(first, f, foot.polygon) for f, foot in enumerate(feet)]
    tall = max(float(np.ptp(outline[:, 0])) for outline in outlines)
    wide = max(float(np.ptp(outline[:, 1])) for outline in outlines)
    shape = float(np.clip(tall / max(wide, 0.4 * tall, 1e-9), 0.6, 2.5))
    columns = min(len(feet), BESIDE)
    rows = -(-len(feet) // columns)
    height = float(np.clip(style.WIDTH / max(2, columns) * shape * 0.62, 2.4, 4.5)) * rows
    figure.set_size_inches(style.WIDTH, height + 1.1)
    axes = list(figure.subplots(rows, columns, squeeze=False, sharey=True).ravel())
    for ax in axes[len(feet) :]:
        ax.remove()
    axes = axes[: len(feet)]
    # The left foot on the left: seen from above, y grows to the left.
    order = sorted(range(len(feet)), key=lambda f: -float(first.position[0, first.foot(feet[f].name), 1].mean()))
    shown = None
    for ax, f in zip(axes, order, strict=True):
        _sole(ax, first, f, outlines[f])
        for rec, curve in each_run(runs):
            path = _on_sole(rec, f)
            if len(runs) > 1:
                ax.plot(path[:, 1], path[:, 0], label=curve.name, **line_style(curve._replace(width=1.0)))
                continue
            shown = ax.scatter(path[:, 1], path[:, 0], c=rec.time, s=2.0, zorder=3)
            known = path[np.isfinite(path).all(axis=1)]
            if len(known):
                ax.plot(
                    *known[0, ::-1], "o", color="white", markeredgecolor="black", markersize=5, zorder=4, label="begin"
                )
                ax.plot(*known[-1, ::-1], "s", color="black", markersize=4.5, zorder=4, label="end")
        ax.set_title(_ending(f"{feet[f].name} foot", LETTERS // columns) if len(feet) > 1 else "sole")
        ax.margins(0.08)
        ax.set_xlabel("to the left, y (mm)" if columns < BESIDE else "left, y (mm)")
        ax.set_aspect("equal", adjustable="box")
        ax.invert_xaxis()
    for ax in axes[::columns]:
        ax.set_ylabel("forward, x (mm)")
    if shown is not None:
        bar = figure.colorbar(shown, ax=axes, shrink=0.8, aspect=30, pad=0.02)
        bar.set_label("time (s)")
        bar.outline.set_visible(False)
    legend(figure, axes)


def pressure(runs: Runs) -> list[Panel]:
    """Centre of pressure and zero moment point over time, between the limits of the support."""
    return [_over_time(runs, axis) for axis in (0, 1)]


def _over_time(runs: Runs, axis: int) -> Panel:
    """One coordinate: all of one recording, the zero moment points of several, with the support of each."""
    if len(runs) > 1:
        what = "Zero moment point"
        curves = [c._replace(values=moment_point(rec)[:, axis]) for rec, c in each_run(runs)]
    else:
        rec = next(iter(runs.values()))
        what = "Centre of pressure and zero moment point"
        curves = [
            Curve("centre of mass", rec.time, momentum(rec).com[:, axis], 2, role="com"),
            Curve("CoP", rec.time, overall_cop(rec)[:, axis], 0, width=2.4, role="cop"),
            Curve("ZMP", rec.time, moment_point(rec)[:, axis], 1, 1, width=1.0, role="zmp"),
        ]
    return Panel(
        title=f"{what}, {'xy'[axis]}",
        label=f"{axis_words(next(iter(runs.values())).robot.forward)[axis]}, {'xy'[axis]}",  # as the first robot faces
        unit="m",
        curves=tuple(curves),
        bands=tuple(Band("support", rec.time, *_support(rec, axis), run=c.run) for rec, c in each_run(runs)),
        narrow=0.01,
    )


def _ending(text: str, room: int) -> str:
    """A text, or the end of it that has room: what tells feet apart stands there."""
    return text if len(text) <= room else f"…{text[1 - room :]}"


def _sole(ax: Axes, rec: Record, foot: int, outline: np.ndarray) -> None:
    points = 1e3 * sole_frame(rec, foot)
    if len(outline) > 2:
        ax.fill(outline[:, 1], outline[:, 0], facecolor="#F4F4F4", edgecolor="#555555", linewidth=0.8, zorder=1)
    else:
        ax.plot(outline[:, 1], outline[:, 0], color="#999999", linewidth=3.0, zorder=1, solid_capstyle="round")
        # A line and a point have no width to look at.
        room = 0.2 * max(float(np.ptp(outline, axis=0).max()), 25.0)
        middle = outline.mean(axis=0)
        for side in (-room, room):
            ax.plot([middle[1] + side, middle[1]], [middle[0], middle[0] + side], linestyle="none")
    ax.plot(points[:, 1], points[:, 0], ".", color="#555555", markersize=4, zorder=2)


def _on_sole(rec: Record, foot: int) -> np.ndarray:
    """(T, 2) mm, forward and to the left in the sole's frame, NaN where the foot carries no load."""
    load = normal_force(rec)[:, rec.foot(rec.robot.feet[foot].name)]
    total = load.sum(axis=1, keepdims=True)
    share = load / np.where(total > threshold(rec), total, np.nan)
    return 1e3 * share @ sole_frame(rec, foot)[:, :2]


def _support(rec: Record, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """(T,) m, least and greatest coordinate of the closed points, NaN in flight."""
    closed, at = rec.mode != OPEN, rec.position[..., axis]
    standing = closed.any(axis=1)
    low = np.where(closed, at, np.inf).min(axis=1, initial=np.inf)
    high = np.where(closed, at, -np.inf).max(axis=1, initial=-np.inf)
    return np.where(standing, low, np.nan), np.where(standing, high, np.nan)
