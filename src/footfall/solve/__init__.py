"""The mathematics that laws share: small dense kernels over arrays passed in, no allocation.

For NumPy arrays there are :func:`lemke` and :func:`fischer_burmeister` for linear complementarity problems. Contact
problems, given by their Delassus matrix, are solved on Coulomb's exact cone by :func:`cone_gauss_seidel`,
:func:`active_set` and :func:`cone_newton`, on one with facets by :func:`polyhedral`. All answer with a
:class:`Solution`. Impacts alone, by three rules of restitution, are solved by :func:`impact`.

Which file does what:

- the contact problem of a law: ``contact_problem`` calls first ``contact_guess``, an active-set method that guesses the
  mode of each point and corrects the guess, then ``contact_search``, which looks for the few points that carry a foot
  (``chosen_points``) and solves their problem; ``problem`` holds what they share, ``effort`` bounds their work;
  ``faceted`` is the same on a cone with facets
- forces of least norm for a guess: ``minimum_norm``; for standing feet ``steady_feet`` and ``bound_feet``; with
  friction at its limit ``friction_limits``; ``rigid_motion`` fits rigid motions of feet to those wanted of their points
- problems with an explicit Delassus matrix (``delassus``): ``gauss_seidel``; ``exact_cone``, which calls
  ``newton_on_cone`` and then ``interior_point``; ``many_points`` for hundreds of points; ``pyramid`` makes them linear,
  and ``lemke_pivoting`` and ``newton_on_lcp`` solve linear complementarity problems
- for users, on NumPy arrays: ``numpy_api``, ``lcp``, ``impacts``, which return the types of ``solution``
- constraint selection: ``selection/``; worlds on a GPU: ``together/``, to which ``contact_lean`` defers the solution
- ``quadratic_program`` for controllers, ``dense`` for small matrices, ``power`` for powers of depths, and ``contacts``
  for what laws and solvers know about the points
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footfall.solve.impacts import Impact, impact
    from footfall.solve.lcp import fischer_burmeister, lemke
    from footfall.solve.numpy_api import (
        active_set,
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
    "active_set": "numpy_api",
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
    "active_set",
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
