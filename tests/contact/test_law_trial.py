"""A user's law is tried before a run: it can neither write outside its memory nor fail in silence."""

from __future__ import annotations

import math

import numpy as np
import pytest

import footfall as ff
from footfall.contact import registry
from footfall.errors import FootfallWarning, LawError


@pytest.fixture(autouse=True)
def forget_laws(monkeypatch):
    """Laws of a test are gone after it."""
    for name in [name for name in vars(registry) if isinstance(getattr(registry, name), dict)]:
        monkeypatch.setattr(registry, name, dict(getattr(registry, name)))


def writes_beyond(depth, depth_rate, slip, slip_velocity, memory, parameters):
    memory[5] = depth
    return 1e4 * depth


def writes_before(depth, depth_rate, slip, slip_velocity, memory, parameters):
    memory[-3] = depth
    return 1e4 * depth


def reads_beyond(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return 1e4 * depth + slip[2]


@pytest.mark.parametrize("function", [writes_beyond, writes_before, reads_beyond])
def test_an_index_outside_an_array_is_found_before_the_run(function):
    ff.point_law("outside", memory=2)(function)
    with pytest.raises(LawError, match=r"law 'outside' fails at a depth of .*IndexError: index -?\d is out of bounds"):
        ff.Simulation("brick", law="outside").run(0.1)


def test_an_index_that_leaves_its_array_later_ends_the_run():
    @ff.point_law("later", memory=2, k=2e4, c=100.0)
    def later(depth, depth_rate, slip, slip_velocity, memory, parameters):
        memory[0] += 1.0
        if memory[0] > 50.0:
            memory[int(memory[0])] = 1.0
        return max(0.0, parameters.k * depth + parameters.c * depth_rate)

    with pytest.warns(FootfallWarning, match="the law 'later' fails: IndexError"):
        rec = ff.Simulation("brick", law="later").run(0.5)
    assert rec.failure.cause == "diverged" and "IndexError" in rec.failure.message
    assert rec.failure.time == pytest.approx(0.05, abs=0.002)
    assert np.isfinite(rec.qpos).all()


@pytest.mark.parametrize(("top", "told"), [(0.0, "nan"), (1.0, "inf")])
def test_a_law_that_returns_no_finite_number_is_told_so(top, told):
    @ff.point_law("endless", k=2e4, top=top)
    def endless(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return parameters.k * depth if depth < 1e-4 else parameters.top / (depth - depth)

    with pytest.warns(FootfallWarning, match=f"'endless' fails: its force is {told} at a depth of 0.0001"):
        rec = ff.Simulation("brick", law=ff.law("endless")).run(0.5)
    assert rec.failure.message.endswith("correct the law") and "try dt" not in rec.failure.message


def test_a_law_that_raises_is_refused():
    def hesitant(depth, depth_rate, slip, slip_velocity, memory, parameters):
        if depth > 0.01:
            raise ValueError("too deep")
        return 1e4 * depth

    def proud(depth, depth_rate, slip, slip_velocity, memory, parameters):
        assert depth < 0.01
        return 1e4 * depth

    for function in (hesitant, proud):
        with pytest.raises(LawError, match=r"law 'loud' raises \(or asserts\).*return math.nan"):
            ff.point_law("loud")(function)


def test_what_a_law_raises_through_another_function_ends_the_run():
    import numba

    @numba.njit
    def inner(depth):
        if depth > 1e-4:
            raise ValueError("too deep")
        return 1e4 * depth

    @ff.point_law("deep")
    def deep(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return inner(depth)

    sim = ff.Simulation("brick", law="deep")
    with pytest.warns(FootfallWarning, match="diverged"):
        rec = sim.run(0.5)
    assert rec.failure is not None


def test_a_law_may_divide_by_zero_and_take_roots_as_compiled_code_does():
    @ff.point_law("sharp", k=2e4, c=100.0)
    def sharp(depth, depth_rate, slip, slip_velocity, memory, parameters):
        ratio = slip[0] / math.sqrt(slip_velocity[0] ** 2 + slip_velocity[1] ** 2)
        root = math.sqrt(-depth)
        force = max(0.0, parameters.k * depth + parameters.c * depth_rate)
        return force if root != root or ratio != ratio else 1.000001 * force

    assert ff.Simulation("brick", law="sharp").run(0.1).failure is None
