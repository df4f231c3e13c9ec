"""Progress of compiling on stderr: one line that changes on a terminal, a few lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType

from footfall.compiled.stamp import count_reached

#: Seconds between two lines, on a terminal and elsewhere.
_OFTEN, _SELDOM = 0.1, 30.0
_ONCE = "(once; kept for the next start)"


class _Progress:
    """The compilation that is under way; Numba compiles one function at a time, and within it those it calls."""

    depth = 0
    said = False
    name = ""
    done = total = 0
    last = 0.0  # s, when a line was written

    def show(self) -> None:
        """Write a line, if it is time for one."""
        now = time.monotonic()
        terminal = sys.stderr is not None and sys.stderr.isatty()
        if sys.stderr is None or now - self.last < (_OFTEN if terminal else _SELDOM):
            return
        self.last = now
        far = f"{self.name}, {min(self.done, self.total)} of {self.total} functions" if self.said else "..."
        if terminal:
            print(f"\r\033[Kfootfall: compiling {far} {_ONCE}", end="", file=sys.stderr, flush=True)
        else:
            print(f"footfall: compiling {_ONCE} {far}", file=sys.stderr, flush=True)
        self.said = True

    def clear(self) -> None:
        """Erase the changing line."""
        if self.said and sys.stderr is not None and sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.last = 0.0


_progress = _Progress()


@contextmanager
def compiling(function: FunctionType) -> Iterator[None]:
    """Show that a function is being compiled, with those it calls."""
    if _progress.depth == 0:
        _progress.name = f"{function.__module__}.{function.__name__}".removeprefix("footfall.")
        _progress.done, _progress.total = 0, count_reached(function)
    _progress.depth += 1
    try:
        _progress.show()
        yield
    finally:
        _progress.depth -= 1
        _progress.done += 1
        if _progress.depth == 0:
            _progress.clear()
