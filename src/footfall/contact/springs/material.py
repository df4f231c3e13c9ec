"""Gains from materials.

Two classical contacts, both small-strain and linear in the material:

- *Elastic foundation* (Winkler): a layer of thickness ``h`` on a rigid base, so thin against the sole that it cannot
  spread sideways. Each point carries the column under its area ``A``: ``k = A M / h`` along the normal, with the
  confined modulus ``M = E (1 - nu) / ((1 + nu) (1 - 2 nu))``, and ``kt = A G / h`` in shear, ``G = E / (2 (1 + nu))``.
  (Johnson, Contact Mechanics, 1985, section 4.3.)
- *Hertz*: a sphere of radius ``R`` on flat ground, ``f = 4/3 E* sqrt(R) d^(3/2)`` with
  ``1 / E* = (1 - nu1^2) / E1 + (1 - nu2^2) / E2``; the second term is zero for a rigid partner. (Johnson, section 4.2.)

Damping comes from a restitution (``bounce``), a damping ratio, or the material's loss factor
``eta = tan delta``: the energy lost in a cycle over 2 pi times the energy stored. A spring and damper have that factor
at the frequency at which the robot bounces on its points if their damping ratio is ``eta / 2``.

Limitations: a layer thicker than the sole is wide spreads, and is softer than this by up to ``M / E``; strains beyond
a tenth are not linear in any rubber; Hertz wants a depth much smaller than the radius. All points are given the same
area, so a grid that includes the edges of a sole is stiffer against tilting than the layer: see
:mod:`footfall.study.testing_points`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.contact.base import check
from footfall.errors import LawError
from footfall.given_numbers import is_number

if TYPE_CHECKING:
    from footfall.robot import Foot, Robot


@dataclass(frozen=True)
class Material:
    """A linear elastic material."""

    youngs_modulus: float  # Pa
    poisson_ratio: float

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
    """Normal and shear stiffness of a point on an elastic layer, N/m, and the options that are left for the law."""
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
    """Stiffness of a sphere on flat ground, N/m^(3/2), and the options that are left for the law."""
    _check_elastic(law, youngs_modulus, poisson_ratio)
    compliance = 1.0 / Material(youngs_modulus, poisson_ratio).contact_modulus
    if partner is not None:
        _check_elastic(f"{law}, partner", *partner)
        compliance += 1.0 / Material(*partner).contact_modulus
    return 4.0 / 3.0 * math.sqrt(_radius(law, robot, radius)) / compliance, _damped(law, options)


def sole_area(foot: Foot) -> float:
    """Area of a foot's sole, m2; 0 for a point or a line."""
    if len(foot.polygon) < 3:
        return 0.0
    arms = foot.polygon - foot.polygon[0]
    return 0.5 * float(np.linalg.norm(np.cross(arms[1:-1], arms[2:]).sum(axis=0)))


def point_area(robot: Robot) -> float:
    """Area of sole that each contact point of a robot stands for, m2."""
    return sum(sole_area(foot) for foot in robot.feet) / robot.point_count


# ---- what can be wrong ---------------------------------------------------------------------------------------


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
    check(is_number(loss) and loss >= 0, owner, "loss", loss, "a finite number >= 0")
    for other in ("damping_ratio", "restitution", "c", "mun"):
        if rest.get(other) is not None:
            raise LawError(f"{owner}: loss and {other} both settle the damping; give one of them")
    return rest | {"damping_ratio": 0.5 * loss}
