"""The first start: the engine is compiled by a process of its own while this one compiles the law.

Both write compiled code to the cache folder, where the other finds it. Each kernel is compiled by the process that
claims it first, by creating a file in a folder that the two share. Where a second process is of no use (one core, no
cache folder) or fails, this one compiles everything itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import finalize

from footfall.compiled import compile_cold
from footfall.process.cache_folder import cache_folder
from footfall.process.machine import cores
from footfall.simulation.setup import Setup
from footfall.simulation.workspace import loop_types

#: Environment variable with the folder of claims, set in processes that compile for another: they start no others.
HELPER = "FOOTFALL_COMPILING_HELPER"
_started: set[Any] = set()
_lock = threading.Lock()


def start_compiling(sim: Setup, engine: Any) -> Callable[[], None]:
    """Let another process compile the loop of an ``engine`` unless it is on disk; this one begins with the rest.

    The returned function compiles the unclaimed kernels that the first step calls, and waits for the other process.
    """
    law = sim.law
    with _lock:
        if engine in _started or HELPER in os.environ:
            return _nothing
        _started.add(engine)
    alone = cores() < 2 or not sys.executable or cache_folder("compiled") is None
    if alone or engine.advance.kept():
        return _nothing
    try:
        claims = Path(tempfile.mkdtemp(prefix="footfall-claims-"))
    except OSError:
        return _nothing
    process = spawn(["events" if law.event_driven else "step", "soon"], claims)
    if process is None:
        shutil.rmtree(claims, ignore_errors=True)
        return _nothing
    finalize(process, shutil.rmtree, claims, ignore_errors=True)
    types = loop_types(sim)
    for part, kinds in engine.late_parts(*types).items():
        part.compile(kinds)

    def finish() -> None:
        parts = engine.cold_parts(*types) if law.event_driven or law.native else {}
        for part, kinds in parts.items():
            part.note(kinds)
        compile_cold(lambda name: claim(claims, name), soon=True, beside=parts)
        _wait_for(process)

    return finish


def _nothing() -> None:
    """Do nothing: all is compiled, or this process compiles it alone."""


def claim(folder: Path, name: str) -> bool:
    """Claim a kernel; False if another process already has."""
    try:
        (folder / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:  # at worst it is compiled twice
        return True
    return True


def spawn(jobs: list[str], claims: Path) -> subprocess.Popen[bytes] | None:
    """Start a process for jobs of :mod:`footfall.simulation.warm`; ``None`` if that fails."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "footfall.simulation.warm", *jobs],
            env=os.environ | {"PYTHONPATH": path, HELPER: str(claims)},
            stdin=subprocess.PIPE,  # closes when this process ends, which ends the other
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    """Wait for the other process with a message, and kill it if this one is interrupted."""
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
