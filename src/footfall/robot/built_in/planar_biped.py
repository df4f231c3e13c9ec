"""The planar biped of Bravo and Rengifo 2021: seven links in the sagittal plane, 9 coordinates, 6 motors.

The paper gives the structure (trunk, two thighs, two shanks, two feet; x, z and pitch of the base; hip, knee
and ankle of each leg), heel and toe as the four contact points, and the foot length 0.2 m. Its condition
|p_x| < l_f / 2 puts the ankle over the middle of the sole. Masses and lengths are not printed: those of a
human of 70 kg and 1.7 m are assumed, by the fractions of Winter, Biomechanics and Motor Control of Human
Movement, 4th ed., table 4.1 and figure 4.1. x is forward, y left, z up; angles turn about y, so a flexed hip
is negative and a flexed knee positive. The legs are drawn hip_width apart, which changes nothing in the
plane.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from footfall.robot.built_in import parts
from footfall.robot.built_in.parts import FROM_HEIGHT, SIDES, Hinge

#: Torques of a human of 70 kg and 1.7 m.
JOINTS = (
    Hinge("hip", "y", parts.HIP_RANGE, 300.0),
    Hinge("knee", "y", parts.KNEE_RANGE, 300.0),
    Hinge("ankle", "y", parts.ANKLE_RANGE, 150.0),
)


@dataclass(frozen=True)
class Parameters(parts.Checked):
    """Total mass in kg; height and lengths in m (those left out follow the height).

    ``ankle_height`` is that of the ankle above the sole, ``hip_width`` the distance between the legs in the
    drawing, ``armature`` the reflected rotor inertia at each joint in kg m2 (the paper has none: links only),
    ``knee`` the flexion of both knees in the home pose in rad.
    """

    robot = "planar-biped"
    fractions = parts.LENGTHS
    mass: float = 70.0
    height: float = 1.7
    thigh: float = FROM_HEIGHT
    shank: float = FROM_HEIGHT
    ankle_height: float = FROM_HEIGHT
    foot_length: float = 0.2
    hip_width: float = FROM_HEIGHT
    armature: float = 0.05
    knee: float = 0.3


def build(p: Parameters) -> tuple[mujoco.MjSpec, dict[str, tuple[str, np.ndarray]]]:
    """The spec and the feet: heel, then toe of each, in the foot's frame (origin at the ankle)."""
    spec, trunk = parts.new_robot("planar-biped", "trunk", planar=True)
    parts.dress_trunk(trunk, p.mass, p.height, p.hip_width)
    half = p.foot_length / 2
    for side in SIDES:
        links = parts.add_leg(trunk, side, p, foot_width=0.4 * p.foot_length, ankle_from_heel=half)
        for link, hinge in zip(links, JOINTS, strict=True):
            parts.add_joints(spec, link, side, [hinge], p, p.mass * p.height / (70.0 * 1.7))
    sole = np.array([[-half, 0.0, -p.ankle_height], [half, 0.0, -p.ankle_height]])
    parts.set_home(spec, p.knee, sole_middle=0.0)
    return spec, {side: (f"{side}_foot", sole) for side in SIDES}
