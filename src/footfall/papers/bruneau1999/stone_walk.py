"""Bruneau 1999, section 3.2, at a walk: over a field of low stones, contact is where geometry says so, nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.control.human_walk import HumanWalk
from footfall.ground import Ground
from footfall.measure import Assistance, assistance
from footfall.papers.base import Claim, Experiment, near, seen
from footfall.papers.bruneau1999.man import DYNAMIC, LAW, STATIC
from footfall.papers.bruneau1999.stones import throughout
from footfall.recording import Recording
from footfall.robot import load_robot
from footfall.simulation import Simulation

LENGTH, WIDTH, SPACING = 6.0, 0.8, 0.005  # m, of the field along and across the walk, and between its heights
START = -0.6  # m, where it begins
CLEAR = 0.6  # m of plane before the first stone
STONES, SEED = 600, 1999
RADII, RISE = (0.04, 0.10), 0.01  # m, of the stones, and how high they reach at most
DURATION, DT = 4.0, 5e-5  # s
SURE = 1e-6  # m, nearer to the surface neither answer is wrong
UPRIGHT = 0.8  # m, of the pelvis


@dataclass(frozen=True)
class StoneWalk:
    rec: Recording
    over: np.ndarray  # (T, P) m, height of the points over the field, by interpolation of our own
    untouched: int  # points that should carry and do not
    wrong: int  # points that carry in the air
    level: int  # points that would carry on a plane and do not here, or the other way round
    help: Assistance


def field() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The field's axes along x and y, and its heights (y, x), m: spherical caps strewn at random on a plane."""
    along = START + np.linspace(0.0, LENGTH, round(LENGTH / SPACING) + 1)
    across = np.linspace(-WIDTH / 2, WIDTH / 2, round(WIDTH / SPACING) + 1)
    heights = np.zeros((across.size, along.size))
    random = np.random.default_rng(SEED)
    for _ in range(STONES):
        radius, rise = random.uniform(*RADII), random.uniform(0.3, 1.0) * RISE
        at = random.uniform([START + CLEAR + RADII[1], -WIDTH / 2], [START + LENGTH, WIDTH / 2])
        columns, rows = (
            slice(*np.searchsorted(axis, (middle - radius, middle + radius)))
            for axis, middle in zip((along, across), at, strict=True)
        )
        inside = np.maximum(0.0, radius**2 - (along[columns] - at[0]) ** 2 - (across[rows, None] - at[1]) ** 2)
        heights[rows, columns] = np.maximum(heights[rows, columns], np.sqrt(inside) + rise - radius)
    return along, across, heights


def run_stone_walk() -> StoneWalk:
    from scipy.interpolate import RegularGridInterpolator

    along, across, heights = field()
    middle = (START + LENGTH / 2, 0.0)
    ground = Ground.heightfield(heights, size=(LENGTH, WIDTH), center=middle, friction=(STATIC, DYNAMIC))
    robot = load_robot("hanavan", assist=True)
    sim = Simulation(robot, ground=ground, law=LAW, dt=DT)
    rec = sim.run(DURATION, controller=HumanWalk(law=LAW, dt=DT), record_dt=20 * DT).check()
    surface = RegularGridInterpolator((across, along), heights)
    over = rec.position[..., 2] - surface(rec.position[..., 1::-1])
    carries = np.linalg.norm(rec.force, axis=2) > 0.0
    # A point that comes out faster than eq. (16) lets it is held by nothing: the damper would have to pull.
    leaving = np.einsum("tpi,tpi->tp", rec.velocity, rec.normal) > 0.0
    return StoneWalk(
        rec=rec,
        over=over,
        untouched=int((throughout((over < -SURE) & ~leaving) & ~carries[:-1]).sum()),
        wrong=int((throughout(over > SURE) & carries[:-1]).sum()),
        level=int(((rec.position[..., 2] < 0.0) != (over < 0.0)).sum()),
        help=assistance(rec),
    )


def judge_stone_walk(data: StoneWalk) -> list[Claim]:
    rec = data.rec
    count = f"of {rec.gap.size} points in time"
    height, way = float(rec.qpos[:, 2].min()), float(rec.qpos[-1, 0] - rec.qpos[0, 0])
    return [
        near(
            ("ours", "fig9"),
            f"Walking: points in the ground that are not on their way out, and not pushed ({count})",
            (0.0, data.untouched),
            within=0.0,
            why="exact",
        ),
        near(
            ("ours", "fig9"),
            f"Walking: points that are in the air and pushed ({count})",
            (0.0, data.wrong),
            within=0.0,
            why="exact",
        ),
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
    rec = data.rec
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
