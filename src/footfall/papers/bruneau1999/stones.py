"""Bruneau 1999, section 3.2: how many testing points a sole needs, and what touches of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, panel, seen
from footfall.papers.bruneau1999.man import GROUND, LAW, formula, law_on, sole_block

FALL, TURN, LENGTH_OF_FOOT = 0.02, 0.25, 0.26  # m, rad, m: of a foot that lands on its heel
FEW_DT = 2e-5  # s
BUMP, ROUND = 0.01, 0.03  # m, height and radius of a bump under the middle of a sole
TILTED = (0.1, 0.15, 0.0)  # rad, of a block that lands on a corner


class Few(NamedTuple):
    landings: dict[str, ff.Recording]  # by testing points of a foot, in the plane
    bumps: dict[str, ff.Recording]  # a block over a bump, by testing points
    tilted: ff.Recording  # a block that lands on a corner, every step recorded


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
    sim = ff.Simulation(block, ground=GROUND, law=LAW, dt=FEW_DT)
    start = sim.place()
    mujoco.mju_euler2Quat(start[3:7], np.array(TILTED), "xyz")
    start[2] += 0.05
    tilted = sim.run(0.15, qpos=start, qvel=[0.2, 0.1, -0.5, 0, 0, 0]).check()
    return Few(landings, bumps, tilted)


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
    touching = (data.tilted.force[:, :, 2] > 0).sum(axis=1)
    landed, touching = touching > 0, touching[touching > 0]
    centre = data.tilted.cop[landed, 0] - data.tilted.position[landed].mean(axis=1)
    way, length = np.linalg.norm(centre - centre[-1], axis=1).max(), np.ptp(data.tilted.robot.feet[0].points[:, 0])
    varies = touching.min() <= 3 and touching.max() == 18 and way > 0.25 * length
    yield seen("vary", f"{touching.min()} to {touching.max()}; {1e3 * way:.0f} mm", holds=bool(varies))


def draw_few(figure: Any, data: Few) -> None:
    left, right = figure.subplots(1, 2)
    forces = {name: rec.force[:, tips_of(rec), 2].sum(axis=1) for name, rec in data.landings.items()}
    loads = ((1e3 * rec.time, forces[n] / rec.robot.weight, f"{n} points") for n, rec in data.landings.items())
    panel(left, *loads, xlabel="time (ms)", ylabel="body weights", title="Fig. 8: force on the tip of the foot")
    for name, rec in data.bumps.items():
        x, y, _ = 1e3 * rec.position[-1].T
        right.scatter(x, y, s=4 + rec.force[-1, :, 2], alpha=0.7, label=f"{name} points")
    right.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal", title="Fig. 9: a bump below (area: force)")
    right.set(xlim=(-170.0, 170.0), ylim=(-80.0, 110.0))
    right.legend(loc="upper center", ncols=2)
