"""Values that functions of heights and friction refer to."""

from __future__ import annotations

import math

import numpy as np

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


def test_functions_take_the_values_that_they_had_when_they_were_compiled(monkeypatch):
    """Numbers of enclosing functions, of defaults and of the module; equal where all of these are."""
    places = np.random.default_rng(0).uniform(-2.0, 2.0, (50, 2))

    def agree(ground, function):
        expected = [function(x, y) for x, y in places]
        np.testing.assert_allclose(ground.height(*places.T), expected, atol=1e-12)  # rounding of sums

    made = [(Ground.function(f), f) for f in (bumpy(0.1, 2), bumpy(0.2, 2))]
    for ground, function in made:
        agree(ground, function)
    assert made[0][0] != made[1][0] and made[0][0] == Ground.function(bumpy(0.1, 2))
    one, other = terraced(4), terraced(7)
    other.__defaults__ = (-0.2,)
    first, second = Ground.function(one), Ground.function(other)
    agree(first, one)
    agree(second, other)
    before = first.height(*places.T)
    monkeypatch.setitem(globals(), "STEP", 0.25)  # frozen when the ground was made, as a number of the module is
    third = Ground.function(one)
    agree(third, one)
    assert first != third and np.array_equal(first.height(*places.T), before)


def test_a_closed_over_number_may_decide_the_types():
    def friction(kind):
        return lambda x, y: 0.5 if kind == 0 else (0.8, 0.6)

    made = [Ground.plane(friction=friction(kind)) for kind in (0, 1)]
    assert [(one.static_friction, one.dynamic_friction) for one in made] == [(0.5, 0.5), (0.8, 0.6)]
