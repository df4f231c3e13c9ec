"""When Python collects garbage: seldom in Footfall's own programs, and not while many lasting objects are made."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Net allocations between two collections in Footfall's own programs; Python's default is 700.
SELDOM = 50_000


@contextmanager
def no_garbage_search() -> Iterator[None]:
    """No garbage collection while modules are loaded or a kernel is compiled; restored afterwards."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def search_garbage_seldom() -> None:
    """Collect garbage seldom in this process, and never at its end: saves each program a quarter of a second."""
    gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)
