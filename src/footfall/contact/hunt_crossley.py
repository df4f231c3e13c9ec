"""Hunt and Crossley's contact: damping that grows with depth (Bruneau 1999, eq. 15).

``f_n = k d^alpha + c d^alpha d'``: no force at zero depth, so impacts begin and end without a jump. Friction is
Coulomb's, regularised: linear in the slip speed up to ``v_s``, constant beyond. A loaded point therefore creeps,
by ``v_s`` times the share of the sliding load it carries; :meth:`HuntCrossley.creep` states it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from footfall.contact.base import SLIDE, STICK, PointLaw, Setting, check, check_positive


class Parameters(NamedTuple):
    k: float  # N/m^alpha
    c: float  # N s/m^(alpha + 1)
    alpha: float
    v_s: float  # m/s
    friction: float


def hunt_crossley(depth, depth_rate, slip, slip_velocity, memory, parameters):
    p = parameters
    normal = max(0.0, depth**p.alpha * (p.k + p.c * depth_rate))  # Bruneau 1999, eq. 15
    speed = (slip_velocity[0] ** 2 + slip_velocity[1] ** 2) ** 0.5
    viscosity = p.friction * normal / max(speed, p.v_s)
    mode = SLIDE if speed > p.v_s else STICK
    return normal, -viscosity * slip_velocity[0], -viscosity * slip_velocity[1], mode


@dataclass(frozen=True, kw_only=True)
class HuntCrossley(PointLaw):
    """Nonlinear spring with depth-dependent damping and regularised Coulomb friction.

    Options left at ``None`` are derived for the robot: ``k`` from ``rest_penetration`` under its weight, ``c`` from
    ``damping_ratio`` at that depth, or, if that is ``None`` too, ``c = 1.5 s/m * k``, which makes an impact at 0.3 m/s
    return about 0.7 of its speed; ``v_s`` as the smallest that is stable with the step.

    Limitations: one friction coefficient, the ground's dynamic one; a point at rest under load creeps.
    """

    k: float | None = None  # N/m^alpha per point
    c: float | None = None  # N s/m^(alpha + 1) per point
    alpha: float = 1.5  # Hertz' exponent for round bodies
    v_s: float | None = None  # m/s
    rest_penetration: float = 1e-3  # m, when the robot stands
    damping_ratio: float | None = None  # of the robot bouncing on all its points, at rest depth

    name = "hunt-crossley"
    citation = "Bruneau and Ouezdou 1999, eq. 15; Hunt and Crossley 1975"
    kernel = staticmethod(hunt_crossley)

    def __post_init__(self) -> None:
        check_positive(self, "k", "v_s", "rest_penetration")
        check_positive(self, "c", "damping_ratio", zero=True)
        check(1.0 <= self.alpha <= 3.0, self.name, "alpha", self.alpha, "between 1 and 3")

    def resolve(self, setting: Setting) -> Parameters:
        depth = self.rest_penetration
        k = self.k if self.k is not None else setting.load / depth**self.alpha
        if self.c is not None:
            c = self.c
        elif self.damping_ratio is not None:
            slope = self.alpha * k * depth ** (self.alpha - 1.0)
            c = 2.0 * self.damping_ratio * (slope * setting.share) ** 0.5 / depth**self.alpha
        else:
            c = 1.5 * k
        friction = setting.ground.dynamic_friction
        # Explicit steps are stable while dt * viscosity * mobility < 2; half of that does not ring.
        stable = setting.dt * friction * setting.load * setting.mobility
        return Parameters(
            k=k,
            c=c,
            alpha=self.alpha,
            v_s=self.v_s if self.v_s is not None else max(stable, 1e-6),
            friction=friction,
        )

    def creep(self, ratio: float, setting: Setting) -> float:
        return ratio * self.resolve(setting).v_s
