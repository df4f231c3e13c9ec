"""Functions of Numba that are replaced for a while."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any


def put(undo: ExitStack, where: Any, name: str, function: Callable[..., Any]) -> None:
    """Replace an attribute until ``undo``."""
    if name in vars(where):
        undo.callback(setattr, where, name, vars(where)[name])
    else:
        undo.callback(delattr, where, name)
    setattr(where, name, function)
