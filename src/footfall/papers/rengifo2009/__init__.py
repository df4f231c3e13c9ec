"""Rengifo, Aoustin, Chevallereau and Plestan 2009: penalty contact by input-output feedback linearisation."""

from __future__ import annotations

from footfall.papers.base import Assumption, Paper
from footfall.papers.rengifo2009 import ball, biped, ramp, walking

PAPER = Paper(
    name="rengifo2009",
    citation="Rengifo, Aoustin, Chevallereau, Plestan: A penalty-based approach for contact forces computation in "
    "bipedal robots, IEEE-RAS Humanoids 2009",
    summary="contact prescribes the acceleration of touching points, the force follows",
    experiments=(
        *ball.EXPERIMENTS,
        ramp.EXPERIMENT,
        *biped.EXPERIMENTS,
        walking.EXPERIMENT,
    ),
    assumptions=(
        Assumption("ball: height of the fall", "0.1 m", "not printed; only the scale of figures 4 and 5 depends on it"),
        Assumption("ball: mass and radius", "1 kg, 0.1 m", "not printed; the motion does not depend on them"),
        Assumption("ball: step", "1e-5 s (1e-6 s at touch-down)", "kv = 5000 decays in 0.2 ms; no integrator is named"),
        Assumption("ramp: angle, friction, kv", "20°, 0.5 (0.2 where it slides), 250 1/s", "not printed"),
        Assumption(
            "ramp: brick", "1 kg, 0.2 x 0.1 m, four points, 0.1 mm thick", "the paper's is a point: no load shifts"
        ),
        Assumption("biped: masses, lengths, joints", "45 kg, 1.5 m, see footfall robots spatial-biped", "not printed"),
        Assumption("biped: control", "joint PD around the standing posture", "gains and control are not printed"),
        Assumption(
            "walk: gait and control",
            "0.4 m/s, steps of 0.5 s and 0.2 m that lift the feet by 5 cm and set them down at 0.1 m/s; footsteps, "
            "divergent component of motion and whole-body torques (footfall.control.Walk)",
            "not printed",
        ),
        Assumption(
            "walk: false impact",
            "as below, later than 0.1 s after the landing of the foot",
            "not defined in the paper; before, vertices rebound in earnest one after the other",
        ),
        Assumption("biped: friction, step", "0.7, 1 ms", "not printed"),
        Assumption("biped: push", "60 N forward at the trunk for 0.1 s at 0.3 s", "the paper's biped only walks"),
        Assumption(
            "biped: stepping down", "3 cm with both feet; 1 cm with the left alone", "the paper's biped only walks"
        ),
        Assumption(
            "eps",
            "a steady depth of 1e-6 m (target height -eps)",
            "printed as +eps, above the ground, where there is no contact: the false impacts would come back",
        ),
        Assumption(
            "false impact",
            "a loaded point opens, is open for at most 10 ms and is loaded again by a jump above 1 % of the weight; "
            "not within 0.3 s of a landing, where feet rebound in earnest",
            "not defined in the paper; true rebounds of these gains are longer (13.6 ms after 3 cm)",
        ),
        Assumption(
            "a point just out of the ground",
            "with eps > 0 it is led back for as long as the ground need not pull",
            "the paper's integrator has steps of its own; in fixed steps a point would leave by rounding",
        ),
        Assumption(
            "saturation",
            "walk: the paper's (19)-(20), ours beside it; elsewhere friction and load made consistent",
            "the paper clips each once",
        ),
        Assumption("springs: stiffness, damping, speed", "10 kN/m, 5 to 80 N s/m, 1 m/s", "not printed"),
    ),
    missing=("the gait of the paper itself, which is not printed: figures 11 to 14 are of a walk of ours.",),
)
