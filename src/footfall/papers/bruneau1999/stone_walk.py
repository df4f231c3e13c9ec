"""Bruneau 1999, section 3.2, at a walk: over a field of low stones, contact is where geometry says so, nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, seen
from footfall.papers.bruneau1999.man import DYNAMIC, LAW, STATIC
from footfall.papers.bruneau1999.stones import RADII, Stones, judge_touching, on_stones, strewn

LENGTH, WIDTH, SPACING = 6.0, 0.8, 0.005  # m, of the field along and across the walk, and between its heights
START = -0.6  # m, where it begins
CLEAR = 0.6  # m of plane before the first stone
STONES, RISE = 600, 0.01  # how many, and m, how high they reach at most
DURATION, DT = 4.0, 5e-5  # s
UPRIGHT = 0.8  # m, of the pelvis


@dataclass(frozen=True)
class StoneWalk:
    stones: Stones
    level: int  # points that would carry on a plane and do not here, or the other way round
    help: ff.measure.Assistance


def field() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The field's axes along x and y, and its heights (y, x), m."""
    along = START + np.linspace(0.0, LENGTH, round(LENGTH / SPACING) + 1)
    across = np.linspace(-WIDTH / 2, WIDTH / 2, round(WIDTH / SPACING) + 1)
    low, high = (START + CLEAR + RADII[1], -WIDTH / 2), (START + LENGTH, WIDTH / 2)
    return along, across, strewn(along, across, STONES, RISE, low, high)


def run_stone_walk() -> StoneWalk:
    along, across, heights = field()
    middle = (START + LENGTH / 2, 0.0)
    ground = ff.Ground.heightfield(heights, size=(LENGTH, WIDTH), center=middle, friction=(STATIC, DYNAMIC))
    sim = ff.Simulation(ff.load_robot("hanavan", assist=True), ground=ground, law=LAW, dt=DT)
    rec = sim.run(DURATION, controller=ff.control.HumanWalk(law=LAW, dt=DT), record_dt=20 * DT).check()
    stones = on_stones(rec, along, across, heights)
    level = int(((rec.position[..., 2] < 0.0) != (stones.over < 0.0)).sum())
    return StoneWalk(stones, level, ff.measure.assistance(rec))


def judge_stone_walk(data: StoneWalk) -> list[Claim]:
    rec = data.stones.rec
    height, way = float(rec.qpos[:, 2].min()), float(rec.qpos[-1, 0] - rec.qpos[0, 0])
    return [
        *judge_touching(data.stones, "ours", "Walking: points"),
        seen(
            ("ours", "fig9"),
            "The stones matter: points that a plane would push otherwise",
            ("some", f"{data.level}"),
            holds=data.level > 1000,
            why="else this would be a walk on a plane",
        ),
        seen(
            ("ours", "fig9"),
            f"The man walks {way:.1f} m over stones of up to 1 cm without a fall (lowest pelvis)",
            ("upright", f"{height:.2f} m"),
            holds=height > UPRIGHT and way > 4.0,
            why=f"pelvis above {UPRIGHT} m; helped by {data.help}",
        ),
    ]


def draw_stone_walk(figure: Any, data: StoneWalk) -> None:
    from footfall.show.style import BLUE, VERMILION

    along, across, heights = field()
    rec = data.stones.rec
    top, below = figure.subplots(2, 1, height_ratios=[1.0, 1.0])
    top.pcolormesh(along, across, 1e3 * heights, cmap="Greys", vmin=0, vmax=1.6e3 * RISE, rasterized=True)
    most = np.linalg.norm(rec.force, axis=2)
    for p in range(rec.gap.shape[1]):
        loaded = most[:, p] > 0.0
        top.scatter(*rec.position[loaded, p, :2].T, s=0.02 * most[loaded, p], color=VERMILION, alpha=0.1, linewidths=0)
    top.set(xlim=(-0.3, 5.2), ylim=(-0.25, 0.25), aspect="equal", ylabel="y (m)", title="Where points are pushed")
    for f, (foot, color) in enumerate(zip(rec.robot.feet, (BLUE, VERMILION), strict=True)):
        below.plot(rec.time, rec.foot_force[:, f, 2] / rec.robot.weight, color=color, linewidth=0.8, label=foot.name)
    below.set(xlabel="time (s)", ylabel="body weights", ylim=(0, None), title="Vertical force on each foot")
    below.legend(loc="lower left")


EXPERIMENT = Experiment(
    name="stone-walk",
    figures=("fig9",),
    title="a walk over a field of stones",
    run=run_stone_walk,
    judge=judge_stone_walk,
    draw=draw_stone_walk,
    height=3.6,
)
