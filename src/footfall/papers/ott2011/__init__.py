"""Ott, Roa and Hirzinger 2011: posture and balance control by contact-force optimisation."""

from __future__ import annotations

from footfall.papers.base import Assumption, Paper
from footfall.papers.ott2011 import contacts, directions, force_distribution, lateral, pendulum, tracking

PAPER = Paper(
    name="ott2011",
    citation="Ott, Roa, Hirzinger: Posture and balance control for biped robots based on contact force optimization, "
    "IEEE-RAS Humanoids 2011",
    summary="a wrench that brings the centre of mass back, shared out among the contact points by a quadratic program",
    experiments=(
        *lateral.EXPERIMENTS,
        tracking.EXPERIMENT,
        pendulum.EXPERIMENT,
        directions.EXPERIMENT,
        contacts.EXPERIMENT,
        force_distribution.EXPERIMENT,
        directions.LIMITS,
    ),
    assumptions=(
        Assumption("robot: masses, lengths, pose", "50 kg, see footfall robots torque-biped", "not printed"),
        Assumption(
            "robot: joints",
            "torque sources with rotors of 0.1 kg m2",
            "the inner torque control is not described",
        ),
        Assumption("state", "known exactly", "the paper has joint sensors and an inertial unit, yaw from the feet"),
        Assumption("hip", "centre of mass of the trunk, 0.37 m above the robot's", "'at the hip', no coordinates"),
        Assumption("push: begin", "0.2 s", "not printed; the vertical forces are lowest at t ≈ 0.25 s"),
        Assumption("friction", "0.7, pyramid of four edges on the cone", "neither coefficient nor pyramid is printed"),
        Assumption("step of control and simulation", "1 ms", "not printed"),
        Assumption("contact law", "linearizing-penalty where one is shown", "the paper has OpenHRP3 with its own"),
        Assumption(
            "tracking: reference", "3 cm in x and 5 cm in y, sine of 4 s, risen within 2 s", "the figure has no numbers"
        ),
        Assumption(
            "pendulum",
            "strikes the trunk's centre of mass from the right, a ball of 8 cm in MuJoCo's own contact; impulses of "
            "20 ms for restitutions of 0, 0.5 and 1",
            "side, place and bounce are not printed",
        ),
        Assumption(
            "single support, hand",
            "left foot alone, right knee at 1.2 rad; an arm of two joints of 0.3 m on a table of 0.8 m",
            "the paper says that both are possible",
        ),
        Assumption(
            "leaning on the robot",
            "20 N, 25 N, 60 N, 5 N m in roll and pitch, 10 N m in yaw for 6 s at the trunk",
            "a hand; nothing is printed",
        ),
        Assumption(
            "sign in (15), (19)",
            "forces are those on the robot, tau = -J_c^T f",
            "as printed, (15) has the forces on the ground and (14), (19) those on the robot",
        ),
        Assumption("unknowns of the distribution", "24", "3 x 8; the paper prints 28"),
    ),
    missing=(
        "where the pendulum of figures 12 to 15 strikes the real robot, and from which side: not printed.",
        "the largest pushes under event-driven laws: a falling robot makes too many events.",
    ),
)
