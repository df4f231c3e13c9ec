"""Count the files and functions that a step opens under a law: those that its compiled loop reaches.

    python tools/step_files.py [--list] [LAW ...]

From the loop and the law's kernels, on a plane, every kernel that they call is followed, also those compiled apart. Not
followed are parts of the loop for laws of another kind, and kernels that are rare by declaration.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import footfall
from footfall.compiled.stamp import _used_values
from footfall.contact import law_class, laws
from footfall.contact.base import PointLaw
from footfall.contact.event_law import EventLaw
from footfall.engine import law_step
from footfall.engine.events import integration
from footfall.engine.step import advance

HOME = Path(footfall.__file__).parent


def reached(roots: list[Any], without: list[Any]) -> set[FunctionType]:
    """The functions of the package that these call, directly or not, but by way of ``without``."""
    left_out = {one.py_func for one in without}
    found: set[FunctionType] = set()
    waiting = [getattr(one, "py_func", one) for one in roots]
    for one in waiting:
        if one not in found | left_out and one.__module__.startswith("footfall."):
            found.add(one)
            waiting += [value.py_func for value in _used_values(one).values() if is_followed(value)]
    return found


def is_followed(value: Any) -> bool:
    """Whether a value is a kernel, and none that is rare."""
    rare = getattr(value, "fixed", None) is not None and not value.soon
    return isinstance(getattr(value, "py_func", None), FunctionType) and not rare


def opened(name: str) -> set[FunctionType]:
    """The functions of a step under a law."""
    law = law_class(name)
    others = [law_step.point_forces] if law.coupled else [law_step.coupled_forces]
    others += [] if law.native else [law_step.native_step]
    if not law.native and not issubclass(law, PointLaw) and not law.coupled:
        raise SystemExit(f"{name} is of no known kind")
    roots = [integration.advance if law.event_driven else advance, *law.kernels()]
    made = law()
    if isinstance(made, EventLaw):
        roots += made.in_steps().kernels()
    return reached(roots, others)


if __name__ == "__main__":
    asked = [one for one in sys.argv[1:] if one != "--list"]
    for name in asked or laws():
        functions = opened(name)
        files = sorted({Path(one.__code__.co_filename).relative_to(HOME).as_posix() for one in functions})
        print(f"{name}: {len(files)} files, {len(functions)} functions")
        if "--list" in sys.argv:
            print(*(f"    {file}" for file in files), sep="\n")
