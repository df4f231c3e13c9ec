"""How large and heavy a robot is: what gains, step lengths and speeds are scaled by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.robot import Robot
from footfall.robot.model import moving_bodies
from footfall.standing import at_home


class Size(NamedTuple):
    """What gains follow from."""

    mass: float  # kg
    inertia: float  # kg m2, about a horizontal axis through the centre of mass, standing
    height: float  # m, of the centre of mass
    gravity: np.ndarray  # (3,) m/s2
    points: int  # contact points

    @property
    def rate(self) -> float:
        """1/s2, at which an inverted pendulum of this height falls: g/h."""
        return float(np.linalg.norm(self.gravity)) / self.height


def size_of(robot: Robot, points: int) -> Size:
    """Mass, inertia and height of a robot that stands at home; what else moves in its scene is not its own."""
    model = robot.model
    data = at_home(robot)
    moving = moving_bodies(model) & (model.body_rootid == model.body_rootid[robot.point_body[0]])
    mass, places = model.body_mass[moving], data.xipos[moving]
    com = mass @ places / mass.sum()
    inertia = 0.0
    for body in np.flatnonzero(moving):
        axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - com
        own = axes**2 @ model.body_inertia[body]  # the diagonal, in the world's axes
        inertia += 0.5 * (own[0] + own[1] + model.body_mass[body] * (arm @ arm + arm[2] ** 2))
    height = max(float(com[2]), 1e-3)
    return Size(float(mass.sum()), float(inertia), height, robot.gravity, points)
