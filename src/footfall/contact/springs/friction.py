"""Friction at one point, shared by the point laws.

``friction`` names the model:

- ``"anchored"``: a spring and damper to the point's anchor; at the cone the force is limited and the anchor follows;
- ``"regularised"``: a damper, so steep that it reaches the cone at the speed ``v_s``; a loaded point creeps;
- ``"lugre"``: bristles that bend and slip (Canudas de Wit et al. 1995), ``mu = sigma0 z + sigma1 z' + sigma2 v`` with
  ``z' = v - sigma0 |v| z / g``, g being the dynamic coefficient: presliding displacement, breakaway that depends on the
  rate, friction lag.

The coefficient of an anchored point jumps from static to dynamic when sliding begins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from footfall.compiled import inlined
from footfall.contact.base import PointLaw
from footfall.contact.setting import Setting
from footfall.given_numbers import NotNegative, Positive
from footfall.kinds import Float, Int, Named, Vector
from footfall.solve.contacts import SLIDE, STICK, coulomb

KINDS = ("anchored", "regularised", "lugre")
ANCHORED, REGULARISED = 0.0, 1.0  # KINDS as numbers
#: Columns of a point's memory: its mode, and the bend of its bristles (2) in m.
MODE, BEND = 0, 1
MEMORY_SIZE = 3


@inlined
def anchored(slip: Vector, velocity: Vector, memory: Vector, normal: Float, p: Named) -> tuple[Float, Float, Int]:
    """Spring and damper from the anchor, which a sliding point drags along. Returns two forces (N) and the mode."""
    x = -p.kt * slip[0] - p.ct * velocity[0]
    y = -p.kt * slip[1] - p.ct * velocity[1]
    x, y, mode = coulomb(x, y, (p.dynamic_friction if memory[MODE] == SLIDE else p.static_friction) * normal)
    if mode == SLIDE:
        x, y, _ = coulomb(x, y, p.dynamic_friction * normal)
        # The anchor follows, so that spring and damper together give the limited force.
        slip[0] = -(x + p.ct * velocity[0]) / p.kt
        slip[1] = -(y + p.ct * velocity[1]) / p.kt
    return x, y, mode


@inlined
def regularised(velocity: Vector, normal: Float, p: Named) -> tuple[Float, Float, Int]:
    """A damper, limited to the cone. Returns two forces (N) and the mode."""
    speed = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2)
    limit = p.dynamic_friction * normal
    # The speed at which the damper reaches the cone: v_s, or more under the load of an impact, so that the damping
    # stays stable in an explicit step.
    reached = max(p.v_s, limit / p.viscosity)
    mode = SLIDE if speed > reached else STICK
    viscosity = limit / max(speed, reached)
    return -viscosity * velocity[0], -viscosity * velocity[1], mode


@inlined
def lugre(velocity: Vector, memory: Vector, normal: Float, p: Named) -> tuple[Float, Float, Int]:
    """Bristles that bend and slip. Returns two forces (N) and the mode."""
    speed = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2)
    limit = p.dynamic_friction
    if limit <= 0.0:
        return 0.0, 0.0, SLIDE
    # One implicit step, since bristles settle faster than any step of a robot.
    decay = 1.0 / (1.0 + p.dt * p.sigma0 * speed / limit)
    bend_x = (memory[BEND] + p.dt * velocity[0]) * decay
    bend_y = (memory[BEND + 1] + p.dt * velocity[1]) * decay
    x = p.sigma0 * bend_x + p.sigma1 * (bend_x - memory[BEND]) / p.dt + p.sigma2 * velocity[0]
    y = p.sigma0 * bend_y + p.sigma1 * (bend_y - memory[BEND + 1]) / p.dt + p.sigma2 * velocity[1]
    memory[BEND], memory[BEND + 1] = bend_x, bend_y
    bent = p.sigma0 * math.sqrt(bend_x * bend_x + bend_y * bend_y)
    return -normal * x, -normal * y, SLIDE if bent >= 0.99 * limit else STICK


@inlined
def tangential_force(
    slip: Vector, velocity: Vector, memory: Vector, normal: Float, p: Named
) -> tuple[Float, Float, Int]:
    """Friction (N) on a point under a normal force (N), and its mode; may move the anchor by writing ``slip``."""
    load = max(0.0, normal)
    if p.friction == ANCHORED:
        x, y, mode = anchored(slip, velocity, memory, load, p)
    elif p.friction == REGULARISED:
        x, y, mode = regularised(velocity, load, p)
    else:
        x, y, mode = lugre(velocity, memory, load, p)
    memory[MODE] = mode
    return x, y, mode


@dataclass(frozen=True, kw_only=True)
class FrictionalLaw(PointLaw):
    """A point law with a choice of friction; see :mod:`footfall.contact.springs.friction`.

    Attributes:
        friction: anchored, a spring from where a point stuck; regularised, viscous below a slip v_s; lugre, bristles.
        kt: N/m per point, tangential stiffness, left out the normal one: anchored.
        ct: N s/m per point, tangential damping, left out the normal one: anchored.
        v_s: m/s, slip at which friction is full, left out the least that is stable: regularised.
        sigma0: 1/m, stiffness of the bristles per unit load: lugre.
        sigma1: s/m, damping of the bristles per unit load: lugre.
        sigma2: s/m, viscous friction per unit load: lugre.
    """

    friction: Literal["anchored", "regularised", "lugre"] = "anchored"
    kt: Positive | None = None
    ct: NotNegative | None = None
    v_s: Positive | None = None
    sigma0: Positive | None = None
    sigma1: NotNegative | None = None
    sigma2: NotNegative = 0.0

    memory_size = MEMORY_SIZE

    @property
    def unclaimed(self) -> Mapping[str, str]:
        if self.friction == "regularised":
            return {}
        held = "the anchor's spring" if self.friction == "anchored" else "the bristles"
        return {"friction direction": f"{held} must first be stretched the other way where the slip turns"}

    def friction_numbers(self, setting: Setting, stiffness: float, damping: float) -> dict[str, Any]:
        """Parameters of :func:`tangential_force`; options left out follow the normal ``stiffness`` and ``damping``."""
        ground, dt = setting.ground, setting.dt
        kt = stiffness if self.kt is None else self.kt
        ct = damping if self.ct is None else self.ct
        # Explicit steps do not ring while dt * viscosity * mobility < 1, also when one foot of two carries all.
        stable = 2.0 * dt * ground.dynamic_friction * setting.load * setting.mobility
        return {
            "friction": float(KINDS.index(self.friction)),
            "kt": kt,
            "ct": ct,
            "v_s": max(stable, 1e-6) if self.v_s is None else self.v_s,
            "viscosity": 1.0 / (dt * setting.mobility) if self.v_s is None else math.inf,
            "sigma0": kt / setting.load if self.sigma0 is None else self.sigma0,
            "sigma1": ct / setting.load if self.sigma1 is None else self.sigma1,
            "sigma2": self.sigma2,
            "static_friction": ground.static_friction,
            "dynamic_friction": ground.dynamic_friction,
            "dt": dt,
        }

    def creep(self, ratio: float, setting: Setting) -> float:
        if self.friction != "regularised":
            return 0.0
        return ratio * self.resolve(setting).v_s
