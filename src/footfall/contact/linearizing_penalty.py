"""Penalty contact by input-output feedback linearisation (Rengifo 2009).

The law prescribes the *acceleration* of every touching point (17), solves for the forces that produce it (18),
and then clips them to what the ground can give (19)-(20). Gains are therefore those of a unit mass: they do not
depend on the robot, and a resting robot does not sink in.

Eq. (18) has infinitely many solutions for a flat foot; the paper takes the pseudo-inverse's. Points of one body
share its six motions, so the 3n x 3n matrix is ``W L W^T`` with ``L`` the mobility of the bodies. About the
centroid of a body's points ``W^T W`` is diagonal but for a 3x3 block; with the eigenvectors of that block
``W = Q sqrt(D)``, Q orthonormal, and ``pinv(W L W^T) = Q pinv(sqrt(D) L sqrt(D)) Q^T``: at most six unknowns per foot,
and vertices and edges are merely a block of lower rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from footfall.compiled import kernel
from footfall.contact.base import OPEN, SLIDE, CoupledLaw, Setting, check_positive
from footfall.contact.friction import coulomb
from footfall.solve.dense import cholesky, cholesky_solve, minimum_norm_solve, symmetric_3x3

#: Pivots smaller than this share of the largest count as zero: motions that no force produces.
TOLERANCE = 1e-10


class Parameters(NamedTuple):
    kp: float  # 1/s2
    kv: float  # 1/s
    eps: float  # m


@kernel
def missing_acceleration(contacts, parameters, missing):
    """What the ground wants of every near point less what it does anyway: the right-hand side of (18), world frame."""
    kp, kv, eps = parameters.kp, parameters.kv, parameters.eps
    for i in range(contacts.count[0]):
        p = contacts.index[i]
        v, free, frame = contacts.velocity[p], contacts.acceleration[p], contacts.frame[p]
        # Rengifo 2009, eq. 17 with the steady penetration eps of section V: the height aimed at is -eps.
        x = -kv * v[0] - free[0]
        y = -kv * v[1] - free[1]
        z = kp * (-eps - contacts.gap[p]) - kv * min(0.0, v[2]) - free[2]
        for k in range(3):
            missing[p, k] = frame[0, k] * x + frame[1, k] * y + frame[2, k] * z


@kernel
def wrench_basis(contacts, basis, root, start, scratch):
    """The independent motions of the contact bodies that their near points can feel.

    Row c of ``basis`` (6K, 3) is the axis of motion c, ``root[c]`` its entry of sqrt(D); the motions of body b are
    ``start[b]`` to ``start[b + 1]``, three translations first, then rotations. ``scratch`` (7, >= 3).
    """
    moment, vectors, values = scratch[0:3], scratch[3:6], scratch[6]
    columns = 0
    bodies = contacts.near.size - 1
    for b in range(bodies):
        start[b] = columns
        near = contacts.near[b + 1] - contacts.near[b]
        if near == 0:
            continue
        for k in range(3):
            for j in range(3):
                basis[columns, j] = 1.0 if j == k else 0.0
                moment[k, j] = 0.0
            root[columns] = near**0.5
            columns += 1
        spread = 0.0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            r = contacts.arm[contacts.index[i]]
            square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
            spread += square
            for k in range(3):
                moment[k, k] += square
                for j in range(3):
                    moment[k, j] -= r[k] * r[j]
        if spread <= 1e-18:  # one point, or points a nanometre apart: no rotation is felt
            continue
        symmetric_3x3(moment, values, vectors)
        for k in range(3):
            if values[k] > 1e-12 * spread:  # zero about the line on which all points lie
                for j in range(3):
                    basis[columns, j] = vectors[j, k]
                root[columns] = values[k] ** 0.5
                columns += 1
    start[bodies] = columns
    return columns


@kernel
def reduced_mobility(mobility, basis, root, start, reduced):
    """sqrt(D) L sqrt(D) in the basis of :func:`wrench_basis`, its lower triangle."""
    for b in range(start.size - 1):
        for c in range(start[b], start[b + 1]):
            row = 6 * b + (0 if c < start[b] + 3 else 3)
            x, y, z = root[c] * basis[c, 0], root[c] * basis[c, 1], root[c] * basis[c, 2]
            for other in range(b + 1):
                first, last = start[other], min(c + 1, start[other + 1])
                for d in range(first, min(first + 3, last)):  # translations are along the axes
                    column = 6 * other + d - first
                    reduced[c, d] = root[d] * (
                        x * mobility[row, column] + y * mobility[row + 1, column] + z * mobility[row + 2, column]
                    )
                if last <= first + 3:
                    continue
                column = 6 * other + 3
                u = x * mobility[row, column] + y * mobility[row + 1, column] + z * mobility[row + 2, column]
                column += 1
                v = x * mobility[row, column] + y * mobility[row + 1, column] + z * mobility[row + 2, column]
                column += 1
                w = x * mobility[row, column] + y * mobility[row + 1, column] + z * mobility[row + 2, column]
                for d in range(first + 3, last):
                    reduced[c, d] = root[d] * (u * basis[d, 0] + v * basis[d, 1] + w * basis[d, 2])


@kernel
def flat_feet_mobility(mobility, start, packed):
    """L of the feet that touch, lower triangle, if each feels all six motions; the number of rows, or 0 if one does not."""
    rows = 0
    for b in range(start.size - 1):
        if start[b + 1] == start[b]:
            continue
        if start[b + 1] - start[b] < 6:
            return 0
        for r in range(6):
            columns = 0
            for other in range(b + 1):
                if start[other + 1] > start[other]:
                    for c in range(6):
                        packed[rows + r, columns + c] = mobility[6 * b + r, 6 * other + c]
                    columns += 6
        rows += 6
    return rows


@kernel
def divide_by_weights(basis, root, start, x):
    """x <- (W^T W)^-1 x, in place, for wrenches x of feet that feel all six motions."""
    for b in range(start.size - 1):
        first = start[b]
        if start[b + 1] == first:
            continue
        tx, ty, tz = x[first + 3], x[first + 4], x[first + 5]
        x[first + 3], x[first + 4], x[first + 5] = 0.0, 0.0, 0.0
        for k in range(3):
            x[first + k] /= root[first] * root[first]
            e = basis[first + 3 + k]
            share = (e[0] * tx + e[1] * ty + e[2] * tz) / (root[first + 3 + k] * root[first + 3 + k])
            x[first + 3] += share * e[0]
            x[first + 4] += share * e[1]
            x[first + 5] += share * e[2]


@kernel
def minimum_norm_forces(contacts, force, work, start):
    """Replace the accelerations in ``force`` by the forces of least norm that produce them (18), world frame."""
    n = contacts.mobility.shape[0]
    reduced, factor, gram = work[0:n], work[n : 2 * n], work[2 * n : 3 * n]
    basis = work[3 * n : 4 * n]
    root, x, half = work[4 * n], work[4 * n + 1], work[4 * n + 2]
    scratch = work[4 * n + 3 : 4 * n + 10]
    columns = wrench_basis(contacts, basis, root, start, scratch)
    for c in range(columns):
        x[c] = 0.0
    flat = flat_feet_mobility(contacts.mobility, start, reduced)
    if flat > 0 and cholesky(reduced, flat, TOLERANCE, factor):
        # The common case needs no basis: pinv(W L W^T) = W (W^T W)^-1 L^-1 (W^T W)^-1 W^T.
        for i in range(contacts.count[0]):
            p = contacts.index[i]
            first = start[contacts.body[p]]
            r, f = contacts.arm[p], force[p]
            x[first] += f[0]
            x[first + 1] += f[1]
            x[first + 2] += f[2]
            x[first + 3] += r[1] * f[2] - r[2] * f[1]
            x[first + 4] += r[2] * f[0] - r[0] * f[2]
            x[first + 5] += r[0] * f[1] - r[1] * f[0]
        divide_by_weights(basis, root, start, x)
        cholesky_solve(factor, flat, x)
        divide_by_weights(basis, root, start, x)
        for i in range(contacts.count[0]):
            p = contacts.index[i]
            first = start[contacts.body[p]]
            r = contacts.arm[p]
            force[p, 0] = x[first] + x[first + 4] * r[2] - x[first + 5] * r[1]
            force[p, 1] = x[first + 1] + x[first + 5] * r[0] - x[first + 3] * r[2]
            force[p, 2] = x[first + 2] + x[first + 3] * r[1] - x[first + 4] * r[0]
        return
    reduced_mobility(contacts.mobility, basis, root, start, reduced)
    for i in range(contacts.count[0]):  # x = Q^T missing
        p = contacts.index[i]
        b = contacts.body[p]
        r, f = contacts.arm[p], force[p]
        for k in range(3):
            x[start[b] + k] += f[k]
        tx = r[1] * f[2] - r[2] * f[1]
        ty = r[2] * f[0] - r[0] * f[2]
        tz = r[0] * f[1] - r[1] * f[0]
        for c in range(start[b] + 3, start[b + 1]):
            x[c] += basis[c, 0] * tx + basis[c, 1] * ty + basis[c, 2] * tz
    for c in range(columns):
        x[c] /= root[c]
    minimum_norm_solve(reduced, columns, TOLERANCE, x, factor, gram, half)
    for c in range(columns):
        x[c] /= root[c]
    for i in range(contacts.count[0]):  # force = Q x
        p = contacts.index[i]
        b = contacts.body[p]
        r = contacts.arm[p]
        wx, wy, wz = 0.0, 0.0, 0.0
        for c in range(start[b] + 3, start[b + 1]):
            wx += basis[c, 0] * x[c]
            wy += basis[c, 1] * x[c]
            wz += basis[c, 2] * x[c]
        force[p, 0] = x[start[b]] + wy * r[2] - wz * r[1]
        force[p, 1] = x[start[b] + 1] + wz * r[0] - wx * r[2]
        force[p, 2] = x[start[b] + 2] + wx * r[1] - wy * r[0]


def linearizing_penalty(contacts, dt, memory, force, mode, work, marks, parameters):
    missing_acceleration(contacts, parameters, force)
    minimum_norm_forces(contacts, force, work, marks)
    for i in range(contacts.count[0]):
        p = contacts.index[i]
        frame, f = contacts.frame[p], force[p]
        x = frame[0, 0] * f[0] + frame[0, 1] * f[1] + frame[0, 2] * f[2]
        y = frame[1, 0] * f[0] + frame[1, 1] * f[1] + frame[1, 2] * f[2]
        z = frame[2, 0] * f[0] + frame[2, 1] * f[1] + frame[2, 2] * f[2]
        z = max(0.0, z)  # (19)
        friction = contacts.dynamic_friction[p] if memory[p, 0] == SLIDE else contacts.static_friction[p]
        x, y, kind = coulomb(x, y, friction * z)  # (20)
        if kind == SLIDE:
            x, y, _ = coulomb(x, y, contacts.dynamic_friction[p] * z)
        memory[p, 0] = kind
        force[p, 0], force[p, 1], force[p, 2] = x, y, z
        mode[p] = OPEN if z == 0.0 else kind
    return 0


@dataclass(frozen=True, kw_only=True)
class LinearizingPenalty(CoupledLaw):
    """Prescribes the acceleration of touching points and solves for the forces that produce it.

    Restitution depends on ``kp / kv**2`` alone; ``kp=500, kv=250`` returns 0.087 of the speed. ``eps`` is the depth at
    which a point rests: zero is the basic law, a micrometre keeps resting points from leaving and landing again.
    The paper has one friction coefficient; where the ground's static one is larger, a point that does not slide
    is held by it.
    """

    kp: float = 500.0  # 1/s2
    kv: float = 250.0  # 1/s
    eps: float = 1e-6  # m

    name = "linearizing-penalty"
    citation = "Rengifo et al. 2009, eq. 17-20"
    memory_size = 1
    kernel = staticmethod(linearizing_penalty)

    def __post_init__(self) -> None:
        check_positive(self, "kp", "kv", "eps", zero=True)

    @classmethod
    def work_rows(cls, points: int, bodies: int) -> int:
        return 4 * 6 * bodies + 10

    @classmethod
    def marks_size(cls, points: int, bodies: int) -> int:
        return bodies + 1

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(kp=self.kp, kv=self.kv, eps=self.eps)
