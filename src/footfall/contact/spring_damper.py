"""Linear spring and damper at every contact point (Rengifo 2009, eq. 2).

Normal force ``f_n = k d + c d'`` for depth ``d > 0``. The equation as printed pulls the foot back just before
it leaves the ground; ``adhesive=False`` clips that part, which is what simulators do. Tangentially the same
spring and damper hold the point to its anchor; beyond the friction cone the force stays on the cone and the
anchor is dragged along, so a resting point does not creep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from footfall.contact.base import SLIDE, PointLaw, Setting, check_positive
from footfall.contact.friction import coulomb


class Parameters(NamedTuple):
    k: float  # N/m
    c: float  # N s/m
    kt: float  # N/m
    ct: float  # N s/m
    adhesive: float  # 1 or 0
    static_friction: float
    dynamic_friction: float


def spring_damper(depth, depth_rate, slip, slip_velocity, memory, parameters):
    p = parameters
    normal = p.k * depth + p.c * depth_rate  # Rengifo 2009, eq. 2
    if normal < 0.0 and p.adhesive == 0.0:
        normal = 0.0
    friction = p.dynamic_friction if memory[0] == SLIDE else p.static_friction
    limit = max(0.0, normal)
    x = -p.kt * slip[0] - p.ct * slip_velocity[0]
    y = -p.kt * slip[1] - p.ct * slip_velocity[1]
    x, y, mode = coulomb(x, y, friction * limit)
    if mode == SLIDE:
        x, y, _ = coulomb(x, y, p.dynamic_friction * limit)
        # The anchor follows, so that spring and damper together just hold the force on the cone.
        slip[0] = -(x + p.ct * slip_velocity[0]) / p.kt
        slip[1] = -(y + p.ct * slip_velocity[1]) / p.kt
    memory[0] = mode
    return normal, x, y, mode


@dataclass(frozen=True, kw_only=True)
class SpringDamper(PointLaw):
    """Linear spring and damper at every point, with Coulomb friction from an anchor.

    Options left at ``None`` are derived for the robot: ``k`` from ``rest_penetration`` under its weight,
    ``c`` from ``damping_ratio`` for the mass each point carries (or, if that is ``None`` too, critical damping,
    less where the step would make it unstable), ``kt`` and ``ct`` equal to ``k`` and ``c``.
    """

    k: float | None = None  # N/m per point
    c: float | None = None  # N s/m per point
    kt: float | None = None  # N/m per point, tangential
    ct: float | None = None  # N s/m per point, tangential
    rest_penetration: float = 1e-3  # m, when the robot stands
    damping_ratio: float | None = None  # of the robot bouncing on all its points
    adhesive: bool = False  # keep the pulling force of eq. 2

    name = "spring-damper"
    citation = "Rengifo et al. 2009, eq. 2"
    memory_size = 1
    kernel = staticmethod(spring_damper)

    def __post_init__(self) -> None:
        check_positive(self, "k", "kt", "rest_penetration")
        check_positive(self, "c", "ct", "damping_ratio", zero=True)

    def resolve(self, setting: Setting) -> Parameters:
        k = self.k if self.k is not None else setting.load / self.rest_penetration
        critical = 2.0 * (k * setting.share) ** 0.5
        if self.c is not None:
            c = self.c
        elif self.damping_ratio is not None:
            c = self.damping_ratio * critical
        else:
            c = min(critical, 0.5 / (setting.dt * setting.mobility))
        return Parameters(
            k=k,
            c=c,
            kt=self.kt if self.kt is not None else k,
            ct=self.ct if self.ct is not None else c,
            adhesive=float(self.adhesive),
            static_friction=setting.ground.static_friction,
            dynamic_friction=setting.ground.dynamic_friction,
        )
