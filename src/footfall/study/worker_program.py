"""Worker processes of a study are started as programs: ``multiprocessing`` would run a user's script again."""

from __future__ import annotations

import sys

#: Before anything else is loaded: imports create most of the objects that garbage collection goes through.
PROGRAM = """
from footfall.process.garbage import search_garbage_seldom
search_garbage_seldom()
from {module} import main
main()
"""


def own_program(module: str, *arguments: str) -> list[str]:
    """The command that runs ``main`` of a module of ours, which finds the arguments in ``sys.argv``."""
    return [sys.executable, "-c", PROGRAM.format(module=module), *arguments]
