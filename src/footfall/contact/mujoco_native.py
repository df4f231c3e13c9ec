"""MuJoCo's own soft contacts, on the same points and the same ground as every other law.

Each touching point is one MuJoCo contact, with Footfall's gap and frame in place of MuJoCo's collision detection
between feet and floor. So contact models are compared and not collision detectors, on any ground.
:mod:`footfall.engine.mujoco_law` finds the same solution as MuJoCo's Newton solver, up to rounding; where a model asks
for another solver, MuJoCo's own is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from footfall.arguments import public
from footfall.contact.base import Law, NativeContact
from footfall.contact.setting import Setting
from footfall.given_numbers import Positive


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
    impratio: Positive = 1.0

    name = "mujoco"
    citation = "Todorov, Erez and Tassa 2012; the MuJoCo manual, chapter Computation"
    native = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "solref", tuple(map(float, self.solref)))
        object.__setattr__(self, "solimp", tuple(map(float, self.solimp)))

    by_design = MappingProxyType({"penetration": "MuJoCo's constraints are soft"})

    @property
    def unclaimed(self) -> Mapping[str, str]:
        # The manual, chapter Computation: forces minimise the distance to the reference acceleration.
        lifted = "the reference acceleration -b v - k r lifts a foot that landed deep, whatever load came onto it since"
        return {
            "normal energy": lifted,
            "contact energy": lifted,
            "friction direction": "friction opposes the slip's acceleration and b times its velocity together",
            "friction energy": "friction drives a slip that normal forces would end sooner than -b v prescribes",
        }

    def native_contact(self) -> NativeContact:
        return NativeContact(solref=self.solref, solimp=self.solimp, cone=self.cone, impratio=self.impratio)

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(solref=self.solref, solimp=self.solimp)
