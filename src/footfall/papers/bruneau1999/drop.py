"""Bruneau 1999, section 4.1.1: the man falls from 30 cm, and how soon the force is back at the weight (figure 13)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, level, near, panel, seen, unlike
from footfall.papers.bruneau1999.man import GROUND, LAW, sprung_man
from footfall.show.style import GREY

HEIGHT = 0.3  # m
STIFFNESSES = (2000.0, 10000.0, 50000.0)  # N m/rad
DT = 2e-5  # s
SAMPLE = 4e-5  # s, between samples of the whole fall
DURATION = 1.2  # s, of the whole fall
PAPER_TIME = 0.012  # s, from the peak to 110 % of the weight
RISE = 1e-4  # s, in which the force rises
ROOT_Z = 1  # of qpos
#: rad of the knees, s of damping over stiffness, N m/rad of a man who takes the paper's time; s that are looked at
LIMP, SCAN = (0.55, 0.02, 50.0), 0.08


class Landing(NamedTuple):
    """What is kept of a fall: arrays over time, and numbers."""

    time: np.ndarray  # s
    force: np.ndarray  # N, total, upwards
    weight: float  # N
    peaks: int  # local maxima above 110 % of the weight, past touch-down
    fall_time: float  # s, from the peak to 110 % of the weight

    @property
    def peak(self) -> float:
        """Largest force, N."""
        return float(self.force.max())


class Falls(NamedTuple):
    falls: dict[float, Landing]  # by stiffness
    shrink: dict[float, float]  # largest change of force in a step, of half the step over the whole one
    first: dict[float, float]  # N, force one step after touch-down, by step
    limp: float  # s, from the peak to 110 % of the weight of a limp man


def fall(robot: ff.Robot) -> ff.Recording:
    """The man let go 30 cm above the ground."""
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=DT / 2)
    return sim.run(DURATION, qpos=sim.place(above=HEIGHT), record_dt=SAMPLE).check()


def touch_down(robot: ff.Robot, dt: float, duration: float) -> np.ndarray:
    """(T,) N, total force at every step from just before the soles touch on, with the speed of the fall."""
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=dt)
    start = sim.place(above=1e-12)  # rounding is depth enough for half the force: (1e-15 m)^0.02 = 0.5
    speed = np.zeros(robot.model.nv)
    speed[ROOT_Z] = -math.sqrt(2.0 * 9.81 * HEIGHT)
    return sim.run(duration, qpos=start, qvel=speed).check().total_force[:, 2]


def largest_change(robot: ff.Robot, dt: float) -> float:
    """Largest change of the total force in a step (N), but for the rise as t^beta."""
    return float(np.abs(np.diff(touch_down(robot, dt, 0.05)[round(RISE / dt) :])).max())


def jointed_time(knee: float, damping: float, stiffness: float) -> float:
    """s, from the peak to 110 % of the weight of a man whose knees are bent by so much; inf if not within the scan."""
    bend = {"knee": knee - 0.2, "hip": 0.1 - 0.5 * knee, "ankle": 0.1 - 0.5 * knee}
    pose = {f"{side}_{joint}_pitch": angle for side in ("left", "right") for joint, angle in bend.items()}
    robot = sprung_man(stiffness, planar=True, pose=pose, carried=False, stops=False, damping=damping)
    force = touch_down(robot, DT, SCAN)
    reached = np.flatnonzero(force[int(force.argmax()) :] <= 1.1 * robot.weight)
    return DT * float(reached[0]) if reached.size else math.inf


def landing(rec: ff.Recording) -> Landing:
    force, weight = rec.total_force[:, 2], rec.robot.weight
    peak = int(force.argmax())
    after = force[peak:]
    below = int(np.argmax(after <= 1.1 * weight))
    inner = force[1:-1]
    tops = (inner > force[:-2]) & (inner >= force[2:]) & (inner > 1.1 * weight)
    fall_time = float(rec.time[peak + below] - rec.time[peak])
    return Landing(rec.time, force, weight, int(tops.sum()), fall_time)


def run_falls() -> Falls:
    falls, shrink = {}, {}
    for stiffness in STIFFNESSES:
        robot = sprung_man(stiffness, planar=True, carried=False)
        falls[stiffness] = landing(fall(robot))
        shrink[stiffness] = largest_change(robot, DT / 2) / largest_change(robot, DT)
    man = sprung_man(STIFFNESSES[0], planar=True, carried=False)
    first = {dt: float(touch_down(man, dt, dt)[1]) for dt in (1e-5, 1e-6, 1e-7, 1e-8)}
    return Falls(falls, shrink, first, jointed_time(*LIMP))


#: What a challenge found.
SOFTER = "with softer joints (1000 N m/rad, or 2000 with half the damping) the force has two or three maxima and a jump"


def judge_falls(data: Falls) -> Findings:
    steps = sorted(data.first)
    power = math.log(data.first[steps[-1]] / data.first[steps[0]]) / math.log(steps[-1] / steps[0])
    share = data.first[steps[-1]] / max(one.peak for one in data.falls.values())
    shrinks = list(data.shrink.values())
    fine = list(data.falls.values())
    for where in ("vary-fall", "vary-walk"):
        yield near(f"from-zero.{where}", float(LAW.beta), power, share=100 * share, steps=steps[-1])
    yield seen("grows-continuous", ", ".join(f"{one:.2f}" for one in shrinks), holds=max(shrinks) < 0.6)
    peaks, ends = [one.peaks for one in fine], [float(one.force[-1] / one.weight) for one in fine]
    yield seen("grows-once", ", ".join(map(str, peaks)), holds=set(peaks) == {1})
    settles = all(abs(end - 1.0) < 1e-3 for end in ends)
    yield seen("grows-settles", ", ".join(f"{end:.5f}" for end in ends), holds=settles)
    least, twelve = 1e3 * min(one.fall_time for one in fine), 1e3 * PAPER_TIME
    yield unlike("twelve", least, should=twelve, holds=least < 1.1 * twelve, limp=1e3 * data.limp)


def draw_falls(figure: Any, data: Falls) -> None:
    left, right = figure.subplots(1, 2)
    falls = [(one.time, one.force / one.weight, f"{k:g} N m/rad") for k, one in data.falls.items()]
    peaks = ((1e3 * (time - time[force.argmax()]), force, name) for time, force, name in falls)
    panel(left, *peaks, xlim=(-2.0, 60.0), xlabel="time after the peak (ms)", ylabel="force / weight", title="Fig. 13")
    left.axvline(1e3 * PAPER_TIME, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
    level(left, 1.1, "110 % of the weight, in the paper after 12 ms")
    panel(right, *((time, force, "") for time, force, _ in falls), title="The whole fall", ylim=(0.0, 4.0))
