"""Loops over ranges that count, as kernels for a GPU have them, are the loops that were written."""

from __future__ import annotations

from types import FunctionType

import pytest

from footfall.compiled.gpu_loops import HIDDEN, counted

STRIDE = 3


def many_loops(n, skipped):
    """Pairs of numbers,
    in the order of the loops.
    """
    found = []
    for i in range(n):
        if i == skipped:
            continue
        for j in range(n - 1, i, -1):
            if len(found) > 20:
                break
            found.append((i, j))
        for k in range(i, 2 * n, STRIDE):
            found.append((i, k))
        n -= 0  # a range is fixed when it begins
    for one in found[:2]:
        found.append(one)
    return found


def known_to(function):
    """The globals of a function for a GPU, whose function of the device is Python's own."""
    return function.__globals__ | {HIDDEN: int}


@pytest.mark.parametrize("simulated", [False, True])
def test_a_function_whose_loops_count_does_the_same(simulated):
    code = counted(many_loops, simulated=simulated)
    assert code is not many_loops.__code__ and "range" not in code.co_names
    assert (HIDDEN in code.co_names) is not simulated
    again = FunctionType(code, known_to(many_loops))
    assert again(6, 2) == many_loops(6, 2)


def test_a_function_around_others_keeps_what_it_takes_from_them():
    def inner(n):
        total = 0
        for i in range(n):
            total += step * i
        return total

    step = 5
    again = FunctionType(counted(inner, simulated=False), known_to(inner), closure=inner.__closure__)
    assert again(4) == inner(4) == 30
