"""Least-norm forces on feet whose points are all held in all directions, in closed form: the common case, standing.

About the centroid of a foot's n points ``W^T W`` (see :mod:`footfall.solve.minimum_norm`) is n times the identity for
translations. Its block for rotations depends on n:

- three points or more, not on a line: a regular 3x3 matrix S; the points constrain all six motions of the foot;
- two points at the arms r and -r: ``2 r^2`` about the two axes across their line; they constrain five motions;
- one point: zero; it constrains the three translations.

With B an orthonormal basis of the constrained motions of the feet,

    pinv(G) = W B (B^T W^T W B)^-1 (B^T L B)^-1 (B^T W^T W B)^-1 B^T W^T.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from footfall.compiled import inlined, kernel
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Vector, zeros
from footfall.solve.contacts import ALL, Contacts, write_mobility
from footfall.solve.dense import cholesky, cholesky_solve, pivots_are_certain

#: Pivots below this share of the largest count as zero: they belong to motions that no force produces.
TOLERANCE = 1e-10
#: Compliance of the points, relative to the mobility of the most mobile foot; used only where ``B^T L B`` is singular,
#: so that the forces are unique.
COMPLIANCE = 1e-9
#: Largest share of a wanted motion that compliance may contribute; above it the contacts are not rigid any more.
GIVES_WAY = 1e-3


class HeldScratch(NamedTuple):
    """Scratch for K feet whose points constrain R motions, at most n = 6K."""

    reduced: Annotated[Matrix, "6K", "6K"]  # B^T L B, first (R, R)
    factor: Annotated[Matrix, "6K", "6K"]
    solution: Annotated[Vector, "6K"]
    half: Annotated[Vector, "6K"]
    pull: Annotated[Vector, 6]  # of one foot
    start: Annotated[Ints, "K + 1"]  # where the motions of each foot begin among the R
    turns: Annotated[Matrix, "3K", 3]  # S^-1 of each foot, or two directions across a line


def held_scratch(bodies: int) -> HeldScratch:
    """The arrays of :class:`HeldScratch`."""
    return zeros(HeldScratch, {"K": bodies, "3K": 3 * bodies, "6K": 6 * bodies})


@inlined
def lay_out_feet(contacts: Contacts, scratch: HeldScratch) -> Bool:
    """Write ``B^T L B``, and ``start`` and ``turns`` of the feet. False if two points of a foot coincide, or if three
    or more lie on a line.
    """
    near, feet = contacts.near, contacts.near.size - 1
    start, turns = scratch.start, scratch.turns
    rows = 0
    for b in range(feet):
        start[b] = rows
        count = near[b + 1] - near[b]
        if count == 2 and not across(contacts, b, turns[3 * b : 3 * b + 3]):
            return False
        if count > 2 and not inverse_moment(contacts, b, turns[3 * b : 3 * b + 3]):
            return False
        rows += 0 if count == 0 else 3 if count == 1 else 5 if count == 2 else 6
    start[feet] = rows
    write_mobility(contacts, ALL)
    for b in range(feet):
        for r in range(start[b + 1] - start[b]):
            write_row(contacts, b, r, scratch)
    return True


@inlined
def spread_over_held_feet(contacts: Contacts, force: Matrix, compliant: Bool, scratch: HeldScratch) -> Bool:
    """Replace the accelerations in ``force`` (P, 3) by the least-norm forces that give them, world frame.

    False, with nothing changed, where :func:`lay_out_feet` fails, or where no force produces a constrained motion.
    ``compliant`` points tolerate the latter up to the share ``GIVES_WAY`` of the largest wanted translation.
    """
    if not lay_out_feet(contacts, scratch):
        return False
    near, feet, x, start, turns = contacts.near, contacts.near.size - 1, scratch.solution, scratch.start, scratch.turns
    rows, packed, factor, softness = start[feet], scratch.reduced, scratch.factor, 0.0
    if not (cholesky(packed, rows, TOLERANCE, factor) and pivots_are_certain(packed, rows, factor)):
        if not compliant:
            return False
        softness = add_compliance(contacts, scratch)
        if not cholesky(packed, rows, 0.0, factor):
            return False
    for b in range(feet):
        if near[b + 1] > near[b]:
            gather_wanted(contacts, b, force, turns[3 * b : 3 * b + 3], scratch.pull, x[start[b] : start[b + 1]])
    wanted = largest_shift(x, start)
    cholesky_solve(factor, rows, x)
    if softness * largest_shift(x, start) > GIVES_WAY * wanted:
        return False
    for b in range(feet):
        if near[b + 1] > near[b]:
            scatter(contacts, b, x[start[b] : start[b + 1]], turns[3 * b : 3 * b + 3], force)
    return True


@inlined
def largest_shift(x: Vector, start: Ints) -> Float:
    """The largest component of a translation of any foot in the motions x (R,)."""
    largest = 0.0
    for b in range(start.size - 1):
        for k in range(start[b], min(start[b] + 3, start[b + 1])):
            largest = max(largest, abs(x[k]))
    return largest


@kernel
def add_compliance(contacts: Contacts, scratch: HeldScratch) -> Float:
    """Give every point a compliance c, which adds ``c (B^T W^T W B)^-1`` to ``B^T L B``. Returns c.

    Where no force produces some constrained motion, as for a robot without hip abduction, the forces of least norm
    follow.
    """
    near, start, turns, out = contacts.near, scratch.start, scratch.turns, scratch.reduced
    softest = 0.0
    for b in range(near.size - 1):
        for k in range(start[b], min(start[b] + 3, start[b + 1])):
            softest = max(softest, out[k, k])
    for b in range(near.size - 1):
        first, felt = start[b], start[b + 1] - start[b]
        for k in range(min(3, felt)):
            out[first + k, first + k] += COMPLIANCE * softest / (near[b + 1] - near[b])
        for k in range(3, felt):
            for m in range(3, k + 1):
                share = turns[3 * b + k - 3, m - 3] if felt == 6 else turns[3 * b + 2, 0] if k == m else 0.0
                out[first + k, first + m] += COMPLIANCE * softest * share
    return COMPLIANCE * softest


@inlined
def write_row(contacts: Contacts, b: Int, r: Int, scratch: HeldScratch) -> None:
    """Write the row of ``B^T L B`` for motion ``r`` of foot ``b``, up to the columns of that foot."""
    start, turns, whole = scratch.start, scratch.turns, scratch.half
    out, last = scratch.reduced[start[b] + r], 6 * b + 6
    if r > 2 and start[b + 1] - start[b] == 5:
        u, first = turns[3 * b + r - 3], 6 * b + 3
        about_x, about_y, about_z = contacts.mobility[first], contacts.mobility[first + 1], contacts.mobility[first + 2]
        for c in range(last):
            whole[c] = u[0] * about_x[c] + u[1] * about_y[c] + u[2] * about_z[c]
    else:
        row = contacts.mobility[6 * b + r]
        for c in range(last):
            whole[c] = row[c]
    for other in range(b + 1):
        column, width, motion = start[other], start[other + 1] - start[other], whole[6 * other : 6 * other + 6]
        for c in range(3 if width == 5 else width):
            out[column + c] = motion[c]
        if width == 5:
            for c in range(2):
                u = turns[3 * other + c]
                out[column + 3 + c] = u[0] * motion[3] + u[1] * motion[4] + u[2] * motion[5]


@inlined
def gather_wanted(contacts: Contacts, b: Int, force: Matrix, turns: Matrix, pull: Vector, x: Vector) -> None:
    """Write ``(B^T W^T W B)^-1 B^T W^T a`` of one foot to x, the accelerations a being in ``force``."""
    resultant(contacts, b, force, pull)
    for k in range(3):
        x[k] = pull[k] / (contacts.near[b + 1] - contacts.near[b])
    share = turns[2, 0] if x.size == 5 else 1.0
    for k in range(x.size - 3):
        x[3 + k] = share * (turns[k, 0] * pull[3] + turns[k, 1] * pull[4] + turns[k, 2] * pull[5])


@inlined
def scatter(contacts: Contacts, b: Int, x: Vector, turns: Matrix, force: Matrix) -> None:
    """Write the forces ``W B (B^T W^T W B)^-1 x`` of one foot to ``force``."""
    count = contacts.near[b + 1] - contacts.near[b]
    share, p, q, s = turns[2, 0] if x.size == 5 else 1.0, 0.0, 0.0, 0.0
    for k in range(x.size - 3):  # S^-1 is symmetric
        p += share * turns[k, 0] * x[3 + k]
        q += share * turns[k, 1] * x[3 + k]
        s += share * turns[k, 2] * x[3 + k]
    for i in range(contacts.near[b], contacts.near[b + 1]):
        f, r = force[contacts.points[i]], contacts.arm[contacts.points[i]]
        f[0] = x[0] / count + q * r[2] - s * r[1]
        f[1] = x[1] / count + s * r[0] - p * r[2]
        f[2] = x[2] / count + p * r[1] - q * r[0]


@inlined
def across(contacts: Contacts, b: Int, out: Matrix) -> Bool:
    """Write two unit vectors across the line of a foot's two points, then 1 / (2 r^2); False if the points coincide."""
    r = contacts.arm[contacts.points[contacts.near[b]]]
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if not square > 0.0:
        return False
    least = 0 if abs(r[0]) <= min(abs(r[1]), abs(r[2])) else 1 if abs(r[1]) <= abs(r[2]) else 2
    u, v = out[0], out[1]
    for k in range(3):  # the coordinate axis that is farthest from the line, less its part along it
        u[k] = (1.0 if k == least else 0.0) - r[least] * r[k] / square
    scale = 1.0 / math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    for k in range(3):
        u[k] *= scale
    scale = 1.0 / math.sqrt(square)
    v[0] = scale * (r[1] * u[2] - r[2] * u[1])
    v[1] = scale * (r[2] * u[0] - r[0] * u[2])
    v[2] = scale * (r[0] * u[1] - r[1] * u[0])
    out[2, 0] = 0.5 / square
    return True


@kernel
def inverse_moment(contacts: Contacts, b: Int, out: Matrix) -> Bool:
    """Inverse of S, the second moment of a foot's near points; False if they lie on a line."""
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        r = contacts.arm[contacts.points[i]]
        xx += r[1] * r[1] + r[2] * r[2]
        yy += r[0] * r[0] + r[2] * r[2]
        zz += r[0] * r[0] + r[1] * r[1]
        xy -= r[0] * r[1]
        xz -= r[0] * r[2]
        yz -= r[1] * r[2]
    a, d, e = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    determinant = xx * a + xy * d + xz * e
    size = xx + yy + zz
    if not determinant > TOLERANCE * size * size * size:
        return False
    scale = 1.0 / determinant
    out[0, 0], out[0, 1], out[0, 2] = a * scale, d * scale, e * scale
    out[1, 0], out[1, 1], out[1, 2] = d * scale, (xx * zz - xz * xz) * scale, (xy * xz - xx * yz) * scale
    out[2, 0], out[2, 1], out[2, 2] = e * scale, out[1, 2], (xx * yy - xy * xy) * scale
    return True


@kernel
def resultant(contacts: Contacts, b: Int, force: Matrix, x: Vector) -> None:
    """Write W^T f of one foot to x: force and moment about the centroid of its near points."""
    for k in range(6):
        x[k] = 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        r, f = contacts.arm[p], force[p]
        x[0] += f[0]
        x[1] += f[1]
        x[2] += f[2]
        x[3] += r[1] * f[2] - r[2] * f[1]
        x[4] += r[2] * f[0] - r[0] * f[2]
        x[5] += r[0] * f[1] - r[1] * f[0]
