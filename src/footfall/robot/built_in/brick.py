"""A brick: one free rigid box, to slide, tip and drop.

It is the brick on a ramp of Rengifo 2009 (section II.B) with a size. A homogeneous box of 0.2 x 0.1 x 0.06 m
and 1 kg is assumed. The four corners of its bottom face are the contact points of its foot; turned over, it lies on
the points of its body.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from footfall.robot.built_in.parts import Checked, add_solid, new_robot, set_homogeneous


@dataclass(frozen=True)
class Parameters(Checked):
    """Full sizes along x, y, z in m, mass in kg."""

    robot = "brick"
    length: float = 0.2
    width: float = 0.1
    height: float = 0.06
    mass: float = 1.0


def build(p: Parameters) -> tuple[mujoco.MjSpec, None]:
    """The brick's spec; its foot is found from its box."""
    spec, body = new_robot("brick", "brick", at=[0, 0, p.height / 2])
    set_homogeneous(body, p.mass, "box", [p.length, p.width, p.height])
    size = [p.length / 2, p.width / 2, p.height / 2]
    add_solid(body, "brick", "BOX", [0.72, 0.30, 0.22, 1], size=size)
    return spec, None
