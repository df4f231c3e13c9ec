"""Bravo 2021, section 6: the same walk under other contact models, which the paper leaves to the future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.errors import without_warnings
from footfall.gait.library import find_gait
from footfall.gait.polynomial import PolynomialGait
from footfall.gait.step_check import GaitConstraints
from footfall.papers.base import Claim, Experiment, seen, unlike
from footfall.papers.bravo2021.gait import FRICTION, STEPS, error, touch_downs, walk
from footfall.papers.drawing import legend_below

#: Laws under which the walk goes on, with their options, and one under which it does not.
WALKS: dict[str, dict[str, float]] = {
    "time-stepping": {},
    "acceleration-complementarity": {},
    "constraint-selection": {},
    "linearizing-penalty": {},
    "spring-damper": {},
    "hunt-crossley": {},
    "mujoco": {},
    "distributed": {},
    "distributed, 3 mm": {"rest_penetration": 3e-3},
}
#: As soft for its load and the length of its soles as the ground of Bruneau and Ouezdou 1999.
TOO_SOFT: dict[str, dict[str, float]] = {"distributed, 4.3 mm": {"rest_penetration": 4.33e-3}}


@dataclass(frozen=True)
class Walks:
    gait: PolynomialGait
    recordings: dict[str, ff.Recording]


def run_laws() -> Walks:
    gait = find_gait(ff.load_robot("planar-biped"), GaitConstraints(speed=0.5, friction=FRICTION)).gait
    with without_warnings():
        return Walks(gait, {name: walk(gait, _law(name, options)) for name, options in (WALKS | TOO_SOFT).items()})


def _law(name: str, options: dict[str, float]) -> ff.contact.Law:
    return ff.law(name.partition(",")[0], **options)


def judge_laws(data: Walks) -> list[Claim]:
    claims = []
    for name, rec in data.recordings.items():
        steps, fell = len(touch_downs(rec)), ff.measure.has_fallen(rec) or rec.failure is not None
        off = float(np.degrees(np.sqrt((error(rec) ** 2).mean())))
        outcome = f"{'falls' if fell else f'{steps} steps'}, joints off by {off:.2g}° (rms)"
        statement = f"The walk under {name}"
        if name in WALKS:
            walks = not fell and steps >= STEPS - 1
            claims.append(
                seen(
                    ("ours", "section6"), statement, ("not tried", outcome), holds=walks, why="ten steps without a fall"
                )
            )
        else:
            claims.append(
                unlike(("ours", "section6"), statement, ("not tried", outcome), note=too_soft(data.gait, rec))
            )
    return claims


def too_soft(gait: PolynomialGait, rec: ff.Recording) -> str:
    """Why the walk ends on soft ground, as measured in its first step."""
    first = int(touch_downs(rec)[0])
    depth = -float(rec.gap[first - 1, rec.foot(rec.robot.feet[0].name)].mean())
    early = gait.step_duration - float(rec.time[first])
    return (
        f"The stance foot sinks by {1e3 * depth:.2g} mm, the swing foot meets the ground {1e3 * early:.2g} ms early, "
        "and the next step begins with the legs in the wrong place."
    )


def draw_laws(figure: Any, data: Walks) -> None:
    axes = figure.subplots(2, 1, sharex=True)
    for i, (name, rec) in enumerate(data.recordings.items()):
        axes[0].plot(rec.time, np.degrees(np.abs(error(rec)).max(axis=1)), color=f"C{i}", label=name)
        axes[1].plot(rec.time, rec.total_force[:, 2] / rec.robot.weight, color=f"C{i}")
    axes[0].set(ylabel="worst joint error (°)", ylim=(0.0, 10.0))
    axes[1].set(ylabel="vertical force / weight", xlabel="time (s)", ylim=(0.0, 4.0), xlim=(0.0, 2.0))
    legend_below(figure, axes[0], columns=4)


EXPERIMENT = Experiment(
    name="laws",
    figures=("section6",),
    title="the same walk under other contact laws",
    run=run_laws,
    judge=judge_laws,
    draw=draw_laws,
    height=3.6,
)
