"""The mobility of the bodies for GPUs: several numbers are read before one is written, to hide memory latency.

A tenth of the speed of standing bipeds, and more of fallen robots, of which many bodies are near the ground.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.mobility import half_solve, half_solved_jacobian, mobility


@inlined
def lean_half_solve(world, x):
    """Replaces :func:`footfall.engine.mobility.half_solve`."""
    column, m = world.M_colind, world.qLD
    for j in range(x.size - 1, -1, -1):
        value, first = x[j], world.M_rowadr[j]
        count = world.M_rownnz[j] - 1
        for e in range(first, first + count - 3, 4):
            a, b, c, d = column[e], column[e + 1], column[e + 2], column[e + 3]
            x[a], x[b], x[c], x[d] = (
                x[a] - m[e] * value,
                x[b] - m[e + 1] * value,
                x[c] - m[e + 2] * value,
                x[d] - m[e + 3] * value,
            )
        for e in range(first + count - count % 4, first + count):
            x[column[e]] -= m[e] * value


@inlined
def lean_mobility(world, points, contacts, centroid, half, block):
    """Replaces :func:`footfall.engine.mobility.mobility`; three rows of a block are in registers at a time."""
    near, out = contacts.near, contacts.mobility
    for k in range(points.body.size):
        if near[k] == near[k + 1]:
            continue
        half_solved_jacobian(world, points, k, centroid[k], half[k])
        for m in range(k + 1):
            if near[m] < near[m + 1]:
                for r in range(0, 6, 3):
                    write_rows(world, points, k, m, r, half, out)


@inlined
def write_rows(world, points, k, m, r, half, out):
    """Write three rows, from ``r`` on, of the block of bodies k and m, and the same numbers as columns."""
    a0, a1, a2, a3, a4, a5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    b0, b1, b2, b3, b4, b5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    c0, c1, c2, c3, c4, c5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    length = points.chain_length[k]
    for i in range(length - points.shared[k, m], length):
        j = points.chain[k, i]
        h, g, weight = half[k, j], half[m, j], world.qLDiagInv[j]
        x, y, z = weight * h[r], weight * h[r + 1], weight * h[r + 2]
        g0, g1, g2, g3, g4, g5 = g[0], g[1], g[2], g[3], g[4], g[5]
        a0, a1, a2, a3, a4, a5 = a0 + x * g0, a1 + x * g1, a2 + x * g2, a3 + x * g3, a4 + x * g4, a5 + x * g5
        b0, b1, b2, b3, b4, b5 = b0 + y * g0, b1 + y * g1, b2 + y * g2, b3 + y * g3, b4 + y * g4, b5 + y * g5
        c0, c1, c2, c3, c4, c5 = c0 + z * g0, c1 + z * g1, c2 + z * g2, c3 + z * g3, c4 + z * g4, c5 + z * g5
    write_row(out, 6 * k + r, 6 * m, (a0, a1, a2, a3, a4, a5))
    write_row(out, 6 * k + r + 1, 6 * m, (b0, b1, b2, b3, b4, b5))
    write_row(out, 6 * k + r + 2, 6 * m, (c0, c1, c2, c3, c4, c5))


@inlined
def write_row(out, row, column, values):
    a0, a1, a2, a3, a4, a5 = values
    out[row, column], out[row, column + 1], out[row, column + 2] = a0, a1, a2
    out[row, column + 3], out[row, column + 4], out[row, column + 5] = a3, a4, a5
    out[column, row], out[column + 1, row], out[column + 2, row] = a0, a1, a2
    out[column + 3, row], out[column + 4, row], out[column + 5, row] = a3, a4, a5


LEAN = {half_solve: lean_half_solve, mobility: lean_mobility}
