"""How long a step may be for the springs and dampers of a contact law."""

from __future__ import annotations

import dataclasses
import math
import warnings

from footfall.contact.base import Law
from footfall.contact.setting import Setting
from footfall.errors import FootfallWarning

#: Times the step is made shorter before it is given up: gains may depend on it.
TRIES = 60


def longest_stable_step(law: Law, setting: Setting) -> float | None:
    """The longest step (s) not above the given one in which a law's points do not ring; None if the law has no springs.

    With k and c of a point at its depth of rest and m the largest mobility of all points, a step of semi-implicit Euler
    multiplies a small motion by the roots of z^2 - (2 - a - b) z + 1 - b, a = m k dt^2, b = m c dt: none is beyond one
    while a + 2 b < 4.
    """
    terms_of = getattr(law, "normal_terms", None)
    if terms_of is None:
        return None
    dt = setting.dt
    for _ in range(TRIES):
        terms = terms_of(dataclasses.replace(setting, dt=dt))
        depth = terms.depth(setting.load)
        a, b = setting.mobility * terms.slope(depth), setting.mobility * terms.damping(depth)
        if a * dt**2 + 2.0 * b * dt < 4.0:
            return dt
        dt = min(0.9 * dt, (math.sqrt(b * b + 4.0 * a) - b) / a)
    return dt


def warn_of_long_steps(law: Law, setting: Setting, longest: float) -> None:
    """Warn where the step is too long for a law, naming the ``longest`` (s) that would do."""
    if longest < setting.dt:
        warnings.warn(
            f"{law} on {setting.robot.name} is unstable in steps of {setting.dt:g} s: its points are too stiff for "
            f"their inertia; dt <= {round_down(longest)} s would do, or softer gains",
            FootfallWarning,
            stacklevel=5,
        )


def round_down(value: float) -> str:
    """One significant digit, not above the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return f"{math.floor(value / power + 1e-9) * power:.0e}".replace("e-0", "e-")
