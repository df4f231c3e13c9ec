"""The mathematics that laws share: small dense kernels over arrays passed in, no allocation.

For NumPy arrays there are :func:`lemke` and :func:`fischer_burmeister` for linear complementarity problems.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footfall.solve.lcp import fischer_burmeister, lemke
    from footfall.solve.solution import Solution, Status

# Where each public name lives; imported on first use, since kernels bring their compiler with them.
_HOMES = {
    "Solution": "solution",
    "Status": "solution",
    "fischer_burmeister": "lcp",
    "lemke": "lcp",
}

__all__ = ["Solution", "Status", "fischer_burmeister", "lemke"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"footfall.solve.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'footfall.solve' has no attribute '{name}'")
