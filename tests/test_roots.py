"""Brent's method against SciPy's."""

import math

import pytest
from scipy.optimize import brentq

from footfall.roots import root_between

FUNCTIONS = [
    lambda x: math.cos(x) - x,
    lambda x: x**3 - 0.1,
    lambda x: math.exp(x) - 1.5,
    lambda x: math.tanh(9 * x) - 0.2,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_root_is_scipys_to_the_last_bit(function):
    assert root_between(function, -0.6, 1.3, tolerance=1e-15) == brentq(function, -0.6, 1.3, xtol=1e-15)


def test_without_a_change_of_sign_there_is_no_root():
    with pytest.raises(ValueError, match="sign"):
        root_between(lambda x: x * x + 1.0, -1.0, 1.0, tolerance=1e-15)
