"""Laws fitted to measurements: ``ff.fit("time-stepping", tosses[:30], judge=tosses[30:130])``.

A fit simulates every trial with many parameters, first over the whole range and then downhill, and estimates how well
the data determine each parameter. Trials are tosses, measured ground forces, pulls, or anything that a user's own
function simulates. A law is fitted on some trials and judged on others; where fitting does not help, the result says
so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

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
from footfall.show.style import Figure, load_matplotlib, new_figure
from footfall.simulation import Simulation
from footfall.study.fit import search as searching
from footfall.study.fit.kept import Kept
from footfall.study.fit.logs import LogTrial, varied, windows
from footfall.study.fit.search import Estimate, Evaluations, Probes, Range
from footfall.study.fit.tosses import Toss, box, cube, follow, load_tosses, split
from footfall.study.fit.trials import (
    ForceTrial,
    ImpactTrial,
    Kind,
    Simulate,
    ellipse_arm,
    follow_forces,
    kind_of,
    load_impacts,
    planar_impact,
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

#: Most restarts of a fit from a better place found by its probes.
ESCAPES = 3
#: Parts of the trials in cross-validation, and draws of the bootstrap.
FOLDS, DRAWS = 2, 400
#: Shares of the evaluations: with the law's defaults, without a part of the trials, and finally on all.
FOR_DEFAULTS, CROSSED, LAST = 0.25, 0.8, 0.6


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
    keep: str | os.PathLike[str] | None = None,
) -> Fit:
    """Fit parameters of a law, of the ground and of the robot to trials.

    Args:
        law: a name or a law; what is not fitted keeps the value it has there.
        data: the trials: tosses (see ``load_tosses``), measured forces (``Measured``, or ``ForceTrial`` where the robot
            does not start at home), parts of a robot's log (see ``windows``), pulls (see ``footfall.study.identify``),
            single impacts (see ``load_impacts``), or whatever ``simulate`` takes.
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
        seed: of the search, the halves of the trials and the bootstrap.
        workers: threads that simulate, one per core if left out.
        progress: called with the simulations done and about how many there will be.
        keep: a file in which the errors of all simulated trials are kept; after a Ctrl-C the same fit goes on from it.

    Cross-validation decides whether fitting helps the law: parameters are searched without one half of the trials and
    judged on that half; likewise with the law's defaults, where only ground and robot are fitted. The loss must fall by
    more than its standard error, and no error by name may rise in the mean. The search on all
    trials continues from what was found on both halves. The bootstrap draws trials with replacement and picks among all
    parameters that were tried on all trials.
    """
    if len(data) < 2:
        raise StudyError(
            f"a fit needs at least two trials, and {len(data)} was given" if len(data) else "no trial was given"
        )
    known = make_law(law) if isinstance(law, str) else law
    kind = kind_of(data, robot is not None, known.event_driven, simulate is not None)
    others = kind_of(judge, robot is not None).trials if judge else ()
    simulations = _simulations(law, kind, parameters, robot, ground, dt)
    if simulate is None:
        simulate, weights = kind.simulate, weights or kind.weights
        if simulate is follow_forces:  # in body weights of the first guess: masses may be fitted
            simulate = partial(follow_forces, weight=simulations.at(simulations.first)[0].robot.weight)
    expected = _expected(len(kind.trials), evaluations, list(simulations.ranges)) + 2 * len(others)

    def tell(runs: int) -> None:
        if progress is not None:
            progress(min(runs, expected), expected)

    problem = simulations.to_dict() | {"trials": len(kind.trials)}
    with (
        closing(Kept(None if keep is None else Path(keep).expanduser(), problem)) as kept,
        ThreadPoolExecutor(workers or cores()) as pool,
        without_warnings(),  # a run that diverges has its error
    ):
        errors = Objective(simulations, kind.trials, simulate, weights, pool, tell, kept)
        found = _fitted(errors, simulations, others, _searched(errors, simulations, evaluations, seed), seed)
        tell(expected)
    return found


class Searched(NamedTuple):
    """Results of the searches of a fit."""

    tried: Evaluations  # on all trials
    plain: int  # index of the law's defaults
    best: int  # index of the best
    loss: float  # cross-validated, fitted
    default_loss: float  # and with the law's defaults
    of_law: np.ndarray  # (d,) which parameters are the law's

    @property
    def kept_defaults(self) -> bool:
        return self.best == self.plain and bool(self.of_law.any())


def _fitted(errors: Objective, simulations: Simulations, judge: Sequence[Any], found: Searched, seed: int) -> Fit:
    """The result: the refined best parameters, their intervals, and their errors on other trials."""
    tried, plain, trials = found.tried, found.plain, found.tried.errors.shape[1]
    draws = searching.bootstrapped(tried, DRAWS, seed)
    (point, least), probes = _refined(errors, tried, found.best, kept=found.kept_defaults)
    chosen, of_robot = simulations.at(point)
    judged = [errors.judged(sim, judge) for sim in (chosen, simulations.at(tried.points[plain])[0])]
    fitted = ~found.of_law | (not found.kept_defaults)
    return Fit(
        law=chosen.law,
        ground=chosen.ground,
        robot=of_robot,
        parameters=searching.estimates(simulations.ranges, point, draws, probes, trials, fitted),
        correlation=searching.correlations(draws),
        kept_defaults=found.kept_defaults,
        loss=found.loss,
        default_loss=found.default_loss,
        others_errors=judged[0],
        others_default=judged[1],
        trials=trials,
        others=len(judge),
        runs=errors.runs,
        ranges=simulations.ranges,
        tried=tried,
        errors=least,
        default_errors=tried.errors[plain],
    )


def _simulations(
    law: Law | str,
    kind: Kind,
    parameters: Mapping[str, Any] | None,
    robot: Robot | Callable[..., Robot] | None,
    ground: Mapping[str, Any] | None,
    dt: float | None,
) -> Simulations:
    """Simulations of the trials as a function of the parameters, with defaults for the kind of trials."""
    name = law if isinstance(law, str) else law.name
    base, given = ({}, parameters) if parameters is not None else kind.preset(name)
    options = {**base, **(law.options() if isinstance(law, Law) else {})}
    settings = {"robot": "given", "law": {"name": name, **options}, "ground": {"kind": "plane", **(ground or {})}}
    made = robot if robot is not None else kind.robot
    assert made is not None
    return Simulations(searching.as_ranges(given or {}), settings, made, dt if dt is not None else kind.dt)


def _searched(errors: Objective, simulations: Simulations, evaluations: int, seed: int) -> Searched:
    """Search with the law's defaults, without parts of the trials, and finally on all trials."""
    trials, first = errors.trials, simulations.first
    of_law = np.array([name.startswith("law.") for name in simulations.ranges])
    few = max(4, round(FOR_DEFAULTS * evaluations))
    others = ~of_law if of_law.any() else np.ones_like(of_law)
    errors(first, np.arange(trials))
    vectors = errors.vectors
    default, plain = searching.settled(
        searching.search(errors, first, trials, few if of_law.any() else evaluations, seed, others, vectors=vectors),
        errors,
    )
    scale = default.scale
    kept = searching.cross_validated(errors, np.tile(first, (FOLDS, 1)), trials, few, seed, scale, others, vectors)
    if not of_law.any():
        return Searched(default, plain, plain, float(kept.missed.mean()), float(kept.missed.mean()), of_law)
    free = searching.cross_validated(
        errors, kept.points, trials, round(CROSSED * evaluations), seed, scale, vectors=vectors
    )
    starts = np.vstack([free.points.mean(axis=0), free.points])
    begin, budget = default.points[plain], round(LAST * evaluations)
    last = searching.search(errors, begin, trials, budget, seed + 1, scale=scale, starts=starts, vectors=vectors)
    tried, chosen = searching.settled(searching.joined(default, last), errors)
    helps = searching.better(free.missed, kept.missed) and not _worse(errors, free, kept)
    best = chosen if helps else plain
    return Searched(tried, plain, best, float(free.missed.mean()), float(kept.missed.mean()), of_law)


def _worse(errors: Objective, fitted: searching.Crossed, default: searching.Crossed) -> bool:
    """Whether any metric of the trials is larger in the mean under parameters that were searched for without them.

    A loss may fall while what a law is judged by rises: less rotation, and a place that is farther off.
    """
    rows = [
        (errors.metrics(fitted.points[fold], i), errors.metrics(default.points[fold], i))
        for i, fold in enumerate(fitted.fold)
    ]
    both = [(a, b) for a, b in rows if a and b]
    names = both[0][0] if both else {}
    return any(np.mean([a[name] for a, _ in both]) > np.mean([b[name] for _, b in both]) for name in names)


def _refined(
    errors: Objective, tried: Evaluations, best: int, *, kept: bool
) -> tuple[tuple[np.ndarray, np.ndarray], Probes]:
    """The best of what was tried and its errors, refined unless it is ``kept``, and the loss around it."""
    found = tried.points[best], tried.errors[best]
    if kept:
        return found, searching.probed(errors, *found, tried.scale)
    found = searching.refined(errors, *found, tried.scale, errors.vectors)
    probes = searching.probed(errors, *found, tried.scale)
    for _ in range(ESCAPES):  # a search may end on a plateau above the minimum
        if probes.better is None:
            break
        there = errors(probes.better, np.arange(found[1].size))
        found = searching.refined(errors, probes.better, there, tried.scale, errors.vectors)
        probes = searching.probed(errors, *found, tried.scale)
    return found, probes


def _expected(trials: int, evaluations: int, names: Sequence[str]) -> int:
    """Approximate number of simulations of a fit; each half of the trials costs half."""
    of_law = any(name.startswith("law.") for name in names)
    share = 2.0 * FOR_DEFAULTS + CROSSED + LAST if of_law else 1.0 + FOR_DEFAULTS
    return round(trials * (share * evaluations + (searching.PROBES + searching.REFINING) * len(names)))


#: Error of a trial whose simulation fails, in units of the loss.
FAILED = 10.0


class Simulations:
    """Simulations from parameters, each given as a share of its range."""

    def __init__(
        self,
        ranges: Mapping[str, Range],
        settings: Mapping[str, Any],
        robot: Robot | Callable[..., Robot],
        dt: float | None,
    ) -> None:
        self.ranges = ranges
        self._settings, self._robot, self._dt = settings, robot, dt
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

    def to_dict(self) -> dict[str, Any]:
        return {"ranges": {name: asdict(own) for name, own in self.ranges.items()}, **self._settings, "dt": self._dt}

    def _make_robot(self, **parameters: float) -> Robot:
        return self._robot if isinstance(self._robot, Robot) else self._robot(**parameters)


class Objective:
    """Errors of trials as a function of parameters, each simulated once; ``runs`` counts what a fit asked for.

    ``simulate`` returns errors by name, and ``weights`` are those with which they are added to the loss, each with one
    if left out.
    """

    def __init__(
        self,
        simulations: Simulations,
        trials: Sequence[Any],
        simulate: Simulate,
        weights: Mapping[str, float] | None,
        pool: Executor,
        progress: Callable[[int], None],
        kept: Kept,
    ) -> None:
        self._simulations, self._trials, self._simulate, self._weights = simulations, trials, simulate, weights
        self.trials = len(trials)
        self._pool, self._progress, self._kept = pool, progress, kept
        self.runs = 0
        self._known: dict[tuple[bytes, int], float] = {}  # searches revisit places
        self._refused: list[FootfallError] = []
        self._last: tuple[bytes, dict[int, Mapping[str, Any]]] = b"", {}  # the last place, and errors as they came
        self._are_vectors = False

    def __call__(self, shares: np.ndarray, which: np.ndarray) -> np.ndarray:
        """The errors of the trials of these numbers at a place (parameters,)."""
        place = shares.tobytes()
        new = [int(i) for i in which if (place, i) not in self._known]
        if new:
            self._last = place, {}
        lacking = self._kept.lacking(shares, new)
        if lacking:
            try:
                sim, _ = self._simulations.at(shares)
            except FootfallError:
                if not self.runs:
                    raise
                return np.full(len(which), FAILED)
            found = self._measured(sim, [self._trials[i] for i in lacking])
            if not self.runs and len(self._refused) == len(which):  # not the parameters: these are no such trials
                raise self._refused[0]
            self._last[1].update(zip(lacking, found, strict=True))
            self._are_vectors |= any(np.ndim(own) for one in found for own in one.values())
            self._kept.put(shares, lacking, list(map(_lengths, found)))
        self._count(len(new))
        for i in new:
            self._known[place, i] = self._loss(self.metrics(shares, i))
        return np.array([self._known[place, i] for i in which])

    @property
    def vectors(self) -> searching.Vectors | None:
        """The vectors of trials at a place, in units of the loss, if their errors are vectors."""
        return self._vectors_at if self._are_vectors else None

    def _vectors_at(self, shares: np.ndarray, which: np.ndarray) -> list[list[np.ndarray]]:
        if shares.tobytes() != self._last[0]:  # vectors are not kept: few places are asked for again
            self._last = shares.tobytes(), {}
            self._count(len(which))
        known = self._last[1]
        lacking = [int(i) for i in which if i not in known and self.metrics(shares, i)]
        if lacking:
            sim, _ = self._simulations.at(shares)
            known.update(zip(lacking, self._measured(sim, [self._trials[i] for i in lacking]), strict=True))
        found = []
        for i in which:
            own = known.get(int(i), {})
            weights = dict.fromkeys(own, 1.0) if self._weights is None else self._weights
            rows = [weight * np.ravel(own[name]) for name, weight in weights.items()] if own else []
            found.append(rows if all(np.isfinite(row).all() for row in rows) else [])
        return found

    def _loss(self, found: Mapping[str, float]) -> float:
        """The loss of a trial from its errors; none of a simulation that failed."""
        weights = dict.fromkeys(found, 1.0) if self._weights is None else self._weights
        missing = [name for name in weights if name not in found]
        if found and missing:
            raise StudyError(f"weights names an error '{missing[0]}', and simulate returns {', '.join(found)}")
        total = sum(weight * found[name] for name, weight in weights.items()) if found else np.nan
        return float(total) if np.isfinite(total) else FAILED

    def judged(self, sim: Simulation, trials: Sequence[Any]) -> dict[str, np.ndarray]:
        """(trials,) each metric of other trials, NaN of those that failed."""
        rows = [_lengths(one) for one in self._measured(sim, trials)]
        self._count(len(rows))
        names = next((list(row) for row in rows if row), None)
        if rows and names is None:
            why = f": {self._refused[-1]}" if self._refused else ""
            raise StudyError(f"none of the {len(rows)} trials to judge on can be followed under {sim.law.name}{why}")
        return {name: np.array([row.get(name, np.nan) for row in rows], dtype=float) for name in names or ()}

    def metrics(self, shares: np.ndarray, which: int) -> Mapping[str, float]:
        """The errors by name of a trial at a place (parameters,) that was tried; none where its simulation failed."""
        return self._kept.errors(shares, which)

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
        correlation: (d, d) of the estimates over the bootstrap, NaN where one of them does not move.
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
    correlation: np.ndarray
    kept_defaults: bool
    loss: float
    default_loss: float
    others_errors: Mapping[str, np.ndarray]
    others_default: Mapping[str, np.ndarray]
    trials: int
    others: int
    runs: int
    ranges: Mapping[str, Range]
    tried: Evaluations
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
            "correlation": self.correlation.tolist(),
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

    def plot(self, kind: Literal["profile", "residuals"] = "profile") -> Figure:
        """``"profile"``: the loss over each parameter, every evaluation, the lowest at each value, the interval;
        ``"residuals"``: the error of each trial, fitted against that with the law's defaults.
        """
        if kind == "residuals":
            return residuals(f"{self.law.name}: {self.trials} trials", self.errors, self.default_errors)
        title = f"{self.law.name}: loss over {self.trials} trials"
        return profiles(title, self.ranges, self.parameters, self.tried)

    def __str__(self) -> str:
        found = ", ".join(f"{one.name} {one.value:.4g} ({one.low:.3g} .. {one.high:.3g})" for one in self.parameters)
        return f"{self.law.name}: {found}"

    __repr__ = __str__  # what prompts and notebooks show
