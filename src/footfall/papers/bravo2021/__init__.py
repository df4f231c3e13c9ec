"""Bravo and Rengifo 2021: a dynamic simulator for a planar biped, its control and its gait."""

from __future__ import annotations

from footfall.papers.base import Assumption, Paper
from footfall.papers.bravo2021 import gait, landing, solvers

PAPER = Paper(
    name="bravo2021",
    citation="Bravo M. and Rengifo Rodas: Design of a dynamic simulator for a biped robot, Modelling and Simulation in "
    "Engineering 2021",
    summary="a planar biped walks by an optimal gait under computed torque",
    experiments=(
        *gait.EXPERIMENTS,
        landing.EXPERIMENT,
        solvers.EXPERIMENT,
    ),
    assumptions=(
        Assumption("robot: masses, lengths", "70 kg, 1.7 m, see footfall robots planar-biped", "not printed"),
        Assumption("robot: motors", "300 N m at hips and knees, 150 N m at ankles", "not printed"),
        Assumption("gait: speed", "0.5 m/s, step length chosen by the optimisation", "not printed"),
        Assumption("gait: path of the swing foot (12)", "3 cm high in mid-step, at least", "not printed"),
        Assumption("gait: touch-down", "flat, at most 0.1 m/s downward, plastic impact (20)-(22)", "not printed"),
        Assumption("gait: margins", "zero moment point 1 cm inside the sole, joints 0.05 rad", "not printed"),
        Assumption("gait: friction", "0.75", "as in figure 6"),
        Assumption("control: kp, kv", "400 1/s², 40 1/s", "not printed; critically damped, 50 ms"),
        Assumption(
            "control: velocity",
            "that after a plastic impact of the stance foot",
            "the paper's law where the foot rests; where it shakes, an ankle as strong as the whole robot needs would "
            "shake it more",
        ),
        Assumption(
            "control: change of legs", "at touch-down, where the next step of the reference begins", "not described"
        ),
        Assumption(
            "landing: fall, feet, control",
            "2 cm and 0.3 m/s down, feet turned by 0 and ±0.2 rad, joint PD that holds the posture, every 1 ms",
            "the paper's biped only walks; eight heights, since an impact falls into another part of a step each time",
        ),
        Assumption("simulation", "law time-stepping, step and control period 1 ms", "the paper's h is not printed"),
    ),
    missing=("the numbers behind figures 3 to 6, which are printed as curves without a table.",),
)
