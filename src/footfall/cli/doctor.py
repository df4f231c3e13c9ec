"""`footfall doctor`: what a bug report needs to say of a machine, and a self-test."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from footfall.cli.shared.output import print_facts, print_table, seconds, tell
from footfall.cli.shared.usage import JsonOption

#: Largest share by which a self-test may be wrong: rounding, and the tolerance of the solver.
EXACT = 1e-6


class Doctor(JsonOption):
    """Say what Footfall runs on and with, where its cache is, and whether known answers come out.

    footfall doctor

    Paste what it prints into a bug report. The self-test takes a few seconds; where nothing is compiled yet, it
    compiles the engine and one law first, which takes about a minute. Exits with 1 where a test fails.
    """

    def run(self) -> int:
        facts, tests = _facts(), [_done(test) for test in TESTS]

        def show() -> None:
            print_facts(facts)
            rows = [[one["test"], one["problem"] or "pass", seconds(one["seconds"])] for one in tests]
            print_table(("self-test", "verdict", "took>"), rows)

        tell(self.json, {**facts, "tests": tests}, show)
        return int(any(one["problem"] for one in tests))


def _facts() -> dict[str, str]:
    from llvmlite import __version__, binding

    from footfall.errors import OPTIONAL
    from footfall.process.cache_folder import cache_folder
    from footfall.process.machine import cores, machine_memory
    from footfall.version import versions

    folder = cache_folder("compiled")
    sizes = []
    for file in folder.glob("*.kernel") if folder else ():
        with suppress(FileNotFoundError):  # another process has just removed it
            sizes.append(file.stat().st_size)
    there = [name for name in OPTIONAL if find_spec(name)]
    return versions() | {
        "llvmlite": __version__,
        "optional": ", ".join(there) or "none",
        "not installed": ", ".join(f"{name} ({how})" for one, (name, how) in OPTIONAL.items() if one not in there),
        "system": platform.platform(),
        "processor": f"{platform.machine()}, {binding.get_host_cpu_name()}, {cores()} cores",
        "memory": f"{machine_memory() / 2**30:.1f} GiB",
        "cache": str(folder or "no folder can be written: set FOOTFALL_CACHE to one that only you may write"),
        "compiled": f"{len(sizes)} kernels, {sum(sizes) / 1e6:.1f} MB",
    }


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
    """The ground carries the weight of a brick at rest, and its recording is read back bit for bit."""
    from footfall.recording import load_recording
    from footfall.simulation import Simulation

    rec = Simulation("brick", law="time-stepping").run(0.2)
    carried, weight = rec.force[-1, :, 2].sum(), rec.robot.weight
    if abs(carried - weight) >= EXACT * weight:
        return f"{carried:.9g} N on {weight:.9g} N"
    with tempfile.TemporaryDirectory() as folder:
        again = load_recording(rec.save(f"{folder}/brick"))
    return "" if rec.force.tobytes() == again.force.tobytes() else "other numbers came back from the disk"


TESTS = (_falls, _stands)
