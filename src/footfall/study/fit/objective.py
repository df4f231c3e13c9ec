"""What a fit minimises: the error of each trial, simulated with given parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from footfall.contact import law as make_law
from footfall.errors import FootfallError, StudyError
from footfall.robot import Robot
from footfall.simulation import Simulation
from footfall.study.fit.parameters import Range
from footfall.study.fit.trials import Simulate
from footfall.study.sweep.settings import ground_of, put_in

#: Error of a trial whose simulation fails, in units of the loss.
FAILED = 10.0


class Simulations:
    """Makes simulations from parameters, each given as a share of its range."""

    def __init__(
        self,
        ranges: Mapping[str, Range],
        settings: Mapping[str, Any],
        robot: Robot | Callable[..., Robot],
        dt: float,
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
        return Simulation(robot, ground=ground_of(full), law=made, dt=self._dt), of_robot

    def _make_robot(self, **parameters: float) -> Robot:
        return self._robot if isinstance(self._robot, Robot) else self._robot(**parameters)


class Yardstick(NamedTuple):
    """How a trial is judged."""

    simulate: Simulate  # returns errors by name
    weights: Mapping[str, float] | None  # with which they are added to the loss; each with one if left out

    def loss(self, found: Mapping[str, float]) -> float:
        """The loss of a trial from its errors; none of a simulation that failed."""
        weights = dict.fromkeys(found, 1.0) if self.weights is None else self.weights
        missing = [name for name in weights if name not in found]
        if found and missing:
            raise StudyError(f"weights names an error '{missing[0]}', and simulate returns {', '.join(found)}")
        total = sum(weight * found[name] for name, weight in weights.items()) if found else np.nan
        return float(total) if np.isfinite(total) else FAILED


class Objective:
    """Errors of trials as a function of parameters, cached; ``runs`` counts the simulations."""

    def __init__(
        self,
        simulations: Simulations,
        trials: Sequence[Any],
        yardstick: Yardstick,
        pool: Executor,
        progress: Callable[[int], None],
    ) -> None:
        self._simulations, self._trials, self._yardstick = simulations, trials, yardstick
        self.trials = len(trials)
        self._pool, self._progress = pool, progress
        self.runs = 0
        self._known: dict[tuple[bytes, int], float] = {}  # searches come to the same places again
        self._refused: list[FootfallError] = []

    def __call__(self, shares: np.ndarray, which: np.ndarray) -> np.ndarray:
        """The errors of the trials of these numbers at a place (parameters,)."""
        place = shares.tobytes()
        new = [i for i in which if (place, i) not in self._known]
        if not new:
            return np.array([self._known[place, i] for i in which])
        try:
            sim, _ = self._simulations.at(shares)
        except FootfallError:
            if not self.runs:
                raise
            return np.full(len(which), FAILED)
        for i, found in zip(new, self._measured(sim, [self._trials[i] for i in new]), strict=True):
            self._known[place, i] = self._yardstick.loss(found)
        if not self.runs and len(self._refused) == len(which):  # not the parameters: the trials are no such trials
            raise self._refused[0]
        self._count(len(new))
        return np.array([self._known[place, i] for i in which])

    def judged(self, sim: Simulation, trials: Sequence[Any]) -> dict[str, float]:
        """The mean of each metric over other trials; failed ones are left out and counted."""
        rows = list(self._measured(sim, trials))
        self._count(len(rows))
        done = [row for row in rows if row and np.isfinite(list(row.values())).all()]
        if not rows:
            return {}
        means = {name: float(np.mean([row[name] for row in done])) for name in (done[0] if done else ())}
        return means | {"failed_trials": float(len(rows) - len(done))}

    def _measured(self, sim: Simulation, trials: Sequence[Any]) -> Iterable[Mapping[str, float]]:
        return self._pool.map(lambda trial: self._metrics(sim, trial), trials)

    def _metrics(self, sim: Simulation, trial: Any) -> Mapping[str, float]:
        try:
            return self._yardstick.simulate(sim, trial)
        except FootfallError as error:
            self._refused.append(error)
            return {}

    def _count(self, runs: int) -> None:
        self.runs += runs
        self._progress(self.runs)
