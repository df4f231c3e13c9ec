"""The setting from which defaults of contact laws are derived: the robot, its ground, and the step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import AT_JOINT, FREE, HINGE, IMPLICIT, SLIDE, centre_of_mass
from footfall.standing import inertia_of, lowest_places, point_jacobian, point_positions, scratch_data

#: Standard gravity, m/s2.
EARTH = 9.80665
#: Largest height above the lowest point of points that touch the ground when the robot stands, m.
LEVEL = 1e-3
#: Largest share of the stability limit of a step that is ascribed to servos; with more, they ring without contacts.
OF_SERVOS = 0.75


@dataclass(frozen=True)
class Setting:
    """The robot, its ground and the step, and the numbers from which defaults are derived."""

    robot: Robot
    ground: Ground
    dt: float  # s
    carriers: float  # effective number of points that carry the robot at home: 1 over the sum of squared load shares
    largest: float  # share of the weight on the most loaded point
    mobility: float  # 1/kg, largest eigenvalue of the Delassus matrix of all points at home, less the share of servos
    height: float  # m, of the centre of mass above the lowest point in the home pose
    tipping: float  # m, depth at rest on springs so soft that the robot tips; see :func:`tipping_depth`
    size: float  # m, twice the distance from the centre of mass to the farthest contact point in the home pose

    @property
    def load(self) -> float:
        """Load of a point when the robot stands, N: the load-weighted mean over the points.

        Where the model has no gravity, Earth's is used: soles and soils do not depend on it.
        """
        return (self.robot.weight or EARTH * self.robot.mass) / self.carriers

    @property
    def largest_load(self) -> float:
        """Load of the most loaded point when the robot stands, N."""
        return self.load * self.carriers * self.largest

    @property
    def share(self) -> float:
        """Mass carried by each touching point when the robot stands, kg."""
        return self.robot.mass / self.carriers


def make_setting(robot: Robot, ground: Ground, dt: float) -> Setting:
    """The setting of a robot in its home pose."""
    return Setting(robot, ground, dt, mobility=_mobility(robot, dt), **_at_home(robot).numbers)


class _Home(NamedTuple):
    """The parts of a setting that follow from the robot alone."""

    numbers: dict[str, float]  # by their names in :class:`Setting`
    inertia: np.ndarray  # (nv, nv) with what equalities add to it (loops that are closed)
    together: np.ndarray  # (nv, nv) J^T J of all points


@lru_cache(maxsize=16)  # a study makes many simulations of one robot
def _at_home(robot: Robot) -> _Home:
    data = scratch_data(robot.model)
    data.qpos[:] = robot.home
    for stage in ("kinematics", "comPos", "flex", "tendon", "makeM", "makeConstraint"):
        getattr(mujoco, f"mj_{stage}")(robot.model, data)
    centre = centre_of_mass(robot.model, data)
    places = point_positions(robot, data)[:, :2] - centre[:2]
    lowest = lowest_places(robot, data)
    heights = lowest[:, 2]
    height = float(centre[2] - heights.min())
    loads, touching = carried_loads(places, heights - heights.min())
    free = bool(robot.model.njnt) and int(robot.model.jnt_type[0]) == FREE
    jacobian = point_jacobian(robot, data)  # at the lowest place of round points
    numbers = {
        "carriers": _number(1.0 / float(loads @ loads)),
        "largest": float(loads.max()),
        "height": height,
        "tipping": tipping_depth(loads, places[touching], height) if free else math.inf,
        "size": 2.0 * float(np.linalg.norm(lowest - centre, axis=1).max()) or math.inf,
    }
    return _Home(numbers, _inertia(robot.model, data), jacobian.T @ jacobian)


def carried_loads(places: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N,) shares of the weight, as ``standing_loads``, and (P,) which N points carry a robot that is set down.

    These are the lowest points. Where they cannot balance the weight, as with legs of unequal length, points are added
    in the order of their ``heights`` (P,), m, above the lowest, as if the robot settled on them. Where no set of points
    balances the weight, the lowest share it equally.
    """
    for level in np.unique(heights):
        touching = heights <= level + LEVEL
        loads = standing_loads(places[touching])
        if loads is not None:
            return loads, touching
    lowest = heights <= LEVEL
    return np.full(lowest.sum(), 1.0 / lowest.sum()), lowest


def tipping_depth(loads: np.ndarray, places: np.ndarray, height: float) -> float:
    """Depth at rest (m) above which a robot on linear springs tips; infinite where its points do not hold it upright.

    Springs that carry the weight W at depth d have, against a tilt about their centre of pressure, a stiffness of W / d
    times the mean square of their distances from the axis; gravity has a negative stiffness of W times the ``height``
    (m) of the centre of mass.
    """
    spread = np.linalg.eigvalsh((loads[:, None] * places).T @ places)
    upright = np.abs(loads @ places).max() < 1e-6 and spread[0] > 1e-3 * spread[1] and height > 0.0
    return float(spread[0] / height) if upright else math.inf


def standing_loads(places: np.ndarray) -> np.ndarray | None:
    """(P,) most even shares of the weight over points at ``places`` (P, 2), m, relative to the centre of mass.

    The shares with the least sum of squares; None if none balance the weight, as with the centre of mass beside the
    feet.
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
        left = left[found > 0.0]  # points that would have to pull are unloaded
    return None


def _number(carriers: float) -> float:
    """The number, without rounding errors if it is whole."""
    whole = round(carriers)
    return float(whole) if abs(carriers - whole) < 1e-6 else carriers


def _inertia(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    inertia = inertia_of(data)
    for i in range(data.ne):
        row = np.zeros(model.nv)
        mujoco.mj_mulJacTVec(model, data, row, np.eye(data.nefc)[i])
        inertia += data.efc_D[i] * np.outer(row, row)
    return inertia


@lru_cache(maxsize=64)
def _mobility(robot: Robot, dt: float) -> float:
    """Largest eigenvalue of J M^-1 J^T, M being the inertia less the share of servos in steps of ``dt`` (s).

    Springs K and dampers D evaluated at the beginning of a step are stable while 4 M - dt^2 K - 2 dt D is positive
    definite. K and D are sums over joints and contact points; the part of the joints is subtracted from the inertia.
    The mobility is at least that of the robot's mass, for points that cannot move at home, as on the axis of a hinge.
    """
    home = _at_home(robot)
    taken = 0.25 * np.diag(_servo_rates(robot.model, dt))
    most = float(np.abs(np.linalg.eigvals(np.linalg.solve(home.inertia, taken))).max())
    left = home.inertia - taken * min(1.0, OF_SERVOS / max(most, 1e-300))
    # The nonzero eigenvalues of J M^-1 J^T are those of M^-1 (J^T J), a smaller matrix if there are many points.
    return max(float(np.abs(np.linalg.eigvals(np.linalg.solve(left, home.together))).max()), 1.0 / robot.mass)


def _servo_rates(model: mujoco.MjModel, dt: float) -> np.ndarray:
    """(nv,) dt^2 K + 2 dt D of servos at joints whose damping acts on the velocity at the beginning of a step."""
    rates = np.zeros(model.nv)
    if int(model.opt.integrator) in IMPLICIT:
        return rates
    at_joint = np.isin(model.actuator_trntype, AT_JOINT) & (
        model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
    )
    for i in np.flatnonzero(at_joint):
        joint, bias = model.actuator_trnid[i, 0], -(model.actuator_gear[i, 0] ** 2) * model.actuator_biasprm[i]
        if model.jnt_type[joint] in (HINGE, SLIDE):
            rates[model.jnt_dofadr[joint]] += max(0.0, dt * dt * bias[1]) + max(0.0, 2.0 * dt * bias[2])
    return rates
