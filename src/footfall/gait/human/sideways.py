"""Lateral balance: feet near the middle, and a pelvis that sways over the standing foot.

The recording is one of the sagittal plane, so this is not fitted to it, only the distance between the feet is measured.
The pressure centre goes from foot to foot with the load; an inverted pendulum of the body's height that it drives, in
one period of the stride, is the sway. Legs are tilted at the hips, and feet kept level at the ankles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.gait.human.body import Curve
from footfall.gait.human.fit import WalkFit, WalkSeries, opposite
from footfall.gait.human.series import basis, evaluate, fit

HARMONICS = 10
CENTRE_HEIGHT = 0.95 / 0.9275  # of the leg's length: the body's centre of mass


class Sideways(NamedTuple):
    """Fourier coefficients over the stride of the left heel strike."""

    sway: np.ndarray  # m, of the pelvis to the left
    lean: np.ndarray  # rad, of the left leg about x; the right one is the opposite half a stride later
    drop: np.ndarray  # m, that tilted legs are shorter
    stride_time: float

    def curve(self, name: str, phase: np.ndarray) -> Curve:
        """A quantity at phases of the stride (cycles), with its derivatives by time."""
        return Curve(*(evaluate(getattr(self, name), phase, k) / self.stride_time**k for k in range(3)))


def sideways(problem: WalkFit, walk: WalkSeries, hip_width: float, step_width: float) -> Sideways:
    """The motion out of the plane of a walk in it; widths between the hips and between the feet in m."""
    phase, body = problem.phase, problem.body
    unknowns = problem.unknowns(walk)
    load, _ = problem.loads(unknowns)
    share = load / (load + opposite(load))
    pressure = fit(phase, 0.5 * step_width * (share - opposite(share)), HARMONICS)
    rate = (2 * np.pi * np.concatenate([[0.0], *2 * [np.arange(1, HARMONICS + 1)]]) / walk.stride_time) ** 2
    sway = pressure / (1.0 + CENTRE_HEIGHT * body.leg / body.gravity * rate)
    curves = problem.curves(unknowns)
    hip = Curve(*(x + 1j * z for x, z in zip(curves["x"], curves["z"], strict=True)))
    _, ankle = body.leg_joints(hip, curves["thigh"], curves["shank"])
    # The sole is below the ankle and stays level: only thigh and shank lean.
    height = hip.value.imag - ankle.value.imag
    aside = 0.5 * (step_width - hip_width) - basis(phase, HARMONICS) @ sway
    lean = np.arcsin(aside / height)
    shorter = share * height * (1.0 - np.cos(lean))
    drop = shorter + opposite(shorter)
    return Sideways(sway, fit(phase, lean, HARMONICS), fit(phase, drop, HARMONICS), walk.stride_time)
