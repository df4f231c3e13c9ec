"""Functions of users that index beyond their tables, and helpers that they compiled: no foreign memory."""

from __future__ import annotations

import math
from types import ModuleType

import numba
import numpy as np
import pytest
from numba.extending import register_jitable

import footfall as ff
from footfall.compiled import as_python, checked

TABLE = np.linspace(0.0, 1.0, 5)


@numba.njit
def looked_up(i):
    return TABLE[i]


@numba.njit
def twice(i):
    return 2.0 * looked_up(i)


@numba.njit
def down(i):
    return TABLE[i] if i < 3 or i > 4 else down(i - 1)


@numba.cfunc("float64(int64)")
def called_from_c(i):
    return TABLE[i]


@numba.vectorize
def for_each(i):
    return TABLE[i]


@register_jitable
def part_of_its_caller(i):
    return TABLE[i]


tools, package = ModuleType("tools"), ModuleType("package")
tools.looked_up, package.tools, package.package = looked_up, tools, package
pair = (looked_up, 0.01)


def of_itself(x, y):
    return 0.01 * TABLE[int(4.0 * abs(x))]


def of_a_helper(x, y):
    return 0.01 * looked_up(int(4.0 * abs(x)))


def of_a_helper_of_a_helper(x, y):
    return 0.01 * twice(int(4.0 * abs(x)))


def of_a_module(x, y):
    return 0.01 * tools.looked_up(int(4.0 * abs(x)))


def of_one_that_calls_itself(x, y):
    return 0.01 * down(int(4.0 * abs(x)))


def with_a_number_of_its_own(x, y, scale=0.01):
    return scale * looked_up(int(4.0 * abs(x)))


def of_a_package(x, y):
    return 0.01 * package.tools.looked_up(int(4.0 * abs(x)))


def of_what_c_calls(x, y):
    return 0.01 * called_from_c(int(4.0 * abs(x)))


def of_a_ufunc(x, y):
    return 0.01 * for_each(int(4.0 * abs(x)))


def of_a_part(x, y):
    return 0.01 * part_of_its_caller(int(4.0 * abs(x)))


def of_a_tuple(x, y):
    return pair[1] * pair[0](int(4.0 * abs(x)))


def of_a_default(x, y, helper=looked_up):
    return 0.01 * helper(int(4.0 * abs(x)))


def flat(x, y):
    return TABLE.flat[int(4.0 * abs(x))]


@numba.njit
def default_of(x, helper=looked_up):
    return helper(int(4.0 * abs(x)))


def within_reach(x, y):
    return 0.01 * default_of(x)


MORE = [of_a_package, of_what_c_calls, of_a_ufunc, of_a_part, of_a_tuple, of_a_default]
EVERY = [of_itself, of_a_helper, of_a_helper_of_a_helper, of_a_module, of_one_that_calls_itself]
every = pytest.mark.parametrize("function", [*EVERY, with_a_number_of_its_own])


@every
def test_there_is_no_ground_beyond_the_table_of_its_heights(function):
    """A float there would be what happens to lie in memory; at 1e8 m reading it ended the process."""
    ground = ff.Ground.function(function)
    assert ground.height(1.0, 0.0) == pytest.approx(function(1.0, 0.0))
    assert math.isnan(ground.height(3.0, 0.0)) and math.isnan(ground.height(1e8, 0.0))


def test_a_run_that_leaves_the_table_stops_and_says_why():
    sim = ff.Simulation("ball", ground=ff.Ground.function(of_a_helper))
    with pytest.raises(ff.errors.GroundError, match=r"x = 1\.25.* m.*of_a_helper': IndexError: index 5") as caught:
        sim.run(1.5, qvel=[3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert len(caught.value.recording) > 100


@every
def test_friction_beyond_its_table_is_refused_with_the_functions_error(function):
    with pytest.raises(ff.errors.GroundError, match=r"friction is static nan.*IndexError: index 40 is out of bounds"):
        ff.Ground.plane(friction=function)


@pytest.mark.parametrize("function", [*EVERY, with_a_number_of_its_own, *MORE])
def test_as_plain_python_and_compiled_they_raise_alike(function):
    for form in (as_python(function), checked(function)):
        assert form(0.5, 0.0) == pytest.approx(function(0.5, 0.0))
        with pytest.raises(IndexError):
            form(2.0, 0.0)


def test_what_compiled_code_cannot_check_is_refused():
    with pytest.raises(ff.errors.GroundError, match=r"cannot be compiled: it uses '\.flat', .*use '\.reshape\(-1\)'"):
        ff.Ground.function(flat)


def test_a_default_that_is_a_function_is_checked_in_the_ground_too():
    """A compiler that asks Python for the arguments of a copy is told those of the original."""
    assert math.isnan(ff.Ground.function(within_reach).height(3.0, 0.0))


def test_a_law_that_asks_a_helper_beyond_its_table_is_refused_before_a_run():
    @ff.point_law("from-a-table", k=1e4)
    def law(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return max(0.0, parameters.k * depth + looked_up(int(1e4 * depth)))

    with pytest.raises(ff.errors.LawError, match=r"fails at a depth of 0\.001 m: IndexError: index 10"):
        ff.Simulation("ball", law="from-a-table").run(0.1)


def test_a_law_that_leaves_its_helpers_table_in_a_run_stops_there():
    """Deeper than the trial before a run looks: the ball falls from 1 m on a soft ground."""

    @ff.point_law("from-a-deep-table", k=2e3)
    def law(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return parameters.k * depth + looked_up(int(60.0 * depth))

    sim = ff.Simulation("ball", law="from-a-deep-table")
    qpos = sim.robot.home.copy()
    qpos[2] += 1.0
    with pytest.warns(ff.FootfallWarning, match="diverged.*IndexError: index 5 is out of bounds"):
        rec = sim.run(2.0, qpos=qpos)
    assert rec.failure.cause == "diverged" and np.isfinite(rec.qpos).all()
