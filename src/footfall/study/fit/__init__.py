"""Laws fitted to measurements: ``ff.fit("time-stepping", tosses[:30], judge=tosses[30:130])``.

A fit simulates every trial with many parameters, first over the whole range and then downhill, and estimates how well
the data determine each parameter. Trials are tosses, measured ground forces, impacts, parts of a log, or anything
that a user's own function simulates. A law is fitted on some trials and judged on others; where fitting does not help,
the result says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.contact.springs.stable_step import stable_step
from footfall.errors import FootfallError, StudyError, without_warnings
from footfall.files.atomic_write import write_text
from footfall.given_numbers import Count, Whole
from footfall.ground import Ground
from footfall.process.machine import cores
from footfall.robot import Robot
from footfall.simulation import Simulation
from footfall.study.fit import search as searching
from footfall.study.fit.search import Estimate, Evaluations, Range
from footfall.study.fit.tosses import Toss, box, cube, follow, load_tosses, split
from footfall.study.fit.trials import (
    ForceTrial,
    ImpactTrial,
    Kind,
    LogTrial,
    Simulate,
    ellipse_arm,
    follow_forces,
    kind_of,
    load_impacts,
    planar_impact,
    preset,
    varied,
    windows,
)
from footfall.study.sweep.settings import ground_of, put_in

__all__ = [
    "Estimate",
    "Fit",
    "ForceTrial",
    "ImpactTrial",
    "LogTrial",
    "Range",
    "Toss",
    "box",
    "cube",
    "ellipse_arm",
    "fit",
    "follow",
    "gain_of",
    "load_impacts",
    "load_tosses",
    "planar_impact",
    "split",
    "varied",
    "windows",
]

#: Parts of the trials in cross-validation.
FOLDS = 2
#: Shares of the evaluations: with the law's defaults, without a part of the trials, and finally on all; and evaluations
#: for each parameter more in that last search.
FOR_DEFAULTS, CROSSED, LAST, REFINING = 0.25, 0.8, 0.6, 25
#: Most searches that begin anew from a better place, which was come across in search of the intervals.
ESCAPES = 3


@public
def fit(
    law: Law | str,
    data: Sequence[Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    judge: Sequence[Any] = (),
    robot: Robot | Callable[..., Robot] | None = None,
    ground: Mapping[str, Any] | None = None,
    dt: float | None = None,
    simulate: Simulate | None = None,
    weights: Mapping[str, float] | None = None,
    evaluations: int = 200,
    seed: Whole = 0,
    workers: Count | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fit parameters of a law, of the ground and of the robot to trials.

    Args:
        law: a name or a law; what is not fitted keeps the value it has there.
        data: the trials: tosses (see ``load_tosses``), measured forces (``Measured``, or ``ForceTrial`` where the robot
            does not start at home), parts of a robot's log (see ``windows``), single impacts (see ``load_impacts``), or
            whatever ``simulate`` takes.
        parameters: ranges by path, ``{"law.k": (1e3, 1e6, "log"), "ground.friction": (0.1, 1.0)}``; ``robot.NAME`` is
            an argument of ``robot``. Left out, those of ``footfall.study.fit.trials``.
        judge: other trials, on which the result is judged.
        robot: a robot, or a function of the fitted ``robot.NAME`` that makes one; left out, the tossed cube, whose side
            and inertia are fitted too, or the robot of a log, see ``varied``, unless ``parameters`` are given.
        ground: settings of the ground, as in a study: ``{"kind": "plane", "friction": 0.5}``.
        dt: step, s; left out, 1 ms, or the part of it in which springs with the gains that are tried are stable; for
            tosses the largest up to 1 ms (10 ms under a law that finds events within it) that divides the time between
            two frames.
        simulate: returns errors by name for a simulation and a trial; left out, that of the kind of trials. An error is
            a number, or an array of which the length counts: to differences that pass smoothly through zero, the
            search takes fewer simulations.
        weights: how the errors are added to the loss of a trial, by name; left out, each of ``simulate`` with one.
        evaluations: about how often a search simulates all trials; a whole fit takes twice as many.
        seed: of the search and the halves of the trials.
        workers: threads that simulate, one per core if left out.
        progress: called with the simulations done and about how many there will be.

    Cross-validation decides whether fitting helps the law: parameters are searched without one half of the trials and
    judged on that half; likewise with the law's defaults, where only ground and robot are fitted. The loss must fall by
    more than its standard error, and no error by name may rise in the mean. The search on all
    trials continues from what was found on both halves.
    """
    if len(data) < 2:
        raise StudyError(
            f"a fit needs at least two trials, and {len(data)} was given" if len(data) else "no trial was given"
        )
    known = make_law(law) if isinstance(law, str) else law
    kind = kind_of(data, robot is not None, known.event_driven, simulate is not None)
    others = kind_of(judge, robot is not None).trials if judge else ()
    simulations = Simulations(law, kind, parameters, robot, ground, dt)
    if simulate is None:
        simulate, weights = kind.simulate, weights or kind.weights
        if simulate is follow_forces:  # in body weights of the first guess: masses may be fitted
            simulate = partial(follow_forces, weight=simulations.at(simulations.first)[0].robot.weight)
    expected = _expected(len(kind.trials), evaluations, list(simulations.ranges)) + 2 * len(others)

    def tell(runs: int) -> None:
        if progress is not None:
            progress(min(runs, expected), expected)

    with ThreadPoolExecutor(workers or cores()) as pool, without_warnings():  # a run that diverges has its error
        errors = Objective(simulations, kind.trials, simulate, weights, pool, tell)
        found = _fitted(errors, simulations, others, evaluations, seed)
        tell(expected)
    return found


def _fitted(errors: Objective, simulations: Simulations, judge: Sequence[Any], evaluations: int, seed: int) -> Fit:
    """Search with the law's defaults and for all parameters, first without parts of the trials; keep what helps."""
    trials, first, names = errors.trials, simulations.first, list(simulations.ranges)
    of_law = np.array([name.startswith("law.") for name in names])
    scale = float(np.median(searching.lengths(errors(first, np.arange(trials)))))

    def searched(
        own: searching.Errors, number: int, budget: float = CROSSED * evaluations, starts: np.ndarray | None = None
    ) -> list[Evaluations]:
        """With the law's defaults, and from there for all parameters."""
        if not of_law.any():
            return [searching.search(own, first, number, round(budget), seed, None, scale, starts)] * 2
        default = searching.search(own, first, number, round(FOR_DEFAULTS * evaluations), seed, ~of_law, scale)
        begin = default.points[default.best()]
        return [default, searching.search(own, begin, number, round(budget), seed, None, scale, starts)]

    def best_of(own: searching.Errors, number: int) -> np.ndarray:
        return np.array([one.points[one.best()] for one in searched(own, number)])

    crossed = searching.cross_validated(errors, best_of, trials, FOLDS, seed, scale)
    kept, free = crossed.missed
    default, tried = searched(errors, trials, LAST * evaluations + REFINING * len(names), crossed.points[:, 1])
    kept_defaults = bool(of_law.any()) and (not searching.better(free, kept) or _worse(errors, crossed))
    best = default if kept_defaults else tried
    fitted = ~of_law | (not kept_defaults)
    escapes = 0 if kept_defaults else ESCAPES
    while True:
        point, least = best.points[best.best()], best.errors[best.best()]
        parameters, lower = searching.estimates(errors, simulations.ranges, point, least, scale, fitted)
        if lower is None or not escapes:
            break
        best, escapes = searching.search(errors, lower, trials, REFINING * len(names), seed, None, scale), escapes - 1
    chosen, of_robot = simulations.at(point)
    judged = [errors.judged(sim, judge) for sim in (chosen, simulations.at(default.points[default.best()])[0])]
    return Fit(
        law=chosen.law,
        ground=chosen.ground,
        robot=of_robot,
        parameters=parameters,
        kept_defaults=kept_defaults,
        loss=float(free.mean()),
        default_loss=float(kept.mean()),
        others_errors=judged[0],
        others_default=judged[1],
        trials=trials,
        others=len(judge),
        runs=errors.runs,
        errors=least,
        default_errors=default.errors[default.best()],
    )


def _worse(errors: Objective, crossed: searching.Crossed) -> bool:
    """Whether any metric of the trials is larger in the mean under parameters that were searched for without them.

    A loss may fall while what a law is judged by rises: less rotation, and a place that is farther off.
    """
    rows = [
        [errors.metrics.get((one.tobytes(), i), {}) for one in crossed.points[fold]]
        for i, fold in enumerate(crossed.fold)
    ]
    both = [(default, fitted) for default, fitted in rows if default and fitted]
    names = both[0][0] if both else {}
    return any(np.mean([b[name] for _, b in both]) > np.mean([a[name] for a, _ in both]) for name in names)


def _expected(trials: int, evaluations: int, names: Sequence[str]) -> int:
    """Approximate number of simulations of a fit; each half of the trials costs half."""
    of_law = any(name.startswith("law.") for name in names)
    share = 2.0 * FOR_DEFAULTS + CROSSED + LAST if of_law else CROSSED + LAST
    return round(trials * (share * evaluations + (2 * searching.HALVINGS + REFINING) * len(names)))


class Simulations:
    """Simulations from parameters, each given as a share of its range, with defaults for the kind of trials."""

    def __init__(
        self,
        law: Law | str,
        kind: Kind,
        parameters: Mapping[str, Any] | None,
        robot: Robot | Callable[..., Robot] | None,
        ground: Mapping[str, Any] | None,
        dt: float | None,
    ) -> None:
        name = law if isinstance(law, str) else law.name
        options, given = ({}, parameters) if parameters is not None else preset(name, kind)
        options = {**options, **(law.options() if isinstance(law, Law) else {})}
        self.ranges = searching.as_ranges(given or {})
        self._settings = {
            "robot": "given", "law": {"name": name, **options}, "ground": {"kind": "plane", **(ground or {})}
        }  # fmt: skip
        made = robot if robot is not None else kind.robot
        assert made is not None
        self._robot, self._dt = made, dt if dt is not None else kind.dt
        # Most evaluations vary the law or the ground alone, and loading a robot takes milliseconds.
        self._last_robot = lru_cache(maxsize=1)(self._make_robot)

    @property
    def first(self) -> np.ndarray:
        """(d,) the first guess."""
        return np.array([own.first for own in self.ranges.values()])

    def at(self, shares: np.ndarray) -> tuple[Simulation, dict[str, float]]:
        """The simulation at a place (parameters,) and the values of the robot's parameters there."""
        values = {name: own.value(share) for (name, own), share in zip(self.ranges.items(), shares, strict=True)}
        of_robot = {name.removeprefix("robot."): value for name, value in values.items() if name.startswith("robot.")}
        others = {name: value for name, value in values.items() if not name.startswith("robot.")}
        full = put_in(self._settings, others)
        robot, law = self._last_robot(**of_robot), dict(full["law"])
        made = make_law(law.pop("name"), **{name: tuple(v) if isinstance(v, list) else v for name, v in law.items()})
        ground = ground_of(full)
        dt = stable_step(made, robot, ground) if self._dt is None else self._dt
        return Simulation(robot, ground=ground, law=made, dt=dt), of_robot

    def _make_robot(self, **parameters: float) -> Robot:
        return self._robot if isinstance(self._robot, Robot) else self._robot(**parameters)


class Objective:
    """Errors of trials as a function of parameters; ``runs`` counts the simulations.

    ``simulate`` returns errors by name, and ``weights`` are those with which they are added to the loss, each with one
    if left out. ``metrics`` has the errors by name of every place and trial, none of a simulation that failed.
    """

    def __init__(
        self,
        simulations: Simulations,
        trials: Sequence[Any],
        simulate: Simulate,
        weights: Mapping[str, float] | None,
        pool: Executor,
        progress: Callable[[int], None],
    ) -> None:
        self._simulations, self._trials, self._simulate, self._weights = simulations, trials, simulate, weights
        self._pool, self._progress = pool, progress
        self.trials, self.runs = len(trials), 0
        self.metrics: dict[tuple[bytes, int], Mapping[str, float]] = {}
        self._refused: list[FootfallError] = []
        self._are_vectors = False

    def __call__(self, shares: np.ndarray, which: np.ndarray) -> list[searching.Error]:
        """The errors of the trials of these numbers at a place (parameters,)."""
        try:
            sim, _ = self._simulations.at(shares)
        except FootfallError:
            if not self.runs:
                raise
            return [[] for _ in which]
        found = self._measured(sim, [self._trials[i] for i in which])
        if not self.runs and len(self._refused) == len(which):  # not the parameters: these are no such trials
            raise self._refused[0]
        self._count(len(which))
        self._are_vectors |= any(np.ndim(own) for one in found for own in one.values())
        self.metrics |= {(shares.tobytes(), int(i)): _lengths(one) for i, one in zip(which, found, strict=True)}
        return list(map(self._error, found))

    def _error(self, found: Mapping[str, Any]) -> searching.Error:
        """The error of a trial from its errors by name; none of a simulation that failed."""
        weights = dict.fromkeys(found, 1.0) if self._weights is None else self._weights
        missing = [name for name in weights if name not in found]
        if found and missing:
            raise StudyError(f"weights names an error '{missing[0]}', and simulate returns {', '.join(found)}")
        rows = [weight * np.ravel(found[name]) for name, weight in weights.items()] if found else []
        if not all(np.isfinite(row).all() for row in rows):
            return []
        return rows if self._are_vectors or not rows else float(np.sum(rows))

    def judged(self, sim: Simulation, trials: Sequence[Any]) -> dict[str, np.ndarray]:
        """(trials,) each metric of other trials, NaN of those that failed."""
        rows = [_lengths(one) for one in self._measured(sim, trials)]
        self._count(len(rows))
        names = next((list(row) for row in rows if row), None)
        if rows and names is None:
            why = f": {self._refused[-1]}" if self._refused else ""
            raise StudyError(f"none of the {len(rows)} trials to judge on can be followed under {sim.law.name}{why}")
        return {name: np.array([row.get(name, np.nan) for row in rows], dtype=float) for name in names or ()}

    def _measured(self, sim: Simulation, trials: Sequence[Any]) -> list[Mapping[str, Any]]:
        return list(self._pool.map(lambda trial: self._metrics(sim, trial), trials))

    def _metrics(self, sim: Simulation, trial: Any) -> Mapping[str, Any]:
        try:
            found = self._simulate(sim, trial)
        except FootfallError as error:
            self._refused.append(error)
            return {}
        if not isinstance(found, Mapping):
            raise StudyError(f"simulate returned {found!r}, but it must be a mapping of errors by name")
        return found

    def _count(self, runs: int) -> None:
        self.runs += runs
        self._progress(self.runs)


def _lengths(found: Mapping[str, Any]) -> dict[str, float]:
    """Errors of a trial as numbers."""
    return {name: float(np.linalg.norm(own) if np.ndim(own) else own) for name, own in found.items()}


class Gain(NamedTuple):
    """The mean of paired differences, its standard error, and whether it is more than chance, at 95 %."""

    mean: float
    error: float
    told: bool


def gain_of(errors: np.ndarray, others: np.ndarray) -> Gain:
    """The gain of errors (N,) over ``others`` of the same trials, without failed ones."""
    gain = np.asarray(others) - np.asarray(errors)
    gain = gain[np.isfinite(gain)]
    if gain.size < 2:
        return Gain(float(gain.mean()) if gain.size else np.nan, np.nan, False)
    error = float(gain.std(ddof=1) / np.sqrt(gain.size))
    return Gain(float(gain.mean()), error, bool(abs(gain.mean()) > searching.quantile(gain.size) * error))


def _means(metrics: Mapping[str, np.ndarray]) -> dict[str, float]:
    failed = max((int(np.isnan(own).sum()) for own in metrics.values()), default=0)
    return {name: float(np.nanmean(own)) for name, own in metrics.items()} | (
        {"failed_trials": float(failed)} if metrics else {}
    )


@public
@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted law.

    Attributes:
        law, ground: with the parameters that were found, or the law's defaults where fitting made it no better.
        robot: the parameters of the robot that were fitted, by name.
        parameters: an estimate of each.
        kept_defaults: on trials it was not fitted to, fitting gained the law nothing beyond the standard error of the
            gain, so that its defaults are kept.
        loss, default_loss: cross-validated on the trials of the fit, fitted and with the law's defaults; with the
            defaults only what is not of the law (the ground, the robot) is fitted.
        others_errors, others_default: (others,) each metric on the other trials, and with the law's defaults; NaN where
            a simulation failed.
        trials, others: how many trials it was fitted to, and judged on.
        runs: simulations it took.
        errors, default_errors: (trials,) of each trial of the fit, fitted and with the law's defaults.
    """

    law: Law
    ground: Ground
    robot: Mapping[str, float]
    parameters: tuple[Estimate, ...]
    kept_defaults: bool
    loss: float
    default_loss: float
    others_errors: Mapping[str, np.ndarray]
    others_default: Mapping[str, np.ndarray]
    trials: int
    others: int
    runs: int
    errors: np.ndarray
    default_errors: np.ndarray

    @property
    def judged(self) -> dict[str, float]:
        """The mean of each metric on the other trials, and how many of these failed."""
        return _means(self.others_errors)

    @property
    def judged_default(self) -> dict[str, float]:
        """The same with the law's defaults."""
        return _means(self.others_default)

    @property
    def standard_error(self) -> dict[str, float]:
        """Of the mean of each metric on the other trials; of other tosses it would differ by about this."""
        return {name: gain_of(np.zeros_like(own), own).error for name, own in self.others_errors.items()}

    def to_dict(self) -> dict[str, Any]:
        return {
            "law": self.law.to_dict(),
            "ground": self.ground.to_dict(),
            "robot": dict(self.robot),
            "parameters": {
                one.name: {"value": one.value, "low": one.low, "high": one.high, "note": one.note}
                for one in self.parameters
            },
            "kept_defaults": self.kept_defaults,
            "cross_validated_loss": self.loss,
            "cross_validated_loss_of_defaults": self.default_loss,
            "judged": dict(self.judged),
            "judged_standard_errors": self.standard_error,
            "judged_defaults": dict(self.judged_default),
            "trials": self.trials,
            "judged_trials": self.others,
            "runs": self.runs,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fit as JSON; ``ff.law(path)`` reads the law back."""
        return write_text(Path(path).expanduser(), json.dumps(self.to_dict(), indent=1) + "\n", "the fit")

    def __str__(self) -> str:
        found = ", ".join(f"{one.name} {one.value:.4g} ({one.low:.3g} .. {one.high:.3g})" for one in self.parameters)
        return f"{self.law.name}: {found}"

    __repr__ = __str__  # what prompts and notebooks show
