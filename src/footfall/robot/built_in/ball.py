"""A ball: one free rigid sphere, the simplest thing that touches the ground.

It is the bouncing ball of Rengifo 2009 (section II.A) with a size, so that it can roll. A homogeneous solid
sphere of 0.1 m radius and 1 kg is assumed, inertia 2/5 m r^2. Its one contact point is the centre, with the
radius.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from footfall.robot.built_in.parts import Checked, add_solid, new_robot, set_homogeneous


@dataclass(frozen=True)
class Parameters(Checked):
    """Radius in m, mass in kg."""

    robot = "ball"
    radius: float = 0.1
    mass: float = 1.0


def build(p: Parameters) -> tuple[mujoco.MjSpec, None]:
    """The ball's spec; its foot is found from its sphere."""
    spec, body = new_robot("ball", "ball", at=[0, 0, p.radius])
    set_homogeneous(body, p.mass, "ellipsoid", [2 * p.radius] * 3)
    add_solid(body, "ball", "SPHERE", [0.90, 0.45, 0.20, 1], size=[p.radius, 0, 0])
    return spec, None
