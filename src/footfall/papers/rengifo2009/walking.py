"""Rengifo 2009, figures 11 to 14: the biped walks five steps, kp = 500 and kv = 250, with eps = 0 and 1e-6 m."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.measure.common import normal_force
from footfall.papers.base import Findings, near, seen, unlike
from footfall.papers.rengifo2009.biped import EPS, LEAST_JUMP, FalseImpact, false_impacts
from footfall.show.style import BLUE, COLORS, VERMILION

STEPS = 5
SPEED = 0.4  # m/s
STEP_DURATION: float | None = None  # s; left out, the walk's own for a robot of this height
BODY = (45.0, 1.5)  # kg, m
#: A vertex that lands at a speed v obeys p'' = -kp p - kv min(0, p'): m deep per m/s, and after how many s.
DEPTH_PER_SPEED, DEEPEST_AFTER = 3.8766e-3, 19.564e-3
#: s after a foot's landing in which it rebounds in earnest.
REBOUND = 0.1
#: s at the beginning in which feet come to stand, whatever the last digits of the start are.
STANDS = 0.05
#: m, depths eps with which (17) is tried without the band that leads points back, in steps of 1 ms.
ABLATION = (0.0, 1e-6, 1e-4, 3e-4, 1e-3, 1e-2)
#: s, a shorter step for the same, with eps = 1e-6 m.
SHORTER = 1e-4
SATURATIONS = ("paper", "consistent")
#: m, eps from which on (17) alone leaves no false impact where forces are made consistent.
ENOUGH = 1e-3
#: False impacts in five steps: none to speak of, and plenty.
FEW, MANY = 4, 50
#: s in which a landing foot is deepest.
LANDING = 0.06


class Landing(NamedTuple):
    """How one vertex landed: its speed (m/s), its depth (m) and when it was deepest (s later)."""

    speed: float
    depth: float
    after: float


class Walks(NamedTuple):
    paper: dict[float, ff.Recording]  # by eps: (17) alone, saturation (19)-(20)
    ours: ff.Recording  # eps = 1e-6 m with the band, friction and load made consistent
    alone: dict[tuple[str, float], int]  # false impacts of (17) alone, by saturation and eps
    shorter: dict[str, int]  # the same with eps = 1e-6 m in steps of 0.1 ms, by saturation
    slow: dict[float, tuple[int, float]]  # of a slow walk by eps: false impacts, and share of ``within_diamond``


def walked(eps: float, dt: float = 1e-3, *, slow: bool = False, **options: Any) -> ff.Recording:
    """The walk under gains of the paper."""
    walk = (
        ff.control.Walk(speed=0.02, steps=STEPS, step_duration=1.0)
        if slow
        else ff.control.Walk(speed=SPEED, steps=STEPS, step_duration=STEP_DURATION)
    )
    law = ff.contact.LinearizingPenalty(kp=500.0, kv=250.0, eps=eps, **options)
    robot = ff.load_robot("spatial-biped", mass=BODY[0], height=BODY[1])
    return ff.Simulation(robot, law=law, dt=dt).run(walk.duration, controller=walk)


def _count(rec: ff.Recording) -> int:
    """False impacts; -1 if it fell."""
    return -1 if ff.measure.has_fallen(rec) or rec.failure else len(after_rebounds(rec))


def run_walk() -> Walks:
    paper = {eps: walked(eps, lead_back=False, saturation="paper").check() for eps in EPS}
    alone = {("paper", eps): _count(rec) for eps, rec in paper.items()}
    for saturation in SATURATIONS:
        for eps in ABLATION:
            if (saturation, eps) not in alone:
                alone[saturation, eps] = _count(walked(eps, lead_back=False, saturation=saturation))
    shorter = {one: _count(walked(EPS[1], SHORTER, lead_back=False, saturation=one)) for one in SATURATIONS}
    slow = {eps: walked(eps, slow=True, lead_back=False, saturation="paper").check() for eps in EPS}
    inside = {eps: (_count(rec), within_diamond(rec)) for eps, rec in slow.items()}
    return Walks(paper, walked(EPS[1]).check(), alone, shorter, inside)


def within_diamond(rec: ff.Recording) -> float:
    """Share of single support with the pressure centre where all vertices of a rectangle carry: |x|/a + |y|/b < 1."""
    carries = rec.foot_force[:, :, 2] > 1e-3 * rec.robot.weight
    single, inside = carries.sum(axis=1) == 1, np.zeros(len(rec), dtype=bool)
    for f, foot in enumerate(rec.robot.feet):
        at = rec.position[:, rec.foot(foot.name), :2]
        off = 2.0 * np.abs(rec.cop[:, f, :2] - at.mean(axis=1)) / np.ptp(at, axis=1)
        inside |= carries[:, f] & (off.sum(axis=1) < 1.0)
    return float((inside & single).sum() / single.sum())


def strikes(rec: ff.Recording) -> list[ff.measure.Stance]:
    """The stances that begin within the recording, after both feet have come to stand."""
    return [stance for stance in ff.measure.phases(rec).stances if stance.start > STANDS]


def landings(rec: ff.Recording) -> list[Landing]:
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


def after_rebounds(rec: ff.Recording, jump: float = LEAST_JUMP) -> list[FalseImpact]:
    """False impacts later than 0.1 s after the landing of their foot."""
    landed = [(rec.foot(stance.foot), stance.start) for stance in strikes(rec)]

    def rebounds(one: FalseImpact) -> bool:
        return any(f.start <= one.point < f.stop and start <= one.time < start + REBOUND for f, start in landed)

    return [one for one in false_impacts(rec, jump) if not rebounds(one)]


def judge_walk(walks: Walks) -> Findings:
    yield from _judge_states()
    yield from _judge_steps(walks.paper)
    yield from _judge_landings(walks)
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


def _judge_landings(walks: Walks) -> Findings:
    """How deep vertices go in as they land, against the closed form (figure 12)."""
    made, clipped = landings(walks.ours), landings(walks.paper[EPS[1]])
    deep, beside = (1e3 * float(np.mean([one.depth / one.speed for one in several])) for several in (made, clipped))
    yield near("deep", 1e3 * DEPTH_PER_SPEED, deep, clipped=beside)
    yield near("deepest", 1e3 * DEEPEST_AFTER, 1e3 * float(np.mean([one.after for one in made])))


def _judge_false_impacts(walks: Walks) -> Findings:
    """False impacts without and with eps, and with a band of our own (figures 13 and 14)."""
    ours, false_ones = walks.ours, after_rebounds(walks.paper[EPS[0]])
    opened = after_rebounds(walks.paper[EPS[0]], 0.0)
    count, largest = len(false_ones), max((one.jump for one in false_ones), default=0.0)
    rule = "open for at most 10 ms, then loaded by a jump above 1 % of the weight, later than 0.1 s after the landing"
    counts, tiny = [walks.alone["consistent", eps] for eps in ABLATION if eps >= ENOUGH], EPS[1]
    told, plenty = f"{count} of {len(opened)}, up to {largest:.3g} N", count >= 10 and count > 0.9 * len(opened)
    yield seen("lines", told, holds=plenty)
    yield unlike("depth", 1e6 * tiny)
    (without, _), (with_eps, inside) = walks.slow[EPS[0]], walks.slow[tiny]
    given: dict[str, Any] = {"inside": 100 * inside, "without": without, "with_eps": with_eps}
    paper, consistent = (dict[str, Any](counted=_counted(walks, one), found=walks.shorter[one]) for one in SATURATIONS)
    yield unlike("without-lines", f"{walks.alone['paper', tiny]}", **given | paper)
    enough = min(counts) >= 0 and max(counts) <= FEW and walks.alone["consistent", tiny] >= MANY
    yield seen("suffices", ", ".join(map(str, counts)), holds=enough, **consistent)
    banded = len(after_rebounds(ours))
    yield seen("band", f"{banded}", holds=banded <= FEW, rule=rule, alone=walks.alone["consistent", tiny])


def _counted(walks: Walks, saturation: str) -> str:
    """False impacts of (17) alone by eps, to be read."""
    found = ((eps, walks.alone[saturation, eps]) for eps in ABLATION)
    return ", ".join(f"{'falls' if count < 0 else count} with {eps:g} m" for eps, count in found)


def draw_walk(figure: Any, walks: Walks) -> None:
    from footfall.show.plots.over_time import point_names

    top, *rows = figure.subfigures(3, 1, height_ratios=(1.0, 1.0, 1.0))
    axes = top.subplots(1, 1)
    rec = walks.paper[EPS[1]]
    for foot, color, style in zip(rec.robot.feet, (BLUE, VERMILION), (":", "-"), strict=True):
        height = rec.gap[:, rec.foot(foot.name)]
        for i in range(height.shape[1]):
            axes.plot(
                rec.time, height[:, i], color=color, linestyle=style, linewidth=0.9, label=foot.name if i == 0 else None
            )
    axes.set(title="as fig. 11: heights of the vertices, five steps", ylabel="height (m)", xlabel="time (s)")
    axes.legend(loc="upper right")
    panels = [row.subplots(1, 3, sharey=True) for row in rows]
    drawn = (
        ("paper's law, eps = 0 (fig. 12)", "fig. 13", walks.paper[EPS[0]]),
        ("paper's law, eps = 1e-6 m", "fig. 14", walks.paper[EPS[1]]),
        ("ours, with the band", "beside fig. 14", walks.ours),
    )
    for column, (name, where, rec) in enumerate(drawn):
        own = rec.foot("right")
        stance = next(one for one in strikes(rec) if one.foot == "right")
        load = normal_force(rec)[:, own]
        for i, vertex in enumerate(point_names(rec, [foot.name for foot in rec.robot.feet].index("right"))):
            panels[0][column].plot(rec.time, 1e3 * rec.gap[:, own][:, i], color=COLORS[i], label=vertex, linewidth=0.9)
            panels[1][column].plot(rec.time, load[:, i], color=COLORS[i], linewidth=0.7)
        panels[0][column].set(title=name, ylim=(-0.6, 0.3), xlabel="time (s)")
        panels[1][column].set(title=f"{where}: {len(after_rebounds(rec))} false impacts", xlabel="time (s)")
        for panel in (panels[0][column], panels[1][column]):
            panel.set_xlim(stance.start - 0.02, stance.end + 0.02)
    panels[0][0].set_ylabel("right foot, height (mm)")
    panels[1][0].set_ylabel("normal force (N)")
    panels[0][2].legend(loc="upper right", ncols=2, fontsize=6)
