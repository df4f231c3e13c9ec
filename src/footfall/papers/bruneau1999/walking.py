"""Bruneau 1999, section 4.1.2: a man walks, and the ground reaction has the shape of the recorded one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.control.human_walk import HumanWalk
from footfall.gait.human.data import MeasuredWalk, measured_walk
from footfall.measure import Assistance, assistance, phases
from footfall.measure.stance_forces import stance_forces
from footfall.papers.base import Claim, Experiment, near, seen, unlike
from footfall.papers.bruneau1999.man import GROUND, LAW
from footfall.recording import Recording
from footfall.robot import load_robot
from footfall.simulation import Simulation
from footfall.solve.contacts import OPEN

DT = 5e-5  # s
STRIDES, SETTLED = 7, 2  # of a run, and those before the measurement
SPEED = 1.35  # m/s, the paper's
NEAR, NEAR_FORWARD = 0.12, 0.06  # body weights
HELP = 20.0  # N m
#: Figure 16: the phases it shows, as parts of the stride from heel strike of the left foot.
SHOWN = {
    "a, b: end of\nsingle support": 0.46,
    "c: double\nsupport": 0.535,
    "d: lift-off\nof the foot": 0.565,
    "e: whole foot,\nafter heel touch": 1.14,
    "f: middle of\nsingle support": 1.30,
}


@dataclass(frozen=True)
class Walk:
    rec: Recording  # from the first measured stride on
    forces: np.ndarray  # (stances, 51, 3) body weights
    measured: MeasuredWalk
    help: Assistance
    stride_time: float  # s

    @property
    def mean(self) -> np.ndarray:
        """(51, 3) body weights."""
        return np.asarray(self.forces.mean(axis=0))

    def off(self, axis: str) -> float:
        """Root mean square difference of the mean stance from the recorded mean, body weights."""
        return float(np.sqrt(np.mean((self.mean[:, "xyz".index(axis)] - self.measured.force[axis]) ** 2)))


def walk(*, planar: bool) -> Walk:
    """The man walks on the plane with the paper's ground."""
    robot = load_robot("hanavan", planar=planar, assist=True)
    # In space, without a push against wrong speed, the walk veers off within some twenty strides.
    controller = HumanWalk(law=LAW, dt=DT, push_damping=0.0 if planar else 200.0)
    period = controller.motion(robot).period
    sim = Simulation(robot, ground=GROUND, law=LAW, dt=DT)
    rec = sim.run(STRIDES * period, controller=controller, record_dt=20 * DT).check()
    late = rec.slice(SETTLED * period)
    return Walk(late, stance_forces(late), measured_walk(), assistance(late), period)


def run_walking() -> dict[str, Walk]:
    return {"plane": walk(planar=True), "space": walk(planar=False)}


def judge_walking(data: dict[str, Walk]) -> list[Claim]:
    plane, space = data["plane"], data["space"]
    up, forward = plane.mean[:, 2], plane.mean[:, 0]
    first, trough, second = up[:20].max(), up[15:35].min(), up[30:].max()
    brake, push = forward[:25].min(), forward[25:].max()
    kinds = [stance for stance in phases(plane.rec).stances if stance.first and stance.toe_off == stance.toe_off]
    rolled = [s.first == "heel" and s.strike < s.flat < s.heel_off < s.toe_off for s in kinds]
    speed = float(np.ptp(plane.rec.qpos[:, 0]) / plane.rec.duration)
    spread = max(plane.measured.force_spread["z"])
    carried = plane.rec.mode != OPEN
    return [
        seen(
            "fig15",
            "Two maxima of the normal force above the weight, a minimum below between them (body weights)",
            "> 1, < 1, > 1",
            f"{first:.2f}, {trough:.2f}, {second:.2f}",
            holds=first > 1.0 > trough and second > 1.0,
            why="mean over stances",
            source="fitted",
        ),
        near(
            "fig15",
            "The normal force is near the recorded one (rms over stance, of body weight)",
            0.0,
            plane.off("z"),
            within=NEAR,
            why=f"set beforehand; recorded stances differ from their mean by up to {spread:.2f}",
            source="fitted",
        ),
        seen(
            "fig14",
            "The tangential force brakes, then propels (body weights)",
            "< 0, then > 0",
            f"{brake:.2f}, {push:.2f}",
            holds=brake < -0.05 and push > 0.05 and forward[:23].mean() < 0.0 < forward[28:].mean(),
            why="least in the first half of stance, most in the second; means of both parts too",
            source="fitted",
        ),
        near(
            "fig14",
            "The tangential force is near the recorded one (rms over stance, of body weight)",
            0.0,
            plane.off("x"),
            within=NEAR_FORWARD,
            why="half of that of the normal force; the recorded one is biased by 0.01",
            source="fitted",
        ),
        seen(
            "fig16",
            "Every step goes from the heel to the whole foot, to the toes, and off",
            "all phases",
            f"{sum(rolled)} of {len(rolled)} stances",
            holds=len(rolled) >= 6 and all(rolled),
            why="heel strike, flat, heel off, toe off, in this order",
            source="fitted",
        ),
        near(
            "section 4.1.2",
            f"He is held upright by a moment, and no force (rms; at most {plane.help.moment_peak:.0f} N m)",
            0.0,
            plane.help.moment_rms,
            "N m",
            within=HELP,
            why="our bound, 3 % of weight times leg: the paper does not say how its pelvis was held",
            source="ours",
        ),
        near(
            "section 4.1",
            "In space instead of the plane (normal force, rms over stance, of body weight)",
            0.0,
            space.off("z"),
            within=NEAR,
            why=f"as in the plane; helped by {space.help}",
            source="fitted",
        ),
        unlike(
            "section 4.1.2",
            "Average speed",
            SPEED,
            speed,
            "m/s",
            note="The recorded man walks at 1.17 m/s; our legs are 5 % shorter, and walk in dynamic similarity.",
            source="printed",
        ),
        unlike(
            "section 4.1",
            "Largest normal interference",
            10.0,
            -1e3 * float(plane.rec.gap[carried].min()),
            "mm",
            note="1 cm carries the man on all 18 points; here a rigid foot pushes off from three points at its tip.",
            source="printed",
        ),
    ]


def draw_walking(figure: Any, data: dict[str, Walk]) -> None:
    top, below = figure.subfigures(2, 1, height_ratios=[1.0, 0.8])
    _draw_forces(top, data)
    _draw_phases(below, data["plane"])


def _draw_forces(figure: Any, data: dict[str, Walk]) -> None:
    from footfall.show.style import BLUE, VERMILION

    one = data["plane"]
    share = np.linspace(0, 100, one.forces.shape[1])
    parts = (("x", "Tangential force (fig. 14)"), ("z", "Normal force (fig. 15)"))
    for axes, (axis, title) in zip(figure.subplots(1, 2), parts, strict=True):
        mean, spread = one.measured.force[axis], one.measured.force_spread[axis]
        axes.fill_between(share, mean - spread, mean + spread, color="#BBBBBB", alpha=0.6, linewidth=0)
        axes.plot(share, mean, "--", color="#222222", label="recorded, mean and range")
        for name, color in (("space", VERMILION), ("plane", BLUE)):
            for i, force in enumerate(data[name].forces[:, :, "xyz".index(axis)]):
                axes.plot(share, force, color=color, linewidth=0.7, alpha=0.8, label=f"in {name}" if i == 0 else None)
        axes.axhline(1.0 if axis == "z" else 0.0, color="#555555", linewidth=0.6)
        axes.set(xlabel="stance (%)", ylabel="body weights", title=title)
        axes.legend(fontsize=7, loc="upper left" if axis == "x" else "lower center")


def _draw_phases(figure: Any, data: Walk) -> None:
    """The man and the ground forces in the phases of figure 16."""
    from footfall.show.style import BLUE, VERMILION

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
            for place, force in zip(points, rec.force[k, rec.foot(foot.name)], strict=True):
                tip = place + 2e-3 * force
                axes.plot([place[0], tip[0]], [place[2], tip[2]], color=VERMILION, linewidth=0.8)
        axes.axhline(0.0, color="#555555", linewidth=0.6)
        axes.set(aspect="equal", xlim=(-0.6, 0.6), ylim=(-0.06, 1.5), xticks=[])
        axes.set_title(title, fontsize=7)
        axes.grid(visible=False)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(left=False, labelleft=False)


EXPERIMENTS = (
    Experiment(
        name="walking",
        figures=("fig14", "fig15", "fig16"),
        title="a man walks as one was seen to",
        run=run_walking,
        judge=judge_walking,
        draw=draw_walking,
        height=5.2,
    ),
)
