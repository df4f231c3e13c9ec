"""Gains of springs and dampers derived from behaviour: a depth at rest, a restitution, a damping ratio.

The restitution is that of a mass bouncing on a point, integrated in plain Python numbers: SciPy's integrators, on
arrays, take tens of times as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import mujoco
import numpy as np

from footfall.contact.base import Law
from footfall.contact.setting import Setting
from footfall.contact.springs.material import layer_gains
from footfall.errors import LawError
from footfall.given_numbers import Bounds, NotNegative, Positive
from footfall.robot import Robot
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
#: Acceleration (m/s2) of a mass at a depth (m) and depth rate (m/s).
Acceleration = Callable[[float, float], float]

#: Tolerance of a step, relative to the greatest depth and the landing speed, and the most steps of a bounce.
EXACT, MOST = 1e-9, 20_000
#: First step, s, and the limits of the factor from one step to the next.
FIRST, LONGER, SHORTER = 1e-9, 10.0, 0.2
#: Longest contact, as a multiple of the time of compression; after it the mass has come to rest.
LONG = 50.0
#: Shares of the landing speed: a mass that sinks more slowly than the first, with an acceleration that would change its
#: speed by less than the second in the time so far, has come to rest, too.
CREEP, TURNS = 1e-6, 1e-3
#: Tolerance of a damping, relative to the upper end of its bracket.
FOUND = 1e-9


def restitution(force: NormalForce, mass: float, speed: float, gravity: float = 0.0) -> float:
    """Restitution of a mass (kg) that lands at ``speed`` (m/s) on a point; 0 if it does not leave."""

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
        if down and (fine[1] >= 0.0 or time > LONG * down):  # it falls back with less energy, or rests
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
    """The damping for which ``force(damping)`` has the wanted restitution; ``scale`` is its order of magnitude."""

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
    """The root of a function between ``low`` and ``high``; ``high`` itself if rounding hides the change of sign."""
    try:
        return root_between(function, low, high, near)
    except ValueError:
        return high


#: Default depth of points at rest, m, and its largest share of the depth at which the robot would tip, and of the
#: robot's size, which makes it smaller for robots below 10 cm.
USUAL_DEPTH, STEADY, SHALLOW = 1e-3, 0.25, 0.01


@dataclass(frozen=True, kw_only=True)
class SpringLaw(Law):
    """A law of springs and dampers, ``k d^alpha + c d^beta d'``, whose gains may follow from behaviour.

    Attributes:
        rest_penetration: m, depth when the robot stands, in place of a stiffness; left out, 1 mm, or less where the
            robot would tip or is tiny.
        damping_ratio: of the robot bouncing on all its points, at rest depth, in place of a damping.
        restitution: of the robot landing on all its points, in place of a damping.
        impact_speed: m/s, at which the restitution holds.
    """

    rest_penetration: Positive | None = None
    damping_ratio: NotNegative | None = None
    restitution: Annotated[float, Bounds(0.0, 1.0, open=True)] | None = None
    impact_speed: Positive = 1.0

    #: Names of its stiffness and damping, as options and as parameters.
    gains: ClassVar[tuple[str, str]] = ("k", "c")

    @property
    def exponents(self) -> tuple[float, float]:
        """Exponents of the depth in the spring and in the damper."""
        return 1.0, 0.0

    def check_gains(self) -> None:
        """Refuse options of behaviour that contradict a gain or each other."""
        stiffness, damping = self.gains
        self._only_one("the stiffness", stiffness, "rest_penetration")
        self._only_one("the damping", damping, "damping_ratio", "restitution")

    def _only_one(self, what: str, *names: str) -> None:
        """Refuse two options that determine the same quantity."""
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) > 1:
            raise LawError(f"{self.name}: {' and '.join(given)} both settle {what}; give one of them")

    def stiffness(self, load: float, tipping: float = math.inf, size: float = math.inf) -> float:
        """The stiffness, given or derived, of a point that carries ``load`` (N) when the robot stands, N/m^alpha.

        The default depth is one that a robot of that ``tipping`` depth and ``size`` (m) can bear.
        """
        given: float | None = getattr(self, self.gains[0])
        depth = self.rest_penetration
        depth = min(USUAL_DEPTH, SHALLOW * size, STEADY * tipping) if depth is None else depth
        return float(load / depth ** self.exponents[0]) if given is None else given

    def damping(self, setting: Setting, k: float) -> float:
        """The damping of a point, N s/m^(1 + beta): given, for a restitution or damping ratio, or the law's default."""
        given: float | None = getattr(self, self.gains[1])
        if given is not None:
            return given
        alpha, beta = self.exponents
        terms = NormalTerms(k, alpha, 0.0, beta)
        if self.restitution is not None:
            bounce = _Bounce(setting.share, self.impact_speed, setting.load / setting.share)
            return _damping_for(self.restitution, terms, bounce, critical_damping(terms, setting))
        if self.damping_ratio is not None:
            return self.damping_ratio * critical_damping(terms, setting)
        return self.default_damping(setting, terms)

    def default_damping(self, setting: Setting, terms: NormalTerms) -> float:
        """The damping if no option determines it."""
        raise NotImplementedError

    def normal_terms(self, setting: Setting) -> NormalTerms:
        """The normal force of a point as a formula."""
        (alpha, beta), parameters = self.exponents, self.resolve(setting)
        k, c = (getattr(parameters, name) for name in self.gains)
        return NormalTerms(k, alpha, c, beta)


def stable_damping(setting: Setting) -> float:
    """Largest default damping of a point, N s/m: half the stability limit of the step."""
    return 0.5 / (setting.dt * setting.mobility)


def critical_damping(terms: NormalTerms, setting: Setting) -> float:
    """The damping ``c`` that is critical for the mass a point carries, about its depth at rest."""
    depth = terms.depth(setting.load)
    return 2.0 * (terms.slope(depth) * setting.share) ** 0.5 / float(depth**terms.beta)


class _Bounce(NamedTuple):
    """A mass (kg) that lands at a speed (m/s) under gravity (m/s2)."""

    mass: float
    speed: float
    gravity: float


@lru_cache(maxsize=64)  # a simulation asks several times, and the search integrates some ten bounces
def _damping_for(restitution: float, terms: NormalTerms, bounce: _Bounce, scale: float) -> float:
    k, alpha, _, beta = terms
    return damping_for(
        restitution,
        lambda c: lambda depth, rate: max(0.0, k * depth**alpha + c * depth**beta * rate),
        **bounce._asdict(),
        scale=scale,
    )


class OnElasticLayer:
    """Shared by laws whose points can represent parts of an elastic layer."""

    name: ClassVar[str]

    @classmethod
    def from_material(
        cls,
        youngs_modulus: float,
        poisson_ratio: float,
        *,
        thickness: float,
        robot: Robot | None = None,
        area: float | None = None,
        **options: Any,
    ) -> Self:
        """The law for a sole, or a ground, that is an elastic layer of ``thickness`` (m); Young's modulus in Pa.

        Each point represents ``area`` (m2), or its share of the soles of ``robot``. ``options`` are those of the law,
        such as ``restitution``, and ``loss``, the material's loss factor. See :mod:`footfall.contact.springs.material`.
        """
        normal, shear, rest = layer_gains(cls.name, youngs_modulus, poisson_ratio, thickness, robot, area, options)
        return cls.of_layer(normal, shear, rest)

    @classmethod
    def of_layer(cls, normal: float, shear: float, options: dict[str, Any]) -> Self:
        """The law with these stiffnesses of a point, N/m."""
        raise NotImplementedError


def check_soles(law: Law, robot: Robot) -> None:
    """Refuse soles with too few points: a moment needs three points, in the plane two.

    Feet that are a point or a line by design are accepted.
    """
    kinds = robot.model.jnt_type
    axes = robot.model.jnt_axis[kinds == mujoco.mjtJoint.mjJNT_HINGE]
    turns = np.isin(kinds, (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL)).any()
    planar = not turns and np.linalg.matrix_rank(axes, tol=1e-6) <= 1
    for foot in robot.feet:
        if len(foot.polygon) > 2 and len(foot.points) < (2 if planar else 3):
            count = "one testing point" if len(foot.points) == 1 else "two testing points"
            raise LawError(
                f"{law.name}: foot '{foot.name}' has a sole but only {count}, and fewer than three carry no moment; "
                "give it a grid, such as load_robot(..., points=(6, 3))"
            )
