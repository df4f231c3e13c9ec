"""Ctrl-C during a run: noticed at once, answered between two steps or inside the controller, and nothing is lost.

Compiled code does not look at signals, and a ``KeyboardInterrupt`` that arises where Python is entered from compiled
code is lost. So during a run Ctrl-C is only noted; the loop comes back to Python often enough to see it, and where a
Python controller is at work it is raised there, in case it would go on for long. While Numba compiles it is noted as
well: what it has half registered it never registers again, and no later run of the process would compile.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Notes Ctrl-C while it is entered. Handlers that are not Python's own stay at work."""

    def __init__(self) -> None:
        self.asked = False  # whether Ctrl-C was pressed
        self.inside = False  # whether the user's own code is at work, in which to raise it
        self._before: Any = None

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self.inside:
            raise KeyboardInterrupt


@contextmanager
def to_the_end() -> Iterator[None]:
    """Do what must not be left half done: Ctrl-C is raised after it."""
    with Interrupts() as interrupts:
        yield
    if interrupts.asked:
        raise KeyboardInterrupt
