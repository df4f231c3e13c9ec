"""The derivatives of a step, put together in one linear system in the acceleration, and integrated.

A rotation that turns at the rate w for the time h is ``q exp(x)``, x = h w. Changed by a small turn d at the start, and
x by dx, it turns further by

    exp(-x) d + J dx,      exp(-x) = 1 - a [x] + b [x]^2,      J = 1 - b [x] + c [x]^2,
    a = sin(r) / r,        b = (1 - cos(r)) / r^2,             c = (r - sin(r)) / r^3,        r = |x|,

[x] being the matrix of the cross product.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.joint_rows import JointRows
from footfall.engine.derivatives.cone import hold_contacts
from footfall.engine.derivatives.contact_motions import locate_point
from footfall.engine.derivatives.inverse_dynamics import find_motions, push_point, subtract_inverse_dynamics
from footfall.engine.derivatives.joints import add_joint_forces, add_joint_rows
from footfall.engine.derivatives.point_laws import add_point_forces
from footfall.engine.derivatives.sole import mobility_of_sole, write_sole_forces
from footfall.engine.derivatives.space import OF_POINTS, OF_VELOCITIES, Space, Taken
from footfall.engine.dynamics.inertia import factor
from footfall.engine.kinematics import from_frame
from footfall.engine.other_bodies.points import Points
from footfall.engine.step import Laws
from footfall.kinds import Int, Matrix
from footfall.solve.contacts import Contacts
from footfall.solve.problem import COMPLIANCE

#: Angle, rad, below which a, b and c are their values at 0, to the last digit.
STILL = 1e-8


@inlined
def apply_outer_forces(taken: Taken, space: Space, points: Points, contacts: Contacts) -> None:
    """Add the forces of contacts and pushes on each body, as forces of fixed direction."""
    push = space.push
    for k in range(points.body.size):
        for n in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[n]
            locate_point(taken, space, points, contacts, k, p)
            push[0], push[1], push[2] = from_frame(contacts.frame[p], points.force[p])
            push_point(space, points.body[k], space.centre, space.place, push)
    pushes, step = taken.pushes, taken.step[0]
    for i in range(pushes.body.size):
        if pushes.start[i] <= step < pushes.stop[i]:
            b, wrench = pushes.body[i], pushes.wrench[i]
            for c in range(3):
                space.place[c] = taken.xipos[b, c] - taken.subtree_com[taken.body_rootid[b], c]
                space.outer[b, c] += wrench[3 + c]
            push_point(space, b, space.place, space.place, wrench[:3])


@inlined
def solve_columns(taken: Taken, space: Space, x: Matrix, columns: Int) -> None:
    """M^-1 times the first columns of a matrix (nv, C), in place."""
    tree = taken.tree
    for j in range(taken.qvel.size - 1, -1, -1):
        address, line = tree.M_rowadr[j], x[j]
        for e in range(address, address + tree.M_rownnz[j] - 1):
            other, share = x[tree.M_colind[e]], space.qLD[e]
            for c in range(columns):
                other[c] -= share * line[c]
    for j in range(taken.qvel.size):
        address, line, inverse = tree.M_rowadr[j], x[j], space.qLDiagInv[j]
        for c in range(columns):
            line[c] *= inverse
        for e in range(address, address + tree.M_rownnz[j] - 1):
            other, share = x[tree.M_colind[e]], space.qLD[e]
            for c in range(columns):
                line[c] -= share * other[c]


@inlined
def eliminate_columns(a: Matrix, n: Int, right: Matrix) -> None:
    """Solve a x = right for all columns in place, by Gaussian elimination with row pivots. Destroys a."""
    columns = right.shape[1]
    for i in range(n):
        best = i
        for r in range(i + 1, n):
            best = r if abs(a[r, i]) > abs(a[best, i]) else best
        if best != i:
            for c in range(n):
                a[i, c], a[best, c] = a[best, c], a[i, c]
            for c in range(columns):
                right[i, c], right[best, c] = right[best, c], right[i, c]
        pivot, inverse = right[i], 1.0 / a[i, i]
        for r in range(i + 1, n):
            share, line = a[r, i] * inverse, right[r]
            if share != 0.0:
                for c in range(i + 1, n):
                    a[r, c] -= share * a[i, c]
                for c in range(columns):
                    line[c] -= share * pivot[c]
    for i in range(n - 1, -1, -1):
        line, inverse = right[i], 1.0 / a[i, i]
        for r in range(i + 1, n):
            share, other = a[i, r], right[r]
            for c in range(columns):
                line[c] -= share * other[c]
        for c in range(columns):
            line[c] *= inverse


@inlined
def answer_contacts(taken: Taken, space: Space, points: Points, contacts: Contacts) -> None:
    """Solve for the unknowns of the contacts, and add their effect to the accelerations in ``right``."""
    n, nv, columns, largest = space.number[0], taken.qvel.size, space.right.shape[1], 0.0
    follow = taken.dt if taken.kind == OF_VELOCITIES else 1.0
    solve_columns(taken, space, space.pull_by, n)
    for u in range(n):
        hold, line, row = space.hold[u], space.answer[u], space.system[u]
        for c in range(n):
            row[c] = 0.0
        for j in range(nv):
            if hold[j] != 0.0:
                share, acceleration, pulled = follow * hold[j], space.right[j], space.pull_by[j]
                for c in range(n):
                    row[c] += share * pulled[c]
                for c in range(columns):
                    line[c] += share * acceleration[c]
        largest = max(largest, row[u] if space.who[u] >= 0 else 0.0)
        for c in range(columns):
            line[c] = -line[c]
    for k in range(points.body.size):
        if space.sole[k] >= 0:
            largest = max(largest, mobility_of_sole(space, contacts, k))
    for u in range(n):
        space.system[u, u] += space.give[u] if space.give[u] > 0.0 else COMPLIANCE * largest
    eliminate_columns(space.system, n, space.answer)
    for j in range(nv):
        line, pulled = space.right[j], space.pull_by[j]
        for u in range(n):
            share, answer = pulled[u], space.answer[u]
            for c in range(columns):
                line[c] += share * answer[c]


@inlined
def write_forces(taken: Taken, space: Space, points: Points, contacts: Contacts) -> None:
    """Write the derivatives of the forces of all near points, in their contact frames, from the solved unknowns."""
    for u in range(space.number[0]):
        p = space.who[u]
        for c in range(3 if p >= 0 else 0):
            line, share = space.force[p, c], space.pushed[u, c]
            for column in range(space.answer.shape[1]):
                line[column] += share * space.answer[u, column]
    for k in range(points.body.size):
        if space.sole[k] >= 0:
            write_sole_forces(space, contacts, k)


@inlined
def clear_forces(space: Space, contacts: Contacts) -> None:
    """Set the derivatives of the forces of near points to zero."""
    for n in range(contacts.number[0]):
        force = space.force[contacts.points[n]]
        for c in range(space.right.shape[1]):
            force[0, c], force[1, c], force[2, c] = 0.0, 0.0, 0.0


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


@inlined
def integrate(taken: Taken, space: Space) -> None:
    """Write the derivatives of the state after the step, from those of accelerations."""
    turn_rotations(taken, space)
    nv, h, columns, out = taken.qvel.size, taken.dt, space.right.shape[1], space.out
    for j in range(nv):
        place, speed, acceleration = out[j], out[nv + j], space.right[j]
        for c in range(columns):
            speed[c] = h * acceleration[c]
        speed[nv + j] += 1.0
        for c in range(columns):
            place[c] = h * speed[c]
        place[j] += 1.0
    for i in range(taken.ball.size):
        first, turn = taken.ball[i], space.turns[i]
        for r in range(3):
            place, x, y, z = out[first + r], out[nv + first], out[nv + first + 1], out[nv + first + 2]
            rate = turn[1, r]
            for c in range(columns):
                place[c] = h * (rate[0] * x[c] + rate[1] * y[c] + rate[2] * z[c])
            for c in range(3):
                place[first + c] += turn[0, r, c]
    for i in range(space.kept.shape[0]):
        for c in range(columns):
            out[2 * nv + i, c] = space.kept[i, c]


@kernel
def differentiate(taken: Taken, space: Space, points: Points, contacts: Contacts, rows: JointRows, laws: Laws) -> None:
    """Write the derivatives of a step just taken: of the state after it to ``out``, and of forces of near points."""
    columns = space.right.shape[1]
    for j in range(taken.qvel.size):
        for c in range(columns):
            space.right[j, c] = 0.0
    for i in range(space.kept.shape[0]):
        for c in range(columns):
            space.kept[i, c] = 0.0
    clear_forces(space, contacts)
    for e in range(space.qLD.size):
        space.qLD[e] = taken.M[e]
    find_motions(taken, space)
    apply_outer_forces(taken, space, points, contacts)
    subtract_inverse_dynamics(taken, space)
    add_joint_forces(taken, space)
    add_joint_rows(taken, space, rows)
    if taken.kind == OF_POINTS:
        add_point_forces(taken, space, points, contacts, laws.point, laws.values)
    else:
        hold_contacts(taken, space, points, contacts, laws.values)
    factor(taken.tree, space)
    solve_columns(taken, space, space.right, columns)
    if taken.kind != OF_POINTS:
        answer_contacts(taken, space, points, contacts)
        write_forces(taken, space, points, contacts)
    integrate(taken, space)
