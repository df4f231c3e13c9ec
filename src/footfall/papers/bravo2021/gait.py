"""Bravo 2021, sections 4 to 6: the optimal gait under computed torque (figures 3 to 6)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.gait.library import find_gait
from footfall.gait.polynomial import PolynomialGait
from footfall.gait.step_check import GaitConstraints
from footfall.papers.base import Findings, level, panel, seen, unlike
from footfall.solve.contacts import SLIDE

FRICTION = 0.75
SPEED = 0.5  # m/s
BODY, GAINS = (70.0, 1.7), (400.0, 40.0)  # kg, m; 1/s2, 1/s of (38)
HALF_SOLE = 0.1  # m
STEPS = 11  # the first starts as the gait does; ten more must be like it
SHOWN = 4  # steps drawn
CLEAR = 1e-3  # of the weight: a foot with less does not carry
DEGREE = math.degrees(1.0)
LENGTHS = (2e-3, 1e-3, 5e-4)  # s, time steps in which the gait is walked


class Walked(NamedTuple):
    gait: PolynomialGait
    rec: ff.Recording
    others: list[ff.Recording]  # a few steps in other time steps


def walk(gait: PolynomialGait, steps: int = STEPS, dt: float = 1e-3) -> ff.Recording:
    """So many steps of a gait on a level ground."""
    sim = ff.Simulation(biped(), ground=ff.Ground.plane(friction=FRICTION), law="time-stepping", dt=dt)
    kp, kv = GAINS
    return sim.run((steps + 0.5) * gait.step_duration, controller=ff.control.ComputedTorque(motion=gait, kp=kp, kv=kv))


def biped() -> ff.Robot:
    """The robot, of a mass and a height that the paper does not print."""
    mass, height = BODY
    return ff.load_robot("planar-biped", mass=mass, height=height)


def run_gait() -> Walked:
    gait = find_gait(biped(), GaitConstraints(speed=SPEED, friction=FRICTION)).gait
    return Walked(gait, walk(gait).check(), [walk(gait, steps=3, dt=dt).check() for dt in LENGTHS])


def touch_downs(rec: ff.Recording) -> np.ndarray:
    """Samples at which a new step of the reference begins."""
    return np.flatnonzero(np.diff(rec.signals["phase"][:, 0]) > 0) + 1


def error(rec: ff.Recording) -> np.ndarray:
    """(T, nu) rad, by which the joints are ahead of their references."""
    return rec.qpos[:, 3:] - rec.signals["q_reference"]


def stance_zmp(rec: ff.Recording) -> np.ndarray:
    """(T,) m, zero moment point ahead of the middle of the one foot that carries; NaN where two do, or none."""
    carries = rec.foot_force[:, :, 2] > CLEAR * rec.robot.weight
    middle = np.stack([rec.position[:, rec.foot(foot.name), 0].mean(axis=1) for foot in rec.robot.feet], axis=1)
    ahead = rec.zmp[:, 0] - np.where(carries, middle, 0.0).sum(axis=1)
    return np.where(carries.sum(axis=1) == 1, ahead, np.nan)


def friction_used(rec: ff.Recording) -> float:
    """The largest |Ft| / Fn of any foot that carries."""
    force = rec.foot_force[rec.foot_force[:, :, 2] > CLEAR * rec.robot.weight]
    return float(np.abs(force[:, 0] / force[:, 2]).max())


def judge_gait(data: Walked) -> Findings:
    """How joints follow the planned step (figures 3 and 4), where the feet press (5 and 6), and whether it walks on."""
    rec, asked, downs = data.rec, data.rec.signals["qd_reference"], len(touch_downs(data.rec))
    off, miss = DEGREE * error(rec), rec.qvel[:, 3:] - asked
    rate, largest = np.sqrt((miss**2).mean() / (asked**2).mean()), float(np.abs(off).max())
    yield seen("tracking", np.sqrt((off**2).mean()), holds=largest < 1.0, largest=largest)
    yield seen("velocities", 100.0 * rate, holds=rate < 0.05)
    samples, points = np.nonzero(rec.mode == SLIDE)
    speed, slides = float(np.abs(rec.velocity[samples, points, 0]).max(initial=0.0)), f"{len(samples) / downs:.2g}"
    zmp, used = np.nanmax(np.abs(stance_zmp(rec))), friction_used(rec)
    yield seen("zmp", zmp, should=HALF_SOLE, holds=zmp < HALF_SOLE)
    yield seen("cone", used, should=FRICTION, holds=used < FRICTION, speed=speed, slides=slides)
    yield seen("zmp-steps", f"{downs} steps", holds=downs >= STEPS - 1 and not rec.summary()["fell"])
    fell = any(map(ff.measure.has_fallen, data.others))
    told = ", ".join(f"{1e3 * one.dt:.2g}" for one in data.others)
    yield unlike("prohibitive", "falls" if fell else "walks in all", holds=fell, steps=told)


def draw_gait(figure: Any, data: Walked) -> None:
    rec = data.rec.slice(0.0, SHOWN * data.gait.step_duration)
    joints, below = figure.subfigures(2, 1, height_ratios=[2.0, 1.0])
    angles, rates = np.split(joints.subplots(4, 3, sharex=True).ravel(), 2)
    for axes, actual, wanted, unit in (
        (angles, np.degrees(rec.qpos[:, 3:]), np.degrees(rec.signals["q_reference"]), "Fig. 3: {} (°)"),
        (rates, rec.qvel[:, 3:], rec.signals["qd_reference"], "Fig. 4: {} (rad/s)"),
    ):
        for axis, name, own, asked in zip(axes, rec.robot.actuated, actual.T, wanted.T, strict=True):
            panel(axis, (rec.time, own, ""), xlabel="")
            axis.plot(rec.time, asked, color="#000000", linestyle=":")
            axis.set_title(unit.format(name.replace("_", " ")), fontsize=7)
    zmp, force = below.subplots(2, 1, sharex=True)
    panel(zmp, (rec.time, stance_zmp(rec), ""), xlabel="", title="Fig. 5: zero moment point in the stance foot (m)")
    for edge in (-HALF_SOLE, HALF_SOLE):
        level(zmp, edge)
    cone, most = FRICTION * rec.total_force[:, 2], 1.2 * FRICTION * rec.robot.weight  # impacts are above
    curves = ((rec.total_force[:, 0], ""), (cone, "± µ Fn"), (-cone, ""))
    title = "Fig. 6: tangential force (N), impacts cut off"
    panel(force, *((rec.time, *one) for one in curves), ylim=(-most, most), title=title)
