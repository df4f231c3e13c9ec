"""The longest stable step for the springs and dampers of a contact law, under a robot and loose bodies beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from footfall.contact.base import Law
from footfall.contact.setting import LEVEL, Setting, make_setting
from footfall.contact.springs.derived_gains import NormalTerms
from footfall.errors import warn
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.standing import in_pose, inertia_of, jacobian_at, place_on

#: Default step, s, and the divisors that are tried where a law needs a shorter one.
USUAL_STEP, PARTS = 1e-3, (1, 2, 5, 10, 20, 50, 100)
#: Least number of default steps in the fastest oscillation of a standing robot on its springs: with fewer, hardly any
#: damping is stable.
STEPS_A_SWING = 8
#: Largest creep speed under the sliding load in a default step, as a share of sqrt(g h), h being the robot's height.
CREEP = 0.2
#: Iteration limit of the search for a stable step, on which gains may depend.
TRIES = 60


def usual_step(law: Law, robot: Robot, ground: Ground) -> float:
    """The default step (s): 1 ms, or less where a spring law needs it for light feet.

    Only for a law with default options: whoever chooses gains also chooses the step.
    """
    if not hasattr(law, "normal_terms") or law != type(law)():
        return USUAL_STEP
    steps = [USUAL_STEP / part for part in PARTS]
    return next((dt for dt in steps if _is_fine(law, make_setting(robot, ground, dt))), steps[-1])


def stable_step(law: Law, robot: Robot, ground: Ground) -> float:
    """The default step (s), or the longest part of it in which the springs of a law are stable, whatever its gains."""
    longest = longest_stable_step(law, make_setting(robot, ground, USUAL_STEP))
    steps = [USUAL_STEP / part for part in PARTS]
    return next((dt for dt in steps if longest is None or dt <= longest), steps[-1])


def _is_fine(law: Any, setting: Setting) -> bool:
    """Whether oscillations of springs are resolved by enough steps, and loaded points creep slowly enough."""
    rate = math.sqrt(setting.mobility * gains_at_rest(law, setting)[0])  # 1/s
    speed = math.sqrt(setting.load / setting.share * max(setting.height, 0.0))
    return setting.dt * rate * STEPS_A_SWING <= 2.0 * math.pi and law.creep(1.0, setting) <= CREEP * speed


def longest_stable_step(law: Law, setting: Setting, mobility: float | None = None) -> float | None:
    """The longest stable step (s) of a law's points, at most the given one; None if the law has no springs.

    With k and c of a point at its depth of rest and m the largest mobility of all points, a step of semi-implicit Euler
    multiplies a small motion by the roots of z^2 - (2 - a - b) z + 1 - b, a = m k dt^2, b = m c dt, which stay within
    the unit circle while a + 2 b < 4. ``mobility`` (1/kg) is the setting's, see there, or that of a loose body.
    """
    if not hasattr(law, "normal_terms"):
        return None
    dt = setting.dt
    for _ in range(TRIES):
        shorter = make_setting(setting.robot, setting.ground, dt)
        per_kg = shorter.mobility if mobility is None else mobility
        a, b = (gain * per_kg for gain in gains_at_rest(law, shorter))
        if a * dt**2 + 2.0 * b * dt < 4.0:
            return dt
        dt = min(0.9 * dt, (math.sqrt(b * b + 4.0 * a) - b) / a)
    return dt


def gains_at_rest(law: Any, setting: Setting) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) of a point of a spring law that carries its load."""
    terms: NormalTerms = law.normal_terms(setting)
    depth = terms.depth(setting.load)
    return terms.slope(depth), terms.damping(depth)


def warn_of_long_steps(law: Law, setting: Setting, longest: float) -> None:
    """Warn where the step is too long for a law, naming the ``longest`` (s) that would do."""
    if longest < setting.dt:
        warn(
            f"{law} on {setting.robot.name} is unstable in steps of {setting.dt:g} s: its points are too stiff for "
            f"their inertia; dt <= {round_down(longest)} s would do, or softer gains"
        )


def round_down(value: float) -> str:
    """One significant digit, not above the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return f"{math.floor(value / power + 1e-9) * power:.0e}".replace("e-0", "e-")


def warn_of_light_bodies(law: Law, setting: Setting) -> None:
    """Warn where a law's springs throw loose bodies off the ground in steps of this length."""
    mobilities = loose_mobilities(setting.robot)
    longest = {name: longest_stable_step(law, setting, mobility) for name, mobility in mobilities.items()}
    thrown = {name: step for name, step in longest.items() if step is not None and step < setting.dt}
    if thrown:
        names = " and ".join(f"'{name}'" for name in thrown)
        warn(
            f"springs of {law.name} for the weight of {setting.robot.name} are too stiff in steps of {setting.dt:g} s "
            f"for what is light beside it, and may throw {names} off the ground: "
            f"dt <= {round_down(min(thrown.values()))} s would do, or law='time-stepping'"
        )


def loose_mobilities(robot: Robot) -> dict[str, float]:
    """1/kg, of each free body without feet: the largest eigenvalue of the Delassus matrix of its lowest points."""
    model, others = robot.model, robot.others
    of_feet = {int(model.body_rootid[model.body(foot.body).id]) for foot in robot.feet}
    found: dict[str, float] = {}
    for i, body in enumerate(others.body):
        joints = model.body_jntadr[body], model.body_jntnum[body]
        if body in of_feet or model.body_parentid[body] or joints[1] != 1 or model.jnt_type[joints[0]] != FREE:
            continue
        data = in_pose(robot, robot.home)
        own = slice(others.begin[i], others.begin[i + 1])
        places = np.array([place_on(data, body, local) for local in others.points[own]])
        heights = places[:, 2] - others.radius[own]
        rows = [jacobian_at(data, body, at)[:3] for at in places[heights <= heights.min() + LEVEL]]
        delassus = np.concatenate(rows) @ np.linalg.solve(inertia_of(data), np.concatenate(rows).T)
        found[model.body(body).name] = float(np.abs(np.linalg.eigvals(delassus)).max())
    return found
