"""How Footfall turns Python functions into machine code.

A *kernel* is a plain function over arrays, which also runs, slowly, as ordinary Python. This package decides which
kernels get machine code of their own, which only become part of their callers (``inline_only``), and which are compiled
``apart`` from them; how tuples of arrays are passed (``by_reference``); how compiled code is kept on disk (``cache``)
until the kernel or anything it uses changes (``stamp``); which of Numba's work is skipped (``lean_compiler``,
``lean_lowering``; none in an unknown version, ``usual_compiler``); and how progress is shown (``progress``).
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
from numba.core.registry import CPUDispatcher

from footfall.compiled.apart import cold, compile_cold, separate, separate_kernels, waited_for_code
from footfall.compiled.by_reference import ByReference, Reference, named_at, reference_to
from footfall.compiled.cache import KernelCache
from footfall.compiled.inline_only import InlineOnly, InlineOnlyCache, KernelCompiler
from footfall.compiled.pointers import FAST, function_pointer, own_copy
from footfall.compiled.stamp import flags_of, kernel_stamp

__all__ = [
    "ByReference",
    "Reference",
    "checked",
    "cold",
    "compile_cold",
    "function_pointer",
    "generated",
    "inlined",
    "kernel",
    "kernel_stamp",
    "named_at",
    "raises",
    "reference_to",
    "separate",
    "separate_kernels",
    "waited_for_code",
]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of arrays and numbers on first use, without interpreter, GIL or allocation, and keep it on
    disk.
    """
    return _compile(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for small ones, and for parts of a large loop."""
    return _compile(function, forceinline=True)


def checked(function: Callable[..., Any]) -> Any:
    """A kernel that checks array indices and raises an exception for a bad one: for users' functions."""
    return _compile(getattr(function, "py_func", function), boundscheck=True)


def raises(function: Any) -> bool:
    """Whether a function contains a ``raise`` or an ``assert``, which compiled code cannot propagate."""
    plain = getattr(function, "py_func", function)
    return any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(plain))


def _compile(function: Any, **flags: bool) -> Any:
    if numba.config.DISABLE_JIT:
        return function
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "fastmath": FAST, "_nrt": False, **flags}

    def ordinary() -> Any:
        copy = own_copy(function)
        made = CPUDispatcher(copy, targetoptions=options, pipeline_class=KernelCompiler)
        made._cache = KernelCache(copy, flags_of(made))
        return made

    copy = own_copy(function)
    made = InlineOnly(copy, options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}, ordinary)
    made._cache = InlineOnlyCache(copy, "intermediate " + flags_of(made))
    return made


def generated(source: str, name: str, namespace: dict[str, Any], home: FunctionType) -> FunctionType:
    """Make a function from source text; the disk cache files it with ``home``, the function that uses it."""
    code = compile(source, home.__code__.co_filename, "exec")
    exec(code, namespace)
    function = namespace[name]
    function.__module__ = home.__module__
    function.__qualname__ = f"{home.__qualname__}.{name}"
    return function
