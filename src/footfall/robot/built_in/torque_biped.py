"""The torque-controlled biped of Ott, Roa and Hirzinger 2011: two legs of six joints, a trunk, 8 contact points.

The paper gives the structure of the DLR-Biped: six torque-controlled joints a leg, built of the drives of the
DLR-KUKA light-weight arm, a trunk with an inertial unit, and eight contact points for the force distribution; it
prints no mass, length or pose. Assumed here (all in ``LINKS``): 50 kg, of which the trunk with computers and
batteries has 18, a thigh 8.5, a shank 5 and a foot 2.5; homogeneous links, thigh and shank 0.40 m, ankle
0.10 m above the sole, hip joints 0.20 m apart, rectangular soles of 0.22 x 0.12 m with the ankle 0.08 m from the
heel; 1.25 m tall with straight legs. Three hip axes (yaw, roll, pitch) meet in a point, as do ankle pitch and roll.
Torques are of the size of the arm's joints, 176 N m as in its shoulder for hips and knees, 100 N m as in its elbow for
hip yaw and ankles. Rotors of 0.1 kg m2 reflected through the gears (160:1); the knees of the home
pose are bent by 0.7 rad, the centre of mass is over the middle of the soles.

x is forward, y left, z up; a flexed hip is negative, a flexed knee positive.
"""

from __future__ import annotations

from dataclasses import dataclass

from footfall.robot.built_in.parts import Hinge, Link, Size, build_biped, total_mass

HEIGHT = 1.25  # m, of the table below with straight legs

HIP = (
    Hinge("hip_yaw", "z", (-0.8, 0.8), 100.0),
    Hinge("hip_roll", "x", (-0.6, 0.6), 176.0),
    Hinge("hip_pitch", "y", (-2.1, 0.7), 176.0),
)
KNEE = (Hinge("knee_pitch", "y", (0.0, 2.5), 176.0),)
ANKLE = (
    Hinge("ankle_pitch", "y", (-1.0, 0.9), 100.0),
    Hinge("ankle_roll", "x", (-0.6, 0.6), 100.0),
)
# name, parent, joint in the parent's frame, kg, solid, its size, its middle in the link's frame
LINKS = (
    Link("trunk", "", (0, 0, 0), 18.0, "box", (0.20, 0.28, 0.35), (0, 0, 0.175)),
    Link("thigh", "trunk", (0, 0.10, 0), 8.5, "cylinder", (0.13, 0.13, 0.40), (0, 0, -0.20), HIP, pair=True),
    Link("shank", "thigh", (0, 0, -0.40), 5.0, "cylinder", (0.11, 0.11, 0.40), (0, 0, -0.20), KNEE, pair=True),
    Link("foot", "shank", (0, 0, -0.40), 2.5, "box", (0.22, 0.12, 0.04), (0.03, 0, -0.08), ANKLE, True, True),
)


@dataclass(frozen=True)
class Parameters(Size):
    __doc__ = Size.__doc__

    robot, links, tall = "torque-biped", LINKS, HEIGHT
    mass: float = total_mass(LINKS)
    height: float = HEIGHT
    armature: float = 0.1
    damping: float = 0.0
    knee: float = 0.7


build = build_biped
