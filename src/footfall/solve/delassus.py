"""The contact problem of the near points with its Delassus matrix written out, for solvers that want it so."""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.solve.gauss_seidel import push_foot, wrench_row

#: A least motion for points that may do what they like.
ANY = -1e12


def dense_floats(points: int) -> int:
    """Floats that :func:`dense_rooms` hands out, beside the rest."""
    return 9 * points * points + 9 * points


@inlined
def dense_rooms(space, points, n):
    """Rooms in a flat space for a problem of n of P points: their numbers, the Delassus matrix (3n, 3n), free motions
    (n, 3), targets (n,), friction (n,), impulses (n, 3), and the rest.
    """
    a = points
    b = a + 9 * n * n
    c, d, e, f = b + 3 * n, b + 4 * n, b + 5 * n, b + 8 * n
    return (
        space[:a],
        space[a:b].reshape((3 * n, 3 * n)),
        space[b:c].reshape((n, 3)),
        space[c:d],
        space[d:e],
        space[e:f].reshape((n, 3)),
        space[f:],
    )


@inlined
def dense_problem(contacts, step, free, target, room, work):
    """Write out the problem of the points that the ground may have to stop, into the rows ``room`` (first, last) of
    ``work``, whose first 4 rows are scratch. Gives what :func:`dense_rooms` does; friction is left to the caller.
    """
    first, last = room
    points = contacts.gap.size
    space = work[first:last].reshape(((last - first) * work.shape[1],))
    n = choose(contacts, target, space[:points])
    parts = dense_rooms(space, points, n)
    write_out(contacts, step, free, target, parts[0], parts[1], parts[2], parts[3], work)
    return parts


@inlined
def choose(contacts, target, who):
    """Write the numbers of the points that the ground may have to stop; gives how many."""
    n = 0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if target[p] != ANY:
            who[n] = p
            n += 1
    return n


@kernel
def write_out(contacts, step, free, target, who, w, dense_free, dense_target, work):
    """Fill a dense problem; ``work`` has at least 4 rows."""
    rows, moved = work[:3], work[3]
    n = dense_target.size
    for i in range(n):
        p = int(who[i])
        dense_target[i] = target[p]
        for k in range(3):
            dense_free[i, k] = free[p, k]
            for c in range(moved.size):
                moved[c] = 0.0
            wrench_row(contacts, p, k, rows[0])
            push_foot(contacts, contacts.body[p], rows[0], step, moved)
            for j in range(i + 1):
                other = int(who[j])
                b = contacts.body[other]
                for m in range(3):
                    wrench_row(contacts, other, m, rows[1])
                    value = 0.0
                    for c in range(6):
                        value += rows[1, c] * moved[6 * b + c]
                    w[3 * i + k, 3 * j + m], w[3 * j + m, 3 * i + k] = value, value


@inlined
def hand_back(contacts, who, impulse, force):
    """The impulses of a dense problem as forces (P, 3) of all near points, contact frames."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
    for i in range(impulse.shape[0]):
        for k in range(3):
            force[int(who[i]), k] = impulse[i, k]
