"""MuJoCo's own contact made to behave like a law of springs and dampers.

MuJoCo's manual (Computation, "Constraint model"; Modeling, "Solver parameters") gives an active contact the normal
force ``f = (a_ref - a) / R``, with the reference acceleration ``a_ref = b d' + k d`` for a depth ``d``, the
regulariser ``R = (1 - i) / i / w`` for the impedance ``i`` (the manual's d) and ``w`` the mass MuJoCo ascribes to the
contact, one over ``body_invweight0``, and ``a`` the acceleration out of the ground. In the direct form of ``solref``
(negative numbers) ``k = stiffness i(d) / i_w^2`` and ``b = damping / i_w``, so

    f = w i / (1 - i) * (stiffness i / i_w^2 d + damping / i_w d' - a)

While ``i`` is small the last term, an added mass of ``w i / (1 - i)``, vanishes against ``w``, and what remains is a
spring and a damper of

    w stiffness (i / i_w)^2 / (1 - i)    and    w damping (i / i_w) / (1 - i),

gains of our kind: gravity is no longer scaled by ``1 - i`` as the manual has it for stiff constraints. With a
constant impedance the spring is linear. With one that grows by a straight line (``power`` 1) from zero depth to
``width`` it is not: ``i`` with ``d i' / i = (alpha - 1) / 2`` at the depth of rest gives both the force and the slope
of ``d^alpha`` there. For Hertz' 3/2 it follows ``d^alpha`` within 12 % from half to three times that depth; it is too
stiff above and, being linear, too soft below.

Limitations: the damping of Hunt and Crossley and of Bruneau matches at the depth of rest alone. MuJoCo's friction has
no spring, so a loaded point creeps, at the speed the steepest stable damper allows (``impratio``); a law with no
damping at all leaves it without friction. One friction coefficient. All feet get the mean of their ``w``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.contact.base import Law
from footfall.contact.setting import Setting
from footfall.contact.springs.material import spring_law

#: Impedance at rest: a thousandth of the mass is added to a body in contact; MuJoCo's least is 1e-4.
IMPEDANCE = 1e-3
#: Depth up to which the stiffness grows, in depths of rest.
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

    stable = 0.5 / (setting.dt * setting.mobility)  # N s/m, as of the other laws
    return {
        "solref": (-stiffness, -viscosity),
        "solimp": (first, last, WIDTH * depth, 0.5, 1.0),
        "cone": "elliptic",  # in which the normal force is on its own
        "impratio": max(1.0, stable / damping) if damping > 0.0 else 1.0,
    }
