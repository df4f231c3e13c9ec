"""The normal force of a point as a formula of depth and rate, and laws that have one."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from footfall.contact.base import Law
from footfall.contact.setting import Setting
from footfall.errors import LawError


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


@runtime_checkable
class SpringLaw(Protocol):
    """A law of springs and dampers, with the formula of its normal force."""

    def stiffness(self, load: float) -> float: ...

    def normal_terms(self, setting: Setting) -> NormalTerms: ...


def spring_law(law: Law) -> SpringLaw:
    """The same law, if it is one of springs and dampers; else an error that says so."""
    if not isinstance(law, SpringLaw):
        raise LawError(f"{law.name} has no springs; laws that have are spring-damper, hunt-crossley and distributed")
    return law
