"""Bruneau 1999, section 3.2: on uneven ground a point touches where it is below the ground under it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

import footfall as ff
from footfall.errors import optional_package
from footfall.papers.base import Claim, Source, legend_below, near, seen
from footfall.papers.bruneau1999.man import DYNAMIC, LAW, STATIC, sole_block, sprung_man
from footfall.show.style import BLUE, VERMILION
from footfall.study.testing_points import enough_points

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
    RegularGridInterpolator = optional_package("scipy.interpolate").RegularGridInterpolator

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
    return on_stones(sim.run(DURATION, qpos=sim.place(above=DROP), record_dt=25 * DT).check(), axis, axis, heights)


def judge_stones(data: Stones) -> list[Claim]:
    feet = data.rec.robot.point_count
    touching = (np.linalg.norm(data.rec.force[-1, :feet], axis=1) > 0.0).sum()
    return [
        *judge_touching(data, "derived"),
        seen(
            ("ours", "fig9"),
            "On stones some testing points carry and others do not (of 36, after landing)",
            ("some", f"{touching}"),
            holds=0 < touching < 36,
            why="neither none nor all",
            fragile="on another field (seed 1) all carry in the end",
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
    top.set(xlim=(-0.3, 5.2), ylim=(-0.25, 0.25), aspect="equal", title="Where points are pushed")
    top.set(xlabel="x (m)", ylabel="y (m)")
    for f, (foot, color) in enumerate(zip(rec.robot.feet, (BLUE, VERMILION), strict=True)):
        below.plot(rec.time, rec.foot_force[:, f, 2] / rec.robot.weight, color=color, linewidth=0.8, label=foot.name)
    below.set(xlabel="time (s)", ylabel="body weights", ylim=(0, None), title="Vertical force on each foot")
    below.legend(loc="lower left")


# ---- too few points ----------------------------------------------------------------------------------------

FALL, TURN, LENGTH_OF_FOOT = 0.02, 0.25, 0.26  # m, rad, m: of a foot that lands on its heel
FEW_DT = 2e-5  # s
BUMP, ROUND = 0.01, 0.03  # m, height and radius of a bump under the middle of a sole
#: Pa, Poisson's ratio and m, of a rubber sole.
RUBBER, POISSON, THICK = 2e6, 0.45, 0.01
WAVES = (0.002, 0.05)  # m, amplitude and length of rough ground


@dataclass(frozen=True)
class Few:
    landings: dict[str, ff.Recording]  # by testing points of a foot, in the plane
    bumps: dict[str, ff.Recording]  # a block over a bump, by testing points
    rubber: ff.Recording  # a block on a layer, at rest
    column: float  # N/m, of one point by the layer's modulus
    enough: int  # points of a foot on rough ground


def planar_foot(points: tuple[int, int]) -> ff.Robot:
    """Half of the man as one body on a sole of his, which moves in the plane."""
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="foot")
    for name, kind, along in (("x", "SLIDE", [1, 0, 0]), ("z", "SLIDE", [0, 0, 1]), ("pitch", "HINGE", [0, 1, 0])):
        body.add_joint(name=name, type=getattr(mujoco.mjtJoint, f"mjJNT_{kind}"), axis=along)
    size = [0.5 * LENGTH_OF_FOOT, 0.05, 0.05]
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=size, mass=37.5)
    corners = [[x * size[0], y * size[1], -size[2]] for x in (-1, 1) for y in (-1, 1)]
    return ff.load_robot(spec, feet={"foot": ("foot", corners)}, name="foot").with_points(points)


def run_few() -> Few:
    landings, bumps = {}, {}
    for name, points, share in (("2", (2, 1), 9.0), ("18", (6, 3), 1.0)):
        own = replace(LAW, kn=share * LAW.PAPER_KN, mun=share * LAW.PAPER_MUN, mut=share * LAW.PAPER_MUT)
        sim = ff.Simulation(planar_foot(points), law=own, dt=FEW_DT)
        start = sim.place()
        start[1:] += FALL + 0.5 * LENGTH_OF_FOOT * np.sin(TURN), -TURN
        landings[name] = sim.run(0.3, qpos=start).check()
    axis = np.linspace(-0.3, 0.3, 241)
    block = sole_block()
    middle = block.feet[0].points[:, :2][np.argmin(np.linalg.norm(block.feet[0].points[:, :2], axis=1))]
    away = (axis[None, :] - middle[0]) ** 2 + (axis[:, None] - middle[1]) ** 2
    ground = ff.Ground.heightfield(BUMP * np.maximum(0.0, 1.0 - away / ROUND**2), size=(0.6, 0.6))
    for name, robot in (("4", block.with_points((2, 2))), ("18", block)):
        sim = ff.Simulation(robot, ground=ground, law=replace(LAW, kn=LAW.PAPER_KN * 18 / robot.point_count), dt=1e-4)
        bumps[name] = sim.run(1.5, qpos=sim.place(above=BUMP), record_dt=0.01).check()
    law = ff.contact.Distributed.from_material(RUBBER, POISSON, thickness=THICK, robot=block)
    size = np.ptp(ff.load_robot("hanavan").feet[0].polygon[:, :2], axis=0)
    modulus = RUBBER * (1.0 - POISSON) / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
    return Few(
        landings,
        bumps,
        ff.Simulation(block, law=law, dt=1e-4).run(1.0, record_dt=0.1).check(),
        float(modulus * np.prod(size) / 18 / THICK),
        enough_points(ff.load_robot("hanavan"), roughness=WAVES).count,
    )


def tips_of(rec: ff.Recording) -> np.ndarray:
    """Which points are at the tip of the foot."""
    along = rec.robot.feet[0].points[:, 0]
    return np.flatnonzero(along > along.max() - 1e-6)


def tip(rec: ff.Recording) -> tuple[float, float]:
    """m/s at which the tip of a foot lands, and the most that its points carry, over the weight."""
    tips = tips_of(rec)
    lands = int(np.flatnonzero((rec.gap[:, tips] <= 0.0).any(axis=1))[0])
    return -float(rec.velocity[lands, tips, 2].min()), float(rec.force[:, tips, 2].sum(axis=1).max() / rec.robot.weight)


def judge_few(data: Few) -> list[Claim]:
    (fast, hard), (slow, soft) = tip(data.landings["2"]), tip(data.landings["18"])
    ends = {name: (rec.position[-1], rec.force[-1, :, 2]) for name, rec in data.bumps.items()}
    inside = {name: 1e3 * max(0.0, BUMP - float(at[:, 2].min())) for name, (at, _) in ends.items()}
    pushed = {name: float(f[np.linalg.norm(at[:, :2], axis=1) < ROUND].sum()) for name, (at, f) in ends.items()}
    depth = -1e3 * float(data.rubber.gap[-1].mean())
    return [
        seen(
            ("printed", "two-points"),
            "in the plane, heel first: speed at which the tip lands, on 2 and on 18 points",
            ("larger on 2", f"{fast:.3f}, {slow:.3f}", "m/s"),
            holds=fast > 1.05 * slow,
            why="by more than 5 %",
        ),
        seen(
            ("printed", "toes-only"),
            "the same: most that the points at the tip carry, over the weight",
            ("larger on 2", f"{hard:.2f}, {soft:.2f}"),
            holds=hard > 1.5 * soft,
            why="half more or beyond; both soles have the same stiffness and damping in all",
        ),
        seen(
            ("printed", "four-points"),
            "a bump of 1 cm under the middle of a sole: how far it is inside, and the force there, 4 and 18 points",
            (
                "no force with 4",
                f"{inside['4']:.1f} mm, {pushed['4']:.0f} N; {inside['18']:.1f} mm, {pushed['18']:.0f} N",
            ),
            holds=inside["4"] > 1e3 * BUMP and pushed["4"] == 0.0 and pushed["18"] > 10.0,
            why="the whole bump, without a force; with 18 points it carries",
        ),
        near(
            ("ours", "section 4.2"),
            "The paper's further developments: parameters from Young's modulus and Poisson's ratio "
            "(Distributed.from_material; depth of a block on 1 cm of rubber, by the confined modulus)",
            (1e3 * data.rubber.robot.weight / 18 / data.column, depth, "mm"),
            rel=0.01,
            why="at rest nothing but the layer is left",
        ),
        seen(
            ("ours", "section 4.2"),
            "and the number of testing points for the size of irregularities (footfall points): on waves of 2 mm and "
            "5 cm, points of a foot of the man",
            ("enough for 2 %", data.enough),
            holds=data.enough > 18,
            why="more than the paper's 18",
        ),
    ]


def draw_few(figure: Any, data: Few) -> None:
    left, right = figure.subplots(1, 2)
    for (name, rec), color in zip(data.landings.items(), (VERMILION, BLUE), strict=True):
        tips = tips_of(rec)
        left.plot(
            1e3 * rec.time, rec.force[:, tips, 2].sum(axis=1) / rec.robot.weight, color=color, label=f"{name} points"
        )
    left.set(xlabel="time (ms)", ylabel="body weights", title="Fig. 8: force on the tip of the foot")
    left.legend()
    for (name, rec), color in zip(data.bumps.items(), (VERMILION, BLUE), strict=True):
        at = rec.position[-1]
        right.scatter(
            1e3 * at[:, 0], 1e3 * at[:, 1], s=4 + rec.force[-1, :, 2], color=color, alpha=0.7, label=f"{name} points"
        )
    right.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal", title="Fig. 9: a bump below (area: force)")
    right.set(xlim=(-170.0, 170.0), ylim=(-80.0, 110.0))
    right.legend(loc="upper center", ncols=2)
