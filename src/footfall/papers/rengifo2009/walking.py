"""Rengifo 2009, figures 11 to 14: the biped walks five steps, kp = 500 and kv = 250, with eps = 0 and 1e-6 m."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.contact.linearizing_penalty import LinearizingPenalty
from footfall.control.walking import Walk
from footfall.measure import has_fallen
from footfall.measure.common import normal_force
from footfall.measure.gait import Stance, phases
from footfall.papers.base import Claim, Experiment, near, seen, unlike
from footfall.papers.rengifo2009.biped import EPS, FalseImpact, false_impacts
from footfall.recording import Recording
from footfall.simulation import Simulation

STEPS = 5
#: A vertex that lands at a speed v obeys p'' = -kp p - kv min(0, p'): m deep per m/s, and after how many s.
DEPTH_PER_SPEED, DEEPEST_AFTER = 3.8766e-3, 19.564e-3
#: s after a foot's landing in which it rebounds in earnest.
REBOUND = 0.1
#: m, depths eps with which (17) is tried without the band that leads points back.
ABLATION = (0.0, 1e-6, 1e-5, 1e-4, 1e-3)
#: s in which a landing foot is deepest.
LANDING = 0.06


@dataclass(frozen=True)
class Landing:
    """How one vertex landed: its speed (m/s), its depth (m) and when it was deepest (s later)."""

    speed: float
    depth: float
    after: float


@dataclass(frozen=True)
class Walks:
    runs: dict[float, Recording]  # by eps, the law as it is here
    alone: dict[tuple[str, float], int]  # false impacts of (17) alone, by saturation and eps


def walked(eps: float, **options: Any) -> Recording:
    """The walk under gains of the paper."""
    walk = Walk(speed=0.4, steps=STEPS)
    law = LinearizingPenalty(kp=500.0, kv=250.0, eps=eps, **options)
    return Simulation("spatial-biped", law=law).run(walk.duration, controller=walk)


def run_walk() -> Walks:
    alone = {}
    for saturation in ("consistent", "paper"):
        for eps in ABLATION:
            rec = walked(eps, lead_back=False, saturation=saturation)
            alone[saturation, eps] = -1 if has_fallen(rec) or rec.failure else len(after_rebounds(rec))
    return Walks({eps: walked(eps).check() for eps in EPS}, alone)


def strikes(rec: Recording) -> list[Stance]:
    """The stances that begin within the recording."""
    return [stance for stance in phases(rec).stances if stance.start > 0.0]


def landings(rec: Recording) -> list[Landing]:
    """How every vertex of every foot that landed did so."""
    found = []
    for stance in strikes(rec):
        first = int(np.searchsorted(rec.time, stance.start)) - 1
        span = slice(first, first + 2 * round(LANDING / rec.dt))
        for point in range(*rec.foot(stance.foot).indices(rec.robot.point_count)):
            inside = np.flatnonzero(rec.gap[span, point] <= 0.0)
            if inside.size == 0 or inside[0] == 0:
                continue
            touch = first + int(inside[0])
            depth = -rec.gap[touch : touch + round(LANDING / rec.dt), point]
            speed = -float(rec.velocity[touch - 1, point, 2])
            found.append(Landing(speed, float(depth.max()), float(depth.argmax() * rec.dt)))
    return found


def after_rebounds(rec: Recording) -> list[FalseImpact]:
    """False impacts later than 0.1 s after the landing of their foot."""
    landed = [(rec.foot(stance.foot), stance.start) for stance in strikes(rec)]

    def rebounds(one: FalseImpact) -> bool:
        return any(f.start <= one.point < f.stop and start <= one.time < start + REBOUND for f, start in landed)

    return [one for one in false_impacts(rec) if not rebounds(one)]


def judge_walk(walks: Walks) -> list[Claim]:
    data = walks.runs
    basic, steady = (data[eps] for eps in EPS)
    claims = []
    for eps, rec in data.items():
        label = "0" if eps == 0.0 else "1e-6 m"
        order = " ".join(stance.foot for stance in strikes(rec))
        claims.append(
            seen(
                "fig11",
                f"eps = {label}: a walk of five steps (the caption says four), and the biped stands",
                "five landings, left and right in turn",
                "fell" if has_fallen(rec) else f"{len(strikes(rec))} landings: {order}",
                holds=order == "left right left right left" and not has_fallen(rec),
                why="a landing is a stay on the ground that begins; contacts under 20 ms are passed over",
                source="printed",
            )
        )
    lowest = [rec.gap[:, rec.foot(foot.name)].min(axis=1).max() for rec in data.values() for foot in rec.robot.feet]
    claims.append(
        seen(
            "fig11",
            "between steps all vertices of a foot are off the ground",
            "centimetres high",
            1e3 * float(min(lowest)),
            "mm",
            holds=min(lowest) > 0.01,
            why="the height that the lowest vertex of a foot reaches, the least of all; more than 10 mm",
            source="printed",
        )
    )
    made = landings(steady)
    claims.append(
        near(
            "fig12",
            "how deep a vertex goes in after its impact, per speed of landing (mean over all)",
            1e3 * DEPTH_PER_SPEED,
            1e3 * float(np.mean([one.depth / one.speed for one in made])),
            "mm per m/s",
            rel=0.1,
            why="closed form of (17) for a free point; in a step other vertices of the foot land later",
            source="derived",
        )
    )
    claims.append(
        near(
            "fig12",
            "when it is deepest after its impact (mean)",
            1e3 * DEEPEST_AFTER,
            1e3 * float(np.mean([one.after for one in made])),
            "ms",
            within=1.5,
            why="closed form of (17); samples of 1 ms",
            source="derived",
        )
    )
    count = len(after_rebounds(basic))
    largest = max((one.jump for one in after_rebounds(basic)), default=0.0)
    rule = "open for at most 10 ms, then loaded by a jump above 1 % of the weight, later than 0.1 s after the landing"
    claims.append(
        seen(
            "fig13",
            "walking with eps = 0: false impacts, seen as vertical lines in the normal forces",
            "some",
            f"{count}, up to {largest:.3g} N",
            holds=count >= 10,
            why=rule,
            source="printed",
        )
    )
    claims.append(
        unlike(
            "fig14",
            "walking with eps = 1e-6 m: no false impacts (eq. 17 alone, the paper's saturation)",
            "0",
            f"{walks.alone['paper', EPS[1]]}",
            note=f"Eq. (17) alone in steps of 1 ms: {_counted(walks, 'paper')}; with friction and load made "
            f"consistent: {_counted(walks, 'consistent')}. A point that rounding lifts out of the ground lands again "
            "unless eps is far above what it moves in a step",
            source="printed",
        )
    )
    claims.append(
        near(
            "fig14",
            "the same with a band of our own, which leads a point that touched back to its depth",
            0.0,
            len(after_rebounds(steady)),
            within=0.0,
            why=rule,
            source="ours",
        )
    )
    both = len(false_impacts(basic)), len(false_impacts(steady))
    claims.append(
        seen(
            "fig14",
            "the same with the 0.1 s after landings, when feet also rebound in earnest: eps = 0 and 1e-6 m",
            "many and few",
            f"{both[0]} and {both[1]}",
            holds=both[1] < 0.1 * both[0],
            why="less than a tenth",
            source="ours",
        )
    )
    return claims


def _counted(walks: Walks, saturation: str) -> str:
    """False impacts of (17) alone by eps, to be read."""
    found = ((eps, walks.alone[saturation, eps]) for eps in ABLATION)
    return ", ".join(f"{'falls' if count < 0 else count} with {eps:g} m" for eps, count in found)


def draw_walk(figure: Any, walks: Walks) -> None:
    from footfall.show.plots.points import point_names
    from footfall.show.style import BLUE, COLORS, VERMILION

    data = walks.runs

    top, *rows = figure.subfigures(3, 1, height_ratios=(1.0, 1.0, 1.0))
    axes = top.subplots(1, 1)
    rec = data[EPS[1]]
    for foot, color, style in zip(rec.robot.feet, (BLUE, VERMILION), (":", "-"), strict=True):
        height = rec.gap[:, rec.foot(foot.name)]
        for i in range(height.shape[1]):
            axes.plot(
                rec.time, height[:, i], color=color, linestyle=style, linewidth=0.9, label=foot.name if i == 0 else None
            )
    axes.set(title="as fig. 11: heights of the vertices, five steps", ylabel="height (m)", xlabel="time (s)")
    axes.legend(loc="upper right")
    panels = [row.subplots(1, 2, sharey=True) for row in rows]
    for column, eps in enumerate(EPS):
        rec = data[eps]
        own = rec.foot("right")
        stance = next(one for one in strikes(rec) if one.foot == "right")
        load = normal_force(rec)[:, own]
        for i, vertex in enumerate(point_names(rec, [foot.name for foot in rec.robot.feet].index("right"))):
            panels[0][column].plot(rec.time, 1e3 * rec.gap[:, own][:, i], color=COLORS[i], label=vertex, linewidth=0.9)
            panels[1][column].plot(rec.time, load[:, i], color=COLORS[i], linewidth=0.7)
        label = "0" if eps == 0.0 else "1e-6 m"
        panels[0][column].set(title=f"eps = {label}: right foot (as fig. 12)", ylim=(-0.6, 0.3))
        panels[1][column].set(
            title=f"as fig. {13 + column}; {len(false_impacts(rec))} false impacts in the walk", xlabel="time (s)"
        )
        for panel in (panels[0][column], panels[1][column]):
            panel.set_xlim(stance.start - 0.02, stance.end + 0.02)
    panels[0][0].set_ylabel("height (mm)")
    panels[1][0].set_ylabel("normal force (N)")
    panels[0][1].legend(loc="upper right", ncols=2)


EXPERIMENTS = (
    Experiment(
        name="walk",
        figures=("fig11", "fig12", "fig13", "fig14"),
        title="the biped walks five steps, eps = 0 and 1e-6 m",
        run=run_walk,
        judge=judge_walk,
        draw=draw_walk,
        height=8.0,
    ),
)
