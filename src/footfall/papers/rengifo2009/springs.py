"""Rengifo 2009, section II.A: the spring and damper of eq. (2) against the law of eqs. (3) and (4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen
from footfall.papers.drawing import legend_below
from footfall.papers.rengifo2009.ball import GRAVITY

STIFFNESS = 1e4  # N/m in (2), 1/s2 per unit mass in (3)
DAMPINGS = (5.0, 20.0, 80.0)  # N s/m
SHOWN = 20.0  # N s/m, of the figure
MASSES = (0.5, 1.0, 2.0)  # kg
SPEED = 1.0  # m/s, of the landing
DT, COARSE = 1e-5, 1e-4  # s, steps of one landing and of the way to rest, a hundredth of the springs' time
BOUNCE, REST = 0.08, 4.0  # s
LAST = 0.5  # s, in which the depth at rest is looked for


@dataclass(frozen=True)
class Springs:
    bounces: dict[float, ff.Recording]  # eq. 2 by damping, one landing, ball of 1 kg
    rests: dict[float, ff.Recording]  # eq. 2 by mass, until it rests
    new: dict[float, ff.Recording]  # eq. 4 by mass, until it rests
    new_bounces: dict[float, ff.Recording]  # eq. 4 by mass, one landing in every step


def landing(law: Any, mass: float, duration: float) -> ff.Recording:
    """A ball that touches the ground at the first instant with 1 m/s."""
    dt = DT if duration < REST else COARSE
    sim = ff.Simulation(ff.load_robot("ball", mass=mass), law=law, dt=dt)
    return sim.run(duration, qvel=[0, 0, -SPEED, 0, 0, 0]).check()


def spring(damping: float) -> ff.contact.SpringDamper:
    """Eq. (2) as printed, which pulls."""
    return ff.contact.SpringDamper(k=STIFFNESS, c=damping, adhesive=True)


def run_springs() -> Springs:
    law = ff.contact.LinearizingPenalty(kp=STIFFNESS, kv=SHOWN, eps=0.0)
    return Springs(
        bounces={damping: landing(spring(damping), 1.0, BOUNCE) for damping in DAMPINGS},
        rests={mass: landing(spring(SHOWN), mass, REST) for mass in MASSES},
        new={mass: landing(law, mass, REST) for mass in MASSES},
        new_bounces={mass: landing(law, mass, BOUNCE) for mass in MASSES},
    )


def swing_of_steps() -> float:
    """Depth (m) of the swing that steps of finite length keep up under eq. (4)."""
    natural, damped = STIFFNESS**0.5, 0.5 * SHOWN / STIFFNESS**0.5
    restitution = np.exp(-np.pi * damped / (1.0 - damped**2) ** 0.5)
    return float(GRAVITY * COARSE / ((1.0 - restitution) * natural))


def leaving(rec: ff.Recording) -> int:
    """The last sample in the ground of the first contact."""
    return int(np.argmax((rec.gap[:, 0] > 0.0) & (rec.qvel[:, 2] > 0.0))) - 1


def judge_springs(data: Springs) -> list[Claim]:
    ends = {damping: leaving(rec) for damping, rec in data.bounces.items()}
    pulls = [float(rec.force[ends[c], 0, 2]) for c, rec in data.bounces.items()]
    known = [-c * float(rec.qvel[ends[c] + 1, 2]) for c, rec in data.bounces.items()]
    inside = [rec.force[rec.gap[:, 0] <= 0.0, 0, 2] / rec.robot.weight for rec in data.new_bounces.values()]
    least = float(min(one.min() for one in inside))
    deep = {mass: -1e3 * float(rec.gap[-1, 0]) for mass, rec in data.rests.items()}
    return [
        seen(
            ("printed", "section 2A"),
            f"eq. (2): before separation a force sticks the ball to the ground, always (kv = {_list(DAMPINGS)} N s/m)",
            (" ".join(f"{one:.4g}" for one in known), " ".join(f"{one:.4g}" for one in pulls), "N"),
            holds=all(one < -1.0 and abs(one / exact - 1.0) < 0.05 for one, exact in zip(pulls, known, strict=True)),
            why="5 % of -kv times the speed of leaving: the last step in the ground is at a depth of up to v dt",
        ),
        seen(
            ("printed", "section 2A"),
            "eqs. (3)-(4): the force at any depth is at least the weight (least force over weight, three masses)",
            ("at least 1", least),
            holds=least >= 1.0 - 1e-9,
            why="the desired acceleration is positive for all depths; rounding",
        ),
        seen(
            ("printed", "section 2A"),
            f"eq. (2): steady depth m g / kp (m = {_list(MASSES)} kg)",
            (
                " ".join(f"{1e3 * mass * GRAVITY / STIFFNESS:.5g}" for mass in MASSES),
                " ".join(f"{deep[mass]:.5g}" for mass in MASSES),
                "mm",
            ),
            holds=all(abs(deep[mass] / (1e3 * mass * GRAVITY / STIFFNESS) - 1.0) < 1e-3 for mass in MASSES),
            why="0.1 %: what is left of the swing",
        ),
        near(
            ("printed", "section 2A"),
            f"eq. (4): steady depth (largest of three masses in the last {LAST:g} s)",
            (0.0, -1e3 * min(rec.gap[rec.time > REST - LAST, 0].min() for rec in data.new.values()), "mm"),
            within=1e3 * swing_of_steps(),
            why="g dt / ((1 - e) sqrt(kp)): a ball that left the ground is caught up to a step late, g dt faster, and "
            "swings with what the restitution e of (4) leaves of that",
        ),
    ]


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{one:g}" for one in values)


def draw_springs(figure: Any, data: Springs) -> None:
    from footfall.show.plots.drawing import line
    from footfall.show.style import BLUE, GREEN, VERMILION

    force, depth = figure.subplots(1, 2)
    for (damping, rec), color in zip(data.bounces.items(), (BLUE, VERMILION, GREEN), strict=True):
        shown = slice(0, leaving(rec) + 200)
        line(force, 1e3 * rec.time[shown], rec.force[shown, 0, 2], color=color, label=f"(2), kv = {damping:g} N s/m")
    force.axhline(0.0, color="#555555", linewidth=0.8)
    force.set(xlabel="time (ms)", ylabel="normal force (N)", title="Eq. (2), 1 kg: below zero it sticks")
    for mass, color in zip(MASSES, (BLUE, VERMILION, GREEN), strict=True):
        for runs, style, name in ((data.rests, "-", "(2)"), (data.new, ":", "(4)")):
            rec = runs[mass]
            line(depth, rec.time, 1e3 * rec.gap[:, 0], color=color, linestyle=style, label=f"{name}, {mass:g} kg")
    depth.set(xlabel="time (s)", ylabel="height (mm)", ylim=(-4.0, 4.0), xlim=(0.0, 1.5), title="Coming to rest")
    legend_below(figure, force, depth, columns=3)


EXPERIMENT = Experiment(
    name="springs",
    figures=("section2a",),
    title="the spring and damper of eq. (2) against the new law",
    run=run_springs,
    judge=judge_springs,
    draw=draw_springs,
    height=2.8,
)
