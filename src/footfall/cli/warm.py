"""`footfall warm`: compile everything ahead."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from footfall.cli.shared.output import sentences_bar, tell
from footfall.given_numbers import Bounds

#: Packages that compile, or that compiled code calls or is laid out for.
PACKAGES = ("llvmlite", "mujoco", "numba", "numpy")


@dataclass(frozen=True)
class Warm:
    """Compile the engine, many worlds, all laws, their solvers and the controllers ahead of time, so that no later
    start waits.

    footfall warm

    Compiled code is kept in the folder that FOOTFALL_CACHE names, or in the system's cache directory, until Footfall
    changes. If everything is compiled already, the command ends at once.
    """

    processes: Annotated[int | None, Bounds(1)] = None
    """processes that compile at the same time; as many as there are cores if left out"""
    json: bool = False
    """print one JSON object: the folder and the time it took, s"""

    def run(self) -> int:
        from footfall.errors import FootfallError
        from footfall.process.cache_folder import cache_folder

        folder = cache_folder("compiled")
        if folder is None:
            raise FootfallError(
                "no folder can be written to keep compiled code: set FOOTFALL_CACHE to one that only you may write"
            )
        begin, note, given = time.perf_counter(), folder / f"warm-{_here()}.json", _given()
        known = _is_there(note, given)
        if not known:
            from footfall.simulation.warm import warm

            with sentences_bar("compiling") as bar:
                warm(lambda far: bar(f"warm: {far}"), self.processes)
            with suppress(OSError):  # then the next call checks everything again
                note.write_text(json.dumps({"given": given, "kernels": _kernels(folder)}), encoding="utf-8")
        seconds = time.perf_counter() - begin
        done = f"all is compiled, in {folder}" if known else f"compiled in {seconds:.1f} s, kept in {folder}"
        return tell(self.json, {"folder": str(folder), "seconds": seconds}, done)


def _package() -> Path:
    return Path(__file__).parents[1]


def _here() -> str:
    """A name for this checkout or installation, unique among those that share the folder."""
    return hashlib.sha256(str(_package()).encode()).hexdigest()[:16]


def _given() -> str:
    """A hash of everything that may affect compiled code: sources, versions, processor and compiler settings."""
    from llvmlite import binding

    digest = hashlib.sha256()
    for file in sorted(_package().rglob("*.py")):
        digest.update(str(file).encode())
        digest.update(file.read_bytes())
    settings = sorted(one for one in os.environ.items() if one[0].startswith("NUMBA_"))
    machine = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    digest.update(repr((platform.python_version(), [version(one) for one in PACKAGES], machine, settings)).encode())
    return digest.hexdigest()


def _kernels(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.kernel"))


def _is_there(note: Path, given: str) -> bool:
    """Whether everything was compiled from the present sources, and nothing has been removed since."""
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
        return found["given"] == given and set(found["kernels"]) <= set(_kernels(note.parent))
    except (OSError, ValueError, TypeError, KeyError):
        return False
