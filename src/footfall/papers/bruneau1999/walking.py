"""Bruneau 1999, section 4.1.2: a man walks, and the ground reaction has the shape of the recorded one.

How far his feet sink in and give way, and the way of the pressure centre, are those of section 4.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.gait.human.data import MeasuredWalk
from footfall.measure.common import runs
from footfall.measure.forces import stance_forces
from footfall.papers.base import Findings, near, seen, unlike
from footfall.papers.bruneau1999.man import GROUND, LAW, formula
from footfall.show.style import BLUE, GREEN, VERMILION
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
AGAINST_SPEED = 200.0  # N s/m, in space
STRIDES, SETTLED = 7, 2  # of a run, and those before the measurement
SPEED = 1.35  # m/s, the paper's
NEAR, NEAR_FORWARD = 0.12, 0.06  # body weights
HELP = 20.0  # N m
OVER = 0.04  # body weights, by which a hump is one
#: Of stance, and body weights for humps and for peaks: how far a prediction may be off.
WHEN, HEIGHT, PEAK = 0.16, 0.2, 0.05
NAMES = {"space": "fitted, in space", "plane": "fitted, in the plane", "markers": "from markers alone"}
PATH = (2, 25, 48)  # samples of a stance of 51
#: Figure 16: the phases it shows, as parts of the stride from heel strike of the left foot.
SHOWN = {
    "a, b: end of\nsingle support": 0.46,
    "c: double\nsupport": 0.535,
    "d: lift-off\nof the foot": 0.565,
    "e: whole foot,\nafter heel touch": 1.14,
    "f: middle of\nsingle support": 1.30,
}


class Walk(NamedTuple):
    rec: ff.Recording  # from the first measured stride on
    forces: np.ndarray  # (stances, 51, 3) body weights
    measured: MeasuredWalk
    help: ff.measure.Assistance
    stride_time: float  # s

    @property
    def mean(self) -> np.ndarray:
        """(51, 3) body weights."""
        return np.asarray(self.forces.mean(axis=0))

    def off(self, axis: str) -> float:
        """Root mean square difference of the mean stance from the recorded mean, body weights."""
        return float(np.sqrt(np.mean((self.mean[:, "xyz".index(axis)] - self.measured.force[axis]) ** 2)))

    def rough(self, axis: str) -> float:
        """How much the mean stance bends from sample to sample, over how much the recorded mean does."""
        both = (self.mean[:, "xyz".index(axis)], self.measured.force[axis])
        ours, recorded = (float(np.abs(np.diff(one, 2)).mean()) for one in both)
        return ours / recorded


def walk(*, planar: bool, forces: bool = True) -> Walk:
    """The man walks on the plane with the paper's ground; without ``forces`` his motion knows markers alone."""
    robot = ff.load_robot("hanavan", planar=planar, assist=True)
    # In space, without a push against wrong speed, the walk veers off within some twenty strides.
    against = 0.0 if planar else AGAINST_SPEED
    controller = ff.control.HumanWalk(law=LAW, dt=DT, kp=SPRINGS, push_damping=against, forces=forces)
    period = controller.motion(robot).period
    # The paper's feet meet the ground at the testing points of their soles, and at nothing else.
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=DT, body_contacts=False)
    rec = sim.run(STRIDES * period, controller=controller, record_dt=20 * DT).check()
    late = rec.slice(SETTLED * period)
    return Walk(late, stance_forces(late), ff.gait.measured_walk(), ff.measure.assistance(late), period)


def run_walking() -> dict[str, Walk]:
    return {
        "plane": walk(planar=True),
        "space": walk(planar=False),
        "markers": walk(planar=True, forces=False),
    }


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
    yield from judge_prediction(data["markers"])
    yield from _judge_posture(data["plane"], data["space"])
    yield from _judge_interference(data["plane"])
    # The walk that knows no measured force: the path of the pressure centre under a foot (figure 2).
    early, middle, late = pressure_path(data["markers"].rec).mean(axis=0)[list(PATH)]
    moves = early < 1.0 / 3.0 and early < middle < late and late > 2.0 / 3.0
    yield seen("moves", f"{early:.2f}, {middle:.2f}, {late:.2f}", holds=moves)


def _judge_posture(plane: Walk, space: Walk) -> Findings:
    """Forces over stance, how feet roll, what holds the man upright, and how fast he is (figures 14 to 16)."""
    kinds = [s for s in ff.measure.phases(plane.rec).stances if s.first and s.toe_off == s.toe_off]
    rolled = [s.first == "heel" and s.strike < s.flat < s.heel_off < s.toe_off for s in kinds]
    yield near("normal-force", 0.0, plane.off("z"), within=NEAR, spread=max(plane.measured.force_spread["z"]))
    yield near("tangential-force", 0.0, plane.off("x"), within=NEAR_FORWARD)
    rough = plane.rough("x"), plane.rough("z")
    yield seen("smooth", f"{rough[0]:.2f}, {rough[1]:.2f}", holds=min(rough) > 1.0)
    yield seen("phases", f"{sum(rolled)} of {len(rolled)} stances", holds=len(rolled) >= 6 and all(rolled))
    yield near("held", 0.0, plane.help.moment_rms, within=HELP, moment_peak=plane.help.moment_peak)
    yield near("in-space", 0.0, space.off("z"), within=NEAR, help=space.help)
    yield unlike("speed", float(np.ptp(plane.rec.qpos[:, 0]) / plane.rec.duration), should=SPEED)


def _judge_interference(plane: Walk) -> Findings:
    """How far points go into the ground and along it (section 4.1)."""
    weight, deepest = plane.rec.robot.weight, -1e3 * plane.rec.gap[plane.rec.mode != OPEN].min()
    every, stuck = tangential(plane.rec)
    on_all, on_three = (1e3 * formula(weight / points) for points in (18, 3))
    yield unlike("centimetre", deepest, on_all=on_all, on_three=on_three)
    yield unlike("millimetre", f"{1e3 * every:.1f}; {1e3 * stuck:.1f} mm", creep=1e3 * creep(0.15 * weight, 18, 0.25))


def draw_walking(figure: Any, data: dict[str, Walk]) -> None:
    top, below = figure.subfigures(2, 1, height_ratios=[1.0, 0.8])
    _draw_forces(top, data)
    _draw_phases(below, data["plane"])


def _draw_forces(figure: Any, data: dict[str, Walk]) -> None:
    one = data["plane"]
    share = np.linspace(0, 100, one.forces.shape[1])
    parts = (("x", "Tangential force (fig. 14)"), ("z", "Normal force (fig. 15)"))
    *panels, way = figure.subplots(1, 3)
    for name, color in (("plane", BLUE), ("markers", GREEN)):
        way.plot(share, pressure_path(data[name].rec).mean(axis=0), color=color)
    way.set(xlabel="stance (%)", title="Pressure centre (fig. 2)", ylabel="on the sole: 0 heel, 1 tip")
    for axes, (axis, title) in zip(panels, parts, strict=True):
        mean, spread = one.measured.force[axis], one.measured.force_spread[axis]
        axes.fill_between(share, mean - spread, mean + spread, color="#BBBBBB", alpha=0.6, linewidth=0)
        axes.plot(share, mean, "--", color="#222222", label="recorded, mean and range")
        for name, color in (("space", VERMILION), ("plane", BLUE), ("markers", GREEN)):
            for i, force in enumerate(data[name].forces[:, :, "xyz".index(axis)]):
                axes.plot(share, force, color=color, linewidth=0.7, alpha=0.8, label=NAMES[name] if i == 0 else None)
        axes.axhline(1.0 if axis == "z" else 0.0, color="#555555", linewidth=0.6)
        axes.set(xlabel="stance (%)", ylabel="body weights", title=title)
        axes.legend(fontsize=5.5, loc="upper left" if axis == "x" else "lower center")


def _draw_phases(figure: Any, data: Walk) -> None:
    """The man and the ground forces in the phases of figure 16."""
    from matplotlib.collections import LineCollection

    rec, model = data.rec, data.rec.robot.model
    body = mujoco.MjData(model)
    chains: list[tuple[str, ...]] = [("pelvis", "trunk")]
    for side in ("left", "right"):
        chains.append(("trunk", f"{side}_upper_arm", f"{side}_forearm"))
        chains.append(("pelvis", f"{side}_thigh", f"{side}_shank", f"{side}_foot"))
    for axes, (title, phase) in zip(figure.subplots(1, len(SHOWN), sharey=True), SHOWN.items(), strict=True):
        k = int(np.searchsorted(rec.time, rec.time[0] + phase * data.stride_time))
        body.qpos[:] = rec.qpos[k]
        mujoco.mj_kinematics(model, body)
        for chain in chains:
            at = np.array([body.body(name).xpos for name in chain]) - [rec.qpos[k, 0], 0, 0]
            color = BLUE if "left" in chain[-1] else "#999999"
            axes.plot(at[:, 0], at[:, 2], color=color, linewidth=1.2, solid_capstyle="round")
        for foot in rec.robot.feet:
            points = rec.position[k, rec.foot(foot.name)] - [rec.qpos[k, 0], 0, 0]
            axes.plot(points[:, 0], points[:, 2], ".", color="#222222", markersize=1.5)
            arrows = np.stack([points, points + 2e-3 * rec.force[k, rec.foot(foot.name)]], axis=1)
            axes.add_collection(LineCollection(arrows[:, :, [0, 2]], color=VERMILION, linewidth=0.8))
        axes.axhline(0.0, color="#555555", linewidth=0.6)
        axes.set(aspect="equal", xlim=(-0.6, 0.6), ylim=(-0.06, 1.5), xticks=[])
        axes.set_title(title, fontsize=7)
        axes.grid(visible=False)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(left=False, labelleft=False)
