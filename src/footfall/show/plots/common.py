"""What plots share: panels over time, lines that keep their peaks, legends that hide nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from footfall.show.report_plots import decimated
from footfall.show.style import COLORS, DASHES, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from footfall.record import Record

#: Samples of a line that are drawn; peaks keep their height.
SAMPLES = 4000

Runs = Mapping[str, "Record"]


class Curve(NamedTuple):
    """Whose line this is, and how it is drawn."""

    name: str
    rec: Record
    foot: int
    style: dict[str, Any]


def stack(figure: Figure, runs: Runs, rows: int, *, height: float = 1.5) -> list[Axes]:
    """Panels over a common time, one above the other."""
    figure.set_size_inches(WIDTH, 0.75 + height * rows)
    axes = list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    axes[-1].set_xlabel("time (s)")
    show_all_time(axes[0], runs)
    return axes


def show_all_time(ax: Axes, runs: Runs) -> None:
    """From the first sample to the last, where curves have gaps too."""
    begin, end = min(rec.time[0] for rec in runs.values()), max(rec.time[-1] for rec in runs.values())
    ax.set_xlim(begin, end if end > begin else begin + 1e-3)


def line(ax: Axes, rec: Record, values: np.ndarray, **style: Any) -> None:
    """Draw (T,) values over time, with no more samples than show."""
    kept = decimated(np.asarray(values), SAMPLES)
    ax.plot(rec.time[kept], values[kept], **style)


def each_foot(runs: Runs) -> Iterator[Curve]:
    """One curve for each foot of each recording: of a single one feet differ in colour, of several recordings do."""
    alone = len(runs) == 1
    for r, (label, rec) in enumerate(runs.items()):
        for f, foot in enumerate(rec.robot.feet):
            name = foot.name if alone else label if len(rec.robot.feet) == 1 else f"{label}, {foot.name}"
            yield Curve(name, rec, f, of_pair(f) if alone else line_style(r, f))


def line_style(color: int, dash: int) -> dict[str, Any]:
    """The style of a curve by two numbers."""
    return {"color": COLORS[color % len(COLORS)], "linestyle": DASHES[dash % len(DASHES)]}


def of_pair(side: int) -> dict[str, Any]:
    """The style of a foot or a side: the first is thick, so that it shows where the second does the same."""
    return line_style(side, 0) | {"linewidth": 2.2 if side == 0 else 1.1}


def each_run(runs: Runs) -> Iterator[Curve]:
    """One curve for each recording."""
    for r, (label, rec) in enumerate(runs.items()):
        yield Curve(label, rec, -1, {"color": COLORS[r % len(COLORS)]})


def legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend for all panels, below them; a name that several panels use stands once."""
    known: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            known.setdefault(name, handle)
    if len(known) > 1:
        widest = max(map(len, known)) * 0.065 + 0.55  # inches of a name of 8 points with its line
        columns = min(len(known), max(1, int(figure.get_size_inches()[0] / widest)))
        figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=columns)


def at_least(ax: Axes, span: float) -> None:
    """Widen a panel whose curve is flat, lest rounding look like an event."""
    low, high = ax.get_ylim()
    if high - low < span:
        middle = 0.5 * (low + high)
        ax.set_ylim(middle - 0.5 * span, middle + 0.5 * span)


def from_zero(ax: Axes) -> None:
    """Show zero, with some room above what is highest."""
    low, high = ax.get_ylim()
    low = min(0.0, low)
    ax.set_ylim(low, high + 0.05 * (high - low))


def mark(ax: Axes, value: float, name: str) -> None:
    """A horizontal line with its name at its right end."""
    ax.axhline(value, color="#555555", linewidth=0.8, linestyle=(0, (6, 3)), zorder=1.5)
    ax.annotate(
        name,
        (1.0, value),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=7.5,
        color="#555555",
    )


def point_names(rec: Record, foot: int) -> list[str]:
    """What the points of a foot are called: "front left" of four corners, else "point 1" and so on."""
    local = sole_frame(rec, foot)
    count = len(local)
    if count == 1:
        return [rec.robot.feet[foot].name]
    along, across = local[:, 0] - local[:, 0].mean(), local[:, 1] - local[:, 1].mean()
    if count == 2 and np.ptp(along) > np.ptp(across):
        return ["heel" if x < 0 else "toe" for x in along]
    named = [
        f"{'front' if x > 0 else 'rear'} {'left' if y > 0 else 'right'}" for x, y in zip(along, across, strict=True)
    ]
    return named if count == 4 and len(set(named)) == 4 else [f"point {i + 1}" for i in range(count)]


def sole_frame(rec: Record, foot: int, points: np.ndarray | None = None) -> np.ndarray:
    """(N, 3) m, points of a foot's body, turned as the foot stands at home: x forward. Left out, its contact points."""
    own = rec.robot.feet[foot]
    data = mujoco.MjData(rec.robot.model)
    data.qpos[:] = rec.robot.home
    mujoco.mj_kinematics(rec.robot.model, data)
    return np.asarray(own.points if points is None else points) @ data.body(own.body).xmat.reshape(3, 3).T
