"""The regression of friction coefficients, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.errors import FootfallError
from footfall.show.style import BLUE, GREY, RC, VERMILION, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from footfall.study.identify import FrictionFit


def regression(fit: FrictionFit) -> Figure:
    """Tangential against normal force: sliding samples, onsets, and the line through the origin of each."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise FootfallError('plots need matplotlib: pip install "footfall[plot]"') from error

    sliding = np.hstack([[one.sliding_normal, one.sliding_tangential] for one in fit.pulls])
    broke = np.array([[one.normal, one.tangential] for one in fit.pulls if one.time is not None]).T
    most = max(sliding[0].max(), *(broke[0] if broke.size else [0.0])) * 1.08
    look: Any = RC  # matplotlib types its keys one by one
    with matplotlib.rc_context(look):
        figure = Figure(figsize=(0.7 * WIDTH, 3.4), layout="constrained")
        ax = figure.subplots()
        ax.plot(*sliding, ".", color=GREY, markersize=2.0, alpha=0.5, label=f"sliding, {sliding.shape[1]} samples")
        kinetic = fit.kinetic
        label = f"kinetic {kinetic.value:.4g}, r² {100 * kinetic.r2:.2f} %"
        ax.plot([0, most], [0, kinetic.value * most], color=BLUE, label=label)
        if fit.static is not None:
            ax.plot(*broke, "o", color=VERMILION, markersize=4.0, label=f"onset, {broke.shape[1]} pulls")
            label = f"static {fit.static.value:.4g}, r² {100 * fit.static.r2:.2f} %"
            ax.plot([0, most], [0, fit.static.value * most], color=VERMILION, linestyle=(0, (4, 1.5)), label=label)
        ax.set(xlabel="normal force (N)", ylabel="tangential force (N)", xlim=(0, most), ylim=(0, None))
        ax.legend(loc="upper left")
        ax.set_title("friction by regression through the origin", fontweight="bold")
    return figure
