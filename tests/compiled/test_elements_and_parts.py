"""Kernels find the elements of arrays and return the values that plain Python does, as parts of their callers too."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest

from footfall.compiled import ByReference, inlined, kernel, private_numba


class Rows(NamedTuple):
    """Arrays of several layouts, with elements of several sizes."""

    c: np.ndarray
    f: np.ndarray
    strided: np.ndarray
    short: np.ndarray
    flags: np.ndarray


def rows() -> Rows:
    numbers = np.arange(24.0).reshape(4, 6)
    return Rows(
        numbers,
        np.asfortranarray(numbers + 0.5),
        np.arange(96.0).reshape(8, 12)[::2, ::-2],
        np.arange(7, dtype=np.int32),
        np.array([True, False, True]),
    )


@inlined
def walk(a, i, j, u):
    total = 2.0 * a[i, j] + 3.0 * a[-1, 1] + 5.0 * a[u, j] + 7.0 * a[i][2] + 11.0 * a[1:3, j][1]
    a[i, -j] += total
    return total + a.size + a.shape[1] + a.itemsize


def elements(x, i, j, u):
    total = walk(x.c, i, j, u) + walk(x.f, i, j, u) + walk(x.strided, i, j, u) + x.c.reshape(24)[5]
    return total + x.short[-1] + x.short[i] + (1.0 if x.flags[0] else 0.0) + (1.0 if x.flags[1] else 0.0)


@pytest.mark.parametrize("by_reference", [False, True])
def test_elements_of_arrays_are_found_in_every_layout_and_from_either_end(by_reference, monkeypatch):
    plain, compiled = rows(), rows()
    monkeypatch.setattr(sys.modules[__name__], "walk", walk.py_func)
    expected = elements(plain, 2, 3, np.uint64(1))
    monkeypatch.undo()
    found = kernel(elements)(ByReference(compiled) if by_reference else compiled, 2, 3, np.uint64(1))
    assert found == expected
    for ours, theirs in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def wander(x, n):
    """Variables that have one value, several, or none on some of the ways to where they are read."""
    start = x[0]
    last = start
    for i in range(n):
        step = x[i] - last
        if step > 0.0:
            up = step
        else:
            up = -2.0 * step
        j = i
        while j > 0:
            j -= 2
            back = x[j] if j >= 0 else start
            up += back
        last = up if i % 2 else last + up
    return last + start


def test_variables_that_keep_one_value_need_no_memory_and_have_that_value():
    x = np.array([1.0, 4.0, 2.0, 8.0, 5.0])  # sums of whole numbers, exact in any order
    for n in range(6):
        assert kernel(wander)(x, n) == wander(x, n)


def test_a_large_inlined_kernel_stays_a_function_and_a_small_one_becomes_part_of_its_caller(tmp_path, monkeypatch):
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))  # empty: what comes from the disk is not lowered
    monkeypatch.setattr(private_numba, "LARGEST_PART", 400)  # so that a large one is compiled soon
    small = inlined(lambda x, i: x[i] * x[i + 1])
    sums = "\n".join(f"    x[{i}] += part(x, {i % 5})" for i in range(20))
    known = {"part": small}
    exec(f"def many(x):\n{sums}\n    return x[0]", known)
    large = inlined(known["many"])

    @kernel
    def caller(x):
        return large(x) + small(x, 1)

    assert caller(np.zeros(20)) == 0.0
    assert not any(made.library.inlined for made in large.overloads.values())
    assert all(made.library.inlined for made in small.overloads.values())
