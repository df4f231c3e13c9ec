"""Gains of springs and dampers from behaviour (a depth at rest, a restitution, a damping ratio) or from a material."""

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

#: Relative tolerance of the integration of a bounce, and of a damping.
EXACT, FOUND = 1e-9, 1e-9
#: Longest rebound, as a multiple of the time of compression; after it the mass has come to rest.
LONG = 50.0
#: Shares of the landing speed: a mass that sinks more slowly than the first, with an acceleration that would change its
#: speed by less than the second in the time so far, has come to rest, too.
CREEP, TURNS = 1e-6, 1e-3


def restitution(force: NormalForce, mass: float, speed: float, gravity: float = 0.0) -> float:
    """Restitution of a mass (kg) that lands at ``speed`` (m/s) on a point; 0 if it does not leave."""
    from scipy.integrate import solve_ivp  # its import takes half a second, and few programs need it

    def rates(_: float, state: Any) -> tuple[float, float]:
        depth, rate = state.tolist()
        return rate, gravity - force(max(depth, 0.0), rate) / mass

    def end(of: int, at: float, direction: float) -> Any:
        event: Any = lambda _, state: float(state[of] - at)  # noqa: E731 - it gets attributes
        event.terminal, event.direction = True, direction
        return event

    tolerances = {"method": "DOP853", "rtol": EXACT, "atol": EXACT * speed * np.array([1e-3, 1.0])}
    down = solve_ivp(rates, (0.0, math.inf), (1e-9 * speed, speed), events=end(1, CREEP * speed, -1.0), **tolerances)
    time, deepest = down.t[-1], down.y[:, -1]
    if abs(rates(time, deepest)[1]) * time < TURNS * speed:
        return 0.0
    left_or_fell_back = end(0, 0.0, -1.0), end(1, 0.0, 1.0)
    up = solve_ivp(rates, (0.0, LONG * time), deepest, events=left_or_fell_back, **tolerances)
    return float(-up.y[1, -1] / speed) if up.t_events[0].size else 0.0


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
            scale = critical_damping(terms, setting)
            return damping_for(self.restitution, terms, setting.share, self.impact_speed, setting.load, scale)
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


@lru_cache(maxsize=64)  # a simulation asks several times, and the search integrates some ten bounces
def damping_for(wanted: float, terms: NormalTerms, mass: float, speed: float, load: float, scale: float) -> float:
    """The damping for a restitution of a mass (kg) that carries a load (N); ``scale`` is its order of magnitude."""
    k, alpha, _, beta = terms

    def miss(c: float) -> float:
        def force(depth: float, rate: float) -> float:
            return max(0.0, k * depth**alpha + c * depth**beta * rate)

        return restitution(force, mass, speed, load / mass) - wanted

    if miss(0.0) <= 0.0:
        return 0.0
    low, high = 0.0, scale
    for _ in range(40):
        if miss(high) < 0.0:
            return root_between(miss, low, high, FOUND * high)
        low, high = high, 2.0 * high
    raise LawError(f"no damping gives a restitution of {wanted} at {speed} m/s")


def spring_law(law: Law) -> Any:
    """The law itself if its normal force is a spring and damper; otherwise an error."""
    if not hasattr(law, "normal_terms"):
        raise LawError(f"{law.name} has no springs; laws that have are spring-damper, hunt-crossley and distributed")
    return law


class OnElasticLayer:
    """Shared by laws whose points can represent parts of an elastic layer (Winkler's foundation).

    A layer of thickness h on a rigid base, so thin relative to the sole that it cannot spread sideways: each point
    carries the column under its area A, ``k = A M / h`` along the normal, with the confined modulus
    ``M = E (1 - nu) / ((1 + nu) (1 - 2 nu))``, and ``kt = A G / h`` in shear, ``G = E / (2 (1 + nu))`` (Johnson 1985,
    Contact Mechanics, section 4.3). A layer thicker than the sole is wide is softer, by up to ``M / E``.
    """

    name: ClassVar[str]

    @classmethod
    def from_material(
        cls,
        youngs_modulus: Positive,
        poisson_ratio: Annotated[float, Bounds(0.0, 0.5)],
        *,
        thickness: Positive,
        robot: Robot | None = None,
        area: Positive | None = None,
        **options: Any,
    ) -> Self:
        """The law for a sole, or a ground, that is an elastic layer of ``thickness`` (m); Young's modulus in Pa.

        Each point represents ``area`` (m2), or its share of the soles of ``robot``. ``options`` are those of the law,
        such as ``restitution``.
        """
        if poisson_ratio == 0.5:
            raise LawError(f"{cls.name}: an incompressible layer that cannot spread does not give way: take 0.49")
        if area is None:
            if robot is None:
                raise LawError(f"{cls.name}: give robot=, for its soles, or area=, the m2 that each point stands for")
            area = sum(_sole_area(foot.polygon) for foot in robot.feet) / robot.point_count
            if area == 0.0:
                raise LawError(f"{cls.name}: the feet of {robot.name} are points or lines; give area=, m2 per point")
        confined = youngs_modulus * (1 - poisson_ratio) / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio))
        shear = youngs_modulus / (2 * (1 + poisson_ratio))
        return cls.of_layer(area * confined / thickness, area * shear / thickness, options)

    @classmethod
    def of_layer(cls, normal: float, shear: float, options: dict[str, Any]) -> Self:
        """The law with these stiffnesses of a point, N/m."""
        raise NotImplementedError


def _sole_area(polygon: np.ndarray) -> float:
    """Area of a sole's corners (N, 3) in m2; 0 for a point or a line."""
    arms = polygon - polygon[0]
    return 0.5 * float(np.linalg.norm(np.cross(arms[1:-1], arms[2:]).sum(axis=0)))


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
