"""Contact problems from inside the cone: solutions, in few steps, where the ground can hold bodies in many ways."""

from __future__ import annotations

import numpy as np
import pytest

from footfall.solve import cone_residual
from footfall.solve.exact_cone import END, cone_floats, cone_integers, from_inside
from footfall.solve.interior_point import begin_inside, interior_point
from footfall.solve.newton_on_cone import SOFT, STEPS, factor_matrix, soften
from footfall.solve.problem import Dense

ENOUGH = 1e-6  # of the largest impulse that would stop a point alone: what a step asks for


def dense(matrix: np.ndarray, free: np.ndarray, friction: np.ndarray, target: np.ndarray | None = None) -> Dense:
    points = len(friction)
    space = np.zeros(cone_floats(points)), np.zeros(cone_integers(points), dtype=np.int64)
    least = np.zeros(points) if target is None else target
    return Dense(matrix, free, least, friction, np.zeros((points, 3)), *space)


def on_a_plate(points: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(3P, 3P) and (P, 3): points under a rigid plate of 1 kg that falls and turns."""
    rng = np.random.default_rng(seed)
    place = np.column_stack([rng.uniform(-0.3, 0.3, (points, 2)), np.zeros(points)])
    jacobian = np.zeros((points, 3, 6))
    for p, (x, y, z) in enumerate(place):
        jacobian[p, :, :3] = np.eye(3)
        jacobian[p, :, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    jacobian = jacobian.reshape(3 * points, 6)
    inverse = np.diag([1.0, 1.0, 1.0, 30.0, 30.0, 15.0])
    motion = np.array([*rng.normal(size=2), -2.0, *rng.normal(size=3)])
    return jacobian @ inverse @ jacobian.T, (jacobian @ motion).reshape(points, 3)


def largest(problem: Dense) -> float:
    """The largest impulse that would stop a point alone, N s."""
    ease = 3.0 / np.diag(problem.matrix).reshape(-1, 3).sum(axis=1)
    return float((ease[:, None] * np.abs(problem.free)).max())


def residual(problem: Dense) -> float:
    return cone_residual(problem.matrix, problem.free, problem.friction, problem.impulse, target=problem.target)


@pytest.mark.parametrize("friction", [0.0, 0.05, 0.6, 2.0])
@pytest.mark.parametrize("points", [1, 3, 8, 24])
@pytest.mark.parametrize("seed", range(3))
def test_a_plate_on_many_points_is_stopped_as_the_cone_allows(points, friction, seed):
    """Of 24 points under a plate three could carry it: impulses are not unique, and the matrix has rank six."""
    problem = dense(*on_a_plate(points, seed), np.full(points, friction))
    rank = factor_matrix(problem)
    missed, steps, _ = from_inside(problem, rank, ENOUGH, np.inf)
    assert rank == min(3 * points, 6) or points == 3  # three points feel six motions
    assert missed <= ENOUGH and steps < 80
    # Both residuals are in terms of the same impulses; slips count friction times more in this one.
    assert residual(problem) <= 3.0 * (1.0 + friction) * ENOUGH * largest(problem)
    normal, tangential = problem.impulse[:, 2], np.linalg.norm(problem.impulse[:, :2], axis=1)
    assert normal.min() >= 0.0 and (tangential <= friction * normal * (1.0 + 1e-12)).all()


def test_frictions_may_differ_and_some_points_have_none():
    rng = np.random.default_rng(3)
    for seed in range(10):
        friction = np.where(rng.random(8) < 0.3, 0.0, rng.uniform(0.1, 1.5, 8))
        problem = dense(*on_a_plate(8, seed), friction, rng.uniform(-0.5, 0.0, 8))
        missed, _, _ = from_inside(problem, factor_matrix(problem), ENOUGH, np.inf)
        assert missed <= ENOUGH
        assert residual(problem) <= 9.0 * ENOUGH * largest(problem)


def test_products_of_impulses_and_motions_shrink_until_they_are_as_small_as_asked():
    """Each stage goes on where the last one ended, and costs as many steps as it counts."""
    problem = dense(*on_a_plate(6, 1), np.full(6, 0.7))
    rank = factor_matrix(problem)
    begin_inside(problem)
    before = np.inf
    for product in (1e-8, END):
        steps, cost = interior_point(problem, rank, product, np.inf)
        assert 0 < steps <= 30 and cost > 0.0
        now = residual(problem)
        assert now < before
        before = now
    assert interior_point(problem, rank, END, np.inf) == (0, 0.0)
    assert interior_point(problem, rank, 0.0, 0.0) == (0, 0.0)  # nothing to spend


def test_points_that_fly_off_get_no_impulse():
    matrix, free = on_a_plate(5, 2)
    problem = dense(matrix, np.abs(free) + 0.1, np.full(5, 0.5))
    missed, _, _ = from_inside(problem, factor_matrix(problem), ENOUGH, np.inf)
    assert missed <= ENOUGH
    assert np.abs(problem.impulse).max() <= ENOUGH * largest(problem)


@pytest.mark.parametrize("friction", [0.05, 0.6])
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_softened_problems_lead_to_a_solution_from_near_and_far(friction, start):
    """Eight points under a plate, from none and from random impulses as large as those that stop it."""
    for seed in range(4):
        problem = dense(*on_a_plate(8, seed), np.full(8, friction))
        problem.impulse[:] = start * largest(problem) * np.random.default_rng(seed).normal(size=(8, 3))
        missed, steps, _ = soften(problem, factor_matrix(problem), ENOUGH, np.inf, SOFT, np.inf)
        assert missed <= ENOUGH and steps <= STEPS
        assert residual(problem) <= 3.0 * (1.0 + friction) * ENOUGH * largest(problem)
