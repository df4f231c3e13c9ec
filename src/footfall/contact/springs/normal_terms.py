"""The normal force of a point as a formula of depth and rate, and how a mass bounces on it: restitution from its
parameters, and parameters from a restitution.

A bounce is integrated in plain Python numbers: SciPy's integrators, on arrays, take tens of times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from footfall.errors import LawError
from footfall.roots import root_between


class NormalTerms(NamedTuple):
    """The normal force of a point, ``k d^alpha + c d^beta d'``, never below zero, for a depth ``d`` in m."""

    k: float  # N/m^alpha
    alpha: float
    c: float  # N s/m^(1 + beta)
    beta: float

    def depth(self, load: float) -> float:
        """Depth in m at which a load in N rests."""
        return float((load / self.k) ** (1.0 / self.alpha))

    def slope(self, depth: float) -> float:
        """Stiffness in N/m for small motions about a depth in m."""
        return float(self.alpha * self.k * depth ** (self.alpha - 1.0))

    def damping(self, depth: float) -> float:
        """Damping in N s/m for small motions about a depth in m."""
        return float(self.c * depth**self.beta)


#: Normal force (N) of a point at a depth (m) and depth rate (m/s).
NormalForce = Callable[[float, float], float]
#: The same in m/s2, of a mass.
Acceleration = Callable[[float, float], float]

#: Error of a step, relative to the greatest depth and the landing speed, and the most steps of a bounce.
EXACT, MOST = 1e-9, 20_000
#: First step, s, and the factors by which a step may grow and shrink.
FIRST, LONGER, SHORTER = 1e-9, 10.0, 0.2
#: A mass that is still in contact after this many times the time of its way down has come to rest.
LONG = 50.0
#: Share of the landing speed: a mass that sinks more slowly and is not about to turn has come to rest, too.
CREEP, TURNS = 1e-6, 1e-3
#: Accuracy of a damping, relative to the largest in question.
FOUND = 1e-9


def restitution(force: NormalForce, mass: float, speed: float, gravity: float = 0.0) -> float:
    """Speed after a bounce over the speed before, for a mass (kg) that lands at ``speed`` (m/s); 0 if it does not
    leave.
    """

    def acceleration(depth: float, rate: float) -> float:
        return gravity - force(max(depth, 0.0), rate) / mass

    deepest = 1e-9 * speed
    state, step, time, down = (deepest, speed), FIRST, 0.0, 0.0
    for _ in range(MOST):
        half = _runge_kutta(acceleration, state, 0.5 * step)
        fine = _runge_kutta(acceleration, half, 0.5 * step)
        rough = _runge_kutta(acceleration, state, step)
        miss = max(abs(fine[0] - rough[0]) / deepest, abs(fine[1] - rough[1]) / speed) / (15.0 * EXACT)
        if not miss <= 1.0:
            step *= max(SHORTER, 0.9 * miss**-0.2)
            continue
        if fine[0] <= 0.0:
            return -_rate_at_surface(acceleration, state, step) / speed
        if down and (fine[1] >= 0.0 or time > LONG * down):  # it turns down again, with less energy, or does not move
            return 0.0
        state, time, deepest = fine, time + step, max(deepest, fine[0])
        if not down and state[1] < 0.0:
            down = time
        elif not down and state[1] < CREEP * speed and abs(acceleration(*state)) * time < TURNS * speed:
            return 0.0
        step *= min(LONGER, 0.9 * max(miss, 1e-9) ** -0.2)
    return 0.0


def _rate_at_surface(acceleration: Acceleration, state: tuple[float, float], step: float) -> float:
    """Depth rate when the surface is reached, within ``step``."""
    part = _zero(lambda part: _runge_kutta(acceleration, state, part)[0], 0.0, step, 1e-12 * step)
    return _runge_kutta(acceleration, state, part)[1]


def _runge_kutta(acceleration: Acceleration, state: tuple[float, float], step: float) -> tuple[float, float]:
    """Depth and rate after a step of fourth order."""
    depth, rate = state
    a = acceleration(depth, rate)
    rate_b = rate + 0.5 * step * a
    b = acceleration(depth + 0.5 * step * rate, rate_b)
    rate_c = rate + 0.5 * step * b
    c = acceleration(depth + 0.5 * step * rate_b, rate_c)
    rate_d = rate + step * c
    d = acceleration(depth + step * rate_c, rate_d)
    return (
        depth + step / 6.0 * (rate + 2.0 * rate_b + 2.0 * rate_c + rate_d),
        rate + step / 6.0 * (a + 2.0 * b + 2.0 * c + d),
    )


def damping_for(
    wanted: float,
    force: Callable[[float], NormalForce],
    *,
    mass: float,
    speed: float,
    gravity: float,
    scale: float,
) -> float:
    """The damping for which ``force(damping)`` bounces with the wanted restitution; ``scale`` is its order of size."""

    def miss(damping: float) -> float:
        return restitution(force(damping), mass, speed, gravity) - wanted

    if miss(0.0) <= 0.0:
        return 0.0

    low, high = 0.0, scale
    for _ in range(40):
        if miss(high) < 0.0:
            return _zero(miss, low, high, FOUND * high)
        low, high = high, 2.0 * high
    raise LawError(f"no damping gives a restitution of {wanted} at {speed} m/s")


def _zero(function: Callable[[float], float], low: float, high: float, near: float) -> float:
    """The zero of a function between ``low`` and ``high``; ``high`` itself if rounding hides the change of sign."""
    try:
        return root_between(function, low, high, near)
    except ValueError:
        return high
