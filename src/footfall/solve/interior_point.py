"""Interior points of Coulomb's cone: contact problems that Newton's method on their equations does not solve.

In units that make the cones of impulses and of motions the same, ``x_n >= |x_t|``, impulses x and motions u solve a
contact problem exactly where ``y = u + |u_t| n`` lies in that cone, too, and ``x . y = 0`` (De Saxce and Feng 1998).
Both approach it from inside the cone: every step aims at ``x`` and ``y`` with ``x o y`` the same small multiple of the
cone's identity at all points, in the scaling of Nesterov and Todd (1997), and stops short of the cone's surface. A
robot that lies on many points, which the ground can hold in many ways, is solved in some twenty steps, where Newton's
method on piecewise smooth equations stalls at one kink after the other. As there, steps are solved in as many unknowns
as the rank of ``W = C C^T``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from footfall.compiled import inlined, kernel
from footfall.solve.dense import eliminate
from footfall.solve.effort import affordable, interior_cost
from footfall.solve.newton_on_cone import cone_scratch

#: Most steps, and how many of them may be shorter than that share: it stalls, and is given up.
STEPS, SHORT, SHORTS = 30, 0.1, 2
#: Share of the way to the cone's surface that a step may take, and the least factor by which products of x and y
#: shrink.
SHARE, SHRINKS = 0.99, 0.1
#: Largest miss of the motions, in units of the largest impulse that would stop a point alone.
MISS = 1e-8
#: Slip below which it has no direction.
NO_SLIP = 1e-12


class Inside(NamedTuple):
    """The state of the method on n points."""

    x: np.ndarray  # (3n,) impulses
    y: np.ndarray  # (3n,) motions, with the slip added along the normal
    u: np.ndarray  # (3n,) motions under the impulses
    unit: np.ndarray  # (3n,) of each point, what an impulse along a tangent and along the normal is, N s over the size
    scaling: np.ndarray  # (3n,) w of each point: scaled by it, x and y are the same
    slip: np.ndarray  # (3n,) its size, and its direction along both tangents
    step: np.ndarray  # (3n,) of x
    change: np.ndarray  # (3n,) of y


@inlined
def inside(scratch):
    """The scratch of Newton's method under the names used here."""
    return Inside(
        scratch.x,
        scratch.y,
        scratch.u,
        scratch.ease,
        scratch.trial,
        scratch.about,
        scratch.step,
        scratch.centre,
    )


@inlined
def measure(x, y, z):
    """``z^2 - x^2 - y^2`` with little cancellation."""
    across = math.sqrt(x * x + y * y)
    return (z - across) * (z + across)


@kernel
def write_units(dense, own):
    """Write the units; gives the largest impulse that would stop a point alone, N s."""
    w, size = dense.matrix, 1e-300
    for p in range(dense.friction.size):
        first, mu = 3 * p, dense.friction[p]
        trace = w[first, first] + w[first + 1, first + 1] + w[first + 2, first + 2]
        ease = 3.0 / trace if trace > 0.0 else 1.0
        for k in range(3):
            size = max(size, ease * abs(dense.free[p, k]), ease * abs(dense.target[p]))
        own.unit[first] = own.unit[first + 1] = math.sqrt(ease) if mu > 0.0 else 0.0
        own.unit[first + 2] = math.sqrt(ease) / (mu if mu > 0.0 else 1.0)
    return size


@kernel
def begin_inside(dense):
    """Put impulses and motions into the middle of the cone."""
    scratch = cone_scratch(dense)
    for i in range(3 * dense.friction.size):
        scratch.x[i] = scratch.y[i] = 1.0 if i % 3 == 2 else 0.0


@kernel
def look(dense, size, own):
    """Write the motions under the impulses and how they slip; gives the mean and the largest product of x and y, and
    the largest miss of y.
    """
    x, y, u, unit, slip, points = own.x, own.y, own.u, own.unit, own.slip, dense.friction.size
    mean, most, miss = 0.0, 0.0, 0.0
    for i in range(3 * points):
        own.step[i] = unit[i] * x[i]
        mean += x[i] * y[i] / points
    for p in range(points):
        first, product = 3 * p, 0.0
        for i in range(first, first + 3):
            value, row = (
                (dense.free[p, i - first] - (dense.target[p] if i == first + 2 else 0.0)) / size,
                dense.matrix[i],
            )
            for j in range(3 * points):
                value += row[j] * own.step[j]
            u[i] = unit[i] * value
            product += x[i] * y[i]
        speed = math.sqrt(u[first] * u[first] + u[first + 1] * u[first + 1])
        slip[first] = speed
        for k in range(2):
            slip[first + 1 + k] = u[first + k] / speed if speed > NO_SLIP else 0.0
            miss = max(miss, abs(y[first + k] - u[first + k]))
        miss = max(miss, abs(y[first + 2] - u[first + 2] - slip[first]))
        most = max(most, product)
    return mean, most, miss


@inlined
def scale(x, y, first, w):
    """Write the scaling w of a point; gives by how much x and y differ in it."""
    dx = measure(x[first], x[first + 1], x[first + 2])
    dy = measure(y[first], y[first + 1], y[first + 2])
    a, b = 1.0 / math.sqrt(dx), 1.0 / math.sqrt(dy)
    product = x[first] * y[first] + x[first + 1] * y[first + 1] + x[first + 2] * y[first + 2]
    half = 0.5 / math.sqrt(0.5 * (1.0 + a * b * product))
    w[first] = half * (a * x[first] - b * y[first])  # J w, which is what is used
    w[first + 1] = half * (a * x[first + 1] - b * y[first + 1])
    w[first + 2] = half * (a * x[first + 2] + b * y[first + 2])
    return math.sqrt(dx / dy)


@inlined
def unscaled(w, first, factor, x, y, z):
    """A vector times the inverse of the square of a point's scaling."""
    along = 2.0 * (w[first] * x + w[first + 1] * y + w[first + 2] * z)
    return (
        factor * (along * w[first] + x),
        factor * (along * w[first + 1] + y),
        factor * (along * w[first + 2] - z),
    )


@kernel
def find_step(dense, own, rank, factor, gram, row, aim):
    """Write the step towards products of ``aim``: False if there is none.

    With T the square of the scaling and A the derivative of y by u, ``(T + A S W S) step = aim / x - y(u)``, S the
    units; so that with ``v = C^T S step`` it is ``T^-1 (right - A S C v)``, ``(1 + C^T S T^-1 A S C) v = C^T S T^-1
    right``.
    """
    x, y, u, unit, w = own.x, own.y, own.u, own.unit, own.scaling
    slip, step, change = own.slip, own.step, own.change
    for i in range(rank):
        row[i] = 0.0
        for j in range(rank):
            gram[i, j] = 1.0 if i == j else 0.0
    for p in range(dense.friction.size):
        first = 3 * p
        ratio = scale(x, y, first, w)
        change[first] = ratio
        over = aim / measure(x[first], x[first + 1], x[first + 2])
        tx, ty, st, sn = slip[first + 1], slip[first + 2], unit[first], unit[first + 2]
        rx, ry, rz = unscaled(
            w,
            first,
            ratio,
            -over * x[first] - u[first],
            -over * x[first + 1] - u[first + 1],
            over * x[first + 2] - u[first + 2] - slip[first],
        )
        step[first], step[first + 1], step[first + 2] = rx, ry, rz
        one, two, three = factor[first], factor[first + 1], factor[first + 2]
        for j in range(rank):
            row[j] += st * rx * one[j] + st * ry * two[j] + sn * rz * three[j]
        for i in range(rank):
            ax, ay, az = unscaled(w, first, ratio, st * one[i], st * two[i], sn * three[i])
            ax, ay, az = st * (ax + tx * az), st * (ay + ty * az), sn * az
            line = gram[i]
            for j in range(rank):
                line[j] += ax * one[j] + ay * two[j] + az * three[j]
    if not eliminate(gram, rank, 0.0, row):
        return False
    for p in range(dense.friction.size):
        first, ratio = 3 * p, change[3 * p]
        gx, gy, gz = 0.0, 0.0, 0.0
        for j in range(rank):
            gx += factor[first, j] * row[j]
            gy += factor[first + 1, j] * row[j]
            gz += factor[first + 2, j] * row[j]
        gx, gy, gz = unit[first] * gx, unit[first] * gy, unit[first + 2] * gz
        gz += slip[first + 1] * gx + slip[first + 2] * gy
        change[first], change[first + 1] = gx + u[first] - y[first], gy + u[first + 1] - y[first + 1]
        change[first + 2] = gz + u[first + 2] + slip[first] - y[first + 2]
        gx, gy, gz = unscaled(w, first, ratio, gx, gy, gz)
        step[first] -= gx
        step[first + 1] -= gy
        step[first + 2] -= gz
    return True


@kernel
def to_the_cone(x, d):
    """The multiple of d (3n,) that leads from x to the nearest cone surface of any point."""
    longest = math.inf
    for first in range(0, x.size, 3):
        a = measure(d[first], d[first + 1], d[first + 2])
        b = x[first + 2] * d[first + 2] - x[first] * d[first] - x[first + 1] * d[first + 1]
        c = measure(x[first], x[first + 1], x[first + 2])
        square = b * b - a * c
        below = math.sqrt(square) - b if square >= 0.0 else 0.0
        if below > 0.0:
            longest = min(longest, c / below)
    return longest


@kernel
def interior_point(dense, rank, product, budget):
    """Go on inside the cone until no product of x and y is larger than ``product``, and write the impulses there: the
    steps taken, and what they cost.

    The first ``rank`` columns of the factor of W are in the scratch of Newton's method, where x and y are, too.
    """
    scratch = cone_scratch(dense)
    own, n = inside(scratch), 3 * dense.friction.size
    size, aim, steps, shorts = write_units(dense, own), SHRINKS, 0, 0
    cost = interior_cost(n, rank)
    for _ in range(affordable(budget, cost, STEPS)):
        mean, most, miss = look(dense, size, own)
        if miss <= MISS and most <= product:
            break
        if not find_step(dense, own, rank, scratch.factor, scratch.gram, scratch.right, aim * mean):
            break
        steps += 1
        length = min(1.0, SHARE * min(to_the_cone(own.x, own.step), to_the_cone(own.y, own.change)))
        shorts += 0 if length > SHORT else 1
        if shorts == SHORTS:
            break
        for i in range(n):
            own.x[i] += length * own.step[i]
            own.y[i] += length * own.change[i]
        aim = max(SHRINKS, (1.0 - length) ** 2)
    for p in range(dense.friction.size):
        for k in range(3):
            dense.impulse[p, k] = size * own.unit[3 * p + k] * own.x[3 * p + k]
    return steps, cost * steps
