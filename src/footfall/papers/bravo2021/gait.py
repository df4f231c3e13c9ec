"""Bravo 2021, sections 4 to 6: the optimal gait under computed torque (figures 3 to 6), and under other laws."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.errors import without_warnings
from footfall.gait.library import find_gait, guess_of
from footfall.gait.polynomial import PolynomialGait
from footfall.gait.step_check import GaitConstraints, Step, examine, judge
from footfall.papers.base import Findings, legend_below, near, seen, unlike
from footfall.show.style import BLUE, GREY, VERMILION
from footfall.solve.contacts import SLIDE

FRICTION = 0.75
SPEED = 0.5  # m/s
BODY, GAINS = (70.0, 1.7), (400.0, 40.0)  # kg, m; 1/s2, 1/s of (38)
HALF_SOLE = 0.1  # m
STEPS = 11  # the first starts as the gait does; ten more must be like it
SHOWN = 4  # steps drawn
CLEAR = 1e-3  # of the weight: a foot with less does not carry
DEGREE = math.degrees(1.0)
PARTS = (245, 490, 980)  # of a step of the gait: time steps of 2, 1 and 0.5 ms that end with it


class Walked(NamedTuple):
    gait: PolynomialGait
    guess: Step
    step: Step
    unmet: tuple[str, ...]
    rec: ff.Recording
    events: ff.Recording  # a few steps with touch-downs located, controls every 1 ms
    excess: dict[float, float]  # by time step (s) that divides the step of the gait: torque integral over the planned


def walk(gait: PolynomialGait, law: ff.contact.Law | str, steps: int = STEPS, dt: float = 1e-3) -> ff.Recording:
    """So many steps of a gait on a level ground."""
    sim = ff.Simulation(biped(), ground=ff.Ground.plane(friction=FRICTION), law=law, dt=dt)
    kp, kv = GAINS
    return sim.run((steps + 0.5) * gait.step_duration, controller=ff.control.ComputedTorque(motion=gait, kp=kp, kv=kv))


def biped() -> ff.Robot:
    """The robot, of a mass and a height that the paper does not print."""
    mass, height = BODY
    return ff.load_robot("planar-biped", mass=mass, height=height)


def run_gait() -> Walked:
    robot, constraints = biped(), GaitConstraints(speed=SPEED, friction=FRICTION)
    found = find_gait(robot, constraints)
    step = examine(robot, found.gait)
    unmet = tuple(row.name for row in judge(robot, found.gait, constraints, step) if not row.met)
    rec = walk(found.gait, "time-stepping").check()
    events = walk(found.gait, "acceleration-complementarity", steps=3).check()
    excess = {}
    for parts in PARTS:
        dt = found.gait.step_duration / parts
        excess[dt] = torque_integral(walk(found.gait, "time-stepping", steps=3, dt=dt).check()) / step.cost - 1.0
    return Walked(found.gait, examine(robot, guess_of(robot, found.gait)), step, unmet, rec, events, excess)


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


def repetition(rec: ff.Recording) -> float:
    """By how much the joints at a touch-down differ from those two steps before, once the walk has settled, rad."""
    at = rec.qpos[touch_downs(rec), 3:]
    return float(np.abs(at[4:] - at[2:-2]).max())


def torque_integral(rec: ff.Recording) -> float:
    """The integral (40) of the last whole step, N2 m2 s."""
    first, last = touch_downs(rec)[-2:]
    return float((rec.ctrl[first:last] ** 2).sum() * rec.dt)


def judge_gait(data: Walked) -> Findings:
    yield from _judge_motion(data)
    yield from _judge_contact(data)
    yield from _judge_steps(data)


def _judge_motion(data: Walked) -> Findings:
    """The planned step, and how joints follow it (figures 3 and 4)."""
    rec, unmet, asked = data.rec, ", ".join(data.unmet) or "none", data.rec.signals["qd_reference"]
    off, miss = DEGREE * error(rec), rec.qvel[:, 3:] - asked
    rate, largest = np.sqrt((miss**2).mean() / (asked**2).mean()), float(np.abs(off).max())
    yield seen("constraints", unmet, holds=not data.unmet, cost=data.step.cost, guess=data.guess.cost)
    yield seen("tracking", np.sqrt((off**2).mean()), holds=largest < 1.0, largest=largest)
    yield seen("velocities", 100.0 * rate, holds=rate < 0.05)


def _judge_contact(data: Walked) -> Findings:
    """Zero moment point and friction, planned and simulated (figures 5 and 6)."""
    rec, step = data.rec, data.step
    samples, points = np.nonzero(rec.mode == SLIDE)
    speed = float(np.abs(rec.velocity[samples, points, 0]).max(initial=0.0))
    slides = f"{len(samples) / len(touch_downs(rec)):.2g}"
    ratio, used = float(np.abs(step.force[:, 0] / step.force[:, 1]).max()), friction_used(rec)
    for name, zmp in (("zmp-planned", np.abs(step.zmp).max()), ("zmp", np.nanmax(np.abs(stance_zmp(rec))))):
        yield seen(name, zmp, should=HALF_SOLE, holds=zmp < HALF_SOLE)
    yield seen("cone-planned", ratio, should=FRICTION, holds=ratio <= FRICTION and step.force[:, 1].min() > 0.0)
    yield seen("cone", used, should=FRICTION, holds=used < FRICTION, speed=speed, slides=slides)


def _judge_steps(data: Walked) -> Findings:
    """Whether the walk goes on, repeats and keeps its speed, and what the integral (40) of a simulated step is."""
    rec, gait, downs = data.rec, data.gait, touch_downs(data.rec)
    travelled = float(rec.qpos[downs[-1], 0] - rec.qpos[downs[0], 0]) / (rec.time[downs[-1]] - rec.time[downs[0]])
    steps, more = list(data.excess), list(data.excess.values())
    told = ", ".join(f"{1e3 * dt:.2g} ms {100 * excess:+.0f} %" for dt, excess in data.excess.items())
    yield seen("zmp-steps", f"{len(downs)} steps", holds=len(downs) >= STEPS - 1 and not rec.summary()["fell"])
    yield near("repeats", 0.0, repetition(rec))
    yield near("speed", gait.speed, travelled)
    yield near("torque", data.step.cost, torque_integral(data.events))
    yield unlike("prohibitive", "walks in all", steps=", ".join(f"{1e3 * dt:.2g}" for dt in steps))
    yield near("square", 2.0, np.polyfit(np.log(steps), np.log(more), 1)[0], steps=told)


def draw_gait(figure: Any, data: Walked) -> None:
    rec = data.rec.slice(0.0, SHOWN * data.gait.step_duration)
    names = rec.robot.actuated
    axes = figure.subplots(6, 3)
    for rows, actual, wanted, unit in (
        ((0, 1), np.degrees(rec.qpos[:, 3:]), np.degrees(rec.signals["q_reference"]), "°"),
        ((2, 3), rec.qvel[:, 3:], rec.signals["qd_reference"], "rad/s"),
    ):
        for i, name in enumerate(names):
            one = axes[rows[i // 3], i % 3]
            one.plot(rec.time, actual[:, i], color=BLUE)
            one.plot(rec.time, wanted[:, i], color="#000000", linestyle=":")
            one.set_title(f"{name.replace('_', ' ')} ({unit})", fontsize=7)
    for row, number in ((0, 3), (2, 4)):
        own = axes[row, 0].get_title(loc="left")
        axes[row, 0].set_title(f"Fig. {number}, {own}; dots: reference", fontsize=7)
    for one in axes[4:].ravel():
        one.remove()
    grid = axes[4, 0].get_gridspec()
    zmp, force = figure.add_subplot(grid[4, :]), figure.add_subplot(grid[5, :])
    zmp.plot(rec.time, stance_zmp(rec), color=BLUE)
    for edge in (-HALF_SOLE, HALF_SOLE):
        zmp.axhline(edge, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
    zmp.set_title("Fig. 5: zero moment point ahead of the middle of the stance foot (m); dashed: the sole", fontsize=7)
    force.plot(rec.time, rec.total_force[:, 0], color=VERMILION)
    for sign in (-1.0, 1.0):
        cone = sign * FRICTION * rec.total_force[:, 2]
        force.plot(rec.time, cone, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
    force.set_ylim(-1.2 * FRICTION * rec.robot.weight, 1.2 * FRICTION * rec.robot.weight)  # impacts are above
    force.set_title("Fig. 6: tangential force (N), impacts cut off; dashed: ± µ Fn", fontsize=7)
    for one in (*axes[3], zmp, force):
        one.set_xlabel("time (s)")


# ---- the same walk under other laws ------------------------------------------------------------------------

STEPS_EACH = STEPS  # under every law


def run_laws() -> dict[str, ff.Recording]:
    gait = find_gait(biped(), GaitConstraints(speed=SPEED, friction=FRICTION)).gait
    with without_warnings():
        return {law: walk(gait, law, STEPS_EACH) for law in ff.laws()}


def judge_laws(data: dict[str, ff.Recording]) -> Findings:
    for law, rec in data.items():
        steps, fell = len(touch_downs(rec)), ff.measure.has_fallen(rec) or rec.failure is not None
        off = float(np.degrees(np.sqrt((error(rec) ** 2).mean())))
        told = f"{'falls' if fell else f'{steps} steps'}, joints off by {off:.2g}° (rms)"
        yield seen("law", told, holds=not fell and steps >= STEPS_EACH - 1, law=law)


def draw_laws(figure: Any, data: dict[str, ff.Recording]) -> None:
    axes = figure.subplots(2, 1, sharex=True)
    for i, (name, rec) in enumerate(data.items()):
        axes[0].plot(rec.time, np.degrees(np.abs(error(rec)).max(axis=1)), color=f"C{i}", label=name)
        axes[1].plot(rec.time, rec.total_force[:, 2] / rec.robot.weight, color=f"C{i}")
    axes[0].set(ylabel="joint error (°)", ylim=(0.0, 10.0))
    axes[1].set(ylabel="force / weight", xlabel="time (s)", ylim=(0.0, 4.0), xlim=(0.0, 2.0))
    legend_below(figure, axes[0], columns=4)
