"""A humanoid of human size in the class of CB, which Moraud, Hale and Cheng 2008 let sway its hips: 50 joints, 92 kg.

The paper prints the 50 joints and the rectangular feet. Published for CB (Cheng and others, Advanced Robotics 21,
2007): 1.57 m, 92 kg, seven joints a leg, seven an arm, six a hand, three in the waist, three in the neck, two an eye.
Assumed here (all in ``LINKS``): masses of arms and legs by the human fractions of Winter (see ``human.py``), the rest
in pelvis, trunk and head; all links homogeneous; thigh and shank 0.38 m, ankle 0.09 m above the sole, hip joints
0.18 m apart, soles of 0.25 x 0.13 m with the ankle 0.09 m from the heel; a hand is a palm, a thumb that spreads and
bends, an index and the other fingers as one, with two joints each; motors of about a strong man's torque, with
reflected rotors (the hydraulic drives' moving mass) of 0.1 kg m2 in the knees; joint damping of 0.2 N m s/rad.

x is forward, y left, z up; a flexed hip, shoulder or elbow is negative, a flexed knee positive; palms face the thighs.
"""

from __future__ import annotations

from dataclasses import dataclass

from footfall.robot.built_in.parts import Hinge, Link, Size, build_biped, total_mass

HEIGHT = 1.57  # m, of the table below with straight legs

WAIST = (
    Hinge("waist_yaw", "z", (-0.8, 0.8), 200.0),
    Hinge("waist_roll", "x", (-0.5, 0.5), 300.0),
    Hinge("waist_pitch", "y", (-0.4, 1.0), 300.0),
)
NECK = (
    Hinge("neck_yaw", "z", (-1.2, 1.2), 20.0),
    Hinge("neck_roll", "x", (-0.5, 0.5), 20.0),
    Hinge("neck_pitch", "y", (-0.6, 0.8), 20.0),
)
EYE = (Hinge("eye_pan", "z", (-0.6, 0.6), 0.5), Hinge("eye_tilt", "y", (-0.5, 0.5), 0.5))
SHOULDER = (
    Hinge("shoulder_pitch", "y", (-3.0, 0.9), 100.0),
    Hinge("shoulder_roll", "x", (-0.2, 2.6), 100.0),
    Hinge("shoulder_yaw", "z", (-1.2, 1.2), 60.0),
)
ELBOW = (Hinge("elbow_pitch", "y", (-2.4, 0.1), 80.0),)
WRIST = (
    Hinge("wrist_yaw", "z", (-1.4, 1.4), 20.0),
    Hinge("wrist_pitch", "y", (-0.8, 0.8), 20.0),
    Hinge("wrist_roll", "x", (-0.8, 0.8), 20.0),
)
THUMB = (Hinge("thumb_spread", "z", (-0.8, 0.8), 3.0), Hinge("thumb_bend", "y", (-0.5, 1.2), 3.0))
HIP = (
    Hinge("hip_yaw", "z", (-0.8, 0.8), 150.0),
    Hinge("hip_roll", "x", (-0.6, 0.6), 250.0),
    Hinge("hip_pitch", "y", (-2.1, 0.7), 300.0),
)
KNEE = (Hinge("knee_pitch", "y", (0.0, 2.4), 350.0),)
ANKLE = (
    Hinge("ankle_pitch", "y", (-0.9, 0.9), 250.0),
    Hinge("ankle_roll", "x", (-0.5, 0.5), 200.0),
    Hinge("ankle_yaw", "z", (-0.5, 0.5), 100.0),
)
# Fingers close inwards.
INDEX, INDEX_TIP, FINGERS, FINGERS_TIP = (
    (Hinge(name, "x", (-1.6, 0.1), 3.0),) for name in ("index_bend", "index_tip", "fingers_bend", "fingers_tip")
)
# name, parent, joint in the parent's frame, kg, solid, its size, its middle in the link's frame
LINKS = (
    Link("pelvis", "", (0, 0, 0), 14.0, "box", (0.16, 0.22, 0.12), (0, 0, 0.03), dark=True),
    Link("trunk", "pelvis", (0, 0, 0.10), 33.9, "box", (0.20, 0.30, 0.42), (0, 0, 0.21), WAIST),
    Link("head", "trunk", (0, 0, 0.42), 4.9, "ellipsoid", (0.18, 0.15, 0.21), (0, 0, 0.095), NECK),
    Link("eye", "head", (0.072, 0.032, 0.11), 0.05, "ellipsoid", (0.04, 0.04, 0.04), (0, 0, 0), EYE, True, True),
    Link("upper_arm", "trunk", (0, 0.205, 0.36), 2.6, "cylinder", (0.09, 0.09, 0.28), (0, 0, -0.14), SHOULDER, True),
    Link("forearm", "upper_arm", (0, 0, -0.28), 1.5, "cylinder", (0.075, 0.075, 0.25), (0, 0, -0.125), ELBOW, True),
    Link("palm", "forearm", (0, 0, -0.25), 0.25, "box", (0.08, 0.03, 0.09), (0, 0, -0.05), WRIST, True, True),
    Link("thumb", "palm", (0.04, -0.01, -0.04), 0.10, "box", (0.02, 0.02, 0.06), (0.01, 0, -0.03), THUMB, True),
    Link("index", "palm", (0.028, 0, -0.095), 0.05, "box", (0.02, 0.02, 0.045), (0, 0, -0.0225), INDEX, True),
    Link("index_tip", "index", (0, 0, -0.045), 0.03, "box", (0.018, 0.018, 0.035), (0, 0, -0.0175), INDEX_TIP, True),
    Link("fingers", "palm", (-0.012, 0, -0.095), 0.07, "box", (0.05, 0.02, 0.045), (0, 0, -0.0225), FINGERS, True),
    Link("fingers_tip", "fingers", (0, 0, -0.045), 0.05, "box", (0.05, 0.018, 0.04), (0, 0, -0.02), FINGERS_TIP, True),
    Link("thigh", "pelvis", (0, 0.09, 0), 9.2, "cylinder", (0.14, 0.14, 0.38), (0, 0, -0.19), HIP, True),
    Link("shank", "thigh", (0, 0, -0.38), 4.3, "cylinder", (0.11, 0.11, 0.38), (0, 0, -0.19), KNEE, True),
    Link("foot", "shank", (0, 0, -0.38), 1.4, "box", (0.25, 0.13, 0.035), (0.035, 0, -0.0725), ANKLE, True, True),
)


@dataclass(frozen=True)
class Parameters(Size):
    __doc__ = Size.__doc__

    robot, links, tall = "full-humanoid", LINKS, HEIGHT
    mass: float = total_mass(LINKS)
    height: float = HEIGHT
    armature: float = 0.1
    damping: float = 0.2
    knee: float = 0.4


build = build_biped
