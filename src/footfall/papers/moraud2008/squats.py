"""Moraud 2008, section V-B: squats of a small humanoid, at two speeds (figure 11)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import footfall as ff
from footfall.errors import optional_package
from footfall.papers.base import Findings, near, panel
from footfall.papers.moraud2008.motions import JointMotion, bent_legs

DT = 5e-4  # s
PERIODS = (1.25, 1.0)  # s, of one squat
COUNT = 2  # squats in a row
WAIT = 0.5  # s, before and after
DEEP = 0.7  # rad, by which the knees bend further
CUTOFF, ORDER = 20.0, 5  # Hz, of the paper's Butterworth filter


def squatting(robot: ff.Robot, period: float) -> JointMotion:
    """Knees bend and stretch as a raised cosine, ``COUNT`` times."""
    usual = float(robot.home[robot.model.joint("left_knee_pitch").qposadr[0]])

    def angles(time: float) -> dict[str, float]:
        phase = min(max(0.0, time - WAIT) / period, COUNT)
        return bent_legs(robot, usual + DEEP * 0.5 * (1.0 - math.cos(2.0 * math.pi * phase)))

    return JointMotion(angles, 2.0 * WAIT + COUNT * period)


def filtered(rec: ff.Recording) -> np.ndarray:
    """(T,) N, normal force of both feet."""
    signal = optional_package("scipy.signal")
    return signal.sosfiltfilt(signal.butter(ORDER, CUTOFF, fs=1.0 / rec.dt, output="sos"), rec.total_force[:, 2])


def run_squats() -> dict[float, ff.Recording]:
    robot = ff.load_robot("small-humanoid")
    sim = ff.Simulation(robot, law=ff.contact.ConstraintSelection(), dt=DT)
    motions = {period: squatting(robot, period) for period in PERIODS}
    return {period: sim.run(one.duration, controller=one).check() for period, one in motions.items()}


def judge_squats(data: dict[float, ff.Recording]) -> Findings:
    (slow, fast), swing = PERIODS, {}
    for period, rec in data.items():
        inside = (rec.time > WAIT) & (rec.time < rec.time[-1] - WAIT)
        swing[period] = float(np.ptp(filtered(rec)[inside]))
    yield near("scaling", (slow / fast) ** 2, swing[fast] / swing[slow])


def draw_squats(figure: Any, data: dict[float, ff.Recording]) -> None:
    forces = ((rec.time, filtered(rec), f"two squats of {period:g} s") for period, rec in data.items())
    panel(figure.subplots(), *forces, ylabel="vertical force (N), filtered at 20 Hz")
