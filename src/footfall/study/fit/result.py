"""What a fit found: a law and a ground, what the data say about each parameter, and how it does on other trials."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.contact.base import Law
from footfall.ground import Ground
from footfall.study.fit.ranges import Range
from footfall.study.fit.search import Evaluations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A parameter whose interval covers more than this share of its range is not identifiable from the data.
UNKNOWN = 0.5
#: Nearer to a bound than this share of the range, the bound decides.
AT_BOUND = 0.01


@dataclass(frozen=True)
class Estimate:
    """One parameter: its value, an interval of 95 % by bootstrap over the trials, and what is to be said of it."""

    name: str
    value: float
    low: float
    high: float
    remark: str


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted law.

    Attributes:
        law, ground: with the parameters that were found, or the law's defaults where fitting made it worse.
        robot: the parameters of the robot that were fitted, by name.
        parameters: an estimate of each.
        correlation: (d, d) of the estimates over the bootstrap, NaN where one of them does not move.
        kept_defaults: fitting made the law worse on trials it was not fitted to, so that its defaults are kept.
        loss, default_loss: cross-validated on the trials of the fit, fitted and with the law's defaults; with the
            defaults only what is not of the law (the ground, the robot) is fitted.
        judged, judged_default: mean of each metric on the other trials, and with the law's defaults.
        trials, others: how many trials it was fitted to, and judged on.
        runs: simulations it took.
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

    def to_dict(self) -> dict[str, Any]:
        return {
            "law": self.law.to_dict(),
            "ground": self.ground.to_dict(),
            "robot": dict(self.robot),
            "parameters": {
                one.name: {"value": one.value, "low": one.low, "high": one.high, "remark": one.remark}
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
        aside = target.with_name(f".{target.name}.{os.getpid()}")
        aside.write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")
        os.replace(aside, target)
        return target

    def plot(self) -> Figure:
        """The profile of the loss over each parameter: every evaluation, the best of each value, the interval."""
        from footfall.study.fit.plot import profiles

        return profiles(self)

    def __str__(self) -> str:
        found = ", ".join(f"{one.name} {one.value:.4g} ({one.low:.3g} .. {one.high:.3g})" for one in self.parameters)
        return f"{self.law.name}: {found}"


def estimates(
    ranges: Mapping[str, Range], best: np.ndarray, draws: np.ndarray, fitted: np.ndarray
) -> tuple[Estimate, ...]:
    """What the data say about each parameter, from bootstrap draws (B, d) in shares of the ranges."""
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    low, high = np.minimum(low, best), np.maximum(high, best)
    found = []
    for i, (name, own) in enumerate(ranges.items()):
        remark = ""
        if not fitted[i]:
            remark = "the law's default, kept"
        elif high[i] - low[i] > UNKNOWN:
            remark = "not identifiable from these data"
        elif best[i] < AT_BOUND or best[i] > 1.0 - AT_BOUND:
            remark = "at its bound"
        found.append(Estimate(name, own.value(best[i]), own.value(low[i]), own.value(high[i]), remark))
    return tuple(found)


def correlations(draws: np.ndarray) -> np.ndarray:
    """(d, d) correlation of bootstrap draws (B, d); NaN where one does not move."""
    d = draws.shape[1]
    found = np.full((d, d), np.nan)
    moves = np.flatnonzero(draws.std(axis=0) > 1e-9)
    if moves.size:
        found[np.ix_(moves, moves)] = np.atleast_2d(np.corrcoef(draws[:, moves].T))
    return found
