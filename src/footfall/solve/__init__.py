"""The mathematics that laws share: small dense kernels over arrays passed in, no allocation.

For NumPy arrays there are :func:`lemke` and :func:`fischer_burmeister` for linear complementarity problems. Contact
problems, given by their Delassus matrix, are solved on Coulomb's exact cone by :func:`cone_gauss_seidel`,
:func:`active_set` and :func:`cone_newton`, on one with facets by :func:`polyhedral`. All answer with a
:class:`Solution`. Impacts alone, by three rules of restitution, are solved by :func:`impact`.

Which file does what:

- the contact problem of a law: ``contact_problem`` asks first ``contact_guess``, which guesses what each point does and
  mends the guess, then ``contact_search``, which looks for the few points that carry a foot (``chosen_points``) and
  solves theirs; ``problem`` holds what they share, ``effort`` what they may cost; ``faceted`` is the same on a cone
  with facets
- forces of least norm, which a guess takes: ``minimum_norm``, for feet that stand ``steady_feet`` and ``bound_feet``,
  with friction at its limit ``friction_limits``; ``rigid_motion`` makes what is asked of points possible for their feet
- problems with their Delassus matrix written out (``delassus``): ``gauss_seidel``; ``exact_cone``, which asks
  ``newton_on_cone`` and then ``interior_point``; and ``many_points`` for hundreds; ``pyramid`` makes them linear,
  ``lemke_pivoting`` and ``newton_on_lcp`` solve those
- for users, on NumPy arrays: ``numpy_api``, ``lcp``, ``impacts``, which answer with what is in ``solution``
- constraint selection: ``selection/``; worlds on a GPU: ``together/``, and ``contact_lean``, which leaves it to that
- ``quadratic_program`` for controllers, ``dense`` for small matrices, ``power`` for powers of depths, and ``contacts``,
  what laws and solvers know of points
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
