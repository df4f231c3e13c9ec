"""Bruneau 1999, section 4.1.2: a man walks, and the ground reaction has the shape of the recorded one.

How far his feet sink in and give way, and the way of the pressure centre, are those of section 4.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.gait.human.data import MeasuredWalk
from footfall.measure.common import runs
from footfall.measure.forces import stance_forces
from footfall.papers.base import Findings, panel, seen, unlike
from footfall.papers.bruneau1999.man import GROUND, LAW, formula
from footfall.solve.contacts import OPEN, SLIDE

#: s; shorter touches are passed over.
SHORTEST = 0.02
LOADED = 0.05  # of the weight, for a pressure centre to be judged


def creep(load: float, points: int, duration: float) -> float:
    """m, by which adhering points give way under a constant tangential load (N), eqs. (17)-(18): kt x + mut x' = f."""
    kt, mut = float(LAW.kt or 0.0), float(LAW.mut or 1.0)
    return load / points / kt * (1.0 - float(np.exp(-kt / mut * duration)))


def tangential(rec: ff.Recording) -> tuple[float, float]:
    """Largest way (m) of a point along the ground while it touches: of all, and of those that never slid meanwhile."""
    every, stuck = 0.0, 0.0
    for p in range(rec.robot.point_count):
        for a, b in runs(rec.mode[:, p] != OPEN):
            if rec.time[min(b, len(rec) - 1)] - rec.time[a] < SHORTEST:
                continue
            way = float(np.linalg.norm((rec.position[a:b, p] - rec.position[a, p])[:, :2], axis=1).max())
            every = max(every, way)
            if not (rec.mode[a:b, p] == SLIDE).any():
                stuck = max(stuck, way)
    return every, stuck


def pressure_path(rec: ff.Recording, samples: int = 51) -> np.ndarray:
    """(stances, samples) place of the pressure centre on the sole over stance: 0 at the heel, 1 at the tip."""
    found = []
    for f, foot in enumerate(rec.robot.feet):
        x = rec.position[:, rec.foot(foot.name), 0]
        rear, front = x.min(axis=1), x.max(axis=1)
        along = (rec.cop[:, f, 0] - rear) / (front - rear)
        for a, b in runs(rec.foot_force[:, f, 2] > LOADED * rec.robot.weight):
            if a > 0 and b < len(rec) and rec.time[b - 1] - rec.time[a] > 0.2:
                at = np.linspace(a, b - 1, samples)
                found.append(np.interp(at, np.arange(a, b), along[a:b]))
    return np.array(found)


# ---- the walk ----------------------------------------------------------------------------------------------

DT = 5e-5  # s
SPRINGS = 1000.0  # N m/rad, in the joints
STRIDES, SETTLED = 7, 2  # of a run, and those before the measurement
SPEED = 1.35  # m/s, the paper's
OVER = 0.04  # body weights, by which a hump is one
#: Of stance, and body weights for humps and for peaks: how far a prediction may be off.
WHEN, HEIGHT, PEAK = 0.16, 0.2, 0.05
PATH = (2, 25, 48)  # samples of a stance of 51


class Walk(NamedTuple):
    rec: ff.Recording  # from the first measured stride on
    forces: np.ndarray  # (stances, 51, 3) body weights
    measured: MeasuredWalk

    @property
    def mean(self) -> np.ndarray:
        """(51, 3) body weights."""
        return np.asarray(self.forces.mean(axis=0))

    def rough(self, axis: str) -> float:
        """How much the mean stance bends from sample to sample, over how much the recorded mean does."""
        both = (self.mean[:, "xyz".index(axis)], self.measured.force[axis])
        ours, recorded = (float(np.abs(np.diff(one, 2)).mean()) for one in both)
        return ours / recorded


def walk(*, forces: bool) -> Walk:
    """The man walks in the plane on the paper's ground; without ``forces`` his motion knows markers alone."""
    robot = ff.load_robot("hanavan", planar=True, assist=True)
    controller = ff.control.HumanWalk(law=LAW, dt=DT, kp=SPRINGS, push_damping=0.0, forces=forces)
    period = controller.motion(robot).period
    # The paper's feet meet the ground at the testing points of their soles, and at nothing else.
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=DT, body_contacts=False)
    rec = sim.run(STRIDES * period, controller=controller, record_dt=20 * DT).check()
    late = rec.slice(SETTLED * period)
    return Walk(late, stance_forces(late), ff.gait.measured_walk())


def run_walking() -> dict[str, Walk]:
    return {"fitted": walk(forces=True), "from markers alone": walk(forces=False)}


class Extremes(NamedTuple):
    """Two maxima of the normal force and the minimum between, braking and driving peaks: part of stance, value."""

    first: tuple[float, float]
    trough: tuple[float, float]
    second: tuple[float, float]
    brake: tuple[float, float]
    drive: tuple[float, float]


def extremes(up: np.ndarray, forward: np.ndarray) -> Extremes:
    """Of forces over stance (body weights), smoothed over a tenth of it as a force plate's eye would."""
    smooth = [np.convolve(np.pad(one, 2, mode="edge"), np.full(5, 0.2), mode="valid") for one in (up, forward)]
    part, half = np.linspace(0.0, 1.0, len(up)), len(up) // 2

    def at(values: np.ndarray, where: slice, sign: float) -> tuple[float, float]:
        k = int((sign * values[where]).argmax()) + int(where.start or 0)
        return float(part[k]), float(values[k])

    return Extremes(
        at(smooth[0], slice(0, half), 1.0),
        at(smooth[0], slice(half // 2, half + half // 2), -1.0),
        at(smooth[0], slice(half, None), 1.0),
        at(smooth[1], slice(0, half), -1.0),
        at(smooth[1], slice(half, None), 1.0),
    )


def judge_prediction(data: Walk) -> Findings:
    """Forces that nobody fitted, against the recorded ones: hump heights and times, not an rms."""
    ours = extremes(data.mean[:, 2], data.mean[:, 0])
    recorded = extremes(data.measured.force["z"], data.measured.force["x"])
    names = ("first maximum", "minimum", "second maximum", "braking peak", "driving peak")
    (_, first), (_, trough), (_, second), (_, brake), (_, drive) = ours
    humps = min(first, second) > 1.0 + OVER and trough < 1.0 - OVER
    yield seen("humps", f"{first:.2f}, {trough:.2f}, {second:.2f}", holds=humps, landing=data.mean[:, 2].max())
    yield seen("brakes", f"{brake:.3f}, {drive:.3f}", holds=brake < -0.05 and drive > 0.05)
    for what, (when, force), (then, wanted) in zip(names, ours, recorded, strict=True):
        name, bound = ("peak", PEAK) if "peak" in what else ("extreme", HEIGHT)
        holds = abs(when - then) < WHEN and abs(force - wanted) < bound
        found = f"{when:.2f}: {force:.3f}"
        yield seen(name, found, should=f"{then:.2f}: {wanted:.3f}", holds=holds, what=what, when=WHEN, bound=bound)


def judge_walking(data: dict[str, Walk]) -> Findings:
    fitted, predicted = data.values()
    yield from judge_prediction(predicted)
    yield from _judge_posture(fitted)
    yield from _judge_interference(fitted)
    # The walk that knows no measured force: the path of the pressure centre under a foot (figure 2).
    early, middle, late = pressure_path(predicted.rec).mean(axis=0)[list(PATH)]
    moves = early < 1.0 / 3.0 and early < middle < late and late > 2.0 / 3.0
    yield seen("moves", f"{early:.2f}, {middle:.2f}, {late:.2f}", holds=moves)


def _judge_posture(plane: Walk) -> Findings:
    """Forces over stance, how feet roll, what holds the man upright, and how fast he is (figures 14 to 16)."""
    kinds = [s for s in ff.measure.phases(plane.rec).stances if s.first and s.toe_off == s.toe_off]
    rolled = [s.first == "heel" and s.strike < s.flat < s.heel_off < s.toe_off for s in kinds]
    rough = plane.rough("x"), plane.rough("z")
    yield seen("smooth", f"{rough[0]:.2f}, {rough[1]:.2f}", holds=min(rough) > 1.0)
    yield seen("phases", f"{sum(rolled)} of {len(rolled)} stances", holds=len(rolled) >= 6 and all(rolled))
    yield unlike("speed", float(np.ptp(plane.rec.qpos[:, 0]) / plane.rec.duration), should=SPEED)


def _judge_interference(plane: Walk) -> Findings:
    """How far points go into the ground and along it (section 4.1)."""
    weight, deepest = plane.rec.robot.weight, -1e3 * plane.rec.gap[plane.rec.mode != OPEN].min()
    every, stuck = tangential(plane.rec)
    on_all, on_three = (1e3 * formula(weight / points) for points in (18, 3))
    yield unlike("centimetre", deepest, on_all=on_all, on_three=on_three)
    yield unlike("millimetre", f"{1e3 * every:.1f}; {1e3 * stuck:.1f} mm", creep=1e3 * creep(0.15 * weight, 18, 0.25))


def draw_walking(figure: Any, data: dict[str, Walk]) -> None:
    *panels, way = figure.subplots(1, 3)
    share = np.linspace(0.0, 100.0, 51)
    parts = (("x", "Fig. 14: tangential"), ("z", "Fig. 15: normal; grey: recorded"))
    for axis, (part, title) in zip(panels, parts, strict=True):
        measured = data["fitted"].measured
        mean, spread = measured.force[part], measured.force_spread[part]
        axis.fill_between(share, mean - spread, mean + spread, color="#BBBBBB", alpha=0.6, linewidth=0)
        curves = ((share, one.mean[:, "xyz".index(part)], name) for name, one in data.items())
        panel(axis, *curves, xlabel="stance (%)", ylabel="body weights", title=title)
    paths = ((share, pressure_path(one.rec).mean(axis=0), "") for one in data.values())
    panel(way, *paths, xlabel="stance (%)", ylabel="on the sole: 0 heel, 1 tip", title="Fig. 2: pressure centre")
