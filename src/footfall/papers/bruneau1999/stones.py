"""Bruneau 1999, section 3.2: on uneven ground a point touches where it is below the ground under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, Source, legend_below, near, seen
from footfall.papers.bruneau1999.man import DYNAMIC, LAW, STATIC, sprung_man
from footfall.show.style import BLUE, VERMILION

SIZE, SPACING = 1.2, 0.005  # m, of the field and between its heights
STONES, SEED = 40, 1999
RADII, RISE = (0.04, 0.10), 0.04  # m, of the stones, and how high they reach at most
DROP, DURATION, DT = 0.02, 0.5, 4e-5  # m, s, s
JOINTS = 20000.0  # N m/rad
SURE = 1e-6  # m, nearer to the surface neither answer is wrong
Place = tuple[float, float]


@dataclass(frozen=True)
class Stones:
    rec: ff.Recording
    over: np.ndarray  # (T, P) m, height of the points over the field, by interpolation of our own
    untouched: int  # points that should carry and do not
    wrong: int  # points that carry in the air


def strewn(along: np.ndarray, across: np.ndarray, stones: int, rise: float, low: Place, high: Place) -> np.ndarray:
    """Heights (y, x) over axes along x and y, m: spherical caps at random places of a plane, so high at most."""
    heights = np.zeros((across.size, along.size))
    random = np.random.default_rng(SEED)
    for _ in range(stones):
        radius, top = random.uniform(*RADII), random.uniform(0.3, 1.0) * rise
        at = random.uniform(low, high)
        columns, rows = (
            slice(*np.searchsorted(axis, (middle - radius, middle + radius)))
            for axis, middle in zip((along, across), at, strict=True)
        )
        inside = np.maximum(0.0, radius**2 - (along[columns] - at[0]) ** 2 - (across[rows, None] - at[1]) ** 2)
        heights[rows, columns] = np.maximum(heights[rows, columns], np.sqrt(inside) + top - radius)
    return heights


def field() -> tuple[np.ndarray, np.ndarray]:
    """The field's axis (N,) and heights (N, N), m."""
    half = SIZE / 2
    axis = np.linspace(-half, half, round(SIZE / SPACING) + 1)
    return axis, strewn(axis, axis, STONES, RISE, (-half, -half), (half, half))


def throughout(condition: np.ndarray) -> np.ndarray:
    """(T - 1, ...) whether something holds at both ends of an interval, over which a recorded force is the mean."""
    return condition[:-1] & condition[1:]


def on_stones(rec: ff.Recording, along: np.ndarray, across: np.ndarray, heights: np.ndarray) -> Stones:
    """What a recording on a field of stones shows."""
    from scipy.interpolate import RegularGridInterpolator

    over = rec.position[..., 2] - RegularGridInterpolator((across, along), heights)(rec.position[..., 1::-1])
    carries = np.linalg.norm(rec.force, axis=2) > 0.0
    # A point that comes out faster than eq. (16) lets it is held by nothing: the damper would have to pull.
    leaving = np.einsum("tpi,tpi->tp", rec.velocity, rec.normal) > 0.0
    return Stones(
        rec=rec,
        over=over,
        untouched=int((throughout((over < -SURE) & ~leaving) & ~carries[:-1]).sum()),
        wrong=int((throughout(over > SURE) & carries[:-1]).sum()),
    )


def judge_touching(data: Stones, source: Source, points: str = "Points") -> list[Claim]:
    """Contact is where geometry says so, and nowhere else."""
    count = f"of {data.rec.gap.size} points in time"
    missed = f"{points} in the ground that are not on their way out, and not pushed ({count})"
    false = f"{points} that are in the air and pushed ({count})"
    return [
        near((source, "fig9"), statement, (0.0, found), within=0.0, why="exact")
        for statement, found in ((missed, data.untouched), (false, data.wrong))
    ]


def run_stones() -> Stones:
    axis, heights = field()
    ground = ff.Ground.heightfield(heights, size=(SIZE, SIZE), friction=(STATIC, DYNAMIC))
    sim = ff.Simulation(sprung_man(JOINTS, planar=False), ground=ground, law=LAW, dt=DT)
    start = sim.place()
    start[2] += DROP
    return on_stones(sim.run(DURATION, qpos=start, record_dt=25 * DT).check(), axis, axis, heights)


def judge_stones(data: Stones) -> list[Claim]:
    touching = (np.linalg.norm(data.rec.force[-1], axis=1) > 0.0).sum()
    return [
        *judge_touching(data, "derived"),
        seen(
            ("ours", "fig9"),
            "On stones some testing points carry and others do not (of 36, after landing)",
            ("some", f"{touching}"),
            holds=0 < touching < 36,
            why="neither none nor all",
        ),
    ]


def draw_stones(figure: Any, data: Stones) -> None:
    axis, heights = field()
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    image = left.pcolormesh(axis, axis, 1e3 * heights, cmap="Greys", vmin=0, vmax=1.6e3 * RISE, rasterized=True)
    figure.colorbar(image, ax=left, label="height (mm)", shrink=0.8)
    rec = data.rec
    load = np.linalg.norm(rec.force[-1], axis=1)
    at = rec.position[-1]
    left.scatter(*at[load == 0, :2].T, s=7, facecolors="none", edgecolors=BLUE, linewidths=0.8, label="in the air")
    left.scatter(
        *at[load > 0, :2].T, s=4 + 0.5 * load[load > 0], color=VERMILION, alpha=0.85, label="pushed (area: force)"
    )
    left.set(
        xlim=(-0.2, 0.4),
        ylim=(-0.3, 0.3),
        aspect="equal",
        xlabel="x (m)",
        ylabel="y (m)",
        title="From above, at the end",
    )
    all_load = np.linalg.norm(rec.force, axis=2)
    kept = data.over < 0.01
    right.plot(1e3 * data.over[kept], all_load[kept], ".", markersize=1, color=VERMILION, rasterized=True)
    right.axvline(0.0, color="#555555", linewidth=0.8)
    right.set(xlabel="height over the stone below (mm)", ylabel="force of a point (N)", title="All points, all times")
    legend_below(figure, left, columns=2)


# ---- at a walk, over low stones ----------------------------------------------------------------------------

LENGTH, WIDTH, WALK_SPACING = 6.0, 0.8, 0.005  # m, of the field along and across the walk, and between its heights
START = -0.6  # m, where it begins
CLEAR = 0.6  # m of plane before the first stone
MANY, LOW = 600, 0.01  # how many, and m, how high they reach at most
WALK_DURATION, WALK_DT = 4.0, 5e-5  # s
UPRIGHT = 0.8  # m, of the pelvis


@dataclass(frozen=True)
class StoneWalk:
    stones: Stones
    level: int  # points that would carry on a plane and do not here, or the other way round
    help: ff.measure.Assistance


def long_field() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The field's axes along x and y, and its heights (y, x), m."""
    along = START + np.linspace(0.0, LENGTH, round(LENGTH / WALK_SPACING) + 1)
    across = np.linspace(-WIDTH / 2, WIDTH / 2, round(WIDTH / WALK_SPACING) + 1)
    low, high = (START + CLEAR + RADII[1], -WIDTH / 2), (START + LENGTH, WIDTH / 2)
    return along, across, strewn(along, across, MANY, LOW, low, high)


def run_stone_walk() -> StoneWalk:
    along, across, heights = long_field()
    middle = (START + LENGTH / 2, 0.0)
    ground = ff.Ground.heightfield(heights, size=(LENGTH, WIDTH), center=middle, friction=(STATIC, DYNAMIC))
    sim = ff.Simulation(ff.load_robot("hanavan", assist=True), ground=ground, law=LAW, dt=WALK_DT)
    rec = sim.run(WALK_DURATION, controller=ff.control.HumanWalk(law=LAW, dt=WALK_DT), record_dt=20 * WALK_DT).check()
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
    along, across, heights = long_field()
    rec = data.stones.rec
    top, below = figure.subplots(2, 1, height_ratios=[1.0, 1.0])
    top.pcolormesh(along, across, 1e3 * heights, cmap="Greys", vmin=0, vmax=1.6e3 * LOW, rasterized=True)
    most = np.linalg.norm(rec.force, axis=2)
    for p in range(rec.gap.shape[1]):
        loaded = most[:, p] > 0.0
        top.scatter(*rec.position[loaded, p, :2].T, s=0.02 * most[loaded, p], color=VERMILION, alpha=0.1, linewidths=0)
    top.set(xlim=(-0.3, 5.2), ylim=(-0.25, 0.25), aspect="equal", ylabel="y (m)", title="Where points are pushed")
    for f, (foot, color) in enumerate(zip(rec.robot.feet, (BLUE, VERMILION), strict=True)):
        below.plot(rec.time, rec.foot_force[:, f, 2] / rec.robot.weight, color=color, linewidth=0.8, label=foot.name)
    below.set(xlabel="time (s)", ylabel="body weights", ylim=(0, None), title="Vertical force on each foot")
    below.legend(loc="lower left")


EXPERIMENTS = (
    Experiment(
        name="stones",
        figures=("fig9",),
        title="set down on a field of stones",
        run=run_stones,
        judge=judge_stones,
        draw=draw_stones,
        height=3.1,
    ),
    Experiment(
        name="stone-walk",
        figures=("fig9",),
        title="a walk over a field of stones",
        run=run_stone_walk,
        judge=judge_stone_walk,
        draw=draw_stone_walk,
        height=3.6,
    ),
)
