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

Each round but the first makes new designs from those that were tried, by differential evolution on the front: a child
is a design of the front moved along the difference of two others (Storn and Price 1997), with a little noise so that a
front of few designs does not stand still. Values outside the bounds are reflected at them. Costs are
arrays (designs, goals), smaller is better; a design that is not admissible has infinite costs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import StudyError
from footfall.given_numbers import Count, Whole, is_number
from footfall.show.style import COLORS, Axes, Figure, new_figure
from footfall.study.sweep import Samples, SweepTable, sweep
from footfall.study.sweep.cases import unit_samples
from footfall.study.sweep.work import check_measures


def on_front(costs: np.ndarray) -> np.ndarray:
    """(designs,) whether no other of these designs dominates it. Of equal designs all are on the front."""
    no_worse = (costs[:, None, :] <= costs[None, :, :]).all(axis=2)
    better = (costs[:, None, :] < costs[None, :, :]).any(axis=2)
    return np.logical_not(np.any(no_worse & better, axis=0))


#: Factor on the difference of two designs that is added to a parent (F of Storn and Price 1997).
SHARE = 0.6
#: Standard deviation of the noise, in ranges of the inputs, halved from round to round.
NOISE = 0.08
#: Chance that an input of the child is taken from the moved parent and not from the parent itself.
CROSSING = 0.8


def children(points: np.ndarray, costs: np.ndarray, number: int, round_: int, rng: np.random.Generator) -> np.ndarray:
    """(number, inputs) new points of the unit cube from those tried, (designs, inputs), and their costs."""
    inputs = points.shape[1]
    good = np.flatnonzero(np.isfinite(costs).all(axis=1))
    if good.size < 4:  # too few for differences
        return rng.random((number, inputs))
    front = good[on_front(costs[good])]
    others = front if front.size >= 4 else good
    made = np.empty((number, inputs))
    for k in range(number):
        a, b = points[rng.choice(others, size=2, replace=False)]
        parent = points[rng.choice(front)]
        moved = parent + SHARE * (a - b) + rng.normal(0.0, NOISE / 2.0**round_, inputs)
        taken = np.less(rng.random(inputs), CROSSING) | (np.arange(inputs) == rng.integers(inputs))
        folded = np.mod(np.where(taken, moved, parent), 2.0)
        made[k] = np.minimum(folded, 2.0 - folded)
    return made


#: Pairs of goals that are drawn at most.
PAIRS = 3
#: Panels side by side, so that their text is read at the width of a page.
ABREAST = 2


@public
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
        """Why the first inadmissible design is not admissible, "" if there is none."""
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
        """Designs by pairs of goals with the front marked, and the front over each input's range."""
        columns, front, shown = {**self.inputs, **self.measures}, self.front, self.admissible
        pairs = list(combinations(self.measures, 2))[:PAIRS] or [(next(iter(self.inputs)), next(iter(self.measures)))]
        rows = -(-(len(pairs) + 1) // ABREAST)
        with new_figure(3.7 * rows, 4.2 * ABREAST) as figure:
            axes = list(figure.subplots(rows, ABREAST, squeeze=False).ravel())
            for ax in axes[len(pairs) + 1 :]:
                ax.remove()
            for ax, (x, y) in zip(axes, pairs, strict=False):
                ax.scatter(columns[x][shown], columns[y][shown], s=14, color="#8899aa", label="designs")
                ax.scatter(columns[x][front], columns[y][front], s=30, color=COLORS[0], label="front")
                best = columns[x][front[:1]], columns[y][front[:1]]
                ax.scatter(*best, s=110, marker="*", color=COLORS[1], label="best by weights")
                ax.locator_params(nbins=6)
                ax.margins(0.05)  # else the best of one goal lie half outside
                ax.set(xlabel=self._with_aim(x), ylabel=self._with_aim(y))
            self._draw_inputs(axes[len(pairs)])
            handles, labels = axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=3)
            figure.suptitle(f"{len(front)} best compromises of {len(shown)} designs")
        return figure

    def _with_aim(self, name: str) -> str:
        aim = f" ({'less' if self.goals[name] > 0 else 'more'} is better)" if name in self.goals else ""
        return name + aim

    def _draw_inputs(self, ax: Axes) -> None:
        """The front's inputs, each over its own range, the best drawn heavier."""
        places = np.arange(len(self.inputs))
        spans = [(values.min(), np.ptp(values) or 1.0) for values in self.inputs.values()]
        for k in reversed(self.front):
            values = zip(self.inputs.values(), spans, strict=True)
            best = k == self.front[0]
            look: Any = {"color": COLORS[int(best)], "lw": 2.0 if best else 0.7, "alpha": 1.0 if best else 0.5}
            ax.plot([(own[k] - low) / span for own, (low, span) in values], places, "o-", **look)
        labels = [
            f"{name}\n{low:.3g} to {low + span:.3g}" for name, (low, span) in zip(self.inputs, spans, strict=True)
        ]
        ax.set_yticks(places, labels)
        ax.set(xlim=(-0.05, 1.05), ylim=(len(places) - 0.5, -0.5), title="inputs of the front")
        ax.set_xlabel("share of the range that was tried")

    def __repr__(self) -> str:
        return f"Design({len(self)} designs, {int(self.admissible.sum())} admissible, {len(self.front)} on the front)"


@public
def design(
    settings: Mapping[str, Any] | Callable[..., Any],
    vary: Mapping[str, tuple[float, float]],
    goals: Mapping[str, float],
    *,
    cases: Count = 32,
    rounds: Count = 3,
    seed: Whole = 0,
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
    simulated = isinstance(settings, Mapping)
    if simulated:
        check_measures(weights)
    names, told = tuple(vary), progress or (lambda done, total: None)
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
                progress=lambda done, _, before=k * cases: told(before + done, rounds * cases),  # type: ignore[misc]
            )
            tables.append(table)
            points = np.vstack([points, new])
            costs = np.vstack([costs, _costs(table, weights)])
    return _design(weights, vary, low + points * (high - low), costs, tables)


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
    front = np.flatnonzero(admissible)
    front = front[on_front(costs[front])]
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
