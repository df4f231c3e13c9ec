"""The contact problem of some points with its Delassus matrix written out, for solvers that want it so."""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.solve.gauss_seidel import push_foot, wrench_row
from footfall.solve.minimum_norm import BLOCKS, SCRATCH_ROWS

#: A least motion for points that may do what they like.
ANY = -1e12


def dense_floats(points: int) -> int:
    """Floats that :func:`dense_problem` hands out, beside the rest."""
    return 9 * points * points + 8 * points


@inlined
def dense_problem(contacts, step, free, target, chosen, work):
    """Write out the problem of the n ``chosen`` points, in the scratch space between what :mod:`minimum_norm` uses and
    the last rows. Gives the Delassus matrix (3n, 3n), free motions (n, 3), targets (n,), room for friction (n,) and
    impulses (n, 3), and the rest of the space.
    """
    first, last = BLOCKS * contacts.mobility.shape[0] + SCRATCH_ROWS, work.shape[0] - 5 * contacts.gap.size
    space = work[first:last].reshape(((last - first) * work.shape[1],))
    n = chosen.size
    a = 9 * n * n
    b, c, d, e = a + 3 * n, a + 4 * n, a + 5 * n, a + 8 * n
    w, dense_free, dense_target = space[:a].reshape((3 * n, 3 * n)), space[a:b].reshape((n, 3)), space[b:c]
    write_out(contacts, step, free, target, chosen, w, dense_free, dense_target, work)
    return w, dense_free, dense_target, space[c:d], space[d:e].reshape((n, 3)), space[e:]


@kernel
def write_out(contacts, step, free, target, chosen, w, dense_free, dense_target, work):
    """Fill a dense problem; ``work`` has at least 4 rows."""
    rows, moved = work[:3], work[3]
    n = dense_target.size
    for i in range(n):
        p = chosen[i]
        dense_target[i] = target[p]
        for k in range(3):
            dense_free[i, k] = free[p, k]
            for c in range(moved.size):
                moved[c] = 0.0
            wrench_row(contacts, p, k, rows[0])
            push_foot(contacts, contacts.body[p], rows[0], step, moved)
            for j in range(i + 1):
                other = chosen[j]
                b = contacts.body[other]
                for m in range(3):
                    wrench_row(contacts, other, m, rows[1])
                    value = 0.0
                    for c in range(6):
                        value += rows[1, c] * moved[6 * b + c]
                    w[3 * i + k, 3 * j + m], w[3 * j + m, 3 * i + k] = value, value


@inlined
def hand_back(contacts, chosen, impulse, force):
    """The impulses of a dense problem as forces (P, 3) of all near points, contact frames."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
    for i in range(chosen.size):
        for k in range(3):
            force[chosen[i], k] = impulse[i, k]
