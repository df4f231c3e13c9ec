"""The rigid motions of feet that best fit the motions wanted of their points."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.kinds import Ints, Matrix
from footfall.solve.contacts import Contacts
from footfall.solve.gauss_seidel import solve_3x3

#: Regularisation of the rotation, as a share of the trace of the second moment: makes the rotation of collinear points
#: about their line zero.
TRACE = 1e-12


@inlined
def make_rigid(contacts: Contacts, asked: Ints, motion: Matrix, inertia: Matrix) -> None:
    """Replace the ``motion`` (P, 3), contact frames, of the ``asked`` (P,) points of each foot by the nearest rigid
    motion, by least squares.

    More than three points of a foot cannot move independently: the pseudo-inverse in (18) of Rengifo 2009 amounts to
    this fit. ``inertia`` (3, 3) is scratch.
    """
    for b in range(contacts.near.size - 1):
        count = 0
        cx, cy, cz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if asked[p] != 0:
                r, frame, m = contacts.arm[p], contacts.frame[p], motion[p]
                count += 1
                cx, cy, cz = cx + r[0], cy + r[1], cz + r[2]
                mx += frame[0, 0] * m[0] + frame[1, 0] * m[1] + frame[2, 0] * m[2]
                my += frame[0, 1] * m[0] + frame[1, 1] * m[1] + frame[2, 1] * m[2]
                mz += frame[0, 2] * m[0] + frame[1, 2] * m[1] + frame[2, 2] * m[2]
        if count < 2:
            continue
        cx, cy, cz, mx, my, mz = cx / count, cy / count, cz / count, mx / count, my / count, mz / count
        for k in range(3):
            for j in range(3):
                inertia[k, j] = 0.0
        tx, ty, tz = 0.0, 0.0, 0.0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if asked[p] != 0:
                r, frame, m = contacts.arm[p], contacts.frame[p], motion[p]
                x, y, z = r[0] - cx, r[1] - cy, r[2] - cz
                u = frame[0, 0] * m[0] + frame[1, 0] * m[1] + frame[2, 0] * m[2] - mx
                v = frame[0, 1] * m[0] + frame[1, 1] * m[1] + frame[2, 1] * m[2] - my
                w = frame[0, 2] * m[0] + frame[1, 2] * m[1] + frame[2, 2] * m[2] - mz
                tx, ty, tz = tx + y * w - z * v, ty + z * u - x * w, tz + x * v - y * u
                inertia[0, 0] += y * y + z * z
                inertia[1, 1] += x * x + z * z
                inertia[2, 2] += x * x + y * y
                inertia[0, 1] -= x * y
                inertia[0, 2] -= x * z
                inertia[1, 2] -= y * z
        trace = inertia[0, 0] + inertia[1, 1] + inertia[2, 2]
        if not trace > 0.0:
            continue
        for k in range(3):
            inertia[k, k] += TRACE * trace
        inertia[1, 0], inertia[2, 0], inertia[2, 1] = inertia[0, 1], inertia[0, 2], inertia[1, 2]
        tx, ty, tz = solve_3x3(inertia, tx, ty, tz)
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if asked[p] != 0:
                r, frame = contacts.arm[p], contacts.frame[p]
                x, y, z = r[0] - cx, r[1] - cy, r[2] - cz
                u, v, w = mx + ty * z - tz * y, my + tz * x - tx * z, mz + tx * y - ty * x
                for k in range(3):
                    motion[p, k] = frame[k, 0] * u + frame[k, 1] * v + frame[k, 2] * w
