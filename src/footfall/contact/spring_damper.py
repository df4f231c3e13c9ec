"""Linear spring and damper at every contact point (Rengifo 2009, eq. 2).

Normal force ``f_n = k d + c d'`` for depth ``d > 0``. The equation as printed pulls the foot back just before
it leaves the ground; ``adhesive=False`` clips that part, as simulators do. Tangentially the same spring and damper
hold the point to its anchor, so a resting point does not creep; :mod:`footfall.contact.springs.friction` has
alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from footfall.arguments import public
from footfall.contact.setting import Setting
from footfall.contact.springs.derived_gains import (
    NormalTerms,
    OnElasticLayer,
    SpringLaw,
    critical_damping,
    stable_damping,
)
from footfall.contact.springs.friction import FrictionalLaw, tangential_force
from footfall.given_numbers import NotNegative, Positive
from footfall.kinds import Float, Int, Vector


class Parameters(NamedTuple):
    k: float  # N/m
    c: float  # N s/m
    adhesive: float  # 1 or 0
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


def spring_damper(
    depth: Float, depth_rate: Float, slip: Vector, slip_velocity: Vector, memory: Vector, parameters: Parameters
) -> tuple[Float, Float, Float, Int]:
    """Spring and damper along the normal, friction as chosen: a point kernel."""
    normal = parameters.k * depth + parameters.c * depth_rate  # Rengifo 2009, eq. 2; Bruneau 1999, eq. 5
    if normal < 0.0 and parameters.adhesive == 0.0:
        normal = 0.0
    x, y, mode = tangential_force(slip, slip_velocity, memory, normal, parameters)
    return normal, x, y, mode


@public
@dataclass(frozen=True, kw_only=True)
class SpringDamper(OnElasticLayer, SpringLaw, FrictionalLaw):
    """Linear spring and damper at every point, with Coulomb friction from an anchor.

    Options left at ``None`` are derived for the robot. ``k`` follows from ``rest_penetration`` under its weight: 1 mm,
    or less for a robot that would tip on springs four times as soft, and 1 % of the size of one smaller than 10 cm.
    ``c`` follows, for the mass that each point carries, from ``restitution`` at ``impact_speed`` or from
    ``damping_ratio``; if those are ``None`` too, it is critical damping, or less where the step would make that
    unstable. ``kt`` and ``ct`` equal ``k`` and ``c``.

    Attributes:
        k: N/m per point, stiffness; left out, from rest_penetration.
        c: N s/m per point, damping; left out, from restitution or damping_ratio, or critical.
        adhesive: keep the pulling force of eq. 2.
    """

    k: Positive | None = None
    c: NotNegative | None = None
    adhesive: bool = False

    name = "spring-damper"
    citation = "Rengifo et al. 2009, eq. 2"
    kernel = staticmethod(spring_damper)

    def __post_init__(self) -> None:
        self.check_gains()

    @classmethod
    def of_layer(cls, normal: float, shear: float, options: dict[str, Any]) -> Self:
        return cls(k=normal, kt=shear, **options)

    def resolve(self, setting: Setting) -> Parameters:
        k = self.stiffness(setting.load, setting.tipping, setting.size)
        c = self.damping(setting, k)
        return Parameters(k=k, c=c, adhesive=float(self.adhesive), **self.friction_numbers(setting, k, c))

    def default_damping(self, setting: Setting, terms: NormalTerms) -> float:
        return min(critical_damping(terms, setting), stable_damping(setting))
