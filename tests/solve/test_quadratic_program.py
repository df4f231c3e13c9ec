"""Quadratic programs: optimality by its conditions, another solver's answer, and proofs that there is none."""

from __future__ import annotations

import daqp
import numpy as np
import pytest
from hypothesis import example, given
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


def random_program(seed, n, bounds, m, stiff, loose=0.8, whole=False, unit=1.0):
    """A program around a point that its constraints allow, all but a share met exactly there; H of condition 10^stiff.

    Whole numbers make rows that depend on each other.
    """
    draw = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(draw.normal(size=(n, n)))
    H = axes @ np.diag(10.0 ** draw.uniform(-stiff, 0.0, n)) @ axes.T
    C, inside = draw.normal(size=(m, n)), draw.normal(size=n)
    if whole:
        C, inside = np.round(C), np.round(inside)
    at = np.concatenate([inside[:bounds], C @ inside])
    room = draw.exponential(size=(2, bounds + m)) * (draw.uniform(size=(2, bounds + m)) < loose)
    lower, upper = unit * (at - room[0]), unit * (at + room[1])
    lower[draw.uniform(size=bounds + m) < 0.3] = -1e30
    upper[draw.uniform(size=bounds + m) < 0.3] = 1e30
    return program_of(0.5 * (H + H.T), draw.normal(size=n) * 3.0 * unit, C, lower, upper)


# The unconstrained minimum is far beyond the solution, and its rounding is no violated constraint.
@example(seed=67108863, n=1, m=18, stiff=4.75, share=0.0, loose=0.8, whole=False, unit=0)
@example(seed=2795395786, n=2, m=12, stiff=5.27, share=0.15, loose=0.26, whole=True, unit=4)
@example(seed=1226749883, n=3, m=16, stiff=2.42, share=0.77, loose=0.48, whole=True, unit=6)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 14),
    m=st.integers(0, 20),
    stiff=st.floats(0.0, 6.0),
    share=st.floats(0.0, 1.0),
    loose=st.floats(0.0, 1.0),
    whole=st.booleans(),
    unit=st.integers(-6, 6),
)
def test_solutions_satisfy_the_conditions_of_karush_kuhn_and_tucker(seed, n, m, stiff, share, loose, whole, unit):
    """Feasible, H x + f = multipliers times normals, multipliers >= 0, and only at constraints that are met."""
    bounds = round(share * n)
    program = random_program(seed, n, bounds, m, stiff, loose, whole, 10.0**unit)
    end, work = solve(program)
    assert end == SOLVED
    x = work.x
    values = np.concatenate([x[:bounds], program.C @ x])
    size = 10.0**unit + np.abs(x).max()
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
