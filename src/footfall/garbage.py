"""When Python looks for garbage: seldom in programs of our own, and not while much is made that stays."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Objects that come into being before a program of our own looks for garbage among them; Python's own limit is 700.
SELDOM = 50_000


@contextmanager
def no_garbage_search() -> Iterator[None]:
    """While modules are loaded, or a kernel is compiled: no search, which is on again afterwards if it was."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def search_garbage_seldom() -> None:
    """In this process from now on, and not at its end, when all goes anyway: a quarter of a second of each program."""
    gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)
