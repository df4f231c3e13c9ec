"""Newton's steps in as many unknowns as the Delassus matrix has rank."""

from __future__ import annotations

import numpy as np
import pytest
from plain_python import plainly

from footfall.solve import exact_cone
from footfall.solve import newton_on_cone as cone
from footfall.solve.dense import low_rank
from footfall.solve.effort import low_rank_cost, trial_cost
from footfall.solve.problem import Dense


def problem(seed: int, points: int = 8, dofs: int = 7) -> Dense:
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(3 * points, dofs))
    free = (jacobian @ rng.normal(size=dofs)).reshape(points, 3)
    scratch, integers = (
        np.zeros(exact_cone.cone_floats(points)),
        np.zeros(exact_cone.cone_integers(points), dtype=np.int64),
    )
    friction = rng.uniform(0.2, 1.0, points)
    return Dense(jacobian @ jacobian.T, free, np.zeros(points), friction, np.zeros((points, 3)), scratch, integers)


@pytest.mark.parametrize("most", [3, 7, 12])
def test_a_singular_matrix_is_factored_up_to_its_rank_or_refused(most):
    dense = problem(1)
    n = len(dense.matrix)
    factor, kept = np.zeros((n, n)), dense.matrix.copy()
    rank = low_rank(dense.matrix, n, 1e-13, most, factor, np.zeros(n))
    np.testing.assert_array_equal(dense.matrix, kept)
    if most < 7:
        assert rank == most + 1
    else:
        assert rank == 7
        np.testing.assert_allclose(factor[:, :7] @ factor[:, :7].T, kept, atol=1e-10 * np.abs(kept).max())


def derivative(dense: Dense, newton: cone.Newton, z: np.ndarray) -> np.ndarray:
    """(n, n) derivative of what the equations of Alart and Curnier miss, by z."""
    out = np.eye(len(z))
    for p, mu in enumerate(dense.friction):
        own, r = slice(3 * p, 3 * p + 3), newton.ease[p]
        a = z[own] - r * newton.u[own]
        a[2] += r * dense.target[p] / newton.size
        by = (1.0 - newton.soft) * np.eye(len(z))[own] - r * dense.matrix[own]
        by[2] *= a[2] > 0.0
        length, limit = np.hypot(a[0], a[1]), mu * max(0.0, a[2])
        if length > limit:
            t = a[:2] / length
            by[:2] = limit / length * (by[:2] - np.outer(t, t @ by[:2])) + mu * np.outer(t, by[2])
        out[own] -= by
    return out


@pytest.mark.parametrize("dofs", [7, 40])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("soft", [1e-1, 1e-3, 1e-4])
def test_a_step_in_few_unknowns_solves_newtons_equations(seed, dofs, soft):
    dense = problem(seed, dofs=dofs)  # of low rank, and of full
    rng, n = np.random.default_rng(seed), len(dense.matrix)
    ease = 3.0 / np.diag(dense.matrix).reshape(-1, 3).sum(axis=1)
    z, u, phi = rng.normal(size=n), np.zeros(n), np.zeros(n)  # points that are open, stick and slide
    newton = cone.Newton(1.0, soft, ease, np.zeros(n), u, phi)
    cone.miss(dense, newton, z)
    step = np.zeros(n)
    space = cone.LowRank(np.zeros((n, n)), np.zeros((n, n)), np.zeros(n), np.zeros(n), np.zeros(n))
    rank = low_rank(dense.matrix, n, cone.NO_RANK, n, space.factor, np.zeros(n))
    assert rank == min(n, dofs)
    assert cone.low_rank_step(dense, newton, z, rank, space, step)
    wanted = np.linalg.solve(derivative(dense, newton, z), -phi)
    # The step is softer than asked for by FLOOR.
    assert np.abs(step - wanted).max() < 10.0 * cone.FLOOR / soft * np.abs(wanted).max()


def test_problems_of_more_points_than_motions_are_solved():
    for seed in range(20):
        dense = problem(seed, points=20, dofs=9)
        found, *_ = exact_cone.solve_cone(dense, True, 0.0, np.inf)
        u = dense.free + (dense.matrix @ dense.impulse.ravel()).reshape(-1, 3)
        normal, size = dense.impulse[:, 2], np.abs(dense.impulse).max()
        assert found
        assert normal.min() >= 0.0 and u[:, 2].min() > -1e-8 and np.abs(u[:, 2] * normal).max() < 1e-8 * max(1.0, size)
        friction = np.linalg.norm(dense.impulse[:, :2], axis=1)
        assert (friction <= dense.friction * normal * (1 + 1e-9) + 1e-12 * size).all()
        speed = np.linalg.norm(u[:, :2], axis=1)
        slides = speed > 1e-6
        along = np.einsum("ij,ij->i", u[:, :2], dense.impulse[:, :2])
        np.testing.assert_allclose(along[slides], -(friction * speed)[slides], atol=1e-6 * max(1.0, size))


def test_every_evaluation_is_counted(monkeypatch):
    """Also those of a problem that is not solved: a search that nobody counted took thirty."""
    calls, newton = [], plainly(cone.cone_newton)
    evaluate = newton.__globals__["miss"]
    monkeypatch.setitem(newton.__globals__, "miss", lambda *given: calls.append(1) or evaluate(*given))
    for seed in range(3):
        for limit in (2, cone.SOFT_STEPS):
            dense = problem(seed)
            dense.impulse[:] = np.random.default_rng(seed).normal(size=dense.impulse.shape)
            calls.clear()
            _, steps, cost = newton(dense, cone.factor_matrix(dense), 1e-6, limit, np.inf)
            n = dense.impulse.size
            assert 0 < steps <= limit
            assert cost >= len(calls) * trial_cost(n) + steps * low_rank_cost(n, 7)


def test_impulses_stay_as_they_were_where_newton_does_not_converge():
    dense = problem(2)
    dense.impulse[:] = before = np.random.default_rng(0).normal(size=dense.impulse.shape)
    missed, steps, _ = cone.cone_newton(dense, cone.factor_matrix(dense), 0.0, 1, np.inf)
    assert (missed, steps) == (np.inf, 1)
    np.testing.assert_array_equal(dense.impulse, before)
