"""Sliding friction as a function of loads: both are linear in the multipliers of a foot.

Let m be a foot's multipliers along the normal and of its tilts, and ``N = g m`` the loads of its vertices. Then
friction is ``-mu (g m) d`` along the slip direction d of each vertex, plus the damping of
:mod:`footfall.solve.selection.sliding`. In the rows of a sliding foot, whose compliance is C, this adds ``C G m`` on
the left; a column of G is the friction, with its torsion, per unit of one multiplier. So all multipliers are ``l - X
m`` with ``X = A^-1 C G`` and ``l`` those under constant friction, and m follows from the few equations ``(1 + X_m) m =
l_m``.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.dense import cholesky_solve
from footfall.solve.selection.states import EDGE, FACE, SLIDING, STILL, VERTEX, clamped, solve_rows, vertex

#: Least pivot of these equations, which is 1 where friction does not change loads. Below it friction would jam the
#: foot, and the old loads are used.
JAMMED = 1e-2
#: Column of ``braked`` with the friction of the present loads, after those of the three multipliers.
AS_THEY_ARE = 9


@inlined
def spread_shares(desk, b):
    """Put into ``shares`` how a foot's vertices that carry load share force and moments; the first is zero if too few
    do.

    The load at (x, y) from the virtual joint is ``a F + p M_x + q M_y + x (p F + xx M_x + xy M_y) + y (q F + xy M_x +
    yy M_y)``, for a force F with the moments ``M_x = F x`` and ``M_y = F y`` of the centre of pressure.
    """
    code, joint, shares = desk.code[b], desk.joint[b], desk.shares[b]
    n, sx, sy, sxx, syy, sxy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        p = vertex(desk, b, code, j)
        if desk.push[p, 2] > 0.0:
            u, v = desk.place[p, 0] - joint[0], desk.place[p, 1] - joint[1]
            n, sx, sy, sxx, syy, sxy = n + 1.0, sx + u, sy + v, sxx + u * u, syy + v * v, sxy + u * v
    for k in range(6):
        shares[k] = 0.0
    kind = code & 3
    if kind == VERTEX or (kind == EDGE and n == 1.0):
        shares[0] = n
    elif kind == EDGE and n == 2.0:
        square = (sxx + syy) * (sxx + syy)  # on an edge everything is along its direction
        shares[0], shares[3], shares[4], shares[5] = 0.5, sxx / square, syy / square, sxy / square
    elif kind == FACE and n > 2.0:
        d = sxx * syy - sxy * sxy
        if d > 1e-12 * (sxx + syy) * (sxx + syy):
            d = 1.0 / d
            kx, ky = (syy * sx - sxy * sy) * d, (sxx * sy - sxy * sx) * d
            rest = n - kx * sx - ky * sy
            if rest > 1e-9 * n:
                a = 1.0 / rest
                shares[0], shares[1], shares[2] = a, -kx * a, -ky * a
                shares[3], shares[4], shares[5] = syy * d + kx * kx * a, sxx * d + ky * ky * a, kx * ky * a - sxy * d


@inlined
def per_multiplier(desk, b, x, y):
    """Load at (x, y) from the virtual joint, per unit of a foot's multipliers: along the normal, and of its tilts (one
    or two).
    """
    joint, shares = desk.joint[b], desk.shares[b]
    force = shares[0] + shares[1] * x + shares[2] * y
    first, second = shares[1] + shares[3] * x + shares[5] * y, shares[2] + shares[5] * x + shares[4] * y
    kind = desk.code[b] & 3
    if kind == EDGE:
        return force, joint[3] * first + joint[4] * second, 0.0
    return (force, second, -first) if kind == FACE else (force, 0.0, 0.0)


@inlined
def put_loads(contacts, desk, b, compliance):
    """Put into ``braked`` how the loads of a sliding foot change its slip: (x, y, turn) per multiplier."""
    xx, xy, xr, yy, yr, rr = compliance
    code, joint, braked = desk.code[b], desk.joint[b], desk.braked[b]
    spread_shares(desk, b)
    for k in range(12):
        braked[k] = 0.0
    if desk.shares[b, 0] == 0.0:
        return
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        p = vertex(desk, b, code, j)
        f = desk.push[p]
        if f[2] > 0.0:
            x, y = desk.place[p, 0] - joint[0], desk.place[p, 1] - joint[1]
            size = contacts.dynamic_friction[p] / max(f[3], STILL)
            dx, dy = size * f[4], size * f[5]
            turn = x * dy - y * dx
            first, second, third = per_multiplier(desk, b, x, y)
            for k in range(4):
                load = first if k == 0 else second if k == 1 else third if k == 2 else f[2]
                braked[3 * k] += load * dx
                braked[3 * k + 1] += load * dy
                braked[3 * k + 2] += load * turn
    for k in range(0, 12, 3):
        x, y, turn = braked[k], braked[k + 1], braked[k + 2]
        braked[k], braked[k + 1] = xx * x + xy * y + xr * turn, xy * x + yy * y + yr * turn
        braked[k + 2] = xr * x + yr * y + rr * turn


@inlined
def linear_load(desk, b, p):
    """The load of a vertex in the linear problem, in which a vertex without load stays without."""
    load = desk.push[p, 2]
    if desk.shares[b, 0] == 0.0 or load <= 0.0:
        return load
    joint, row, multiplier = desk.joint[b], desk.row[b], desk.multiplier
    first, second, third = per_multiplier(desk, b, desk.place[p, 0] - joint[0], desk.place[p, 1] - joint[1])
    load = first * multiplier[row + 2]
    if desk.code[b] & 3 != VERTEX:
        load += second * multiplier[row + 3]
    return load + third * multiplier[row + 4] if desk.code[b] & 3 == FACE else load


@inlined
def put_column(desk, b, first, column):
    """Write a column of ``braked`` to the rows of a foot, with their scale."""
    row, last = desk.row[b], desk.row[b + 1] - 1
    column[row] += desk.scale[row] * desk.braked[b, first]
    column[row + 1] += desk.scale[row + 1] * desk.braked[b, first + 1]
    if last > row + 2:
        column[last] += desk.scale[last] * desk.braked[b, first + 2]


@inlined
def solve_with_loads(desk, feet, rows, newton):
    """Solve ``desk.system`` (destroyed) and ``desk.rest`` for the multipliers. If ``newton``, friction follows the
    loads, unless those equations are singular.
    """
    regular = solve_rows(desk, rows) == rows
    if not (newton and regular and with_loads(desk, feet, rows)):
        for b in range(feet):
            desk.shares[b, 0] = 0.0


@inlined
def with_loads(desk, feet, rows):
    """Correct multipliers under constant friction for how friction follows the loads; False, with nothing changed, if
    friction would jam a foot.
    """
    columns, matrix, constant = desk.spare, desk.system, desk.half
    for i in range(rows):
        constant[i] = 0.0
    count = 0
    for b in range(feet):
        if desk.code[b] & SLIDING:
            put_column(desk, b, AS_THEY_ARE, constant)
            for k in range(desk.code[b] & 3):
                for i in range(rows):
                    columns[count, i] = 0.0
                put_column(desk, b, 3 * k, columns[count])
                cholesky_solve(desk.factor, rows, columns[count])
                count += 1
    cholesky_solve(desk.factor, rows, constant)
    own = 0
    for b in range(feet):  # (1 + X_m) m = l_m
        if desk.code[b] & SLIDING:
            for k in range(desk.code[b] & 3):
                row = desk.row[b] + 2 + k
                for c in range(count):
                    matrix[own, c] = desk.scale[row] * columns[c, row] + (1.0 if c == own else 0.0)
                desk.rest[own] = desk.multiplier[row] + desk.scale[row] * constant[row]
                own += 1
    for k in range(count):
        if not matrix[k, k] > JAMMED:
            return False
        for i in range(k + 1, count):
            share = matrix[i, k] / matrix[k, k]
            for c in range(k + 1, count):
                matrix[i, c] -= share * matrix[k, c]
            desk.rest[i] -= share * desk.rest[k]
    for k in range(count - 1, -1, -1):
        for c in range(k + 1, count):
            desk.rest[k] -= matrix[k, c] * desk.rest[c]
        desk.rest[k] /= matrix[k, k]
    for i in range(rows):
        value = constant[i]
        for c in range(count):
            value -= desk.rest[c] * columns[c, i]
        desk.multiplier[i] += desk.scale[i] * value
    return True
