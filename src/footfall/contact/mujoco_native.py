"""MuJoCo's own soft contacts, on the same points and the same ground as every other law.

Each touching point is one MuJoCo contact, with Footfall's gap and frame in place of MuJoCo's collision detection
between feet and floor. So contact models are compared, not collision detectors, and any ground will do.
:mod:`footfall.engine.mujoco_law` finds the same solution as MuJoCo's Newton solver, to the last digits; where a
model asks for another solver, MuJoCo's own is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law, NativeContact, check, check_positive
from footfall.contact.setting import Setting


class Parameters(NamedTuple):
    solref: tuple[float, float]
    solimp: tuple[float, float, float, float, float]


@public
@dataclass(frozen=True, kw_only=True)
class MujocoNative(Law):
    """MuJoCo's convex soft contact; options carry MuJoCo's names and defaults.

    Limitations: one friction coefficient, the ground's dynamic one; a point at rest under load creeps.

    Attributes:
        solref: time constant s and damping ratio (or -stiffness, -damping).
        solimp: impedance over depth, m.
        cone: of friction.
        impratio: impedance of friction over that of the normal force.
    """

    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    cone: Literal["pyramidal", "elliptic"] = "pyramidal"
    impratio: float = 1.0

    name = "mujoco"
    citation = "Todorov, Erez and Tassa 2012; the MuJoCo manual, chapter Computation"
    native = True

    def __post_init__(self) -> None:
        check_positive(self, "impratio")
        check(self.cone in ("pyramidal", "elliptic"), self.name, "cone", self.cone, "'pyramidal' or 'elliptic'")
        object.__setattr__(self, "solref", tuple(map(float, self.solref)))
        object.__setattr__(self, "solimp", tuple(map(float, self.solimp)))
        check(len(self.solref) == 2, self.name, "solref", self.solref, "two numbers")
        check(len(self.solimp) == 5, self.name, "solimp", self.solimp, "five numbers")
        check(bool(np.isfinite(self.solref).all()), self.name, "solref", self.solref, "finite")
        check(bool(np.isfinite(self.solimp).all()), self.name, "solimp", self.solimp, "finite")

    @classmethod
    def nearest(cls, law: Law, setting: Setting) -> Self:
        """The setting nearest to a law of springs and dampers; see :mod:`footfall.contact.nearest_native`."""
        from footfall.contact.nearest_native import native_options

        return cls(**native_options(law, setting))

    @property
    def unclaimed(self) -> Mapping[str, str]:
        # The manual, chapter Computation: friction minimises the distance to the reference acceleration -b v.
        return {
            "friction direction": "friction opposes the slip's acceleration and b times its velocity together",
            "friction energy": "friction drives a slip that normal forces would end sooner than -b v prescribes",
        }

    def native_contact(self) -> NativeContact:
        return NativeContact(solref=self.solref, solimp=self.solimp, cone=self.cone, impratio=self.impratio)

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(solref=self.solref, solimp=self.solimp)
