"""The constraints of a walk, and whether it meets them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from footfall.errors import GaitError
from footfall.gait.legs import Legs, find_legs
from footfall.gait.polynomial import PolynomialGait
from footfall.gait.step_check import Step, velocity_jump
from footfall.robot import Robot
from footfall.robot.motors import torque_limits

#: Tolerance of an equality, in its unit: many times Ipopt's own.
EQUAL = 1e-6
#: Tolerance of an inequality, in its unit: a hundredth of a millimetre does no harm.
ROUNDING = 1e-5


@dataclass(frozen=True, kw_only=True)
class GaitConstraints:
    """The constraints of a walk.

    Attributes:
        speed: m/s.
        step_length: m; chosen by the optimisation if left out.
        clearance: m, height of the swing foot in the middle of the step; near its ends it may be lower, as
            16 s^2 (1 - s)^2 of the phase s.
        landing_speed: m/s, at most, of the swing foot downward at touch-down; 0 forbids any impact.
        friction: least friction coefficient of the ground.
        sole_margin: m, by which the zero moment point stays inside the sole.
        joint_margin: rad, by which joints stay inside their limits.
    """

    speed: float = 0.5
    step_length: float | None = None
    clearance: float = 0.03
    landing_speed: float = 0.1
    friction: float = 0.75
    sole_margin: float = 0.01
    joint_margin: float = 0.05

    def __post_init__(self) -> None:
        for name in ("speed", "friction"):
            self._check(name, getattr(self, name), positive=True)
        for name in ("clearance", "landing_speed", "sole_margin", "joint_margin"):
            self._check(name, getattr(self, name), positive=False)
        if self.step_length is not None:
            self._check("step_length", self.step_length, positive=True)

    @staticmethod
    def _check(name: str, value: float, *, positive: bool) -> None:
        if not (isinstance(value, int | float) and math.isfinite(value) and (value > 0 if positive else value >= 0)):
            kind = "positive" if positive else "non-negative"
            raise GaitError(f"{name} of a gait must be a {kind} number, got {value}")

    def sole(self, legs: Legs, extra: float = 0.0) -> tuple[float, float]:
        """Where the zero moment point may be, m ahead of the middle of the sole; ``extra`` m less on both sides."""
        margin = self.sole_margin + extra
        half = 0.5 * float(legs.ends[0][1, 0] - legs.ends[0][0, 0])
        if margin >= half:
            raise GaitError(f"a sole of {2 * half:g} m leaves no place for a zero moment point {margin:g} m inside")
        return margin - half, half - margin

    def least_height(self, phase: float, extra: float = 0.0) -> float:
        """Height (m) that the swing foot must have at a phase from 0 to 1; ``extra`` m more in the middle."""
        return (self.clearance + extra) * 16.0 * phase**2 * (1.0 - phase) ** 2


class Row(NamedTuple):
    """One constraint beside the value that the walk reaches."""

    name: str
    bound: str
    value: float
    unit: str
    met: bool


def judge(robot: Robot, gait: PolynomialGait, constraints: GaitConstraints, step: Step) -> list[Row]:
    """Every constraint, evaluated in all samples of ``step``."""
    legs = find_legs(robot)
    heel, toe = constraints.sole(legs)
    phase = step.time / gait.step_duration
    lift = step.height[1:-1] - np.array([constraints.least_height(s) for s in phase[1:-1]])[:, None]
    along, up, turn = step.impact.impulse
    hard = up > 1e-9
    rows: list[Row] = []

    def equal(name: str, value: float, unit: str) -> None:
        rows.append(Row(name, f"= 0 within {EQUAL:g}", float(value), unit, bool(value <= EQUAL)))

    def least(name: str, bound: float, value: float, unit: str) -> None:
        rows.append(Row(name, f">= {bound:.4g}", float(value), unit, bool(value >= bound - ROUNDING)))

    def most(name: str, bound: float, value: float, unit: str) -> None:
        rows.append(Row(name, f"<= {bound:.4g}", float(value), unit, bool(value <= bound + ROUNDING)))

    equal("symmetry of the angles (13)", gait.asymmetry(), "rad")
    equal("rates after the impact as at the start (22)", velocity_jump(gait, step), "rad/s")
    equal("step length", abs(step.place[-1, 0] - gait.step_length), "m")
    equal("speed", abs(gait.speed - constraints.speed), "m/s")
    equal("swing foot on the ground at the end", abs(step.place[-1, 1]), "m")
    equal("swing foot flat at the end", abs(step.place[-1, 2]), "rad")
    least("clearance of the swing foot beyond its profile", 0.0, float(lift.min()), "m")
    most("downward speed at touch-down", constraints.landing_speed, max(0.0, -float(step.landing[1])), "m/s")
    least("normal force / weight", 0.0, float(step.force[:, 1].min()) / robot.weight, "")
    most("|Ft| / Fn", constraints.friction, float(np.abs(step.force[:, 0] / step.force[:, 1]).max()), "")
    least("zero moment point, rearmost", heel, float(step.zmp.min()), "m")
    most("zero moment point, foremost", toe, float(step.zmp.max()), "m")
    least("normal impulse", 0.0, float(up), "N s")
    most("|impulse along| / normal impulse", constraints.friction, abs(along) / up if hard else 0.0, "")
    most("place of the impulse from the sole's middle", toe, abs(turn) / up if hard else 0.0, "m")
    least("old stance foot leaves", 0.0, float(step.impact.leaving.min()), "m/s")
    least("joints from their limits", constraints.joint_margin, _room(robot, step), "rad")
    most("torque / motor's limit", 1.0, _effort(robot, step), "")
    return rows


def _room(robot: Robot, step: Step) -> float:
    model = robot.model
    joints = [model.joint(name).id for name in robot.actuated if model.jnt_limited[model.joint(name).id]]
    angles = step.qpos[:, model.jnt_qposadr[joints]]
    low, high = model.jnt_range[joints].T
    return float(min((angles - low).min(initial=np.inf), (high - angles).min(initial=np.inf)))


def _effort(robot: Robot, step: Step) -> float:
    return float((np.abs(step.torque) / torque_limits(robot)).max(initial=0.0))
