"""A step evaluated by MuJoCo: torques, ground force, zero moment point, foot heights, and the impact that ends it.

This is independent of how the step was found: an optimised one is judged by it, also between its samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.gait.legs import Legs, find_legs
from footfall.gait.polynomial import PolynomialGait, standing_on, swapped
from footfall.robot import Robot

SAMPLES = 401


@dataclass(frozen=True, eq=False)
class Step:
    """T samples of a step: the first foot carries, held flat, the second swings."""

    time: np.ndarray  # (T,) s
    qpos: np.ndarray  # (T, nq)
    qvel: np.ndarray  # (T, nv)
    torque: np.ndarray  # (T, nu) N m
    force: np.ndarray  # (T, 2) N, forward and up
    zmp: np.ndarray  # (T,) m ahead of the middle of the sole
    height: np.ndarray  # (T, 2) m, heel and toe of the swing foot
    place: np.ndarray  # (T, 3) m and rad, middle and pitch of the swing foot
    landing: np.ndarray  # (3,) m/s and rad/s, rate of the last place
    impact: Impact

    @property
    def cost(self) -> float:
        """The integral of the squared torques, (40), N2 m2 s."""
        squares = (self.torque**2).sum(axis=1)
        weights = np.ones(len(self.time))
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0  # Simpson
        return float(weights @ squares * (self.time[-1] - self.time[0]) / (3.0 * (len(self.time) - 1)))


class Impact(NamedTuple):
    """The plastic impact of the swing foot, (20)-(22): it stays flat, the other one leaves."""

    impulse: np.ndarray  # (3,) N s and N m s: forward, up, and about the middle of the sole
    velocity: np.ndarray  # (nv,) after it
    leaving: np.ndarray  # (2,) m/s, upward velocity of heel and toe of the foot that carried


class _Instant(NamedTuple):
    """One sample of :class:`Step`, and the rate of the swing foot's place (3,)."""

    qpos: np.ndarray
    qvel: np.ndarray
    torque: np.ndarray
    force: np.ndarray
    zmp: float
    height: np.ndarray
    place: np.ndarray
    rate: np.ndarray  # m/s and rad/s


def examine(robot: Robot, gait: PolynomialGait, samples: int = SAMPLES) -> Step:
    """A step of a gait, looked at in an odd number of samples."""
    legs = find_legs(robot)
    data = mujoco.MjData(robot.model)
    times = np.linspace(0.0, gait.step_duration, samples)
    rows = [_instant(robot, legs, data, *gait.at(t)) for t in times]
    last = rows[-1]
    return Step(
        time=times,
        qpos=np.array([one.qpos for one in rows]),
        qvel=np.array([one.qvel for one in rows]),
        torque=np.array([one.torque for one in rows]),
        force=np.array([one.force for one in rows]),
        zmp=np.array([one.zmp for one in rows]),
        height=np.array([one.height for one in rows]),
        place=np.array([one.place for one in rows]),
        landing=last.rate,
        impact=_impact(robot, legs, data, last.qpos, last.qvel),
    )


def velocity_jump(gait: PolynomialGait, step: Step) -> float:
    """Largest difference between the joint rates after the impact and at the start of the next step, rad/s."""
    return float(np.abs(swapped(step.impact.velocity[3:]) - gait.at(0.0)[1]).max())


def _instant(robot: Robot, legs: Legs, data: mujoco.MjData, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> _Instant:
    """The robot with joint angles, rates and accelerations as given, its first foot held flat on the ground."""
    model = robot.model
    data.qpos[:], data.qvel[:] = standing_on(robot, 0, q, v, data)
    data.qacc[:] = 0.0
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    mujoco.mj_makeM(model, data)
    held, drift = _foot(model, data, legs.body[0])
    data.qacc[3:] = a
    data.qacc[:3] = np.linalg.solve(held[:, :3], -drift - held[:, 3:] @ a)  # (34)
    needed = np.zeros(model.nv)
    mujoco.mj_rne(model, data, 1, needed)
    needed += model.dof_armature * data.qacc + model.dof_damping * data.qvel
    wrench = np.linalg.solve(held[:, :3].T, needed[:3])  # on the ankle: forward, up, about y
    torque = needed[3:] - held[:, 3:].T @ wrench  # (36)
    ankle = data.xpos[legs.body[0]]
    # The moment about a point p of the ground, (44): it vanishes where the force goes through.
    zmp = ankle[0] - (wrench[2] + ankle[2] * wrench[0]) / wrench[1]
    ends = data.xpos[legs.body[1]] + legs.ends[1] @ data.xmat[legs.body[1]].reshape(3, 3).T
    pitch = data.qpos[2] + q[legs.size :].sum()
    swing = _foot(model, data, legs.body[1], ends.mean(axis=0))[0]
    place = np.array([ends[:, 0].mean(), ends[:, 2].mean(), pitch])
    return _Instant(
        qpos=data.qpos.copy(),
        qvel=data.qvel.copy(),
        torque=torque,
        force=wrench[:2],
        zmp=float(zmp),
        height=ends[:, 2],
        place=place,
        rate=swing @ data.qvel,
    )


def _foot(
    model: mujoco.MjModel, data: mujoco.MjData, body: int, at: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Jacobian (x, z, pitch) of a point of a foot, its origin if left out, and the drift of that rate."""
    at = data.xpos[body] if at is None else at
    linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, linear, angular, at, body)
    jacobian = np.stack([linear[0], linear[2], angular[1]])
    mujoco.mj_jacDot(model, data, linear, angular, at, body)
    return jacobian, np.stack([linear[0], linear[2], angular[1]]) @ data.qvel


def _impact(robot: Robot, legs: Legs, data: mujoco.MjData, qpos: np.ndarray, qvel: np.ndarray) -> Impact:
    model = robot.model
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    mujoco.mj_makeM(model, data)
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    places = [data.xpos[b] + e @ data.xmat[b].reshape(3, 3).T for b, e in zip(legs.body, legs.ends, strict=True)]
    landing = _foot(model, data, legs.body[1], places[1].mean(axis=0))[0]
    compliance = np.linalg.solve(inertia, landing.T)
    impulse = np.linalg.solve(landing @ compliance, -landing @ qvel)
    after = qvel + compliance @ impulse
    heights = np.stack([_foot(model, data, legs.body[0], end)[0][1] for end in places[0]])
    return Impact(impulse, after, heights @ after)
