"""The derivatives of a step, put together in one linear system in the acceleration."""

from __future__ import annotations

import numpy as np

from footfall.compiled import inlined, kernel
from footfall.engine.constraints.joint_rows import JointRows
from footfall.engine.derivatives.cone import hold_contacts
from footfall.engine.derivatives.contact_motions import locate_point
from footfall.engine.derivatives.inverse_dynamics import find_motions, push_point, subtract_inverse_dynamics
from footfall.engine.derivatives.joints import add_joint_forces, add_joint_rows
from footfall.engine.derivatives.point_laws import add_point_forces
from footfall.engine.derivatives.space import OF_POINTS, Space, Taken
from footfall.engine.other_bodies.points import Points
from footfall.kinds import Function, Vector
from footfall.solve.contacts import Contacts
from footfall.solve.problem import COMPLIANCE


@inlined
def apply_outer_forces(taken: Taken, space: Space, points: Points, contacts: Contacts) -> None:
    """Note the forces of contacts and pushes on each body, as forces of fixed direction."""
    for k in range(points.body.size):
        for n in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[n]
            f, frame = points.force[p], contacts.frame[p]
            locate_point(taken, space, points, contacts, k, p)
            for c in range(3):
                space.push[c] = frame[0, c] * f[0] + frame[1, c] * f[1] + frame[2, c] * f[2]
            push_point(space, points.body[k], space.centre, space.place, space.push)
    pushes, step = taken.pushes, taken.step[0]
    for i in range(pushes.body.size):
        if pushes.start[i] <= step < pushes.stop[i]:
            b, wrench = pushes.body[i], pushes.wrench[i]
            for c in range(3):
                space.place[c] = taken.xipos[b, c] - taken.subtree_com[taken.body_rootid[b], c]
                space.outer[b, c] += wrench[3 + c]
            push_point(space, b, space.place, space.place, wrench[:3])


@kernel
def differentiate(
    taken: Taken, space: Space, points: Points, contacts: Contacts, rows: JointRows, law: Function, values: Vector
) -> None:
    """Write what the system of a step just taken consists of: r, the inertia of joint rows, N, T, C and e."""
    for j in range(taken.qvel.size):
        space.added[j] = 0.0
        for c in range(space.right.shape[1]):
            space.right[j, c] = 0.0
    find_motions(taken, space)
    apply_outer_forces(taken, space, points, contacts)
    subtract_inverse_dynamics(taken, space)
    add_joint_forces(taken, space)
    add_joint_rows(taken, space, rows)
    if taken.kind == OF_POINTS:
        add_point_forces(taken, space, points, contacts, law, values)
    else:
        hold_contacts(taken, space, points, contacts, values)


def accelerations(taken: Taken, space: Space, inertia: np.ndarray) -> np.ndarray:
    """(nv, C) derivatives of the acceleration, from ``inertia`` (nv, nv) with damping; writes those of forces."""
    h, n = taken.dt, int(space.number[0]) if taken.kind != OF_POINTS else 0
    diagonal = np.arange(len(inertia))
    inertia[diagonal, diagonal] += space.added
    both = np.linalg.solve(inertia, np.hstack([space.right, space.pull_by[:, :n]]))
    free, pulled = both[:, : space.right.shape[1]], both[:, space.right.shape[1] :]
    if n == 0:
        return free
    hold, give, error = h * space.hold[:n], space.give[:n], space.answer[:n]
    system = hold @ pulled
    system[np.diag_indices(n)] += np.where(give > 0.0, give, COMPLIANCE * system.diagonal().max())
    answer = -np.linalg.solve(system, hold @ free + error)
    space.force[...] = 0.0
    np.add.at(space.force, space.who[:n], space.pushed[:n, :, None] * answer[:, None])
    return free + pulled @ answer
