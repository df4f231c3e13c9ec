"""Laws of rigid contact, and how exactly each meets what is known of impacts."""

from __future__ import annotations

import pytest

import footfall as ff

#: Laws with Newton's restitution of each point, an option that is a number by default.
NEWTONS = [law for law in ff.laws() if ff.law(law).options().get("restitution") == 0.0]
newtons_laws = pytest.mark.parametrize("law", NEWTONS)


def exactness(law: str, dt: float, speed: float, length: float) -> float:
    """Relative error allowed: rounding and tolerance of laws that locate impacts, of the others the way of a step."""
    return 1e-6 if ff.law(law).event_driven else 2.0 * speed * dt / length
