"""Moraud 2008, section V-A: the full-sized humanoid sways its hips to the left (figure 9)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import footfall as ff
from footfall.papers.base import Findings, panel, seen
from footfall.papers.moraud2008.motions import JointMotion, smooth

DT = 1e-3  # s
FRICTION = 0.45  # the paper's robot shoes
START, SWAY = 0.5, 1.5  # s
DURATION, LATE = 5.0, 4.8  # s, and from when on it is the end
SHIFT = 0.105  # m, of the hips
LEG = 0.76  # m, from hip to ankle, nearly straight
SPLAY = 0.15  # rad, of each leg to the side
EDGE = 2.0
SIDES = ("left", "right")


class Sway(NamedTuple):
    rec: ff.Recording
    splayed: ff.Recording  # legs apart, joint PD alone


def swaying(robot: ff.Robot, *, carry: bool = True) -> JointMotion:
    turn, model = math.asin(SHIFT / LEG), robot.model

    def angles(time: float) -> dict[str, float]:
        now = turn * smooth(time, START, SWAY)
        wanted = {f"{side}_hip_roll": -now for side in SIDES} | {f"{side}_ankle_roll": now for side in SIDES}
        return {name: float(robot.home[model.joint(name).qposadr[0]]) + angle for name, angle in wanted.items()}

    return JointMotion(angles, DURATION, carry=carry)


def sway(splay: float = 0.0, *, carry: bool = True) -> ff.Recording:
    """The robot with its legs apart by an angle (rad) to each side; ``carry`` adds torques that carry the weight."""
    turns = {"left_hip_roll": 1.0, "right_hip_roll": -1.0, "left_ankle_roll": -1.0, "right_ankle_roll": 1.0}
    robot = ff.load_robot("full-humanoid", pose={name: sign * splay for name, sign in turns.items()})
    sim = ff.Simulation(robot, ground=ff.Ground.plane(FRICTION), law=ff.contact.ConstraintSelection(), dt=DT)
    return sim.run(DURATION, controller=swaying(robot, carry=carry)).check()


def run_sway() -> Sway:
    return Sway(sway(), sway(SPLAY, carry=False))


def judge_sway(data: Sway) -> Findings:
    """The weight goes over to the left foot, and friction holds legs that stand apart."""
    rec, late = data.rec, data.rec.time > LATE
    share = rec.foot_force[:, 0, 2] / rec.total_force[:, 2]  # of the left foot
    yield seen("initial", share[late].mean(), holds=share[late].mean() > 0.8)
    settled = (data.splayed.time > 0.3) & (data.splayed.time < START)
    left, right = data.splayed.foot_force[settled, :, 1].mean(axis=0)
    straight = abs(rec.foot_force[rec.time < START, 0, 1].mean())
    opposite = left < -10.0 and right > 10.0 and abs(left + right) < 0.5
    yield seen("sideways", f"{left:.3g} and {right:.3g}", holds=opposite, straight=straight)
    edge = rec.signals["state"][:, 1] == EDGE
    told = f"{100 * float(edge[late].mean()):.0f} % of the last 0.2 s, {100 * float(edge.mean()):.0f} % of all"
    yield seen("edge", told, holds=edge[late].mean() > 0.95)


def draw_sway(figure: Any, data: Sway) -> None:
    axes = figure.subplots(3, 2, sharex=True, sharey="row")
    titles = ("vertical legs, weight carried", f"legs {SPLAY:g} rad apart, joint PD alone")
    for column, rec, title in zip(axes.T, (data.rec, data.splayed), titles, strict=True):
        for axis, (k, name) in zip(column, ((1, "y, sideways"), (0, "x, forwards"), (2, "z, up")), strict=True):
            panel(axis, *((rec.time, rec.foot_force[:, f, k], foot.name) for f, foot in enumerate(rec.robot.feet)))
            axis.set_ylabel(f"{name} (N)")
        column[0].set_title(title)
