"""Contact problems on Coulomb's exact cone and on one with facets: closed forms, random feet, agreement."""

from __future__ import annotations

import importlib
import math
import pkgutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from solve.feet import FRICTIONS, SHAPES, feet, many

import footfall.solve
from footfall.errors import SolveError
from footfall.solve import (
    Status,
    cone_gauss_seidel,
    cone_newton,
    cone_residual,
    fischer_burmeister,
    polyhedral,
    polyhedral_lcp,
)

#: What each solver's answers may miss, of impulses of the order of one.
EXACT = {cone_newton: 1e-9, cone_gauss_seidel: 1e-8}
every_solver = pytest.mark.parametrize("solver", EXACT)
MASS = 2.0  # kg


def random_feet(counts, friction, seed):
    return feet(np.random.default_rng(seed), counts, friction)


problems = st.builds(
    random_feet,
    counts=st.sampled_from(SHAPES),
    friction=st.sampled_from(FRICTIONS),
    seed=st.integers(0, 2**32 - 1),
)


def obeys_coulomb(problem, found, tolerance: float) -> None:
    """The conditions one by one, so that the residual is not its own judge."""
    z, u, mu = found.z, found.w, problem.friction
    np.testing.assert_allclose(u, problem.free + (problem.W @ z.ravel()).reshape(-1, 3), atol=1e-12)
    size, speed = np.hypot(z[:, 0], z[:, 1]), np.hypot(u[:, 0], u[:, 1])
    scale = max(1.0, np.abs(z).max())
    assert (z[:, 2] >= 0.0).all()
    assert (u[:, 2] >= -100.0 * tolerance).all()
    assert np.abs(z[:, 2] * u[:, 2]).max() <= 100.0 * tolerance * scale
    assert (size <= mu * z[:, 2] * (1.0 + 1e-9) + tolerance).all()
    assert np.abs((mu * z[:, 2] - size) * speed).max() <= 100.0 * tolerance * scale
    # Against the slip: the work of friction is all that its size allows.
    assert np.abs((z[:, :2] * u[:, :2]).sum(axis=1) + size * speed).max() <= 100.0 * tolerance * scale


@every_solver
@given(problem=problems)
def test_what_is_said_to_be_solved_obeys_coulomb(solver, problem):
    found = solver(*problem) if solver is not cone_gauss_seidel else solver(*problem, max_sweeps=500)
    assert found.status in (Status.SOLVED, Status.LIMIT)
    assert found.residual == pytest.approx(cone_residual(*problem, found.z), abs=1e-15)
    if found.solved:
        assert found.residual < EXACT[solver] * max(1.0, np.abs(found.z).max())
        obeys_coulomb(problem, found, EXACT[solver])


@pytest.mark.parametrize("solver", [cone_newton])
def test_feet_that_fall_slide_and_turn_are_solved(solver):
    """Of 7200 such problems four were not, and said so."""
    unsolved = [problem for problem in many(300, seed=1) if not solver(*problem).solved]
    assert len(unsolved) <= 1


def test_gauss_seidel_solves_nine_of_ten():
    """Point by point has no proof of convergence for one rigid foot, where points depend on each other most."""
    solved = [cone_gauss_seidel(*problem, max_sweeps=2000).solved for problem in many(120, seed=2)]
    assert sum(solved) >= 0.9 * 120


@every_solver
@pytest.mark.parametrize("friction", [0.0, 0.4, 1.5])
def test_a_particle_sticks_or_slides_as_coulomb_says(solver, friction):
    """W = 1/m: it stops if |u_t| <= mu |u_n|, and else loses mu |u_n| of its slip; a closed form."""
    rng = np.random.default_rng(1)
    for free in rng.normal(size=(40, 3)):
        found = solver(np.eye(3) / MASS, free[None], friction)
        slip, down = math.hypot(free[0], free[1]), max(0.0, -free[2])
        lost = min(slip, friction * down)
        expected = MASS * np.array([-lost * free[0] / slip, -lost * free[1] / slip, down])
        assert found.solved
        np.testing.assert_allclose(found.z, expected[None], atol=1e-9)


@every_solver
def test_a_target_moves_the_ground(solver):
    found = solver(np.eye(6), [[0, 0, -1.0], [0, 0, -1.0]], 0.5, target=[0.25, -2.0])
    np.testing.assert_allclose(found.z[:, 2], [1.25, 0.0], atol=1e-9)


def test_the_solvers_find_the_same_velocities_where_these_are_unique():
    """Without friction the problem is convex: impulses under a flat foot are not unique, velocities are."""
    for problem in many(40, seed=3):
        answers = [solver(problem.W, problem.free, 0.0) for solver in EXACT]
        for other in answers[1:]:
            np.testing.assert_allclose(other.w, answers[0].w, atol=1e-7)


def test_newton_spreads_a_load_evenly_over_a_foot():
    """Least impulses: four corners of a foot that falls flat take a quarter each, not three of them a third."""
    corners = np.array([[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]])
    rows = [[*axis, *np.cross([*c, 0.0], axis)] for c in corners for axis in np.eye(3)]
    W = np.array(rows) @ np.diag([1 / MASS] * 3 + [50.0] * 3) @ np.array(rows).T
    found = cone_newton(W, np.tile([0.0, 0.0, -1.0], (4, 1)), 0.5)
    # Only the compliance decides how the points share the load: a billionth, of which rounding leaves a few digits.
    np.testing.assert_allclose(found.z, np.tile([0.0, 0.0, MASS / 4.0], (4, 1)), atol=5e-6)


@pytest.mark.parametrize("solver", [cone_newton])
def test_a_start_from_the_solution_saves_the_work(solver):
    cold, warm = [], []
    for problem in many(36, seed=5):
        first = solver(*problem)
        second = solver(*problem, start=first.z)
        assert second.solved and second.residual < EXACT[solver]
        cold.append(first.iterations)
        warm.append(second.iterations)
    assert np.median(warm) <= 1 < np.median(cold)


def test_gauss_seidel_started_at_the_solution_sweeps_hardly():
    for problem in many(12, seed=6):
        start = cone_newton(*problem).z
        assert cone_gauss_seidel(*problem, start=start, tolerance=1e-9).iterations <= 3


def test_the_polyhedral_cone_tends_to_the_exact_one():
    """With the angle between two facets: friction between them is off in direction, which is of first order."""
    mean = []
    for facets in (4, 8, 16, 32, 64):
        rng = np.random.default_rng(7)
        miss = []
        for _ in range(10):
            problem = feet(rng, (4, 4), 0.3, spin=0.2)
            found = polyhedral(*problem, facets=facets)
            assert found.solved and found.residual < 1e-9
            miss.append(np.abs(found.w - cone_newton(*problem).w).max())
        mean.append(np.mean(miss))
    order = math.log(mean[0] / mean[-1]) / math.log(16.0)
    assert order > 0.8, f"errors {mean}"
    assert mean[-1] < 0.3 * math.pi / 64  # friction of 0.3, of speeds of the order of one


@pytest.mark.parametrize("facets", [3, 4, 5, 8, 16])
def test_friction_with_facets_is_off_by_half_an_angle_at_most(facets):
    for heading in np.linspace(0.0, 2.0 * math.pi, 29):
        free = np.array([[3.0 * math.cos(heading), 3.0 * math.sin(heading), -1.0]])
        z = polyhedral(np.eye(3), free, 0.5, facets=facets).z[0]
        size = math.hypot(z[0], z[1])
        assert 0.5 * math.cos(math.pi / facets) - 1e-9 <= size <= 0.5 + 1e-9
        along = -(z[0] * math.cos(heading) + z[1] * math.sin(heading)) / size
        assert math.acos(min(1.0, along)) <= math.pi / facets + 1e-6


def test_newton_on_the_facets_finds_a_solution_as_lemke_does():
    for problem in many(12, seed=8):
        first, second = polyhedral(*problem, facets=6), fischer_burmeister(*polyhedral_lcp(*problem, facets=6))
        assert first.solved and second.solved
        assert max(first.residual, second.residual) < 1e-9


def test_the_residual_is_zero_for_solutions_and_large_for_others():
    W, free = np.eye(3), [[1.0, 0.0, -1.0]]
    assert cone_residual(W, free, 0.5, [[-0.5, 0.0, 1.0]]) < 1e-15
    assert cone_residual(W, free, 2.0, [[-1.0, 0.0, 1.0]]) < 1e-15
    for wrong in ([[0.0, 0.0, 1.0]], [[-0.5, 0.0, 1.1]], [[0.5, 0.0, 1.0]], [[-0.5, 0.0, -1.0]], [[0, 0, 0]]):
        assert cone_residual(W, free, 0.5, wrong) > 0.05


@every_solver
def test_no_points_no_impulses(solver):
    assert solver(np.zeros((0, 0)), np.zeros((0, 3)), 0.5).solved


@pytest.mark.parametrize("solver", [*EXACT, polyhedral])
@pytest.mark.parametrize(
    ("W", "free", "friction", "sentence"),
    [
        (np.ones((3, 4)), [[0, 0, -1]], 0.5, "square"),
        (np.eye(4), [[0, 0, -1]], 0.5, "three rows per point"),
        ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], [[0, 0, -1]], 0.5, "symmetric"),
        (-np.eye(3), [[0, 0, -1]], 0.5, "semi-definite"),
        (np.eye(3), [[0, 0, -1], [0, 0, 0]], 0.5, "free has the shape"),
        (np.eye(3), [[0, 0, np.nan]], 0.5, "finite"),
        (np.eye(3), [[0, 0, -1]], -0.5, "friction must be >= 0"),
        (np.eye(3), [[0, 0, -1]], [0.5, 0.5], "friction has the shape"),
    ],
)
def test_what_is_no_contact_problem_is_refused_with_a_sentence(solver, W, free, friction, sentence):
    with pytest.raises(SolveError, match=sentence):
        solver(W, free, friction)


@pytest.mark.parametrize("skew", [1e-5, 3e-3])
def test_a_matrix_that_is_not_quite_symmetric_is_refused_with_its_size_and_a_remedy(skew):
    W = np.eye(3) + skew * np.triu(np.ones((3, 3)), 1)
    with pytest.raises(SolveError, match=rf"{skew / 1.0:.1e}.*\(W \+ W\.T\) / 2"):
        cone_newton(W, [[0, 0, -1.0]], 0.5)
    assert cone_newton((W + W.T) / 2, [[0, 0, -1.0]], 0.5).solved


@every_solver
def test_a_sparse_matrix_is_taken_as_it_is(solver):
    problem = feet(np.random.default_rng(4), (2, 1), 0.7)
    whole = solver(*problem)
    np.testing.assert_array_equal(solver(csr_array(problem.W), *problem[1:]).z, whole.z)


def test_names_of_solvers_are_functions_whatever_was_imported_before():
    """No file of the package has the name of a function that the package offers."""
    for module in pkgutil.iter_modules(footfall.solve.__path__):
        importlib.import_module(f"footfall.solve.{module.name}")
    for name in footfall.solve.__all__:
        assert callable(getattr(footfall.solve, name)), name


def test_bad_options_are_refused():
    problem = (np.eye(3), [[0, 0, -1.0]], 0.5)
    with pytest.raises(SolveError, match="max_sweeps"):
        cone_gauss_seidel(*problem, max_sweeps=0)
    with pytest.raises(SolveError, match="tolerance"):
        cone_gauss_seidel(*problem, tolerance=2.0)
    with pytest.raises(SolveError, match="start"):
        cone_newton(*problem, start=[[0, 0]])
    with pytest.raises(SolveError, match="facets"):
        polyhedral(*problem, facets=2)
