"""Bruneau and Ouezdou 1999: distributed ground and walking robot interaction."""

from __future__ import annotations

from footfall.papers.base import Assumption, Paper
from footfall.papers.bruneau1999 import drop, man, quadruped, sliding, stones, walking

PAPER = Paper(
    name="bruneau1999",
    citation="Bruneau, Ouezdou: Distributed ground/walking robot interaction, Robotica 17 (1999)",
    summary="testing points over the whole sole, with adherence, sliding and both transitions",
    experiments=(
        *quadruped.EXPERIMENTS,
        man.EXPERIMENT,
        *drop.EXPERIMENTS,
        walking.EXPERIMENT,
        *sliding.EXPERIMENTS,
        *stones.EXPERIMENTS,
    ),
    assumptions=(
        Assumption("body", "1.75 m, 75 kg, see footfall robots hanavan", "only the mass and Hanavan's model are given"),
        Assumption(
            "joints",
            "springs of 2, 10, 50 kN m/rad (drop; 0.005 to 200 scanned), 50 (sliding), 20 (standing, stones), damping "
            "0.02 s times that",
            "stiffness and control of the joints are not given",
        ),
        Assumption("rotors", "0.1 kg m² at each joint", "as robot hanavan has them; the paper has none"),
        Assumption(
            "steps", "drop 2e-5 and 1e-5 s, sliding 4e-5 and 2e-5 s", "the dampings are stiff for a foot of 1 kg"
        ),
        Assumption("eq. (16) pulling", "clipped at zero", "the paper leaves the branch open"),
        Assumption("eq. (25)-(26)", "the viscous part acts along the sliding direction", "as eq. (22) says"),
        Assumption(
            "drop: posture",
            "standing, knees bent by 0.2 rad, in the sagittal plane, springs at rest",
            "not given; so the feet land flat: springs that carry weight tilt them in the air, and row after row lands",
        ),
        Assumption(
            "sliding: stance",
            "in 3D, hips spread by 0.5 rad to each side, soles flat; in the plane by 0.5 to 0.7 rad fore and aft",
            "only 'spread legs', of a biped that section 4.1 locks into the plane; so wide, and with joints so stiff, "
            "no foot lifts off",
        ),
        Assumption(
            "sliding: pull",
            "0.74 of the weight to the left, half on each foot: from 0 at 0.05 s up to 0.2 s, held to 0.3 s, gone at "
            "0.4 s, in pieces of 1 ms, at the centre of mass of the foot",
            "the profile is not published; the ankle is 3 cm above",
        ),
        Assumption("sliding: duration", "2.5 s instead of 0.7 s", "adherence of 90 N/m and 950 N s/m creeps for long"),
        Assumption(
            "stones", "40 caps of 4 to 10 cm radius, up to 4 cm high, on 1.2 x 1.2 m", "the paper only draws one"
        ),
        Assumption(
            "walking: recorded man",
            "one pass of one man of 77 kg at 1.17 m/s: Marcos Duarte, BMClab, github.com/demotu/BMC, CC-BY 4.0",
            "the paper's record is not published; no arms were measured: they swing by 0.25 rad",
        ),
        Assumption(
            "walking: motion",
            "segment angles fitted, within a few degrees, so that feet stand, sink in as eq. (16) wants it, and the "
            "body moves as the recorded force asks; sway sideways by an inverted pendulum",
            "measured angles on other bones drag the feet; the paper takes polynomials for its own",
        ),
        Assumption(
            "walking: prediction",
            "the same fit without any measured force: angles and accelerations of markers, and load that changes feet "
            "evenly in double support",
            "not in the paper, which compares with a recorded force",
        ),
        Assumption(
            "quadruped",
            "see footfall robots quadruped, joint PD, dropped from 5 cm; 30 kN/m and 200 N s/m a foot; trots at 0.3 "
            "m/s by controller quadruped-walk",
            "nothing is printed",
        ),
        Assumption(
            "symmetric sliding", "a block of 75 kg on one sole, pulled at the height of the sole", "not in the paper"
        ),
        Assumption(
            "walking: control",
            "torques of the motion and springs of 1000 N m/rad in the joints; 1000 N m/rad and 100 N m s/rad hold the "
            "pelvis upright from outside, in space also 200 N s/m against wrong speed",
            "the paper does not say how the motion is imposed",
        ),
        Assumption("stone-walk", "600 caps of 4 to 10 cm radius, up to 1 cm high, on 6 x 0.8 m", "not in the paper"),
    ),
    missing=("a walk at the paper's 1.35 m/s: the recorded man is slower.",),
)
