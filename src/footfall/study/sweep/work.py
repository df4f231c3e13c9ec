"""The work of a study, a function or settings of a simulation: what is measured of each case, and its row.

A new measure is one line here: of the recording of a case, or (``OF_RUNS``) of runs of its own.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from footfall.contact.registry import BUILT_IN
from footfall.errors import FootfallError, StudyError, did_you_mean, without_warnings
from footfall.measure import cost_of_transport, course, energy, support_margin
from footfall.recording import Recording
from footfall.study.largest_push import largest_pushes
from footfall.study.sweep.settings import check_inputs, laws_of, prepare, simulate

Value = float | int | bool | str
Work = Callable[..., Any] | Mapping[str, Any]
#: Measures that are taken unless others are named, and all that the summary of a recording has.
DEFAULT = (
    *("peak_vertical_force_bw", "mean_vertical_force_bw", "slip_distance_m", "max_penetration_m"),
    *("unsolved_samples", "fell", "fell_at_s"),
)
OF_SUMMARY = (*DEFAULT, "creep_distance_m")


def _least_margin(rec: Recording) -> float:
    margin = support_margin(rec)
    return float(np.nanmin(margin)) if np.isfinite(margin).any() else float("nan")


def _largest_push(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> float:
    """The largest force of the case's push that the robot survives, N (see ``study.largest_pushes``)."""
    sim, options = prepare(settings, inputs)
    if len(options["pushes"]) != 1:
        raise StudyError("largest_push_N needs a case with one push")
    given: Any = {"laws": [sim.law], "controller": options["controller"], "ground": sim.ground, "dt": sim.dt}
    ((found,),) = largest_pushes(sim.robot, options["pushes"], **given)
    return found.survived


#: What else a case can be asked for, with its unit in its name.
OF_RECORDING: dict[str, Callable[[Recording], Value]] = {
    "least_support_margin_m": _least_margin,
    "root_moved_m": lambda rec: float(np.linalg.norm(rec.qpos[-1, :2] - rec.qpos[0, :2])),
    "cost_of_transport": cost_of_transport,
    "off_course": lambda rec: course(rec).error,
    "turned_rad": lambda rec: course(rec).turned,
    "ground_loss_J": lambda rec: -float(energy(rec).contact_work[-1]),
    "audit": lambda rec: rec.audit().verdict,
}
#: What needs more than the case's own run: taken of the settings with the inputs of the case.
OF_RUNS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Value]] = {"largest_push_N": _largest_push}
MEASURES = (*OF_SUMMARY, *OF_RECORDING, *OF_RUNS)
#: Longest message of a case that failed, characters.
LONGEST = 500


def check_measures(names: Iterable[str]) -> tuple[str, ...]:
    """The names, if all are known."""
    chosen = tuple(names)
    for name in chosen:
        if name not in MEASURES:
            raise StudyError(f"no measure '{name}': {did_you_mean(name, MEASURES)}")
    return chosen


def describe(work: Work, measures: tuple[str, ...]) -> dict[str, Any]:
    """Work as JSON, with everything that affects the result."""
    if isinstance(work, Mapping):
        return {"settings": dict(work), "measures": list(measures)}
    try:
        source = hashlib.sha256(inspect.getsource(work).encode()).hexdigest()
    except (OSError, TypeError):
        source = ""
    name = getattr(work, "__qualname__", type(work).__qualname__)
    about = {"function": name, "module": getattr(work, "__module__", ""), "source": source}
    return about | {"measures": list(measures)}


def travels(work: Work, inputs: Mapping[str, Any]) -> bool:
    """Whether another process can find this work: a function at the top of a module or file, or settings.

    A user's own law is known only to the process in which its function was decorated.
    """
    if isinstance(work, Mapping):
        return laws_of(work, inputs) <= set(BUILT_IN)
    if "<" in getattr(work, "__qualname__", "<") or getattr(work, "__module__", "__main__") == "__main__":
        return False  # local to a function, or of a script that would run once more
    return hasattr(sys.modules.get(work.__module__), work.__qualname__)


def check(work: Work, inputs: Mapping[str, Any]) -> None:
    """Refuse inputs (those of the first case) that the work does not take, before it is run."""
    if isinstance(work, Mapping):
        check_inputs(work, inputs)
        return
    try:
        known = inspect.signature(work).parameters.values()
    except (TypeError, ValueError):
        return
    named = {one.name: one for one in known if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}
    unknown = [name for name in inputs if name not in named]
    if unknown and not any(one.kind is one.VAR_KEYWORD for one in known):
        raise StudyError(f"function {work.__qualname__} takes {', '.join(sorted(named))} and no '{unknown[0]}'")
    for name, one in named.items():
        if one.default is one.empty and name not in inputs and name != "seed":
            raise StudyError(f"function {work.__qualname__} needs '{name}', which is not an input of the study")


def run_case(
    work: Work,
    measures: list[str],
    case: int,
    inputs: dict[str, Any],
    seed: int,
) -> dict[str, Any]:
    """The row of one case. An error becomes a message in the row."""
    row: dict[str, Any] = {"case": case, "inputs": inputs, "seed": seed, "status": "done", "message": "", "outputs": {}}
    try:
        with without_warnings():  # the row says the same
            if isinstance(work, Mapping):
                result: Any = simulate(work, inputs)
            else:
                takes_seed = "seed" in inspect.signature(work).parameters and "seed" not in inputs
                result = work(**inputs, seed=seed) if takes_seed else work(**inputs)
            row["outputs"] = _outputs(result, measures)
            if isinstance(work, Mapping):
                row["outputs"] |= {
                    name: plain(name, OF_RUNS[name](work, inputs)) for name in measures if name in OF_RUNS
                }
        if isinstance(result, Recording) and result.failure is not None:
            row["status"], row["message"] = "failed", result.failure.message
    except FootfallError as error:
        row["status"], row["message"] = "failed", str(error)[:LONGEST]
    except Exception as error:
        row["status"], row["message"] = "failed", f"{type(error).__name__}: {error}"[:LONGEST]
    return row


def _outputs(result: Any, measures: list[str]) -> dict[str, Any]:
    """Plain values by name; a measure that needs samples is left out of a recording without any."""
    if isinstance(result, Recording):
        summary = result.summary()
        own = [name for name in measures if name not in OF_RUNS and len(result)]
        result = {name: OF_RECORDING[name](result) if name in OF_RECORDING else summary[name] for name in own}
    elif not isinstance(result, Mapping):
        result = {"value": result}
    return {str(name): plain(str(name), value) for name, value in result.items()}


def plain(name: str, value: Any) -> Any:
    """A number, text or truth value as JSON holds it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    raise StudyError(f"a case gave '{name}' = {value!r}: what comes out is a number, a text, true, false or None")
