"""A humanoid of half a metre in the class of Fujitsu's Hoap-2, which squats on a force plate in Moraud, Hale and Cheng
2008: 25 joints, 7 kg.

The paper prints none of its dimensions. Known of Hoap-2: 25 joints (six a leg, four an arm, one a hand, two in the
neck, one in the waist), height 0.5 m, mass about 7 kg. Assumed here (all in ``LINKS``): the share of mass of each link,
all links homogeneous; thigh and shank 0.10 m, ankle 0.037 m above the sole, hip joints 0.078 m apart, soles of
0.098 x 0.063 m with the ankle 0.04 m from the heel; the waist bends forward; motors of 8 N m in the legs, with
reflected rotors of 0.01 kg m2; joint damping of 0.01 N m s/rad.

x is forward, y left, z up; a flexed hip, shoulder or elbow is negative, a flexed knee positive.
"""

from __future__ import annotations

from dataclasses import dataclass

from footfall.robot.built_in.parts import Hinge, Link, Size, build_biped, total_mass

HEIGHT = 0.5  # m, of the table below with straight legs

WAIST = (Hinge("waist_pitch", "y", (-0.1, 1.5), 8.0),)
NECK = (Hinge("neck_yaw", "z", (-1.0, 1.0), 0.6), Hinge("neck_pitch", "y", (-0.6, 1.0), 0.6))
SHOULDER = (
    Hinge("shoulder_pitch", "y", (-2.6, 1.5), 3.0),
    Hinge("shoulder_roll", "x", (-0.1, 1.6), 3.0),
    Hinge("shoulder_yaw", "z", (-1.5, 1.5), 2.0),
)
ELBOW = (Hinge("elbow_pitch", "y", (-2.0, 0.1), 2.0),)
HAND = (Hinge("hand_grip", "x", (-1.0, 0.1), 0.4),)
HIP = (
    Hinge("hip_yaw", "z", (-0.8, 0.8), 8.0),
    Hinge("hip_roll", "x", (-0.5, 0.5), 8.0),
    Hinge("hip_pitch", "y", (-1.4, 1.2), 8.0),
)
KNEE = (Hinge("knee_pitch", "y", (0.0, 2.3), 8.0),)
ANKLE = (Hinge("ankle_pitch", "y", (-1.1, 1.0), 8.0), Hinge("ankle_roll", "x", (-0.4, 0.4), 8.0))
# name, parent, joint in the parent's frame, kg, solid, its size, its middle in the link's frame
LINKS = (
    Link("pelvis", "", (0, 0, 0), 0.90, "box", (0.070, 0.100, 0.062), (0, 0, 0.031), dark=True),
    Link("trunk", "pelvis", (0, 0, 0.055), 2.29, "box", (0.090, 0.130, 0.125), (0, 0, 0.070), WAIST),
    Link("head", "trunk", (0, 0, 0.135), 0.35, "ellipsoid", (0.080, 0.075, 0.075), (0, 0, 0.0355), NECK),
    Link(
        "upper_arm", "trunk", (0, 0.092, 0.110), 0.25, "cylinder", (0.042, 0.042, 0.10), (0, 0, -0.05), SHOULDER, True
    ),
    Link("forearm", "upper_arm", (0, 0, -0.10), 0.15, "cylinder", (0.036, 0.036, 0.08), (0, 0, -0.04), ELBOW, True),
    Link("hand", "forearm", (0, 0, -0.085), 0.05, "box", (0.026, 0.012, 0.036), (0, 0, -0.018), HAND, True, True),
    Link("thigh", "pelvis", (0, 0.039, 0), 0.65, "cylinder", (0.050, 0.050, 0.10), (0, 0, -0.05), HIP, True),
    Link("shank", "thigh", (0, 0, -0.10), 0.35, "cylinder", (0.044, 0.044, 0.10), (0, 0, -0.05), KNEE, True),
    Link("foot", "shank", (0, 0, -0.10), 0.28, "box", (0.098, 0.063, 0.014), (0.009, 0, -0.030), ANKLE, True, True),
)


@dataclass(frozen=True)
class Parameters(Size):
    __doc__ = Size.__doc__

    robot, links, tall = "small-humanoid", LINKS, HEIGHT
    mass: float = total_mass(LINKS)
    height: float = HEIGHT
    armature: float = 0.01
    damping: float = 0.01
    knee: float = 0.5


build = build_biped
