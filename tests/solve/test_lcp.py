"""Linear complementarity: Lemke and Fischer-Burmeister on random, degenerate, impossible and textbook problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solve.feet import many

from footfall.errors import SolveError
from footfall.solve import Status, fischer_burmeister, lemke, polyhedral_lcp

both = pytest.mark.parametrize("solver", [lemke, fischer_burmeister])
TOLERANCE = 1e-9  # of numbers of the order of one: what rounding leaves, times a condition of up to 1e6

#: Kostreva's problem: every row ties at the start, and pivoting may go round.
CYCLE = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])


def solvable(n: int, missing: int, skewed: bool, open: float, seed: int):
    """A monotone matrix of any rank, and a q that has a solution, degenerate where z and w are both zero."""
    rank = max(n - missing, 0)
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0][:, :rank]
    M = (basis * 10.0 ** rng.uniform(-2, 0, rank)) @ basis.T
    if skewed:
        skew = rng.normal(size=(n, n))
        M = M + 0.5 * (skew - skew.T) / n
    z = np.where(rng.random(n) < 0.5, rng.random(n), 0.0)
    w = np.where((z == 0.0) & (rng.random(n) < open), rng.random(n), 0.0)
    return M, w - M @ z


def problems(missing: st.SearchStrategy[int]):
    return st.builds(
        solvable,
        n=st.integers(1, 20),
        missing=missing,
        skewed=st.booleans(),
        open=st.sampled_from([0.0, 0.5, 1.0]),
        seed=st.integers(0, 2**32 - 1),
    )


regular, of_any_rank = problems(st.just(0)), problems(st.integers(0, 20))


@both
@given(problem=of_any_rank)
def test_problems_of_any_rank_that_have_a_solution_are_solved(solver, problem):
    M, q = problem
    found = solver(M, q)
    assert found.status is Status.SOLVED
    assert found.residual < TOLERANCE
    np.testing.assert_allclose(found.w, M @ found.z + q, atol=1e-12)
    assert found.residual == np.abs(np.minimum(found.z, found.w)).max()
    assert (found.z >= 0.0).all()


@given(problem=regular)
def test_newton_and_lemke_agree_where_the_solution_is_the_only_one(problem):
    M, q = problem
    first, second = lemke(M, q), fischer_burmeister(M, q)
    # Rounding times the condition, 100 or less.
    np.testing.assert_allclose(first.z, second.z, atol=1e-9)


@both
@given(problem=regular, scale=st.integers(-8, 8))
def test_units_do_not_matter(solver, problem, scale):
    """Other units of z and w multiply rows and columns; the solution changes with them, exactly for powers of two."""
    M, q = problem
    unit = 2.0 ** (scale * np.arange(len(q)) % 9 - 4)
    expected = solver(M, q)
    found = solver(unit[:, None] * M * unit, unit * q)
    assert found.solved
    np.testing.assert_allclose(found.z * unit, expected.z, atol=TOLERANCE)


@both
@given(problem=regular, seed=st.integers(0, 2**32 - 1))
def test_what_has_no_solution_is_said_to_have_none(solver, problem, seed):
    """With y >= 0, M^T y <= 0 and q^T y < 0 no z >= 0 has M z + q >= 0; a semi-definite M then ends in a ray."""
    M, q = problem
    n = len(q)
    y = np.random.default_rng(seed).random(n) + 0.1
    y /= np.linalg.norm(y)
    away = np.eye(n) - np.outer(y, y)
    impossible = away @ M @ away
    found = solver(impossible, q - (q @ y + 1.0) * y)
    assert found.status is Status.RAY
    assert "no solution" in found.status.sentence
    assert found.residual > 1e-3


@both
def test_skew_and_negative_problems_without_a_solution_end_in_a_ray(solver):
    assert solver([[-1.0]], [-1.0]).status is Status.RAY
    assert solver([[0.0, 1.0], [-1.0, 0.0]], [-1.0, -1.0]).status is Status.RAY
    assert solver(np.zeros((3, 3)), [1.0, -1.0, 1.0]).status is Status.RAY


def test_a_ray_is_not_called_no_solution_where_there_are_three():
    """A matrix that is not copositive: Lemke's path misses solutions that are there, and the status says so."""
    M, q = np.array([[-3.0, 1.0, -1.0], [0.0, -2.0, 0.0], [1.0, 3.0, 0.0]]), np.array([2.0, 2.0, -3.0])
    for z in ([0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 3.0]):
        assert (np.minimum(z, M @ z + q) == 0.0).all()
    found = lemke(M, q)
    assert found.status is Status.RAY
    assert "solution" not in str(found.status)
    assert "may have solutions" in found.status.sentence


def careless(M: np.ndarray, q: np.ndarray, choose) -> list[tuple[int, ...]]:
    """Lemke's method with ``choose`` among rows that tie: the bases it goes through, until one comes twice."""
    n = len(q)
    table = np.column_stack([np.eye(n), -M, -np.ones(n), q])
    basis = list(range(n))
    entering, seen = 2 * n, []
    ratio = q.copy()
    candidates = np.flatnonzero(ratio == ratio.min())
    while True:
        row = choose(candidates, seen)
        table[row] /= table[row, entering]
        for i in range(n):
            if i != row:
                table[i] -= table[i, entering] * table[row]
        left, basis[row] = basis[row], entering
        if left == 2 * n:
            return seen
        state = tuple(sorted(basis))
        if state in seen:
            return [*seen, state]
        seen.append(state)
        entering = left + n if left < n else left - n
        column = table[:, entering]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(column > 1e-12, table[:, -1] / column, np.inf)
        candidates = np.flatnonzero(ratio <= ratio.min() + 1e-12)


def test_where_careless_pivoting_goes_round_for_ever_lemke_finds_the_solution():
    q = -np.ones(3)
    # Of the rows that tie, the one after the last chosen: w1, w2, w3 leave in turn and come back.
    bases = careless(CYCLE, q, lambda rows, seen: rows[len(seen) % len(rows)] if len(rows) == 3 else rows[0])
    rounds = [careless(CYCLE, q, lambda rows, seen, k=k: rows[k % len(rows)]) for k in range(3)]
    assert any(len(b) > len(set(b)) for b in [bases, *rounds]), "no careless rule goes round here"
    found = lemke(CYCLE, q)
    assert found.solved
    np.testing.assert_allclose(found.z, np.full(3, 1.0 / 3.0))


@pytest.mark.parametrize("n", [3, 6, 9])
def test_murtys_problem_takes_two_to_the_n_pivots_and_is_solved(n):
    """Murty 1978: ones on the diagonal, twos below; the longest path there is. Turned over it takes two pivots."""
    M = np.tril(np.full((n, n), 2.0), -1) + np.eye(n)
    found = lemke(M, -np.ones(n), max_pivots=2**n + 10)
    np.testing.assert_allclose(found.z, np.eye(n)[0])
    assert found.iterations == 2**n
    assert lemke(M, -np.ones(n), max_pivots=2**n - 1).status is Status.LIMIT
    np.testing.assert_allclose(lemke(M.T, -np.ones(n)).z, np.eye(n)[-1])
    np.testing.assert_allclose(fischer_burmeister(M, -np.ones(n)).z, np.eye(n)[0], atol=1e-9)


@pytest.mark.parametrize(
    ("M", "q", "z"),
    [
        ([[2, 1], [1, 2]], [-5, -6], [4 / 3, 7 / 3]),  # Cottle, Pang and Stone 1992, example 1.3
        ([[1, 2], [2, 1]], [-1, -1], None),  # three solutions
        ([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1], None),  # a bimatrix game
        ([[1, -1], [-1, 1]], [-1, 1], None),  # a whole ray of solutions
        (CYCLE, [1, 2, 3], [0, 0, 0]),  # nothing to do
    ],
)
@both
def test_textbook_problems_are_solved(solver, M, q, z):
    found = solver(M, q)
    assert found.solved and found.residual < TOLERANCE
    if z is not None:
        np.testing.assert_allclose(found.z, z, atol=TOLERANCE)


@both
def test_friction_under_flat_feet_is_solved_although_singular(solver):
    """Copositive, not monotone, of 6 motions for 4 to 9 points of 10 unknowns each; never a ray (Stewart 1996)."""
    for problem in many(60):
        found = solver(*polyhedral_lcp(*problem))
        assert found.status is Status.SOLVED
        assert found.residual < TOLERANCE


def test_newton_started_at_the_solution_has_nothing_to_do():
    for problem in many(12, seed=4):
        M, q = polyhedral_lcp(*problem)
        cold = fischer_burmeister(M, q)
        warm = fischer_burmeister(M, q, start=cold.z)
        assert warm.iterations <= 1 and warm.solved
        near = fischer_burmeister(M, 1.001 * q, start=cold.z)
        assert near.solved and near.iterations <= cold.iterations


@both
def test_a_problem_without_unknowns_is_solved(solver):
    assert solver(np.zeros((0, 0)), np.zeros(0)).solved


@both
@pytest.mark.parametrize(
    ("M", "q", "sentence"),
    [
        ([[1, 2]], [1], "square"),
        ([1, 2], [1], "shape"),
        ([[1, 2], [3, 4]], [1], "q has the shape"),
        ([[np.nan]], [1], r"M\[0, 0\] is nan"),
        ([[1.0]], [np.inf], r"q\[0\] is inf"),
        ([["one"]], [1], "numbers"),
    ],
)
def test_what_is_no_problem_is_refused_with_a_sentence(solver, M, q, sentence):
    with pytest.raises(SolveError, match=sentence):
        solver(M, q)


def test_bad_options_are_refused():
    with pytest.raises(SolveError, match="max_pivots"):
        lemke([[1.0]], [1.0], max_pivots=0)
    with pytest.raises(SolveError, match="start"):
        fischer_burmeister([[1.0]], [1.0], start=[1.0, 2.0])
    with pytest.raises(SolveError, match="tolerance"):
        fischer_burmeister([[1.0]], [1.0], tolerance=0.0)
