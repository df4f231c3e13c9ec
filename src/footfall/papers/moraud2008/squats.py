"""Moraud 2008, section V-B: squats of a small humanoid, the ground force against the inertial one (figure 11)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.errors import optional_package
from footfall.papers.base import Findings, near, seen
from footfall.papers.moraud2008.motions import SAMPLE, JointMotion, bent_legs, com_heights
from footfall.show.style import BLACK, BLUE

DT = 5e-4  # s
GRAVITY = 9.81  # m/s2
PERIODS = (1.25, 1.0)  # s, of one squat
COUNT = 2  # squats in a row
WAIT = 0.5  # s, before and after
DEEP = 0.7  # rad, by which the knees bend further
CUTOFF, ORDER = 20.0, 5  # Hz, of the paper's Butterworth filter


class Squat(NamedTuple):
    rec: ff.Recording
    force: np.ndarray  # (T,) N, filtered normal force of both feet
    inertial: np.ndarray  # (T,) N, weight and inertia of the motion that was commanded, filtered alike


def squatting(robot: ff.Robot, period: float) -> JointMotion:
    """Knees bend and stretch as a raised cosine, ``COUNT`` times."""
    usual = float(robot.home[robot.model.joint("left_knee_pitch").qposadr[0]])

    def angles(time: float) -> dict[str, float]:
        phase = min(max(0.0, time - WAIT) / period, COUNT)
        return bent_legs(robot, usual + DEEP * 0.5 * (1.0 - math.cos(2.0 * math.pi * phase)))

    return JointMotion(angles, 2.0 * WAIT + COUNT * period)


def filtered(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    signal = optional_package("scipy.signal")

    rate = 1.0 / (time[1] - time[0])
    return signal.sosfiltfilt(signal.butter(ORDER, CUTOFF, fs=rate, output="sos"), values)


def squat(period: float) -> Squat:
    robot = ff.load_robot("small-humanoid")
    motion = squatting(robot, period)
    sim = ff.Simulation(robot, law=ff.contact.ConstraintSelection(), dt=DT)
    rec = sim.run(motion.duration, controller=motion).check()
    heights = com_heights(robot, motion.poses(robot))
    times = SAMPLE * np.arange(len(heights))
    acceleration = np.interp(rec.time, times, np.gradient(np.gradient(heights, SAMPLE), SAMPLE))
    inertial = robot.mass * (GRAVITY + acceleration)
    return Squat(rec, filtered(rec.time, rec.total_force[:, 2]), filtered(rec.time, inertial))


def run_squats() -> dict[float, Squat]:
    return {period: squat(period) for period in PERIODS}


def judge_squats(data: dict[float, Squat]) -> Findings:
    swing = {}
    for period, one in data.items():
        inside = (one.rec.time > WAIT) & (one.rec.time < one.rec.time[-1] - WAIT)
        miss = (one.force - one.inertial)[inside]
        swing[period] = float(np.ptp(one.force[inside]))
        yield near("force", 0.0, np.sqrt(np.mean(miss**2)) / swing[period], period=period)
        flat, broken = one.rec.signals["state"] == 3, one.rec.signals["violations"].any()
        told = "flat" if flat.all() else f"{100 * flat.mean():.4g} % of samples"
        yield seen("flat", told, holds=bool(flat.all()) and not broken, period=period)
    slow, fast = PERIODS
    yield near("scaling", (slow / fast) ** 2, swing[fast] / swing[slow])


def draw_squats(figure: Any, data: dict[float, Squat]) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (period, one) in zip(axes, data.items(), strict=True):
        ax.plot(one.rec.time, one.force, color=BLUE, label="ground force, filtered at 20 Hz")
        ax.plot(one.rec.time, one.inertial, color=BLACK, linestyle=":", label="m (g + a) of the motion commanded")
        ax.set(xlabel="time (s)", title=f"two squats of {period:g} s")
    axes[0].set(ylabel="vertical force (N)")
    axes[0].legend(loc="upper center")
