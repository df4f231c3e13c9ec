"""A picture of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from footfall.show.style import load_matplotlib, new_figure
from footfall.study.fit.estimates import Estimate
from footfall.study.fit.ranges import Range
from footfall.study.fit.search import Evaluations

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def profiles(title: str, ranges: Mapping[str, Range], parameters: Sequence[Estimate], tried: Evaluations) -> Figure:
    """For each parameter the loss of every evaluation, the lowest at each value, the estimate and its interval."""
    load_matplotlib()
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    names = list(ranges)
    with new_figure(3.2, 3.4 * len(names)) as figure:
        axes = figure.subplots(1, len(names), squeeze=False)
        losses = tried.losses()
        top = float(np.quantile(losses, 0.9))
        for i, (ax, name) in enumerate(zip(axes[0], names, strict=True)):
            own, one = ranges[name], parameters[i]
            values = np.array([own.value(share) for share in tried.points[:, i]])
            ax.plot(values, losses, ".", color="#8899aa", markersize=4, label="evaluations")
            order = np.argsort(values)
            bins = np.array_split(order, max(1, min(12, len(order) // 4)))
            lowest = np.array([part[np.argmin(losses[part])] for part in bins if len(part)])
            ax.plot(values[lowest], losses[lowest], "-", color="#0072b2", label="lowest")
            ax.axvspan(one.low, one.high, color="#d55e00", alpha=0.15, label="interval, 95 %")
            ax.axvline(one.value, color="#d55e00", label="estimate")
            if own.scale == "log":
                ax.set_xscale("log")
                left, right = ax.get_xlim()
                narrow, wide = right < 8.0 * left, right > 100.0 * left
                ticks = MaxNLocator(4) if narrow else LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0))
                ax.xaxis.set_major_locator(ticks)
                ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                ax.xaxis.set_minor_formatter(NullFormatter())
            ax.set_ylim(0.9 * losses.min(), max(top, 1.05 * losses.min()))
            ax.set_xlabel(name)
            ax.set_title(one.note, fontsize=8)
        axes[0, 0].set_ylabel("loss")
        figure.suptitle(title)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def residuals(title: str, fitted: np.ndarray, default: np.ndarray) -> Figure:
    """The error of each trial with the law's defaults and fitted: below the line fitting has helped."""
    with new_figure(4.0, 4.2) as figure:
        ax = figure.subplots()
        low, high = 0.8 * min(fitted.min(), default.min()), 1.25 * max(fitted.max(), default.max())
        ax.plot([low, high], [low, high], "-", color="#8899aa", linewidth=1.0)
        ax.plot(default, fitted, "o", color="#0072b2", markersize=4)
        ax.plot(default.mean(), fitted.mean(), "D", color="#d55e00", markersize=7, label="mean")
        if low > 0.0:
            ax.set(xscale="log", yscale="log")
        ax.set(xlabel="error with the law's defaults", ylabel="error fitted", xlim=(low, high), ylim=(low, high))
        ax.set_aspect("equal")
        ax.set_title(title, fontsize=10)
        ax.legend(loc="upper left")
    return figure
