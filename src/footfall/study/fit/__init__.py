"""Laws fitted to measurements: ``ff.fit("time-stepping", tosses[:30], judge=tosses[30:130])``.

A fit simulates every trial with many parameters, first over the whole range and then downhill, and estimates how well
the data determine each parameter. Trials are tosses, measured ground forces, pulls, or anything that a user's own
function simulates. A law is fitted on some trials and judged on others; where fitting does not help, the result says
so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.errors import StudyError, without_warnings
from footfall.given_numbers import check_seed
from footfall.process.machine import cores
from footfall.robot import Robot
from footfall.study.fit.estimates import (
    PROBES,
    Curvature,
    Estimate,
    Probes,
    Seen,
    correlations,
    curvature_evaluations,
    estimates,
    polished,
    probed,
)
from footfall.study.fit.objective import Objective, Simulations, Yardstick
from footfall.study.fit.parameters import Range, as_ranges
from footfall.study.fit.result import Fit
from footfall.study.fit.search import (
    Errors,
    Evaluations,
    better,
    bootstrapped,
    cross_validated,
    joined,
    search,
    settled,
)
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

__all__ = [
    "Estimate",
    "Fit",
    "ForceTrial",
    "ImpactTrial",
    "Range",
    "Toss",
    "box",
    "cube",
    "ellipse_arm",
    "fit",
    "follow",
    "load_impacts",
    "load_tosses",
    "planar_impact",
    "split",
]

#: Most moves of a fit to a better place that its probes find.
ESCAPES = 3
#: Parts of the trials in cross-validation, and how often the bootstrap draws.
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
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fit parameters of a law, of the ground and of the robot to trials.

    Args:
        law: a name or a law; what is not fitted keeps the value it has there.
        data: the trials: tosses (see ``load_tosses``), measured forces (``Measured``, or ``ForceTrial`` where the robot
            does not start at home), pulls (see ``footfall.study.identify``), single impacts (see ``load_impacts``), or
            whatever ``simulate`` takes.
        parameters: ranges by path, ``{"law.k": (1e3, 1e6, "log"), "ground.friction": (0.1, 1.0)}``; ``robot.NAME`` is
            an argument of ``robot``. Left out, those of ``footfall.study.fit.parameters``.
        judge: other trials, on which the result is judged.
        robot: a robot, or a function of the fitted ``robot.NAME`` that makes one; the tossed cube if left out, whose
            side and inertia are then fitted too unless ``parameters`` are given.
        ground: settings of the ground, as in a study: ``{"kind": "plane", "friction": 0.5}``.
        dt: step, s; left out, the largest up to 1 ms (10 ms under a law that finds events within it) that divides the
            time between two frames of a toss.
        simulate: returns errors by name for a simulation and a trial; left out, that of the kind of trials.
        weights: how the errors are added to the loss of a trial, by name; left out, each of ``simulate`` with one.
        evaluations: about how often a search simulates all trials; a whole fit takes twice as many.
        seed: of the search, the halves of the trials and the bootstrap.
        workers: threads that simulate, one per core if left out.
        progress: called with the simulations done and about how many there will be.

    Cross-validation decides whether fitting helps the law: parameters are searched without one half of the trials and
    judged on that half; likewise with the law's defaults, where only ground and robot are fitted. The search on all
    trials continues from what was found on both halves. The bootstrap draws trials with replacement and picks among all
    parameters that were tried on all trials.
    """
    check_seed(seed)
    if len(data) < 2:
        raise StudyError(
            f"a fit needs at least two trials, and {len(data)} was given" if len(data) else "no trial was given"
        )
    known = make_law(law) if isinstance(law, str) else law
    kind = kind_of(data, robot is not None, known.event_driven, simulate is not None)
    others = kind_of(judge, robot is not None).trials if judge else ()
    simulations = _simulations(law, kind, parameters, robot, ground, dt)
    yardstick = _yardstick(kind, simulations, simulate, weights)
    expected = _expected(len(kind.trials), evaluations, list(simulations.ranges)) + 2 * len(others)

    def tell(runs: int) -> None:
        if progress is not None:
            progress(min(runs, expected), expected)

    with ThreadPoolExecutor(workers or cores()) as pool, without_warnings():  # a run that diverges has its error
        errors = Objective(simulations, kind.trials, yardstick, pool, tell)
        found = _fitted(errors, simulations, others, _searched(errors, simulations, evaluations, seed), seed)
        tell(expected)
    return found


def _yardstick(
    kind: Kind, simulations: Simulations, simulate: Simulate | None, weights: Mapping[str, float] | None
) -> Yardstick:
    """How trials are judged; body weights are those of the robot at the first guess."""
    if simulate is not None:
        return Yardstick(simulate, weights)
    following = kind.simulate
    if following is follow_forces:
        weight = simulations.at(simulations.first)[0].robot.weight
        following = partial(follow_forces, weight=weight)
    return Yardstick(following, weights or kind.weights)


class Searched(NamedTuple):
    """What the searches of a fit found."""

    tried: Evaluations  # on all trials
    plain: int  # which of it has the law's defaults
    best: int  # which is best
    loss: float  # cross-validated, fitted
    default_loss: float  # and with the law's defaults
    of_law: np.ndarray  # (d,) which parameters are the law's

    @property
    def kept_defaults(self) -> bool:
        return self.best == self.plain and bool(self.of_law.any())


def _fitted(errors: Objective, simulations: Simulations, judge: Sequence[Any], found: Searched, seed: int) -> Fit:
    """The result: the best parameters refined, their intervals, and how they do on other trials."""
    tried, plain, trials = found.tried, found.plain, found.tried.errors.shape[1]
    draws = bootstrapped(tried, DRAWS, seed)
    least, probes = _polished(errors, tried, found.best, kept=found.kept_defaults)
    chosen, of_robot = simulations.at(least.point)
    judged = [errors.judged(sim, judge) for sim in (chosen, simulations.at(tried.points[plain])[0])]
    fitted = ~found.of_law | (not found.kept_defaults)
    return Fit(
        law=chosen.law,
        ground=chosen.ground,
        robot=of_robot,
        parameters=estimates(simulations.ranges, least.point, Seen(draws, least.spread, probes, trials), fitted),
        correlation=correlations(draws),
        kept_defaults=found.kept_defaults,
        loss=found.loss,
        default_loss=found.default_loss,
        judged=judged[0],
        judged_default=judged[1],
        trials=trials,
        others=len(judge),
        runs=errors.runs,
        ranges=simulations.ranges,
        tried=tried,
        errors=least.errors,
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
    """Simulations of the trials as a function of what is fitted; what is left out is that of their kind."""
    name = law if isinstance(law, str) else law.name
    base, given = ({}, parameters) if parameters is not None else kind.preset(name)
    options = {**base, **(law.options() if isinstance(law, Law) else {})}
    settings = {"robot": "given", "law": {"name": name, **options}, "ground": {"kind": "plane", **(ground or {})}}
    made = robot if robot is not None else kind.robot
    assert made is not None
    return Simulations(as_ranges(given or {}), settings, made, dt if dt is not None else kind.dt)


def _searched(errors: Objective, simulations: Simulations, evaluations: int, seed: int) -> Searched:
    """Search with the law's defaults, without parts of the trials, and finally on all trials."""
    trials, first = errors.trials, simulations.first
    of_law = np.array([name.startswith("law.") for name in simulations.ranges])
    few = max(4, round(FOR_DEFAULTS * evaluations))
    others = ~of_law if of_law.any() else np.ones_like(of_law)
    default, plain = settled(search(errors, first, trials, few if of_law.any() else evaluations, seed, others), errors)
    scale = default.scale
    kept = cross_validated(errors, np.tile(first, (FOLDS, 1)), trials, few, seed, scale, others)
    if not of_law.any():
        return Searched(default, plain, plain, float(kept.missed.mean()), float(kept.missed.mean()), of_law)
    free = cross_validated(errors, kept.points, trials, round(CROSSED * evaluations), seed, scale)
    starts = np.vstack([free.points.mean(axis=0), free.points])
    begin, budget = default.points[plain], round(LAST * evaluations)
    last = search(errors, begin, trials, budget, seed + 1, scale=scale, starts=starts)
    tried, chosen = settled(joined(default, last), errors)
    best = chosen if better(free.missed, kept.missed) else plain
    return Searched(tried, plain, best, float(free.missed.mean()), float(kept.missed.mean()), of_law)


def _polished(errors: Errors, tried: Evaluations, best: int, *, kept: bool) -> tuple[Curvature, Probes]:
    """The best of what was tried, refined to the minimum unless it is ``kept``, and the loss around it."""
    found = Curvature(tried.points[best], tried.errors[best], np.full(tried.points.shape[1], np.nan))
    if kept:
        return found, probed(errors, found.point, found.errors, tried.scale)
    found = polished(errors, found.point, found.errors, tried.scale)
    probes = probed(errors, found.point, found.errors, tried.scale)
    trials = np.arange(found.errors.size)
    for _ in range(ESCAPES):  # a search may end on a plateau, beside which it is lower
        if probes.better is None:
            break
        found = polished(errors, probes.better, errors(probes.better, trials), tried.scale)
        probes = probed(errors, found.point, found.errors, tried.scale)
    return found, probes


def _expected(trials: int, evaluations: int, names: Sequence[str]) -> int:
    """About how many simulations a fit takes; each half of the trials costs half."""
    of_law = any(name.startswith("law.") for name in names)
    share = 2.0 * FOR_DEFAULTS + CROSSED + LAST if of_law else 1.0 + FOR_DEFAULTS
    return round(trials * (share * evaluations + PROBES * len(names) + curvature_evaluations(len(names))))
