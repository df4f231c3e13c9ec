"""Moraud, Hale and Cheng 2008: constraint-based ground contact in humanoid simulation."""

from __future__ import annotations

from footfall.papers.base import Assumption, Paper
from footfall.papers.moraud2008 import jump, pulls, squats, sway, toes

PAPER = Paper(
    name="moraud2008",
    citation="Moraud, Hale, Cheng: Constraint-based ground contact handling in humanoid robotics simulation, ICRA 2008 "
    "workshop on contact models for manipulation and locomotion",
    summary="vertices, edges and faces of the feet are clamped, and the state is searched by rules",
    experiments=(toes.EXPERIMENT, jump.EXPERIMENT, sway.EXPERIMENT, squats.EXPERIMENT, pulls.EXPERIMENT),
    assumptions=(
        Assumption("robots", "see footfall robots full-humanoid and small-humanoid", "masses and lengths not printed"),
        Assumption("control", "joint PD of the posture controller, weight as feed-forward", "gains are not printed"),
        Assumption("step", "1 ms; 0.5 ms for the small robot", "not printed"),
        Assumption("fall", "ankles lean by 0.35 rad in 1.2 s, feet of 3 to 64 vertices", "the motion is not printed"),
        Assumption("jump", "knees to 1.3 rad in 0.6 s, stretched in 0.18 s", "the motion is not printed"),
        Assumption(
            "sway",
            "hips 105 mm to the left, the centre of mass half of it in 1.5 s",
            "the paper shifts until one leg carries the weight",
        ),
        Assumption(
            "sway: legs apart",
            f"{sway.SPLAY:g} rad to each side, joint PD without the weight",
            "only a drawing, figure 10",
        ),
        Assumption(
            "thresholded model", f"a vertex may pull {toes.PULL:g} N", "the paper prints no threshold of forces"
        ),
        Assumption("squats", "knees 0.7 rad further, a raised cosine, two in a row", "not printed"),
        Assumption(
            "rules", "judged at the end of the step, where touch-down is plastic", "the paper's integrator differs"
        ),
        Assumption(
            "sliding friction",
            "at the vertices, each against its own slip",
            "the paper's, at one place, brakes no spin",
        ),
        Assumption(
            "without the rule of the centre of pressure",
            "a vertex pulls if the load of least norm does",
            "how the paper shares the load among vertices is not printed",
        ),
        Assumption(
            "one-step weights", "fall by N + 1 from rule to rule", "by N, N small violations tie with one greater"
        ),
        Assumption("pulls", "loads of 1 to 5 kg, the force plate's 1 N as noise", "weights and data are not printed"),
    ),
    missing=("the human's and the real robots' force plate data: there are none to compare with.",),
)
