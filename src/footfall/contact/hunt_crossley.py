"""Hunt and Crossley's contact: damping that grows with depth (Bruneau 1999, eq. 15).

``f_n = k d^alpha + c d^alpha d'``: no force at zero depth, so impacts begin and end without a jump. Friction is
Coulomb's, regularised by default: a loaded point therefore creeps, at ``v_s`` times the ratio of its tangential load to
its sliding friction; ``creep`` gives that speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from footfall.arguments import public
from footfall.contact.setting import Setting
from footfall.contact.springs.derived_gains import NormalTerms, SpringLaw, stable_damping
from footfall.contact.springs.friction import FrictionalLaw, tangential_force
from footfall.given_numbers import Bounds, NotNegative, Positive
from footfall.kinds import Float, Int, Vector


class Parameters(NamedTuple):
    k: float  # N/m^alpha
    c: float  # N s/m^(alpha + 1)
    alpha: float
    c_most: float  # N s/m, largest c d^alpha that is stable in the step
    friction: float
    kt: float  # N/m
    ct: float  # N s/m
    v_s: float  # m/s
    viscosity: float  # N s/m
    sigma0: float  # 1/m
    sigma1: float  # s/m
    sigma2: float  # s/m
    static_friction: float
    dynamic_friction: float
    dt: float  # s


def hunt_crossley(
    depth: Float, depth_rate: Float, slip: Vector, slip_velocity: Vector, memory: Vector, parameters: Parameters
) -> tuple[Float, Float, Float, Int]:
    """Damping that grows with depth along the normal, friction as chosen: a point kernel."""
    p = parameters
    shape = depth * math.sqrt(depth) if p.alpha == 1.5 else depth**p.alpha  # Hertz' exponent, quickly
    normal = max(0.0, p.k * shape + min(p.c * shape, p.c_most) * depth_rate)  # Bruneau 1999, eq. 15
    x, y, mode = tangential_force(slip, slip_velocity, memory, normal, p)
    return normal, x, y, mode


@public
@dataclass(frozen=True, kw_only=True)
class HuntCrossley(SpringLaw, FrictionalLaw):
    """Nonlinear spring with depth-dependent damping and regularised Coulomb friction.

    Options left at ``None`` are derived for the robot. ``k`` follows from ``rest_penetration`` under its weight: 1 mm,
    or less for a robot that would tip on springs four times as soft, and 1 % of the size of one smaller than 10 cm.
    ``c`` follows from ``restitution`` at ``impact_speed``, or from ``damping_ratio`` at the rest depth; if those are
    ``None`` too, it is ``1.5 s/m * k``, which makes an impact at 0.3 m/s return about 0.7 of its speed, or less where
    the step needs it. ``v_s`` is the smallest that is stable with the step. A deep or fast impact makes ``c d^alpha``
    larger than is stable in steps of ``dt``: where ``c`` follows from neither option, it is limited to what is stable.

    Limitations: regularised friction has one coefficient, the ground's dynamic one, and a loaded point creeps in mode
    stick, by ``v_s`` times the ratio of its tangential load to that at which it slides: 21 mm/s for the built-in
    quadruped pulled sideways with 5 % of its weight.

    Attributes:
        friction: anchored, a spring from where a point stuck; regularised, viscous below a slip v_s; lugre, bristles.
        k: N/m^alpha per point, stiffness; left out, from rest_penetration.
        c: N s/m^(alpha + 1) per point, damping; left out, derived.
        alpha: exponent of the depth; Hertz' for round bodies.
    """

    friction: Literal["anchored", "regularised", "lugre"] = "regularised"
    k: Positive | None = None
    c: NotNegative | None = None
    alpha: Annotated[float, Bounds(1.0, 3.0)] = 1.5

    name = "hunt-crossley"
    citation = "Bruneau and Ouezdou 1999, eq. 15; Hunt and Crossley 1975"
    kernel = staticmethod(hunt_crossley)

    def __post_init__(self) -> None:
        self.check_gains()

    def resolve(self, setting: Setting) -> Parameters:
        k = self.stiffness(setting.load, setting.tipping, setting.size)
        depth = (setting.load / k) ** (1.0 / self.alpha)
        c = self.damping(setting, k)
        # Linearised about rest, for the spring and damper of friction.
        slope = self.alpha * k * depth ** (self.alpha - 1.0)
        stable = stable_damping(setting)
        chosen = (self.c, self.damping_ratio, self.restitution)
        return Parameters(
            k=k,
            c=c,
            alpha=self.alpha,
            c_most=stable if chosen == (None, None, None) else math.inf,
            **self.friction_numbers(setting, slope, min(c * depth**self.alpha, stable)),
        )

    @property
    def exponents(self) -> tuple[float, float]:
        return self.alpha, self.alpha

    def default_damping(self, setting: Setting, terms: NormalTerms) -> float:
        return 1.5 * terms.k
