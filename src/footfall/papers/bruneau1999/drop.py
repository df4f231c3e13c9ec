"""Bruneau 1999, section 4.1.1: the man falls from 30 cm, and how soon the force is back at the weight (figure 13)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, near, seen, unlike
from footfall.papers.bruneau1999.man import GROUND, LAW, sprung_man
from footfall.show.style import COLORS

HEIGHT = 0.3  # m
STIFFNESSES = (2000.0, 10000.0, 50000.0)  # N m/rad
DT = 2e-5  # s
SAMPLE = 4e-5  # s, between samples of the whole fall
DURATION, LANDED = 1.2, 0.5  # s, of the whole fall, and until the force is back at the weight
PAPER_TIME = 0.012  # s, from the peak to 110 % of the weight
RISE = 1e-4  # s, in which the force rises
ROOT_Z = 1  # of qpos


class Landing(NamedTuple):
    """What is kept of a fall: arrays over time, and numbers."""

    time: np.ndarray  # s
    force: np.ndarray  # N, total, upwards
    weight: float  # N
    deepest: float  # m
    peaks: int  # local maxima above 110 % of the weight, past touch-down
    fall_time: float  # s, from the peak to 110 % of the weight

    @property
    def peak(self) -> float:
        """Largest force, N."""
        return float(self.force.max())


class Falls(NamedTuple):
    coarse: dict[float, Landing]  # by stiffness, up to LANDED
    fine: dict[float, Landing]  # the whole fall with half the step
    shrink: dict[float, float]  # largest change of force in a step, of half the step over the whole one
    first: dict[float, float]  # N, force one step after touch-down, by step


def fall(robot: ff.Robot, dt: float, duration: float) -> ff.Recording:
    """The man let go 30 cm above the ground."""
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=dt)
    return sim.run(duration, qpos=sim.place(above=HEIGHT), record_dt=SAMPLE).check()


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


def landing(rec: ff.Recording) -> Landing:
    force, weight = rec.total_force[:, 2], rec.robot.weight
    peak = int(force.argmax())
    after = force[peak:]
    below = int(np.argmax(after <= 1.1 * weight))
    inner = force[1:-1]
    tops = (inner > force[:-2]) & (inner >= force[2:]) & (inner > 1.1 * weight)
    fall_time = float(rec.time[peak + below] - rec.time[peak])
    return Landing(rec.time, force, weight, -float(rec.gap.min()), int(tops.sum()), fall_time)


def run_falls() -> Falls:
    coarse, fine, shrink = {}, {}, {}
    for stiffness in STIFFNESSES:
        robot = sprung_man(stiffness, planar=True, carried=False)
        coarse[stiffness] = landing(fall(robot, DT, LANDED))
        fine[stiffness] = landing(fall(robot, DT / 2, DURATION))
        shrink[stiffness] = largest_change(robot, DT / 2) / largest_change(robot, DT)
    man = sprung_man(STIFFNESSES[0], planar=True, carried=False)
    first = {dt: float(touch_down(man, dt, dt)[1]) for dt in (1e-5, 1e-6, 1e-7, 1e-8)}
    return Falls(coarse, fine, shrink, first)


#: What a challenge found.
SOFTER = "with softer joints (1000 N m/rad, or 2000 with half the damping) the force has two or three maxima and a jump"


def judge_falls(data: Falls) -> Findings:
    steps = sorted(data.first)
    power = math.log(data.first[steps[-1]] / data.first[steps[0]]) / math.log(steps[-1] / steps[0])
    share = data.first[steps[-1]] / max(one.peak for one in data.fine.values())
    changes = [
        abs(getattr(data.fine[k], name) / getattr(data.coarse[k], name) - 1.0)
        for k in STIFFNESSES
        for name in ("peak", "fall_time", "deepest")
    ]
    shrinks = list(data.shrink.values())
    fine = list(data.fine.values())
    for where in ("vary-fall", "vary-walk"):
        yield near(f"from-zero.{where}", float(LAW.beta), power, share=100 * share, steps=steps[-1])
    yield seen("grows-continuous", ", ".join(f"{one:.2f}" for one in shrinks), holds=max(shrinks) < 0.6)
    peaks, ends = [one.peaks for one in fine], [float(one.force[-1] / one.weight) for one in fine]
    yield seen("grows-once", ", ".join(map(str, peaks)), holds=set(peaks) == {1})
    settles = all(abs(end - 1.0) < 1e-3 for end in ends)
    yield seen("grows-settles", ", ".join(f"{end:.5f}" for end in ends), holds=settles)
    yield near("half-step", 0.0, 100.0 * max(changes), half=DT / 2)


def draw_falls(figure: Any, data: Falls) -> None:
    from footfall.show.panels import decimated

    left, right = figure.subplots(1, 2)
    for (stiffness, one), color in zip(data.fine.items(), COLORS, strict=False):
        peak = one.time[one.force.argmax()]
        near_peak = (one.time > peak - 2e-3) & (one.time < peak + 0.06)
        name = f"{stiffness:g} N m/rad"
        left.plot(1e3 * (one.time - peak)[near_peak], one.force[near_peak] / one.weight, color=color, label=name)
        reached = 1e3 * one.fall_time
        left.plot([reached], [1.1], "o", color=color, markersize=4)
        kept = decimated(one.force, 4000)
        right.plot(one.time[kept], one.force[kept] / one.weight, color=color)
    left.axvline(1e3 * PAPER_TIME, color="#555555", linewidth=0.8, linestyle=(0, (6, 3)))
    left.annotate("paper: 12 ms", (1e3 * PAPER_TIME, 30), textcoords="offset points", xytext=(3, 0), fontsize=7.5)
    left.set(xlabel="time after the peak (ms)", ylabel="force / weight", title="Fig. 13; circles: 110 % of the weight")
    left.legend(title="joints", loc="upper right")
    right.set(xlabel="time (s)", ylabel="force / weight", title="The whole fall", ylim=(0.0, 4.0))


# ---- how soon the force is back at the weight --------------------------------------------------------------

#: N m/rad, from limp to rigid, rad of the knees, and s of damping over stiffness: none is printed. Joints of the last
#: three hold the man up.
SCANNED, KNEES, DAMPINGS = (50.0, 2e3, 1e4, 2e5), (0.2, 0.55), (0.005, 0.02)
HOLDING = 2e3
SCAN = 0.08  # s after touch-down
MASS, POINTS, GRAVITY = 75.0, 36, 9.81
RIGID_DT = 1e-6  # s


class Times(NamedTuple):
    joints: dict[
        tuple[float, float, float], float
    ]  # s from the peak to 110 % of the weight, by knee, damping, stiffness
    stiff: float  # s, of the stiffest joints, standing straight
    rigid: float  # s


def rigid_time() -> float:
    """s, of a rigid body of 75 kg on all 36 points, by eq. (16)."""
    kn, mun, alpha, beta = float(LAW.kn or 0.0), float(LAW.mun or 0.0), float(LAW.alpha), float(LAW.beta)
    depth, speed, peak, when = 1e-12, math.sqrt(2.0 * GRAVITY * HEIGHT), 0.0, 0
    for k in range(round(0.2 / RIGID_DT)):
        force = max(0.0, POINTS * (kn * depth**alpha + mun * depth**beta * speed)) if depth > 0.0 else 0.0
        if force > peak:
            peak, when = force, k
        elif force <= 1.1 * MASS * GRAVITY:
            return (k - when) * RIGID_DT
        speed += RIGID_DT * (GRAVITY - force / MASS)
        depth += RIGID_DT * speed
    return math.nan


def jointed_time(knee: float, damping: float, stiffness: float) -> float:
    """s, from the peak to 110 % of the weight of a man whose knees are bent by so much; inf if not within the scan."""
    bend = {"knee": knee - 0.2, "hip": 0.1 - 0.5 * knee, "ankle": 0.1 - 0.5 * knee}
    pose = {f"{side}_{joint}_pitch": angle for side in ("left", "right") for joint, angle in bend.items()}
    robot = sprung_man(stiffness, planar=True, pose=pose, carried=False, stops=False, damping=damping)
    force = touch_down(robot, DT, SCAN)
    reached = np.flatnonzero(force[int(force.argmax()) :] <= 1.1 * robot.weight)
    return DT * float(reached[0]) if reached.size else math.inf


def run_times() -> Times:
    every = [(knee, damping, k) for knee in KNEES for damping in DAMPINGS for k in SCANNED]
    return Times(
        joints={one: jointed_time(*one) for one in every},
        stiff=jointed_time(0.2, 0.02, SCANNED[-1]),
        rigid=rigid_time(),
    )


def judge_times(data: Times) -> Findings:
    held = [time for (_, _, stiffness), time in data.joints.items() if stiffness >= HOLDING]
    nearest = min(data.joints, key=lambda one: abs(data.joints[one] - PAPER_TIME))
    given: dict[str, Any] = {"stiffest": SCANNED[-1], "knees": " and ".join(map(str, KNEES)), "rigid": 1e3 * data.rigid}
    (knee, damping, stiffness), least, twelve = nearest, 1e3 * min(held), 1e3 * PAPER_TIME
    given |= {"knee": knee, "damping": 1e3 * damping, "stiffness": stiffness, "time": 1e3 * data.joints[nearest]}
    yield unlike("twelve", least, should=twelve, holds=least < 1.1 * twelve, **given)
    yield near("rigid-limit", 1e3 * data.rigid, 1e3 * data.stiff, stiffness=SCANNED[-1])


def draw_times(figure: Any, data: Times) -> None:
    axis = figure.subplots()
    for (knee, damping), color in zip(((k, d) for k in KNEES for d in DAMPINGS), COLORS, strict=False):
        times = [1e3 * data.joints[knee, damping, stiffness] for stiffness in SCANNED]
        axis.semilogx(SCANNED, times, "o-", color=color, markersize=3, label=f"{knee:g} rad, {1e3 * damping:g} ms")
    axis.axhline(1e3 * data.rigid, color="#222222", linewidth=0.8, linestyle=":", label="rigid")
    axis.axhline(1e3 * PAPER_TIME, color="#555555", linewidth=0.8, linestyle=(0, (6, 3)), label="paper: 12 ms")
    axis.set(xlabel="stiffness of the joints (N m/rad)", ylabel="peak to 110 % (ms)", ylim=(0.0, 80.0))
    axis.set(title="Fig. 13: a man with joints", xlim=(35.0, 2.8e5))
    axis.legend(title="knees, damping", fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
