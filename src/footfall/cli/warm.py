"""`footfall warm`: compile everything ahead."""

from __future__ import annotations

import time

from footfall.cli.shared.output import sentences_bar, tell
from footfall.cli.shared.usage import JsonOption
from footfall.errors import FootfallError


class Warm(JsonOption):
    """Compile the engine, many worlds, all laws, their solvers and the controllers ahead of time, so that no later
    start waits.

    footfall warm

    Compiled code is kept in the folder that FOOTFALL_CACHE names, or in the system's cache directory, until Footfall
    changes. If everything is compiled already, the command ends after some seconds.
    """

    def run(self) -> int:
        from footfall.process.cache_folder import cache_folder
        from footfall.simulation.warm import warm

        folder = cache_folder("compiled")
        if folder is None:
            raise FootfallError(
                "no folder can be written to keep compiled code: set FOOTFALL_CACHE to one that only you may write"
            )
        begin = time.perf_counter()
        with sentences_bar("compiling") as bar:
            warm(lambda far: bar(f"warm: {far}"))
        seconds = time.perf_counter() - begin
        told = {"folder": str(folder), "seconds": seconds}
        return tell(self.json, told, f"compiled in {seconds:.1f} s, kept in {folder}")
