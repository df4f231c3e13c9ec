"""Elimination of the forces of constraint rows over several dofs, so that contact laws act on the constrained robot.

With the half-solved rows ``B = U^-T J^T`` (see :mod:`footfall.engine.mobility`) of those that hold, their forces obey
``S f = a_ref - B^T D^-1 t`` with ``S = B^T D^-1 B + R``, t being all other forces, half-solved. Contact wrenches on the
feet change f by ``-S^-1 G``, ``G = B^T D^-1 H``, and the mobility of the feet becomes the Schur complement
``L - G^T S^-1 G``.

That is a weighted sum of products of columns (:class:`footfall.solve.contacts.Contacts`): those of H less those of
``C^-1 G``, with ``S = C C^T``.
"""

from __future__ import annotations

import numpy as np
from numba import types

from footfall.compiled import cold, inlined
from footfall.engine.constraints.active_set import EQUALITY, HOLDS, OPEN, SLIPS_UP
from footfall.engine.constraints.shared_rows import SharedRows
from footfall.engine.other_bodies.points import Points
from footfall.engine.world import MjWorld
from footfall.kinds import Bool, Float, Int, Vector
from footfall.solve.contacts import Contacts
from footfall.solve.dense import cholesky, cholesky_solve


@inlined
def half_solve_rows(world: MjWorld, rows: SharedRows) -> None:
    """Write B by passing each dof's part of a row on to its ancestors."""
    for i in range(rows.number[0]):
        x = rows.half[i]
        for j in range(x.size):
            x[j] = rows.jacobian[i, j]
        for j in range(x.size - 1, -1, -1):
            value, address = x[j], world.M_rowadr[j]
            if value != 0.0:
                for e in range(address, address + world.M_rownnz[j] - 1):
                    x[np.uint64(world.M_colind[e])] -= world.qLD[e] * value


@inlined
def along_row(world: MjWorld, rows: SharedRows, i: Int, x: Vector) -> Float:
    """B^T D^-1 x of one row: its acceleration by the half-solved force x."""
    value = 0.0
    half = rows.half[i]
    for j in range(half.size):
        value += half[j] * world.qLDiagInv[j] * x[j]
    return value


@inlined
def find_answer(rows: SharedRows, x: Vector) -> None:
    """Replace ``residual``, missing accelerations of rows that hold, by the forces for them, and add these to x."""
    cholesky_solve(rows.factor, rows.number[1], rows.residual)
    for a in range(rows.number[1]):
        for j in range(x.size):
            x[j] += rows.residual[a] * rows.half[rows.holding[a], j]


@inlined
def answer_with(world: MjWorld, rows: SharedRows, x: Vector) -> None:
    """Update the forces of rows that hold to the half-solved force x, which includes the present ones, and x itself."""
    n = rows.number[1]
    for a in range(n):
        i = rows.holding[a]
        residual = rows.reference[i] - along_row(world, rows, i, x) - rows.force[i] / rows.inertia[i]
        rows.residual[a] = residual
    find_answer(rows, x)
    for a in range(n):
        rows.force[rows.holding[a]] += rows.residual[a]


@inlined
def factor_rows(world: MjWorld, rows: SharedRows) -> None:
    """Factor S for the rows in ``holding``."""
    n, nv = rows.number[1], rows.weighed.size
    for a in range(n):
        i = rows.holding[a]
        for j in range(nv):
            rows.weighed[j] = rows.half[i, j] * world.qLDiagInv[j]
        for b in range(a + 1):
            other, value = rows.half[rows.holding[b]], 0.0
            for j in range(nv):
                value += rows.weighed[j] * other[j]
            rows.factor[a, b] = value
        rows.factor[a, a] += 1.0 / rows.inertia[i]
    cholesky(rows.factor, n, 0.0, rows.factor)


@cold(types.none)
def eliminate_rows(world: MjWorld, rows: SharedRows, x: Vector) -> None:
    """Factor S for the rows that hold, and add the forces of all rows to the half-solved force x of the robot."""
    half_solve_rows(world, rows)
    n = 0
    for i in range(rows.number[0]):
        rows.force[i] = 0.0
        if rows.state[i] == HOLDS:
            rows.holding[n] = i
            n += 1
        elif rows.state[i] != OPEN:
            rows.force[i] = rows.loss[i] if rows.state[i] == SLIPS_UP else -rows.loss[i]
            for j in range(x.size):
                x[j] += rows.force[i] * rows.half[i, j]
    rows.number[1] = n
    factor_rows(world, rows)
    answer_with(world, rows, x)


@cold(types.none)
def hold_rows(world: MjWorld, rows: SharedRows, impact: Bool) -> None:
    """Factor S for the rows that hold; in an ``impact`` these are equalities alone."""
    half_solve_rows(world, rows)
    n = 0
    for i in range(rows.number[0]):
        if rows.kind[i] == EQUALITY or (rows.state[i] == HOLDS and not impact):
            rows.holding[n] = i
            n += 1
    rows.number[1] = n
    factor_rows(world, rows)


@cold(types.none)
def answer_change(world: MjWorld, rows: SharedRows, x: Vector) -> None:
    """Add the response of rows that hold to x, a half-solved impulse or change of forces."""
    n = rows.number[1]
    for a in range(n):
        rows.residual[a] = -along_row(world, rows, rows.holding[a], x)
    find_answer(rows, x)


@cold(types.none)
def write_row_columns(world: MjWorld, points: Points, contacts: Contacts, rows: SharedRows) -> None:
    """Write the columns ``C^-1 G`` of the rows that hold, which reduce the mobility of the feet."""
    near, n, nv = contacts.near, rows.number[1], rows.weighed.size
    contacts.number[2] = nv + n
    for a in range(n):
        contacts.weight[nv + a] = -1.0
    for k in range(points.body.size):
        if near[k] == near[k + 1]:
            continue
        half, answer = contacts.response[k], contacts.response[k, nv:]
        for a in range(n):
            b, g = rows.half[rows.holding[a]], answer[a]
            for c in range(8):
                g[c] = 0.0
            for i in range(points.chain_length[k]):
                j = np.uint64(points.chain[k, i])
                if b[j] != 0.0:  # zero for a loop in another leg
                    weight, h = b[j] * world.qLDiagInv[j], half[j]
                    for c in range(8):
                        g[c] += weight * h[c]
        for a in range(n):
            line = answer[a]
            for b in range(a):
                share, other = rows.factor[a, b], answer[b]
                for c in range(8):
                    line[c] -= share * other[c]
            for c in range(8):
                line[c] *= rows.factor[a, a]
