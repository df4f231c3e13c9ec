"""The root of a function of one variable, without SciPy, whose import takes longer than building a robot."""

from __future__ import annotations

import math
from collections.abc import Callable

#: Relative accuracy of the root: rounding.
RELATIVE = 4.0 * 2.0**-52
TURNS = 100


def root_between(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """The root of a function between two places where its signs differ, by Brent's method, as SciPy's ``brentq``.

    Raises ``ValueError`` where the signs do not differ, or where it does not converge.
    """
    before, now, other = low, high, 0.0
    f_before, f_now, f_other = float(function(before)), float(function(now)), 0.0
    step_before = step = 0.0
    if f_before == 0.0:
        return before
    if f_now == 0.0:
        return now
    if math.copysign(1.0, f_before) == math.copysign(1.0, f_now):
        raise ValueError("the function has the same sign at both ends")
    for _ in range(TURNS):
        if f_before != 0.0 and f_now != 0.0 and math.copysign(1.0, f_before) != math.copysign(1.0, f_now):
            other, f_other = before, f_before
            step_before = step = now - before
        if abs(f_other) < abs(f_now):
            before, now, other = now, other, now
            f_before, f_now, f_other = f_now, f_other, f_now
        least = (tolerance + RELATIVE * abs(now)) / 2.0
        half = (other - now) / 2.0
        if f_now == 0.0 or abs(half) < least:
            return now
        if abs(step_before) > least and abs(f_now) < abs(f_before):
            if before == other:  # the secant
                attempt = -f_now * (now - before) / (f_now - f_before)
            else:  # inverse quadratic interpolation
                slope = (f_before - f_now) / (before - now)
                slope_other = (f_other - f_now) / (other - now)
                attempt = -f_now * (f_other * slope_other - f_before * slope)
                attempt /= slope_other * slope * (f_other - f_before)
            short = 2.0 * abs(attempt) < min(abs(step_before), 3.0 * abs(half) - least)
            step_before, step = (step, attempt) if short else (half, half)
        else:
            step_before, step = half, half
        before, f_before = now, f_now
        now += step if abs(step) > least else math.copysign(least, half)
        f_now = float(function(now))
    raise ValueError(f"no root was found in {TURNS} turns")
