"""What Numba does for every function and kernels have no use for, left out: their intermediate code is the same."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from numba.core import config, errors
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import AnnotateTypes, DumpParforDiagnostics, InlineOverloads, NopythonRewrites

#: Expressions of whole arrays need memory, which kernels do not have; nobody reads the annotated source or how loops
#: were made parallel; and what kernels call of Numba is inlined by LLVM, not before types are known.
_OF_NO_USE = (NopythonRewrites, AnnotateTypes, DumpParforDiagnostics, InlineOverloads)


def lean_passes(state: Any) -> PassManager:
    """Numba's passes from Python to intermediate code, without those of no use."""
    made = DefaultPassBuilder.define_nopython_pipeline(state)
    made.passes = [one for one in made.passes if one[0] not in _OF_NO_USE]
    made.finalize()
    return made


@contextmanager
def lean() -> Iterator[None]:
    """While a kernel is compiled, under Numba's global lock: no search for garbage, no colours in the messages of each
    type that was tried and did not fit, and no look at the environment for each function.
    """
    if config.reload_config is _keep_config:
        yield
        return
    with ExitStack() as undo:
        if gc.isenabled():
            gc.disable()
            undo.callback(gc.enable)
        _put(undo, errors.termcolor(), "_markup", _plain_text)
        _put(undo, config, "reload_config", _keep_config)
        yield


def _keep_config() -> None:
    """The environment was read when the outermost function began."""


def _plain_text(message: str, *style: Any) -> str:
    return message


def _put(undo: ExitStack, where: Any, name: str, function: Callable[..., Any]) -> None:
    """Replace what is found under a name, until ``undo``."""
    if name in vars(where):
        undo.callback(setattr, where, name, vars(where)[name])
    else:
        undo.callback(delattr, where, name)
    setattr(where, name, function)
