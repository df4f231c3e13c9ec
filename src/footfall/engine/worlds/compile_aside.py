"""Kernels for a GPU that are compiled by processes of their own, each on a core, while this one compiles another.

Numba compiles one function at a time in a process. What another has compiled is found on the disk; if it has failed,
whatever the reason, the kernel is compiled here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from footfall.compiled.gpu_cache import compile_for
from footfall.engine.worlds import together
from footfall.engine.worlds.card_kernels import build_solver, find_cuda
from footfall.engine.worlds.threads import cores
from footfall.engine.worlds.tiles import Plot


class Wanted(NamedTuple):
    """A kernel that a warp solves a part of its world's problem in, see ``build_solver``."""

    part: str  # its name in :mod:`.together`
    plot: Plot
    points: int
    feet: int
    kinds: tuple[Any, ...]  # the types of its arguments


@contextmanager
def compiled_aside(wanted: Sequence[Wanted]) -> Iterator[None]:
    """Have these kernels compiled while something else is done, and wait for them at its end."""
    at_work: list[subprocess.Popen[bytes]] = []
    try:
        for one in wanted[: cores() - 1]:
            at_work.append(_started(one))
        yield
        for process in at_work:
            process.wait()
    finally:
        for process in at_work:
            if process.poll() is None:
                process.kill()
                process.wait()


def _started(wanted: Wanted) -> subprocess.Popen[bytes]:
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
    try:
        process.stdin.write(pickle.dumps(wanted))
        process.stdin.close()
    except OSError:  # it has ended already
        pass
    return process


def compile_one() -> None:
    """Compile the kernel that the parent process wrote to this one, and keep it on the disk."""
    wanted: Wanted = pickle.load(sys.stdin.buffer)
    find_cuda()
    part = getattr(together, wanted.part)
    compile_for(build_solver(part, wanted.plot, wanted.points, wanted.feet), wanted.kinds)
