"""Rengifo 2009, section II.A: the bouncing ball (figures 4 and 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen

GRAVITY = 9.81  # m/s2
DROP = 0.1  # m
KV = 5000.0  # 1/s
KPS = (0.0, 1.0, 5.0)  # 1/s2
LONG, SHORT = 1e-5, 1e-6  # s, steps of the whole fall and of touch-down


def law(kp: float, kv: float) -> ff.contact.LinearizingPenalty:
    """The basic law, without a steady penetration."""
    return ff.contact.LinearizingPenalty(kp=kp, kv=kv, eps=0.0)


def dropped(kp: float, duration: float = 2.5) -> ff.Recording:
    """The ball let go at 0.1 m over the ground, as in figures 4 and 5."""
    sim = ff.Simulation("ball", law=law(kp, KV), dt=LONG)
    start = sim.place()
    start[2] += DROP
    return sim.run(duration, qpos=start).check()


def landing(kp: float, kv: float, *, speed: float = 1.0, mass: float = 1.0, dt: float, duration: float) -> ff.Recording:
    """A ball that touches the ground at the first instant with ``speed`` (m/s)."""
    sim = ff.Simulation(ff.load_robot("ball", mass=mass), law=law(kp, kv), dt=dt)
    return sim.run(duration, qvel=[0, 0, -speed, 0, 0, 0]).check()


@dataclass(frozen=True)
class Falls:
    runs: dict[float, ff.Recording]  # by kp
    touch: ff.Recording  # the first milliseconds of contact, in short steps
    deeper: dict[float, float]  # deepest point in m by kv, kp = 0
    stiffer: dict[float, float]  # deepest point in m by kp, kv = 0
    speed: float  # m/s at touch-down


def run_falls() -> Falls:
    speed = math.sqrt(2.0 * GRAVITY * DROP)
    touch = landing(1.0, KV, speed=speed, dt=SHORT, duration=3e-3)

    def deepest(kp: float, kv: float) -> float:
        return -float(landing(kp, kv, speed=speed, dt=LONG, duration=0.05).gap.min())

    return Falls(
        runs={kp: dropped(kp) for kp in KPS},
        touch=touch,
        deeper={kv: deepest(0.0, kv) for kv in (500.0, 1000.0, 2000.0)},
        stiffer={kp: deepest(kp, 0.0) for kp in (1e4, 2e4, 4e4)},
        speed=speed,
    )


def judge_falls(data: Falls) -> list[Claim]:
    return [*_judge_depths(data), *_judge_forces(data)]


def _judge_depths(data: Falls) -> list[Claim]:
    """How deep the ball goes, and how it comes back (figure 4)."""
    euler = f"an Euler step of {LONG:g} s errs by dt kv / 2"
    stays = -float(data.runs[0.0].gap[-1, 0])
    deepest = [-float(data.runs[kp].gap.min()) for kp in KPS]
    claims = [
        near(
            ("derived", "fig4"),
            "kp = 0: the interpenetration cannot vanish (it stays at v0 / kv)",
            (1e3 * data.speed / KV, 1e3 * stays, "mm"),
            rel=0.03,
            why=euler,
        )
    ]
    for kp in KPS[1:]:
        rec = data.runs[kp]
        claims.append(
            near(
                ("printed", "fig4"),
                f"kp = {kp:g}: interpenetration converges toward zero (the depth at the end)",
                (0.0, -1e3 * rec.gap[-1, 0], "mm"),
                within=1e-3,
                why="the smallest bounce of a step, g dt pi / (2 sqrt(kp)), is below it",
            )
        )
        back = float(rec.time[np.argmax((rec.gap[:, 0] > -1e-6) & (rec.time > 0.2))]) - math.sqrt(2 * DROP / GRAVITY)
        claims.append(
            near(
                ("derived", "fig4"),
                f"kp = {kp:g}: how long the way back to the surface takes (closed form pi / (2 sqrt kp))",
                (math.pi / (2.0 * math.sqrt(kp)), back, "s"),
                rel=0.01,
                why="it is back when 1 µm is left",
            )
        )
    order = " > ".join(f"{1e6 * depth:.4f}" for depth in deepest)
    return [
        *claims,
        seen(
            ("derived", "fig4"),
            "The smaller kp, the deeper it goes (kp = 0, 1, 5)",
            ("falls with kp", order, "µm"),
            holds=deepest[0] > deepest[1] > deepest[2],
            why="strict order",
        ),
        _depths("kp = 0: the penetration depth decreases as kv increases (v0 / kv)", data.deeper, data.speed, 1.0),
        _depths("kv = 0: the deepest point decreases as kp increases (v0 / sqrt kp)", data.stiffer, data.speed, 0.5),
    ]


def _judge_forces(data: Falls) -> list[Claim]:
    """The force at the impact and at rest (figure 5)."""
    weight = data.touch.robot.weight
    return [
        near(
            ("printed", "fig5"),
            "At the instant of impact f_n = m g + m kv v0",
            (
                weight * (1.0 + KV * data.speed / GRAVITY),
                data.touch.force[int(np.argmax(data.touch.force[:, 0, 2] > 0.0)), 0, 2],
                "N",
            ),
            rel=0.5 * SHORT * KV + 1e-4,
            why="the gain is applied as (1 - exp(-kv dt)) / dt, smaller by dt kv / 2",
        ),
        seen(
            ("printed", "fig5"),
            "The largest force depends on kv alone (kp = 0, 1, 5)",
            ("one value", " ".join(f"{rec.force[:, 0, 2].max():.5g}" for rec in data.runs.values()), "N"),
            holds=np.ptp([rec.force[:, 0, 2].max() for rec in data.runs.values()]) < 1e-3 * weight,
            why="within a thousandth of the weight: kp times the depth of one step",
        ),
        *(
            near(
                ("derived", "fig5"),
                f"kp = {kp:g}: at rest the force is the weight",
                (weight, data.runs[kp].force[-1, 0, 2], "N"),
                rel=1e-6,
                why="what is left of kp times the depth",
            )
            for kp in KPS
        ),
    ]


def _depths(statement: str, found: dict[float, float], speed: float, power: float) -> Claim:
    """Judge deepest points (m) by gain against speed / gain ** power."""
    misses = [depth / (speed / gain**power) - 1.0 for gain, depth in found.items()]
    return seen(
        ("printed", "section 2A"),
        statement,
        (
            " ".join(f"{1e3 * speed / gain**power:.5g}" for gain in found),
            " ".join(f"{1e3 * depth:.5g}" for depth in found.values()),
            "mm",
        ),
        holds=max(map(abs, misses)) < 0.011,
        why="1.1 %: dt kv / 2 at kv = 2000",
    )


def draw_falls(figure: Any, data: Falls) -> None:
    from footfall.show.plots.drawing import line
    from footfall.show.style import BLUE, GREEN, VERMILION

    above, force, zoom = figure.subplot_mosaic([["height", "height"], ["force", "zoom"]]).values()
    styles = {0.0: (BLUE, (0, (4, 1.5))), 1.0: (VERMILION, "-"), 5.0: (GREEN, (0, (1, 1.2)))}  # as the paper's lines
    for kp, rec in data.runs.items():
        color, dash = styles[kp]
        line(above, rec.time, 1e3 * rec.gap[:, 0], color=color, linestyle=dash, label=f"kp = {kp:g}, kv = {KV:g}")
        line(force, rec.time, rec.force[:, 0, 2], color=color, linestyle=dash)
        about = rec.slice(0.14, 0.147)
        zoom.semilogy(about.time, np.maximum(about.force[:, 0, 2], 1.0), color=color, linestyle=dash)
    above.set(ylim=(-0.34, 0.1), xlabel="time (s)", ylabel="height (mm)", title="Fig. 4: vertical position")
    above.legend(loc="upper right", ncols=3)
    force.set(xlabel="time (s)", ylabel="normal force (N)", title="Fig. 5: normal reaction force")
    weight = data.touch.robot.weight
    zoom.axhline(weight, color="#555555", linewidth=0.8)
    zoom.set(xlabel="time (s)", ylabel="normal force (N)", title="Touch-down; grey: the weight")
    zoom.set_xticks([0.14, 0.142, 0.144, 0.146])


EXPERIMENT = Experiment(
    name="ball",
    figures=("fig4", "fig5"),
    title="bouncing ball, height and normal force",
    run=run_falls,
    judge=judge_falls,
    draw=draw_falls,
    height=4.6,
)
