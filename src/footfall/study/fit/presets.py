"""Which parameters of each law are worth fitting, and between which bounds.

Bounds are wide: a decade or more for stiffness and damping, the whole possible range for restitution and friction. For
a law that is not listed here, parameters must be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from footfall.errors import StudyError, did_you_mean
from footfall.study.fit.ranges import Range

#: Options a law is given beside what is fitted, and the parameters.
PRESETS: dict[str, tuple[dict[str, Any], dict[str, Range]]] = {
    "spring-damper": (
        {},
        {
            "law.rest_penetration": Range(2e-5, 5e-3, "log", 1e-3),
            "law.damping_ratio": Range(0.02, 2.0, "log", 1.0),
        },
    ),
    "hunt-crossley": (
        {},
        {
            "law.rest_penetration": Range(2e-5, 5e-3, "log", 1e-3),
            "law.damping_ratio": Range(0.02, 4.0, "log", 1.0),
        },
    ),
    "distributed": (
        {},
        {
            "law.rest_penetration": Range(2e-5, 5e-3, "log"),
            "law.damping_ratio": Range(0.02, 4.0, "log", 1.0),
        },
    ),
    "linearizing-penalty": (
        {},
        {"law.kp": Range(50.0, 1e5, "log", 500.0), "law.kv": Range(20.0, 2000.0, "log", 250.0)},
    ),
    "constraint-selection": ({}, {"law.v_t": Range(1e-3, 1.0, "log", 0.1)}),
    "time-stepping": (
        {},
        {
            "law.restitution": Range(0.0, 0.8, "linear", 0.0),
            "law.impact_friction": Range(0.5, 1.0, "linear", 1.0),
        },
    ),
    # Errors of 0.1 um a step are far below what cameras see, and take two thirds of the time.
    "acceleration-complementarity": (
        {"tolerance": 1e-7},
        {"law.restitution": Range(0.0, 0.8, "linear", 0.0)},
    ),
    "mujoco": (
        {"cone": "elliptic", "solref": [0.02, 1.0]},
        {
            "law.solref.0": Range(2e-3, 5e-2, "log", 0.02),
            "law.solref.1": Range(0.1, 2.0, "log", 1.0),
            "law.impratio": Range(1.0, 100.0, "log", 1.0),
        },
    ),
}
#: Of a level ground.
GROUND = {"ground.friction": Range(0.03, 1.0, "log", 0.2), "ground.height": Range(-5e-3, 5e-3, "linear", 0.0)}


def of_cube(side: float, mass: float, inertia: float) -> dict[str, Range]:
    """Of a tossed cube of about this side (m), mass (kg) and inertia (kg m2).

    The side may be smaller than measured: rounded corners touch like those of a smaller cube on a ground that is higher
    by the radius, at most 4 % of the side here. The inertia lies between that of a heavy core and that of masses in the
    eight corners.
    """
    square = mass * side**2
    return {
        "robot.side": Range(0.92 * side, 1.01 * side, "linear", side),
        "robot.inertia": Range(square / 12.0, square / 2.0, "log", inertia),
    }


def of_box(sides: Sequence[float]) -> dict[str, Range]:
    """Of a tossed box of these sides (m): how far its corners are rounded, and its inertia relative to that stated."""
    return {
        "robot.rounding": Range(0.0, 0.04 * min(sides), "linear", 0.0),
        "robot.inertia_scale": Range(0.5, 2.0, "log", 1.0),
    }


def preset(law: str) -> tuple[dict[str, Any], dict[str, Range]]:
    """Options and parameters of a law by name, those of the ground after them."""
    if law not in PRESETS:
        known = did_you_mean(law, PRESETS)
        raise StudyError(f"which parameters of '{law}' shall be fitted? Give parameters=; by themselves, {known}")
    options, own = PRESETS[law]
    return dict(options), {**own, **GROUND}
