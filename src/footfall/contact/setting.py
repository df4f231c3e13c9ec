"""What the defaults of a contact law are derived from: the robot on its ground, and the step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.ground import Ground
from footfall.robot import Robot
from footfall.standing import lowest_places, own_data, point_jacobian, point_positions

#: Standard gravity, m/s2.
EARTH = 9.80665
#: Points this little above the lowest one touch the ground when the robot stands, m.
LEVEL = 1e-3


@dataclass(frozen=True)
class Setting:
    """What defaults may be derived from: the robot, its ground and the step."""

    robot: Robot
    ground: Ground
    dt: float  # s
    carriers: float  # contact points that carry the robot in the home pose; less than there are where some carry more
    mobility: float  # 1/kg, largest eigenvalue of the Delassus matrix of all points in the home pose
    height: float  # m, of the centre of mass above the lowest point in the home pose

    @property
    def load(self) -> float:
        """Weight that a touching point carries when the robot stands, N; the mean over the weight where they differ.

        On Earth, where the model has no gravity, for soles and soils do not change with it.
        """
        return (self.robot.weight or EARTH * self.robot.mass) / self.carriers

    @property
    def share(self) -> float:
        """Mass carried by each touching point when the robot stands, kg."""
        return self.robot.mass / self.carriers


def make_setting(robot: Robot, ground: Ground, dt: float) -> Setting:
    """What a law's defaults are derived from, at the robot's home pose."""
    return Setting(robot, ground, dt, *_at_home(robot))


class _Home(NamedTuple):
    """What a setting has from the robot alone."""

    carriers: float
    mobility: float
    height: float  # m


@lru_cache(maxsize=16)  # a study makes many simulations of one robot
def _at_home(robot: Robot) -> _Home:
    data = own_data(robot.model)
    data.qpos[:] = robot.home
    for stage in ("kinematics", "comPos", "flex", "tendon", "makeM", "makeConstraint"):
        getattr(mujoco, f"mj_{stage}")(robot.model, data)
    places = point_positions(robot, data)
    heights = lowest_places(robot, data)[:, 2]
    touching = heights <= heights.min() + LEVEL
    loads = standing_loads(places[touching, :2] - data.subtree_com[0, :2])
    return _Home(
        carriers=_number(1.0 / float(loads @ loads)),
        mobility=_mobility(robot, data),
        height=float(data.subtree_com[0, 2] - heights.min()),
    )


def standing_loads(places: np.ndarray) -> np.ndarray:
    """(P,) shares of the weight over points at ``places`` (P, 2), m, from below the centre of mass: the most even.

    The least sum of squares that balances the weight; equal shares where none does, as beside the feet.
    """
    left = np.arange(len(places))
    shares = np.zeros(len(places))
    wanted = np.array([1.0, 0.0, 0.0])
    scale = max(float(np.abs(places).max()), 1e-9)
    while left.size:
        rows = np.stack([np.ones(left.size), *(places[left].T / scale)])
        found = np.linalg.lstsq(rows, wanted, rcond=1e-9)[0]
        if np.abs(rows @ found - wanted).max() > 1e-6:
            break
        if found.min() >= 0.0:
            shares[left] = found
            return shares
        left = left[found > 0.0]  # what would have to pull carries nothing
    return np.full(len(places), 1.0 / len(places))


def _number(carriers: float) -> float:
    """Whole where it is but for rounding."""
    whole = round(carriers)
    return float(whole) if abs(carriers - whole) < 1e-6 else carriers


def _mobility(robot: Robot, data: mujoco.MjData) -> float:
    """Largest eigenvalue of J M^-1 J^T, M with the inertia that equalities add (loops that are closed)."""
    model = robot.model
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    for i in range(data.ne):
        row = np.zeros(model.nv)
        mujoco.mj_mulJacTVec(model, data, row, np.eye(data.nefc)[i])
        inertia += data.efc_D[i] * np.outer(row, row)
    # All eigenvalues of J M^-1 J^T but zeros are those of M^-1 (J^T J), which stays small for many points.
    jacobian = point_jacobian(robot, data)  # at the lowest place of round points
    return float(np.abs(np.linalg.eigvals(np.linalg.solve(inertia, jacobian.T @ jacobian))).max())
