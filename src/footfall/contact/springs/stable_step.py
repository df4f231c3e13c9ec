"""The longest stable step for the springs and dampers of a contact law, under a robot and loose bodies beside it."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from footfall.contact.base import Law, PointLaw
from footfall.contact.setting import LEVEL, Setting, make_setting
from footfall.contact.springs.derived_gains import NormalTerms
from footfall.contact.trial import normal_force
from footfall.errors import warn
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.standing import at_home

#: Default step, s, and the divisors that are tried where a law needs a shorter one.
USUAL_STEP, PARTS = 1e-3, (1, 2, 5, 10, 20, 50, 100)
#: Least number of default steps in the fastest oscillation of a standing robot on its springs: with fewer, hardly any
#: damping is stable.
STEPS_A_SWING = 8
#: Largest creep speed under the sliding load in a default step, as a share of sqrt(g h), h being the robot's height.
CREEP = 0.2
#: Iteration limit of the search for a stable step, on which gains may depend.
TRIES = 60
#: Largest depth at rest that is searched (m), and the steps of differences about it: relative to the depth, and m/s.
DEEPEST, SMALL, SLOW = 1.0, 1e-3, 1e-6


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
    terms: NormalTerms = law.normal_terms(setting)
    rate = math.sqrt(setting.mobility * terms.slope(terms.depth(setting.load)))  # 1/s
    speed = math.sqrt(setting.load / setting.share * max(setting.height, 0.0))
    return setting.dt * rate * STEPS_A_SWING <= 2.0 * math.pi and law.creep(1.0, setting) <= CREEP * speed


def longest_stable_step(law: Law, setting: Setting, mobility: float | None = None) -> float | None:
    """The longest stable step (s) of a law's points, at most the given one; None if the law has no springs.

    With k and c of a point at its depth of rest and m the largest mobility of all points, a step of semi-implicit Euler
    multiplies a small motion by the roots of z^2 - (2 - a - b) z + 1 - b, a = m k dt^2, b = m c dt, which stay within
    the unit circle while a + 2 b < 4. ``mobility`` (1/kg) is the setting's, see there, or that of a loose body.
    """
    dt = setting.dt
    for _ in range(TRIES):
        shorter = make_setting(setting.robot, setting.ground, dt)
        gains = gains_at_rest(law, shorter)
        if gains is None:
            return None
        a, b = (gain * (shorter.mobility if mobility is None else mobility) for gain in gains)
        if a * dt**2 + 2.0 * b * dt < 4.0:
            return dt
        dt = min(0.9 * dt, (math.sqrt(b * b + 4.0 * a) - b) / a)
    return dt


def gains_at_rest(law: Law, setting: Setting) -> tuple[float, float] | None:
    """Stiffness (N/m) and damping (N s/m) of a point that carries its load; None if the law has no springs."""
    if hasattr(law, "normal_terms"):
        terms = law.normal_terms(setting)
        depth = terms.depth(setting.load)
        return terms.slope(depth), terms.damping(depth)
    return gains_of_function(law, setting) if isinstance(law, PointLaw) else None


def gains_of_function(law: PointLaw, setting: Setting) -> tuple[float, float] | None:
    """Stiffness and damping at rest of a law that is only known as a function, by differences."""
    parameters = law.resolve(setting)

    def normal(depth: float, rate: float) -> float:
        return normal_force(law.kernel, depth, rate, law.memory_size, parameters)

    low, high = 0.0, DEEPEST
    if not normal(high, 0.0) >= setting.load:  # also if the force is NaN
        return None
    while high - low > SMALL * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if normal(middle, 0.0) >= setting.load else (middle, high)
    step = SMALL * high
    stiffness = (normal(high + step, 0.0) - normal(high, 0.0)) / step
    damping = (normal(high, SLOW) - normal(high, -SLOW)) / (2.0 * SLOW)
    return (stiffness, damping) if 0.0 < stiffness < math.inf and 0.0 <= damping < math.inf else None


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
    data: mujoco.MjData | None = None
    for i, body in enumerate(others.body):
        joints = model.body_jntadr[body], model.body_jntnum[body]
        if body in of_feet or model.body_parentid[body] or joints[1] != 1 or model.jnt_type[joints[0]] != FREE:
            continue
        data = at_home(robot) if data is None else data
        own = slice(others.begin[i], others.begin[i + 1])
        places = data.xpos[body] + others.points[own] @ data.xmat[body].reshape(3, 3).T
        heights = places[:, 2] - others.radius[own]
        arms = places[heights <= heights.min() + LEVEL] - data.xipos[body]
        turned = data.ximat[body].reshape(3, 3)
        inertia = turned @ np.diag(model.body_inertia[body]) @ turned.T
        cross = np.cross(np.eye(3), arms[:, None])  # (N, 3, 3) rows are unit velocities of the point by unit rotations
        jacobian = np.concatenate([np.broadcast_to(np.eye(3), cross.shape), cross], axis=2).reshape(-1, 6)
        weights = np.zeros((6, 6))
        weights[:3, :3], weights[3:, 3:] = np.eye(3) * model.body_mass[body], inertia
        together = np.linalg.solve(weights, jacobian.T @ jacobian)
        found[model.body(body).name] = float(np.abs(np.linalg.eigvals(together)).max())
    return found
