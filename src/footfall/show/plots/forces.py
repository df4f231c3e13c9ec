"""Ground reaction forces over time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from footfall.show.plots.common import Runs, at_least, each_foot, each_run, from_zero, legend, line, mark, stack
from footfall.show.style import BLACK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ((2, "vertical, z (N)"), (0, "forward, x (N)"), (1, "to the left, y (N)"))


def grf(figure: Figure, runs: Runs) -> None:
    """Vertical, forward and sideways force: each foot and their sum of one recording, the sums of several."""
    axes = stack(figure, runs, 3)
    alone = len(runs) == 1
    first = next(iter(runs.values()))
    weight = first.robot.weight
    for ax, (axis, name) in zip(axes, AXES, strict=True):
        if alone and len(first.robot.feet) > 1:
            line(ax, first, first.total_force[:, axis], color=BLACK, linewidth=0.8, alpha=0.6, label="sum")
        for curve in each_foot(runs) if alone else each_run(runs):
            force = curve.rec.foot_force[:, curve.foot, axis] if alone else curve.rec.total_force[:, axis]
            line(ax, curve.rec, force, label=curve.name, **curve.style)
        ax.set_ylabel(name)
        at_least(ax, 0.02 * (weight or 1.0))
    if weight:
        mark(axes[0], weight, "weight")
        from_zero(axes[0])
        shares = axes[0].secondary_yaxis(
            "right", functions=(partial(np.multiply, 1.0 / weight), partial(np.multiply, weight))
        )
        shares.set_ylabel("of weight")
    legend(figure, axes)
