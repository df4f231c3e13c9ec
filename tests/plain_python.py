"""Kernels as plain Python with all that they call: nothing is compiled for a test that calls them from Python."""

from __future__ import annotations

from functools import cache
from types import CellType, FunctionType
from typing import Any


@cache
def plainly(kernel: Any) -> FunctionType:
    """The function under a kernel over copies of those it calls; it must not call itself."""
    own = getattr(kernel, "py_func", kernel)
    known = {name: _plain(value) for name, value in own.__globals__.items() if name in own.__code__.co_names}
    cells = tuple(CellType(_plain(cell.cell_contents)) for cell in own.__closure__ or ())
    known["__builtins__"] = own.__globals__["__builtins__"]
    return FunctionType(own.__code__, known, own.__name__, own.__defaults__, cells or None)


def _plain(value: Any) -> Any:
    return plainly(value) if isinstance(getattr(value, "py_func", None), FunctionType) else value
