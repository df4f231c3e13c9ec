"""Laws fitted to measurements: ``ff.fit("time-stepping", tosses[:30], judge=tosses[30:130])``.

A fit simulates every trial under many parameters, over the whole box first and then downhill, and says what the data
tell about each parameter. Fitted on some trials, it is judged on others; a law that gets no better by fitting says so.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.errors import FootfallError, FootfallWarning, StudyError
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.simulation import Simulation
from footfall.study.fit.estimates import Estimate, correlations, estimates
from footfall.study.fit.presets import of_cube, preset
from footfall.study.fit.ranges import Range, as_ranges
from footfall.study.fit.result import Fit
from footfall.study.fit.search import better, bootstrapped, cross_validated, joined, search, settled
from footfall.study.fit.trials import TOSS_WEIGHTS, Toss, cube, follow, load_tosses, split, step_of
from footfall.study.sweep.settings import put_in

__all__ = ["Estimate", "Fit", "Range", "Toss", "cube", "fit", "follow", "load_tosses", "split"]

#: Error of a trial whose simulation fails, in units of the loss.
FAILED = 10.0
FOLDS, DRAWS = 5, 400
#: Share of the evaluations in which the law keeps its defaults.
FOR_DEFAULTS = 0.25

Simulate = Callable[[Simulation, Any], Mapping[str, float]]


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
        data: the trials, tosses (see ``load_tosses``) or whatever ``simulate`` takes.
        parameters: ranges by path, ``{"law.k": (1e3, 1e6, "log"), "ground.friction": (0.1, 1.0)}``; ``robot.NAME`` is
            an argument of ``robot``. Left out, those of ``footfall.study.fit.presets``.
        judge: other trials, on which the result is judged.
        robot: a robot, or a function of the fitted ``robot.NAME`` that makes one; the tossed cube if left out, whose
            side and inertia are then fitted too unless ``parameters`` are given.
        ground: settings of the ground, as in a study: ``{"kind": "plane", "friction": 0.5}``.
        dt: step, s; left out, the largest up to 1 ms that divides the time between two frames of a toss.
        simulate: gives errors by name for a simulation and a trial; left out, that of tosses.
        weights: how the errors are added to the loss of a trial, by name.
        evaluations: how often all trials are simulated, about.
        progress: called with the simulations done and about how many there will be.

    Cross-validation takes no further simulation: among all parameters tried, those that are best without a trial are
    judged on it. The bootstrap draws trials with replacement in the same way.
    """
    if len(data) < 2:
        raise StudyError(
            f"a fit needs at least two trials, and {len(data)} was given" if data else "no trial was given"
        )
    name = law if isinstance(law, str) else law.name
    base, given = ({}, parameters) if parameters is not None else preset(name)
    if robot is None and isinstance(data[0], Toss):
        body = data[0]
        made_of = {"side": body.width, "mass": body.mass, "inertia": body.inertia}
        robot = partial(cube, **made_of, gravity=body.gravity)
        given = given if parameters is not None else {**given, **of_cube(**made_of)}
    ranges = as_ranges(given or {})
    options = {**base, **(law.options() if isinstance(law, Law) else {})}
    settings = {"robot": "given", "law": {"name": name, **options}, "ground": {"kind": "plane", **(ground or {})}}
    measure, weighing = simulate or follow, dict(weights or TOSS_WEIGHTS)
    step = dt if dt is not None else step_of(data[0].rate) if isinstance(data[0], Toss) else 1e-3
    made = robot if robot is not None else cube
    count, expected = 0, round(len(data) * (1.3 * evaluations)) + 2 * len(judge)
    names = list(ranges)

    def simulation(shares: np.ndarray) -> tuple[Simulation, dict[str, float]]:
        values = {name: ranges[name].value(share) for name, share in zip(names, shares, strict=True)}
        of_robot = {name.removeprefix("robot."): value for name, value in values.items() if name.startswith("robot.")}
        full = put_in(settings, {name: value for name, value in values.items() if not name.startswith("robot.")})
        return _simulation(made if isinstance(made, Robot) else made(**of_robot), full, step), of_robot

    def metrics(sim: Simulation, trial: Any) -> Mapping[str, float]:
        try:
            return measure(sim, trial)
        except FootfallError:
            return dict.fromkeys(weighing, np.nan)

    def weighed(found: Mapping[str, float]) -> float:
        total = sum(weight * found[name] for name, weight in weighing.items())
        return float(total) if np.isfinite(total) else FAILED

    threads = workers or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [0])
    with ThreadPoolExecutor(threads) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore", FootfallWarning)  # a run that diverges has its error

        def errors(shares: np.ndarray, which: np.ndarray) -> np.ndarray:
            nonlocal count
            try:
                sim, _ = simulation(shares)
            except FootfallError:
                if not count:
                    raise
                return np.full(len(which), FAILED)
            found = [weighed(one) for one in pool.map(lambda i: metrics(sim, data[i]), which)]
            count += len(which)
            if progress is not None:
                progress(min(count, expected), expected)
            return np.array(found)

        first = np.array([own.first for own in ranges.values()])
        of_law = np.array([name.startswith("law.") for name in names])
        trials, few = len(data), max(4, round(FOR_DEFAULTS * evaluations))
        default, plain = settled(search(errors, first, trials, few, seed, free=~of_law), errors)
        free = search(errors, default.points[plain], trials, evaluations, seed + 1, scale=default.scale)
        tried, chosen_one = settled(joined(default, free), errors)
        missed, default_missed = cross_validated(tried, FOLDS, seed), cross_validated(default, FOLDS, seed)
        kept = not better(missed, default_missed)
        best = plain if kept else chosen_one
        draws = bootstrapped(tried, DRAWS, seed)
        chosen, of_robot = simulation(tried.points[best])
        judged = [
            _mean(pool.map(lambda t, s=s: metrics(s, t), judge)) for s in (chosen, simulation(tried.points[plain])[0])
        ]
        count += 2 * len(judge)
        if progress is not None:
            progress(expected, expected)
    fitted = ~of_law | (not kept)
    return Fit(
        law=chosen.law,
        ground=chosen.ground,
        robot=of_robot,
        parameters=estimates(ranges, tried.points[best], draws, fitted),
        correlation=correlations(draws),
        kept_defaults=kept,
        loss=float(missed.mean()),
        default_loss=float(default_missed.mean()),
        judged=judged[0],
        judged_default=judged[1],
        trials=trials,
        others=len(judge),
        runs=count,
        ranges=ranges,
        tried=tried,
    )


def _simulation(robot: Robot, full: Mapping[str, Any], dt: float) -> Simulation:
    law = dict(full["law"])
    ground = dict(full["ground"])
    made = make_law(law.pop("name"), **{name: tuple(v) if isinstance(v, list) else v for name, v in law.items()})
    return Simulation(robot, ground=getattr(Ground, ground.pop("kind"))(**ground), law=made, dt=dt)


def _mean(found: Any) -> dict[str, float]:
    """The mean of each metric over trials; those that failed are left out of it and counted."""
    rows = list(found)
    if not rows:
        return {}
    means = {name: float(np.nanmean([row[name] for row in rows])) for name in rows[0]}
    return means | {"failed_trials": float(sum(not np.isfinite(list(row.values())).all() for row in rows))}
