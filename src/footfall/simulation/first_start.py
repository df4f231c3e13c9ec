"""The first start: the engine is compiled by a process of its own while this one compiles the law.

Both put what they have compiled into the cache folder, where the other finds it. Where a second process is of no use
(one core, nowhere to keep compiled code) or fails, this one compiles everything itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from footfall.cache_folder import cache_folder
from footfall.compiled import separate_kernels

#: Set in processes that compile for another one: they start no further ones.
HELPER = "FOOTFALL_COMPILING_HELPER"
_started: set[Any] = set()
_lock = threading.Lock()


def start_helper(loop: Any, job: str) -> subprocess.Popen[bytes] | None:
    """A process that compiles the engine's ``loop``, unless that is on disk or no second process would help."""
    with _lock:
        if loop in _started or HELPER in os.environ:
            return None
        _started.add(loop)
    alone = (os.cpu_count() or 1) < 2 or not sys.executable or cache_folder("compiled") is None
    return None if alone or loop.kept() else spawn([job])


def spawn(jobs: list[str]) -> subprocess.Popen[bytes] | None:
    """A process that does some of the jobs of :mod:`footfall.simulation.warm`, or ``None`` if none can be started."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "footfall.simulation.warm", *jobs],
            env=os.environ | {"PYTHONPATH": path, HELPER: "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def share_work(helper: subprocess.Popen[bytes], functions: list[Any], parts: dict[Any, tuple[Any, ...]]) -> None:
    """While a helper compiles the engine: compile what the law calls, then those parts that it comes to last."""
    for function in functions:
        for kernel in separate_kernels(function):
            if not kernel.rare:
                kernel.link()
    for part, kinds in parts.items():
        if helper.poll() is None:
            part.compile(kinds)
    _wait_for(helper)


def _wait_for(helper: subprocess.Popen[bytes]) -> None:
    """Wait until a helper has done its work, and say so; it ends with this process."""
    try:
        while helper.poll() is None:
            if sys.stderr is not None and sys.stderr.isatty():
                print("\r\033[Kfootfall: waiting for the engine to be compiled ", end="", file=sys.stderr, flush=True)
            try:
                helper.wait(1.0)
            except subprocess.TimeoutExpired:
                continue
        if sys.stderr is not None and sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    except BaseException:
        helper.kill()
        raise
