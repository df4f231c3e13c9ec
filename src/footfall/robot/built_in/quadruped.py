"""A four-legged robot with three motors a leg and round point feet, of the size of a large dog.

No one machine: round numbers in the class of the Unitree A1 (12 kg, links of 0.20 m) and ANYmal (30 kg, 0.25 m
and more). Assumed: 15 kg; a trunk of 0.40 x 0.20 x 0.11 m with 0.56 of the mass; each leg a hip motor (0.045),
a thigh (0.050) and a shank with its foot (0.015), thigh and shank 0.21 m long; hip joints at the trunk's ends,
0.10 m apart, the leg's plane 0.08 m further out; feet are balls of 0.02 m radius. All parts are homogeneous: the
trunk a box, the others cylinders along their axes. Rotors of 0.01 kg m2 reflected through gears and joint
damping of 0.05 N m s/rad; motors of 40 N m, which is about the A1's for the mass.

Legs are FL, FR, RL, RR (front, rear; left, right), joints hip_roll, hip_pitch, knee_pitch. x is forward, y left,
z up; all four knees point back: a thigh that leans back is positive, a bent knee negative. At home the feet stand
under the hips, so the centre of mass lies a little behind their middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco

from footfall.robot.built_in import parts
from footfall.robot.built_in.parts import COLOURS, DARK, GREY, Hinge, add_capsule, add_solid

LEGS = {"FL": (1.0, 1.0), "FR": (1.0, -1.0), "RL": (-1.0, 1.0), "RR": (-1.0, -1.0)}  # signs of x and y
TRUNK_MASS, HIP_MASS, THIGH_MASS, SHANK_MASS = 0.56, 0.045, 0.050, 0.015  # of the whole; of one leg
HIP_RADIUS, THIGH_RADIUS, SHANK_RADIUS = 0.045, 0.024, 0.012  # m
#: Torques at 15 kg and legs of 0.42 m.
JOINTS = (
    Hinge("hip_roll", "x", (-0.8, 0.8), 40.0),
    Hinge("hip_pitch", "y", (-1.2, 2.6), 40.0),
    Hinge("knee_pitch", "y", (-2.7, -0.05), 40.0),
)


@dataclass(frozen=True)
class Parameters(parts.Checked):
    """Total mass in kg; lengths in m.

    ``length``, ``width`` and ``height`` are those of the trunk, ``hip_width`` is the distance between left and
    right hip joints, ``hip_offset`` that from a hip joint out to the leg's plane, ``armature`` the reflected
    rotor inertia at each joint in kg m2, ``damping`` that of each joint in N m s/rad, ``knee`` the flexion of
    all knees in the home pose in rad.
    """

    robot = "quadruped"
    mass: float = 15.0
    length: float = 0.40
    width: float = 0.20
    height: float = 0.11
    hip_width: float = 0.10
    hip_offset: float = 0.08
    thigh: float = 0.21
    shank: float = 0.21
    foot_radius: float = 0.02
    armature: float = 0.01
    damping: float = 0.05
    knee: float = 1.4


def build(p: Parameters) -> tuple[mujoco.MjSpec, dict[str, str]]:
    """The spec, and the ball each leg stands on."""
    spec, trunk = parts.new_robot("quadruped", "trunk")
    _dress_trunk(trunk, p)
    for leg in LEGS:
        for link, hinge in zip(_add_leg(trunk, leg, p), JOINTS, strict=True):
            parts.add_joints(spec, link, leg, [hinge], p, p.mass * (p.thigh + p.shank) / (15.0 * 0.42))
    parts.stand_on_points(spec, p, -1.0, len(LEGS))
    return spec, {leg: f"{leg}_foot" for leg in LEGS}


def _dress_trunk(trunk: Any, p: Parameters) -> None:
    parts.set_homogeneous(trunk, TRUNK_MASS * p.mass, "box", [p.length, p.width, p.height])
    x, y, z = p.length / 2, p.width / 2, p.height / 2
    for name, rgba, at, half in (
        ("trunk", GREY, [0, 0, 0], [x, 0.8 * y, z]),
        ("back", DARK, [-0.02, 0, z], [0.7 * x, 0.55 * y, 0.2 * z]),
        ("head", DARK, [x + 0.04, 0, 0.2 * z], [0.04, 0.5 * y, 0.6 * z]),
        ("eyes", GREY, [x + 0.08, 0, 0.35 * z], [0.004, 0.4 * y, 0.2 * z]),
    ):
        add_solid(trunk, name, "BOX", rgba, pos=at, size=half)


def _add_leg(trunk: Any, leg: str, p: Parameters) -> tuple[Any, Any, Any]:
    """Hip, thigh and shank of one leg (no joints yet), each with its origin at its upper joint."""
    fore, out = LEGS[leg]
    colour = COLOURS["left" if out > 0 else "right"]
    hip = trunk.add_body(name=f"{leg}_hip", pos=[fore * p.length / 2, out * p.hip_width / 2, 0])
    thigh = hip.add_body(name=f"{leg}_thigh", pos=[0, out * p.hip_offset, 0])
    shank = thigh.add_body(name=f"{leg}_shank", pos=[0, 0, -p.thigh])
    for body, share, axis, length, radius, middle in (
        (hip, HIP_MASS, 1, p.hip_offset, HIP_RADIUS, [0, out * p.hip_offset / 2, 0]),
        (thigh, THIGH_MASS, 2, p.thigh, THIGH_RADIUS, [0, 0, -p.thigh / 2]),
        (shank, SHANK_MASS, 2, p.shank, SHANK_RADIUS, [0, 0, -p.shank / 2]),
    ):
        size = [2 * radius] * 3
        size[axis] = length
        parts.set_homogeneous(body, share * p.mass, "cylinder", size, middle, axis)
    for body, name, rgba, inner, outer in ((hip, "hip", DARK, 0.15, 0.65), (thigh, "motor", colour, -0.28, 0.3)):
        ends = [0, inner * out * p.hip_offset, 0, 0, outer * out * p.hip_offset, 0]
        add_solid(body, f"{leg}_{name}", "CYLINDER", rgba, fromto=ends, size=[HIP_RADIUS, 0, 0])
    add_capsule(thigh, f"{leg}_thigh", [0, 0, 0], [0, 0, -p.thigh], THIGH_RADIUS, colour)
    add_capsule(shank, f"{leg}_shank", [0, 0, 0], [0, 0, -p.shank], min(SHANK_RADIUS, p.foot_radius / 2), DARK)
    add_solid(shank, f"{leg}_foot", "SPHERE", DARK, pos=[0, 0, -p.shank], size=[p.foot_radius, 0, 0])
    return hip, thigh, shank
