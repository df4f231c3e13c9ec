"""`footfall warm`: compile everything ahead."""

from __future__ import annotations

import time
from dataclasses import dataclass

from footfall.cli.shared.output import print_json, say


@dataclass(frozen=True)
class Command:
    """Compile the engine, many worlds, all laws, their solvers and the controllers ahead, so that no later start waits.

    footfall warm

    Compiled code is kept in the folder that FOOTFALL_CACHE names, or the system's place for caches, until Footfall
    changes. What is there already takes seconds.
    """

    processes: int | None = None
    """processes that compile at the same time; as many as there are cores if left out"""
    json: bool = False
    """print one JSON object: the folder and the time it took, s"""

    def run(self) -> int:
        from footfall.cache_folder import cache_folder
        from footfall.cli.shared.usage import UsageError
        from footfall.errors import FootfallError
        from footfall.simulation.warm import warm

        if self.processes is not None and self.processes < 1:
            raise UsageError(f"--processes {self.processes}: there must be at least one")
        folder = cache_folder("compiled")
        if folder is None:
            raise FootfallError(
                "no folder can be written to keep compiled code: set FOOTFALL_CACHE to one that only you may write"
            )
        begin = time.perf_counter()
        warm(lambda far: say(f"warm: {far}"), self.processes)
        seconds = time.perf_counter() - begin
        if self.json:
            print_json({"folder": str(folder), "seconds": seconds})
        else:
            print(f"compiled in {seconds:.1f} s, kept in {folder}")
        return 0
