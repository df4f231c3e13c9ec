"""A picture of a design: goals against each other, and the inputs of the front."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from footfall.show.style import COLORS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Columns = Mapping[str, np.ndarray]
#: Pairs of goals that are drawn at most.
PAIRS = 3
#: Panels side by side, so that their text is read at the width of a page.
ABREAST = 2


def draw(
    goals: Mapping[str, float], inputs: Columns, measures: Columns, shown: np.ndarray, front: np.ndarray
) -> Figure:
    """Designs by pairs of goals with the front marked, and the front over each input's range.

    ``shown`` (designs,) says which are drawn, ``front`` holds the indices of the front, the best first.
    """
    pairs = list(combinations(measures, 2))[:PAIRS] or [(next(iter(inputs)), next(iter(measures)))]
    rows = -(-(len(pairs) + 1) // ABREAST)
    with new_figure(3.7 * rows, 4.2 * ABREAST) as figure:
        grid = figure.subplots(rows, ABREAST, squeeze=False)
        axes = list(grid.ravel())
        for ax in axes[len(pairs) + 1 :]:
            ax.remove()
        columns = {**inputs, **measures}
        for ax, (x, y) in zip(axes, pairs, strict=False):
            ax.scatter(columns[x][shown], columns[y][shown], s=14, color="#8899aa", label="designs")
            ax.scatter(columns[x][front], columns[y][front], s=30, color=COLORS[0], label="front")
            best = columns[x][front[:1]], columns[y][front[:1]]
            ax.scatter(*best, s=110, marker="*", color=COLORS[1], label="best by weights")
            ax.locator_params(nbins=6)
            ax.set_xlabel(_with_aim(goals, x))
            ax.set_ylabel(_with_aim(goals, y))
        _draw_inputs(axes[len(pairs)], inputs, front)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.suptitle(f"{len(front)} best compromises of {len(shown)} designs")
    return figure


def _with_aim(goals: Mapping[str, float], name: str) -> str:
    return f"{name} ({'less' if goals[name] > 0 else 'more'} is better)" if name in goals else name


def _draw_inputs(ax: Axes, inputs: Columns, front: np.ndarray) -> None:
    """The front's inputs, each over its own range, the best drawn heavier."""
    places = np.arange(len(inputs))
    spans = [(values.min(), np.ptp(values) or 1.0) for values in inputs.values()]
    for k in reversed(front):
        shares = [(values[k] - low) / span for values, (low, span) in zip(inputs.values(), spans, strict=True)]
        best = k == front[0]
        ax.plot(shares, places, "o-", color=COLORS[int(best)], lw=2.0 if best else 0.7, alpha=1.0 if best else 0.5)
    labels = [f"{name}\n{low:.3g} to {low + span:.3g}" for name, (low, span) in zip(inputs, spans, strict=True)]
    ax.set_yticks(places, labels)
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlim(-0.05, 1.05)
    ax.set_xlabel("share of the range that was tried")
    ax.set_title("inputs of the front")
