"""Bruneau 1999, section 3.2: on uneven ground a point touches where it is below the ground under it."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.errors import optional_package
from footfall.papers.base import Findings, near, seen
from footfall.papers.bruneau1999.man import DYNAMIC, LAW, STATIC, formula, law_on, sole_block
from footfall.show.style import BLUE, VERMILION
from footfall.study.testing_points import enough_points

LENGTH, WIDTH, SPACING = 6.0, 0.8, 0.005  # m, of the field along and across the walk, and between its heights
START, CLEAR = -0.6, 0.6  # m, where it begins, and of plane before the first stone
STONES, SEED = 600, 1999
RADII, LOW = (0.04, 0.10), 0.01  # m, of the stones, and how high they reach at most
DURATION, WALK_DT = 4.0, 5e-5  # s
UPRIGHT = 0.8  # m, of the pelvis
SURE = 1e-6  # m, nearer to the surface neither answer is wrong


class StoneWalk(NamedTuple):
    rec: ff.Recording
    untouched: int  # points that should carry and do not
    wrong: int  # points that carry in the air
    level: int  # points that would touch a plane and do not touch here, or the other way round
    help: ff.measure.Assistance


def field() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Axes along x and y, and heights (y, x), m: spherical caps at random places of a plane."""
    along = START + np.linspace(0.0, LENGTH, round(LENGTH / SPACING) + 1)
    across = np.linspace(-WIDTH / 2, WIDTH / 2, round(WIDTH / SPACING) + 1)
    heights = np.zeros((across.size, along.size))
    random = np.random.default_rng(SEED)
    for _ in range(STONES):
        radius, top = random.uniform(*RADII), random.uniform(0.3, 1.0) * LOW
        at = random.uniform((START + CLEAR + RADII[1], -WIDTH / 2), (START + LENGTH, WIDTH / 2))
        columns, rows = (
            slice(*np.searchsorted(axis, (middle - radius, middle + radius)))
            for axis, middle in zip((along, across), at, strict=True)
        )
        inside = np.maximum(0.0, radius**2 - (along[columns] - at[0]) ** 2 - (across[rows, None] - at[1]) ** 2)
        heights[rows, columns] = np.maximum(heights[rows, columns], np.sqrt(inside) + top - radius)
    return along, across, heights


def throughout(condition: np.ndarray) -> np.ndarray:
    """(T - 1, ...) whether something holds at both ends of an interval, over which a recorded force is the mean."""
    return condition[:-1] & condition[1:]


def run_stone_walk() -> StoneWalk:
    along, across, heights = field()
    middle = (START + LENGTH / 2, 0.0)
    ground = ff.Ground.heightfield(heights, size=(LENGTH, WIDTH), center=middle, friction=(STATIC, DYNAMIC))
    sim = ff.Simulation(ff.load_robot("hanavan", assist=True), ground=ground, law=LAW, dt=WALK_DT)
    rec = sim.run(DURATION, controller=ff.control.HumanWalk(law=LAW, dt=WALK_DT), record_dt=20 * WALK_DT).check()
    # Heights of the points over the field, by interpolation of our own.
    RegularGridInterpolator = optional_package("scipy.interpolate").RegularGridInterpolator
    over = rec.position[..., 2] - RegularGridInterpolator((across, along), heights)(rec.position[..., 1::-1])
    carries = np.linalg.norm(rec.force, axis=2) > 0.0
    # A point that comes out faster than eq. (16) lets it is held by nothing: the damper would have to pull.
    leaving = np.einsum("tpi,tpi->tp", rec.velocity, rec.normal) > 0.0
    return StoneWalk(
        rec,
        untouched=int((throughout((over < -SURE) & ~leaving) & ~carries[:-1]).sum()),
        wrong=int((throughout(over > SURE) & carries[:-1]).sum()),
        level=int(((rec.position[..., 2] < 0.0) != (over < 0.0)).sum()),
        help=ff.measure.assistance(rec),
    )


def judge_stone_walk(data: StoneWalk) -> Findings:
    """Contact is where geometry says so, and nowhere else."""
    rec, count = data.rec, data.rec.gap.size
    height, way = float(rec.qpos[:, 2].min()), float(rec.qpos[-1, 0] - rec.qpos[0, 0])
    yield near("in-the-ground", 0.0, data.untouched, count=count)
    yield near("in-the-air", 0.0, data.wrong, count=count)
    yield seen("matter", f"{data.level}", holds=data.level > 0)
    yield seen("upright", f"{height:.2f} m", holds=height > UPRIGHT and way > 4.0, way=way, help=data.help)


def draw_stone_walk(figure: Any, data: StoneWalk) -> None:
    along, across, heights = field()
    rec = data.rec
    top, below = figure.subplots(2, 1, height_ratios=[1.0, 1.0])
    top.pcolormesh(along, across, 1e3 * heights, cmap="Greys", vmin=0, vmax=1.6e3 * LOW, rasterized=True)
    most = np.linalg.norm(rec.force, axis=2)
    for p in range(rec.gap.shape[1]):
        loaded = most[:, p] > 0.0
        top.scatter(*rec.position[loaded, p, :2].T, s=0.02 * most[loaded, p], color=VERMILION, alpha=0.1, linewidths=0)
    top.set(xlim=(-0.3, 5.2), ylim=(-0.25, 0.25), aspect="equal", title="Where points are pushed; grey: stones")
    top.set(xlabel="x (m)", ylabel="y (m)")
    for f, (foot, color) in enumerate(zip(rec.robot.feet, (BLUE, VERMILION), strict=True)):
        below.plot(rec.time, rec.foot_force[:, f, 2] / rec.robot.weight, color=color, linewidth=0.8, label=foot.name)
    below.set(xlabel="time (s)", ylabel="body weights", ylim=(0, 1.9), title="Vertical force on each foot")
    below.legend(loc="upper left", ncols=2)


# ---- too few points ----------------------------------------------------------------------------------------

FALL, TURN, LENGTH_OF_FOOT = 0.02, 0.25, 0.26  # m, rad, m: of a foot that lands on its heel
FEW_DT = 2e-5  # s
BUMP, ROUND = 0.01, 0.03  # m, height and radius of a bump under the middle of a sole
#: Pa, Poisson's ratio and m, of a rubber sole.
RUBBER, POISSON, THICK = 2e6, 0.45, 0.01
WAVES = (0.002, 0.05)  # m, amplitude and length of rough ground


class Few(NamedTuple):
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
    for name, points in (("2", (2, 1)), ("18", (6, 3))):
        sim = ff.Simulation(planar_foot(points), law=law_on(points[0] * points[1]), dt=FEW_DT)
        start = sim.place()
        start[1:] += FALL + 0.5 * LENGTH_OF_FOOT * np.sin(TURN), -TURN
        landings[name] = sim.run(0.3, qpos=start).check()
    axis = np.linspace(-0.3, 0.3, 241)
    block = sole_block()
    middle = block.feet[0].points[:, :2][np.argmin(np.linalg.norm(block.feet[0].points[:, :2], axis=1))]
    away = (axis[None, :] - middle[0]) ** 2 + (axis[:, None] - middle[1]) ** 2
    ground = ff.Ground.heightfield(BUMP * np.maximum(0.0, 1.0 - away / ROUND**2), size=(0.6, 0.6))
    for name, robot in (("4", block.with_points((2, 2))), ("18", block)):
        sim = ff.Simulation(robot, ground=ground, law=law_on(robot.point_count), dt=1e-4)
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


def distribution(rec: ff.Recording) -> tuple[float, float]:
    """Most that one point carries, over the weight, and the largest change of the force in 1 ms, over its peak."""
    force, span = rec.total_force[:, 2], round(1e-3 / rec.dt)
    change = np.abs(force[span:] - force[:-span]).max() / force.max()
    return float(rec.force[..., 2].max() / rec.robot.weight), float(change)


def judge_few(data: Few) -> Findings:
    (fast, hard), (slow, soft) = tip(data.landings["2"]), tip(data.landings["18"])
    ends = {name: (rec.position[-1], rec.force[-1, :, 2]) for name, rec in data.bumps.items()}
    inside = {name: 1e3 * max(0.0, BUMP - float(at[:, 2].min())) for name, (at, _) in ends.items()}
    pushed = {name: float(f[np.linalg.norm(at[:, :2], axis=1) < ROUND].sum()) for name, (at, f) in ends.items()}
    depth = -1e3 * float(data.rubber.gap[-1].mean())
    rest = [-1e3 * float(rec.gap[-1].min()) for rec in (data.landings["2"], data.bumps["4"])]
    known = [1e3 * formula(rec.robot.weight / 18) for rec in (data.landings["2"], data.bumps["4"])]
    (most, jumps), (spread, rises) = map(distribution, data.landings.values())
    yield seen("sinks", f"{rest[0]:.1f}, {rest[1]:.1f} mm", holds=all(np.divide(rest, known) < 1.5))
    told = f"{most:.2f}, {spread:.2f}; {jumps:.2f}, {rises:.2f}"
    yield seen("progressive", told, holds=spread < 0.5 * most and rises < 0.5 * jumps)
    yield seen("two-points", f"{fast:.3f}, {slow:.3f}", holds=fast > 1.05 * slow)
    yield seen("toes-only", f"{hard:.2f}, {soft:.2f}", holds=hard > 1.5 * soft)
    yield seen(
        "four-points",
        f"{inside['4']:.1f} mm, {pushed['4']:.0f} N; {inside['18']:.1f} mm, {pushed['18']:.0f} N",
        holds=inside["4"] > 1e3 * BUMP and pushed["4"] == 0.0 and pushed["18"] > 10.0,
    )
    yield near("material", 1e3 * data.rubber.robot.weight / 18 / data.column, depth)
    yield seen("enough", data.enough, holds=data.enough > 18)


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
