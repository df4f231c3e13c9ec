"""Numba's compiler unchanged, for versions whose internals :mod:`footfall.compiled.lean_compiler` does not know.
Kernels compile more slowly and do the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import PassManager


def lean_passes(state: Any) -> PassManager:
    """Numba's passes from Python to intermediate code."""
    made = DefaultPassBuilder.define_nopython_pipeline(state)
    made.finalize()
    return made


@contextmanager
def lean() -> Iterator[None]:
    """Skip nothing while a kernel is compiled."""
    yield
