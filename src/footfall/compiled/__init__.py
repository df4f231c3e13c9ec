"""How Footfall turns Python functions into machine code.

Decided here, once: the compiler options of a *kernel* (a plain function over arrays that also runs, slowly, as ordinary
Python); which kernels get machine code of their own, which only become part of their callers (``inline_only``), and
which are put ``apart``; how tuples of arrays are handed over (``by_reference``); that compiled code is kept on disk
(``cache``) until the kernel or anything it uses changes (``stamp``); what of Numba's work is left out
(``lean_compiler``, ``lean_lowering``; nothing of a version that is not known, ``usual_compiler``); and what is reported
while it is compiled (``progress``).
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
    """Compile a function of arrays and numbers on first use: no interpreter, no GIL, no allocation, kept on disk."""
    return _compile(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for small ones, and for parts of a large loop."""
    return _compile(function, forceinline=True)


def checked(function: Callable[..., Any]) -> Any:
    """A kernel of a user: the same, but an index outside an array is an exception, not a write into foreign memory."""
    return _compile(getattr(function, "py_func", function), boundscheck=True)


def raises(function: Any) -> bool:
    """Whether a function has a ``raise`` or an ``assert`` in it, which compiled code cannot pass on."""
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
    """Make a function from source text that the disk cache files beside ``home``, the function it serves."""
    code = compile(source, home.__code__.co_filename, "exec")
    exec(code, namespace)
    function = namespace[name]
    function.__module__ = home.__module__
    function.__qualname__ = f"{home.__qualname__}.{name}"
    return function
