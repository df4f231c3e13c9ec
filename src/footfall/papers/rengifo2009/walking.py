"""Rengifo 2009, figures 11 to 14: the biped walks five steps, kp = 500 and kv = 250, with eps = 0 and 1e-6 m."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import footfall as ff
from footfall.measure.common import normal_force
from footfall.papers.base import Findings, panel, seen, unlike
from footfall.papers.rengifo2009.biped import EPS, LEAST_JUMP, FalseImpact, false_impacts

STEPS = 5
SPEED = 0.4  # m/s
STEP_DURATION: float | None = None  # s; left out, the walk's own for a robot of this height
BODY = (45.0, 1.5)  # kg, m
#: s after a foot's landing in which it rebounds in earnest.
REBOUND = 0.1
#: s at the beginning in which feet come to stand, whatever the last digits of the start are.
STANDS = 0.05
#: False impacts in five steps: none to speak of.
FEW = 4


class Walks(NamedTuple):
    paper: dict[float, ff.Recording]  # by eps: (17) alone, saturation (19)-(20)
    ours: ff.Recording  # eps = 1e-6 m with the band, friction and load made consistent


def walked(eps: float, **options: Any) -> ff.Recording:
    """The walk under gains of the paper."""
    walk = ff.control.Walk(speed=SPEED, steps=STEPS, step_duration=STEP_DURATION)
    law = ff.contact.LinearizingPenalty(kp=500.0, kv=250.0, eps=eps, **options)
    robot = ff.load_robot("spatial-biped", mass=BODY[0], height=BODY[1])
    return ff.Simulation(robot, law=law, dt=1e-3).run(walk.duration, controller=walk).check()


def run_walk() -> Walks:
    return Walks({eps: walked(eps, lead_back=False, saturation="paper") for eps in EPS}, walked(EPS[1]))


def strikes(rec: ff.Recording) -> list[ff.measure.Stance]:
    """The stances that begin within the recording, after both feet have come to stand."""
    return [stance for stance in ff.measure.phases(rec).stances if stance.start > STANDS]


def after_rebounds(rec: ff.Recording, jump: float = LEAST_JUMP) -> list[FalseImpact]:
    """False impacts later than 0.1 s after the landing of their foot."""
    landed = [(rec.foot(stance.foot), stance.start) for stance in strikes(rec)]

    def rebounds(one: FalseImpact) -> bool:
        return any(f.start <= one.point < f.stop and start <= one.time < start + REBOUND for f, start in landed)

    return [one for one in false_impacts(rec, jump) if not rebounds(one)]


def judge_walk(walks: Walks) -> Findings:
    yield from _judge_states()
    yield from _judge_steps(walks.paper)
    yield from _judge_false_impacts(walks)


def _judge_states() -> Findings:
    """How many ways there are for feet that are points, and rectangles, to touch the ground (section I)."""
    corners = range(4)
    edges = [{one, (one + 1) % 4} for one in corners]
    ways = [one for size in range(5) for one in combinations(corners, size) if size in (0, 1, 4) or set(one) in edges]
    all_of, touch = len(ways), len([one for one in ways if one])
    for name, printed, counted in (
        ("phases", "4", f"{2**2}"),
        ("ways", "10, 9", f"{all_of}, {touch}"),
        ("machine", "100, 81", f"{all_of**2}, {touch**2}"),
        ("frictions", "361", f"{(1 + 2 * touch) ** 2}"),
    ):
        yield seen(name, counted, should=printed, holds=printed == counted)


def _judge_steps(data: dict[float, ff.Recording]) -> Findings:
    """A walk of five steps, with feet that leave the ground (figure 11)."""
    for eps, rec in data.items():
        label = "0" if eps == 0.0 else "1e-6 m"
        order = " ".join(stance.foot for stance in strikes(rec))
        fell = ff.measure.has_fallen(rec)
        told = "fell" if fell else f"{len(strikes(rec))} landings: {order}"
        yield seen("steps", told, holds=order == "left right left right left" and not fell, label=label)
    lowest = [rec.gap[:, rec.foot(foot.name)].min(axis=1).max() for rec in data.values() for foot in rec.robot.feet]
    yield unlike("four", STEPS)
    yield seen("lift", 1e3 * min(lowest), holds=min(lowest) > 0.01)


def _judge_false_impacts(walks: Walks) -> Findings:
    """False impacts without and with eps, and with a band of our own (figures 13 and 14)."""
    without, tiny = walks.paper[EPS[0]], walks.paper[EPS[1]]
    false_ones, opened = after_rebounds(without), after_rebounds(without, 0.0)
    count, largest = len(false_ones), max((one.jump for one in false_ones), default=0.0)
    told, plenty = f"{count} of {len(opened)}, up to {largest:.3g} N", count >= 10 and count > 0.9 * len(opened)
    yield seen("lines", told, holds=plenty)
    yield unlike("depth", 1e6 * EPS[1])
    yield unlike("without-lines", f"{len(after_rebounds(tiny))}")
    banded = len(after_rebounds(walks.ours))
    yield seen("band", f"{banded}", holds=banded <= FEW)


def draw_walk(figure: Any, walks: Walks) -> None:
    top, *rows = figure.subfigures(3, 1)
    axes, rec = top.subplots(1, 1), walks.paper[EPS[1]]
    lowest = ((rec.time, rec.gap[:, rec.foot(foot.name)].min(axis=1), foot.name) for foot in rec.robot.feet)
    panel(axes, *lowest, title="as fig. 11: the lowest vertex of each foot, five steps", ylabel="height (m)")
    heights, forces = (row.subplots(1, 3, sharey=True) for row in rows)
    drawn = (
        ("paper's law, eps = 0 (fig. 12)", "fig. 13", walks.paper[EPS[0]]),
        ("paper's law, eps = 1e-6 m", "fig. 14", walks.paper[EPS[1]]),
        ("ours, with the band", "beside fig. 14", walks.ours),
    )
    for above, below, (name, where, rec) in zip(heights, forces, drawn, strict=True):
        own, stance = rec.foot("right"), next(one for one in strikes(rec) if one.foot == "right")
        shown = {"xlim": (stance.start - 0.02, stance.end + 0.02)}
        panel(above, *((rec.time, 1e3 * gap, "") for gap in rec.gap[:, own].T), title=name, ylim=(-0.6, 0.3), **shown)
        count = f"{where}: {len(after_rebounds(rec))} false impacts"
        panel(below, *((rec.time, load, "") for load in normal_force(rec)[:, own].T), title=count, **shown)
    heights[0].set_ylabel("right foot, height (mm)")
    forces[0].set_ylabel("normal force (N)")
