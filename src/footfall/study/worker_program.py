"""Processes that work for a study are started as programs: ``multiprocessing`` would run a user's script once more."""

from __future__ import annotations

import sys

#: Before anything else is loaded, as that makes most of what a search for garbage goes through.
PROGRAM = """
from footfall.garbage import search_garbage_seldom
search_garbage_seldom()
from {module} import main
main()
"""


def own_program(module: str, *arguments: str) -> list[str]:
    """The command that runs ``main`` of a module of ours, which finds the arguments in ``sys.argv``."""
    return [sys.executable, "-c", PROGRAM.format(module=module), *arguments]
