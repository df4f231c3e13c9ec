"""A brick: one free rigid box, to slide, tip and drop.

It is the brick on a ramp of Rengifo 2009 (section II.B) with a size. A homogeneous box of 0.2 x 0.1 x 0.06 m
and 1 kg is assumed. The four corners of its bottom face are its contact points, so it is meant to stay on
that face: turned over, it falls through the ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from footfall.robot.built_in import CONAFFINITY, CONTYPE, check_number


@dataclass(frozen=True)
class Parameters:
    """Full sizes along x, y, z in m, mass in kg."""

    length: float = 0.2
    width: float = 0.1
    height: float = 0.06
    mass: float = 1.0

    def __post_init__(self) -> None:
        for name in ("length", "width", "height", "mass"):
            check_number("brick", name, getattr(self, name))


def build(p: Parameters) -> tuple[mujoco.MjSpec, None]:
    """The brick's spec; its foot is found from its box."""
    spec = mujoco.MjSpec()
    spec.modelname = "brick"
    body = spec.worldbody.add_body(name="brick", pos=[0, 0, p.height / 2])
    body.mass, body.ipos, body.explicitinertial = p.mass, [0, 0, 0], True
    x2, y2, z2 = p.length**2, p.width**2, p.height**2
    body.inertia = [p.mass / 12 * (y2 + z2), p.mass / 12 * (x2 + z2), p.mass / 12 * (x2 + y2)]
    body.add_freejoint(name="base")
    body.add_geom(
        name="brick",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[p.length / 2, p.width / 2, p.height / 2],
        mass=0,
        contype=CONTYPE,
        conaffinity=CONAFFINITY,
        rgba=[0.72, 0.30, 0.22, 1],
    )
    return spec, None
