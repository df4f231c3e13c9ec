"""The first start: the engine is compiled by a process of its own while this one compiles the law.

Both write compiled code to the cache folder, where the other finds it. A kernel that either could compile belongs to
the process that claims it first, by creating a file in a folder that the two share. Where a second process is of no use
(one core, no cache folder) or fails, this one compiles everything itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple
from weakref import finalize

from footfall.compiled import compile_cold, separate_kernels
from footfall.process.cache_folder import cache_folder
from footfall.process.machine import cores

#: Set, to the folder of claims, in processes that compile for another one: these start no further processes.
HELPER = "FOOTFALL_COMPILING_HELPER"
_started: set[Any] = set()
_lock = threading.Lock()


class Helper(NamedTuple):
    """A process that compiles, and the folder of claims that it shares with this one."""

    process: subprocess.Popen[bytes]
    claims: Path

    def claim(self, name: str) -> bool:
        """Whether this process is the first to come to a kernel."""
        return claim(self.claims, name)


def claim(folder: Path, name: str) -> bool:
    """Whether no other process has claimed a kernel; now it is claimed."""
    try:
        (folder / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:  # compiled twice, perhaps
        return True
    return True


def start_helper(loop: Any, job: str, functions: list[Any]) -> Helper | None:
    """A process that compiles the engine's ``loop``, unless that is on disk or no second process would help.

    It then compiles the kernels that a law's ``functions`` call and nobody has claimed.
    """
    with _lock:
        if loop in _started or HELPER in os.environ:
            return None
        _started.add(loop)
    alone = cores() < 2 or not sys.executable or cache_folder("compiled") is None
    if alone or loop.kept():
        return None
    try:
        folder = Path(tempfile.mkdtemp(prefix="footfall-claims-"))
    except OSError:
        return None
    own = [one.symbol for one in called_by(functions) if one.symbol.startswith("footfall.")]
    process = spawn([job, "soon", *own], folder)
    if process is None:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    finalize(process, shutil.rmtree, folder, ignore_errors=True)
    return Helper(process, folder)


def spawn(jobs: list[str], claims: Path) -> subprocess.Popen[bytes] | None:
    """A process that does jobs of :mod:`footfall.simulation.warm`, or ``None`` if none can be started."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "footfall.simulation.warm", *jobs],
            env=os.environ | {"PYTHONPATH": path, HELPER: str(claims)},
            stdin=subprocess.PIPE,  # which closes when this process ends, and with it the other
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def called_by(functions: list[Any]) -> list[Any]:
    """The separately compiled kernels that functions call, directly or not, except rare ones."""
    return [one for function in functions for one in separate_kernels(function) if not one.rare]


def share_work(helper: Helper, functions: list[Any], parts: dict[Any, tuple[Any, ...]]) -> None:
    """While a helper compiles the engine: compile cold ``parts`` of the loop and what the law's functions call."""
    for part, kinds in parts.items():
        part.note(kinds)
    compile_cold(helper.claim, soon=True, beside=parts)
    for kernel in called_by(functions):
        if helper.process.poll() is None and helper.claim(kernel.symbol):
            kernel.link()
    _wait_for(helper)


def _wait_for(helper: Helper) -> None:
    """Wait for a helper to finish, and say so; it ends with this process."""
    process = helper.process
    try:
        while process.poll() is None:
            if sys.stderr is not None and sys.stderr.isatty():
                print("\r\033[Kfootfall: waiting for the engine to be compiled ", end="", file=sys.stderr, flush=True)
            try:
                process.wait(1.0)
            except subprocess.TimeoutExpired:
                continue
        if sys.stderr is not None and sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    except BaseException:
        process.kill()
        raise
