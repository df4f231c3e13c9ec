"""The result of a fit: a law and a ground, an estimate of each parameter, and the errors on other trials."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from footfall.contact.base import Law
from footfall.errors import StudyError
from footfall.files.atomic_write import atomic_write
from footfall.ground import Ground
from footfall.study.fit.estimates import Estimate
from footfall.study.fit.plot import profiles, residuals
from footfall.study.fit.ranges import Range
from footfall.study.fit.search import Evaluations

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
