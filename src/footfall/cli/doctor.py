"""`footfall doctor`: what a bug report needs to say of a machine, and a self-test."""

from __future__ import annotations

import platform
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from footfall.cli.shared.output import print_facts, print_table, seconds, tell
from footfall.version import __version__

#: Largest share by which a self-test may be wrong: rounding, and the tolerance of the solver.
EXACT = 1e-6


@dataclass(frozen=True)
class Doctor:
    """Say what Footfall runs on and with, where its cache is, and whether known answers come out.

    footfall doctor

    Paste what it prints into a bug report. The self-test takes a few seconds; where nothing is compiled yet, it
    compiles the engine and one law first, which takes about a minute. Exits with 1 where a test fails.
    """

    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        told: dict[str, Any] = {
            "machine": _machine(),
            "packages": _packages(),
            "cache": _cache(),
            "tests": list(map(_done, TESTS)),
        }
        tell(self.json, told, lambda: _show(told))
        return int(any(one["problem"] for one in told["tests"]))


def _show(told: dict[str, Any]) -> None:
    for part in ("machine", "packages", "cache"):
        print_facts({name: str(value) for name, value in told[part].items()}, title=part)
    rows = [[one["test"], one["problem"] or "pass", seconds(one["seconds"])] for one in told["tests"]]
    print_table(("self-test", "verdict", "took>"), rows)


def _machine() -> dict[str, str]:
    from llvmlite import binding

    from footfall.process.machine import cores, machine_memory

    return {
        "system": platform.platform(),
        "processor": f"{platform.machine()}, {binding.get_host_cpu_name()}, {cores()} cores",
        "memory": f"{machine_memory() / 2**30:.1f} GiB",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _packages() -> dict[str, str]:
    """The versions of Footfall and of all packages that it or one of its extras asks for."""
    found = {"footfall": __version__, "llvmlite": version("llvmlite")}
    with suppress(PackageNotFoundError):  # run from a folder, without being installed
        for one in requires("footfall") or ():
            name, extra = re.split(r"[^\w.-]", one)[0], one.partition("extra == ")[2].strip("'\"")
            if extra != "dev":
                found[name] = _version(name) or f"not installed, extra {extra}"
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cache() -> dict[str, Any]:
    from footfall.process.cache_folder import cache_folder

    folder = cache_folder("compiled")
    if folder is None:
        return {"folder": "none can be written: set FOOTFALL_CACHE to one that only you may write"}
    files = list(folder.glob("*.kernel"))
    return {
        "folder": str(folder),
        "compiled": f"{len(files)} kernels, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB",
    }


# ---- the self-test ---------------------------------------------------------------------------------------------------


def _done(test: Callable[[], str]) -> dict[str, Any]:
    """A test with its verdict: the problem in words, "" where there is none."""
    begin = time.perf_counter()
    try:
        problem = test()
    except Exception as error:  # whatever is wrong with an installation is what the report shall say
        problem = f"{type(error).__name__}: {error}"
    return {"test": (test.__doc__ or "").rstrip("."), "problem": problem, "seconds": time.perf_counter() - begin}


def _falls() -> str:
    """A ball falls as its steps say: g dt² n (n + 1) / 2."""
    from footfall.simulation import Simulation

    sim = Simulation("ball", law="time-stepping")
    start = sim.robot.home.copy()
    start[2] += 1.0
    rec = sim.run(0.3, qpos=start)
    n = len(rec) - 1
    fallen, wanted = start[2] - rec.qpos[-1, 2], -sim.robot.model.opt.gravity[2] * sim.dt**2 * n * (n + 1) / 2
    return "" if abs(fallen - wanted) < EXACT * wanted else f"fell {fallen:.9g} m, not {wanted:.9g} m"


def _stands() -> str:
    """The ground carries the weight of a brick at rest."""
    from footfall.simulation import Simulation

    rec = Simulation("brick", law="time-stepping").run(0.2)
    carried, weight = rec.force[-1, :, 2].sum(), rec.robot.weight
    return "" if abs(carried - weight) < EXACT * weight else f"{carried:.9g} N on {weight:.9g} N"


def _keeps() -> str:
    """A recording is read back bit for bit."""
    from footfall.recording import load_recording
    from footfall.simulation import Simulation

    rec = Simulation("brick", law="time-stepping").run(0.05)
    with tempfile.TemporaryDirectory() as folder:
        again = load_recording(rec.save(f"{folder}/brick"))
    same = rec.force.tobytes() == again.force.tobytes() and rec.qpos.tobytes() == again.qpos.tobytes()
    return "" if same else "other numbers came back"


TESTS = (_falls, _stands, _keeps)
