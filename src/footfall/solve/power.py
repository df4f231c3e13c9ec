"""Powers of depths, the costliest operation of a point law."""

from __future__ import annotations

import math

from footfall.compiled import kernel
from footfall.kinds import Float


@kernel
def power(depth: Float, exponent: Float) -> Float:
    """Raise a depth >= 0 to a positive exponent, quickly for the exponents of linear springs and of Hertz."""
    if exponent == 1.0:
        return depth
    if exponent == 1.5:
        return depth * math.sqrt(depth)
    return math.exp(exponent * math.log(depth)) if depth > 0.0 else 0.0


@kernel
def two_powers(depth: Float, first: Float, second: Float) -> tuple[Float, Float]:
    """Raise a depth >= 0 to two exponents at once; ``first`` must be positive, ``second`` may be zero."""
    if depth <= 0.0:
        return 0.0, 1.0 if second == 0.0 else 0.0
    logarithm = math.log(depth)
    return math.exp(first * logarithm), math.exp(second * logarithm)
