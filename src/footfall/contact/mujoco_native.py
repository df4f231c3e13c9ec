"""MuJoCo's own soft contacts, on the same points and the same ground as every other law.

Each touching point is one MuJoCo contact, with Footfall's gap and frame in place of MuJoCo's collision detection
between feet and floor. So contact models are compared and not collision detectors, on any ground.
:mod:`footfall.engine.mujoco_law` finds the same solution as MuJoCo's Newton solver, up to rounding; where a model asks
for another solver, and for elliptic cones, MuJoCo's own is called.

*The setting nearest to a law of springs and dampers* (:func:`native_options`).
MuJoCo's manual (Computation, "Constraint model"; Modeling, "Solver parameters") gives an active contact the normal
force ``f = (a_ref - a) / R``, with the reference acceleration ``a_ref = b d' + k d`` for a depth ``d``, the
regulariser ``R = (1 - i) / i / w`` for the impedance ``i`` (the manual's d) and ``w`` the mass MuJoCo ascribes to the
contact, one over ``body_invweight0``, and ``a`` the acceleration out of the ground. In the direct form of ``solref``
(negative numbers) ``k = stiffness i(d) / i_w^2`` and ``b = damping / i_w``, so

    f = w i / (1 - i) * (stiffness i / i_w^2 d + damping / i_w d' - a)

While ``i`` is small the last term, an added mass of ``w i / (1 - i)``, vanishes against ``w``, and what remains is a
spring and a damper of

    w stiffness (i / i_w)^2 / (1 - i)    and    w damping (i / i_w) / (1 - i),

gains as in Footfall's laws: gravity is not scaled by ``1 - i``, as the manual has it for stiff constraints. With a
constant impedance the spring is linear. With an impedance that grows linearly (``power`` 1) from zero depth to
``width`` it is not: ``i`` with ``d i' / i = (alpha - 1) / 2`` at the depth of rest gives both the force and the slope
of ``d^alpha`` there. For Hertz' 3/2 it follows ``d^alpha`` within 12 % from half to three times that depth; it is too
stiff above and, being linear, too soft below.

Limitations: the damping of Hunt and Crossley and of Bruneau matches only at the depth of rest. MuJoCo's friction has
no spring, so a loaded point creeps, at the speed that the steepest stable damper allows (``impratio``); under a law
without damping there is no friction. There is one friction coefficient. All feet have the mean of their ``w``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law, NativeContact
from footfall.contact.setting import Setting
from footfall.contact.springs.material import spring_law
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

    @classmethod
    def nearest(cls, law: Law, setting: Setting) -> Self:
        """The setting nearest to a law of springs and dampers; see :func:`native_options`."""
        return cls(**native_options(law, setting))

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


#: Impedance at rest, which adds a thousandth of its mass to a body in contact; MuJoCo's smallest is 1e-4.
IMPEDANCE = 1e-3
#: Depth up to which the stiffness grows, as a multiple of the depth at rest.
WIDTH = 2.0


def native_options(law: Law, setting: Setting) -> dict[str, Any]:
    """Options of :class:`MujocoNative` that come nearest to a law."""
    terms = spring_law(law).normal_terms(setting)
    depth = terms.depth(setting.load)
    robot = setting.robot
    mass = 1.0 / float(np.mean([robot.model.body(foot.body).invweight0[0] for foot in robot.feet]))

    growth = 0.5 * (terms.alpha - 1.0)  # d i' / i at rest
    first, last = (IMPEDANCE * (1.0 + growth * (x - 1.0)) for x in (0.0, WIDTH))
    share = IMPEDANCE / last
    secant, damping = setting.load / depth, terms.damping(depth)
    stiffness = secant * (1.0 - IMPEDANCE) / (mass * share**2)
    viscosity = damping * (1.0 - IMPEDANCE) / (mass * share)

    stable = 0.5 / (setting.dt * setting.mobility)  # N s/m, as for the other laws
    return {
        "solref": (-stiffness, -viscosity),
        "solimp": (first, last, WIDTH * depth, 0.5, 1.0),
        "cone": "elliptic",  # in which the normal force is independent of friction
        "impratio": max(1.0, stable / damping) if damping > 0.0 else 1.0,
    }
