"""How Footfall turns Python functions into machine code.

A *kernel* is a plain function over arrays, which also runs, slowly, as ordinary Python. This package decides which
kernels get machine code of their own, which only become part of their callers (``inline_only``), and which are compiled
``apart`` from them; how tuples of arrays are passed (``by_reference``); how compiled code is kept on disk (``cache``)
until the kernel or anything it uses changes (``stamp``); which of Numba's work is skipped (``lean_compiler``,
``lean_lowering``; none in an unknown version, ``usual_compiler``); and how progress is shown (``progress``).
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any, cast

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from footfall.compiled.apart import cold, compile_cold, separate, separate_kernels, waited_for_code
from footfall.compiled.by_reference import ByReference, Reference, named_at, reference_to
from footfall.compiled.cache import KernelCache
from footfall.compiled.inline_only import InlineOnly, InlineOnlyCache, KernelCompiler
from footfall.compiled.pointers import FAST, function_pointer, own_copy
from footfall.compiled.stamp import codes_of, flags_of, kernel_stamp

__all__ = [
    "ByReference",
    "Reference",
    "as_python",
    "checked",
    "cold",
    "compile_cold",
    "function_pointer",
    "generated",
    "inlined",
    "kernel",
    "kernel_stamp",
    "named_at",
    "plain_function",
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
    """A kernel that checks array indices and raises an exception for a bad one: for users' functions.

    What it calls and its author compiled is compiled again in the same way.
    """
    return _made_again(plain_function(function), lambda copy: _compile(copy, boundscheck=True), {})


@functools.cache
def as_python(function: Callable[..., Any]) -> Any:
    """A user's function as plain Python, with all that it calls and its author compiled: it raises what is wrong."""
    return _made_again(plain_function(function), lambda copy: copy, {})


def plain_function(function: Any) -> Any:
    """The Python function under a compiled one."""
    return getattr(function, "py_func", function)


def _made_again(plain: FunctionType, make: Callable[[FunctionType], Any], made: dict[FunctionType, Any]) -> Any:
    """A function and those that its author compiled, in another form; ``made`` holds those begun, for recursion."""
    if plain not in made:
        known, cells = dict(plain.__globals__), tuple(CellType(cell.cell_contents) for cell in plain.__closure__ or ())
        copy = FunctionType(plain.__code__, known, plain.__name__, plain.__defaults__, cells or None)
        made[plain] = make(cast(FunctionType, functools.update_wrapper(copy, plain)))
        for name in {name for code in codes_of(plain.__code__) for name in code.co_names} & known.keys():
            known[name] = _value_again(known[name], make, made)
        for cell in cells:
            cell.cell_contents = _value_again(cell.cell_contents, make, made)
    return made[plain]


def _value_again(value: Any, make: Callable[[FunctionType], Any], made: dict[FunctionType, Any]) -> Any:
    """The same of what a user's function refers to; a module is copied if it holds compiled functions."""
    if isinstance(value, Dispatcher) and _is_foreign(value.py_func.__module__):
        return _made_again(value.py_func, make, made)
    if isinstance(value, ModuleType) and _is_foreign(value.__name__):
        compiled = {name: one for name, one in vars(value).items() if isinstance(one, Dispatcher)}
        if compiled:
            copy = ModuleType(value.__name__)
            again = {name: _value_again(one, make, made) for name, one in compiled.items()}
            vars(copy).update(vars(value) | again)
            return copy
    return value


def _is_foreign(module: str | None) -> bool:
    return (module or "").partition(".")[0] not in ("footfall", "numba", "numpy")


def raises(function: Any) -> bool:
    """Whether a function contains a ``raise`` or an ``assert``, which compiled code cannot propagate."""
    return any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(plain_function(function)))


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
