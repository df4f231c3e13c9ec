"""What the defaults of a contact law are derived from: the robot on its ground, and the step."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from footfall.ground import Ground
from footfall.robot import Robot
from footfall.standing import point_jacobian, point_positions

#: Standard gravity, m/s2.
EARTH = 9.80665


@dataclass(frozen=True)
class Setting:
    """What defaults may be derived from: the robot, its ground and the step."""

    robot: Robot
    ground: Ground
    dt: float  # s
    carriers: int  # contact points that touch the ground in the home pose
    mobility: float  # 1/kg, largest eigenvalue of the Delassus matrix of all points in the home pose

    @property
    def load(self) -> float:
        """Weight carried by each touching point when the robot stands, N; on Earth, where the model has no gravity,
        for soles and soils do not change with it.
        """
        return (self.robot.weight or EARTH * self.robot.mass) / self.carriers

    @property
    def share(self) -> float:
        """Mass carried by each touching point when the robot stands, kg."""
        return self.robot.mass / self.carriers


def make_setting(robot: Robot, ground: Ground, dt: float) -> Setting:
    """What a law's defaults are derived from, at the robot's home pose."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM, mujoco.mj_factorM):
        stage(robot.model, data)
    heights = point_positions(robot, data)[:, 2] - robot.point_radius
    carriers = int((heights <= heights.min() + 1e-6).sum())
    # All eigenvalues of J M^-1 J^T but zeros are those of M^-1 (J^T J), which stays small for many points.
    jacobian = point_jacobian(robot, data)  # at the lowest place of round points
    solved = np.zeros_like(jacobian)
    mujoco.mj_solveM(robot.model, data, solved, jacobian)
    mobility = float(np.abs(np.linalg.eigvals(solved.T @ jacobian)).max())
    return Setting(robot=robot, ground=ground, dt=dt, carriers=carriers, mobility=mobility)
