"""Ott 2011: what the controller's springs mean for a robot whose feet stand.

With both feet at rest the robot has six freedoms, the velocity of its centre of mass and of its trunk, and by (15) the
joint torques are worth exactly the desired wrench in these. So springs and dampers of (20) and (22) act on the inertia
of these six, not on the mass alone, and on a push as far as it moves with them: legs that weigh let the trunk move
further than the centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

import footfall as ff
from footfall.control.balance import gains
from footfall.control.body.stance import size_of
from footfall.papers.ott2011.setup import BALANCE


@dataclass(frozen=True)
class Stance:
    """Six freedoms (velocity of the centre of mass, angular velocity of the trunk; world frame) of a standing robot."""

    inertia: np.ndarray  # (6, 6) kg, kg m, kg m2
    stiffness: np.ndarray  # (6,) N/m, N m/rad
    damping: np.ndarray  # (6,) N s/m, N m s/rad
    trunk: np.ndarray  # (6, 6) velocity of the trunk's own centre of mass and its angular velocity, per freedom

    def yields(self, push: ff.Push) -> np.ndarray:
        """(6,) m and rad: how far from its reference a push that lasts holds the robot in this pose."""
        return self.trunk.T @ np.array([*push.force, *push.torque]) / self.stiffness

    def lags(self, amplitude: np.ndarray, period: float) -> np.ndarray:
        """(3,) m, amplitude of the error of a centre of mass whose reference swings by ``amplitude`` (3,) m."""
        pulse = 2.0 * np.pi / period
        driven = pulse**2 * self.inertia @ np.concatenate([amplitude, np.zeros(3)])
        dynamic = np.diag(self.stiffness + 1j * pulse * self.damping) - pulse**2 * self.inertia
        return np.abs(np.linalg.solve(dynamic, driven))[:3]


def stance(name: str, trunk: str, qpos: np.ndarray | None = None) -> Stance:
    """The six freedoms of a robot in a pose (nq,), its home if left out."""
    robot = ff.load_robot(name)
    model = robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = robot.home if qpos is None else qpos
    mujoco.mj_forward(model, data)
    rows = []
    for body in [model.body(foot.body).id for foot in robot.feet]:
        place, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBody(model, data, place, turn, body)
        rows += [place, turn]
    com, place, turn = (np.zeros((3, model.nv)) for _ in range(3))
    mujoco.mj_jacSubtreeCom(model, data, com, 1)
    mujoco.mj_jacBodyCom(model, data, place, turn, model.body(trunk).id)
    motion = np.linalg.solve(np.concatenate([*rows, com, turn]), np.eye(model.nv)[:, -6:])
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    own = gains(BALANCE, size_of(robot, robot.point_count))
    return Stance(
        inertia=motion.T @ inertia @ motion,
        stiffness=np.concatenate([own.stiffness, np.full(3, own.kr)]),
        damping=np.concatenate([own.damping, np.full(3, own.dr)]),
        trunk=np.concatenate([place, turn]) @ motion,
    )
