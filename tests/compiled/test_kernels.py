"""How functions become machine code: kernels, those apart from their callers, and tuples by reference."""

from __future__ import annotations

import contextlib
import gc
import importlib
import types
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

import footfall
from footfall.compiled import ByReference, cold, function_pointer, inlined, kernel, kernel_stamp
from footfall.compiled.cache import classes_of

PACKAGE = Path(footfall.__file__).parent


def test_a_kernel_is_compiled_and_still_plain_python():
    @kernel
    def add(a, b):
        return a + b

    assert add(1.0, 2.0) == 3.0 and add.py_func(1.0, 2.0) == 3.0
    assert add.ordinary.nopython_signatures


def test_kernels_do_not_take_not_a_number_for_a_number():
    """Fast arithmetic must still see NaN and infinity: that is how divergence is found."""

    @kernel
    def is_bad(x):
        return not abs(x) < 1e8

    assert is_bad(np.nan) and is_bad(np.inf) and is_bad(-np.inf) and not is_bad(1.0)


def test_numba_is_as_before_after_a_kernel_was_compiled():
    """For the functions of others garbage is collected and calls are typed anew, whether the kernel compiled or not."""
    typed = numba.types.Function.get_call_type

    @kernel
    def wrong(x):
        return x.nothing

    for attempt in (lambda: kernel(lambda x: x + 1.0)(1.0), lambda: wrong(1.0)):
        with contextlib.suppress(numba.TypingError):
            attempt()
        assert gc.isenabled() and numba.types.Function.get_call_type is typed


def test_a_function_pointer_is_called_by_address():
    from numba import float64

    pointer = function_pointer(float64(float64), lambda x: 2.0 * x)
    assert pointer.ctypes(3.0) == 6.0


def outer(inner, number):
    @kernel
    def function(x):
        return inner(x) + number

    return function.py_func


def test_the_stamp_follows_what_a_kernel_calls_and_its_constants():
    first, second = kernel(lambda x: 2.0 * x), kernel(lambda x: 3.0 * x)
    stamps = [kernel_stamp(outer(inner, number)) for inner in (first, second) for number in (1.0, 2.0)]
    assert len(set(stamps)) == 4
    assert kernel_stamp(outer(first, 1.0)) == stamps[0]


def test_the_stamp_knows_how_a_kernel_is_compiled():
    def inner(x):
        return 2.0 * x

    assert kernel_stamp(outer(kernel(inner), 1.0)) != kernel_stamp(outer(inlined(inner), 1.0))


def test_the_stamp_does_not_follow_what_a_kernel_says_of_itself():
    def stamp(text: str, value: str) -> str | None:
        exec(f"def function(x):\n    {text}\n    return {value}", own := {})
        return kernel_stamp(own["function"])

    assert stamp("'It doubles.'", "2.0 * x") == stamp("'Twice.'", "2.0 * x") == stamp("", "2.0 * x")
    assert stamp("'Twice.'", "'Twice.'") != stamp("'It doubles.'", "'It doubles.'")  # a value as well


def test_every_kernel_of_the_package_has_a_stamp_and_so_is_kept_on_disk():
    """One without would be compiled in every process."""
    unknown, count = [], 0
    for file in sorted(PACKAGE.rglob("*.py")):
        if "from footfall.compiled import" not in file.read_text(encoding="utf-8") or file.name.startswith("gpu"):
            continue
        module = ".".join(("footfall", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for name, value in vars(importlib.import_module(module)).items():
            if hasattr(value, "py_func") and value.py_func.__module__ == module:
                count += 1
                unknown += [] if kernel_stamp(value.py_func) else [f"{module}.{name}"]
    assert count > 500 and not unknown


@cold(numba.types.float64)
def weighted(x, weights):
    return x * weights[0]


@kernel
def twice_weighted(x, weights):
    return 2.0 * weighted(x, weights)


def test_a_kernel_apart_is_called_by_kernels_and_by_python():
    weights = np.array([3.0])
    assert twice_weighted(1.0, weights) == 6.0
    assert twice_weighted.py_func(1.0, weights) == 6.0
    assert kernel_stamp(twice_weighted.py_func) != kernel_stamp(outer(kernel(lambda x: x), 1.0))


def test_the_stamp_knows_where_a_kernel_apart_is_and_what_it_returns():
    """Compiled callers hold its symbol and this type: they must not outlive either."""

    def stamp(inner):
        return kernel_stamp(outer(inner, 1.0))

    function = weighted.py_func.__code__
    same, moved = (cold(numba.types.float64)(types.FunctionType(function, {})) for _ in range(2))
    same.symbol = moved.symbol = weighted.symbol
    assert stamp(same) == stamp(moved)
    moved.symbol = "elsewhere"
    assert stamp(same) != stamp(moved)
    moved.symbol, moved.returns = weighted.symbol, numba.types.int64
    assert stamp(same) != stamp(moved)


class Inner(NamedTuple):
    weight: float
    count: int


class Outer(NamedTuple):
    values: np.ndarray
    table: np.ndarray
    inner: Inner
    function: Any


@inlined
def total(outer):
    found = 0.0
    for i in range(outer.values.size):
        found += outer.inner.weight * outer.function(outer.values[i]) + outer.table[i, 0]
    outer.values[0] = -1.0
    return found + outer.inner.count


@kernel
def total_of(outer):
    return total(outer)


def double(x):
    return 2.0 * x


def test_a_tuple_is_the_same_by_reference_and_by_value():
    """The source of a kernel is one for both, and Python reads the fields of both alike."""
    from numba import float64

    pointer = function_pointer(float64(float64), double)
    table = np.arange(12.0).reshape(3, 4)[:, ::2]
    for by_reference in (False, True):
        outer = Outer(np.array([1.0, 2.0, 4.0]), table, Inner(0.5, -3), pointer)
        assert total_of(ByReference(outer) if by_reference else outer) == 0.5 * 2.0 * 7.0 + 12.0 - 3.0
        assert outer.values[0] == -1.0
    assert ByReference(Inner(0.5, -3)).count == -3


@cold(numba.types.float64)
def product(inner):
    return inner.weight * inner.count


@kernel
def sum_of_products(weights):
    found = 0.0
    for i in range(weights.size):
        found += product(Inner(weights[i], i))
    return found


def test_a_tuple_made_in_compiled_code_is_handed_over_by_reference_too():
    assert sum_of_products(np.array([1.0, 2.0, 3.0])) == 8.0


@cold(numba.types.Tuple([numba.float64, numba.boolean]))
def seldom(inner, values, scale):
    """Of any types, one of them a tuple that its caller makes."""
    return inner.weight * inner.count * scale + values.sum(), inner.count > 1


@kernel
def seldom_or_never(values, often):
    if often:
        return 0.0
    found, many = seldom(Inner(0.5, 3), values, 2)
    return found if many else -1.0


def test_a_cold_kernel_is_compiled_for_the_types_of_its_caller_when_that_first_calls_it():
    before = len(seldom._linked)
    assert seldom_or_never(np.ones(2), True) == 0.0 and len(seldom._linked) == before
    for values in (np.ones(2), np.ones(2, dtype=np.int32)):
        assert seldom_or_never(values, False) == 5.0 == seldom_or_never.py_func(values, False)
    assert len(seldom._linked) == before + 2


class Within(NamedTuple):
    values: Any


class Around(NamedTuple):
    within: Any
    factor: float


@kernel
def weighed(around):
    around.within.values[0] += 1.0
    return around.factor * around.within.values[1]


def test_a_tuple_points_at_one_that_it_holds_by_reference():
    values = np.arange(3.0)
    within = ByReference(Within(values))
    around = ByReference(Around(within, 2.0))
    assert weighed(around) == 2.0 == weighed.py_func(around) and values[0] == 2.0
    assert weighed(ByReference(Around(ByReference(Within(values + 3.0)), 2.0))) == 8.0


def test_fields_in_another_order_have_code_of_their_own():
    """Kernels find fields by their number: code that was kept for one order would read other fields in another."""
    pairs = [NamedTuple("Pair", [(name, float) for name in order]) for order in ("xy", "yx")]
    first, second = ([numba.typeof(pair(1.0, 2.0))] for pair in pairs)
    assert str(first) == str(second) and classes_of(first) != classes_of(second)


def fields(values):
    """A function whose own stamp is unknown, since it reads a dictionary."""
    return UNKNOWABLE[values]


UNKNOWABLE = {"a": 1.0}


def test_an_attribute_with_the_name_of_a_function_is_not_that_function():
    def kernel(given):
        return given.fields + 1.0

    assert kernel_stamp(fields) is None and kernel_stamp(kernel) is not None
