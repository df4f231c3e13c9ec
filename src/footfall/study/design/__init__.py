"""Design: vary parameters of robot, foot and gait, and find the front of best compromises between measures.

This is what Bruneau (1999) built a simulator for: a tool to design legged machines.

    found = ff.study.design(
        {"robot": "spatial-biped", "controller": {"name": "walk", "steps": 6}, "law": "spring-damper"},
        vary={"robot.foot_length": (0.16, 0.30), "controller.speed": (0.2, 0.5)},
        goals={"peak_vertical_force_bw": 1.0, "cost_of_transport": 1.0},
        cases=32,
        rounds=3,
        out="feet",
    )
    print(found)  # the front, and the best by the weights
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.errors import StudyError
from footfall.given_numbers import is_number
from footfall.study.design.front import ranks
from footfall.study.design.search import children
from footfall.study.sweep import Samples, SweepTable, sweep
from footfall.study.sweep.cases import unit_samples
from footfall.study.sweep.measures import check_measures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Design", "design"]


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """All designs that were tried and which of them are on the front.

    Attributes:
        goals: measure and weight; a negative weight says that larger is better.
        inputs: name -> (designs,) what was varied.
        measures: name -> (designs,) each goal's measure; nan where a design failed.
        admissible: (designs,) whether the run was completed and the robot did not fall.
        front: indices of the designs that no other beats in every goal, best weighted score first.
        score: (designs,) weighted sum of the goals, each over its median; inf if not admissible.
        tables: the table of each round.
    """

    goals: Mapping[str, float]
    inputs: Mapping[str, np.ndarray]
    measures: Mapping[str, np.ndarray]
    admissible: np.ndarray
    front: np.ndarray
    score: np.ndarray
    tables: tuple[SweepTable, ...]

    def __len__(self) -> int:
        return len(self.admissible)

    @property
    def best(self) -> dict[str, float]:
        """Inputs of the design with the lowest score."""
        if not self.front.size:
            raise StudyError(f"none of the {len(self)} designs is admissible: {self.why_not()}")
        return {name: float(values[self.front[0]]) for name, values in self.inputs.items()}

    def why_not(self) -> str:
        """Why the first design that is not admissible is not, "" if all are."""
        row = 0
        for table in self.tables:
            for k in range(len(table)):
                if not self.admissible[row + k]:
                    return str(table.columns["message"][k]) or "the robot fell, or a measure is no number"
            row += len(table)
        return ""

    def rows(self) -> list[dict[str, float]]:
        """The front, a row each: inputs, measures, score; lowest score first."""
        columns = {**self.inputs, **self.measures, "score": self.score}
        return [{name: float(values[k]) for name, values in columns.items()} for k in self.front]

    def to_dict(self) -> dict[str, Any]:
        return {
            "designs": len(self),
            "admissible": int(self.admissible.sum()),
            "goals": dict(self.goals),
            "best": self.best if self.front.size else None,
            "front": self.rows(),
        }

    def plot(self) -> Figure:
        """The goals against each other, and where on the inputs' ranges the front lies."""
        from footfall.study.design.plot import draw

        return draw(self.goals, self.inputs, self.measures, self.admissible, self.front)

    def __repr__(self) -> str:
        return f"Design({len(self)} designs, {int(self.admissible.sum())} admissible, {len(self.front)} on the front)"


def design(
    settings: Mapping[str, Any] | Callable[..., Any],
    vary: Mapping[str, tuple[float, float]],
    goals: Mapping[str, float],
    *,
    cases: int = 32,
    rounds: int = 3,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Design:
    """Vary inputs between bounds and find the front of best compromises among the goals.

    A design whose run fails or whose robot falls is not admissible. The score that orders the front is the sum of
    weight times measure over the median of that measure; the front itself does not depend on the weights. Same seed,
    same designs, on any number of workers.

    Args:
        settings: of the simulation, as for :func:`footfall.sweep`, or a function that returns numbers by name.
        vary: lower and upper bound of each input by its path ("robot.foot_length", "controller.speed").
        goals: a weight for each measure; negative, larger is better.
        cases: designs of a round.
        rounds: the first fills the box evenly, each later one tries as many designs around the front.
        seed: of the designs.
        out: as in ``sweep``: a design that was killed continues when it is started again.
        workers: as in ``sweep``.
        scheduler: as in ``sweep``.
        progress: as in ``sweep``.
    """
    weights = _weights(goals)
    Samples(cases, vary).columns(seed)  # refuses bounds that are none
    if rounds < 1:
        raise StudyError(f"rounds = {rounds}, but a design needs at least one")
    simulated = isinstance(settings, Mapping)
    if simulated:
        check_measures(weights)
    names = tuple(vary)
    low, high = np.array([vary[name] for name in names], dtype=float).T
    points, costs = np.empty((0, len(names))), np.empty((0, len(weights)))
    tables: list[SweepTable] = []
    with tempfile.TemporaryDirectory(prefix="footfall-design-") as aside:
        folder = Path(aside) if out is None else Path(out).expanduser()
        for k in range(rounds):
            rng = np.random.default_rng([seed, k])
            new = unit_samples(len(names), cases, "sobol", seed) if k == 0 else children(points, costs, cases, k, rng)
            values = low + new * (high - low)
            table = sweep(
                settings,
                table={name: values[:, i].tolist() for i, name in enumerate(names)},
                measures=dict.fromkeys([*weights, "fell"]) if simulated else (),
                seed=seed + k,
                out=folder / f"round-{k + 1}",
                workers=workers,
                scheduler=scheduler,
                progress=None if progress is None else partial(_report, progress, k * cases, rounds * cases),
            )
            tables.append(table)
            points = np.vstack([points, new])
            costs = np.vstack([costs, _costs(table, weights)])
    return _design(weights, vary, low + points * (high - low), costs, tables)


def _report(progress: Callable[[int, int], None], before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def _weights(goals: Mapping[str, float]) -> dict[str, float]:
    if not goals:
        raise StudyError("a design needs goals: measures and their weights")
    for name, weight in goals.items():
        if isinstance(weight, bool) or not is_number(weight) or weight == 0:
            raise StudyError(f"goal '{name}' has the weight {weight!r}: a number, negative where larger is better")
    return {name: float(weight) for name, weight in goals.items()}


def _costs(table: SweepTable, weights: Mapping[str, float]) -> np.ndarray:
    """(cases, goals) each measure with the sign that makes smaller better, inf where a design is not admissible."""
    for name in weights:
        if name not in table.outputs:
            if table.failed == len(table):
                raise StudyError(f"every design of a round failed, the first: {table.columns['message'][0]}")
            raise StudyError(f"the designs give no '{name}', only {', '.join(table.outputs)}")
    costs = np.column_stack([np.sign(weight) * table[name].astype(float) for name, weight in weights.items()])
    bad = np.array([status == "failed" for status in table.columns["status"]])
    if "fell" in table.outputs:
        bad |= np.array([bool(fell) for fell in table.columns["fell"]])
    costs[bad | ~np.isfinite(costs).all(axis=1)] = np.inf
    return costs


def _design(
    weights: Mapping[str, float],
    vary: Mapping[str, tuple[float, float]],
    values: np.ndarray,
    costs: np.ndarray,
    tables: list[SweepTable],
) -> Design:
    admissible = np.isfinite(costs).all(axis=1)
    size = np.abs(np.array(list(weights.values())))
    score = np.full(len(costs), np.inf)
    if admissible.any():
        median = np.median(np.abs(costs[admissible]), axis=0)
        score[admissible] = (costs[admissible] / np.where(median > 0.0, median, 1.0)) @ size
    front = np.flatnonzero(ranks(costs) == 0) if admissible.any() else np.empty(0, dtype=int)
    front = front[np.argsort(score[front], kind="stable")]
    signs = np.sign(list(weights.values()))
    shown = np.where(admissible[:, None], costs * signs, np.nan)
    return Design(
        goals=weights,
        inputs={name: values[:, i] for i, name in enumerate(vary)},
        measures={name: shown[:, i] for i, name in enumerate(weights)},
        admissible=admissible,
        front=front,
        score=score,
        tables=tuple(tables),
    )
