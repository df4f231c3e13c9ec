"""A trial of a user's law before a run, as plain Python, which finds indices outside arrays.

Compiled code finds them too (see :func:`footfall.compiled.checked`), but only as a NaN force during a run. Arithmetic
errors are ignored here, since compiled code does not raise them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from footfall.compiled import as_python, raises
from footfall.errors import LawError

#: States of the trial: depths (m), depth rates (m/s) and slips (m).
DEPTHS, RATES, SLIPS = (0.0, 1e-6, 1e-3, 0.05), (-1.0, 0.0, 1.0), (0.0, 1e-3, -0.1)


def is_foreign(function: Callable[..., Any]) -> bool:
    """Whether a kernel is a user's, and not one of the package."""
    return not str(function.__module__).startswith("footfall.")


def check_foreign(function: Callable[..., Any], name: str) -> None:
    """Refuse a user's kernel that raises."""
    if raises(function):
        raise LawError(
            f"the law '{name}' raises (or asserts), which compiled code cannot pass on: "
            "return math.nan where there is no force, and the run stops there with a sentence"
        )


@cache
def try_out(function: Callable[..., Any], name: str, memory: int, parameters: tuple[float, ...]) -> None:
    """Call a user's point law in a few states; a ``LawError`` that says what is wrong."""
    for depth, rate, slip in product(DEPTHS, RATES, SLIPS):
        kept = np.zeros(max(1, memory))
        for moving in (slip, -10.0 * slip):  # the second call has the memory of the first
            fault = fault_of(function, (depth, rate, (slip, 0.0), (moving, moving)), kept, parameters)
            if fault:
                raise LawError(f"the law '{name}' fails at a depth of {depth:g} m: {fault}")


def fault_of(function: Callable[..., Any], state: tuple[Any, ...], memory: np.ndarray, parameters: Any) -> str:
    """The error of a user's point law in a state (depth, rate, slip, slip velocity), "" if there is none."""
    plain = as_python(function)
    depth, rate, slip, moving = state
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            plain(np.float64(depth), np.float64(rate), np.array(slip), np.array(moving), memory, parameters)
        except (ArithmeticError, ValueError):
            pass
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""
