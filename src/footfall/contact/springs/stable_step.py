"""The longest stable step for the springs and dampers of a contact law."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from footfall.contact.base import Law, PointLaw
from footfall.contact.setting import Setting, make_setting
from footfall.contact.springs.normal_terms import NormalTerms
from footfall.contact.trial import normal_force
from footfall.errors import warn

if TYPE_CHECKING:
    from footfall.ground import Ground
    from footfall.robot import Robot

#: Default step, s, and the fractions of it that are tried where a law needs a shorter one.
USUAL_STEP, PARTS = 1e-3, (1, 2, 5, 10, 20, 50, 100)
#: Least number of such steps in the fastest oscillation of a standing robot on its springs: with fewer, next to no
#: damping is stable.
STEPS_A_SWING = 8
#: Largest slip, in sqrt(g h), at which friction may still be below its full value in such steps.
CREEP = 0.2
#: Most attempts to find a shorter step; gains may depend on the step.
TRIES = 60
#: Largest depth at rest that is searched (m), and the small motions about it: relative to the depth, and m/s.
DEEPEST, SMALL, SLOW = 1.0, 1e-3, 1e-6


def usual_step(law: Law, robot: Robot, ground: Ground) -> float:
    """The default step (s): 1 ms, or less where a spring law needs it for light feet.

    Only for a law with default options: whoever chooses gains also chooses the step.
    """
    if not hasattr(law, "normal_terms") or law != type(law)():
        return USUAL_STEP
    steps = [USUAL_STEP / part for part in PARTS]
    return next((dt for dt in steps if _is_fine(law, make_setting(robot, ground, dt))), steps[-1])


def _is_fine(law: Any, setting: Setting) -> bool:
    """Whether springs oscillate over many steps, and friction holds points that creep slowly."""
    terms: NormalTerms = law.normal_terms(setting)
    rate = math.sqrt(setting.mobility * terms.slope(terms.depth(setting.load)))  # 1/s
    speed = math.sqrt(setting.load / setting.share * max(setting.height, 0.0))
    return setting.dt * rate * STEPS_A_SWING <= 2.0 * math.pi and law.creep(1.0, setting) <= CREEP * speed


def longest_stable_step(law: Law, setting: Setting, mobility: float | None = None) -> float | None:
    """The longest stable step (s) of a law's points, at most the given one; None if the law has no springs.

    With k and c of a point at its depth of rest and m the largest mobility of all points, a step of semi-implicit Euler
    multiplies a small motion by the roots of z^2 - (2 - a - b) z + 1 - b, a = m k dt^2, b = m c dt: none is beyond one
    while a + 2 b < 4. The mobility is what servos at the joints leave of the inertia for it, or that of a body which is
    not part of the robot, 1/kg.
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
    """The same of a law of which only its function is known, by small differences."""
    parameters = law.resolve(setting)

    def normal(depth: float, rate: float) -> float:
        return normal_force(law.kernel, depth, rate, law.memory_size, parameters)

    low, high = 0.0, DEEPEST
    if not normal(high, 0.0) >= setting.load:  # nor where it is no number
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
