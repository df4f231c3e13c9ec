"""The contact problem of some points with an explicit Delassus matrix, for solvers that need it."""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.solve.gauss_seidel import push_foot, wrench_row
from footfall.solve.problem import Dense

#: A least motion for points that are not constrained.
ANY = -1e12


def dense_floats(points: int) -> int:
    """Floats that :func:`dense_problem` uses for the problem itself."""
    return 9 * points * points + 8 * points


@inlined
def dense_problem(problem, count):
    """The dense problem of the first ``count`` chosen points, in ``problem.floats``."""
    space, n = problem.floats, count
    a = 9 * n * n
    b, c, d, e = a + 3 * n, a + 4 * n, a + 5 * n, a + 8 * n
    dense = Dense(
        space[:a].reshape((3 * n, 3 * n)),
        space[a:b].reshape((n, 3)),
        space[b:c],
        space[c:d],
        space[d:e].reshape((n, 3)),
        space[e:],
        problem.integers,
    )
    write_out(problem, dense)
    return dense


@kernel
def write_out(problem, dense):
    """Fill a dense problem."""
    contacts, chosen, w = problem.contacts, problem.chosen, dense.matrix
    rows, moved = problem.rows, problem.moved
    for i in range(dense.target.size):
        p = chosen[i]
        dense.target[i] = problem.target[p]
        for k in range(3):
            dense.free[i, k] = problem.free[p, k]
            for c in range(moved.size):
                moved[c] = 0.0
            wrench_row(contacts, p, k, rows[0])
            push_foot(contacts, contacts.body[p], rows[0], problem.step, moved)
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
def hand_back(problem, impulse):
    """Write the impulses (n, 3) of a dense problem to the forces of all near points."""
    contacts, force, chosen = problem.contacts, problem.force, problem.chosen
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
    for i in range(impulse.shape[0]):
        for k in range(3):
            force[chosen[i], k] = impulse[i, k]
