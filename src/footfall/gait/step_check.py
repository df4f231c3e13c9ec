"""A step evaluated by MuJoCo: torques, ground force, zero moment point, foot heights, and the impact that ends it.

This is independent of the optimisation, whose result is checked by it against all constraints, also between its
samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import GaitError
from footfall.gait.polynomial import Legs, PolynomialGait, find_legs, standing_on, swapped
from footfall.given_numbers import NotNegative, Positive
from footfall.robot import Robot
from footfall.robot.motors import torque_limits
from footfall.standing import inertia_of, jacobian_at

SAMPLES = 401


@dataclass(frozen=True, eq=False)
class Step:
    """T samples of a step: the first foot is in stance, held flat, the second swings."""

    time: np.ndarray  # (T,) s
    qpos: np.ndarray  # (T, nq)
    qvel: np.ndarray  # (T, nv)
    torque: np.ndarray  # (T, nu) N m
    force: np.ndarray  # (T, 2) N, forward and up
    zmp: np.ndarray  # (T,) m ahead of the middle of the sole
    height: np.ndarray  # (T, 2) m, heel and toe of the swing foot
    place: np.ndarray  # (T, 3) m and rad, middle and pitch of the swing foot
    landing: np.ndarray  # (3,) m/s and rad/s, rate of ``place`` in the last sample
    impact: Impact

    @property
    def cost(self) -> float:
        """The integral of the squared torques, (40), N2 m2 s."""
        squares = (self.torque**2).sum(axis=1)
        weights = np.ones(len(self.time))
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0  # Simpson
        # Bravo 2021, eq. 40
        return float(weights @ squares * (self.time[-1] - self.time[0]) / (3.0 * (len(self.time) - 1)))


class Impact(NamedTuple):
    """The plastic impact of the swing foot, (20)-(22), which stays flat while the other foot leaves."""

    impulse: np.ndarray  # (3,) N s and N m s: forward, up, and about the middle of the sole
    velocity: np.ndarray  # (nv,) after it
    leaving: np.ndarray  # (2,) m/s, upward velocity of heel and toe of the former stance foot


def examine(robot: Robot, gait: PolynomialGait, samples: int = SAMPLES) -> Step:
    """A step of a gait, evaluated at an odd number of samples."""
    legs = find_legs(robot)
    data = mujoco.MjData(robot.model)
    times = np.linspace(0.0, gait.step_duration, samples)
    rows = [_instant(robot, legs, data, *gait.at(t)) for t in times]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    landing, last = columns.pop("rate")[-1], (columns["qpos"][-1], columns["qvel"][-1])
    return Step(times, **columns, landing=landing, impact=_impact(robot, legs, data, *last))


def _instant(
    robot: Robot, legs: Legs, data: mujoco.MjData, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> dict[str, Any]:
    """A sample of :class:`Step`, and the rate of the swing foot's place (3,), m/s and rad/s.

    The robot has joint angles, rates and accelerations as given, its first foot held flat on the ground.
    """
    model = robot.model
    data.qpos[:], data.qvel[:] = standing_on(robot, 0, q, v, data)
    data.qacc[:] = 0.0
    _look(model, data)
    held, drift = _foot(model, data, legs.body[0])
    data.qacc[3:] = a
    data.qacc[:3] = np.linalg.solve(held[:, :3], -drift - held[:, 3:] @ a)  # Bravo 2021, eq. 34
    needed = np.zeros(model.nv)
    mujoco.mj_rne(model, data, 1, needed)
    needed += model.dof_armature * data.qacc + model.dof_damping * data.qvel
    wrench = np.linalg.solve(held[:, :3].T, needed[:3])  # on the ankle: forward, up, about y
    torque = needed[3:] - held[:, 3:].T @ wrench  # Bravo 2021, eq. 36
    ankle = data.xpos[legs.body[0]]
    # The moment about a point p of the ground, (44), vanishes at the zero moment point.
    zmp = ankle[0] - (wrench[2] + ankle[2] * wrench[0]) / wrench[1]  # Bravo 2021, eq. 44
    ends = data.xpos[legs.body[1]] + legs.ends[1] @ data.xmat[legs.body[1]].reshape(3, 3).T
    pitch = data.qpos[2] + q[legs.size :].sum()
    swing = _foot(model, data, legs.body[1], ends.mean(axis=0))[0]
    place = np.array([ends[:, 0].mean(), ends[:, 2].mean(), pitch])
    state = {"qpos": data.qpos.copy(), "qvel": data.qvel.copy(), "torque": torque, "force": wrench[:2]}
    return state | {"zmp": zmp, "height": ends[:, 2], "place": place, "rate": swing @ data.qvel}


def _look(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    mujoco.mj_makeM(model, data)


def _foot(
    model: mujoco.MjModel, data: mujoco.MjData, body: int, at: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Jacobian (x, z, pitch) of a point of a foot, its origin if left out, and the drift of that rate."""
    at = data.xpos[body] if at is None else at
    linear, angular = np.zeros((2, 3, model.nv))
    mujoco.mj_jacDot(model, data, linear, angular, at, body)
    return jacobian_at(data, body, at)[[0, 2, 4]], np.stack([linear[0], linear[2], angular[1]]) @ data.qvel


def _impact(robot: Robot, legs: Legs, data: mujoco.MjData, qpos: np.ndarray, qvel: np.ndarray) -> Impact:
    model = robot.model
    data.qpos[:], data.qvel[:] = qpos, qvel
    _look(model, data)
    places = [data.xpos[b] + e @ data.xmat[b].reshape(3, 3).T for b, e in zip(legs.body, legs.ends, strict=True)]
    landing = _foot(model, data, legs.body[1], places[1].mean(axis=0))[0]
    compliance = np.linalg.solve(inertia_of(data), landing.T)
    impulse = np.linalg.solve(landing @ compliance, -landing @ qvel)
    after = qvel + compliance @ impulse
    heights = np.stack([_foot(model, data, legs.body[0], end)[0][1] for end in places[0]])
    return Impact(impulse, after, heights @ after)


#: Tolerance of an equality, in its unit: many times that of Ipopt.
EQUAL = 1e-6
#: Tolerance of an inequality, in its unit: 0.01 mm or 0.01 mrad is negligible.
ROUNDING = 1e-5


@public
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

    speed: Positive = 0.5
    step_length: Positive | None = None
    clearance: NotNegative = 0.03
    landing_speed: NotNegative = 0.1
    friction: Positive = 0.75
    sole_margin: NotNegative = 0.01
    joint_margin: NotNegative = 0.05

    def sole(self, legs: Legs, extra: float = 0.0) -> tuple[float, float]:
        """Bounds on the zero moment point, m ahead of the middle of the sole; ``extra`` m tighter on both sides."""
        margin = self.sole_margin + extra
        half = 0.5 * float(legs.ends[0][1, 0] - legs.ends[0][0, 0])
        if margin >= half:
            raise GaitError(f"a sole of {2 * half:g} m leaves no place for a zero moment point {margin:g} m inside")
        return margin - half, half - margin

    def least_height(self, phase: float, extra: float = 0.0) -> float:
        """Least height (m) of the swing foot at a phase from 0 to 1; ``extra`` m more in the middle."""
        return (self.clearance + extra) * 16.0 * phase**2 * (1.0 - phase) ** 2


class Row(NamedTuple):
    """One constraint, with the value that the walk reaches."""

    name: str
    bound: str
    value: float
    unit: str
    met: bool


def judge(robot: Robot, gait: PolynomialGait, constraints: GaitConstraints, step: Step) -> list[Row]:
    """Every constraint, evaluated in all samples of ``step``."""
    heel, toe = constraints.sole(find_legs(robot))
    lift = step.height - np.array([constraints.least_height(t / gait.step_duration) for t in step.time])[:, None]
    jump = swapped(step.impact.velocity[3:]) - gait.at(0.0)[1]  # of joint rates, from a step to the next
    along, up, turn = step.impact.impulse
    hard = up > 1e-9
    model, rows = robot.model, list[Row]()
    joints = [model.joint(name).id for name in robot.actuated if model.jnt_limited[model.joint(name).id]]
    angles, (low, high) = step.qpos[:, model.jnt_qposadr[joints]], model.jnt_range[joints].T
    room = float(np.minimum(angles - low, high - angles).min(initial=np.inf))

    def equal(name: str, value: float, unit: str) -> None:
        rows.append(Row(name, f"= 0 within {EQUAL:g}", float(value), unit, bool(value <= EQUAL)))

    def least(name: str, bound: float, value: float, unit: str) -> None:
        rows.append(Row(name, f">= {bound:.4g}", float(value), unit, bool(value >= bound - ROUNDING)))

    def most(name: str, bound: float, value: float, unit: str) -> None:
        rows.append(Row(name, f"<= {bound:.4g}", float(value), unit, bool(value <= bound + ROUNDING)))

    equal("symmetry of the angles (13)", gait.asymmetry(), "rad")
    equal("rates after the impact as at the start (22)", float(np.abs(jump).max()), "rad/s")
    equal("step length", abs(step.place[-1, 0] - gait.step_length), "m")
    equal("speed", abs(gait.speed - constraints.speed), "m/s")
    equal("swing foot on the ground at the end", abs(step.place[-1, 1]), "m")
    equal("swing foot flat at the end", abs(step.place[-1, 2]), "rad")
    least("clearance of the swing foot beyond its profile", 0.0, float(lift[1:-1].min()), "m")
    most("downward speed at touch-down", constraints.landing_speed, max(0.0, -float(step.landing[1])), "m/s")
    least("normal force / weight", 0.0, float(step.force[:, 1].min()) / robot.weight, "")
    most("|Ft| / Fn", constraints.friction, float(np.abs(step.force[:, 0] / step.force[:, 1]).max()), "")
    least("zero moment point, rearmost", heel, float(step.zmp.min()), "m")
    most("zero moment point, foremost", toe, float(step.zmp.max()), "m")
    least("normal impulse", 0.0, float(up), "N s")
    most("|impulse along| / normal impulse", constraints.friction, abs(along) / up if hard else 0.0, "")
    most("place of the impulse from the sole's middle", toe, abs(turn) / up if hard else 0.0, "m")
    least("old stance foot leaves", 0.0, float(step.impact.leaving.min()), "m/s")
    least("joints from their limits", constraints.joint_margin, room, "rad")
    most("torque / motor's limit", 1.0, float((np.abs(step.torque) / torque_limits(robot)).max(initial=0.0)), "")
    return rows
