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

from footfall.robot.built_in import check_numbers
from footfall.robot.built_in.parts import (
    ANKLE_HEIGHT,
    ANKLE_RANGE,
    FROM_HEIGHT,
    HIP_RANGE,
    HIP_WIDTH,
    KNEE_RANGE,
    SHANK,
    SIDES,
    THIGH,
    Y,
    add_hinge,
    add_leg,
    add_motor,
    check_knee,
    dress_trunk,
    fill_from_height,
    new_robot,
    set_home,
)


@dataclass(frozen=True)
class Parameters:
    """Total mass in kg; height and lengths in m (those left out follow the height).

    ``ankle_height`` is that of the ankle above the sole, ``hip_width`` the distance between the legs in the
    drawing, ``armature`` the reflected rotor inertia at each joint in kg m2 (the paper has none: links only),
    ``knee`` the flexion of both knees in the home pose in rad.
    """

    mass: float = 70.0
    height: float = 1.7
    thigh: float = FROM_HEIGHT
    shank: float = FROM_HEIGHT
    ankle_height: float = FROM_HEIGHT
    foot_length: float = 0.2
    hip_width: float = FROM_HEIGHT
    armature: float = 0.05
    knee: float = 0.3

    def __post_init__(self) -> None:
        check_numbers("planar-biped", self, "height")
        defaults = {"thigh": THIGH, "shank": SHANK, "ankle_height": ANKLE_HEIGHT, "hip_width": HIP_WIDTH}
        fill_from_height(self, defaults)
        check_numbers("planar-biped", self, "mass", "thigh", "shank", "ankle_height", "foot_length", "hip_width")
        check_numbers("planar-biped", self, "armature", zero=True)
        check_knee("planar-biped", self)


def build(p: Parameters) -> tuple[mujoco.MjSpec, dict[str, tuple[str, np.ndarray]]]:
    """The spec and the feet: heel, then toe of each, in the foot's frame (origin at the ankle)."""
    spec, trunk = new_robot("planar-biped", "trunk", planar=True)
    dress_trunk(trunk, p.mass, p.height, p.hip_width)
    half = p.foot_length / 2
    for side in SIDES:
        thigh, shank, foot = add_leg(trunk, side, p, foot_width=0.4 * p.foot_length, ankle_from_heel=half)
        for name, body, limits in (
            ("hip", thigh, HIP_RANGE),
            ("knee", shank, KNEE_RANGE),
            ("ankle", foot, ANKLE_RANGE),
        ):
            add_hinge(body, f"{side}_{name}", Y, limits, p.armature)
            strength = (150.0 if name == "ankle" else 300.0) * p.mass * p.height / (70.0 * 1.7)
            add_motor(spec, f"{side}_{name}", strength)
    sole = np.array([[-half, 0.0, -p.ankle_height], [half, 0.0, -p.ankle_height]])
    feet = {side: (f"{side}_foot", sole) for side in SIDES}
    legs = [f"{side}_{name}" for side in SIDES for name in ("hip", "knee", "ankle")]
    set_home(spec, p.knee, legs, height_joint="root_z", sole_middle=0.0)
    return spec, feet
