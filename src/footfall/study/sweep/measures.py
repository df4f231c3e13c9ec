"""What is measured of each case that is a simulation: one number per name.

A new measure is one line here: of the recording of a case, or (``OF_RUNS``) of runs of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from footfall.errors import StudyError, did_you_mean
from footfall.measure import cost_of_transport, energy, fall, support_margin
from footfall.recording import Recording
from footfall.study.largest_push import largest_pushes
from footfall.study.sweep.settings import prepare

Value = float | int | bool | str


def _of_summary(name: str) -> Callable[[Recording], Value]:
    return lambda rec: rec.summary()[name]


def _least_margin(rec: Recording) -> float:
    margin = support_margin(rec)
    return float(np.nanmin(margin)) if np.isfinite(margin).any() else float("nan")


def _moved(rec: Recording) -> float:
    """Way of the robot's root along the ground, m."""
    first, last = rec.qpos[0, :2], rec.qpos[-1, :2]
    return float(np.linalg.norm(last - first))


def _largest_push(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> float:
    """The largest force of the case's push that the robot survives, N (see ``study.largest_pushes``)."""
    sim, options = prepare(settings, inputs)
    if len(options["pushes"]) != 1:
        raise StudyError("largest_push_N needs a case with one push")
    given: Any = {"laws": [sim.law], "controller": options["controller"], "ground": sim.ground, "dt": sim.dt}
    ((found,),) = largest_pushes(sim.robot, options["pushes"], **given)
    return found.survived


#: What a case can be asked for, with its unit in its name.
MEASURES: dict[str, Callable[[Recording], Value]] = {
    "peak_vertical_force_bw": _of_summary("peak_vertical_force_bw"),
    "mean_vertical_force_bw": _of_summary("mean_vertical_force_bw"),
    "slip_distance_m": _of_summary("slip_distance_m"),
    "creep_distance_m": _of_summary("creep_distance_m"),
    "max_penetration_m": _of_summary("max_penetration_m"),
    "unsolved_samples": _of_summary("unsolved_samples"),
    "fell": lambda rec: fall(rec) is not None,
    "fell_at_s": _of_summary("fell_at_s"),
    "least_support_margin_m": _least_margin,
    "root_moved_m": _moved,
    "cost_of_transport": cost_of_transport,
    "ground_loss_J": lambda rec: -float(energy(rec).contact_work[-1]),
    "audit": lambda rec: rec.audit().verdict,
}
#: What needs more than the case's own run: taken of the settings with the inputs of the case.
OF_RUNS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Value]] = {"largest_push_N": _largest_push}
DEFAULT = (
    "peak_vertical_force_bw",
    "mean_vertical_force_bw",
    "slip_distance_m",
    "max_penetration_m",
    "unsolved_samples",
    "fell",
    "fell_at_s",
)


def check_measures(names: Iterable[str]) -> tuple[str, ...]:
    """The names, if all are known."""
    chosen = tuple(names)
    for name in chosen:
        if name not in MEASURES and name not in OF_RUNS:
            raise StudyError(f"no measure '{name}': {did_you_mean(name, (*MEASURES, *OF_RUNS))}")
    return chosen


def measured(rec: Recording, names: Iterable[str]) -> dict[str, Value]:
    """Each measure of a recording. One that needs samples is left out of a recording without any."""
    summary = rec.summary()
    own = [name for name in names if name in MEASURES and len(rec)]
    return {name: summary[name] if name in summary else MEASURES[name](rec) for name in own}
