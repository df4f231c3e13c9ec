"""Worker processes: separate programs, which end when this process ends, however it ends.

``multiprocessing`` would run a user's script again. A worker holds the reading end of a pipe as its standard input;
this process holds the only writing end. When this process ends, also by a signal that nobody can handle, the pipe
closes, and the worker ends at once, whatever it computes.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, BinaryIO

#: Before anything else is loaded: imports create most of the objects that garbage collection goes through.
PROGRAM = """
from footfall.process.garbage import search_garbage_seldom
search_garbage_seldom()
from footfall.process.workers import work
work()
"""
#: Bytes of the length that precedes each message.
LENGTH = 8


class WorkerDied(Exception):
    """A worker ended before it answered; the text is its exit code and the last line that it wrote."""


class Worker:
    """A process that calls functions for this one, one after the other. If it dies, the next call starts a new one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._said: Any = None  # what it writes to its standard error
        self._ended = False

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a function at the top of a module, called in the worker; functions and values are pickled."""
        message = pickle.dumps((function, arguments))
        if self._ended:
            raise WorkerDied("it was ended")
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):
            _send(process.stdin, message)
            answer = _receive(process.stdout)
            if answer is not None:
                return pickle.loads(answer)
        code = process.wait()
        self._said.seek(0)
        last = (self._said.read().strip().splitlines() or ["it said nothing"])[-1]
        self._close()
        raise WorkerDied(f"with code {code}: {last}")

    def _start(self) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join(path for path in (*sys.path, os.getcwd()) if path)
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        return self._process

    def end(self) -> None:
        """End the process at once; a call that waits for it raises ``WorkerDied``."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None and process.stdout is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            self._said.close()


def work() -> None:
    """The program of a worker: call the functions that come through standard input, and answer on standard output.

    What the functions themselves print goes to standard error. Ctrl-C is left to the process that waits.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    messages: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(asked, messages.put), daemon=True).start()
    while True:
        function, arguments = pickle.loads(messages.get())
        _send(answers, pickle.dumps(function(*arguments)))


def end_with_parent() -> None:
    """End this process as soon as its standard input, a pipe that its parent holds, is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lambda message: None), daemon=True).start()


def _listen(stream: BinaryIO, take: Callable[[bytes], None]) -> None:
    while (message := _receive(stream)) is not None:
        take(message)
    os._exit(0)  # the parent has ended, so nothing is left to finish


def _send(stream: Any, message: bytes) -> None:
    stream.write(len(message).to_bytes(LENGTH, "little") + message)
    stream.flush()


def _receive(stream: Any) -> bytes | None:
    """The next message; None if the other end has closed."""
    head = stream.read(LENGTH)
    if len(head) < LENGTH:
        return None
    size = int.from_bytes(head, "little")
    message: bytes = stream.read(size)
    return message if len(message) == size else None
