"""A walk to begin the search with: the hips at constant height and speed, the swing leg bent."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.errors import GaitError
from footfall.gait.legs import Legs
from footfall.gait.polynomial import PolynomialGait, cubics, swapped
from footfall.robot import Robot

BEND = 0.5  # rad, of the swing knee in the middle of its cubic
CROUCH = 0.97  # of the height at which the longer leg would be as bent as in the home pose


def first_guess(robot: Robot, legs: Legs, speed: float, length: float) -> PolynomialGait:
    """Steps of ``length`` (m) at ``speed`` (m/s), trunk upright, feet flat and at rest at both ends of a step."""
    from scipy.optimize import least_squares

    model = robot.model
    data = mujoco.MjData(model)
    reach = float(robot.home[1])
    height = CROUCH * np.sqrt(max(reach**2 - (0.5 * length) ** 2, (0.5 * reach) ** 2))
    at = np.array([[0.5 * length, 0.0, 0.0], [-0.5 * length, 0.0, 0.0]])  # stance foot ahead: a touch-down

    def places(joints: np.ndarray) -> np.ndarray:
        data.qpos[:] = [0.0, height, 0.0, *joints]
        mujoco.mj_kinematics(model, data)
        found = []
        for foot in range(2):
            ends = data.xpos[legs.body[foot]] + legs.ends[foot] @ data.xmat[legs.body[foot]].reshape(3, 3).T
            pitch = joints[foot * legs.size : (foot + 1) * legs.size].sum()
            found.append([ends[:, 0].mean(), ends[:, 2].mean(), pitch])
        return np.array(found)

    solution = least_squares(lambda joints: (places(joints) - at).ravel(), robot.home[3:], xtol=1e-14, gtol=1e-14)
    if np.abs(solution.fun).max() > 1e-6:
        raise GaitError(f"{robot.name} cannot stand with its feet {length:.3g} m apart: ask for shorter steps")
    q0 = solution.x
    places(q0)
    mujoco.mj_comPos(model, data)
    v0 = np.zeros(2 * legs.size)
    for foot in range(2):
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBody(model, data, linear, angular, legs.body[foot])
        jacobian = np.stack([linear[0], linear[2], angular[1]])
        own = slice(foot * legs.size, (foot + 1) * legs.size)
        v0[own] = np.linalg.solve(jacobian[:, 3:][:, own], -speed * jacobian[:, 0])
    duration = length / speed
    vT = swapped(v0)
    # End rates of +-4 b / T make a cubic bulge by b; hip and ankle take half of the knee's each: the foot stays flat.
    bulge = 4.0 * BEND / duration * np.array([0.0, 0.0, 0.0, -0.5, 1.0, -0.5])
    coefficients = np.array(cubics(q0, swapped(q0), v0 + bulge, vT - bulge, duration))
    return PolynomialGait(robot.name, legs.joints, coefficients, duration, length)
