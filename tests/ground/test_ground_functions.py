"""Grounds whose functions differ in their numbers alone share machine code."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from fresh_python import fresh_python

import footfall
from footfall.ground import Ground

STEP = 0.5


def terraced(terraces):
    return lambda x, y, steep=0.3: STEP * math.floor(y * terraces) / terraces + steep * x


def bumpy(height, waves):
    def bumps(x, y):
        total = 0.0
        for i in range(waves):
            total += height * math.sin((i + 1) * x)
        return total + 0.1 * y

    return bumps


def test_functions_that_differ_in_their_numbers_share_their_code(monkeypatch):
    """Numbers of enclosing functions and of defaults, whole ones too, are values as Python has them."""
    places = np.random.default_rng(0).uniform(-2.0, 2.0, (50, 2))

    def agree(ground, function):
        expected = [function(x, y) for x, y in places]
        np.testing.assert_allclose(ground.height(*places.T), expected, atol=1e-12)  # rounding of sums

    made = [(Ground.function(f), f) for f in (bumpy(0.1, 2), bumpy(0.2, 2), bumpy(0.2, 5))]
    for ground, function in made:
        agree(ground, function)
    assert len({ground.height_function.pointer.address for ground, _ in made}) == 1
    assert len(set(made)) == 3  # and yet no two are equal
    one, other = terraced(4), terraced(7)
    other.__defaults__ = (-0.2,)
    first, second = Ground.function(one), Ground.function(other)
    agree(first, one)
    agree(second, other)
    assert first != second and first.height_function.pointer.address == second.height_function.pointer.address
    before = first.height(*places.T)
    monkeypatch.setitem(globals(), "STEP", 0.25)  # frozen when the ground was made, as a number of the module is
    third = Ground.function(one)
    agree(third, one)
    assert first != third and np.array_equal(first.height(*places.T), before)


def test_where_a_number_decides_types_it_stays_frozen():
    def friction(kind):
        return lambda x, y: 0.5 if kind == 0 else (0.8, 0.6)

    made = [Ground.plane(friction=friction(kind)) for kind in (0, 1)]
    assert [(one.static_friction, one.dynamic_friction) for one in made] == [(0.5, 0.5), (0.8, 0.6)]


def test_many_function_grounds_keep_no_memory(tmp_path):
    """60 grounds of one function: 0.9 MB each if each were compiled; some kilobytes of fragmentation are granted."""
    program = """
import resource, footfall as ff
def ground(a, n):
    return ff.Ground.function(lambda x, y: a * x + 0.01 * n * y, friction=lambda x, y: 0.5 + a)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for i in range(20):
    ground(0.001 * i, i)
before = peak()
for i in range(60):
    ground(0.001 * i + 0.05, i)
print((peak() - before) / 60)
"""
    answer = fresh_python(program, tmp_path, Path(footfall.__file__).parents[1])
    assert answer.returncode == 0, answer.stderr
    unit = 1e-6 if sys.platform == "darwin" else 1e-3  # bytes there, kilobytes elsewhere
    assert float(answer.stdout) * unit < 0.02  # MB for each
