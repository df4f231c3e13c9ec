"""Kernels for a GPU compiled in parallel, each by a process of its own.

Numba compiles one function at a time in a process. This process finds the compiled kernels on the disk; if another
process has failed, for whatever reason, the kernel is compiled here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from footfall.compiled.gpu import plain
from footfall.compiled.gpu_cache import compile_for
from footfall.engine.worlds.card_kernels import find_cuda
from footfall.process.machine import cores
from footfall.process.workers import end_with_parent


class Named(NamedTuple):
    """A function or class by its name, for kernels cannot be pickled."""

    module: str
    name: str


class Wanted(NamedTuple):
    """A kernel that is to be compiled."""

    builder: Callable[..., Any]
    arguments: tuple[Any, ...]  # of the builder
    kinds: tuple[Any, ...]  # the types of the kernel's arguments


@contextmanager
def compiled_aside(wanted: Sequence[Wanted]) -> Iterator[None]:
    """Compile these kernels in other processes during the ``with`` block, and wait for them at its end."""
    at_work: list[subprocess.Popen[bytes]] = []
    try:
        for one in wanted[: cores() - 1]:
            message = _message(one)
            if message is not None:
                at_work.append(_started(message))
        yield
        for process in at_work:
            process.wait()
    finally:
        for process in at_work:
            if process.poll() is None:
                process.kill()
                process.wait()


def _message(wanted: Wanted) -> bytes | None:
    """The message to a process about the kernel it is to compile; ``None`` if parts of the kernel have no name."""
    told = wanted._replace(builder=named(wanted.builder), arguments=tuple(map(named, wanted.arguments)))
    if any(callable(one) for one in (told.builder, *told.arguments)):
        return None
    return pickle.dumps(told)


def named(value: Any) -> Any:
    """The name of a function or class, if it has one; anything else unchanged."""
    if not callable(value):
        return value
    own: Any = value if isinstance(value, type) else plain(value)
    found = Named(own.__module__, own.__name__ if own is value else own.__code__.co_name)
    there = getattr(sys.modules.get(found.module), found.name, None)
    same = there is value
    if callable(there) and not isinstance(value, type):  # a function pointer is made from a copy of the function
        same = own.__closure__ is None and plain(there).__code__ is own.__code__
    return found if same and found.module != "__main__" else value


def found_by_name(value: Any) -> Any:
    return getattr(import_module(value.module), value.name) if isinstance(value, Named) else value


def _started(message: bytes) -> subprocess.Popen[bytes]:
    home = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    program = f"from {compile_one.__module__} import {compile_one.__name__} as work; work()"
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert process.stdin is not None
    with suppress(OSError):  # the process has ended already
        process.stdin.write(message)
        process.stdin.flush()
    return process


def compile_one() -> None:
    """Compile the kernel that the parent process describes on standard input, and keep it on the disk."""
    wanted: Wanted = pickle.load(sys.stdin.buffer)
    end_with_parent()
    find_cuda()
    build = found_by_name(wanted.builder)
    compile_for(build(*map(found_by_name, wanted.arguments)), wanted.kinds)
