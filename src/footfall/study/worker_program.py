"""Processes that work for a study are started as programs: ``multiprocessing`` would run a user's script once more."""

from __future__ import annotations

import os
import sys

#: Before anything else is loaded, as that makes most of what a search for garbage goes through.
PROGRAM = """
from footfall.garbage import search_garbage_seldom
search_garbage_seldom()
from {module} import main
main()
"""


def own_environment() -> dict[str, str]:
    """That of this process, in which a program finds all modules that this one finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in (*sys.path, os.getcwd()) if path)}


def own_program(module: str, *arguments: str) -> list[str]:
    """The command that runs ``main`` of a module of ours, which finds the arguments in ``sys.argv``."""
    return [sys.executable, "-c", PROGRAM.format(module=module), *arguments]
