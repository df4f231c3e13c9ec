"""How a point law bounces: restitution from its parameters, and parameters from a restitution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from footfall.errors import LawError

#: Normal force (N) of a point at a depth (m) and depth rate (m/s).
NormalForce = Callable[[float, float], float]


def restitution(force: NormalForce, mass: float, speed: float, gravity: float = 0.0) -> float:
    """Speed after a bounce over speed before, for a mass (kg) that lands at ``speed`` (m/s); 0 if it does not leave."""

    def motion(_: float, state: np.ndarray) -> tuple[float, float]:
        depth, rate = state
        return rate, gravity - force(max(depth, 0.0), rate) / mass

    def leaves(_: float, state: np.ndarray) -> float:
        return state[0] - 1e-12 * speed

    def turns(_: float, state: np.ndarray) -> float:
        return state[1]

    leaves.terminal = True  # type: ignore[attr-defined]
    leaves.direction = -1.0  # type: ignore[attr-defined]
    # A bounce ends soon after the deepest point; a mass that is still there after many times that has come to rest.
    turns.terminal = True  # type: ignore[attr-defined]
    start = (1e-9 * speed, speed)
    down = solve_ivp(motion, (0.0, 1e3), start, events=turns, rtol=1e-8, atol=1e-14)
    run = solve_ivp(motion, (0.0, 50.0 * down.t[-1]), start, events=leaves, rtol=1e-8, atol=1e-14)
    return float(-run.y_events[0][0][1] / speed) if run.t_events[0].size else 0.0


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
            return float(brentq(miss, low, high, rtol=1e-6))
        low, high = high, 2.0 * high
    raise LawError(f"no damping gives a restitution of {wanted} at {speed} m/s")
