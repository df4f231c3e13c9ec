"""The fingerprint of a kernel: a hash of the code of every function that it reaches, and of the constants they use.

Numba's own key for compiled code covers only the file of the outermost function: a change in a called function would go
unnoticed, and any other change in that file would discard the compiled code.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dis import EXTENDED_ARG, hasconst, opmap
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.extending import intrinsic
from numba.types import ExternalFunction, Type

#: Modules whose attributes do not change while they are installed.
KNOWN_MODULES = ("math", "numpy", "numba", "footfall")
#: The class of functions that Numba's ``intrinsic`` makes.
_INTRINSIC = type(intrinsic(lambda context: None))
LOAD_GLOBAL = opmap["LOAD_GLOBAL"]


class _Unknowable(Exception):
    """Raised for a value that compiled code may depend on and that cannot be hashed."""


def kernel_stamp(function: FunctionType, *, modules: bool = False) -> str | None:
    """A hash of all that the compiled function depends on, or ``None`` if that cannot be known.

    Names and source lines do not count; module names count on request, since compiled code on disk imports them.
    """
    digest = hashlib.sha256()
    try:
        for one, own in _parts(function):
            digest.update(own)
            if modules:
                digest.update(str(one.__module__).encode())
    except _Unknowable:
        return None
    return digest.hexdigest()


def values_reached(function: FunctionType) -> list[Any]:
    """The values that a function and all its callees refer to, as far as they can be known."""
    found: list[Any] = []
    with contextlib.suppress(_Unknowable):
        for one, _ in _parts(function):
            found += _used_values(one).values()
    return found


def _parts(function: FunctionType) -> Iterator[tuple[FunctionType, bytes]]:
    waiting, seen = [function], {id(function)}
    while waiting:
        one = waiting.pop()
        own, inner = _own_part(one)
        yield one, own
        for each in inner:
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)


def _own_part(function: FunctionType) -> tuple[bytes, list[FunctionType]]:
    """The hash of a function without its callees, and its callees."""
    digest = hashlib.sha256()
    inner: list[FunctionType] = []
    digest.update(_text(function.__code__))
    for name, value in _used_values(function).items():
        digest.update(f"{name} = {_described(value, inner)}\n".encode())
    digest.update(_described(function.__defaults__, inner).encode())
    return digest.digest(), inner


def flags_of(compiled: Any) -> str:
    """The compiler options of a kernel; empty for a plain function."""
    options = getattr(compiled, "targetoptions", {})
    fast = sorted(options["fastmath"]) if isinstance(options.get("fastmath"), set) else []
    return " ".join([*sorted(name for name, chosen in options.items() if chosen is True), *fast])


def _used_values(function: FunctionType) -> dict[str, Any]:
    """The globals and closure variables that a function may read, by name."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    known = function.__globals__ | dict(zip(function.__code__.co_freevars, cells, strict=True))
    names = {name: None for code in codes_of(function.__code__) for name in (*_globals_read(code), *code.co_freevars)}
    return {name: known[name] for name in names if name in known}


@cache
def _globals_read(code: CodeType) -> tuple[str, ...]:
    """The names of globals that the instructions of a function read; an attribute may have the name of another."""
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    found, at = [], operations.find(LOAD_GLOBAL)
    while at >= 0:
        argument, place, before = arguments[at], 8, at - 1
        while before >= 0 and operations[before] == EXTENDED_ARG:
            argument, place, before = argument | arguments[before] << place, place + 8, before - 1
        found.append(code.co_names[argument >> 1])  # the lowest bit says whether it is called
        at = operations.find(LOAD_GLOBAL, at + 1)
    return tuple(dict.fromkeys(found))


@cache
def codes_of(code: CodeType) -> tuple[CodeType, ...]:
    """A code object and all nested ones."""
    inner = [part for constant in code.co_consts if isinstance(constant, CodeType) for part in codes_of(constant)]
    return (code, *inner)


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]


@cache
def _text(code: CodeType) -> bytes:
    """The instructions of a function, its constants and the names it uses, without docstrings."""
    digest = hashlib.sha256()
    for part in codes_of(code):
        constants = [constant for constant in part.co_consts if not isinstance(constant, CodeType)]
        if constants and isinstance(constants[0], str) and not _reads_first_constant(part):
            constants[0] = None  # a docstring
        digest.update(part.co_code)
        digest.update(repr((constants, part.co_names, part.co_varnames, part.co_freevars)).encode())
    return digest.digest()


def _reads_first_constant(code: CodeType) -> bool:
    """Whether an instruction may read the first constant, which may be the docstring."""
    return any(bytes((instruction, 0)) in code.co_code for instruction in hasconst if instruction < 256)


def _described(value: Any, inner: list[FunctionType]) -> str:
    """A description of what compiled code depends on in a value; functions are added to ``inner``."""
    if hasattr(value, "linkage"):  # a separate kernel: its callers contain a symbol and types, not its code
        return str(value.linkage())
    plain = getattr(value, "py_func", value)
    if isinstance(plain, FunctionType):
        if _root(plain.__module__) in ("numba", "numpy"):
            return f"{plain.__module__}.{plain.__qualname__}"
        inner.append(plain)
        return f"function {flags_of(value)}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} [{', '.join(_described(one, inner) for one in value)}]"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, ModuleType) and _root(value.__name__) in KNOWN_MODULES:
        return value.__name__
    if isinstance(value, type) and (hasattr(value, "_fields") or value.__module__ in ("builtins", "numpy")):
        return f"{value.__name__} {getattr(value, '_fields', '')}"
    if isinstance(value, np.ufunc | BuiltinFunctionType):
        return f"{getattr(value, '__module__', 'numpy')}.{value.__name__}"
    if isinstance(value, _INTRINSIC):
        return f"intrinsic {_text(value.__wrapped__.__code__).hex()}"
    if isinstance(value, ExternalFunction):
        return f"{value.symbol} {value.sig}"
    if isinstance(value, Type):
        return str(value)
    raise _Unknowable
