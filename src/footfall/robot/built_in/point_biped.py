"""A biped on two round point feet with three motors a leg, of the size of a child of one year.

No one machine: round numbers in the class of Bolt of the Open Dynamic Robot Initiative (three motors a leg, links of
0.2 m, feet of balls), built stronger and heavier. Assumed: 12 kg; a trunk of 0.18 x 0.26 x 0.28 m with 0.72 of the
mass, its middle 0.10 m over the hips; each leg a thigh (0.10) with the motors at its upper end, its centre of mass at a
quarter of its length, and a shank (0.04), its own in the middle; thigh and shank 0.25 m long, hip joints 0.20 m apart;
feet are balls of 0.02 m radius. The trunk is a homogeneous box, thighs and shanks are homogeneous cylinders as to their
inertia. Rotors of 0.01 kg m2 reflected through gears and joint damping of 0.05 N m s/rad; motors of 50 N m.

Joints are hip_roll, hip_pitch, knee_pitch of the left and of the right leg. x is forward, y left, z up; a flexed hip is
negative, a flexed knee positive. At home the feet stand under the hips. Two points are no area to stand on: without
steps it falls forwards or backwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco

from footfall.robot.built_in import parts
from footfall.robot.built_in.parts import COLOURS, DARK, GREY, SIDES, Hinge, add_capsule, add_solid

TRUNK_MASS, THIGH_MASS, SHANK_MASS = 0.72, 0.10, 0.04  # of the whole; of one leg
THIGH_COM, SHANK_COM = 0.25, 0.5  # of the length, from the upper joint
THIGH_RADIUS, SHANK_RADIUS = 0.030, 0.014  # m
#: Torques at 12 kg and legs of 0.5 m.
HIP = (Hinge("hip_roll", "x", (-0.7, 0.7), 50.0), Hinge("hip_pitch", "y", (-1.8, 1.2), 50.0))
KNEE = (Hinge("knee_pitch", "y", parts.KNEE_RANGE, 50.0),)


@dataclass(frozen=True)
class Parameters(parts.Checked):
    """Total mass in kg; lengths in m.

    ``depth``, ``width`` and ``height`` are those of the trunk, ``trunk_middle`` is that of its middle over the hips,
    ``hip_width`` the distance between the hip joints, ``armature`` the reflected rotor inertia at each joint in kg m2,
    ``damping`` that of each joint in N m s/rad, ``knee`` the flexion of both knees in the home pose in rad.
    """

    robot = "point-biped"
    mass: float = 12.0
    depth: float = 0.18
    width: float = 0.26
    height: float = 0.28
    trunk_middle: float = 0.10
    hip_width: float = 0.20
    thigh: float = 0.25
    shank: float = 0.25
    foot_radius: float = 0.02
    armature: float = 0.01
    damping: float = 0.05
    knee: float = 0.8


def build(p: Parameters) -> tuple[mujoco.MjSpec, dict[str, str]]:
    """The spec, and the ball each leg stands on."""
    spec, trunk = parts.new_robot("point-biped", "trunk")
    size, middle = [p.depth, p.width, p.height], [0, 0, p.trunk_middle]
    parts.set_homogeneous(trunk, TRUNK_MASS * p.mass, "box", size, middle)
    add_solid(trunk, "chest", "BOX", GREY, pos=middle, size=[p.depth / 2, p.width / 2, p.height / 2])
    face = [p.depth / 2, 0, p.trunk_middle + 0.25 * p.height]
    add_solid(trunk, "eyes", "BOX", DARK, pos=face, size=[0.03 * p.depth, 0.35 * p.width, 0.08 * p.height])
    for side in SIDES:
        for link, hinges in zip(_add_leg(trunk, side, p), (HIP, KNEE), strict=True):
            parts.add_joints(spec, link, side, hinges, p, p.mass * (p.thigh + p.shank) / (12.0 * 0.5))
    parts.stand_on_points(spec, p, 1.0, len(SIDES))
    return spec, {side: f"{side}_foot" for side in SIDES}


def _add_leg(trunk: Any, side: str, p: Parameters) -> tuple[Any, Any]:
    """Thigh and shank of one leg (no joints yet), each with its origin at its upper joint."""
    thigh = trunk.add_body(name=f"{side}_thigh", pos=[0, SIDES[side] * p.hip_width / 2, 0])
    shank = thigh.add_body(name=f"{side}_shank", pos=[0, 0, -p.thigh])
    for body, share, length, radius, middle in (
        (thigh, THIGH_MASS, p.thigh, THIGH_RADIUS, THIGH_COM),
        (shank, SHANK_MASS, p.shank, SHANK_RADIUS, SHANK_COM),
    ):
        size = [2 * radius, 2 * radius, length]
        parts.set_homogeneous(body, share * p.mass, "cylinder", size, [0, 0, -middle * length])
        add_capsule(body, body.name, [0, 0, 0], [0, 0, -length], min(radius, 0.7 * p.foot_radius), COLOURS[side])
    ends = [0, -1.6 * THIGH_RADIUS, 0, 0, 1.6 * THIGH_RADIUS, 0]
    add_solid(thigh, f"{side}_motor", "CYLINDER", DARK, fromto=ends, size=[1.5 * THIGH_RADIUS, 0, 0])
    add_solid(shank, f"{side}_foot", "SPHERE", DARK, pos=[0, 0, -p.shank], size=[p.foot_radius, 0, 0])
    return thigh, shank
