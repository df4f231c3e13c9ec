"""Problems of hundreds of contacts: walls that stand carry their weight, walls that are shaken obey Coulomb."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from solve.walls import GRAVITY, MASS, STEP, wall

from footfall.solve import cone_gauss_seidel, cone_newton, cone_residual


def test_a_wall_of_200_contacts_stands_and_carries_its_weight():
    """Velocities come to rest, the lowest course carries all of the weight, every brick is in balance."""
    given = wall(6, 5, 0.6)
    assert len(given.free) == 200
    found = cone_newton(given.W, given.free, given.friction)
    assert found.solved and found.residual < 1e-9
    impulse = 30 * MASS * GRAVITY * STEP
    assert found.z[given.on_ground, 2].sum() == pytest.approx(impulse, rel=1e-9)
    assert np.abs(found.w).max() < 1e-9
    taken = (given.jacobian.T @ found.z.ravel()).reshape(-1, 6)
    np.testing.assert_allclose(taken[:, 2], MASS * GRAVITY * STEP, rtol=1e-9)
    np.testing.assert_allclose(np.delete(taken, 2, axis=1), 0.0, atol=1e-9 * impulse)


@pytest.mark.parametrize(("friction", "shake"), [(0.0, 2.0), (0.3, 2.0), (0.7, 20.0), (1.0, 5.0)])
def test_shaken_walls_are_solved(friction, shake):
    given = wall(5, 4, friction, shake, seed=1)
    found = cone_newton(given.W, given.free, friction)
    assert found.solved
    assert cone_residual(given.W, given.free, friction, found.z) < 1e-9


def test_all_solvers_take_many_points_and_sparse_matrices():
    given = wall(4, 3, 0.5, 5.0, seed=2)
    sparse = csr_array(given.W)
    exact = cone_newton(sparse, given.free, 0.5)
    found = cone_gauss_seidel(sparse, given.free, 0.5)
    assert found.solved and found.residual < 1e-6 * np.abs(exact.z).max()
    again = cone_newton(sparse, given.free, 0.5, start=exact.z)
    assert again.solved and again.iterations <= 1


def test_points_that_share_a_plate_take_three_steps_from_a_start_close_to_a_solution():
    """Twenty-five points on a plate have one motion of six coordinates: only compliance tells their forces apart, and a
    full step from a start that is off by 1e-8 leads far from it.
    """
    x, y = (side.ravel() for side in np.meshgrid(*[np.linspace(-0.5, 0.5, 5)] * 2))
    arms, steps = np.stack([x, y, np.full(25, -0.1)], axis=1), 0
    jacobian = np.concatenate([np.hstack([np.eye(3), -np.cross(np.eye(3), arm)]) for arm in arms])
    W = (jacobian * np.array([1.0, 1.0, 1.0, 11.9, 11.9, 6.0])) @ jacobian.T
    for seed in range(8):
        rng = np.random.default_rng(seed)
        free = (jacobian @ np.r_[0.02 * rng.normal(size=2), -0.01, 0.05 * rng.normal(size=3)]).reshape(-1, 3)
        exact = cone_newton(W, free, 0.5)
        off = 1e-8 * np.abs(exact.z).max() * rng.normal(size=exact.z.shape) * (exact.z != 0.0)
        again = cone_newton(W, free, 0.5, start=exact.z + off)
        assert again.solved and np.abs(again.z - exact.z).max() < 1e-5 * np.abs(exact.z).max()
        steps += again.iterations
    assert steps <= 3 * 8


def test_compliant_and_indefinite_matrices_are_solved_or_refused():
    """A W of full rank is solved; what is no Delassus matrix is not called solved unless it is."""
    given = wall(4, 3, 0.5, 5.0, seed=4)
    soft = given.W + 1e-3 * given.W.diagonal().mean() * np.eye(len(given.W))
    found = cone_newton(soft, given.free, 0.5)
    assert found.solved and found.residual < 1e-9
    rng = np.random.default_rng(1)
    noise = rng.normal(size=given.W.shape) * given.W.diagonal().mean()
    bent = given.W + 0.5 * (noise + noise.T)
    np.fill_diagonal(bent, given.W.diagonal())
    found = cone_newton(bent, given.free, 0.5)
    assert not found.solved or found.residual < 1e-9
