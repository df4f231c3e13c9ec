"""Nonsmooth Gauss-Seidel on the exact Coulomb cone.

Finds the forces f of all points such that the velocities ``u = free + dt G f`` at the end of the step obey, in every
contact frame, ``0 <= u_n - target _|_ f_n >= 0`` and Coulomb's law with the exact cone: ``|f_t| <= mu f_n``, and where
``u_t`` is not zero, friction opposes it and lies on the cone. A sweep solves one point after the other exactly, with
the forces on the others given. The Delassus matrix is never formed: the effect of the forces is kept as accelerations
of the feet.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined, kernel
from footfall.kinds import Float, Int, Matrix, Vector
from footfall.solve.contacts import ALL, Contacts, coulomb, write_mobility
from footfall.solve.problem import Problem

#: Iteration limit of the search for the slip of one point, and its relative tolerance, a few times rounding.
TRIALS, ON_CONE = 60, 1e-15


@kernel
def solve_3x3(a: Matrix, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """Solve a 3x3 system by Cramer's rule."""
    c0 = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    c1 = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    c2 = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    scale = 1.0 / (a[0, 0] * c0 + a[0, 1] * c1 + a[0, 2] * c2)
    d0 = a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2]
    d1 = a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0]
    d2 = a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1]
    e0 = a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1]
    e1 = a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2]
    e2 = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    return (
        scale * (c0 * x + d0 * y + e0 * z),
        scale * (c1 * x + d1 * y + e1 * z),
        scale * (c2 * x + d2 * y + e2 * z),
    )


@kernel
def solve_point(a: Matrix, x: Float, y: Float, z: Float, friction: Float) -> tuple[Float, Float, Float]:
    """The force on a point with velocity ``a`` (3, 3) per force and (x, y, z) without force, z less the target."""
    if z >= 0.0 or not a[2, 2] > 0.0:  # the point leaves, or no force can move it along the normal
        return 0.0, 0.0, 0.0
    fx, fy, fz = solve_3x3(a, -x, -y, -z)
    if fz >= 0.0 and fx * fx + fy * fy <= (friction * fz) ** 2:
        return fx, fy, fz
    if friction == 0.0:
        return 0.0, 0.0, -z / a[2, 2]
    # Sliding: u_t = -s f_t with s > 0 such that the force lies on the cone; friction falls as s grows. The root is
    # bracketed and found by the Illinois method: secants, with the value at an end that stays halved.
    tx, ty = a[0, 0], a[1, 1]
    low, over = 0.0, math.sqrt(fx * fx + fy * fy) - friction * fz
    high, under, side = a[0, 0] + a[1, 1], 0.0, 0
    best_x, best_y, best_z = 0.0, 0.0, -z / a[2, 2]
    for _ in range(TRIALS):
        s = high if under == 0.0 else (low * under - high * over) / (under - over)
        if under < 0.0 and not low < s < high:
            s = 0.5 * (low + high)
        a[0, 0], a[1, 1] = tx + s, ty + s
        fx, fy, fz = solve_3x3(a, -x, -y, -z)
        size = math.sqrt(fx * fx + fy * fy)
        miss = size - friction * fz
        if miss <= 0.0:
            best_x, best_y, best_z = fx, fy, fz
            if miss >= -ON_CONE * size:
                break
            over *= 0.5 if side < 0 else 1.0
            high, under, side = s, miss, -1
        elif under == 0.0:
            low, over, high = s, miss, 4.0 * s
        else:
            under *= 0.5 if side > 0 else 1.0
            low, over, side = s, miss, 1
        if under < 0.0 and high - low <= ON_CONE * high:
            break
    a[0, 0], a[1, 1] = tx, ty
    return best_x, best_y, best_z


@kernel
def wrench_row(contacts: Contacts, p: Int, k: Int, row: Vector) -> None:
    """The wrench on its foot of a unit force along axis k of a point's contact frame: force, then moment."""
    e, r = contacts.frame[p, k], contacts.arm[p]
    row[0], row[1], row[2] = e[0], e[1], e[2]
    row[3] = r[1] * e[2] - r[2] * e[1]
    row[4] = r[2] * e[0] - r[0] * e[2]
    row[5] = r[0] * e[1] - r[1] * e[0]


@kernel
def push_foot(contacts: Contacts, b: Int, row: Vector, size: Float, moved: Vector) -> None:
    """Add to ``moved`` (6K,), accelerations of the feet, the effect of ``size`` times the wrench ``row`` on foot b."""
    near = contacts.near
    for k in range(near.size - 1):
        if near[k + 1] > near[k]:
            for c in range(6 * k, 6 * k + 6):
                value = 0.0
                for j in range(6):
                    value += contacts.mobility[c, 6 * b + j] * row[j]
                moved[c] += size * value


@inlined
def write_local(contacts: Contacts, b: Int, dt: Float, rows: Matrix, local: Matrix) -> None:
    """Write the velocity of a point of foot b per unit force on it, from the wrenches ``rows`` of the three axes."""
    for m in range(3):
        row, p, q, r, s, t, u = rows[m], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(6):
            line = contacts.mobility[6 * b + c, 6 * b : 6 * b + 6]  # symmetric
            p += line[0] * row[c]
            q += line[1] * row[c]
            r += line[2] * row[c]
            s += line[3] * row[c]
            t += line[4] * row[c]
            u += line[5] * row[c]
        for k in range(3):
            value = rows[k, 0] * p + rows[k, 1] * q + rows[k, 2] * r
            local[k, m] = dt * (value + rows[k, 3] * s + rows[k, 4] * t + rows[k, 5] * u)


@kernel
def gauss_seidel(problem: Problem, sweeps: Int, tolerance: Float) -> tuple[Float, Int]:
    """Solve for the forces of all near points, warm-started from ``problem.force`` projected onto the cone.

    Returns the relative change in the last sweep, and the sweeps taken.

    Between sweeps the forces are extrapolated (Nesterov's acceleration), with a restart where the change grows or
    reverses (O'Donoghue and Candes 2015). On flat feet that halves the median number of sweeps, and divides the number
    by fifteen in the slowest twentieth of cases.
    """
    contacts, dt, force = problem.contacts, problem.step, problem.force
    free, target, before = problem.free, problem.target, problem.wanted
    chosen = contacts.points[: contacts.number[0]]
    moved, moved_before, local, rows = problem.moved, problem.other, problem.local, problem.rows
    n = contacts.mobility.shape[0]
    for c in range(n):
        moved[c] = 0.0
    for i in range(chosen.size):
        p = chosen[i]
        force[p, 2] = max(0.0, force[p, 2])
        force[p, 0], force[p, 1], _ = coulomb(force[p, 0], force[p, 1], contacts.dynamic_friction[p] * force[p, 2])
        for k in range(3):
            before[p, k] = force[p, k]
            if force[p, k] != 0.0:
                wrench_row(contacts, p, k, rows[k])
                push_foot(contacts, contacts.body[p], rows[k], force[p, k], moved)
    for c in range(n):
        moved_before[c] = moved[c]
    change, largest, momentum, last = 0.0, 0.0, 1.0, math.inf
    for sweep in range(sweeps):
        change, largest, back = 0.0, 0.0, 0.0
        for i in range(chosen.size):
            p = chosen[i]
            b = contacts.body[p]
            for k in range(3):
                wrench_row(contacts, p, k, rows[k])
            write_local(contacts, b, dt, rows, local)
            old_x, old_y, old_z = force[p, 0], force[p, 1], force[p, 2]
            x, y, z = free[p, 0], free[p, 1], free[p, 2] - target[p]
            for j in range(6):
                x += dt * rows[0, j] * moved[6 * b + j]
                y += dt * rows[1, j] * moved[6 * b + j]
                z += dt * rows[2, j] * moved[6 * b + j]
            x -= local[0, 0] * old_x + local[0, 1] * old_y + local[0, 2] * old_z
            y -= local[1, 0] * old_x + local[1, 1] * old_y + local[1, 2] * old_z
            z -= local[2, 0] * old_x + local[2, 1] * old_y + local[2, 2] * old_z
            fx, fy, fz = solve_point(local, x, y, z, contacts.dynamic_friction[p])
            force[p, 0], force[p, 1], force[p, 2] = fx, fy, fz
            if fx != old_x or fy != old_y or fz != old_z:
                for j in range(6):
                    rows[0, j] = (fx - old_x) * rows[0, j] + (fy - old_y) * rows[1, j] + (fz - old_z) * rows[2, j]
                push_foot(contacts, b, rows[0], 1.0, moved)
            change = max(change, abs(fx - old_x), abs(fy - old_y), abs(fz - old_z))
            largest = max(largest, abs(fx), abs(fy), abs(fz))
            if z < -problem.still and not local[2, 2] > 0.0:
                change = math.inf  # it enters the ground, and nothing moves it
            back += (old_x - fx) * (fx - before[p, 0])
            back += (old_y - fy) * (fy - before[p, 1])
            back += (old_z - fz) * (fz - before[p, 2])
        if change <= tolerance * largest or sweep == sweeps - 1:
            return change / max(largest, 1e-300), sweep + 1
        following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum) ** 0.5)
        further = (momentum - 1.0) / following
        if back > 0.0 or change > last:
            further, following = 0.0, 1.0
        momentum, last = following, change
        for i in range(chosen.size):
            p = chosen[i]
            for k in range(3):
                now = force[p, k]
                force[p, k] = now + further * (now - before[p, k])
                before[p, k] = now
        for c in range(n):
            now = moved[c]
            moved[c] = now + further * (now - moved_before[c])
            moved_before[c] = now
    return 0.0, 0


@kernel
def find_motions(problem: Problem) -> None:
    """Write the motions of the points under ``problem.force`` to ``problem.end``."""
    contacts, rows, moved, free = problem.contacts, problem.rows, problem.moved, problem.free
    write_mobility(contacts, ALL)
    for c in range(moved.size):
        moved[c] = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for k in range(3):
            if problem.force[p, k] != 0.0:
                wrench_row(contacts, p, k, rows[k])
                push_foot(contacts, contacts.body[p], rows[k], problem.force[p, k], moved)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        b = contacts.body[p]
        for k in range(3):
            wrench_row(contacts, p, k, rows[0])
            value = 0.0
            for j in range(6):
                value += rows[0, j] * moved[6 * b + j]
            problem.end[p, k] = free[p, k] + problem.step * value
