"""Derivatives of a rotation after a step, by its start and by its rate, in body axes.

A rotation that turns at the rate w for the time h is ``q exp(x)``, x = h w. Changed by a small turn d at the start, and
x by dx, it turns further by

    exp(-x) d + J dx,      exp(-x) = 1 - a [x] + b [x]^2,      J = 1 - b [x] + c [x]^2,
    a = sin(r) / r,        b = (1 - cos(r)) / r^2,             c = (r - sin(r)) / r^3,        r = |x|,

[x] being the matrix of the cross product.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.engine.derivatives.space import Space, Taken

#: Angle, rad, below which a, b and c are their values at 0, to the last digit.
STILL = 1e-8


@inlined
def turn_rotations(taken: Taken, space: Space) -> None:
    """Write the derivatives of all rotations, by start and by h times the rate, to ``turns``."""
    x, h = space.push, taken.dt
    for i in range(taken.ball.size):
        first, by_start, by_rate = taken.ball[i], space.turns[i, 0], space.turns[i, 1]
        for c in range(3):
            x[c] = h * (taken.qvel[first + c] + h * taken.qacc[first + c])
        square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
        angle, sine, versed, cubed = math.sqrt(square), 1.0, 0.5, 1.0 / 6.0
        if angle > STILL:
            half = 0.5 * angle
            sine, versed = math.sin(angle) / angle, 0.5 * (math.sin(half) / half) ** 2
            cubed = (1.0 - sine) / square
        for r in range(3):
            e, f = (r + 1) % 3, (r + 2) % 3
            for c in range(3):
                unit = 1.0 if r == c else 0.0
                twice = x[r] * x[c] - square * unit
                by_start[r, c], by_rate[r, c] = unit + versed * twice, unit + cubed * twice
            by_start[r, e] += sine * x[f]
            by_start[r, f] -= sine * x[e]
            by_rate[r, e] += versed * x[f]
            by_rate[r, f] -= versed * x[e]
