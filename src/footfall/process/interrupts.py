"""Ctrl-C and requests to end: noted at once, raised between two steps or inside the controller, with nothing lost.

Compiled code does not handle signals, and a ``KeyboardInterrupt`` raised where compiled code calls Python is lost. So
during a run Ctrl-C is only noted. The loop returns to Python often enough to see it, and a Python controller, which may
run for long, has it raised inside. While Numba compiles it is only noted as well: an interrupted compilation leaves
Numba half registered, and no later run of the process would compile. In Footfall's own programs SIGTERM and a closed
terminal (SIGHUP) do what Ctrl-C does.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """A context that notes Ctrl-C. Handlers other than Python's own and Footfall's stay in place."""

    def __init__(self) -> None:
        self.asked = False  # whether Ctrl-C was pressed
        self.inside = False  # whether the user's own code is running, inside which it is raised
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _ending_signals():
                if signal.getsignal(number) in (signal.default_int_handler, _end):
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._before.get(signal.Signals(number)) is _end:
            _noted.append(number)
        self.asked = True
        if self.inside:
            raise KeyboardInterrupt


@contextmanager
def to_the_end() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block."""
    with Interrupts() as interrupts:
        yield
    if interrupts.asked:
        raise KeyboardInterrupt


@contextmanager
def while_compiling() -> Iterator[None]:
    """Let Numba finish compiling before an interruption, except in Footfall's own programs, which end anyway."""
    if signal.getsignal(signal.SIGINT) is not _end:
        with to_the_end():
            yield
        return
    before = len(_noted)
    try:
        yield
    finally:
        if len(_noted) > before:  # the exception was lost in a call from machine code, and perhaps Numba's result
            raise KeyboardInterrupt


#: The signals that asked this program to end, the first one first; none in the programs of others.
_noted: list[int] = []


def end_as_by_ctrl_c() -> None:
    """In a program of Footfall's own: SIGTERM and SIGHUP end it as Ctrl-C does, unless they are ignored."""
    for number in _ending_signals():
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)
    # Where compiled code calls Python, the exception is lost, and Python would print it: `asked_to_end` knows of it.
    before = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is KeyboardInterrupt else before(lost)


def asked_to_end() -> int | None:
    """The first signal that asked this process to end, None if there was none."""
    return _noted[0] if _noted else None


def _end(number: int, frame: FrameType | None) -> None:
    _noted.append(number)
    raise KeyboardInterrupt


def _ending_signals() -> list[signal.Signals]:
    return [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
