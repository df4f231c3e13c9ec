"""Gains from materials, and materials from gains.

Two classical contacts, both small-strain and linear in the material:

- *Elastic foundation* (Winkler): a layer of thickness ``h`` on a rigid base, so thin relative to the sole that it
  cannot spread sideways. Each point carries the column under its area ``A``: ``k = A M / h`` along the normal, with the
  confined modulus ``M = E (1 - nu) / ((1 + nu) (1 - 2 nu))``, and ``kt = A G / h`` in shear, ``G = E / (2 (1 + nu))``.
  (Johnson, Contact Mechanics, 1985, section 4.3.)
- *Hertz*: a sphere of radius ``R`` on flat ground, ``f = 4/3 E* sqrt(R) d^(3/2)`` with
  ``1 / E* = (1 - nu1^2) / E1 + (1 - nu2^2) / E2``; the second term is zero for a rigid partner. (Johnson, section 4.2.)

Damping comes from a restitution (``bounce``), a damping ratio, or the material's loss factor
``eta = tan delta``: the energy lost in a cycle over 2 pi times the energy stored. A spring and damper have that factor
at the frequency at which the robot bounces on its points if their damping ratio is ``eta / 2``.

Limitations: a layer that is thicker than the width of the sole spreads, and is softer than this by up to ``M / E``;
rubber is not linear beyond strains of a tenth; Hertz' theory requires a depth much smaller than the radius. All points
have the same area, so a grid that includes the edges of a sole is stiffer against tilting than the layer, by
``2 / (n - 1)`` for n points along a side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law, check
from footfall.contact.setting import Setting
from footfall.errors import LawError
from footfall.given_numbers import is_number
from footfall.robot import Foot, Robot

#: Largest difference from a theory's exponent at which a law's gain is used directly.
SAME_EXPONENT = 1e-9


@dataclass(frozen=True)
class Material:
    """A linear elastic material, and its shape in a contact.

    ``youngs_modulus`` in Pa; a layer has a ``thickness`` (m) and an ``area`` per point (m2), a sphere a ``radius`` (m).
    ``loss`` is the loss factor at the frequency at which the robot bounces.
    """

    youngs_modulus: float
    poisson_ratio: float
    thickness: float | None = None
    radius: float | None = None
    area: float | None = None
    loss: float | None = None

    def __post_init__(self) -> None:
        _check_elastic("material", self.youngs_modulus, self.poisson_ratio)
        for name in ("thickness", "radius", "area"):
            if getattr(self, name) is not None:
                _length("material", name, getattr(self, name))
        if self.loss is not None:
            _check_loss("material", self.loss)

    @property
    def confined_modulus(self) -> float:
        """Stress over strain of a layer that cannot spread sideways, Pa; infinite if incompressible."""
        nu = self.poisson_ratio
        return math.inf if nu == 0.5 else self.youngs_modulus * (1 - nu) / ((1 + nu) * (1 - 2 * nu))

    @property
    def shear_modulus(self) -> float:
        """Pa."""
        return self.youngs_modulus / (2 * (1 + self.poisson_ratio))

    @property
    def contact_modulus(self) -> float:
        """Hertz' ``E*`` against a rigid partner, Pa."""
        return self.youngs_modulus / (1 - self.poisson_ratio**2)


def layer_gains(
    law: str,
    youngs_modulus: float,
    poisson_ratio: float,
    thickness: float,
    robot: Robot | None,
    area: float | None,
    options: dict[str, Any],
) -> tuple[float, float, dict[str, Any]]:
    """Normal and shear stiffness of a point on an elastic layer, N/m, and the remaining options, for the law."""
    _check_elastic(law, youngs_modulus, poisson_ratio)
    _check_confined(law, poisson_ratio)
    _length(law, "thickness", thickness)
    area = _area(law, robot, area)
    material = Material(youngs_modulus, poisson_ratio)
    rest = _damped(law, options)
    return area * material.confined_modulus / thickness, area * material.shear_modulus / thickness, rest


def hertz_gains(
    law: str,
    youngs_modulus: float,
    poisson_ratio: float,
    radius: float | None,
    robot: Robot | None,
    partner: tuple[float, float] | None,
    options: dict[str, Any],
) -> tuple[float, dict[str, Any]]:
    """Stiffness of a sphere on flat ground, N/m^(3/2), and the remaining options, for the law."""
    _check_elastic(law, youngs_modulus, poisson_ratio)
    compliance = 1.0 / Material(youngs_modulus, poisson_ratio).contact_modulus
    if partner is not None:
        _check_elastic(f"{law}, partner", *partner)
        compliance += 1.0 / Material(*partner).contact_modulus
    return 4.0 / 3.0 * math.sqrt(_radius(law, robot, radius)) / compliance, _damped(law, options)


def spring_law(law: Law) -> Any:
    """The law itself if its normal force is a spring and damper; otherwise an error."""
    if not hasattr(law, "normal_terms"):
        raise LawError(
            f"{law.name} has no springs to compare with a material; laws that have are spring-damper, hunt-crossley "
            "and distributed"
        )
    return law


@public
def material_of(
    law: Law,
    setting: Setting,
    *,
    poisson_ratio: float,
    thickness: float | None = None,
    radius: float | None = None,
    area: float | None = None,
) -> Material:
    """The material that a law's gains correspond to: a layer of ``thickness``, or spheres of ``radius`` (m).

    The inverse of ``from_material``. ``area`` (m2 per point) is that of the soles of the setting's robot unless given.
    Where the law's exponent differs from the theory's (1 for a layer, 3/2 for a sphere), the material is the one with
    the same depth under the standing robot's weight.

    >>> sim = ff.Simulation("hanavan", law="distributed")
    >>> ff.contact.material_of(sim.law, sim.setting, poisson_ratio=0.3, thickness=0.02).youngs_modulus
    """
    if (thickness is None) == (radius is None):
        raise LawError("give the thickness of a layer or the radius of a sphere, one of them")
    terms = spring_law(law).normal_terms(setting)
    depth = terms.depth(setting.load)
    loss = terms.damping(depth) / math.sqrt(terms.slope(depth) * setting.share)
    _check_elastic("material", 1.0, poisson_ratio)
    wanted = 1.0 if thickness is not None else 1.5
    k = terms.k if abs(terms.alpha - wanted) < SAME_EXPONENT else setting.load / depth**wanted
    unit = Material(1.0, poisson_ratio)
    if thickness is not None:
        _check_confined("material", poisson_ratio)
        _length("material", "thickness", thickness)
        area = _area("material", setting.robot, area)
        modulus = k * thickness / (area * unit.confined_modulus)
        return Material(modulus, poisson_ratio, thickness=thickness, area=area, loss=loss)
    modulus = 0.75 * k / (math.sqrt(_length("material", "radius", radius)) * unit.contact_modulus)
    return Material(modulus, poisson_ratio, radius=radius, loss=loss)


def sole_area(foot: Foot) -> float:
    """Area of a foot's sole, m2; 0 for a point or a line."""
    if len(foot.polygon) < 3:
        return 0.0
    arms = foot.polygon - foot.polygon[0]
    return 0.5 * float(np.linalg.norm(np.cross(arms[1:-1], arms[2:]).sum(axis=0)))


def point_area(robot: Robot) -> float:
    """Area of sole that each contact point of a robot stands for, m2."""
    return sum(sole_area(foot) for foot in robot.feet) / robot.point_count


# ---- checks of arguments -------------------------------------------------------------------------------------


def _check_elastic(owner: str, youngs_modulus: float, poisson_ratio: float) -> None:
    good = is_number(youngs_modulus) and youngs_modulus > 0
    check(good, owner, "youngs_modulus", youngs_modulus, "a positive finite number of Pa")
    good = is_number(poisson_ratio) and 0 <= poisson_ratio <= 0.5
    check(good, owner, "poisson_ratio", poisson_ratio, "between 0 and 0.5")


def _check_confined(owner: str, poisson_ratio: float) -> None:
    check(
        poisson_ratio < 0.5,
        owner,
        "poisson_ratio",
        poisson_ratio,
        "below 0.5 for a layer: an incompressible layer that cannot spread sideways does not give way at all, its "
        "confined modulus is infinite (take 0.49 for rubber, or Hertz' contact)",
    )


def _length(owner: str, name: str, value: Any) -> float:
    """A length in m, or an area in m2, if it is a positive number."""
    good = is_number(value) and value > 0
    check(good, owner, name, value, f"a positive finite number of {'m2' if name == 'area' else 'm'}")
    return float(value)


def _check_loss(owner: str, loss: Any) -> None:
    check(is_number(loss) and loss >= 0, owner, "loss", loss, "a finite number >= 0")


def _area(owner: str, robot: Robot | None, area: float | None) -> float:
    if area is not None:
        return _length(owner, "area", area)
    if robot is None:
        raise LawError(f"{owner}: give robot=, for its soles, or area=, the m2 that each point stands for")
    found = point_area(robot)
    if found == 0.0:
        raise LawError(
            f"{owner}: the feet of {robot.name} are points or lines and have no area; give area=, m2 per point"
        )
    return found


def _radius(owner: str, robot: Robot | None, radius: float | None) -> float:
    if radius is None and robot is None:
        raise LawError(f"{owner}: give radius=, m, or robot=, for the radius of its feet")
    if radius is None and robot is not None:
        found = np.unique(robot.point_radius)
        if len(found) > 1 or found[0] <= 0.0:
            raise LawError(f"{owner}: the contact points of {robot.name} are not round, or not alike; give radius=, m")
        radius = float(found[0])
    return _length(owner, "radius", radius)


def _damped(owner: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options with a loss factor turned into a damping ratio."""
    rest = dict(options)
    loss = rest.pop("loss", None)
    if loss is None:
        return rest
    _check_loss(owner, loss)
    for other in ("damping_ratio", "restitution", "c", "mun"):
        if rest.get(other) is not None:
            raise LawError(f"{owner}: loss and {other} both settle the damping; give one of them")
    return rest | {"damping_ratio": 0.5 * loss}
