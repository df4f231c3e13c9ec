"""Problems of hundreds of contacts: walls that stand carry their weight, walls that are shaken obey Coulomb."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from solve.walls import GRAVITY, MASS, STEP, wall

from footfall.solve import active_set, cone_gauss_seidel, cone_newton, cone_residual
from footfall.solve.many_points import MANY, Equations, blocks


def test_a_wall_of_288_contacts_stands_and_carries_its_weight():
    """Velocities come to rest, the lowest course carries all of the weight, every brick is in balance."""
    given = wall(7, 6, 0.6)
    assert len(given.free) == 288
    found = cone_newton(given.W, given.free, given.friction)
    assert found.solved and found.residual < 1e-9
    impulse = 42 * MASS * GRAVITY * STEP
    assert found.z[given.on_ground, 2].sum() == pytest.approx(impulse, rel=1e-9)
    assert np.abs(found.w).max() < 1e-9
    taken = (given.jacobian.T @ found.z.ravel()).reshape(-1, 6)
    np.testing.assert_allclose(taken[:, 2], MASS * GRAVITY * STEP, rtol=1e-9)
    np.testing.assert_allclose(np.delete(taken, 2, axis=1), 0.0, atol=1e-9 * impulse)


@pytest.mark.parametrize(("friction", "shake"), [(0.0, 2.0), (0.3, 2.0), (0.7, 20.0), (1.0, 5.0)])
def test_shaken_walls_are_solved(friction, shake):
    given = wall(5, 4, friction, shake, seed=1)
    assert len(given.free) > MANY
    found = cone_newton(given.W, given.free, friction)
    assert found.solved
    assert cone_residual(given.W, given.free, friction, found.z) < 1e-9


def test_all_solvers_take_many_points_and_sparse_matrices():
    given = wall(4, 3, 0.5, 5.0, seed=2)
    sparse = csr_array(given.W)
    exact = cone_newton(sparse, given.free, 0.5)
    for solver, tolerance in ((active_set, 1e-9), (cone_gauss_seidel, 1e-6)):
        found = solver(sparse, given.free, 0.5)
        assert found.solved and found.residual < tolerance * np.abs(exact.z).max()
    again = cone_newton(sparse, given.free, 0.5, start=exact.z)
    assert again.solved and again.iterations <= 1


def test_blocks_are_the_matrix():
    given = wall(3, 2, 0.5)
    begin, column, value = blocks(given.W)
    whole = np.zeros_like(given.W)
    for row in range(len(begin) - 1):
        for b in range(begin[row], begin[row + 1]):
            whole[3 * row : 3 * row + 3, 3 * column[b] : 3 * column[b] + 3] = value[b]
    np.testing.assert_array_equal(whole, given.W)
    assert len(column) < 0.7 * (len(begin) - 1) ** 2


def test_newtons_step_by_the_rank_of_w_is_that_of_all_unknowns():
    """Both solve one linear system; the first loses the digits that a damping of 1e-5 leaves."""
    given = wall(4, 3, 0.5, 5.0, seed=3)
    points = len(given.free)
    equations = Equations(given.W, given.free, np.zeros(points), np.full(points, 0.5))
    assert equations.factor is not None and equations.factor.shape[1] <= 6 * 12
    rng = np.random.default_rng(0)
    for _ in range(5):
        z = 0.1 * rng.normal(size=(points, 3)) + [0.0, 0.0, 0.2]
        a = equations.shifted(z)
        phi = z - equations.projected(a)
        low = equations.step(z, a, phi, 1e-5)
        equations.factor, kept = None, equations.factor
        full = equations.step(z, a, phi, 1e-5)
        equations.factor = kept
        np.testing.assert_allclose(low, full, atol=1e-8 * np.abs(full).max())


def test_compliant_and_indefinite_matrices_have_no_low_rank():
    """A W of full rank is solved by all unknowns; what is no Delassus matrix is not called solved unless it is."""
    given = wall(4, 3, 0.5, 5.0, seed=4)
    soft = given.W + 1e-3 * given.W.diagonal().mean() * np.eye(len(given.W))
    found = cone_newton(soft, given.free, 0.5)
    assert found.solved and found.residual < 1e-9
    assert Equations(soft, given.free, np.zeros(len(given.free)), np.full(len(given.free), 0.5)).factor is None
    rng = np.random.default_rng(1)
    noise = rng.normal(size=given.W.shape) * given.W.diagonal().mean()
    bent = given.W + 0.5 * (noise + noise.T)
    np.fill_diagonal(bent, given.W.diagonal())
    found = cone_newton(bent, given.free, 0.5)
    assert not found.solved or found.residual < 1e-9
