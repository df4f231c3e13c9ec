"""Moraud 2008, section V-A: the full-sized humanoid sways its hips to the left (figure 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.contact.constraint_selection import ConstraintSelection
from footfall.ground import Ground
from footfall.measure.motion import momentum
from footfall.papers.base import Claim, Experiment, near, seen, unlike
from footfall.papers.moraud2008.motions import JointMotion, smooth
from footfall.recording import Recording
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation

DT = 1e-3  # s
FRICTION = 0.45  # the paper's robot shoes
START, SWAY = 0.5, 1.5  # s
DURATION = 5.0  # s
SHIFT = 0.105  # m, of the hips
LEG = 0.76  # m, from hip to ankle, nearly straight


@dataclass(frozen=True)
class Sway:
    rec: Recording
    com: np.ndarray  # (T, 3) m


def swaying(robot: Robot) -> JointMotion:
    turn = math.asin(SHIFT / LEG)

    def angles(time: float) -> dict[str, float]:
        now = turn * smooth(time, START, SWAY)
        sides = ("left", "right")
        return {f"{side}_hip_roll": -now for side in sides} | {f"{side}_ankle_roll": now for side in sides}

    return JointMotion(angles, DURATION)


def run_sway() -> Sway:
    robot = load_robot("full-humanoid")
    sim = Simulation(robot, ground=Ground.plane(FRICTION), law=ConstraintSelection(), dt=DT)
    rec = sim.run(DURATION, controller=swaying(robot)).check()
    return Sway(rec, momentum(rec).com)


def _left_share(rec: Recording) -> np.ndarray:
    return rec.foot_force[:, 0, 2] / rec.total_force[:, 2]


def judge_sway(data: Sway) -> list[Claim]:
    rec, late = data.rec, data.rec.time > DURATION - 0.2
    share = _left_share(rec)
    cop = np.einsum("tf,tf->t", rec.foot_force[..., 2], np.nan_to_num(rec.cop[..., 1])) / rec.total_force[:, 2]
    force = rec.total_force[late].mean(axis=0) / rec.robot.weight
    early = rec.time < START
    apart = rec.foot_force[early, :, 1].mean(axis=0)
    return [
        near(
            "fig9",
            "before the sway, the left foot carries half",
            0.5,
            float(share[early].mean()),
            within=5e-3,
            why="robot and pose are symmetrical",
            source="printed",
        ),
        seen(
            "fig9",
            "after it, the weight is mainly on the left, the supporting foot: its share",
            "most of it",
            float(share[late].mean()),
            holds=float(share[late].mean()) > 0.8,
            why="more than 0.8",
            source="printed",
        ),
        near(
            "fig9",
            "at the end the pressure centre of both feet is below the centre of mass: sideways distance",
            0.0,
            1e3 * float(abs(cop - data.com[:, 1])[late].mean()),
            "mm",
            within=2.0,
            why="the joints' oscillations have nearly died",
            source="derived",
        ),
        near(
            "fig9",
            "at the end the ground carries the weight",
            1.0,
            float(force[2]),
            within=5e-3,
            why="near rest",
            source="derived",
        ),
        unlike(
            "fig9",
            "sideways friction keeps the legs from separating: force on the left and the right foot before the sway",
            "opposite",
            f"{abs(apart[0]):.2g} and {abs(apart[1]):.2g}",
            "N",
            note="The paper's robot stands with its legs apart; ours are vertical, and torques that carry the weight "
            "with the least contact forces leave nothing to hold",
            source="printed",
        ),
        seen(
            "section 5",
            "no foot slides and no rule is broken",
            "none",
            f"{int(rec.signals['sliding'].sum())} samples, {int(rec.signals['violations'].sum())} rules",
            holds=not rec.signals["sliding"].any() and not rec.signals["violations"].any(),
            why="every step",
            source="ours",
        ),
    ]


def draw_sway(figure: Any, data: Sway) -> None:
    from footfall.show.style import BLUE, VERMILION

    axes = figure.subplots(3, 1, sharex=True)
    for axis, (k, name) in zip(axes, ((1, "y, sideways"), (0, "x, forwards"), (2, "z, up")), strict=True):
        for foot, color in zip(range(2), (BLUE, VERMILION), strict=True):
            axis.plot(data.rec.time, data.rec.foot_force[:, foot, k], color=color, label=data.rec.robot.feet[foot].name)
        axis.set(ylabel=f"{name} (N)")
    axes[0].legend(loc="upper right")
    axes[2].set(xlabel="time (s)")


EXPERIMENTS = (
    Experiment(
        name="sway",
        figures=("fig9",),
        title="hips swayed to the left, forces on both feet",
        run=run_sway,
        judge=judge_sway,
        draw=draw_sway,
        height=4.2,
    ),
)
