"""What happens at each contact point: a panel for each foot, a line for each point."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from footfall.measure.common import normal_force, tangential, threshold
from footfall.show.plots.common import Runs, at_least, each_run, from_zero, legend, line, mark, point_names, stack
from footfall.show.style import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from footfall.record import Record

#: A ratio of forces needs a normal force of this part of the robot's weight to mean something.
PRESSED = 1e-3
#: More points than this are told apart by shade, and not named.
NAMED = 7

Values = Callable[["Record"], np.ndarray]


def normal(figure: Figure, runs: Runs) -> None:
    """Normal force of each point; of several recordings that of the most loaded point of each foot."""
    axes = _panels(figure, runs, normal_force, "normal force (N)", "largest of all points", np.max)
    for ax in axes:
        from_zero(ax)


def friction(figure: Figure, runs: Runs) -> None:
    """Tangential over normal force of each loaded point, with the ground's coefficients."""
    axes = _panels(figure, runs, _ratio, "tangential / normal force", "largest of all points", np.fmax.reduce)
    ground = next(iter(runs.values())).ground
    for ax in axes:
        if ground.static_friction != ground.dynamic_friction:
            mark(ax, ground.static_friction, "static friction")
            mark(ax, ground.dynamic_friction, "dynamic friction")
        else:
            mark(ax, ground.dynamic_friction, "friction")
        ax.set_ylim(0.0, max(ax.get_ylim()[1], 1.15 * ground.static_friction))


def penetration(figure: Figure, runs: Runs) -> None:
    """Depth of each point in the ground; of several recordings that of the deepest of each foot."""
    axes = _panels(
        figure, runs, lambda rec: np.maximum(0.0, -1e3 * rec.gap), "depth (mm)", "deepest of all points", np.max
    )
    for ax in axes:
        at_least(ax, 1e-3)
        ax.set_ylim(0.0, 1.05 * ax.get_ylim()[1])


def heights(figure: Figure, runs: Runs) -> None:
    """Height of each point over the ground; of several recordings that of the lowest of each foot."""
    axes = _panels(figure, runs, lambda rec: 1e3 * rec.gap, "height (mm)", "lowest of all points", np.min)
    for ax in axes:
        ax.axhline(0.0, color="#555555", linewidth=0.8)
        at_least(ax, 0.01)


def _ratio(rec: Record) -> np.ndarray:
    load = normal_force(rec)
    pressed = load > max(PRESSED * rec.robot.weight, threshold(rec))
    size = np.linalg.norm(tangential(rec, rec.force), axis=-1)
    return np.where(pressed, size / np.where(pressed, load, 1.0), np.nan)


def _panels(
    figure: Figure, runs: Runs, values: Values, unit: str, which: str, worst: Callable[..., np.ndarray]
) -> list[Axes]:
    """A panel for each foot; all points of one recording, the ``worst`` one of several."""
    first = next(iter(runs.values()))
    feet = first.robot.feet
    axes = stack(figure, runs, len(feet), height=1.9)
    for f, (foot, ax) in enumerate(zip(feet, axes, strict=True)):
        if len(feet) > 1 or len(runs) > 1:
            ax.set_title(f"{foot.name} foot" + (f", {which}" if len(runs) > 1 else "") if len(feet) > 1 else which)
        ax.set_ylabel(unit)
        if len(runs) == 1:
            _all_points(ax, first, f, values(first))
            continue
        for curve in each_run(runs):
            own = values(curve.rec)[:, curve.rec.foot(foot.name)]
            line(ax, curve.rec, worst(own, axis=1), label=curve.name, **curve.style)
    legend(figure, axes)
    return axes


def _all_points(ax: Axes, rec: Record, foot: int, values: np.ndarray) -> None:
    own = values[:, rec.foot(rec.robot.feet[foot].name)]
    count = own.shape[1]
    if count > NAMED:
        from matplotlib import colormaps

        shades = colormaps["cividis"](np.linspace(0.0, 0.9, count))
        for p in range(count):
            line(ax, rec, own[:, p], color=shades[p], linewidth=0.8)
        return
    for p, name in enumerate(point_names(rec, foot)):
        # Points that do the same lie on each other: thinner on top lets the ones below show.
        line(ax, rec, own[:, p], color=COLORS[p], label=name, linewidth=2.2 - 0.4 * p if count <= 4 else 1.0)
