"""Ctrl-C during a run: noted at once, raised between two steps or inside the controller, with nothing lost.

Compiled code does not handle signals, and a ``KeyboardInterrupt`` raised where compiled code calls Python is lost. So
during a run Ctrl-C is only noted. The loop returns to Python often enough to see it, and a Python controller, which may
run for long, has it raised inside. While Numba compiles it is only noted as well: an interrupted compilation leaves
Numba half registered, and no later run of the process would compile.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """A context that notes Ctrl-C. Handlers other than Python's own stay in place."""

    def __init__(self) -> None:
        self.asked = False  # whether Ctrl-C was pressed
        self.inside = False  # whether the user's own code is running, inside which it is raised
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
    """Run something that must not be interrupted half way; Ctrl-C is raised afterwards."""
    with Interrupts() as interrupts:
        yield
    if interrupts.asked:
        raise KeyboardInterrupt
