"""The mathematics that laws share: small dense kernels over arrays passed in, no allocation.

For NumPy arrays there are :func:`lemke` and :func:`fischer_burmeister` for linear complementarity problems. Contact
problems, given by their Delassus matrix, are solved on Coulomb's exact cone by :func:`cone_newton` and
:func:`cone_gauss_seidel`, on a polyhedral cone by :func:`polyhedral`. All return a :class:`Solution`. :func:`impact`
solves a single impact, by one of three rules of restitution.

Which file does what:

- the contact problem of a law (``problem``) is solved by the ladder of ``contact_problem``: in closed form where feet
  are held (``held_feet``), by Newton's method (``newton``), and in turn with Gauss-Seidel (``gauss_seidel``)
- forces of least norm: ``minimum_norm``; ``rigid_motion`` fits rigid motions of feet to motions wanted of their points
- for users, on NumPy arrays: ``numpy_api``, ``lcp``, ``impacts``, which return the types of ``solution``; a polyhedral
  cone makes a linear complementarity problem
- constraint selection: ``selection/``
- ``quadratic_program`` for controllers, ``dense`` for small matrices, and ``contacts`` for what laws and solvers know
  about the points
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footfall.solve.impacts import Impact, impact
    from footfall.solve.lcp import fischer_burmeister, lemke
    from footfall.solve.numpy_api import (
        cone_gauss_seidel,
        cone_newton,
        cone_residual,
        polyhedral,
        polyhedral_lcp,
    )
    from footfall.solve.solution import Solution, Status

# Where each public name lives; imported on first use, since kernels bring their compiler with them.
_HOMES = {
    "Impact": "impacts",
    "impact": "impacts",
    "Solution": "solution",
    "Status": "solution",
    "cone_gauss_seidel": "numpy_api",
    "cone_newton": "numpy_api",
    "cone_residual": "numpy_api",
    "fischer_burmeister": "lcp",
    "lemke": "lcp",
    "polyhedral": "numpy_api",
    "polyhedral_lcp": "numpy_api",
}

__all__ = [
    "Impact",
    "Solution",
    "Status",
    "cone_gauss_seidel",
    "cone_newton",
    "cone_residual",
    "fischer_burmeister",
    "impact",
    "lemke",
    "polyhedral",
    "polyhedral_lcp",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"footfall.solve.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'footfall.solve' has no attribute '{name}'")
