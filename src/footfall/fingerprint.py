"""What decides what a function does, as a hash: so that two functions that look alike are told apart on disk.

Numba's own key for a cached function leaves out its constants, its defaults and the values of its globals.
"""

from __future__ import annotations

import hashlib
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

KNOWN_MODULES = ("math", "numpy", "numba", "footfall")


def distinct(function: FunctionType) -> FunctionType:
    """The same function under a name that no function with other content has; not cached if that cannot be known."""
    content = content_hash(function)
    code = function.__code__ if content else function.__code__.replace(co_filename="<not to be kept>")
    copy = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__module__ = function.__module__
    copy.__qualname__ = f"{function.__qualname__}_{(content or '')[:16]}"
    return copy


def _under_numba(function: Any) -> Any:
    return getattr(function, "py_func", function)


class _Unknowable(Exception):
    pass


def content_hash(function: FunctionType) -> str | None:
    """A hash of all that decides what the compiled function does, or ``None`` if that cannot be known."""
    digest = hashlib.sha256()
    try:
        _feed(digest, function, set())
    except _Unknowable:
        return None
    return digest.hexdigest()


def _feed(digest: Any, item: Any, seen: set[int]) -> None:
    digest.update(f"<{type(item).__name__}>".encode())
    if item is None or isinstance(item, bool | int | float | complex | str | bytes | np.generic):
        digest.update(repr(item).encode())
    elif isinstance(item, tuple | list):
        for part in item:
            _feed(digest, part, seen)
    elif isinstance(item, np.ndarray) and item.dtype != object:
        digest.update(f"{item.dtype} {item.shape}".encode() + item.tobytes())
    elif isinstance(item, CodeType):
        digest.update(item.co_code)
        _feed(digest, (item.co_names, item.co_varnames, item.co_freevars, item.co_consts), seen)
    elif isinstance(item, ModuleType) and item.__name__.partition(".")[0] in KNOWN_MODULES:
        digest.update(item.__name__.encode())  # a user's module may hold numbers that change
    elif isinstance(item, np.ufunc | BuiltinFunctionType):
        digest.update(f"{getattr(item, '__module__', 'numpy')}.{item.__name__}".encode())
    elif isinstance(_under_numba(item), FunctionType):
        plain = _under_numba(item)
        if id(plain) in seen:
            return
        seen.add(id(plain))
        cells = [cell.cell_contents for cell in plain.__closure__ or ()]
        _feed(digest, [plain.__code__, plain.__defaults__, cells], seen)
        for name in sorted(_names(plain.__code__) & plain.__globals__.keys()):
            _feed(digest, plain.__globals__[name], seen)
    else:
        raise _Unknowable


def _names(code: CodeType) -> set[str]:
    inner = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)
