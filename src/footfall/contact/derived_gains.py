"""Wishes a law may be given in place of gains: a depth at rest, a restitution, a damping ratio."""

from __future__ import annotations

import dataclasses
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from footfall.contact.base import Law, check, check_positive
from footfall.errors import LawError

if TYPE_CHECKING:
    from footfall.robot import Robot


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


def check_wishes(law: Law, stiffness: str, damping: str) -> None:
    """Refuse wishes that are out of range, and those that contradict a gain or each other."""
    check_positive(law, "rest_penetration", "impact_speed")
    check_positive(law, "damping_ratio", zero=True)
    wanted: Any = law.options()["restitution"]
    good = wanted is None or (isinstance(wanted, Real) and 0 < float(wanted) <= 1)
    check(good, law.name, "restitution", wanted, "in (0, 1]")
    _only_one(law, "the stiffness", (stiffness, "rest_penetration"))
    _only_one(law, "the damping", (damping, "damping_ratio", "restitution"))


def _only_one(law: Law, what: str, names: tuple[str, ...]) -> None:
    """Refuse two options, given as other than their defaults, that settle the same thing."""
    defaults = {field.name: field.default for field in dataclasses.fields(law)}
    given = [name for name in names if getattr(law, name) != defaults[name]]
    if len(given) > 1:
        raise LawError(f"{law.name}: {' and '.join(given)} both settle {what}; give one of them")


def check_soles(law: Law, robot: Robot) -> None:
    """Refuse soles under fewer than three points; feet that are a point or a line by nature have what they need."""
    for foot in robot.feet:
        if len(foot.polygon) > 2 and len(foot.points) < 3:
            count = "one testing point" if len(foot.points) == 1 else "two testing points"
            raise LawError(
                f"{law.name}: foot '{foot.name}' has a sole but only {count}, and fewer than three carry no moment; "
                "give it a grid, such as load_robot(..., points=(6, 3))"
            )
