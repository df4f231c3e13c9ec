"""The result of a fit: a law and a ground, an estimate of each parameter, the errors on other trials, and pictures."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from footfall.contact.base import Law
from footfall.errors import StudyError
from footfall.files.atomic_write import atomic_write
from footfall.ground import Ground
from footfall.show.style import load_matplotlib, new_figure
from footfall.study.fit.estimates import Estimate
from footfall.study.fit.parameters import Range
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


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted law.

    Attributes:
        law, ground: with the parameters that were found, or the law's defaults where fitting made it no better.
        robot: the parameters of the robot that were fitted, by name.
        parameters: an estimate of each.
        correlation: (d, d) of the estimates over the bootstrap, NaN where one of them does not move.
        kept_defaults: on trials it was not fitted to, fitting gained the law nothing beyond the standard error of the
            gain, so that its defaults are kept.
        loss, default_loss: cross-validated on the trials of the fit, fitted and with the law's defaults; with the
            defaults only what is not of the law (the ground, the robot) is fitted.
        judged, judged_default: mean of each metric on the other trials, and with the law's defaults.
        trials, others: how many trials it was fitted to, and judged on.
        runs: simulations it took.
        errors, default_errors: (trials,) of each trial of the fit, fitted and with the law's defaults.
    """

    law: Law
    ground: Ground
    robot: Mapping[str, float]
    parameters: tuple[Estimate, ...]
    correlation: np.ndarray
    kept_defaults: bool
    loss: float
    default_loss: float
    judged: Mapping[str, float]
    judged_default: Mapping[str, float]
    trials: int
    others: int
    runs: int
    ranges: Mapping[str, Range]
    tried: Evaluations
    errors: np.ndarray
    default_errors: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        return {
            "law": self.law.to_dict(),
            "ground": self.ground.to_dict(),
            "robot": dict(self.robot),
            "parameters": {
                one.name: {"value": one.value, "low": one.low, "high": one.high, "note": one.note}
                for one in self.parameters
            },
            "correlation": self.correlation.tolist(),
            "kept_defaults": self.kept_defaults,
            "cross_validated_loss": self.loss,
            "cross_validated_loss_of_defaults": self.default_loss,
            "judged": dict(self.judged),
            "judged_defaults": dict(self.judged_default),
            "trials": self.trials,
            "judged_trials": self.others,
            "runs": self.runs,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fit as JSON; ``ff.law(path)`` reads the law back."""
        target = Path(path).expanduser()
        with atomic_write(target) as part:
            part.write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")
        return target

    def plot(self, kind: Literal["profile", "residuals"] = "profile") -> Figure:
        """``"profile"``: the loss over each parameter, every evaluation, the lowest at each value, the interval;
        ``"residuals"``: the error of each trial, fitted against that with the law's defaults.
        """
        if kind == "residuals":
            return residuals(f"{self.law.name}: {self.trials} trials", self.errors, self.default_errors)
        if kind != "profile":
            raise StudyError(f"there is no plot '{kind}' of a fit: profile, residuals")
        title = f"{self.law.name}: loss over {self.trials} trials"
        return profiles(title, self.ranges, self.parameters, self.tried)

    def __str__(self) -> str:
        found = ", ".join(f"{one.name} {one.value:.4g} ({one.low:.3g} .. {one.high:.3g})" for one in self.parameters)
        return f"{self.law.name}: {found}"

    __repr__ = __str__  # what prompts and notebooks show
