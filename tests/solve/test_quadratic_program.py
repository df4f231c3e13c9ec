"""Quadratic programs: optimality by its conditions, another solver's answer, and proofs that there is none."""

from __future__ import annotations

import daqp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footfall.solve.quadratic_program import (
    INDEFINITE,
    INFEASIBLE,
    SOLVED,
    QuadraticProgram,
    active_set,
    empty_program,
    solve_quadratic_program,
)


def solve(program):
    work = active_set(len(program.f), len(program.lower) - len(program.C), len(program.C))
    return solve_quadratic_program(program, work), work


def program_of(H, f, C, lower, upper):
    return QuadraticProgram(H, f, C, lower, upper, np.array([len(f), len(lower) - len(C), len(C)]))


def random_program(seed, n, bounds, m, stiff):
    """A program around a point that its constraints allow, some of them met exactly there; H of condition 10^stiff."""
    draw = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(draw.normal(size=(n, n)))
    H = axes @ np.diag(10.0 ** draw.uniform(-stiff, 0.0, n)) @ axes.T
    C, inside = draw.normal(size=(m, n)), draw.normal(size=n)
    at = np.concatenate([inside[:bounds], C @ inside])
    room = draw.exponential(size=(2, bounds + m)) * (draw.uniform(size=(2, bounds + m)) < 0.8)
    lower, upper = at - room[0], at + room[1]
    lower[draw.uniform(size=bounds + m) < 0.3] = -1e30
    upper[draw.uniform(size=bounds + m) < 0.3] = 1e30
    return program_of(0.5 * (H + H.T), draw.normal(size=n) * 3.0, C, lower, upper)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 14),
    m=st.integers(0, 20),
    stiff=st.floats(0.0, 6.0),
    share=st.floats(0.0, 1.0),
)
def test_solutions_satisfy_the_conditions_of_karush_kuhn_and_tucker(seed, n, m, stiff, share):
    """Feasible, H x + f = multipliers times normals, multipliers >= 0, and only at constraints that are met."""
    bounds = round(share * n)
    program = random_program(seed, n, bounds, m, stiff)
    end, work = solve(program)
    assert end == SOLVED
    x = work.x
    values = np.concatenate([x[:bounds], program.C @ x])
    size = 1.0 + np.abs(x).max()
    lower, upper = np.maximum(program.lower, -1e6 * size), np.minimum(program.upper, 1e6 * size)
    assert (values >= lower - 1e-7 * size).all() and (values <= upper + 1e-7 * size).all()
    normals = np.vstack([np.eye(n)[:bounds], program.C])
    push, count = program.H @ x + program.f, int(work.count[0])
    for one, multiplier in zip(work.active[:count], work.multiplier[:count], strict=True):
        side = work.side[one]
        assert multiplier >= -1e-9 * size and side in (-1, 1)
        assert values[one] == pytest.approx(lower[one] if side > 0 else upper[one], abs=1e-7 * size)
        push -= side * multiplier * normals[one]
    # rounding of the multipliers grows with the condition of H, which is 1e6 at most
    np.testing.assert_allclose(push, 0.0, atol=1e-7 * (size + np.abs(work.multiplier[:count]).max(initial=0.0)))


def test_a_program_in_larger_arrays_is_the_same():
    program = random_program(3, 8, 5, 12, 2.0)
    _, work = solve(program)
    room = empty_program(10, 10, 15)
    for large, small in zip(room[:3], program[:3], strict=True):
        large[...] = np.nan
        large[tuple(slice(0, size) for size in small.shape)] = small
    room.lower[:17], room.upper[:17], room.shape[:] = program.lower, program.upper, program.shape
    end, other = solve(room)
    assert end == SOLVED
    np.testing.assert_array_equal(other.x[:8], work.x)


@pytest.mark.parametrize("seed", range(20))
def test_the_solution_is_that_of_another_solver(seed):
    program = random_program(seed, 24, 24, 40, 4.0)
    end, work = solve(program)
    other, value, flag, _ = daqp.solve(
        program.H, program.f, program.C, program.upper, program.lower, np.zeros(64, dtype=np.int32)
    )
    assert (end, flag) == (SOLVED, 1)
    assert 0.5 * work.x @ program.H @ work.x + program.f @ work.x <= value + 1e-6 * (1.0 + abs(value))
    # both are within their tolerance of the solution, in the norm of H, whose least eigenvalue is 1e-4
    np.testing.assert_allclose(work.x, other, atol=1e-3 * (1.0 + np.abs(other).max()))


def test_constraints_that_exclude_each_other_are_proved_infeasible():
    program = program_of(
        np.eye(2), np.zeros(2), np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, -1e30]), np.array([1e30, 3.0])
    )
    assert solve(program)[0] == INFEASIBLE


def test_a_function_without_minimum_is_refused():
    program = program_of(np.diag([1.0, -1.0]), np.zeros(2), np.zeros((0, 2)), np.zeros(0), np.zeros(0))
    assert solve(program)[0] == INDEFINITE
