"""Small dense algebra, against NumPy on matrices of any size and rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footfall.solve import dense


def semi_definite(n: int, missing: int, scale: int, seed: int):
    """A matrix A = B B^T of size n and rank r with eigenvalues within a factor of 1e4, a vector, n and r."""
    rank = max(n - missing, 0)
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0][:, :rank]
    values = 10.0**scale * 10.0 ** rng.uniform(-4, 0, rank)
    return (basis * values) @ basis.T, rng.normal(size=n), n, rank


def matrices(missing: st.SearchStrategy[int]):
    sizes = {"n": st.integers(1, 12), "missing": missing}
    return st.builds(semi_definite, **sizes, scale=st.integers(-6, 6), seed=st.integers(0, 2**32 - 1))


regular, of_any_rank = matrices(st.just(0)), matrices(st.integers(0, 12))


def lower_only(a: np.ndarray) -> np.ndarray:
    """The lower triangle, and NaN where kernels must not look."""
    padded = np.full((len(a) + 2, len(a) + 3), np.nan)
    padded[: len(a), : len(a)] = np.where(np.tri(len(a), dtype=bool), a, np.nan)
    return padded


def scratch(n: int) -> np.ndarray:
    return np.full((n + 2, n + 3), np.nan)


@given(problem=regular)
def test_cholesky_solves_regular_systems(problem):
    a, b, n, _ = problem
    factor, x = scratch(n), b.copy()
    assert dense.cholesky(lower_only(a), n, 1e-12, factor)
    dense.cholesky_solve(factor, n, x)
    # Backward stable: the residual is rounding of |A| |x|.
    assert np.abs(a @ x - b).max() <= 1e-13 * n * np.abs(a).max() * np.abs(x).max()
    lower = np.tril(factor[:n, :n], -1) + np.diag(1.0 / np.diag(factor[:n, :n]))
    np.testing.assert_allclose(lower @ lower.T, a, atol=1e-14 * n * np.abs(a).max())


@given(problem=of_any_rank)
def test_cholesky_refuses_singular_matrices(problem):
    a, _, n, rank = problem
    assert dense.cholesky(lower_only(a), n, 1e-10, scratch(n)) == (rank == n)


@given(problem=of_any_rank)
def test_pivoted_cholesky_finds_rank_and_columns(problem):
    a, _, n, rank = problem
    factor = scratch(n)
    assert dense.pivoted_cholesky(lower_only(a), n, 1e-10, factor) == rank
    columns = factor[:n, :rank]
    np.testing.assert_allclose(columns @ columns.T, a, atol=1e-13 * n * max(np.abs(a).max(), 1e-300))


@given(problem=of_any_rank)
def test_the_minimum_norm_solution_is_that_of_the_pseudo_inverse(problem):
    a, b, n, rank = problem
    x, half = b.copy(), np.full(n + 1, np.nan)
    assert dense.minimum_norm_solve(lower_only(a), n, 1e-10, x, scratch(n), scratch(n), half) == rank
    expected = np.linalg.pinv(a, rcond=1e-9, hermitian=True) @ b
    # Rounding times the condition, 1e4, and where it is singular its square root twice over.
    np.testing.assert_allclose(x, expected, atol=1e-8 * max(np.abs(expected).max(initial=0.0), 1e-300))


@given(problem=of_any_rank)
def test_what_no_matrix_reaches_is_left_out(problem):
    """A part of the right-hand side outside the range changes nothing: the solution of least squares."""
    a, b, n, _ = problem
    inside = a @ np.linalg.pinv(a, rcond=1e-9, hermitian=True) @ b
    solutions = []
    for right in (b, inside):
        x = right.copy()
        dense.minimum_norm_solve(lower_only(a), n, 1e-10, x, scratch(n), scratch(n), np.zeros(n))
        solutions.append(x)
    size = max(np.abs(solutions[1]).max(initial=0.0), 1e-300)
    np.testing.assert_allclose(solutions[0], solutions[1], atol=1e-7 * size)


@pytest.mark.parametrize("n", [1, 6])
def test_the_kernels_run_as_plain_python_too(n):
    rng = np.random.default_rng(n)
    b = rng.normal(size=(n, n))
    a, x = b @ b.T, rng.normal(size=n)
    compiled, plain = x.copy(), x.copy()
    factor = np.zeros((n, n))
    dense.minimum_norm_solve(a.copy(), n, 1e-10, compiled, factor, np.zeros((n, n)), np.zeros(n))
    dense.cholesky.py_func(a, n, 1e-10, factor)
    dense.cholesky_solve.py_func(factor, n, plain)
    np.testing.assert_allclose(plain, compiled, rtol=1e-9)
